//! `noregret trials`: all trials and their states.

use std::io::Write;

use anyhow::Error;
use clap::ValueEnum;
use noregret_bench::report::Table;
use noregret_client::api::Trial as TrialJson;
use noregret_store::{TrialRecord, records_of};

use crate::common_args::JsonArg;
use crate::number::short;
use crate::printable;
use crate::summary;
use crate::target::StudyArgs;

/// Trials read and printed at a time: memory does not grow with the study.
const PAGE: u64 = 1_000;

/// Characters of a reason in the table.
const SHOWN: usize = 100;

/// Flags of `noregret trials`.
#[derive(Debug, clap::Args)]
#[command(after_help = AFTER_HELP)]
pub(crate) struct TrialsArgs {
    #[command(flatten)]
    study: StudyArgs,
    /// Only trials in this state
    #[arg(long, value_name = "STATE")]
    state: Option<State>,
    #[command(flatten)]
    json: JsonArg,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
enum State {
    Waiting,
    Running,
    Complete,
    Failed,
}

const AFTER_HELP: &str = "\
Examples:
  noregret trials study.toml
  noregret trials study.toml --state failed
  noregret trials study.toml --json | jq -r 'select(.state == \"complete\") | [.number, .value] | @tsv'";

pub(crate) fn run(args: &TrialsArgs, out: &mut dyn Write) -> Result<(), Error> {
    let target = args.study.locate()?;
    let store = target.store_to_read()?;
    let (_, space) = target.defined(&*store)?;
    let wanted = |record: &TrialRecord| {
        let state = args.state.and_then(|state| state.to_possible_value());
        state.is_none_or(|state| state.get_name() == record.status.word())
    };
    for first in (0..).step_by(usize::try_from(PAGE).unwrap_or(usize::MAX)) {
        let records = records_of(&*store, &target.name, first..first + PAGE)?;
        let is_last = (records.len() as u64) < PAGE;
        let chosen: Vec<TrialJson> =
            records.iter().filter(|record| wanted(record)).map(|record| record.described(&space)).collect();
        if args.json.json {
            for trial in &chosen {
                serde_json::to_writer(&mut *out, trial)?;
                writeln!(out)?;
            }
        } else if !chosen.is_empty() {
            write!(out, "{}", table(&chosen, space.as_pool().is_some()))?;
        }
        if is_last {
            return Ok(());
        }
    }
    Ok(())
}

fn table(trials: &[TrialJson], pool: bool) -> Table {
    let failures = trials.iter().any(|trial| trial.reason.is_some());
    let mut header =
        vec!["trial", "state", "value", "seconds", if pool { "candidate" } else { "parameters" }];
    header.extend(failures.then_some("why"));
    let mut table = Table::new(header);
    for trial in trials {
        let value = trial.value.map(short).unwrap_or_default();
        let seconds = trial.seconds.map_or(String::new(), |seconds| format!("{seconds:.2}"));
        let id = trial.id.as_deref().map(|id| printable::line(id).into_owned());
        let what = id.unwrap_or_else(|| summary::params(&trial.params));
        let mut row = vec![trial.number.to_string(), trial.state.clone(), value, seconds, what];
        if failures {
            let why = trial
                .reason
                .as_deref()
                .map_or(String::new(), |reason| summary::failure(reason, &trial.stderr));
            row.push(noregret_files::shortened(&why, SHOWN));
        }
        table.row(row);
    }
    table
}
