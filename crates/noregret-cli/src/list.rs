//! `noregret list`: the studies of a storage.

use std::io::Write;

use anyhow::Error;
use noregret::Direction;
use noregret_bench::report::Table;
use noregret_store::{Event, Ledger, StorageUrl, Store, Timestamp, TrialStatus};
use serde::Serialize;

use crate::common_args::JsonArg;
use crate::number::short;
use crate::printable;
use crate::say;

/// Entries read at a time.
const PAGE: usize = 2_000;

/// Flags of `noregret list`.
#[derive(Debug, clap::Args)]
#[command(after_help = AFTER_HELP)]
pub(crate) struct ListArgs {
    /// Where studies are kept
    #[arg(
        long,
        value_name = "URL",
        env = "NOREGRET_STORAGE",
        hide_env_values = true,
        default_value = "sqlite:///noregret.db"
    )]
    storage: StorageUrl,
    /// Archived ones, too
    #[arg(long)]
    all: bool,
    #[command(flatten)]
    json: JsonArg,
}

const AFTER_HELP: &str = "\
Examples:
  noregret list                                       studies in noregret.db of this folder
  noregret list --storage postgresql://ann@host/db
  noregret list --json | jq -r 'select(.running > 0).study'";

/// One study.
#[derive(Debug, Serialize)]
struct Listed {
    study: String,
    algorithm: String,
    direction: Option<Direction>,
    /// Trials that are to be evaluated in all, if the study says so.
    trials: Option<usize>,
    complete: u64,
    failed: u64,
    running: usize,
    waiting: usize,
    best: Option<f64>,
    /// Whether it was put away.
    archived: bool,
    /// When something was last written.
    changed: String,
}

pub(crate) fn run(args: &ListArgs, out: &mut dyn Write) -> Result<(), Error> {
    let store = args.storage.open_to_read()?;
    let mut table = Table::new([
        "study",
        "algorithm",
        "complete",
        "of",
        "running",
        "waiting",
        "failed",
        "best",
        "changed",
    ]);
    let studies = store.studies()?;
    for (name, _) in &studies {
        let listed = listed(&*store, name)?;
        if listed.archived && !args.all {
            continue;
        }
        if args.json.json {
            serde_json::to_writer(&mut *out, &listed)?;
            writeln!(out)?;
            continue;
        }
        table.row([
            printable::line(name).into_owned(),
            listed.algorithm,
            listed.complete.to_string(),
            listed.trials.map(|trials| trials.to_string()).unwrap_or_default(),
            listed.running.to_string(),
            listed.waiting.to_string(),
            listed.failed.to_string(),
            listed.best.map(short).unwrap_or_default(),
            listed.changed,
        ]);
    }
    if studies.is_empty() {
        say(&format!("there are no studies in {}", args.storage));
    } else if !args.json.json {
        write!(out, "{table}")?;
    }
    Ok(())
}

/// A study as its log has it. Neither its model nor its pool is needed.
fn listed(store: &dyn Store, name: &str) -> Result<Listed, Error> {
    let (mut ledger, mut position, mut changed) = (Ledger::default(), 0, Timestamp(0));
    let (mut algorithm, mut direction, mut trials) = (String::new(), None, None);
    loop {
        let entries = store.read(name, position, PAGE)?;
        for entry in &entries {
            match &entry.event {
                Event::Defined(definition) => {
                    definition.algorithm.name().clone_into(&mut algorithm);
                    if direction.is_none() {
                        (direction, trials) = (Some(definition.direction), definition.trials);
                    }
                }
                Event::Planned(planned) => trials = planned.trials,
                _ => {}
            }
            ledger.apply(entry);
            changed = entry.time;
        }
        position += entries.len() as u64;
        if entries.len() < PAGE {
            break;
        }
    }
    let values = ledger.records().iter().filter_map(|record| match record.status {
        TrialStatus::Complete { value, .. } => Some(value),
        _ => None,
    });
    let best = match direction {
        Some(Direction::Maximize) => values.reduce(f64::max),
        _ => values.reduce(f64::min),
    };
    Ok(Listed {
        study: name.to_owned(),
        algorithm,
        direction,
        trials,
        complete: ledger.complete(),
        failed: ledger.failed(),
        running: ledger.running().count(),
        waiting: ledger.waiting().len(),
        best,
        archived: ledger.is_archived(),
        changed: noregret_store::rfc3339(changed),
    })
}
