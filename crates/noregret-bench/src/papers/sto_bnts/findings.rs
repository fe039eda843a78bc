//! What the runs say, and whether the paper's findings hold.

use std::fmt::Write as _;

use super::{Setting, setting};
use crate::report::claim::Verdict;
use crate::report::statistics::{mean, paired_t_test, signed_rank_test};
use crate::report::table::compact;
use crate::report::{LinePlot, Record, Summary, Table, mean_curves};
use crate::{BenchError, Output};

/// What section 5.1 finds: a claim, the variant that should be better, and the one that should be worse.
const FINDINGS: [(&str, &str, &str); 5] = [
    ("STO-BNTS beats Deep Ensemble", "sto-bnts", "deep-ensemble"),
    ("wider helps Linear, 512 > 64", "linear-w512", "linear"),
    ("wider helps Linear, 64 > 16", "linear", "linear-w16"),
    ("B = 4 beats B = 1", "linear-b4", "linear"),
    ("wider helps STO-BNTS, 64 > 16", "sto-bnts", "sto-bnts-w16"),
];

/// What a run is judged by; the smaller the better.
pub(super) type Measure = fn(&Record) -> f64;

pub(super) fn area(record: &Record) -> f64 {
    record.extra_number("area")
}

pub(super) fn report(setting: Setting, output: &mut Output<'_>) -> Result<(), BenchError> {
    let records = output.records().to_vec();
    let regret = Summary::of(&records, |record| record.simple_regret);
    let areas = Summary::of(&records, area);
    let seconds = Summary::of(&records, |record| record.seconds_per_point);
    let runs = regret.cells.iter().map(|cell| cell.count).max().unwrap_or(0);
    let mut text = format!(
        "Dai et al. 2022, sections 5.1, 5.3 and 5.4. Setting {}, {}. Runs: {runs}.\n\n",
        setting.name(),
        setting::describe(setting)
    );
    let _ = writeln!(
        text,
        "Simple regret at the end, mean ± sd [rank]; of rover-20d the cost\n{}",
        Table::matrix(&regret)
    );
    let _ = writeln!(text, "Area under the curve: its mean over the iterations\n{}", Table::matrix(&areas));
    text += &findings(&records);
    let _ = writeln!(text, "Seconds a suggestion\n{}", Table::matrix(&seconds));
    output.text(text)?;
    if output.wants_figures() {
        let plot = LinePlot {
            title: format!("Simple regret by iteration (setting {})", setting.name()),
            x_label: "iteration".into(),
            y_label: "simple regret".into(),
            log_y: false,
            panels: LinePlot::panels_of(&mean_curves(&records, |record| &record.regret_curve)),
        };
        output.figure("regret", &plot.to_svg()?)?;
    }
    Ok(())
}

/// One row for each finding, problem and measure for which both variants were run.
fn findings(records: &[Record]) -> String {
    let mut table = Table::new([
        "finding",
        "problem",
        "measure",
        "better",
        "worse",
        "runs won",
        "p, paired t",
        "p, signed rank",
        "verdict",
    ]);
    let mut any = false;
    let measures: [(&str, Measure); 2] =
        [("regret at the end", |record| record.simple_regret), ("area", area)];
    for problem in Summary::of(records, area).problems {
        for (claim, better, worse) in FINDINGS {
            for (name, measure) in measures {
                let (good, bad) = pairs(records, &problem, (better, worse), measure);
                if good.is_empty() {
                    continue;
                }
                any = true;
                let won = good.iter().zip(&bad).filter(|(good, bad)| good < bad).count();
                table.row([
                    claim.to_owned(),
                    problem.clone(),
                    name.to_owned(),
                    compact(mean(&good)),
                    compact(mean(&bad)),
                    format!("{won} of {}", good.len()),
                    compact(paired_t_test(&bad, &good)),
                    compact(signed_rank_test(&bad, &good)),
                    verdict(&good, &bad).to_string(),
                ]);
            }
        }
    }
    if any {
        format!("Findings: one-sided tests of pairs, runs with the same seed\n{table}\n")
    } else {
        String::new()
    }
}

/// A finding holds if the signed-rank test says so, in part if only the means do.
pub(super) fn verdict(better: &[f64], worse: &[f64]) -> Verdict {
    /// Share of false alarms that is allowed.
    const LEVEL: f64 = 0.05;
    match mean(better) < mean(worse) {
        _ if better.is_empty() => Verdict::NotRun,
        true if signed_rank_test(worse, better) < LEVEL => Verdict::Holds,
        true => Verdict::InPart,
        false => Verdict::Contradicted,
    }
}

/// A measure of two variants, for the seeds with which both were run.
pub(super) fn pairs(
    records: &[Record],
    problem: &str,
    (better, worse): (&str, &str),
    measure: Measure,
) -> (Vec<f64>, Vec<f64>) {
    let of = |name: &str| -> Vec<&Record> {
        records.iter().filter(|record| record.problem == problem && record.algorithm == name).collect()
    };
    let others = of(worse);
    let partner = |record: &&Record| others.iter().find(|other| other.seed == record.seed).copied();
    of(better).iter().filter_map(|record| Some((measure(record), measure(partner(record)?)))).unzip()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn record(algorithm: &str, seed: u64, regret: f64) -> Record {
        Record {
            problem: "synthetic".into(),
            algorithm: algorithm.into(),
            seed,
            simple_regret: regret,
            extra: [("area".to_owned(), (2.0 * regret).into())].into(),
            ..Record::default()
        }
    }

    #[test]
    fn findings_are_tested_in_pairs() {
        let mut records = Vec::new();
        for seed in 0..6_u32 {
            // The seed matters more than the method, and still the method wins every time.
            let base = f64::from(seed * seed);
            records.push(record("sto-bnts", seed.into(), base));
            records.push(record("deep-ensemble", seed.into(), base + 0.1 + 0.01 * f64::from(seed)));
        }
        records.push(record("deep-ensemble", 99, 0.0));
        let text = findings(&records);
        assert!(text.contains("STO-BNTS beats Deep Ensemble") && text.contains("6 of 6"), "{text}");
        // All of 2^6 signs.
        assert!(text.contains("0.0156"), "{text}");
        assert_eq!(text.matches("6 of 6").count(), 2, "{text}");
        assert_eq!(text.matches("holds").count(), 2, "{text}");
        assert_eq!(verdict(&[1.0, 2.0], &[0.5, 1.0]), Verdict::Contradicted);
        assert_eq!(verdict(&[1.0, 2.0], &[1.5, 3.0]), Verdict::InPart);
        assert!(findings(&records[..1]).is_empty());
    }
}
