//! The command line of noregret: parse, call, print.
//!
//! Machine output goes to stdout, messages to stderr. Exit codes: 0 done, 1 failure, 2 usage or invalid study file.

mod algorithms;
mod bench;
mod schema;
pub mod study_file;

use std::io::{self, Write};
use std::process::ExitCode;

use anyhow::Error;
use clap::{Parser, Subcommand};
use noregret_bench::BenchError;

use study_file::StudyFileError;

/// Decides which experiments to run next: Bayesian optimisation of expensive things, in batches
#[derive(Debug, Parser)]
#[command(name = "noregret", version, propagate_version = true, after_help = AFTER_HELP)]
#[command(arg_required_else_help = true, subcommand_required = true)]
struct Cli {
    #[command(subcommand)]
    command: Command,
}

const AFTER_HELP: &str = "\
Examples:
  noregret algorithms                     what there is to choose from
  noregret schema > study.schema.json     completion and checks for study files in your editor
  noregret bench inexact --runs 3         a published experiment, repeated

Exit codes: 0 done, 1 failure, 2 wrong usage or invalid study file.";

#[derive(Debug, Subcommand)]
enum Command {
    /// List the algorithms, what each is for, and where it was published
    Algorithms(algorithms::Args),
    /// Print the JSON Schema of the study file
    #[command(after_help = schema::AFTER_HELP)]
    Schema,
    /// Repeat an experiment of the papers
    Bench(bench::Args),
}

/// Runs the command line that the process was called with.
pub fn main() -> ExitCode {
    let cli = Cli::parse(); // exits with 2 on wrong usage, with 0 after help
    let mut out = io::stdout().lock();
    let done = run(&cli, &mut out).and_then(|()| Ok(out.flush()?));
    match done {
        Ok(()) => ExitCode::SUCCESS,
        // Whoever read our output has seen enough, as `head` does.
        Err(error) if is_broken_pipe(&error) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("error: {error:#}");
            ExitCode::from(exit_code(&error))
        }
    }
}

fn run(cli: &Cli, out: &mut dyn Write) -> Result<(), Error> {
    match &cli.command {
        Command::Algorithms(args) => algorithms::run(args, out),
        Command::Schema => schema::run(out),
        Command::Bench(args) => bench::run(args, out),
    }
}

/// The one place where errors become exit codes.
fn exit_code(error: &Error) -> u8 {
    let is_usage = error.downcast_ref::<BenchError>().is_some_and(BenchError::is_usage)
        || error.downcast_ref::<StudyFileError>().is_some();
    if is_usage { 2 } else { 1 }
}

fn is_broken_pipe(error: &Error) -> bool {
    error.downcast_ref::<BenchError>().is_some_and(BenchError::is_broken_pipe)
        || error.downcast_ref::<io::Error>().is_some_and(|e| e.kind() == io::ErrorKind::BrokenPipe)
        || error
            .downcast_ref::<serde_json::Error>()
            .is_some_and(|e| e.io_error_kind() == Some(io::ErrorKind::BrokenPipe))
}

#[cfg(test)]
mod tests {
    use super::*;
    use clap::CommandFactory;

    #[test]
    fn the_command_line_is_consistent() {
        Cli::command().debug_assert();
    }

    #[test]
    fn errors_have_exit_codes() {
        let unknown = BenchError::UnknownName { kind: "problem", name: "egg".into(), known: vec!["branin"] };
        assert_eq!(exit_code(&unknown.into()), 2);
        let invalid = study_file::StudyFile::from_json("{}").unwrap_err();
        assert_eq!(exit_code(&invalid.into()), 2);
        assert_eq!(exit_code(&Error::msg("the disk is full")), 1);
    }

    #[test]
    fn a_closed_pipe_is_no_failure() {
        let closed = || io::Error::from(io::ErrorKind::BrokenPipe);
        assert!(is_broken_pipe(&closed().into()));
        assert!(is_broken_pipe(&BenchError::Write(closed()).into()));
        assert!(is_broken_pipe(&serde_json::Error::io(closed()).into()));
        assert!(!is_broken_pipe(&io::Error::from(io::ErrorKind::StorageFull).into()));
    }
}
