//! A progress bar on standard error, for people only.

use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};
use std::borrow::Cow;
use std::io::{IsTerminal, stderr};
use std::time::Duration;

/// Share done, time taken and time to go, with a message.
///
/// Nothing is drawn when standard error is not a terminal, and nothing ever goes to standard output. The bar may be
/// shared by threads, and clears itself when dropped.
#[derive(Debug)]
pub struct Progress {
    bar: ProgressBar,
}

impl Progress {
    /// A bar of `total` steps.
    pub fn new(total: u64, message: impl Into<Cow<'static, str>>) -> Self {
        if !stderr().is_terminal() {
            return Self { bar: ProgressBar::hidden().with_message(message) };
        }
        // Four redraws a second cost nothing beside an experiment.
        let bar = ProgressBar::with_draw_target(Some(total), ProgressDrawTarget::stderr_with_hz(4));
        let bar = bar.with_style(style()).with_message(message);
        bar.enable_steady_tick(Duration::from_secs(1)); // so that the clock moves during long steps
        Self { bar }
    }

    /// Says what is being done.
    pub fn message(&self, message: impl Into<Cow<'static, str>>) {
        self.bar.set_message(message);
    }

    /// Counts `steps` as done.
    pub fn advance(&self, steps: u64) {
        self.bar.inc(steps);
    }

    /// Writes a line to standard error, above the bar where there is one.
    pub fn note(&self, line: &str) {
        self.bar.suspend(|| eprintln!("{line}"));
    }
}

impl Drop for Progress {
    fn drop(&mut self) {
        self.bar.finish_and_clear();
    }
}

fn style() -> ProgressStyle {
    ProgressStyle::with_template("{bar:32.cyan/dim} {pos}/{len}  {elapsed}, {eta} left  {wide_msg}")
        .expect("invariant: the template is a constant, and a test reads it")
        .progress_chars("━╸─")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_template_is_valid() {
        let _ = style();
    }

    /// Tests have no terminal, or must not care whether they do.
    #[test]
    fn a_bar_counts_whether_or_not_it_is_seen() {
        let progress = Progress::new(3, "branin");
        progress.message("levy-5d");
        progress.advance(2);
        assert_eq!(progress.bar.position(), 2);
    }
}
