//! One run of one algorithm on one problem, as a line of JSON.

use serde::{Deserialize, Serialize};
use serde_json::Value;
use std::collections::BTreeMap;
use std::io::{self, BufRead, Write};

/// One run of one algorithm on one problem.
///
/// A number which is not finite is written as `null`, and `null` is read as NaN: a failed run stays in the file and
/// shows in every mean made of it.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Record {
    /// The experiment, by the name which starts it.
    pub experiment: String,
    /// The variant of the experiment: `paper`, `normalised`, `small-design`.
    pub setting: String,
    /// The problem, by its name.
    pub problem: String,
    /// The algorithm, by the name promised to users.
    pub algorithm: String,
    /// The number of the repetition, from 0.
    pub run: u32,
    /// The seed of the run.
    pub seed: u64,
    /// Points asked for together; the mean of a run whose batches vary is the experiment's own field.
    pub batch: usize,
    /// Batches after the initial design.
    pub rounds: usize,
    /// Evaluations, those of the initial design included.
    pub evaluations: usize,
    /// Best value found minus the minimum, noise left out.
    #[serde(with = "number")]
    pub simple_regret: f64,
    /// Sum of all evaluations' regrets, those of the initial design left out.
    #[serde(with = "number")]
    pub cumulative_regret: f64,
    /// Regret after the design and after every round; which regret is said by the experiment.
    #[serde(with = "numbers")]
    pub regret_curve: Vec<f64>,
    /// Time spent in proposing, evaluations left out.
    #[serde(with = "number")]
    pub seconds_thinking: f64,
    /// The same for each point proposed.
    #[serde(with = "number")]
    pub seconds_per_point: f64,
    /// Fields of this experiment only; in JSON they stand beside the others.
    #[serde(flatten)]
    pub extra: BTreeMap<String, Value>,
}

/// Why a file of records could not be read.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum ReadError {
    /// The file itself failed.
    #[error("cannot read records")]
    Io(#[from] io::Error),
    /// A line is no record.
    #[error("line {line} is not a record")]
    Line {
        /// Counted from 1.
        line: usize,
        /// What JSON says of it.
        source: serde_json::Error,
    },
}

impl Record {
    /// Writes the record as one line, at once: several processes may append to one file.
    pub fn write_line(&self, out: &mut impl Write) -> io::Result<()> {
        let mut line = serde_json::to_vec(self)?;
        line.push(b'\n');
        out.write_all(&line)
    }

    /// Reads all records of a file; empty lines are skipped.
    pub fn read_all(lines: impl BufRead) -> Result<Vec<Self>, ReadError> {
        let mut records = Vec::new();
        for (i, text) in lines.lines().enumerate() {
            let text = text?;
            if !text.trim().is_empty() {
                let record =
                    serde_json::from_str(&text).map_err(|source| ReadError::Line { line: i + 1, source })?;
                records.push(record);
            }
        }
        Ok(records)
    }

    /// A number among the extra fields; NaN when it is missing or no number.
    pub fn extra_number(&self, key: &str) -> f64 {
        self.extra.get(key).and_then(Value::as_f64).unwrap_or(f64::NAN)
    }
}

/// A number with `null` for what is not finite.
mod number {
    use serde::{Deserialize, Deserializer, Serialize, Serializer};

    #[expect(clippy::trivially_copy_pass_by_ref, reason = "the signature is serde's")]
    pub(super) fn serialize<S: Serializer>(value: &f64, to: S) -> Result<S::Ok, S::Error> {
        value.is_finite().then_some(value).serialize(to)
    }

    pub(super) fn deserialize<'de, D: Deserializer<'de>>(from: D) -> Result<f64, D::Error> {
        Ok(Option::deserialize(from)?.unwrap_or(f64::NAN))
    }
}

/// A list of numbers with `null` for what is not finite.
mod numbers {
    use serde::{Deserialize, Deserializer, Serializer};

    pub(super) fn serialize<S: Serializer>(values: &[f64], to: S) -> Result<S::Ok, S::Error> {
        to.collect_seq(values.iter().map(|v| v.is_finite().then_some(v)))
    }

    pub(super) fn deserialize<'de, D: Deserializer<'de>>(from: D) -> Result<Vec<f64>, D::Error> {
        let values: Vec<Option<f64>> = Vec::deserialize(from)?;
        Ok(values.into_iter().map(|v| v.unwrap_or(f64::NAN)).collect())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn record() -> Record {
        Record {
            experiment: "inexact".into(),
            setting: "paper".into(),
            problem: "branin".into(),
            algorithm: "gp-ucb".into(),
            run: 3,
            seed: u64::MAX,
            batch: 1,
            rounds: 2,
            evaluations: 22,
            simple_regret: 0.25,
            cumulative_regret: 27.5,
            regret_curve: vec![1.5, 0.5, 0.25],
            seconds_thinking: 0.5,
            seconds_per_point: 0.25,
            extra: BTreeMap::from([("solver".into(), "grid".into()), ("grid_size".into(), 100.into())]),
        }
    }

    /// The form is read by other programs: a change here is a change of the format.
    #[test]
    fn a_record_is_one_flat_line() {
        let mut line = Vec::new();
        record().write_line(&mut line).unwrap();
        let expected = concat!(
            r#"{"experiment":"inexact","setting":"paper","problem":"branin","algorithm":"gp-ucb","run":3,"#,
            r#""seed":18446744073709551615,"batch":1,"rounds":2,"evaluations":22,"simple_regret":0.25,"#,
            r#""cumulative_regret":27.5,"regret_curve":[1.5,0.5,0.25],"seconds_thinking":0.5,"#,
            r#""seconds_per_point":0.25,"grid_size":100,"solver":"grid"}"#,
            "\n"
        );
        assert_eq!(String::from_utf8(line).unwrap(), expected);
    }

    #[test]
    fn lines_are_read_back() {
        let mut lines = Vec::new();
        record().write_line(&mut lines).unwrap();
        lines.extend(b"\n");
        record().write_line(&mut lines).unwrap();
        assert_eq!(Record::read_all(&lines[..]).unwrap(), [record(), record()]);
    }

    #[test]
    fn failed_runs_survive_the_file() {
        let failed = Record { simple_regret: f64::NAN, regret_curve: vec![1.0, f64::INFINITY], ..record() };
        let mut line = Vec::new();
        failed.write_line(&mut line).unwrap();
        let read = &Record::read_all(&line[..]).unwrap()[0];
        assert!(read.simple_regret.is_nan() && read.regret_curve[1].is_nan());
        assert_eq!(read.regret_curve[..1], [1.0]);
    }

    #[test]
    fn a_broken_line_is_named() {
        let mut lines = Vec::new();
        record().write_line(&mut lines).unwrap();
        lines.extend(b"{\"experiment\":\n");
        assert!(matches!(Record::read_all(&lines[..]), Err(ReadError::Line { line: 2, .. })));
    }

    #[test]
    fn extra_numbers() {
        assert!((record().extra_number("grid_size") - 100.0).abs() < 1e-12);
        assert!(record().extra_number("solver").is_nan() && record().extra_number("absent").is_nan());
    }
}
