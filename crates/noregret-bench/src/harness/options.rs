//! The flags that all experiments share.

use std::num::NonZeroU32;
use std::path::PathBuf;

use crate::BenchError;

/// What is run, how often, and where the results go.
#[derive(Clone, Debug, Default, clap::Args)]
pub struct Options {
    /// Problems, separated by commas [default: all of the experiment's]
    #[arg(long, value_name = "NAMES", value_delimiter = ',')]
    pub problems: Vec<String>,

    /// Algorithms, separated by commas [default: all of the paper's]
    #[arg(long, value_name = "NAMES", value_delimiter = ',')]
    pub algorithms: Vec<String>,

    /// Repetitions, each with a seed of its own [default: the paper's]
    #[arg(long, value_name = "N")]
    pub runs: Option<NonZeroU32>,

    /// Seed of the first repetition; the others count on from it
    #[arg(long, value_name = "N", default_value_t = 0)]
    pub seed: u64,

    /// Variant of the experiment [default: the first one named below]
    #[arg(long, value_name = "NAME")]
    pub setting: Option<String>,

    /// Print one JSON record a line for each problem, algorithm and run, in place of tables
    #[arg(long)]
    pub json: bool,

    /// Also write figures (SVG) and records (JSON lines) into this folder; runs that it already holds are not run again, so that an
    /// interrupted experiment goes on where it stopped
    #[arg(long, value_name = "DIR")]
    pub out: Option<PathBuf>,

    /// Run nothing: make tables and figures of the records kept in this folder, such as benchmarks/papers/records
    #[arg(long, value_name = "DIR")]
    pub records: Option<PathBuf>,
}

impl Options {
    /// The problems asked for among those `known`; all of them if none was named.
    pub fn problems_among(&self, known: &[&'static str]) -> Result<Vec<&'static str>, BenchError> {
        among("problem", &self.problems, known, known)
    }

    /// The algorithms asked for among those `known`; `default` if none was named.
    pub fn algorithms_among(
        &self,
        known: &[&'static str],
        default: &[&'static str],
    ) -> Result<Vec<&'static str>, BenchError> {
        among("algorithm", &self.algorithms, known, default)
    }

    /// The setting asked for among those `known`; the first of them if none was named.
    pub fn setting_among(&self, known: &[&'static str]) -> Result<&'static str, BenchError> {
        let asked: Vec<String> = self.setting.iter().cloned().collect();
        among("setting", &asked, known, known).map(|found| found[0])
    }

    /// Repetitions asked for; `default` if nothing was said.
    pub fn runs_or(&self, default: u32) -> u32 {
        self.runs.map_or(default, NonZeroU32::get)
    }

    /// The seed of a repetition.
    pub fn seed_of(&self, run: u32) -> u64 {
        self.seed.wrapping_add(u64::from(run))
    }
}

/// The known names among those asked for, each once, in the order of asking; `default` if there are none.
fn among(
    kind: &'static str,
    asked: &[String],
    known: &[&'static str],
    default: &[&'static str],
) -> Result<Vec<&'static str>, BenchError> {
    let mut found = Vec::new();
    for name in asked {
        let name = name.trim();
        match known.iter().find(|known| **known == name) {
            Some(known) if found.contains(known) => {}
            Some(known) => found.push(*known),
            None => return Err(BenchError::UnknownName { kind, name: name.into(), known: known.to_vec() }),
        }
    }
    Ok(if found.is_empty() { default.to_vec() } else { found })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn options(problems: &[&str]) -> Options {
        Options { problems: problems.iter().map(|&name| name.to_owned()).collect(), ..Options::default() }
    }

    #[test]
    fn named_problems_come_once_and_in_order() {
        let known = ["branin", "levy-5d", "hartmann-6d"];
        assert_eq!(options(&[]).problems_among(&known).unwrap(), known);
        let asked = options(&["hartmann-6d", " branin", "branin"]);
        assert_eq!(asked.problems_among(&known).unwrap(), ["hartmann-6d", "branin"]);
    }

    #[test]
    fn unknown_names_are_answered_with_the_known_ones() {
        let error = options(&["egg"]).problems_among(&["branin", "levy-5d"]).unwrap_err();
        assert!(error.is_usage());
        assert_eq!(error.to_string(), "unknown problem `egg`; known are: branin, levy-5d");
        let options = Options { setting: Some("printed".into()), ..Options::default() };
        assert!(options.setting_among(&["paper", "code"]).is_err());
        assert_eq!(Options::default().setting_among(&["paper", "code"]).unwrap(), "paper");
    }

    #[test]
    fn runs_and_seeds() {
        let options = Options { seed: u64::MAX, ..Options::default() };
        assert_eq!((options.runs_or(20), options.seed_of(0), options.seed_of(2)), (20, u64::MAX, 1));
    }
}
