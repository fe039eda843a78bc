//! What signals do to this process where nobody listens, and what that means for the commands it starts.

use std::fs;
use std::io;
use std::sync::Arc;
use std::sync::atomic::AtomicBool;

use signal_hook::consts::SIGXFSZ;
use signal_hook::flag;

/// The signals that are ignored, bit `n - 1` for signal `n`, by `/proc` where it exists. Programs inherit this from whoever
/// starts them: `nohup` ignores one, shells ignore another in background jobs.
pub(crate) fn ignored() -> u64 {
    let mask = || {
        let status = fs::read_to_string("/proc/self/status").ok()?;
        let line = status.lines().find_map(|line| line.strip_prefix("SigIgn:"))?;
        u64::from_str_radix(line.trim(), 16).ok()
    };
    mask().unwrap_or(0)
}

/// Makes a write beyond the limit on the size of files fail like one on a full disk; by default it would end the process. The
/// signal is caught and not ignored, since programs that we start would inherit that.
pub(crate) fn survive_file_limit() -> io::Result<()> {
    flag::register(SIGXFSZ, Arc::new(AtomicBool::new(false))).map(drop)
}

/// Catches every signal that is ignored and does nothing about it, so that the programs we start do not inherit that.
#[cfg(target_os = "linux")]
pub(crate) fn heed_all() {
    use signal_hook::consts::FORBIDDEN;
    let ignored = ignored();
    for signal in (1..=64).filter(|signal| ignored & (1 << (signal - 1)) != 0) {
        if !FORBIDDEN.contains(&signal) {
            let _ = flag::register(signal, Arc::new(AtomicBool::new(false))); // the C library keeps some for itself
        }
    }
}
