//! Who evaluates: a name that says where a process runs, so that its death can be noticed at once on the same machine.

use std::fs;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Mutex, OnceLock, PoisonError};

/// What is known of the process behind a name.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Life {
    /// It runs, in this place.
    Alive,
    /// It ran in this place, and runs no more.
    Dead,
    /// It is elsewhere, or no process at all.
    Unknown,
}

/// The name of this process as a worker: unique among all processes that may ever share a log.
///
/// On Linux it holds the process and when it started, on which boot of which machine and in which namespace. Elsewhere
/// others wait for its leases to run out when it dies.
pub fn this_worker() -> String {
    // A process keeps its name; a forked child is another.
    static NAME: Mutex<Option<(u32, String)>> = Mutex::new(None);
    let pid = std::process::id();
    let mut known = NAME.lock().unwrap_or_else(PoisonError::into_inner);
    match &*known {
        Some((owner, name)) if *owner == pid => name.clone(),
        _ => known.insert((pid, name_of(pid))).1.clone(),
    }
}

fn name_of(pid: u32) -> String {
    match (place(), start(pid)) {
        (Some(place), Some(start)) => format!("{pid}-{start}@{place}"),
        _ => format!("{pid}@{}", crate::Timestamp::now().0),
    }
}

/// Whether this is the name of a process, rather than of somebody who was asked.
pub(crate) fn is_process(worker: &str) -> bool {
    worker.contains('@')
}

/// Another name of this process, for one of several things in it that act on their own; its life is that of the process.
pub(crate) fn another_name() -> String {
    static NEXT: AtomicU64 = AtomicU64::new(0);
    format!("{}/{}", this_worker(), NEXT.fetch_add(1, Ordering::Relaxed))
}

/// Whether the process behind this name still runs.
pub(crate) fn life(worker: &str) -> Life {
    let process = worker.split_once('/').map_or(worker, |(process, _)| process);
    let parse = || {
        let (process, its_place) = process.split_once('@')?;
        let (pid, its_start) = process.split_once('-')?;
        let pid: u32 = pid.parse().ok()?;
        if its_place != place()? {
            return None;
        }
        let is_it = start(pid).as_deref() == Some(its_start);
        Some(if is_it { Life::Alive } else { Life::Dead })
    };
    parse().unwrap_or(Life::Unknown)
}

/// Whether the worker is known to be dead: it ran in this place, and runs no more.
pub fn is_dead(worker: &str) -> bool {
    life(worker) == Life::Dead
}

/// This boot of this machine, and this namespace of processes in it.
fn place() -> Option<&'static str> {
    static PLACE: OnceLock<Option<String>> = OnceLock::new(); // nothing can move a process
    PLACE.get_or_init(find_place).as_deref()
}

fn find_place() -> Option<String> {
    let boot = fs::read_to_string("/proc/sys/kernel/random/boot_id").ok()?;
    let namespace = fs::read_link("/proc/self/ns/pid").ok()?;
    let namespace: String = namespace.to_string_lossy().chars().filter(char::is_ascii_digit).collect();
    Some(format!("{}-{namespace}", boot.trim()))
}

/// When a living process started, in ticks since boot; `None` if it has ended, even if nobody has noticed yet.
fn start(pid: u32) -> Option<String> {
    let stat = fs::read_to_string(format!("/proc/{pid}/stat")).ok()?;
    // The name of the program, in brackets, may hold anything, brackets included.
    let mut fields = stat[stat.rfind(')')? + 1..].split_ascii_whitespace();
    let state = fields.next()?;
    if matches!(state, "Z" | "X") {
        return None;
    }
    fields.nth(18).map(str::to_owned) // field 22 of the line; the state is field 3
}

#[cfg(test)]
#[cfg(target_os = "linux")]
mod tests {
    use super::*;

    #[test]
    fn the_living_live_and_the_dead_are_dead() {
        assert_eq!(life(&this_worker()), Life::Alive);
        assert_eq!(life(&another_name()), Life::Alive);
        let mut child = std::process::Command::new("true").spawn().unwrap();
        let pid = child.id();
        let name = format!("{pid}-{}@{}", start(std::process::id()).unwrap(), place().unwrap());
        child.wait().unwrap();
        assert!(is_dead(&name));
    }

    #[test]
    fn a_process_keeps_its_name() {
        assert_eq!(this_worker(), this_worker());
    }

    #[test]
    fn strangers_are_never_declared_dead() {
        for name in ["", "somebody", "1-2@elsewhere", "1-2", "x-y@z", "alice@lab"] {
            assert_eq!(life(name), Life::Unknown, "{name}");
        }
    }
}
