//! Ctrl-C and other signals.

use std::fs;
use std::io;
use std::sync::Arc;
use std::sync::atomic::AtomicBool;
use std::thread;

use signal_hook::consts::{SIGCHLD, SIGHUP, SIGINT, SIGTERM};
use signal_hook::iterator::Signals;

/// The meaning of a signal.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Stop {
    /// Finish what is running (Ctrl-C, the first time).
    Soon,
    /// Stop at once: a scheduler, a shutdown or a closed terminal does not wait for long.
    Now,
}

/// Calls `hear` for every signal from now on, except for a closed terminal if our parent ignores that, as `nohup` does.
/// Ctrl-C is heard even if it is ignored: shells ignore it in background jobs, but a user may still send it by hand.
pub(super) fn listen(hear: impl Fn(Stop) + Send + 'static) -> io::Result<()> {
    let hangup = (!ignores(SIGHUP)).then_some(SIGHUP);
    let wanted = [SIGINT, SIGTERM].into_iter().chain(hangup);
    let mut signals = Signals::new(wanted)?;
    // Any handler will do: it makes the kernel keep the exit status of our children even if our parent ignored this signal.
    signal_hook::flag::register(SIGCHLD, Arc::new(AtomicBool::new(false)))?;
    thread::Builder::new().spawn(move || {
        for signal in signals.forever() {
            hear(if signal == SIGINT { Stop::Soon } else { Stop::Now });
        }
    })?;
    Ok(())
}

/// Whether a signal is ignored, by `/proc` where it exists.
fn ignores(signal: i32) -> bool {
    let mask = || {
        let status = fs::read_to_string("/proc/self/status").ok()?;
        let line = status.lines().find_map(|line| line.strip_prefix("SigIgn:"))?;
        u64::from_str_radix(line.trim(), 16).ok()
    };
    mask().unwrap_or(0) & (1 << (signal - 1)) != 0
}
