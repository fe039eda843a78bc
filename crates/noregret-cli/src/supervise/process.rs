//! The supervising process: one thread, so that it works where no further thread can be started.

use std::fs::{self, File};
use std::io::{self, Read};
use std::os::fd::AsFd;
use std::os::unix::net::UnixStream;
use std::os::unix::process::CommandExt;
use std::process::{Command, ExitCode, Stdio};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::io::Errno;
use rustix::process::{
    Pid, Signal, WaitOptions, getpid, kill_process, kill_process_group, set_child_subreaper, wait,
};
use rustix::stdio::{dup2_stderr, dup2_stdout};
use signal_hook::consts::{SIGCHLD, SIGHUP, SIGINT, SIGQUIT, SIGTERM};
use signal_hook::{flag, low_level::pipe};

use super::{Order, Report, die_with_parent};
use crate::{dispositions, say};

/// Between two attempts to kill what is left: from the first to the last of these, doubling.
const AGAIN: (Duration, Duration) = (Duration::from_millis(1), Duration::from_millis(500));

/// `noregret supervise`: stdin is the socket to `noregret run`.
pub(crate) fn main() -> ExitCode {
    let socket = io::stdin().as_fd().try_clone_to_owned().map(UnixStream::from);
    let order = socket.and_then(|mut socket| Ok((Order::receive(&mut socket)?, socket)));
    let Ok((order, socket)) = order else {
        say("error: `noregret supervise` is a part of `noregret run`, and of no use by itself");
        return ExitCode::from(2);
    };
    Supervisor::start(&order, socket).map_or(ExitCode::FAILURE, |mut supervisor| {
        supervisor.work();
        ExitCode::SUCCESS
    })
}

struct Supervisor {
    socket: UnixStream,
    /// Readable after a signal.
    signals: UnixStream,
    /// Whether we ourselves were told to end by a signal.
    terminated: Arc<AtomicBool>,
    /// The command, leader of its group, until it was reaped.
    command: Option<Pid>,
    /// Whether all must end now.
    ending: bool,
    pause: Duration,
}

impl Supervisor {
    /// Starts the command, and reports whether that worked.
    fn start(order: &Order, mut socket: UnixStream) -> io::Result<Self> {
        let started = Self::prepare().and_then(|(signals, terminated, nothing)| {
            let command = spawn(order)?;
            // Otherwise the pipes would stay open when the command and its children have ended.
            dup2_stdout(&nothing)?;
            dup2_stderr(&nothing)?;
            Ok((signals, terminated, command))
        });
        let report = match &started {
            Ok(_) => Report::Started,
            Err(error) => Report::NotStarted(error.raw_os_error().unwrap_or(Errno::INVAL.raw_os_error())),
        };
        let _ = report.send(&mut socket); // if nobody hears it, the socket is closed, which ends us
        let (signals, terminated, command) = started?;
        let command = Some(command);
        Ok(Self { socket, signals, terminated, command, ending: false, pause: AGAIN.0 })
    }

    /// All that can fail, before there is a command.
    fn prepare() -> io::Result<(UnixStream, Arc<AtomicBool>, File)> {
        set_child_subreaper(Some(getpid()))?;
        dispositions::heed_all();
        let nothing = File::options().read(true).write(true).open("/dev/null")?;
        let (signals, sender) = UnixStream::pair()?;
        signals.set_nonblocking(true)?;
        let terminated = Arc::new(AtomicBool::new(false));
        for signal in [SIGTERM, SIGINT, SIGHUP, SIGQUIT] {
            flag::register(signal, Arc::clone(&terminated))?;
            pipe::register(signal, sender.try_clone()?)?;
        }
        pipe::register(SIGCHLD, sender)?;
        Ok((signals, terminated, nothing))
    }

    /// Returns when no descendant is left, or none that we may kill.
    fn work(&mut self) {
        loop {
            if !self.reap() {
                return;
            }
            if self.ending && !self.kill() {
                return;
            }
            self.sleep();
        }
    }

    /// Takes note of children that have ended; returns whether some are left. A child of a descendant that ended is ours.
    fn reap(&mut self) -> bool {
        loop {
            match wait(WaitOptions::NOHANG) {
                Ok(Some((pid, status))) if Some(pid) == self.command => {
                    self.command = None;
                    let _ = Report::Ended(status.as_raw()).send(&mut self.socket);
                }
                Ok(Some(_)) | Err(Errno::INTR) => {}
                Ok(None) => return true,
                Err(_) => return false,
            }
        }
    }

    /// Kills all children; theirs become ours and are next. Nobody else can reap our children, so their numbers are not
    /// those of strangers. Returns whether that can have had an effect.
    fn kill(&self) -> bool {
        if let Some(command) = self.command {
            let _ = kill_process_group(command, Signal::KILL); // all at once, before one can start another
        }
        let children = children();
        let failed = |pid: &Pid| kill_process(*pid, Signal::KILL) == Err(Errno::PERM);
        let foreign = children.iter().filter(|pid| failed(pid)).count(); // of another user, by `sudo`
        self.command.is_some() || foreign == 0 || foreign < children.len()
    }

    /// Until a signal, the end of noregret, or the next attempt to kill.
    fn sleep(&mut self) {
        let limit = Timespec::try_from(self.pause).ok().filter(|_| self.ending);
        let mut watched =
            vec![PollFd::new(&self.signals, PollFlags::IN), PollFd::new(&self.socket, PollFlags::IN)];
        watched.truncate(if self.ending { 1 } else { 2 });
        let _ = poll(&mut watched, limit.as_ref()); // an interruption is a signal
        let closed = watched.get(1).is_some_and(|socket| !socket.revents().is_empty());
        drop(watched);
        while (&self.signals).read(&mut [0; 64]).is_ok_and(|n| n > 0) {}
        if self.ending {
            self.pause = (2 * self.pause).min(AGAIN.1);
        }
        self.ending |= closed || self.terminated.load(Ordering::SeqCst);
    }
}

fn spawn(order: &Order) -> io::Result<Pid> {
    let (program, arguments) = order.words.split_first().ok_or(io::ErrorKind::InvalidInput)?;
    let mut command = Command::new(program);
    command
        .args(arguments)
        .env_clear()
        .envs(order.variables.iter().map(|(name, value)| (name, value)))
        .stdin(Stdio::null())
        .process_group(0);
    die_with_parent(&mut command);
    let child = command.spawn()?;
    i32::try_from(child.id()).ok().and_then(Pid::from_raw).ok_or_else(|| io::ErrorKind::InvalidData.into())
}

/// Our children, some of which may have ended.
fn children() -> Vec<Pid> {
    let number = |word: &str| word.parse().ok().and_then(Pid::from_raw);
    if let Ok(list) = fs::read_to_string("/proc/thread-self/children") {
        return list.split_whitespace().filter_map(number).collect();
    }
    // A kernel without that file: look at all processes.
    let Ok(processes) = fs::read_dir("/proc") else { return Vec::new() };
    let is_child = |pid: &Pid| parent(*pid) == Some(getpid());
    processes.flatten().filter_map(|entry| number(entry.file_name().to_str()?)).filter(is_child).collect()
}

fn parent(pid: Pid) -> Option<Pid> {
    let stat = fs::read_to_string(format!("/proc/{pid}/stat")).ok()?;
    let (_, fields) = stat.rsplit_once(')')?; // the name before it may contain anything
    fields.split_whitespace().nth(1)?.parse().ok().and_then(Pid::from_raw)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_parent_is_found_without_the_list_of_children() {
        assert_eq!(parent(getpid()), rustix::process::getppid());
    }
}
