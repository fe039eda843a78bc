//! One evaluation: a process in its own group, watched by a thread until it ends.

use std::io::{self, Read};
use std::os::unix::process::{CommandExt, ExitStatusExt};
use std::path::PathBuf;
use std::process::{Child, Command, ExitStatus, Stdio};
use std::sync::mpsc::{self, Receiver, Sender};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread;
use std::time::{Duration, Instant};

use noregret::Trial;
use noregret_problems::Problem;
use noregret_store::{Attrs, Evaluation};
use rustix::process::{Pid, Signal, WaitId, WaitIdOptions, kill_process_group, waitid};

use super::answer;
use super::command::Template;

/// Bytes of output that are kept, from the end.
const TAIL: usize = 64 * 1024;
/// Bytes of stderr that go into the log.
const STDERR: usize = 4 * 1024;
/// How long to wait for output after the process has ended, since another process may hold the pipe, ...
const DRAIN: Duration = Duration::from_millis(300);
/// ... and after its whole group was killed, when only a busy machine or a daemon causes a delay.
const LAST_WORDS: Duration = Duration::from_secs(1);

/// Evaluates trials.
#[derive(Clone, Debug)]
pub(crate) enum Evaluator {
    /// A program.
    Command {
        template: Template,
        /// Where it runs: the folder of the study file.
        folder: PathBuf,
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

/// The program could not be started. The trial is not at fault.
#[derive(Debug, thiserror::Error)]
#[error("[objective] command: {program:?} cannot be started: {problem}")]
pub(crate) struct StartError {
    program: String,
    problem: io::Error,
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
    /// The leader of the group, as long as its number cannot have been reused.
    group: Option<Pid>,
    /// Why it was killed.
    killed: Option<String>,
}

impl Running {
    /// Kills the process and its descendants; the attempt will end as a failure for this reason.
    pub(crate) fn kill(&self, reason: &str) {
        let Some(process) = &self.process else { return };
        let mut state = process.lock();
        if let Some(group) = state.group {
            state.killed.get_or_insert_with(|| reason.to_owned());
            let _ = kill_process_group(group, Signal::KILL); // it may just have ended
        }
    }
}

impl Process {
    fn lock(&self) -> std::sync::MutexGuard<'_, ProcessState> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Evaluator {
    /// Starts an evaluation; calls `done` when it ends.
    pub(crate) fn start(
        &self,
        trial: &Trial,
        id: Option<&str>,
        done: impl FnOnce(Attempt) + Send + 'static,
    ) -> Result<Running, StartError> {
        let (number, since) = (trial.number, Instant::now());
        match self {
            Self::Builtin(problem) => {
                let (problem, x) = (Arc::clone(problem), trial.numbers());
                let end = End::new(number, done);
                let evaluate = move || {
                    let value = problem.value(&x);
                    let seconds = Some(since.elapsed().as_secs_f64());
                    end.with(Evaluation::Value { value, noise_var: None, attrs: Attrs::new(), seconds });
                };
                let failed = |problem| StartError { program: "builtin".into(), problem };
                thread::Builder::new().spawn(evaluate).map_err(failed)?;
                Ok(Running { since, process: None })
            }
            Self::Command { template, folder } => {
                let words = template.fill(trial, id);
                let mut command = Command::new(&words[0]);
                command
                    .args(&words[1..])
                    .current_dir(folder)
                    .env("NOREGRET_TRIAL", number.to_string())
                    .env("NOREGRET_PARAMS", serde_json::to_string(&trial.params).unwrap_or_default())
                    .stdin(Stdio::null())
                    .stdout(Stdio::piped())
                    .stderr(Stdio::piped())
                    .process_group(0);
                die_with_us(&mut command);
                let (sender, started) = mpsc::channel();
                let end = End::new(number, done);
                // The thread that starts a process must outlive it: see `die_with_us`.
                let watch = move || watch(&mut command, since, &sender, end);
                let began = thread::Builder::new().spawn(watch).and_then(|_| {
                    started.recv().unwrap_or_else(|_| Err(io::Error::other("its thread has ended")))
                });
                match began {
                    Ok(process) => Ok(Running { since, process: Some(process) }),
                    Err(problem) => Err(StartError { program: words[0].clone(), problem }),
                }
            }
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

/// Makes the kernel kill the process when the thread that started it dies, for example because noregret was killed. An
/// evaluation whose result nobody receives must not keep using a GPU. This reaches the command itself, not its children.
#[cfg(target_os = "linux")]
fn die_with_us(command: &mut Command) {
    use rustix::process::set_parent_process_death_signal;
    #[expect(
        unsafe_code,
        reason = "the closure only makes one system call, which is safe between fork and exec"
    )]
    unsafe {
        command.pre_exec(|| Ok(set_parent_process_death_signal(Some(Signal::KILL))?));
    }
}

#[cfg(not(target_os = "linux"))]
fn die_with_us(_: &mut Command) {}

fn watch(
    command: &mut Command,
    since: Instant,
    started: &Sender<io::Result<Arc<Process>>>,
    end: End<impl FnOnce(Attempt)>,
) {
    let mut child = match command.spawn() {
        Ok(child) => child,
        Err(error) => {
            end.without();
            let _ = started.send(Err(error));
            return;
        }
    };
    let group = i32::try_from(child.id()).ok().and_then(Pid::from_raw);
    let process = Arc::new(Process { state: Mutex::new(ProcessState { group, killed: None }) });
    let _ = started.send(Ok(Arc::clone(&process)));
    let stdout = Tail::of(child.stdout.take());
    let stderr = Tail::of(child.stderr.take());
    let (status, killed) = wait(&mut child, &process, &stdout);
    let seconds = since.elapsed().as_secs_f64();
    stdout.finish(LAST_WORDS);
    stderr.finish(DRAIN);
    end.with(judge(status, killed, &stdout.text(), &stderr.text(), seconds));
}

/// Waits for the end of the process, and of the rest of its group.
fn wait(child: &mut Child, process: &Process, stdout: &Tail) -> (io::Result<ExitStatus>, Option<String>) {
    // First without reaping: until the leader is reaped, the number of its group cannot be reused.
    let group = process.lock().group; // the lock is not held while waiting
    if let Some(pid) = group {
        while waitid(WaitId::Pid(pid), WaitIdOptions::EXITED | WaitIdOptions::NOWAIT)
            .is_err_and(|error| error == rustix::io::Errno::INTR)
        {}
        stdout.finish(DRAIN);
        let _ = kill_process_group(pid, Signal::KILL);
    }
    let killed = {
        let mut state = process.lock();
        state.group = None;
        state.killed.take()
    };
    (child.wait(), killed)
}

fn judge(
    status: io::Result<ExitStatus>,
    killed: Option<String>,
    stdout: &str,
    stderr: &str,
    seconds: f64,
) -> Evaluation {
    let failure =
        |reason: String| Evaluation::Failure { reason, stderr: end_of(stderr), seconds: Some(seconds) };
    if let Some(reason) = killed {
        return failure(reason);
    }
    let status = match status {
        Ok(status) => status,
        Err(error) => return failure(format!("its end was not noticed: {error}")),
    };
    if let Some(signal) = status.signal() {
        return failure(format!("it was killed by signal {signal}{}", signal_name(signal)));
    }
    if !status.success() {
        return failure(format!("it ended with exit code {}", status.code().unwrap_or(-1)));
    }
    match answer::parse(stdout) {
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
        _ => "",
    }
}

fn end_of(text: &str) -> String {
    let mut start = text.len().saturating_sub(STDERR);
    while !text.is_char_boundary(start) {
        start += 1;
    }
    text[start..].trim().to_owned()
}

/// The last bytes of a pipe, read by a separate thread so that nothing blocks.
struct Tail {
    bytes: Arc<Mutex<Vec<u8>>>,
    ended: Mutex<Option<Receiver<()>>>,
}

impl Tail {
    fn of(pipe: Option<impl Read + Send + 'static>) -> Self {
        let bytes = Arc::new(Mutex::new(Vec::new()));
        let (sender, ended) = mpsc::channel::<()>();
        if let Some(mut pipe) = pipe {
            let bytes = Arc::clone(&bytes);
            thread::spawn(move || {
                let _ended = sender; // dropped with the thread
                let mut chunk = vec![0; TAIL];
                loop {
                    match pipe.read(&mut chunk) {
                        Ok(0) => return,
                        Ok(n) => {
                            let mut bytes = bytes.lock().unwrap_or_else(PoisonError::into_inner);
                            bytes.extend_from_slice(&chunk[..n]);
                            if bytes.len() > 4 * TAIL {
                                let excess = bytes.len() - TAIL;
                                bytes.drain(..excess);
                            }
                        }
                        Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                        Err(_) => return,
                    }
                }
            });
        }
        Self { bytes, ended: Mutex::new(Some(ended)) }
    }

    /// Waits until everything was read, at most for `limit`.
    fn finish(&self, limit: Duration) {
        let mut ended = self.ended.lock().unwrap_or_else(PoisonError::into_inner);
        let over = ended
            .as_ref()
            .is_none_or(|receiver| receiver.recv_timeout(limit) == Err(mpsc::RecvTimeoutError::Disconnected));
        if over {
            *ended = None;
        }
    }

    fn text(&self) -> String {
        String::from_utf8_lossy(&self.bytes.lock().unwrap_or_else(PoisonError::into_inner)).into_owned()
    }
}
