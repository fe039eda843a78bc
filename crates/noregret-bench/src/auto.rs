//! What `auto` is made of: each of its choices against the same without it.
//!
//! The problems are those of `noregret bench peers`, but with other places of the minima and other seeds: what was chosen
//! here is judged there.

use std::io::Write;
use std::num::NonZeroUsize;

use noregret::Algorithm;

use crate::peers::contender::Contender;
use crate::peers::run::Plan;
use crate::peers::task::Task;
use crate::peers::{PROBLEMS, findings};
use crate::report::Progress;
use crate::{BenchError, Options, Output};

/// Repetitions, each with a minimum in another place.
const RUNS: u32 = 5;
/// The seeds begin here, far from those of the comparison with peers.
const FIRST_SEED: u64 = 1_000;

/// Variants by their names, as the study file would say it.
const VARIANTS: [(&str, &str); 2] = [("auto", r#"{"name":"auto"}"#), ("gp-ei", r#"{"name":"gp-ei"}"#)];

/// What `noregret bench auto --help` says after the flags.
pub const AFTER_HELP: &str = "\
Examples:
  noregret bench auto --runs 2 --batches 5
  noregret bench auto --algorithms auto --try 'rough={\"name\":\"gp-ei\",\"model\":{\"kernel\":\"matern-32\"}}'";

/// The flags of this experiment.
#[derive(Clone, Debug, Default, clap::Args)]
pub struct Config {
    /// Those of all experiments.
    #[command(flatten)]
    pub options: Options,

    /// Sizes of batches, separated by commas [default: 1,5,20]
    #[arg(long, value_name = "SIZES", value_delimiter = ',')]
    pub batches: Vec<NonZeroUsize>,

    /// One more variant: a name and the algorithm's table as JSON; may be given several times
    #[arg(long = "try", value_name = "NAME=JSON")]
    pub tried: Vec<String>,
}

/// Runs the experiment and writes what it found.
pub fn run(config: &Config, out: &mut dyn Write) -> Result<(), BenchError> {
    let options = &config.options;
    let problems = options.problems_among(&PROBLEMS)?;
    let known: Vec<&str> = VARIANTS.iter().map(|(name, _)| *name).collect();
    let named = options.algorithms_among(&known, &known)?;
    let given = VARIANTS.iter().filter(|(name, _)| named.contains(name)).copied();
    let tried = config.tried.iter().map(|text| text.split_once('=').unwrap_or((text, "")));
    let variants: Vec<(&str, Algorithm)> = given
        .chain(tried)
        .map(|(name, table)| {
            let unreadable = |error: serde_json::Error| BenchError::NotAvailable {
                what: format!("variant `{name}`: {error}"),
            };
            Ok((name, serde_json::from_str(table).map_err(unreadable)?))
        })
        .collect::<Result<_, BenchError>>()?;
    let batches: Vec<usize> = match config.batches.as_slice() {
        [] => vec![1, 5, 20],
        asked => asked.iter().map(|batch| batch.get()).collect(),
    };
    let runs = options.runs_or(RUNS);
    let mut output = Output::resumed(options, "auto", out)?;
    let total = problems.len() * batches.len() * variants.len();
    let progress = Progress::new(total as u64 * u64::from(runs), "auto");
    for (name, algorithm) in &variants {
        let mut contender = Contender::ours(algorithm.clone());
        for (problem, batch, run) in all_tasks(&problems, &batches, runs) {
            let seed = FIRST_SEED + options.seed_of(run);
            let task = Task::new(problem, batch, None, seed);
            progress.message(format!("{name}, {problem}, batches of {batch}, run {run}"));
            let plan = Plan { task: &task, method: name, run, seed };
            if !output.reuse(|record| plan.is_of(record))? {
                output.record(plan.execute(&mut contender)?)?;
            }
            progress.advance(1);
        }
        progress.note(&format!("auto: {name} done"));
    }
    drop(progress);
    let names: Vec<&str> = variants.iter().map(|(name, _)| *name).collect();
    findings::report(&names, &mut output)
}

/// All problems with all sizes of batches, `runs` times each.
fn all_tasks<'a>(
    problems: &'a [&'static str],
    batches: &'a [usize],
    runs: u32,
) -> impl Iterator<Item = (&'static str, usize, u32)> + 'a {
    problems.iter().flat_map(move |problem| {
        batches.iter().flat_map(move |batch| (0..runs).map(move |run| (*problem, *batch, run)))
    })
}
