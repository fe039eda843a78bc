//! `noregret export`: all trials as a table for other programs.

mod parquet;

use std::io::{self, Write};
use std::path::{Path, PathBuf};

use anyhow::Error;
use clap::ValueEnum;
use noregret::Space;
use noregret_store::{Ledger, SharedStudy};

use crate::UsageError;
use crate::output_file;
use crate::target::StudyArgs;

/// Flags of `noregret export`.
#[derive(Debug, clap::Args)]
#[command(after_help = AFTER_HELP)]
pub(crate) struct ExportArgs {
    #[command(flatten)]
    study: StudyArgs,
    /// The format [default: by the name of the output, else csv]
    #[arg(long, short, value_name = "FORMAT")]
    format: Option<Format>,
    /// Where to write [default: stdout]
    #[arg(long, short, value_name = "FILE")]
    output: Option<PathBuf>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
enum Format {
    /// Comma-separated, with a header: a column for each parameter
    Csv,
    /// A JSON array of objects, as `trials --json` prints them
    Json,
    /// Apache Parquet, columns typed
    Parquet,
}

const AFTER_HELP: &str = "\
Examples:
  noregret export study.toml > trials.csv
  noregret export study.toml --output trials.parquet
  noregret tell other.toml --from trials.csv      carry results into another study";

pub(crate) fn run(args: &ExportArgs, out: &mut dyn Write) -> Result<(), Error> {
    let format = args.format.map_or_else(|| by_name(args.output.as_deref()), Ok)?;
    let target = args.study.locate()?;
    let mut shared = target.open_to_read()?;
    match &args.output {
        None => write(format, &mut shared, out),
        Some(path) => {
            let definition = shared.definition().clone();
            output_file::write(path, &target, &definition, |file| write(format, &mut shared, file))
        }
    }
}

fn by_name(output: Option<&Path>) -> Result<Format, UsageError> {
    let extension = output.and_then(Path::extension).map(|e| e.to_string_lossy().to_lowercase());
    match extension.as_deref() {
        None | Some("csv") => Ok(Format::Csv),
        Some("json") => Ok(Format::Json),
        Some("parquet") => Ok(Format::Parquet),
        Some(other) => {
            Err(UsageError::new(format!("what format is .{other}? say --format csv, json or parquet")))
        }
    }
}

fn write(format: Format, shared: &mut SharedStudy, out: &mut dyn Write) -> Result<(), Error> {
    let space = shared.study().space().clone();
    let ledger = shared.ledger();
    match format {
        Format::Csv => csv(ledger, &space, out),
        Format::Json => json(ledger, &space, out).map_err(Error::from),
        Format::Parquet => parquet::write(ledger, &space, out),
    }
}

/// Columns of a trial besides its parameters.
const OWN: [&str; 11] = [
    "number",
    "state",
    "id",
    "value",
    "noise_var",
    "reason",
    "attempts",
    "asked",
    "started",
    "ended",
    "seconds",
];

/// The column of a parameter: its name, unless that is one of ours.
pub(crate) fn parameter_column(name: &str) -> String {
    if OWN.contains(&name) { format!("params.{name}") } else { name.to_owned() }
}

fn json(ledger: &Ledger, space: &Space, out: &mut dyn Write) -> io::Result<()> {
    for (i, record) in ledger.records().iter().enumerate() {
        out.write_all(if i == 0 { b"[\n" } else { b",\n" })?;
        serde_json::to_writer(&mut *out, &record.described(space))?;
    }
    out.write_all(if ledger.records().is_empty() { b"[]\n" } else { b"\n]\n" })
}

fn csv(ledger: &Ledger, space: &Space, out: &mut dyn Write) -> Result<(), Error> {
    let mut writer = csv::Writer::from_writer(out);
    let mut header = vec!["number", "state"];
    header.extend(space.as_pool().map(|_| "id"));
    let columns: Vec<String> = space.names().iter().map(|name| parameter_column(name)).collect();
    header.extend(columns.iter().map(String::as_str));
    header.extend([
        "value",
        "noise_var",
        "reason",
        "attempts",
        "asked",
        "started",
        "ended",
        "seconds",
        "attrs",
    ]);
    writer.write_record(header)?;
    for record in ledger.records() {
        let trial = record.described(space);
        let number = |x: Option<f64>| x.map_or(String::new(), |x| x.to_string());
        let mut row = vec![trial.number.to_string(), trial.state.clone()];
        row.extend(space.as_pool().map(|_| trial.id.clone().unwrap_or_default()));
        row.extend(
            space
                .names()
                .iter()
                .map(|name| trial.params.get(name).map(ToString::to_string).unwrap_or_default()),
        );
        row.extend([number(trial.value), number(trial.noise_var), trial.reason.clone().unwrap_or_default()]);
        row.extend([trial.attempts.to_string(), trial.asked.clone()]);
        row.extend([trial.started.clone().unwrap_or_default(), trial.ended.clone().unwrap_or_default()]);
        row.push(number(trial.seconds));
        let attrs = if trial.attrs.is_empty() { String::new() } else { serde_json::to_string(&trial.attrs)? };
        row.push(attrs);
        writer.write_record(row)?;
    }
    writer.flush()?;
    Ok(())
}
