//! `noregret note`: what people want to remember of a study or a trial.

use std::io::Write;

use anyhow::Error;
use noregret_store::Timestamp;

use crate::printable;
use crate::target::StudyArgs;
use crate::{UsageError, say};

/// Flags of `noregret note`.
#[derive(Debug, clap::Args)]
#[command(after_help = AFTER_HELP)]
pub(crate) struct NoteArgs {
    #[command(flatten)]
    study: StudyArgs,
    /// The note, in place of an earlier one; empty to take it away
    #[arg(long, short, value_name = "TEXT", required_unless_present = "tags")]
    message: Option<String>,
    /// The trial it is about, rather than the study
    #[arg(long, short, value_name = "NUMBER")]
    trial: Option<u64>,
    /// Words by which the study is grouped, in place of those that it had; one that is empty takes them away
    #[arg(long = "tag", value_name = "WORD", num_args = 1.., conflicts_with = "trial")]
    tags: Vec<String>,
}

const AFTER_HELP: &str = "\
Examples:
  noregret note study.toml -m \"with the new pump\"
  noregret note study.toml --trial 12 -m \"the plate was warm\"
  noregret note study.toml --tag pump seed-3

Notes and tags are shown by the page; a trial's note is in `noregret trials --json`, too. Suggestions do not depend on them.";

pub(crate) fn run(args: &NoteArgs, out: &mut dyn Write) -> Result<(), Error> {
    let mut shared = args.study.locate()?.open_existing()?;
    if let Some(number) = args.trial.filter(|number| shared.ledger().record(*number).is_none()) {
        return Err(UsageError::new(format!("there is no trial {number}")).into());
    }
    if let Some(note) = &args.message {
        shared.note(args.trial, note, Timestamp::now())?;
        let about = args.trial.map_or("the study".to_owned(), |number| format!("trial {number}"));
        say(&format!("noted about {about}"));
    }
    if !args.tags.is_empty() {
        let tags: Vec<String> = args.tags.iter().filter(|tag| !tag.is_empty()).cloned().collect();
        shared.tag(&tags, Timestamp::now())?;
        writeln!(out, "tags: {}", printable::line(&tags.join(", ")))?;
    }
    Ok(())
}
