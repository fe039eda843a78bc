//! The command line of noregret: parse, call, print.
//!
//! Machine output goes to stdout, messages to stderr. Exit codes: 0 done, 1 failure, 2 usage or invalid study file,
//! 3 nothing left to suggest, 130 interrupted.

mod algorithms;
mod archive;
mod ask;
mod bench;
mod best;
mod common_args;
mod dashboard;
mod dispositions;
mod enqueue;
mod export;
#[cfg(feature = "fuzzing")]
#[doc(hidden)]
pub mod fuzzing;
mod gallery;
mod list;
mod manual;
mod note;
mod number;
mod output_file;
mod pause;
mod points_file;
mod printable;
mod release;
mod report;
mod run;
mod schema;
mod serve;
mod show;
mod signals;
mod summary;
mod supervise;
mod target;
mod tell;
mod token;
mod trials;
mod worker;

use std::io::{self, Write};
use std::process::ExitCode;

use anyhow::Error;
use clap::{CommandFactory, Parser, Subcommand};
use noregret_bench::BenchError;
use noregret_client::ClientError;
use noregret_files::{DefineError, PoolFileError, StudyFileError};
use noregret_store::StoreError;

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
  noregret run study.toml                 tune: ask, evaluate, tell, until the study is done
  noregret best study.toml                what to use
  noregret ask study.toml -n 8            trials to evaluate yourself
  noregret tell study.toml 3 0.31         the result of one of them
  noregret algorithms                     what there is to choose from
  noregret serve study.toml               the same for workers on other machines
  noregret dashboard study.toml           watch it in the browser
  noregret bench inexact --runs 3         a published experiment, repeated

A study is named by its file, or by --study NAME --storage URL. Options can be set by variables such as
NOREGRET_STORAGE and NOREGRET_WORKERS.

Exit codes: 0 done, 1 failure, 2 wrong usage or invalid study file, 3 nothing left to suggest, 130 interrupted.";

#[derive(Debug, Subcommand)]
enum Command {
    /// Start a study, or go on with it: ask, evaluate, tell
    Run(run::RunArgs),
    /// Hand out trials for you to evaluate
    Ask(ask::AskArgs),
    /// Tell the result of a trial, or add results from elsewhere
    Tell(tell::TellArgs),
    /// Queue points of your own, to be evaluated next
    Enqueue(enqueue::EnqueueArgs),
    /// Take trials back that were handed out, unevaluated
    Release(release::ReleaseArgs),
    /// List all trials
    Trials(trials::TrialsArgs),
    /// List the studies of a storage
    List(list::ListArgs),
    /// Put a study away, so that `list` leaves it out
    Archive(archive::ArchiveArgs),
    /// Hand out nothing for a while
    Pause(pause::PauseArgs),
    /// Note something about a study or a trial, or tag a study
    Note(note::NoteArgs),
    /// Show what to use: the best observed trial and the recommended one
    Best(best::BestArgs),
    /// Show how a study is going: history, model, importance of parameters
    Show(show::ShowArgs),
    /// Watch studies in the browser; nothing can be changed
    Dashboard(dashboard::DashboardArgs),
    /// Write what there is to see of studies into one file, for others
    Report(report::ReportArgs),
    /// Write all trials as CSV, JSON or Parquet
    Export(export::ExportArgs),
    /// Serve studies over HTTP, for workers on other machines
    Serve(serve::ServeArgs),
    /// Evaluate the trials of a study that a server keeps
    Worker(worker::WorkerArgs),
    /// Make, list and revoke tokens for a server
    Token(token::TokenArgs),
    /// List the algorithms, what each is for, and where it was published
    Algorithms(algorithms::AlgorithmsArgs),
    /// Print the JSON Schema of the study file
    #[command(after_help = schema::AFTER_HELP)]
    Schema,
    /// Repeat an experiment of the papers
    Bench(bench::BenchArgs),
    /// Print completions for a shell
    Completions(manual::CompletionsArgs),
    /// Print the manual page, or write one for each command
    Man(manual::ManArgs),
}

/// An invalid command line.
#[derive(Debug, thiserror::Error)]
#[error("{0}")]
pub struct UsageError(String);

impl UsageError {
    pub(crate) fn new(problem: impl Into<String>) -> Self {
        Self(problem.into())
    }
}

/// All points of a finite space were evaluated.
#[derive(Debug, thiserror::Error)]
#[error("nothing left to suggest: every point of the space was suggested already")]
struct NothingLeft;

/// The user pressed Ctrl-C.
#[derive(Debug, thiserror::Error)]
#[error("interrupted")]
struct Interrupted;

/// Runs the command line that the process was called with.
pub fn main() -> ExitCode {
    #[cfg(target_os = "linux")]
    if std::env::args_os().nth(1).is_some_and(|word| word == supervise::WORD) {
        return supervise::main(); // before anything that takes time: there is one for each evaluation
    }
    // Without this handler we would end where a disk would only be full.
    let _ = dispositions::survive_file_limit();
    let cli = Cli::parse(); // exits with 2 on wrong usage, with 0 after help
    let mut out = io::stdout().lock();
    let done = run(&cli, &mut out).and_then(|()| Ok(out.flush()?));
    match done {
        Ok(()) => ExitCode::SUCCESS,
        // The reader of our output closed the pipe, as `head` does.
        Err(error) if is_broken_pipe(&error) => ExitCode::SUCCESS,
        Err(error) => {
            if !error.is::<Interrupted>() {
                say(&format!("error: {error:#}"));
            }
            ExitCode::from(exit_code(&error))
        }
    }
}

/// Prints a line for people on stderr, without control characters. If that fails (a closed pipe, a full disk), the line is lost
/// and the program continues.
pub(crate) fn say(line: &str) {
    let _ = writeln!(io::stderr(), "{}", printable::lines(line));
}

fn run(cli: &Cli, out: &mut dyn Write) -> Result<(), Error> {
    match &cli.command {
        Command::Run(args) => run::run(args, out),
        Command::Ask(args) => ask::run(args, out),
        Command::Tell(args) => tell::run(args, out),
        Command::Enqueue(args) => enqueue::run(args, out),
        Command::Release(args) => release::run(args, out),
        Command::Trials(args) => trials::run(args, out),
        Command::List(args) => list::run(args, out),
        Command::Archive(args) => archive::run(args, out),
        Command::Pause(args) => pause::run(args, out),
        Command::Note(args) => note::run(args, out),
        Command::Best(args) => best::run(args, out),
        Command::Show(args) => show::run(args, out),
        Command::Dashboard(args) => dashboard::run(args, out),
        Command::Report(args) => report::run(args, out),
        Command::Export(args) => export::run(args, out),
        Command::Serve(args) => serve::run(args, out),
        Command::Worker(args) => worker::run(args, out),
        Command::Token(args) => token::run(args, out),
        Command::Algorithms(args) => algorithms::run(args, out),
        Command::Schema => schema::run(out),
        Command::Bench(args) => bench::run(args, out),
        Command::Completions(args) => manual::completions(args, Cli::command(), out),
        Command::Man(args) => manual::man(args, Cli::command(), out),
    }
}

/// Maps errors to exit codes. No other place does.
fn exit_code(error: &Error) -> u8 {
    if error.is::<Interrupted>() {
        return 130;
    }
    if error.is::<NothingLeft>() {
        return 3;
    }
    let is_usage = error.is::<UsageError>()
        || error.is::<StudyFileError>()
        || error.is::<PoolFileError>()
        || error.is::<DefineError>()
        || error.downcast_ref::<run::StartError>().is_some_and(|error| !error.is_temporary())
        || error.is::<run::UnknownPlace>()
        || error.is::<noregret_server::TokenError>()
        || error.is::<noregret_server::ListenError>()
        || error.downcast_ref::<ClientError>().is_some_and(is_usage_of_server)
        || error.downcast_ref::<BenchError>().is_some_and(BenchError::is_usage)
        || error.downcast_ref::<StoreError>().is_some_and(is_usage_of_store)
        || error.downcast_ref::<noregret::Error>().is_some_and(is_usage_of_library);
    if is_usage { 2 } else { 1 }
}

/// Whether the study or its storage was named wrongly, as opposed to a failure of the storage.
fn is_usage_of_store(error: &StoreError) -> bool {
    matches!(
        error,
        StoreError::Url { .. }
            | StoreError::NoSuchStudy { .. }
            | StoreError::AnotherStudy { .. }
            | StoreError::Foreign { .. }
            | StoreError::Refused { .. }
    ) || matches!(error, StoreError::Study(error) if is_usage_of_library(error))
}

/// Whether a server was asked for something that it does not have or allow, as opposed to one that cannot be reached.
fn is_usage_of_server(error: &ClientError) -> bool {
    error.problem().is_some_and(|problem| matches!(problem.status, 401 | 403 | 404))
}

/// Whether an argument was invalid, as opposed to a failure at run time.
fn is_usage_of_library(error: &noregret::Error) -> bool {
    use noregret::Error as E;
    matches!(
        error,
        E::Space(_)
            | E::Algorithm(_)
            | E::GpConfig(_)
            | E::Network(_)
            | E::OutOfRange(_)
            | E::Memory(_)
            | E::Study(_)
    )
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

    #[test]
    fn the_command_line_is_consistent() {
        Cli::command().debug_assert();
    }

    #[test]
    fn errors_have_exit_codes() {
        let unknown = BenchError::UnknownName { kind: "problem", name: "egg".into(), known: vec!["branin"] };
        assert_eq!(exit_code(&unknown.into()), 2);
        let invalid = noregret_files::StudyFile::from_json("{}").unwrap_err();
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
