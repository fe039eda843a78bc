//! `noregret report`: what there is to see of studies, in one file.

use std::io::Write;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use anyhow::Error;
use noregret_page::report::{Reported, html, markdown};
use noregret_store::{SharedStudy, Timestamp, rfc3339};

use crate::output_file;
use crate::say;
use crate::target::StudiesArgs;

/// Flags of `noregret report`.
#[derive(Debug, clap::Args)]
#[command(after_help = AFTER_HELP)]
pub(crate) struct ReportArgs {
    #[command(flatten)]
    studies: StudiesArgs,
    /// The file to write, whole at once; - for stdout
    #[arg(long, short, value_name = "FILE")]
    output: PathBuf,
    /// What it is [default: md if the file's name ends so, else html]
    #[arg(long, value_name = "FORMAT")]
    format: Option<Format>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, clap::ValueEnum)]
enum Format {
    /// The page with its data inside: it needs nothing else, and no network
    Html,
    /// Markdown, for a pull request
    Md,
}

const AFTER_HELP: &str = "\
Examples:
  noregret report study.toml -o study.html
  noregret report a.toml b.toml -o both.html
  noregret report study.toml -o - --format md | gh pr comment --body-file -

A report has what the dashboard shows, as of now. Of large studies it has less, and says of what. Print it from the browser
to get a PDF.";

pub(crate) fn run(args: &ReportArgs, out: &mut dyn Write) -> Result<(), Error> {
    let is_markdown = args.output.extension().is_some_and(|ending| ending == "md" || ending == "markdown");
    let format = args.format.unwrap_or(if is_markdown { Format::Md } else { Format::Html });
    let mut studies = Vec::new();
    let mut files = Vec::new();
    for target in args.studies.locate()? {
        let store = target.store_to_read()?;
        let (definition, space) = target.defined(&*store)?;
        let shared = SharedStudy::resume(Arc::clone(&store), &target.name, definition.clone(), space)?;
        studies.push((shared, store));
        files.push((target, definition));
    }
    let to_stdout = args.output == Path::new("-");
    if !to_stdout {
        files
            .iter()
            .try_for_each(|(target, definition)| output_file::check(&args.output, target, definition))?;
    }
    let mut reported: Vec<Reported<'_>> = studies
        .iter_mut()
        .map(|(shared, store)| Reported::new(shared, Arc::clone(store)))
        .collect::<Result<_, _>>()?;
    let made = rfc3339(Timestamp::now());
    let text = match format {
        Format::Html => html(&mut reported, &made)?,
        Format::Md => markdown(&mut reported, &made)?,
    };
    if to_stdout {
        out.write_all(text.as_bytes())?;
        return Ok(());
    }
    output_file::write_checked(&args.output, |file| Ok(file.write_all(text.as_bytes())?))?;
    say(&format!("wrote {} ({} kB)", args.output.display(), text.len().div_ceil(1_000)));
    Ok(())
}
