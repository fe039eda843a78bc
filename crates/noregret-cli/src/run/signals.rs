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

/// Calls `hear` for every signal from now on, but for a closed terminal that whoever started us wants ignored, as `nohup`
/// does. Ctrl-C is heard even so: shells have it ignored in everything that they start in the background, where somebody
/// who sends it by hand still means it.
pub(super) fn listen(hear: impl Fn(Stop) + Send + 'static) -> io::Result<()> {
    let hangup = (!ignores(SIGHUP)).then_some(SIGHUP);
    let wanted = [SIGINT, SIGTERM].into_iter().chain(hangup);
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

/// Whether a signal is ignored, where `/proc` tells.
fn ignores(signal: i32) -> bool {
    let mask = || {
        let status = fs::read_to_string("/proc/self/status").ok()?;
        let line = status.lines().find_map(|line| line.strip_prefix("SigIgn:"))?;
        u64::from_str_radix(line.trim(), 16).ok()
    };
    mask().unwrap_or(0) & (1 << (signal - 1)) != 0
}
