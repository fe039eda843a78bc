//! Sending signals, and waiting for what comes of them.

use std::process::Command;
use std::thread;
use std::time::{Duration, Instant};

pub(crate) fn send(signal: &str, pid: u32) {
    assert!(Command::new("kill").args([signal, &pid.to_string()]).status().unwrap().success());
}

/// Waits until something is true, and not for ever.
pub(crate) fn until(what: &str, mut is_true: impl FnMut() -> bool) {
    let begin = Instant::now();
    while !is_true() {
        assert!(begin.elapsed() < Duration::from_secs(30), "still not: {what}");
        thread::sleep(Duration::from_millis(10));
    }
}
