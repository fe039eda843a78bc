//! The output of a run: a progress bar on a terminal, lines elsewhere, JSON for programs.

use std::io::{IsTerminal, Write, stderr};
use std::time::{Duration, Instant};

use anyhow::Error;
use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};
use noregret::study::{Recommendation, RemainingRegret};
use noregret::{Direction, Trial};
use noregret_store::{Evaluation, SharedStudy, Skew, StoreError, TrialStatus, Verdict};
use serde_json::json;

use super::evaluate::StartError;
use super::rescue::Rescued;
use crate::number::short;
use crate::printable;
use crate::say;
use crate::summary;
use crate::target::Target;

/// Up to this many results the final recommendation takes less than a few seconds.
pub(super) const RECOMMENDED_UP_TO: u64 = 2_000;

/// The form of the output.
pub(super) enum Reporter {
    Terminal(ProgressBar),
    Lines,
    Json,
}

/// The report of a run.
pub(super) struct Report<'a> {
    reporter: Reporter,
    out: &'a mut dyn Write,
    direction: Direction,
    budget: Option<u64>,
    best: Option<(u64, f64)>,
    begin: Instant,
    model: Duration,
    evaluations: f64,
    drawn: Instant,
    complained: Option<String>,
    waits: bool,
    has_seen_skew: bool,
    has_fewer: bool,
    /// The last estimate of the remaining regret.
    remaining: Option<f64>,
}

impl<'a> Report<'a> {
    pub(super) fn new(
        json: bool,
        out: &'a mut dyn Write,
        shared: &mut SharedStudy,
        budget: Option<u64>,
        workers: usize,
        target: &Target,
    ) -> Self {
        let reporter = match (json, stderr().is_terminal()) {
            (true, _) => Reporter::Json,
            (false, true) => Reporter::Terminal(bar(budget)),
            (false, false) => Reporter::Lines,
        };
        let direction = shared.definition().direction;
        let best = best_of(shared);
        let now = Instant::now();
        let mut report = Self {
            reporter,
            out,
            direction,
            budget,
            best,
            begin: now,
            model: Duration::ZERO,
            evaluations: 0.0,
            drawn: now,
            complained: None,
            waits: false,
            has_seen_skew: false,
            has_fewer: false,
            remaining: None,
        };
        report.started(shared, workers, target);
        report
    }

    fn started(&mut self, shared: &mut SharedStudy, workers: usize, target: &Target) {
        let ledger = shared.ledger();
        let (asked, over) = (ledger.asked(), ledger.ended());
        if let Reporter::Terminal(bar) = &self.reporter {
            bar.set_position(over);
        }
        let algorithm = shared.definition().algorithm.name();
        self.event(&json!({
            "event": "started", "study": target.name, "storage": target.url.to_string(), "algorithm": algorithm,
            "workers": workers, "trials": self.budget, "asked": asked, "complete": ledger.complete(),
            "failed": ledger.failed(),
        }));
        let budget = self.budget.map_or(String::new(), |n| format!(" of {n}"));
        let begins = match self.budget {
            _ if asked == 0 => "starts".into(),
            Some(n) if over >= n => format!("is done after {over} trials"),
            _ => format!("goes on after {over}{budget} trials"),
        };
        let workers = if workers == 1 { "1 worker".into() } else { format!("{workers} workers") };
        self.line(&format!(
            "study `{}` {begins}, with {workers} and algorithm {algorithm}, in {}",
            printable::line(&target.name),
            target.url
        ));
    }

    /// Prints one JSON object on a line of stdout.
    fn event(&mut self, value: &serde_json::Value) {
        if matches!(self.reporter, Reporter::Json) {
            // The reader may have closed the pipe; the study continues.
            let _ = writeln!(self.out, "{value}");
            let _ = self.out.flush();
        }
    }

    /// Prints a line for people, on stderr.
    fn line(&self, line: &str) {
        match &self.reporter {
            Reporter::Terminal(bar) => bar.suspend(|| say(line)),
            Reporter::Lines => say(line),
            Reporter::Json => {}
        }
    }

    pub(super) fn handed_out(&mut self, trials: &[Trial], took: Duration) {
        self.model += took;
        let numbers: Vec<u64> = trials.iter().map(|trial| trial.number).collect();
        self.event(&json!({ "event": "asked", "numbers": numbers, "seconds": took.as_secs_f64() }));
        for trial in trials {
            self.event(&json!({ "event": "started_trial", "number": trial.number, "params": trial.params }));
        }
    }

    /// Others have written to the log.
    pub(super) fn caught_up(&mut self, shared: &mut SharedStudy) {
        self.best = best_of(shared);
    }

    /// Reports, once, that nothing is handed out.
    pub(super) fn paused(&mut self) {
        if !self.waits {
            self.waits = true;
            self.line("the study is paused: `noregret pause --undo` lets it go on; Ctrl-C stops waiting");
        }
    }

    /// Reports, once, that there is nothing to do but wait.
    pub(super) fn waiting(&mut self, shared: &SharedStudy) {
        if !self.waits {
            self.waits = true;
            let n = shared.ledger().running().count();
            self.line(&format!("waiting for {n} trials that others evaluate; Ctrl-C stops waiting"));
        }
    }

    pub(super) fn not_started(&mut self, error: &StartError) {
        self.event(&json!({ "event": "not_started", "reason": error.to_string() }));
        self.warn(&format!("warning: {error}; trying again in a moment"));
    }

    /// Reports, once, that the machine does not allow as many evaluations as there should be.
    pub(super) fn fewer_workers(&mut self, error: &StartError, running: usize) {
        if !self.has_fewer {
            self.has_fewer = true;
            self.event(&json!({ "event": "fewer_workers", "running": running, "reason": error.to_string() }));
            self.warn(&format!("warning: {error}; going on with {running} at once"));
        }
    }

    pub(super) fn told(
        &mut self,
        number: u64,
        outcome: &Evaluation,
        verdict: Verdict,
        shared: &mut SharedStudy,
    ) {
        let seconds = match outcome {
            Evaluation::Value { seconds, .. } | Evaluation::Failure { seconds, .. } => {
                seconds.unwrap_or_default()
            }
            Evaluation::Retry { seconds, .. } => *seconds,
        };
        self.evaluations += seconds;
        self.complained = None;
        if let (Verdict::Retried, Evaluation::Retry { reason, .. }) = (verdict, outcome) {
            self.retried(number, reason);
            return;
        }
        let Some(record) = shared.ledger().record(number).cloned() else { return };
        let space = shared.study().space().clone();
        let is_best = match record.status {
            TrialStatus::Complete { value, .. } => self.is_best(number, value),
            _ => false,
        };
        if matches!(self.reporter, Reporter::Json) {
            let trial = serde_json::to_value(record.described(&space)).unwrap_or_default();
            let event = match verdict {
                Verdict::Complete | Verdict::AfterFailure => "told",
                Verdict::Failed | Verdict::Retried => "failed",
                Verdict::Same | Verdict::Late => "late",
            };
            self.event(&json!({ "event": event, "trial": trial, "best": is_best }));
            return;
        }
        let over = shared.ledger().ended();
        let id = record.id(&space).map(|id| printable::line(&id).into_owned());
        let what = id.unwrap_or_else(|| summary::params(&record.params(&space)));
        match (&record.status, verdict) {
            (_, Verdict::Same) => self.line(&format!("trial {number} has this result already")),
            (_, Verdict::Late) => {
                self.line(&format!(
                    "trial {number} has a result already; this one is recorded and not counted"
                ));
            }
            (TrialStatus::Failed { reason }, _) => {
                self.line(&format!("trial {number} failed: {}", summary::failure(reason, &record.stderr)));
            }
            (TrialStatus::Complete { value, .. }, _)
                if matches!(self.reporter, Reporter::Lines) || is_best =>
            {
                let mark = if is_best { "  best so far" } else { "" };
                let count = self.budget.map_or(String::new(), |n| format!("[{over}/{n}] "));
                self.line(&format!("{count}trial {number}: {}  {what}{mark}", short(*value)));
            }
            _ => {}
        }
    }

    fn is_best(&mut self, number: u64, value: f64) -> bool {
        let better = self.best.is_none_or(|(_, best)| match self.direction {
            Direction::Minimize => value < best,
            Direction::Maximize => value > best,
        });
        if better {
            self.best = Some((number, value));
        }
        better
    }

    fn retried(&mut self, number: u64, reason: &str) {
        self.event(&json!({ "event": "retried", "number": number, "reason": reason }));
        self.line(&format!("trial {number} failed and will be tried again: {}", printable::line(reason)));
    }

    pub(super) fn interrupted(&mut self, running: usize) {
        self.event(&json!({ "event": "interrupted", "running": running }));
        if running > 0 {
            let trials = if running == 1 { "1 trial".into() } else { format!("{running} trials") };
            self.line(&format!("finishing {trials}; press Ctrl-C again to stop at once"));
        }
    }

    /// Whether there is a bar that shows the remaining regret.
    pub(super) fn shows_regret(&self) -> bool {
        matches!(self.reporter, Reporter::Terminal(_))
    }

    pub(super) fn regret(&mut self, regret: &RemainingRegret) {
        self.remaining = Some(regret.median);
    }

    pub(super) fn stopping(&mut self, reason: &str) {
        self.event(&json!({ "event": "stopping", "reason": reason }));
        self.line(&format!("stopping: {reason}"));
    }

    pub(super) fn satisfied(&mut self, regret: &RemainingRegret, threshold: f64) {
        self.event(&json!({ "event": "satisfied", "remaining_regret": regret, "threshold": threshold }));
        let (median, upper) = (short(regret.median), short(regret.interval.1));
        let text = format!("stopping: about {median} is left to gain (95 %: below {upper}), less than");
        self.line(&format!("{text} {}", short(threshold)));
    }

    /// Reports that the log cannot be written, once until it works again.
    pub(super) fn unwritable(&mut self, error: &StoreError) {
        let text = error.to_string();
        if self.complained.as_ref() == Some(&text) {
            return;
        }
        self.event(&json!({ "event": "unwritable", "reason": text }));
        self.warn(&format!("warning: {text}; results are kept and written when it works again"));
        self.complained = Some(text);
    }

    /// Reports results that could not be written, with the commands to tell them by hand.
    pub(super) fn unsaved(&mut self, results: &[(u64, Evaluation)], target: &Target) {
        self.warn("these results could not be written; tell them when the storage can be written again:");
        for (number, outcome) in results {
            let words = &target.words;
            self.warn(&match outcome {
                Evaluation::Value { value, noise_var: None, attrs, .. } if attrs.is_empty() => {
                    format!("  noregret tell {words} {number} {value}")
                }
                Evaluation::Value { value, noise_var, attrs, .. } => {
                    let answer =
                        json!({ "value": value, "noise_var": noise_var, "attrs": attrs }).to_string();
                    format!("  noregret tell {words} {number} {}", crate::target::quoted(&answer))
                }
                Evaluation::Failure { reason, .. } | Evaluation::Retry { reason, .. } => {
                    format!(
                        "  noregret tell {words} {number} --fail {}",
                        crate::target::quoted(&printable::line(reason))
                    )
                }
            });
        }
    }

    /// Reports where the results of a lost storage are.
    pub(super) fn rescued(&mut self, rescued: &Rescued, target: &Target) {
        let Rescued { path, results } = rescued;
        self.event(&json!({ "event": "rescued", "file": path.display().to_string(), "results": results }));
        if *results > 0 {
            let file = crate::target::quoted(&path.display().to_string());
            self.warn(&format!(
                "the {results} results that this run knows are in {file}; bring them into the storage with:"
            ));
            self.warn(&format!("  noregret tell {} --from {file}", target.words));
        }
    }

    /// Reports, once, that the clocks of two workers differ.
    pub(super) fn skew(&mut self, skew: &Skew) {
        if std::mem::replace(&mut self.has_seen_skew, true) {
            return;
        }
        let span = humantime::format_duration(Duration::from_secs(skew.by.as_secs()));
        let direction = if skew.is_ahead { "ahead of" } else { "behind" };
        self.event(&json!({
            "event": "skew", "worker": skew.worker, "seconds": skew.by.as_secs_f64(), "is_ahead": skew.is_ahead,
        }));
        self.warn(&format!(
            "warning: the clock of another worker is {span} {direction} this one's; leases are kept by this one's, and times in the \
             log disagree"
        ));
    }

    /// Prints for people, whatever the form of the rest.
    fn warn(&self, line: &str) {
        if matches!(self.reporter, Reporter::Json) {
            say(line);
        } else {
            self.line(line);
        }
    }

    pub(super) fn tick(&mut self, running: usize, shared: &SharedStudy) {
        if let Reporter::Terminal(bar) = &self.reporter
            && self.drawn.elapsed() > Duration::from_millis(50)
        {
            bar.set_position(shared.ledger().ended());
            self.draw(bar, running);
            self.drawn = Instant::now();
        }
    }

    fn draw(&self, bar: &ProgressBar, running: usize) {
        let best =
            self.best.map_or("none yet".into(), |(number, value)| format!("{} (#{number})", short(value)));
        let model = self.model.as_secs_f64();
        let share = 100.0 * model / (model + self.evaluations).max(1e-9);
        let regret = self.remaining.map_or(String::new(), |regret| format!("   to gain {}", short(regret)));
        bar.set_message(format!("best {best}{regret}   running {running}   model {share:.0} % of the time"));
    }

    /// Reports the end: the result and the time spent.
    pub(super) fn finish(
        &mut self,
        shared: &mut SharedStudy,
        recommended: Option<&Recommendation>,
        interrupted: bool,
        target: &Target,
    ) -> Result<(), Error> {
        if let Reporter::Terminal(bar) = &self.reporter {
            bar.finish_and_clear();
        }
        let (elapsed, model) = (self.begin.elapsed().as_secs_f64(), self.model.as_secs_f64());
        let ledger = shared.ledger();
        let (complete, failed, waiting) = (ledger.complete(), ledger.failed(), ledger.waiting().len());
        let best = summary::best(shared, recommended);
        self.event(&json!({
            "event": "finished", "interrupted": interrupted, "complete": complete, "failed": failed,
            "waiting": waiting, "seconds": elapsed, "model_seconds": model, "evaluation_seconds": self.evaluations,
            "best": best.to_json(),
        }));
        if !matches!(self.reporter, Reporter::Json) {
            write!(self.out, "{best}")?;
            let failed = if failed > 0 { format!(", {failed} failed") } else { String::new() };
            self.line(&format!(
                "{complete} complete{failed}; this run took {}: model {}, evaluations {}",
                span(elapsed),
                span(model),
                span(self.evaluations)
            ));
            let asked = shared.ledger().running().filter(|(_, lease)| lease.until.is_none()).count();
            if asked > 0 {
                let trials = if asked == 1 { "1 trial is".into() } else { format!("{asked} trials are") };
                self.line(&format!("{trials} handed out by `noregret ask` and not told yet"));
            }
            if interrupted {
                self.line(&format!("stopped; go on with: noregret run {}", target.words));
            }
        }
        Ok(())
    }
}

/// Number and value of the best trial so far.
fn best_of(shared: &mut SharedStudy) -> Option<(u64, f64)> {
    shared.study().best_observed().and_then(|trial| Some((trial.number, trial.value()?)))
}

fn bar(budget: Option<u64>) -> ProgressBar {
    let target = ProgressDrawTarget::stderr_with_hz(8);
    let (bar, template) = match budget {
        Some(n) => (
            ProgressBar::with_draw_target(Some(n), target),
            "{bar:28.cyan/dim} {pos}/{len}  {elapsed}  {wide_msg}",
        ),
        None => (
            ProgressBar::with_draw_target(None, target),
            "{spinner:.cyan} {pos} trials  {elapsed}  {wide_msg}",
        ),
    };
    let style = ProgressStyle::with_template(template)
        .expect("invariant: the template is a constant, and a test reads it")
        .progress_chars("━╸─");
    bar.with_style(style)
}

/// Formats seconds for people.
fn span(seconds: f64) -> String {
    if seconds < 10.0 {
        return format!("{seconds:.2} s");
    }
    let whole = Duration::from_secs_f64(seconds.round());
    humantime::format_duration(whole).to_string()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn templates_are_valid() {
        drop((bar(Some(3)), bar(None)));
    }

    #[test]
    fn spans_are_short() {
        assert_eq!((span(0.1234).as_str(), span(75.4).as_str()), ("0.12 s", "1m 15s"));
    }
}
