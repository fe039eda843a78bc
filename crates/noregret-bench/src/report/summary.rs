//! Records of many runs, folded into one line for each problem and algorithm.

use super::record::Record;
use crate::report::statistics::{mean, median, standard_deviation};

/// One metric over the runs of each algorithm on each problem.
#[derive(Clone, Debug, Default)]
pub struct Summary {
    /// Problems, in the order in which they were first seen.
    pub problems: Vec<String>,
    /// Algorithms, in the order in which they were first seen.
    pub algorithms: Vec<String>,
    /// One cell for each pair that was run: problem by problem, and algorithms in order within each.
    pub cells: Vec<Cell>,
}

/// A metric over the runs of one algorithm on one problem.
#[derive(Clone, Debug, PartialEq)]
pub struct Cell {
    /// The problem.
    pub problem: String,
    /// The algorithm.
    pub algorithm: String,
    /// Number of runs.
    pub count: usize,
    /// Mean over runs; NaN when one of them is.
    pub mean: f64,
    /// Sample standard deviation over runs; NaN for a single one.
    pub sd: f64,
    /// Median over runs.
    pub median: f64,
    /// One more than the number of algorithms with a smaller mean on the same problem: 1 is best, equals share the
    /// better place, and a NaN comes after every number.
    pub rank: usize,
}

/// Mean and deviation of a curve over the runs of one algorithm on one problem.
#[derive(Clone, Debug, PartialEq)]
pub struct Curve {
    /// The problem.
    pub problem: String,
    /// The algorithm.
    pub algorithm: String,
    /// Mean over runs, at every step that all runs reached.
    pub mean: Vec<f64>,
    /// Sample standard deviation over runs, at the same steps; NaN for a single run.
    pub sd: Vec<f64>,
}

impl Summary {
    /// Folds `metric` (smaller is better) over the records of each problem and algorithm.
    ///
    /// Experiments and settings are not told apart: select before.
    pub fn of(records: &[Record], metric: impl Fn(&Record) -> f64) -> Self {
        let (problems, algorithms) = labels(records);
        let mut cells = Vec::new();
        for problem in &problems {
            let first = cells.len();
            for algorithm in &algorithms {
                let values: Vec<f64> = runs(records, problem, algorithm).map(&metric).collect();
                if !values.is_empty() {
                    cells.push(Cell {
                        problem: problem.clone(),
                        algorithm: algorithm.clone(),
                        count: values.len(),
                        mean: mean(&values),
                        sd: standard_deviation(&values),
                        median: median(&values),
                        rank: 0,
                    });
                }
            }
            let means: Vec<f64> = cells[first..].iter().map(|cell| cell.mean).collect();
            for cell in &mut cells[first..] {
                let better = |other: &&f64| **other < cell.mean || (cell.mean.is_nan() && !other.is_nan());
                cell.rank = 1 + means.iter().filter(better).count();
            }
        }
        Self { problems, algorithms, cells }
    }

    /// The cell of a problem and an algorithm, when there was a run.
    pub fn get(&self, problem: &str, algorithm: &str) -> Option<&Cell> {
        self.cells.iter().find(|cell| cell.problem == problem && cell.algorithm == algorithm)
    }

    /// Cells of one problem, in the order of the algorithms.
    pub fn problem<'a>(&'a self, problem: &'a str) -> impl Iterator<Item = &'a Cell> {
        self.cells.iter().filter(move |cell| cell.problem == problem)
    }

    /// Mean rank of an algorithm over the problems on which it was run; NaN for none.
    pub fn mean_rank(&self, algorithm: &str) -> f64 {
        let ranks: Vec<f64> = self
            .cells
            .iter()
            .filter(|cell| cell.algorithm == algorithm)
            .map(|cell| cell.rank as f64)
            .collect();
        mean(&ranks)
    }
}

/// Folds a curve over the runs of each problem and algorithm, in the order of [`Summary::cells`].
///
/// Runs of unequal length count up to the shortest: a mean over the few which went on would tell another story.
pub fn mean_curves(records: &[Record], curve: impl Fn(&Record) -> &[f64]) -> Vec<Curve> {
    let (problems, algorithms) = labels(records);
    let mut curves = Vec::new();
    for problem in &problems {
        for algorithm in &algorithms {
            let runs: Vec<&[f64]> = runs(records, problem, algorithm).map(&curve).collect();
            let Some(steps) = runs.iter().map(|run| run.len()).min() else { continue };
            let at = |step: usize| runs.iter().map(|run| run[step]).collect::<Vec<f64>>();
            curves.push(Curve {
                problem: problem.clone(),
                algorithm: algorithm.clone(),
                mean: (0..steps).map(|step| mean(&at(step))).collect(),
                sd: (0..steps).map(|step| standard_deviation(&at(step))).collect(),
            });
        }
    }
    curves
}

/// Problems and algorithms, each in the order in which it was first seen.
fn labels(records: &[Record]) -> (Vec<String>, Vec<String>) {
    let (mut problems, mut algorithms) = (Vec::new(), Vec::new());
    for record in records {
        if !problems.contains(&record.problem) {
            problems.push(record.problem.clone());
        }
        if !algorithms.contains(&record.algorithm) {
            algorithms.push(record.algorithm.clone());
        }
    }
    (problems, algorithms)
}

fn runs<'a>(records: &'a [Record], problem: &'a str, algorithm: &'a str) -> impl Iterator<Item = &'a Record> {
    records.iter().filter(move |record| record.problem == problem && record.algorithm == algorithm)
}

#[cfg(test)]
pub(super) mod tests {
    use super::*;

    /// One record for each value.
    pub(crate) fn records(problem: &str, algorithm: &str, values: &[f64]) -> Vec<Record> {
        let record = |&simple_regret: &f64| Record {
            problem: problem.into(),
            algorithm: algorithm.into(),
            simple_regret,
            ..Record::default()
        };
        values.iter().map(record).collect()
    }

    #[test]
    fn groups_keep_the_order_of_appearance() {
        let all = [
            records("zeta", "ts-rsr", &[1.0, 3.0]),
            records("alpha", "bucb", &[5.0]),
            records("zeta", "bucb", &[4.0]),
            records("zeta", "ts-rsr", &[5.0]),
        ]
        .concat();
        let summary = Summary::of(&all, |record| record.simple_regret);
        assert_eq!(summary.problems, ["zeta", "alpha"]);
        assert_eq!(summary.algorithms, ["ts-rsr", "bucb"]);
        let pairs: Vec<_> =
            summary.cells.iter().map(|c| (c.problem.as_str(), c.algorithm.as_str())).collect();
        assert_eq!(pairs, [("zeta", "ts-rsr"), ("zeta", "bucb"), ("alpha", "bucb")]);
        let cell = summary.get("zeta", "ts-rsr").unwrap();
        assert_eq!((cell.count, cell.rank), (3, 1));
        assert!(
            (cell.mean - 3.0).abs() < 1e-15
                && (cell.sd - 2.0).abs() < 1e-15
                && (cell.median - 3.0).abs() < 1e-15
        );
        assert!(summary.get("alpha", "ts-rsr").is_none());
        assert_eq!(summary.problem("zeta").count(), 2);
    }

    #[test]
    fn equals_share_the_better_rank_and_nan_is_last() {
        let all = [
            records("p", "failed", &[f64::NAN]),
            records("p", "a", &[2.0]),
            records("p", "b", &[1.0]),
            records("p", "c", &[2.0]),
            records("p", "d", &[3.0]),
            records("q", "a", &[1.0]),
        ]
        .concat();
        let summary = Summary::of(&all, |record| record.simple_regret);
        let ranks: Vec<usize> = summary.problem("p").map(|cell| cell.rank).collect();
        assert_eq!(ranks, [5, 2, 1, 2, 4]);
        assert!((summary.mean_rank("a") - 1.5).abs() < 1e-15);
        assert!(summary.mean_rank("nobody").is_nan());
    }

    #[test]
    fn curves_stop_at_the_shortest_run() {
        let mut all = records("p", "a", &[0.0, 0.0]);
        all[0].regret_curve = vec![1.0, 2.0, 3.0];
        all[1].regret_curve = vec![3.0, 2.0];
        let curves = mean_curves(&all, |record| &record.regret_curve);
        assert_eq!(curves.len(), 1);
        assert_eq!(curves[0].mean, [2.0, 2.0]);
        assert_eq!(curves[0].sd, [2.0_f64.sqrt(), 0.0]);
    }
}
