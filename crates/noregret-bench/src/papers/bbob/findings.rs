//! Which share of the targets was reached, in the end and on the way.

use std::fmt::Write as _;

use super::{EVALUATIONS, PRINTED};
use crate::papers::neural_bo::NU;
use crate::report::statistics::mean;
use crate::report::table::compact;
use crate::report::{LinePanel, LinePlot, Point, Record, Series, Table};
use crate::{BenchError, Output};

/// Targets of a run.
const TARGETS: i32 = 51;

/// COCO's groups of functions, with the last of each (Hansen et al. 2009, "Noiseless functions definitions").
const GROUPS: [(&str, u32); 5] = [
    ("separable", 5),
    ("moderate", 9),
    ("ill-conditioned", 14),
    ("multi-modal", 19),
    ("weakly structured", 24),
];

/// The records of an experiment, and what occurs in them.
pub(super) struct BbobRecords<'a> {
    records: Vec<&'a Record>,
    pub(super) dimensions: Vec<u32>,
    algorithms: Vec<String>,
}

pub(super) fn report(output: &mut Output<'_>) -> Result<(), BenchError> {
    let runs = BbobRecords::of(output.records());
    let seconds =
        |runs: &[&Record]| compact(mean(&runs.iter().map(|run| run.seconds_per_point).collect::<Vec<f64>>()));
    let mut text = format!(
        "COCO's suite BBOB (Phan-Trong et al. 2023, Figure 2), {EVALUATIONS} evaluations for each dimension; {} function(s), {} \
         instance(s).\n\n",
        distinct(&runs.records, function).len(),
        distinct(&runs.records, |record| record.run).len(),
    );
    let _ = writeln!(
        text,
        "Share of {TARGETS} targets (f - f_opt from 100 to 1e-8) reached in the end\n{}",
        runs.by_dimension(final_share)
    );
    let _ = writeln!(text, "The same by groups of functions\n{}", runs.by_group());
    let _ =
        writeln!(text, "Seconds a suggestion, the initial design included\n{}", runs.by_dimension(seconds));
    text += &runs.verdict();
    let svg = output.wants_figures().then(|| runs.figure().to_svg()).transpose()?;
    output.text(text)?;
    svg.map_or(Ok(()), |svg| output.figure("targets", &svg))
}

/// How many of the targets a regret reaches: those `10^(2 - k/5)`, k = 0..50, that are not below it. NaN reaches none.
fn reached(regret: f64) -> usize {
    (0..TARGETS).filter(|k| regret <= 10_f64.powf(2.0 - f64::from(*k) / 5.0)).count()
}

/// Share of all pairs of run and target that were reached after `n` evaluations; NaN for no runs, or none of that length.
fn share(runs: &[&Record], n: usize) -> f64 {
    let after = |run: &&Record| {
        let regret = n.checked_sub(1).and_then(|i| run.regret_curve.get(i));
        regret.map_or(f64::NAN, |regret| reached(*regret) as f64 / f64::from(TARGETS))
    };
    mean(&runs.iter().map(after).collect::<Vec<f64>>())
}

fn final_share(runs: &[&Record]) -> String {
    let n = runs.first().map_or(0, |run| run.evaluations);
    format!("{:.3}", share(runs, n))
}

impl<'a> BbobRecords<'a> {
    pub(super) fn of(records: &'a [Record]) -> Self {
        let records: Vec<&Record> = records.iter().collect();
        let dimensions = distinct(&records, dims);
        let algorithms = distinct(&records, |record| record.algorithm.clone());
        Self { records, dimensions, algorithms }
    }

    /// A row for each number of dimensions, a column for each algorithm.
    fn by_dimension(&self, cell: impl Fn(&[&Record]) -> String) -> Table {
        let mut table = self.table(&["dimensions"]);
        for d in &self.dimensions {
            let runs = chosen(&self.records, |run| dims(run) == *d);
            let of = |name: &String| cell(&chosen(&runs, |run| run.algorithm == *name));
            table.row([d.to_string()].into_iter().chain(self.algorithms.iter().map(of)));
        }
        table
    }

    /// The final shares, with a row for each group of functions and number of dimensions.
    fn by_group(&self) -> Table {
        let mut table = self.table(&["functions", "dimensions"]);
        let mut first = 1;
        for (group, last) in GROUPS {
            for d in &self.dimensions {
                let here = |run: &Record| dims(run) == *d && (first..=last).contains(&function(run));
                let runs = chosen(&self.records, here);
                if !runs.is_empty() {
                    let of = |name: &String| final_share(&chosen(&runs, |run| run.algorithm == *name));
                    let labels = [format!("f{first} to f{last}, {group}"), d.to_string()];
                    table.row(labels.into_iter().chain(self.algorithms.iter().map(of)));
                }
            }
            first = last + 1;
        }
        table
    }

    /// The share of an algorithm in so many dimensions; of Neural-BO that of its best `nu`. Nothing if it was not run there.
    pub(super) fn share_of(&self, d: u32, name: &str) -> Option<f64> {
        let of = |name: &str| {
            let runs = chosen(&self.records, |run| dims(run) == d && run.algorithm == name);
            runs.first().map(|run| share(&runs, run.evaluations))
        };
        let variants = NU.iter().filter(|_| name == "neural-bo").filter_map(|(name, _)| of(name));
        of(name).into_iter().chain(variants).reduce(f64::max)
    }

    /// The rank of Neural-BO among the methods of the paper, and how many were run; nothing unless it was run with others.
    pub(super) fn rank(&self, d: u32) -> Option<(usize, usize)> {
        let own = self.share_of(d, "neural-bo")?;
        let rivals: Vec<f64> = PRINTED[1..].iter().filter_map(|name| self.share_of(d, name)).collect();
        let ahead = rivals.iter().filter(|rival| **rival > own).count();
        (!rivals.is_empty()).then_some((ahead + 1, rivals.len() + 1))
    }

    /// "Our method was found to outperform other baselines": section 7.1.
    fn verdict(&self) -> String {
        let place = |d: &u32| {
            let (rank, of) = self.rank(*d)?;
            Some(format!("{rank} of {of} in {d} dimensions"))
        };
        let places: Vec<String> = self.dimensions.iter().filter_map(place).collect();
        if places.is_empty() {
            return String::new();
        }
        let first =
            self.dimensions.iter().filter(|d| self.rank(**d).is_some_and(|(rank, _)| rank == 1)).count();
        format!(
            "Verdict on Figure 2 (Neural-BO \"outperforms other baselines\"): among the methods of the paper it is {}{}; first in {first} of \
             {}.\n",
            places.join(", "),
            if self.algorithms.iter().any(|name| NU.iter().any(|(known, _)| known == name)) {
                ", with its best nu in each"
            } else {
                ""
            },
            places.len()
        )
    }

    /// Without rows, with a column for each algorithm after those named.
    fn table(&self, first: &[&str]) -> Table {
        Table::new(first.iter().copied().chain(self.algorithms.iter().map(String::as_str)))
    }

    /// A panel for each number of dimensions: the share over evaluations for each dimension.
    fn figure(&self) -> LinePlot {
        let series = |d: u32, name: &String| {
            let runs = chosen(&self.records, |run| dims(run) == d && run.algorithm == *name);
            let steps = runs.iter().map(|run| run.regret_curve.len()).min().unwrap_or(0);
            let point = |n: usize| Point { x: n as f64 / f64::from(d), mean: share(&runs, n), sd: f64::NAN };
            Series { label: name.clone(), points: (1..=steps).map(point).collect() }
        };
        let panel = |d: &u32| LinePanel {
            title: format!("{d} dimensions"),
            series: self.algorithms.iter().map(|name| series(*d, name)).collect(),
            ..LinePanel::default()
        };
        LinePlot {
            title: "BBOB: share of function-target pairs".into(),
            x_label: "evaluations / dimensions".into(),
            y_label: "share reached".into(),
            log_y: false,
            panels: self.dimensions.iter().map(panel).collect(),
        }
    }
}

fn chosen<'a>(records: &[&'a Record], wanted: impl Fn(&Record) -> bool) -> Vec<&'a Record> {
    records.iter().copied().filter(|record| wanted(record)).collect()
}

/// All that occur, in order of appearance.
fn distinct<T: PartialEq>(records: &[&Record], of: impl Fn(&Record) -> T) -> Vec<T> {
    let mut found = Vec::new();
    for record in records {
        let value = of(record);
        if !found.contains(&value) {
            found.push(value);
        }
    }
    found
}

fn dims(record: &Record) -> u32 {
    whole(record, "dims")
}

fn function(record: &Record) -> u32 {
    whole(record, "function")
}

/// A whole number among the extra fields; 0 when it is missing.
fn whole(record: &Record, key: &str) -> u32 {
    record.extra.get(key).and_then(serde_json::Value::as_u64).and_then(|n| n.try_into().ok()).unwrap_or(0)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn neural_bo_is_ranked_by_its_best_nu() {
        let of =
            |algorithm: &str, regret: f64| Record { algorithm: algorithm.into(), ..record(1, &[regret]) };
        let records = [
            of("neural-bo-nu0.1", 10.0),
            of("neural-bo-nu10", 0.1),
            of("gp-ei", 0.01),
            of("dngo", 1.0),
            of("auto", 1e-9),
        ];
        let runs = BbobRecords::of(&records);
        assert_eq!(runs.rank(2), Some((2, 3)));
        let text = runs.verdict();
        assert!(text.contains("2 of 3 in 2 dimensions, with its best nu in each; first in 0 of 1"), "{text}");
        assert!(BbobRecords::of(&records[2..]).verdict().is_empty());
    }

    fn record(function: u32, curve: &[f64]) -> Record {
        Record {
            algorithm: "auto".into(),
            evaluations: curve.len(),
            regret_curve: curve.to_vec(),
            extra: [("dims".to_owned(), 2.into()), ("function".to_owned(), function.into())].into(),
            ..Record::default()
        }
    }

    #[test]
    fn targets_by_hand() {
        // 10^2, 10^1.8, ..., 10^-8: five a decade, and both ends.
        let by_hand =
            [(100.1, 0), (100.0, 1), (64.0, 1), (63.0, 2), (10.0, 6), (1.0, 11), (1e-3, 26), (1e-7, 46)];
        for (regret, count) in by_hand {
            assert_eq!(reached(regret), count, "{regret}");
        }
        assert_eq!((reached(1.1e-8), reached(1e-8), reached(0.0), reached(-1e-13)), (50, 51, 51, 51));
        assert_eq!((reached(f64::NAN), reached(f64::INFINITY)), (0, 0));
    }

    #[test]
    fn shares_of_a_curve_by_hand() {
        let records = [record(1, &[1e3, 10.0, 1.0, 1e-9]), record(20, &[1e3, 1e3, 100.0, 100.0])];
        let runs: Vec<&Record> = records.iter().collect();
        let expected = [0.0, 6.0 / 102.0, 12.0 / 102.0, 52.0 / 102.0];
        for (n, expected) in (1..).zip(expected) {
            assert!((share(&runs, n) - expected).abs() < 1e-15, "{n}");
        }
        assert!(share(&runs, 0).is_nan() && share(&runs, 5).is_nan() && share(&[], 1).is_nan());
        let plot = BbobRecords::of(&records).figure();
        let points = &plot.panels[0].series[0].points;
        assert_eq!(points.len(), 4);
        assert!((points[2].x - 1.5).abs() < 1e-15 && (points[2].mean - expected[2]).abs() < 1e-15);
    }

    #[test]
    fn every_function_is_in_one_group() {
        let all: Vec<Record> = (1..=24).map(|number| record(number, &[1.0])).collect();
        let text = BbobRecords::of(&all).by_group().to_string();
        for group in
            ["f1 to f5, separable", "f6 to f9", "f10 to f14", "f15 to f19", "f20 to f24, weakly structured"]
        {
            assert!(text.contains(group), "{group} in {text}");
        }
        assert_eq!(text.lines().count(), 2 + 5);
    }
}
