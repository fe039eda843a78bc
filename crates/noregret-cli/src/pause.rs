//! `noregret pause`: hands out nothing for a while.

use std::io::Write;

use anyhow::Error;
use noregret_store::{SharedStudy, Timestamp};

use crate::printable;
use crate::target::{StudyArgs, quoted};

/// Flags of `noregret pause`.
#[derive(Debug, clap::Args)]
#[command(after_help = AFTER_HELP)]
pub(crate) struct PauseArgs {
    #[command(flatten)]
    study: StudyArgs,
    /// Go on
    #[arg(long)]
    undo: bool,
}

const AFTER_HELP: &str = "\
Examples:
  noregret pause study.toml
  noregret pause study.toml --undo

From now on nothing is handed out, to whoever asks: `run` and workers finish what they have and wait. Results are told as always.";

pub(crate) fn run(args: &PauseArgs, out: &mut dyn Write) -> Result<(), Error> {
    let mut shared = args.study.locate()?.open_existing()?;
    shared.pause(!args.undo, Timestamp::now())?;
    let said = if args.undo { "goes on" } else { "is paused" };
    writeln!(out, "study `{}` {said}", printable::line(shared.name()))?;
    Ok(())
}

/// Returns an error if the study is paused.
pub(crate) fn check(shared: &SharedStudy) -> Result<(), Error> {
    if shared.ledger().is_paused() {
        let name = quoted(shared.name());
        let problem = format!("study {name} is paused: `noregret pause --undo` lets it go on");
        return Err(Error::msg(problem));
    }
    Ok(())
}
