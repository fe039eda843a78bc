//! `noregret run`: asks, evaluates and tells until the study is done. Starts or continues a study.
//!
//! One thread makes all decisions and writes the log, and never does anything that takes time. Each evaluation has its own
//! threads, which watch it and report its end; so has the model, which thinks of the next points, and so has listening for what others
//! write.
#![expect(
    clippy::disallowed_methods,
    reason = "a run has time-outs, leases and a report of how long things took"
)]

mod answer;
mod command;
mod environment;
mod evaluate;
mod listener;
mod output;
mod report;
mod rescue;
mod thinker;

use std::collections::BTreeMap;
use std::io::Write;
use std::num::NonZeroUsize;
use std::sync::Arc;
use std::sync::mpsc::{self, Receiver, RecvTimeoutError, Sender};
use std::thread;
use std::time::{Duration, Instant};

use anyhow::{Context, Error};
use noregret::study::{Recommendation, RemainingRegret};
use noregret::{Param, Space, Trial};
use noregret_problems::Problem;
use noregret_store::{Draft, Evaluation, HandOut, Next, SharedStudy, StoreError, Timestamp, this_worker};

use crate::common_args::{JsonArg, MOST_WORKERS, count};
use crate::signals::{self, Stop};
use crate::target::{StudyArgs, Target};
use crate::{Interrupted, NothingLeft, UsageError};
pub(crate) use answer::parse as parse_answer;
pub(crate) use command::{Template, UnknownPlace};
pub(crate) use environment::CommandEnvironment;
pub(crate) use evaluate::{Attempt, Evaluator, Running, StartError, Starting};
use listener::Listener;
use noregret_files::StudyFileError;
use report::Report;
use thinker::{Question, Thinker, Thought};

/// The lease of a trial without a heartbeat. A dead process on this machine is noticed at once; this is for processes on
/// other machines.
const LEASE: Duration = Duration::from_mins(2);
/// The interval of periodic work: time-outs, heartbeats, the death of other processes. The storage is not asked for it.
const TICK: Duration = Duration::from_millis(200);
/// The interval of retries, for a log that cannot be written or a command that no longer starts.
const RETRY: Duration = Duration::from_secs(2);
/// How long fewer evaluations run at once, after one could not be started for lack of processes or memory.
const FEWER: Duration = Duration::from_secs(10);
/// Results before a study may stop because of its remaining regret.
const FEWEST_TO_JUDGE: u64 = 20;
/// Failures before any success after which the command must be wrong, not the points.
const HOPELESS: u64 = 5;
/// How often in a row a command may fail to start, if it has started before.
const MAX_FAILED_STARTS: u32 = 5;
/// How long to wait for the last results after everything was stopped.
const LAST_CALL: Duration = Duration::from_millis(300);

/// Flags of `noregret run`.
#[derive(Debug, clap::Args)]
#[command(after_help = AFTER_HELP)]
pub(crate) struct RunArgs {
    #[command(flatten)]
    study: StudyArgs,
    /// Evaluations at once [default: the study's batch]
    #[arg(long, short, value_name = "N", env = "NOREGRET_WORKERS", value_parser = count::<MOST_WORKERS>)]
    workers: Option<NonZeroUsize>,
    /// Trials of the study in all, in place of the study file's
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u64).range(..=1_000_000_000))]
    trials: Option<u64>,
    /// Go on even if every trial fails
    #[arg(long)]
    keep_going: bool,
    #[command(flatten)]
    json: JsonArg,
}

const AFTER_HELP: &str = "\
Examples:
  noregret run study.toml                    start the study, or go on with it
  noregret run study.toml --workers 8        evaluate up to 8 trials at once
  noregret run study.toml --trials 200       go on to 200 trials
  noregret run study.toml --json | jq .      follow it from another program

The command runs in the folder of the study file. It gets its parameters by {name} in its arguments (never through a
shell) and as JSON in NOREGRET_PARAMS, and its number in NOREGRET_TRIAL. The last line it prints is its value: a number,
or {\"value\": 0.31, \"noise_var\": 0.01, \"attrs\": {...}}. A non-zero exit, a time-out or no value is a failed trial.

Ctrl-C finishes the trials that are running and stops; a second one stops at once. Results are in the storage as soon
as they are there: whatever happens, the same command goes on where it stopped. Running it twice at the same time is
fine: both work on the same study.";

/// Messages to the coordinating thread.
enum Message {
    Ended(Attempt),
    Signal(Stop),
    Thought(Thought),
    /// Somebody may have written something.
    News,
}

pub(crate) fn run(args: &RunArgs, out: &mut dyn Write) -> Result<(), Error> {
    let target = args.study.locate()?;
    let Some((file, folder)) = &target.file else {
        return Err(UsageError::new("`run` needs the study file, which says what to evaluate").into());
    };
    let budget = args.trials.or(file.study.trials.map(Into::into));
    let mut shared = match budget.and_then(|n| usize::try_from(n).ok()).filter(|n| *n > 0) {
        Some(trials) => target.open_for(trials)?,
        None => target.open()?,
    };
    let objective = if let Some(problem) = file.builtin().map_err(StudyFileError::from)? {
        Evaluator::Builtin(Arc::new(problem))
    } else {
        let id = file.pool.as_ref().and_then(|pool| pool.id.as_deref());
        let template = Template::of_space(&file.objective.command, shared.study().space(), id)?;
        let environment = CommandEnvironment::new(&file.objective);
        Evaluator::Command { template, folder: folder.clone(), environment }
    };
    let batch = file.batch().map(NonZeroUsize::get);
    let workers = args.workers.map_or_else(
        || {
            let cores = || thread::available_parallelism().map_or(1, NonZeroUsize::get);
            batch.map_or_else(cores, |n| n.min(MOST_WORKERS))
        },
        NonZeroUsize::get,
    );
    if let Evaluator::Builtin(problem) = &objective {
        check_builtin(problem, shared.study().space())?;
    }
    let (sender, messages) = mpsc::channel();
    let forward = sender.clone();
    signals::listen(move |stop| drop(forward.send(Message::Signal(stop))))?;
    let forward = sender.clone();
    let hear = move |thought| drop(forward.send(Message::Thought(thought)));
    let thinker = Thinker::start(shared.twin()?, hear).context("the model's thread cannot be started")?;
    let forward = sender.clone();
    let listener = Listener::start(Arc::clone(shared.store()), shared.name(), move || {
        drop(forward.send(Message::News));
    });
    let listener = listener.context("the thread that listens for news cannot be started")?;
    let report = Report::new(args.json.json, out, &mut shared, budget, workers, &target);
    let runner = Runner {
        objective,
        batch,
        workers,
        capacity: workers,
        fewer_until: None,
        budget,
        retries: file.objective.retries,
        keep_going: args.keep_going,
        regret_below: file.study.stop_when_regret_below,
        judged: 0,
        judge_after: Instant::now() + Duration::from_secs(1),
        timeout: file.objective.timeout.map(|span| span.0),
        // A time beyond the range of the clock is no limit.
        deadline: file.study.timeout.and_then(|span| Instant::now().checked_add(span.0)),
        worker: this_worker(),
        shared,
        thinker,
        listener,
        awaits_others: false,
        exhausted_at: None,
        running: BTreeMap::new(),
        given_up: Vec::new(),
        unsaved: Vec::new(),
        sender,
        messages,
        report,
        renewed: Instant::now(),
        stopping: None,
        has_started: false,
        failed_starts: 0,
        not_before: None,
    };
    runner.run(&target)
}

/// Checks that the space has numeric parameters, one for each dimension of the test problem.
fn check_builtin(problem: &Problem, space: &Space) -> Result<(), UsageError> {
    let numeric = space.as_pool().is_some()
        || space.params().all(|(_, param)| matches!(param, Param::Float { .. } | Param::Int { .. }));
    if numeric && space.dims() == problem.dims() {
        return Ok(());
    }
    let (dims, name) = (problem.dims(), &problem.name);
    let text = format!(
        "[objective] builtin `{name}` takes {dims} numbers: leave [parameters] out, or declare as many floats or ints"
    );
    Err(UsageError::new(text))
}

/// Why no more trials are asked for.
#[derive(Debug)]
enum Stopping {
    Interrupted,
    TimeOut,
    Exhausted,
    Hopeless,
    Satisfied,
    /// The command has started before and no longer does.
    Broken(StartError),
}

struct Runner<'a> {
    objective: Evaluator,
    batch: Option<usize>,
    workers: usize,
    /// Evaluations that the machine allows at once: below `workers` for a while, after one could not be started.
    capacity: usize,
    fewer_until: Option<Instant>,
    budget: Option<u64>,
    retries: u32,
    keep_going: bool,
    regret_below: Option<f64>,
    /// Number of results when the remaining regret was last estimated.
    judged: u64,
    /// The earliest time of the next estimate for the progress bar.
    judge_after: Instant,
    timeout: Option<Duration>,
    deadline: Option<Instant>,
    worker: String,
    shared: SharedStudy,
    thinker: Thinker,
    listener: Listener,
    /// Whether another process thinks of points that we want, too.
    awaits_others: bool,
    /// The entry after which nothing was left to suggest.
    exhausted_at: Option<u64>,
    running: BTreeMap<u64, Running>,
    /// Trials that were stopped.
    given_up: Vec<u64>,
    /// Results that could not be written yet.
    unsaved: Vec<(u64, Evaluation)>,
    sender: Sender<Message>,
    messages: Receiver<Message>,
    report: Report<'a>,
    renewed: Instant,
    stopping: Option<Stopping>,
    /// Whether the command has ever started.
    has_started: bool,
    /// Failed starts in a row since then.
    failed_starts: u32,
    /// No evaluation is started before this.
    not_before: Option<Instant>,
}

impl Runner<'_> {
    fn run(mut self, target: &Target) -> Result<(), Error> {
        let done = self.work();
        // Its connection must not keep the storage open: closed cleanly, a database is one file.
        self.listener.end();
        if let Err(error) = &done {
            self.abandon();
            if is_loss(error) {
                self.rescue(target);
            }
        }
        if !self.unsaved.is_empty() {
            self.report.unsaved(&self.unsaved, target);
        }
        done?;
        let recommended = self.recommended()?;
        self.thinker.end(); // nor must this one's
        let interrupted = self.is_interrupted();
        self.report.finish(&mut self.shared, recommended.as_ref(), interrupted, target)?;
        match self.stopping {
            Some(Stopping::Interrupted) => Err(Interrupted.into()),
            Some(Stopping::Exhausted) => Err(NothingLeft.into()),
            Some(Stopping::Broken(error)) => Err(error.into()),
            _ if self.shared.ledger().complete() == 0 && self.shared.ledger().failed() > 0 => {
                let failed = self.shared.ledger().failed();
                Err(Error::msg(format!("all {failed} trials have failed; `noregret trials` shows why")))
            }
            _ => Ok(()),
        }
    }

    /// Saves what this process knows of a study whose storage is gone.
    fn rescue(&mut self, target: &Target) {
        let Some((_, folder)) = &target.file else { return };
        match rescue::write(&mut self.shared, &self.unsaved, folder) {
            Ok(rescued) => {
                self.unsaved.retain(|(_, outcome)| !matches!(outcome, Evaluation::Value { .. }));
                self.report.rescued(&rescued, target);
            }
            // The commands that tell what is not written follow.
            Err(error) => self.report.stopping(&format!("the results could not be saved elsewhere: {error}")),
        }
    }

    fn is_interrupted(&self) -> bool {
        matches!(self.stopping, Some(Stopping::Interrupted))
    }

    fn work(&mut self) -> Result<(), Error> {
        loop {
            let is_over = self.deadline.is_some_and(|deadline| Instant::now() >= deadline);
            if is_over && self.stopping.is_none() {
                self.report.stopping("the study's time is over");
                self.stopping = Some(Stopping::TimeOut);
            }
            self.stop_if_all_fail();
            self.judge();
            self.renew()?;
            if self.stopping.is_none() && self.unsaved.is_empty() {
                self.launch()?;
            }
            self.report.tick(self.running.len(), &self.shared);
            let is_idle = self.running.is_empty() && self.unsaved.is_empty();
            // What is still being thought of when the run ends is given up.
            let is_thinking = self.thinker.is_busy() && self.stopping.is_none();
            if is_idle && !is_thinking && !self.waits() {
                return Ok(());
            }
            let first = match self.messages.recv_timeout(self.patience()) {
                Ok(message) => Some(message),
                Err(RecvTimeoutError::Timeout) => None,
                Err(RecvTimeoutError::Disconnected) => unreachable!("invariant: we hold a sender ourselves"),
            };
            // Evaluations that have ended by now go into the same commit.
            let mut ended = Vec::new();
            let mut signals = Vec::new();
            let mut thoughts = Vec::new();
            let mut is_news = false;
            for message in first.into_iter().chain(self.messages.try_iter()) {
                match message {
                    Message::Ended(attempt) => ended.push(attempt),
                    Message::Signal(stop) => signals.push(stop),
                    Message::Thought(thought) => thoughts.push(thought),
                    // What we wrote ourselves is no news.
                    Message::News => is_news = self.listener.heard() == Some(self.shared.position()),
                }
            }
            self.settle(ended)?;
            for stop in signals {
                let at_once = stop == Stop::Now || self.is_interrupted();
                self.stopping = Some(Stopping::Interrupted);
                if at_once {
                    self.abandon();
                    return Ok(());
                }
                self.report.interrupted(self.running.len());
            }
            for thought in thoughts {
                self.consider(thought)?;
            }
            self.tick(is_news)?;
        }
    }

    /// Asks for the remaining regret after every 5 % more results, so that it stays cheap compared with the proposals.
    fn judge(&mut self) {
        let complete = self.shared.ledger().complete();
        let dims = self.shared.study().space().dims() as u64;
        let enough = FEWEST_TO_JUDGE.max(5 * dims); // with fewer results the model underestimates its uncertainty
        if self.stopping.is_some() || complete < enough || complete < self.judged + (complete / 20).max(1) {
            return;
        }
        // For the progress bar alone it must not take more than 1 % of the time.
        if self.regret_below.is_none() && (!self.report.shows_regret() || Instant::now() < self.judge_after) {
            return;
        }
        if !self.thinker.is_busy() {
            self.judged = complete;
            self.thinker.ask(Question::Regret);
        }
    }

    /// Stops if the upper end of the interval of the remaining regret is below the threshold.
    fn judged(&mut self, regret: &RemainingRegret) {
        self.report.regret(regret);
        let threshold = self.regret_below.filter(|threshold| regret.interval.1 < *threshold);
        if let Some(threshold) = threshold.filter(|_| self.stopping.is_none()) {
            self.stopping = Some(Stopping::Satisfied);
            self.report.satisfied(regret, threshold);
        }
    }

    /// Acts on what the model has come to.
    fn consider(&mut self, thought: Thought) -> Result<(), Error> {
        self.thinker.heard();
        match thought {
            Thought::Points(Ok(draft)) if self.stopping.is_none() => self.start_drafted(&draft),
            Thought::Points(Err(error)) if error.is_exhausted() => {
                // Nobody should wait for what will not come.
                tolerate(self.shared.withdraw(Timestamp::now()), &mut self.report)?;
                self.exhausted_at = Some(self.shared.position());
                if self.running.is_empty() && !self.waits() && self.stopping.is_none() {
                    self.stopping = Some(Stopping::Exhausted);
                }
                Ok(())
            }
            Thought::Points(Err(error)) => self.put_off(error),
            Thought::Regret(regret, took) => {
                self.judge_after = Instant::now() + 100 * took;
                // Without an estimate the study continues.
                regret.iter().for_each(|regret| self.judged(regret));
                Ok(())
            }
            Thought::Panicked => Err(Error::msg("the model has failed: this is a bug in noregret")),
            Thought::Points(Ok(_)) | Thought::Recommended(_) => Ok(()),
        }
    }

    /// A log that cannot be read or written may recover: a run that has begun its work waits for that.
    fn put_off(&mut self, error: StoreError) -> Result<(), Error> {
        if error.is_temporary() && self.has_started {
            self.report.unwritable(&error);
            self.not_before = Some(Instant::now() + RETRY);
            return Ok(());
        }
        Err(error.into())
    }

    /// The point to use in the end, unless the user has no patience for it.
    fn recommended(&mut self) -> Result<Option<Recommendation>, Error> {
        if self.shared.ledger().complete() > report::RECOMMENDED_UP_TO {
            return Ok(None);
        }
        if self.thinker.is_busy() {
            // What it thinks about was given up, but cannot be stopped.
            let forward = self.sender.clone();
            let hear = move |thought| drop(forward.send(Message::Thought(thought)));
            self.thinker = Thinker::start(self.shared.twin()?, hear)?;
        }
        self.thinker.ask(Question::Recommended);
        for message in &self.messages {
            match message {
                Message::Thought(Thought::Recommended(recommended)) => {
                    self.thinker.heard();
                    return Ok(recommended?);
                }
                Message::Signal(_) => {
                    self.stopping = Some(Stopping::Interrupted);
                    return Ok(None);
                }
                Message::Thought(Thought::Panicked) => return Ok(None),
                Message::Thought(_) | Message::Ended(_) | Message::News => {}
            }
        }
        Ok(None)
    }

    /// Stops if all trials so far have failed: the user should know now, not after hundreds of failures.
    fn stop_if_all_fail(&mut self) {
        let ledger = self.shared.ledger();
        let limit = HOPELESS.max(2 * self.workers as u64);
        if !self.keep_going && self.stopping.is_none() && ledger.complete() == 0 && ledger.failed() >= limit {
            self.report.stopping("nothing has worked so far (--keep-going goes on)");
            self.stopping = Some(Stopping::Hopeless);
        }
    }

    /// How long to wait for a message.
    fn patience(&self) -> Duration {
        if self.unsaved.is_empty() { TICK } else { RETRY }
    }

    /// Whether to wait although nothing is running here: other workers are evaluating and may vanish, or the command will be
    /// started again.
    fn waits(&mut self) -> bool {
        if self.stopping.is_some() {
            return false;
        }
        let others = self.shared.ledger().next_deadline(&self.worker).is_some();
        if others {
            self.report.waiting(&self.shared);
        }
        let is_spent = self.budget.is_some_and(|budget| self.shared.ledger().asked() >= budget);
        let has_more = !is_spent || self.shared.ledger().waiting().len() > 0;
        let is_paused = self.shared.ledger().is_paused() && has_more;
        if is_paused {
            self.report.paused();
        }
        others || self.awaits_others || self.not_before.is_some() || is_paused
    }

    /// Starts evaluations on the free workers: of trials that wait, and then of those that the model thinks of.
    fn launch(&mut self) -> Result<(), Error> {
        self.awaits_others = false;
        if self.fewer_until.is_some_and(|moment| Instant::now() >= moment) {
            (self.capacity, self.fewer_until) = (self.workers, None);
        }
        let free = self.capacity.saturating_sub(self.running.len());
        if free == 0 || self.not_before.is_some_and(|moment| Instant::now() < moment) {
            return Ok(());
        }
        self.not_before = None;
        let now = Timestamp::now();
        match self.shared.take(&self.order(free), None, now) {
            Ok(trials) => self.start_all(&trials.unwrap_or_default(), Duration::ZERO)?,
            Err(error) => return self.put_off(error),
        }
        let free = self.capacity.saturating_sub(self.running.len());
        let is_exhausted = self.exhausted_at == Some(self.shared.position());
        if free == 0 || self.not_before.is_some() || self.thinker.is_busy() || is_exhausted {
            return Ok(());
        }
        match self.shared.next(&self.order(free), now) {
            Ok(Next::Think(task)) => self.thinker.ask(Question::Points(task)),
            Ok(Next::Wait) => self.awaits_others = true,
            Ok(Next::Take) => {}
            Err(error) => return self.put_off(error),
        }
        Ok(())
    }

    fn order(&self, wanted: usize) -> HandOut {
        HandOut {
            wanted,
            batch: self.batch,
            budget: self.budget,
            worker: self.worker.clone(),
            lease: Some(LEASE),
            request: None,
        }
    }

    /// Starts evaluations of new points, unless somebody else has proposed some meanwhile.
    fn start_drafted(&mut self, draft: &Draft) -> Result<(), Error> {
        let took = draft.took();
        let free = self.capacity.saturating_sub(self.running.len());
        match self.shared.take(&self.order(free), Some(draft), Timestamp::now()) {
            Ok(trials) => self.start_all(&trials.unwrap_or_default(), took),
            Err(error) => self.put_off(error),
        }
    }

    fn start_all(&mut self, trials: &[Trial], thought: Duration) -> Result<(), Error> {
        if !trials.is_empty() {
            self.report.handed_out(trials, thought);
        }
        let starting: Vec<_> = trials.iter().map(|trial| self.begin(trial)).collect();
        let (mut failed, mut problem) = (Vec::new(), None);
        for (trial, starting) in trials.iter().zip(starting) {
            match starting.and_then(Starting::wait) {
                Ok(running) => {
                    let before = self.running.insert(trial.number, running);
                    debug_assert!(before.is_none(), "trial {} is running already", trial.number);
                    self.has_started = true;
                    self.failed_starts = 0;
                }
                Err(error) => {
                    failed.push(trial.number);
                    problem.get_or_insert(error);
                }
            }
        }
        problem.map_or(Ok(()), |error| self.not_started(&failed, error))
    }

    fn begin(&mut self, trial: &Trial) -> Result<Starting, StartError> {
        let sender = self.sender.clone();
        let done = move |attempt| drop(sender.send(Message::Ended(attempt)));
        let pool = self.shared.study().space().as_pool();
        let id = pool.zip(trial.row).map(|(pool, row)| pool.id(row).into_owned());
        self.objective.begin(trial, id.as_deref(), done)
    }

    /// A command that never started is an error in the study file. One that has may start again, when memory is free or an edit
    /// of it is finished; its trials wait.
    fn not_started(&mut self, numbers: &[u64], error: StartError) -> Result<(), Error> {
        tolerate(self.shared.release(numbers, &[&self.worker], Timestamp::now()), &mut self.report)?;
        if error.is_temporary() && !self.running.is_empty() {
            self.report.fewer_workers(&error, self.running.len());
            (self.capacity, self.fewer_until) = (self.running.len(), Some(Instant::now() + FEWER));
            return Ok(());
        }
        if !self.has_started && !error.is_temporary() {
            return Err(error.into());
        }
        self.failed_starts += 1;
        self.report.not_started(&error);
        if self.failed_starts >= MAX_FAILED_STARTS {
            self.stopping = Some(Stopping::Broken(error));
        } else {
            self.not_before = Some(Instant::now() + RETRY);
        }
        Ok(())
    }

    /// Writes results to the log, or keeps them until that is possible.
    fn settle(&mut self, ended: Vec<Attempt>) -> Result<(), Error> {
        for Attempt { number, outcome } in ended {
            self.running.remove(&number);
            let outcome = match outcome {
                Evaluation::Failure { reason, stderr, seconds } if self.may_retry(number) => {
                    Evaluation::Retry { reason, stderr, seconds: seconds.unwrap_or_default() }
                }
                other => other,
            };
            self.unsaved.push((number, outcome));
        }
        if self.unsaved.is_empty() {
            return Ok(());
        }
        match self.shared.tell(&self.unsaved, Some(&self.worker), Timestamp::now()) {
            Ok(verdicts) => {
                let told = std::mem::take(&mut self.unsaved);
                for ((number, outcome), verdict) in told.iter().zip(verdicts) {
                    self.report.told(*number, outcome, verdict, &mut self.shared);
                }
                Ok(())
            }
            Err(error) if error.is_temporary() => {
                self.report.unwritable(&error);
                Ok(())
            }
            Err(error) => Err(error.into()),
        }
    }

    fn may_retry(&self, number: u64) -> bool {
        let tried = self.shared.ledger().record(number).map_or(0, |record| record.retries);
        !self.is_interrupted() && tried < self.retries
    }

    /// Periodic work: time-outs, heartbeats, and what others wrote if there is any news of it.
    fn tick(&mut self, is_news: bool) -> Result<(), Error> {
        if let Some(limit) = self.timeout {
            for running in self.running.values().filter(|running| running.since.elapsed() > limit) {
                running.kill(&format!("it took longer than {}", humantime::format_duration(limit)));
            }
        }
        if is_news {
            match self.shared.catch_up() {
                Ok(0) => {}
                Ok(_) => self.report.caught_up(&mut self.shared),
                Err(error) => tolerate(Err(error), &mut self.report)?,
            }
        }
        // Who has no free worker needs no news.
        if self.running.len() < self.workers && self.stopping.is_none() {
            self.listener.listen(self.shared.position());
        }
        if let Some(skew) = self.shared.skew() {
            self.report.skew(skew);
        }
        self.keep_claim()
    }

    /// Keeps the place in the queue of those who think while the model does, and gives it up when nothing is wanted.
    fn keep_claim(&mut self) -> Result<(), Error> {
        let now = Timestamp::now();
        let kept = if self.stopping.is_some() {
            self.shared.withdraw(now)
        } else if self.thinker.is_busy() {
            let free = self.capacity.saturating_sub(self.running.len());
            self.shared.next(&self.order(free.max(1)), now).map(drop)
        } else {
            Ok(())
        };
        tolerate(kept, &mut self.report)
    }

    /// Renews the leases, so that nobody takes over our trials.
    fn renew(&mut self) -> Result<(), Error> {
        if self.renewed.elapsed() < LEASE / 3 || self.running.is_empty() {
            return Ok(());
        }
        match self.shared.renew(&self.worker, LEASE, Timestamp::now()) {
            Ok(()) => {
                self.renewed = Instant::now();
                Ok(())
            }
            Err(error) => tolerate(Err(error), &mut self.report),
        }
    }

    /// Stops all evaluations and gives back their trials, except those that have a value by now.
    fn abandon(&mut self) {
        for running in self.running.values() {
            running.kill("noregret was stopped");
        }
        let until = Instant::now() + LAST_CALL;
        while !self.running.is_empty()
            && let Ok(message) = self.messages.recv_timeout(until.saturating_duration_since(Instant::now()))
        {
            if let Message::Ended(Attempt { number, outcome: outcome @ Evaluation::Value { .. } }) = message {
                self.running.remove(&number);
                self.unsaved.push((number, outcome));
            } else if let Message::Ended(Attempt { number, .. }) = message {
                self.running.remove(&number);
                self.given_up.push(number);
            }
        }
        self.given_up.extend(std::mem::take(&mut self.running).into_keys());
        if let Ok(_told) = self.shared.tell(&self.unsaved, Some(&self.worker), Timestamp::now()) {
            self.unsaved.clear();
        }
        let _ = self.shared.withdraw(Timestamp::now());
        // Trials that cannot be written return to the queue when our lease ends.
        let _ = self.shared.release(&self.given_up, &[&self.worker], Timestamp::now());
    }
}

/// Whether the storage is not the one that was opened.
fn is_loss(error: &Error) -> bool {
    matches!(error.downcast_ref(), Some(StoreError::Lost { .. } | StoreError::Replaced { .. }))
}

fn tolerate(done: Result<(), StoreError>, report: &mut Report<'_>) -> Result<(), Error> {
    match done {
        Err(error) if error.is_temporary() => {
            report.unwritable(&error);
            Ok(())
        }
        other => Ok(other?),
    }
}
