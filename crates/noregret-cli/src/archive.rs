//! `noregret archive`: puts a study away.

use std::io::Write;

use anyhow::Error;
use noregret_store::Timestamp;

use crate::printable;
use crate::target::StudyArgs;

/// Flags of `noregret archive`.
#[derive(Debug, clap::Args)]
#[command(after_help = AFTER_HELP)]
pub(crate) struct ArchiveArgs {
    #[command(flatten)]
    study: StudyArgs,
    /// Take it out again
    #[arg(long)]
    undo: bool,
}

const AFTER_HELP: &str = "\
Examples:
  noregret archive study.toml
  noregret archive --study mlp --storage sqlite:///noregret.db --undo

`noregret list` leaves archived studies out. Nothing else changes: they can be read and continued.";

pub(crate) fn run(args: &ArchiveArgs, out: &mut dyn Write) -> Result<(), Error> {
    let mut shared = args.study.locate()?.open_existing()?;
    shared.archive(!args.undo, Timestamp::now())?;
    let said = if args.undo { "is listed again" } else { "is put away" };
    writeln!(out, "study `{}` {said}", printable::line(shared.name()))?;
    Ok(())
}
