//! What methods have run alike: a *block* is one function, batch size, seed and budget.

use std::collections::BTreeMap;

use crate::report::Record;

/// Regrets below this are equal: it is the accuracy of the minima that are known, far below what anybody needs, and has a logarithm.
pub(super) const FLOOR: f64 = 1e-9;

/// Problem, batch size, seed and evaluations.
pub(super) type Block<'a> = (&'a str, usize, u64, usize);

/// The runs of one method.
pub(super) struct Runs<'a> {
    pub(super) method: &'a str,
    pub(super) records: Vec<&'a Record>,
    /// Where there are several runs of a block the first counts.
    regrets: BTreeMap<Block<'a>, f64>,
}

impl<'a> Runs<'a> {
    pub(super) fn of(method: &'a str, records: &'a [Record]) -> Self {
        let records: Vec<&Record> = records.iter().filter(|record| record.algorithm == method).collect();
        let mut regrets = BTreeMap::new();
        for record in &records {
            let block = (record.problem.as_str(), record.batch, record.seed, record.evaluations);
            regrets.entry(block).or_insert_with(|| regret(record));
        }
        Self { method, records, regrets }
    }

    /// The runs among these that did not come to their end.
    pub(super) fn failed(&self) -> usize {
        self.records.iter().filter(|record| has_failed(record)).count()
    }
}

pub(super) fn has_failed(record: &Record) -> bool {
    record.extra.contains_key("problem_of_the_method") || record.simple_regret.is_nan()
}

/// A failed run is as bad as can be.
fn regret(record: &Record) -> f64 {
    if has_failed(record) { f64::INFINITY } else { record.simple_regret.max(FLOOR) }
}

/// The regrets in the blocks that all methods have and `wanted` names: a row for each block, a column for each method.
pub(super) fn common(methods: &[&Runs<'_>], wanted: impl Fn(&Block<'_>) -> bool) -> Vec<Vec<f64>> {
    let Some(first) = methods.first() else { return Vec::new() };
    let row = |block: &Block<'_>| methods.iter().map(|runs| runs.regrets.get(block).copied()).collect();
    first.regrets.keys().filter(|block| wanted(block)).filter_map(row).collect()
}

/// Hand-made records.
#[cfg(test)]
pub(super) mod tests {
    use super::*;

    /// Of one run in batches of 5.
    pub(in super::super) fn record(method: &str, problem: &str, seed: u64, regret: f64) -> Record {
        Record {
            problem: problem.into(),
            algorithm: method.into(),
            seed,
            batch: 5,
            evaluations: 60,
            simple_regret: regret,
            regret_curve: vec![2.0 * regret, regret],
            seconds_per_point: 0.5,
            ..Record::default()
        }
    }

    /// With something among its extra fields.
    pub(in super::super) fn with(
        mut record: Record,
        key: &str,
        value: impl Into<serde_json::Value>,
    ) -> Record {
        record.extra.insert(key.into(), value.into());
        record
    }

    #[test]
    fn blocks_are_those_that_all_have() {
        let mut all: Vec<Record> = (0..3).map(|seed| record("a", "branin", seed, 1.0)).collect();
        all.extend((1..5).map(|seed| record("b", "branin", seed, 0.0)));
        all.push(record("b", "branin", 1, 99.0)); // once more
        all.push(record("b", "levy-5d", 0, 99.0));
        let (a, b) = (Runs::of("a", &all), Runs::of("b", &all));
        assert_eq!(common(&[&a, &b], |_| true), [[1.0, FLOOR], [1.0, FLOOR]]);
        assert_eq!(common(&[&a, &b], |block| block.2 == 2).len(), 1);
        assert_eq!((common(&[&b], |_| true).len(), common(&[], |_| true).len()), (5, 0));
    }

    #[test]
    fn a_failed_run_is_as_bad_as_can_be() {
        let all = [
            with(record("a", "branin", 0, 0.1), "problem_of_the_method", "died"),
            record("a", "branin", 1, f64::NAN),
            record("a", "branin", 2, 0.1),
        ];
        let runs = Runs::of("a", &all);
        assert_eq!(common(&[&runs], |_| true), [[f64::INFINITY], [f64::INFINITY], [0.1]]);
        assert_eq!(runs.failed(), 2);
    }
}
