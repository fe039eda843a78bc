//! When a worker must have ended.

use std::process::Command;
use std::time::{Duration, SystemTime};

/// Parses a moment in UTC.
pub(super) fn parse_moment(text: &str) -> Result<SystemTime, String> {
    humantime::parse_rfc3339_weak(text)
        .map_err(|_| format!("{text:?} is no moment: write it like 2026-11-18T17:00:00Z"))
}

/// How much time is left for the Slurm job that this process is in, if it is in one that ends.
#[expect(clippy::disallowed_methods, reason = "Slurm tells its jobs by variables")]
pub(super) fn of_slurm() -> Option<Duration> {
    let job = std::env::var("SLURM_JOB_ID").ok()?;
    // A span, unlike the moment of its end (`%e`), is free of time zones.
    let said = Command::new("squeue").args(["-h", "-j", &job, "-o", "%L"]).output().ok()?;
    let text = String::from_utf8(said.stdout).ok()?;
    let left = parse_left(text.lines().next()?.trim());
    match left {
        Some(left) => crate::say(&format!("Slurm ends this job in {}", humantime::format_duration(left))),
        None => crate::say("Slurm does not say when this job ends"),
    }
    left
}

/// `days-hours:minutes:seconds`, from the right; `UNLIMITED` and the like are no limit.
fn parse_left(text: &str) -> Option<Duration> {
    let (days, rest) = match text.split_once('-') {
        Some((days, rest)) => (days.parse::<u64>().ok()?, rest),
        None => (0, text),
    };
    let mut seconds: u64 = 0;
    for part in rest.split(':') {
        seconds = seconds.checked_mul(60)?.checked_add(part.parse().ok()?)?;
    }
    Some(Duration::from_secs(days.checked_mul(86_400)?.checked_add(seconds)?))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn spans_of_slurm() {
        let seconds = |text: &str| parse_left(text).map(|span| span.as_secs());
        assert_eq!(seconds("59:58"), Some(3_598));
        assert_eq!(seconds("0:07"), Some(7));
        assert_eq!(seconds("1-02:03:04"), Some(86_400 + 2 * 3_600 + 3 * 60 + 4));
        for none in ["UNLIMITED", "NOT_SET", "INVALID", ""] {
            assert_eq!(seconds(none), None, "{none}");
        }
    }
}
