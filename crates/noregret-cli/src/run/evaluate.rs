//! One evaluation: a process that is watched by a thread until it ends.
//!
//! On Linux that process is a supervisor, which starts the command and sees to it that nothing of it is left behind (see
//! [`crate::supervise`]). Elsewhere it is the command itself, in its own process group.

use std::ffi::OsString;
use std::io;
use std::net::Shutdown;
use std::os::fd::{AsFd, OwnedFd};
use std::os::unix::net::UnixStream;
use std::os::unix::process::{CommandExt, ExitStatusExt};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, ExitStatus, Stdio};
use std::sync::mpsc::{self, Receiver, Sender};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread;
use std::time::{Duration, Instant};

use noregret::Trial;
use noregret_problems::Problem;
use noregret_store::{Attrs, Evaluation};
use rustix::io::Errno;
use rustix::process::{Pid, Signal, WaitId, WaitIdOptions, kill_process_group, waitid};

use super::answer;
use super::command::Template;
use super::environment::CommandEnvironment;
use super::output::Output;
use crate::supervise::{self, Order, Report};

/// How long to wait for output after the process has ended, since another process may hold the pipe, ...
const DRAIN: Duration = Duration::from_millis(300);
/// ... and after all of its processes were killed, when only a busy machine causes a delay.
const LAST_WORDS: Duration = Duration::from_secs(1);
/// How long to wait for the end of all processes of an evaluation. Only those that the kernel cannot interrupt (a dead
/// network disk) or that belong to another user take longer; the supervisor goes on with them alone.
const SWEEP: Duration = Duration::from_secs(5);
/// The interval at which a process without a supervisor is looked at, while others hold its pipes.
const LOOK: Duration = Duration::from_millis(20);

/// Evaluates trials.
#[derive(Clone, Debug)]
pub(crate) enum Evaluator {
    /// A program.
    Command {
        template: Template,
        /// Where it runs: the folder of the study file.
        folder: PathBuf,
        environment: CommandEnvironment,
    },
    /// A test problem.
    Builtin(Arc<Problem>),
}

/// How an attempt ended.
#[derive(Debug)]
pub(crate) struct Attempt {
    pub(crate) number: u64,
    pub(crate) outcome: Evaluation,
}

/// The evaluation could not be started. The trial is not at fault.
#[derive(Debug, thiserror::Error)]
pub(crate) enum StartError {
    /// The program is missing, or no program.
    #[error("[objective] command: {program:?} cannot be started: {problem}")]
    Command { program: String, problem: io::Error },
    /// The machine, or a limit on what a user may have, allows no more for now.
    #[error(
        "no more evaluations can be started for now, for lack of processes, threads, memory or files: {problem}"
    )]
    Temporary { problem: io::Error },
}

impl StartError {
    fn new(program: String, problem: io::Error) -> Self {
        let lacking = [Errno::AGAIN, Errno::NOMEM, Errno::MFILE, Errno::NFILE];
        let is_lacking = Errno::from_io_error(&problem).is_some_and(|errno| lacking.contains(&errno));
        if is_lacking || problem.kind() == io::ErrorKind::OutOfMemory {
            Self::Temporary { problem }
        } else {
            Self::Command { program, problem }
        }
    }

    /// Whether it may work when other evaluations have ended.
    pub(crate) fn is_temporary(&self) -> bool {
        matches!(self, Self::Temporary { .. })
    }
}

/// An evaluation under way.
#[derive(Debug)]
pub(crate) struct Running {
    pub(crate) since: Instant,
    process: Option<Arc<Process>>,
}

/// A process that may have ended by now.
#[derive(Debug)]
struct Process {
    state: Mutex<ProcessState>,
}

#[derive(Debug)]
struct ProcessState {
    /// How to kill it, as long as it has not ended.
    handle: Option<Handle>,
    /// Why it was killed.
    killed: Option<String>,
}

/// What kills an evaluation.
#[derive(Debug)]
enum Handle {
    /// Closing the socket to its supervisor.
    Socket(Arc<UnixStream>),
    /// A signal to its group; the number cannot be reused until the leader is reaped.
    Group(Pid),
}

impl Running {
    /// Kills the process and its descendants; the attempt will end as a failure for this reason.
    pub(crate) fn kill(&self, reason: &str) {
        let Some(process) = &self.process else { return };
        let mut state = process.lock();
        let Some(handle) = &state.handle else { return };
        // Either may just have ended by itself.
        match handle {
            Handle::Socket(socket) => drop(socket.shutdown(Shutdown::Write)),
            Handle::Group(group) => drop(kill_process_group(*group, Signal::KILL)),
        }
        state.killed.get_or_insert_with(|| reason.to_owned());
    }
}

impl Process {
    fn new(handle: Handle) -> Arc<Self> {
        Arc::new(Self { state: Mutex::new(ProcessState { handle: Some(handle), killed: None }) })
    }

    fn lock(&self) -> std::sync::MutexGuard<'_, ProcessState> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// From now on it cannot be killed.
    fn has_ended(&self) {
        self.lock().handle = None;
    }
}

impl Evaluator {
    /// Begins to start an evaluation; calls `done` when it ends. If it cannot be started, nothing of it is left. Starting takes
    /// some milliseconds, which several evaluations can spend at the same time.
    pub(crate) fn begin(
        &self,
        trial: &Trial,
        id: Option<&str>,
        done: impl FnOnce(Attempt) + Send + 'static,
    ) -> Result<Starting, StartError> {
        let (number, since) = (trial.number, Instant::now());
        match self {
            Self::Builtin(problem) => {
                let (problem, x) = (Arc::clone(problem), trial.numbers());
                // The report is made in the thread: without one there is nothing to report.
                let evaluate = move || {
                    let end = End::new(number, done);
                    let value = problem.value(&x);
                    let seconds = Some(since.elapsed().as_secs_f64());
                    end.with(Evaluation::Value { value, noise_var: None, attrs: Attrs::new(), seconds });
                };
                let failed = |problem| StartError::new("builtin".into(), problem);
                thread::Builder::new().spawn(evaluate).map_err(failed)?;
                Ok(Starting { since, program: String::new(), started: None })
            }
            Self::Command { template, folder, environment } => {
                let words = template.fill(trial, id);
                let program = words[0].clone();
                let words = words.into_iter().map(OsString::from).collect();
                let order = Order { words, variables: environment.of(trial) };
                let folder = folder.clone();
                let (sender, started) = mpsc::channel();
                // The thread that starts a process must outlive it: see `die_with_parent`.
                let watch = move || watch(&order, &folder, since, &sender, End::new(number, done));
                match thread::Builder::new().spawn(watch) {
                    Ok(_) => Ok(Starting { since, program, started: Some(started) }),
                    Err(problem) => Err(StartError::new(program, problem)),
                }
            }
        }
    }
}

/// An evaluation that is being started.
#[derive(Debug)]
pub(crate) struct Starting {
    since: Instant,
    program: String,
    /// Hears whether it was; `None` for a test problem, which needs no process.
    started: Option<Receiver<io::Result<Arc<Process>>>>,
}

impl Starting {
    /// Waits until it has started, or has not.
    pub(crate) fn wait(self) -> Result<Running, StartError> {
        let Self { since, program, started } = self;
        let Some(started) = started else { return Ok(Running { since, process: None }) };
        match started.recv().unwrap_or_else(|_| Err(io::Error::other("its thread has ended"))) {
            Ok(process) => Ok(Running { since, process: Some(process) }),
            Err(problem) => Err(StartError::new(program, problem)),
        }
    }
}

/// Reports the end of an attempt exactly once, also if the thread that watches it panics.
struct End<F: FnOnce(Attempt)> {
    number: u64,
    done: Option<F>,
}

impl<F: FnOnce(Attempt)> End<F> {
    fn new(number: u64, done: F) -> Self {
        Self { number, done: Some(done) }
    }

    fn with(mut self, outcome: Evaluation) {
        if let Some(done) = self.done.take() {
            done(Attempt { number: self.number, outcome });
        }
    }

    /// Cancels the report: the attempt never started.
    fn without(mut self) {
        self.done = None;
    }
}

impl<F: FnOnce(Attempt)> Drop for End<F> {
    fn drop(&mut self) {
        if let Some(done) = self.done.take() {
            let reason = "noregret lost sight of it: this is a bug".into();
            let outcome = Evaluation::Failure { reason, stderr: String::new(), seconds: None };
            done(Attempt { number: self.number, outcome });
        }
    }
}

fn watch(
    order: &Order,
    folder: &Path,
    since: Instant,
    started: &Sender<io::Result<Arc<Process>>>,
    end: End<impl FnOnce(Attempt)>,
) {
    let begun = match supervise::command() {
        Some(command) => Watched::supervised(command, order, folder),
        None => Watched::alone(order, folder),
    };
    let mut watched = match begun {
        Ok(watched) => watched,
        Err(error) => {
            end.without();
            let _ = started.send(Err(error));
            return;
        }
    };
    let process = Process::new(watched.handle());
    let _ = started.send(Ok(Arc::clone(&process)));
    let mut output = Output::of(&mut watched.child);
    let (status, seconds) = watched.end(&process, &mut output, since);
    output.finish_stdout(LAST_WORDS);
    output.finish_both(DRAIN);
    let killed = process.lock().killed.take();
    end.with(judge(status, killed, &output, seconds));
    let _ = watched.child.wait(); // which takes no time, but for processes that cannot be killed
}

/// A process that was started.
struct Watched {
    child: Child,
    kind: Kind,
}

enum Kind {
    /// The child is a supervisor, at the other end of this socket.
    Supervised(Arc<UnixStream>),
    /// The child is the command, and the leader of this group.
    Alone(Pid),
}

impl Watched {
    /// Starts the command by a supervisor.
    fn supervised(mut command: Command, order: &Order, folder: &Path) -> io::Result<Self> {
        let (mut socket, theirs) = UnixStream::pair()?;
        command
            .current_dir(folder)
            .stdin(OwnedFd::from(theirs))
            .stdout(Stdio::piped())
            .stderr(Stdio::piped());
        let mut child = command.process_group(0).spawn()?;
        drop(command); // with their end of the socket: if they die, ours must close
        let report = order.send(&mut socket).and_then(|()| Report::receive(&mut socket));
        let problem = match report {
            Ok(Report::Started) => {
                return Ok(Self { child, kind: Kind::Supervised(Arc::new(socket)) });
            }
            Ok(Report::NotStarted(error)) => io::Error::from_raw_os_error(error),
            Ok(Report::Ended(_)) | Err(_) => {
                let _ = child.kill();
                let mut output = Output::of(&mut child);
                output.finish_both(DRAIN); // if the command was faster, it may have children that hold the pipes
                supervisor_ended(&output.stderr())
            }
        };
        child.wait()?;
        Err(problem)
    }

    /// Starts the command itself.
    fn alone(order: &Order, folder: &Path) -> io::Result<Self> {
        let (program, arguments) = order.words.split_first().ok_or(io::ErrorKind::InvalidInput)?;
        let mut command = Command::new(program);
        command
            .args(arguments)
            .env_clear()
            .envs(order.variables.iter().map(|(name, value)| (name, value)))
            .current_dir(folder)
            .stdin(Stdio::null())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .process_group(0);
        supervise::die_with_parent(&mut command);
        let child = command.spawn()?;
        let group =
            i32::try_from(child.id()).ok().and_then(Pid::from_raw).ok_or(io::ErrorKind::InvalidData)?;
        Ok(Self { child, kind: Kind::Alone(group) })
    }

    fn handle(&self) -> Handle {
        match &self.kind {
            Kind::Supervised(socket) => Handle::Socket(Arc::clone(socket)),
            Kind::Alone(group) => Handle::Group(*group),
        }
    }

    /// Reads the output until the command has ended, then kills what is left of it. Returns its status, and how long it took.
    fn end(
        &mut self,
        process: &Process,
        output: &mut Output,
        since: Instant,
    ) -> (Result<ExitStatus, String>, f64) {
        match &self.kind {
            Kind::Supervised(socket) => {
                while !output.step(Some(socket.as_fd()), None) {}
                let status = match Report::receive(&mut &**socket) {
                    Ok(Report::Ended(status)) => Ok(ExitStatus::from_raw(status)),
                    _ => Err("the process that supervised it was killed".to_owned()), // and the command with it
                };
                process.has_ended();
                let seconds = since.elapsed().as_secs_f64();
                output.finish_stdout(DRAIN);
                let _ = socket.shutdown(Shutdown::Write); // it may have ended already
                let until = Instant::now() + SWEEP;
                let left =
                    || Some(until.saturating_duration_since(Instant::now())).filter(|left| !left.is_zero());
                while let Some(left) = left()
                    && !output.step(Some(socket.as_fd()), Some(left))
                {}
                (status, seconds)
            }
            Kind::Alone(group) => {
                while !is_waiting(*group, output.is_over()) {
                    output.step(None, Some(LOOK));
                }
                let seconds = since.elapsed().as_secs_f64();
                output.finish_stdout(DRAIN);
                let _ = kill_process_group(*group, Signal::KILL);
                process.has_ended();
                let status = self.child.wait();
                (status.map_err(|error| format!("its end was not noticed: {error}")), seconds)
            }
        }
    }
}

/// A supervisor that ends before it has started anything could not be loaded, for lack of memory.
fn supervisor_ended(words: &str) -> io::Error {
    io::Error::new(io::ErrorKind::OutOfMemory, format!("its supervisor has ended: {words}"))
}

/// Whether a child has ended and waits to be reaped. Until then the number of its group cannot be reused.
fn is_waiting(child: Pid, block: bool) -> bool {
    let hang = if block { WaitIdOptions::empty() } else { WaitIdOptions::NOHANG };
    match waitid(WaitId::Pid(child), WaitIdOptions::EXITED | WaitIdOptions::NOWAIT | hang) {
        Ok(ended) => ended.is_some(),
        Err(error) => error != Errno::INTR,
    }
}

fn judge(
    status: Result<ExitStatus, String>,
    killed: Option<String>,
    output: &Output,
    seconds: f64,
) -> Evaluation {
    let failure =
        |reason: String| Evaluation::Failure { reason, stderr: output.stderr(), seconds: Some(seconds) };
    if let Some(reason) = killed {
        return failure(reason);
    }
    let status = match status {
        Ok(status) => status,
        Err(reason) => return failure(reason),
    };
    if let Some(signal) = status.signal() {
        return failure(format!("it was killed by signal {signal}{}", signal_name(signal)));
    }
    if !status.success() {
        return failure(format!("it ended with exit code {}", status.code().unwrap_or(-1)));
    }
    let line = output.last_line().text().ok_or_else(answer::too_long);
    match line.and_then(|line| answer::parse(&line)) {
        Ok(answer) => Evaluation::Value {
            value: answer.value,
            noise_var: answer.noise_var,
            attrs: answer.attrs,
            seconds: Some(seconds),
        },
        Err(reason) => failure(reason),
    }
}

fn signal_name(signal: i32) -> &'static str {
    match signal {
        4 => " (illegal instruction)",
        6 => " (aborted)",
        8 => " (arithmetic error)",
        9 => " (killed; out of memory?)",
        11 => " (segmentation fault)",
        15 => " (terminated)",
        25 => " (a file grew beyond the limit)",
        _ => "",
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_lack_of_processes_is_not_the_fault_of_the_command() {
        let error = |errno: Errno| StartError::new("train.py".into(), errno.into());
        for errno in [Errno::AGAIN, Errno::NOMEM, Errno::MFILE, Errno::NFILE] {
            assert!(error(errno).is_temporary(), "{errno}");
        }
        assert!(StartError::new("train.py".into(), supervisor_ended("cannot map")).is_temporary());
        assert!(!error(Errno::NOENT).is_temporary());
        assert!(error(Errno::NOENT).to_string().contains("\"train.py\" cannot be started: No such file"));
    }
}
