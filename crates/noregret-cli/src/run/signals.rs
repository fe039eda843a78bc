//! Ctrl-C and its kin.

use std::io;
use std::thread;

use signal_hook::consts::{SIGHUP, SIGINT, SIGTERM};
use signal_hook::iterator::Signals;

/// What a signal asks for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Stop {
    /// Finish what is running (Ctrl-C, the first time).
    Soon,
    /// Whoever sends this will not wait for long: a scheduler, a shutdown, a closed terminal.
    Now,
}

/// Calls `hear` for every signal from now on.
pub(super) fn listen(hear: impl Fn(Stop) + Send + 'static) -> io::Result<()> {
    let mut signals = Signals::new([SIGINT, SIGTERM, SIGHUP])?;
    thread::spawn(move || {
        for signal in signals.forever() {
            hear(if signal == SIGINT { Stop::Soon } else { Stop::Now });
        }
    });
    Ok(())
}
