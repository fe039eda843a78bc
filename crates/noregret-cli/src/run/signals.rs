//! Ctrl-C and its kin.

use std::fs;
use std::io;
use std::sync::Arc;
use std::sync::atomic::AtomicBool;
use std::thread;

use signal_hook::consts::{SIGCHLD, SIGHUP, SIGINT, SIGTERM};
use signal_hook::iterator::Signals;

/// What a signal asks for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Stop {
    /// Finish what is running (Ctrl-C, the first time).
    Soon,
    /// Whoever sends this will not wait for long: a scheduler, a shutdown, a closed terminal.
    Now,
}

/// Calls `hear` for every signal from now on, but for those that whoever started us wants ignored, as `nohup` does.
pub(super) fn listen(hear: impl Fn(Stop) + Send + 'static) -> io::Result<()> {
    let ignored = ignored();
    let wanted = [SIGINT, SIGTERM, SIGHUP].into_iter().filter(|signal| ignored & (1 << (signal - 1)) == 0);
    let mut signals = Signals::new(wanted)?;
    // A handler, whatever it does, so that the ends of processes are kept for us even if our parent did not want its own.
    signal_hook::flag::register(SIGCHLD, Arc::new(AtomicBool::new(false)))?;
    thread::Builder::new().spawn(move || {
        for signal in signals.forever() {
            hear(if signal == SIGINT { Stop::Soon } else { Stop::Now });
        }
    })?;
    Ok(())
}

/// A bit for each signal that is ignored, where `/proc` tells.
fn ignored() -> u64 {
    let mask = || {
        let status = fs::read_to_string("/proc/self/status").ok()?;
        let line = status.lines().find_map(|line| line.strip_prefix("SigIgn:"))?;
        u64::from_str_radix(line.trim(), 16).ok()
    };
    mask().unwrap_or(0)
}
