//! `noregret ask`: hands out trials to evaluate elsewhere.

use std::io::Write;
use std::num::NonZeroUsize;

use anyhow::Error;
use noregret_store::{HandOut, SharedStudy, StorageUrl, StoreError, Timestamp};

use crate::common_args::{JsonArg, count};
use crate::pause;
use crate::printable;
use crate::summary;
use crate::target::StudyArgs;
use crate::{NothingLeft, UsageError};
use noregret_files::study_file::Span;

/// Flags of `noregret ask`.
#[derive(Debug, clap::Args)]
#[command(after_help = AFTER_HELP)]
pub(crate) struct AskArgs {
    #[command(flatten)]
    study: StudyArgs,
    /// How many trials, decided on together [default: the study's batch]
    #[arg(long, short = 'n', value_name = "N", value_parser = count::<100_000>)]
    count: Option<NonZeroUsize>,
    /// Hand a trial out again if it is not told within this time, such as 2h [default: never]
    #[arg(long, value_name = "TIME", value_parser = Span::parse)]
    lease: Option<Span>,
    /// Only show what would be asked
    #[arg(long)]
    dry_run: bool,
    #[command(flatten)]
    json: JsonArg,
}

const AFTER_HELP: &str = "\
Examples:
  noregret ask study.toml                    the next trials
  noregret ask study.toml -n 96 --json       a plate, for a program
  noregret tell study.toml 12 0.31           the result of trial 12

Trials that were asked for and not told are taken into account by the next ones. A study needs no objective command
for this: `[objective] command = [\"none\"]` will do.";

pub(crate) fn run(args: &AskArgs, out: &mut dyn Write) -> Result<(), Error> {
    let mut target = args.study.locate()?;
    if args.dry_run && target.file.is_some() && target.url.is_missing() {
        target.url = StorageUrl::Memory; // a dry run creates no storage
    }
    let mut shared = if args.dry_run && !matches!(target.url, StorageUrl::Memory) {
        target.open_to_read()?
    } else {
        target.open()?
    };
    if let Some(name) = shared.definition().space.function() {
        let problem =
            format!("constraint `{name}` is a function of the program that made this study: ask there");
        return Err(UsageError::new(problem).into());
    }
    pause::check(&shared)?;
    let batch = match (&args.count, &target.file) {
        (Some(n), _) => Some(n.get()),
        (None, Some((file, _))) => file.batch().map(NonZeroUsize::get),
        (None, None) => Some(1),
    };
    if args.dry_run {
        return preview(&mut shared, batch.unwrap_or(1), args.json.json, out);
    }
    let order = HandOut {
        // Without a number, as many as the algorithm allows.
        wanted: batch.unwrap_or(usize::MAX),
        // Waiting trials count: propose only the missing ones.
        batch: batch.map(|_| 1),
        budget: None,
        worker: "ask".into(),
        lease: args.lease.map(|span| span.0),
        request: None,
    };
    let trials = shared.hand_out(&order, Timestamp::now()).map_err(nothing_left)?;
    let space = shared.study().space().clone();
    for trial in trials {
        let Some(record) = shared.ledger().record(trial.number) else { continue };
        if args.json.json {
            serde_json::to_writer(&mut *out, &record.described(&space))?;
            writeln!(out)?;
        } else {
            let id = record.id(&space).map_or(String::new(), |id| format!("{}  ", printable::line(&id)));
            writeln!(out, "trial {}  {id}{}", trial.number, summary::params(&trial.params))?;
        }
    }
    Ok(())
}

fn preview(shared: &mut SharedStudy, n: usize, json: bool, out: &mut dyn Write) -> Result<(), Error> {
    for params in shared.study().suggest(n).map_err(StoreError::from).map_err(nothing_left)? {
        if json {
            serde_json::to_writer(&mut *out, &serde_json::json!({ "params": params }))?;
            writeln!(out)?;
        } else {
            writeln!(out, "{}", summary::params(&params))?;
        }
    }
    Ok(())
}

fn nothing_left(error: StoreError) -> Error {
    if error.is_exhausted() { NothingLeft.into() } else { error.into() }
}
