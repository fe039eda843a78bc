//! `noregret release`: takes trials back from whoever has them, unevaluated.

use std::io::Write;

use anyhow::Error;
use noregret_store::{Lease, SharedStudy, Timestamp, TrialStatus, is_dead};

use crate::UsageError;
use crate::common_args::JsonArg;
use crate::printable;
use crate::target::StudyArgs;

/// Who has what `noregret ask` handed out, or a Python program that keeps no lease.
const NOBODY: &str = "ask";

/// Flags of `noregret release`.
#[derive(Debug, clap::Args)]
#[command(after_help = AFTER_HELP)]
pub(crate) struct ReleaseArgs {
    #[command(flatten)]
    study: StudyArgs,
    /// Numbers of the trials
    #[arg(long = "trial", short = 't', value_name = "NUMBER", num_args = 1.., required_unless_present = "all")]
    trials: Vec<u64>,
    /// All that `ask` handed out and that nobody told, and all of processes that have died
    #[arg(long, conflicts_with = "trials")]
    all: bool,
    /// Also those of a process that may be evaluating them: its result will count if it comes first
    #[arg(long)]
    force: bool,
    #[command(flatten)]
    json: JsonArg,
}

const AFTER_HELP: &str = "\
Examples:
  noregret release study.toml --trial 12 13     these wait again, and are the next to be handed out
  noregret release study.toml --all             whatever was asked for and forgotten

A result that is told for a released trial after all counts as usual.";

pub(crate) fn run(args: &ReleaseArgs, out: &mut dyn Write) -> Result<(), Error> {
    let mut shared = args.study.locate()?.open_existing()?;
    let numbers = if args.all { free(&shared, args.force) } else { args.trials.clone() };
    let mut workers = Vec::new();
    for number in &numbers {
        workers.push(holder(&shared, *number, args.force)?);
    }
    let names: Vec<&str> = workers.iter().map(String::as_str).collect();
    shared.release(&numbers, &names, Timestamp::now())?;
    for number in numbers {
        let waits =
            shared.ledger().record(number).is_some_and(|record| record.status == TrialStatus::Waiting);
        if args.json.json {
            writeln!(out, "{}", serde_json::json!({ "number": number, "released": waits }))?;
        } else {
            let said = if waits { "waits again" } else { "was told or taken meanwhile" };
            writeln!(out, "trial {number}: {said}")?;
        }
    }
    Ok(())
}

/// Running trials that may be taken back.
fn free(shared: &SharedStudy, force: bool) -> Vec<u64> {
    let running = shared.ledger().running();
    running.filter(|(_, lease)| force || is_free(lease)).map(|(number, _)| number).collect()
}

fn is_free(lease: &Lease) -> bool {
    lease.worker == NOBODY || is_dead(&lease.worker)
}

/// Who has this trial, if it may be taken back.
fn holder(shared: &SharedStudy, number: u64, force: bool) -> Result<String, UsageError> {
    let Some(record) = shared.ledger().record(number) else {
        return Err(UsageError::new(format!("there is no trial {number}")));
    };
    match &record.status {
        TrialStatus::Running(lease) if force || is_free(lease) => Ok(lease.worker.clone()),
        TrialStatus::Running(lease) => {
            let worker = printable::line(&lease.worker).into_owned();
            Err(UsageError::new(format!(
                "trial {number} is with {worker}, which may be evaluating it: --force takes it all the same"
            )))
        }
        other => Err(UsageError::new(format!("trial {number} is not running, but {}", other.word()))),
    }
}
