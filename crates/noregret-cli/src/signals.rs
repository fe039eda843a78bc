//! Ctrl-C and other signals.

use std::io;
use std::sync::Arc;
use std::sync::atomic::AtomicBool;
use std::thread;

use signal_hook::consts::{SIGCHLD, SIGHUP, SIGINT, SIGTERM};
use signal_hook::iterator::Signals;

use crate::dispositions;

/// The meaning of a signal.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Stop {
    /// Finish what is running (Ctrl-C, the first time).
    Soon,
    /// Stop at once: a scheduler, a shutdown or a closed terminal does not wait for long.
    Now,
}

/// Calls `hear` for every signal from now on, except for a closed terminal if our parent ignores that, as `nohup` does.
/// Ctrl-C is heard even if it is ignored: shells ignore it in background jobs, but a user may still send it by hand.
pub(crate) fn listen(hear: impl Fn(Stop) + Send + 'static) -> io::Result<()> {
    let hangup = (dispositions::ignored() & (1 << (SIGHUP - 1)) == 0).then_some(SIGHUP);
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
