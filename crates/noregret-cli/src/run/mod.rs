//! `noregret run`: asks, evaluates, tells, until the study is done. Starts a study or goes on with it.
//!
//! One thread decides and writes the log; each evaluation has threads of its own, which only watch it and report its end.

mod answer;
mod command;
mod evaluate;
mod report;
mod signals;

use std::collections::BTreeMap;
use std::io::Write;
use std::num::NonZeroUsize;
use std::sync::Arc;
use std::sync::mpsc::{self, Receiver, RecvTimeoutError, Sender};
use std::thread;
use std::time::{Duration, Instant};

use anyhow::Error;
use noregret::Trial;
use noregret_store::{HandOut, Outcome, SharedStudy, StoreError, Timestamp, Verdict, this_worker};

use crate::study_file::StudyFileError;
use crate::target::{StudyArgs, Target};
use crate::{Interrupted, NothingLeft, UsageError};
pub(crate) use answer::parse as parse_answer;
use command::Template;
pub(crate) use command::UnknownPlace;
pub(crate) use evaluate::StartError;
use evaluate::{Attempt, Objective, Running};
use report::Report;
use signals::Stop;

/// How long a trial stays ours without a sign of life. A dead process of this machine is noticed at once; this is for
/// processes of other machines.
const LEASE: Duration = Duration::from_mins(2);
/// How often something may have to be done though nothing has happened: time-outs, signs of life, others' results.
const TICK: Duration = Duration::from_millis(200);
/// How often an unwritable log is tried again.
const RETRY: Duration = Duration::from_secs(2);

/// Flags of `noregret run`.
#[derive(Debug, clap::Args)]
#[command(after_help = AFTER_HELP)]
pub(crate) struct Args {
    #[command(flatten)]
    study: StudyArgs,
    /// Evaluations at once [default: the study's batch]
    #[arg(long, short, value_name = "N", env = "NOREGRET_WORKERS")]
    workers: Option<NonZeroUsize>,
    /// Trials of the study in all, in place of the study file's
    #[arg(long, value_name = "N")]
    trials: Option<u64>,
    /// Print one JSON object a line for everything that happens
    #[arg(long, env = "NOREGRET_JSON")]
    json: bool,
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

/// What the coordinating thread hears.
enum Message {
    Ended(Attempt),
    Signal(Stop),
}

pub(crate) fn run(args: &Args, out: &mut dyn Write) -> Result<(), Error> {
    let target = args.study.locate()?;
    let Some((file, folder)) = &target.file else {
        return Err(UsageError::new("`run` needs the study file, which says what to evaluate").into());
    };
    let mut shared = target.open()?;
    let objective = if let Some(problem) = file.builtin().map_err(StudyFileError::from)? {
        Objective::Builtin(Arc::new(problem))
    } else {
        let id = file.pool.as_ref().and_then(|pool| pool.id.as_deref());
        let template = Template::parse(&file.objective.command, shared.study().space(), id)?;
        Objective::Command { template, folder: folder.clone() }
    };
    let batch = file.batch().map(NonZeroUsize::get);
    let workers = args.workers.map_or_else(
        || batch.unwrap_or_else(|| thread::available_parallelism().map_or(1, NonZeroUsize::get)),
        NonZeroUsize::get,
    );
    let (sender, messages) = mpsc::channel();
    let forward = sender.clone();
    signals::listen(move |stop| drop(forward.send(Message::Signal(stop))))?;
    let budget = args.trials.or(file.study.trials.map(Into::into));
    let report = Report::new(args.json, out, &mut shared, budget, workers, &target);
    let runner = Runner {
        objective,
        batch,
        workers,
        budget,
        retries: file.objective.retries,
        regret_below: file.study.stop_when_regret_below,
        judged: 0,
        timeout: file.objective.timeout.map(|span| span.0),
        deadline: file.study.timeout.map(|span| Instant::now() + span.0),
        worker: this_worker(),
        shared,
        running: BTreeMap::new(),
        unsaved: Vec::new(),
        sender,
        messages,
        report,
        renewed: Instant::now(),
        stopping: None,
    };
    runner.run(&target)
}

/// Why no more trials are asked for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Stopping {
    Interrupted,
    TimeOut,
    Exhausted,
    Satisfied,
}

struct Runner<'a> {
    objective: Objective,
    batch: Option<usize>,
    workers: usize,
    budget: Option<u64>,
    retries: u32,
    regret_below: Option<f64>,
    /// Results that there were when the remaining regret was last estimated.
    judged: u64,
    timeout: Option<Duration>,
    deadline: Option<Instant>,
    worker: String,
    shared: SharedStudy,
    running: BTreeMap<u64, Running>,
    /// Results that the log could not take yet.
    unsaved: Vec<(u64, Outcome)>,
    sender: Sender<Message>,
    messages: Receiver<Message>,
    report: Report<'a>,
    renewed: Instant,
    stopping: Option<Stopping>,
}

impl Runner<'_> {
    fn run(mut self, target: &Target) -> Result<(), Error> {
        let done = self.work();
        if !self.unsaved.is_empty() {
            self.report.unsaved(&self.unsaved, target);
        }
        if done.is_err() {
            self.abandon();
        }
        done?;
        self.report.finish(&mut self.shared, self.stopping == Some(Stopping::Interrupted), target)?;
        match self.stopping {
            Some(Stopping::Interrupted) => Err(Interrupted.into()),
            Some(Stopping::Exhausted) => Err(NothingLeft.into()),
            _ if self.shared.ledger().complete() == 0 && self.shared.ledger().failed() > 0 => {
                let failed = self.shared.ledger().failed();
                Err(Error::msg(format!("all {failed} trials have failed; `noregret trials` shows why")))
            }
            _ => Ok(()),
        }
    }

    fn work(&mut self) -> Result<(), Error> {
        loop {
            if self.deadline.is_some_and(|deadline| Instant::now() >= deadline) {
                self.stopping.get_or_insert(Stopping::TimeOut);
            }
            if self.stopping.is_none() && self.unsaved.is_empty() {
                self.launch()?;
            }
            self.report.tick(self.running.len(), &self.shared);
            if self.running.is_empty() && self.unsaved.is_empty() && !self.waits_for_others() {
                return Ok(());
            }
            let mut ended = Vec::new();
            let first = match self.messages.recv_timeout(self.patience()) {
                Ok(message) => Some(message),
                Err(RecvTimeoutError::Timeout) => None,
                Err(RecvTimeoutError::Disconnected) => unreachable!("invariant: we hold a sender ourselves"),
            };
            // Whatever else has ended by now goes into the same commit.
            for message in first.into_iter().chain(self.messages.try_iter()) {
                match message {
                    Message::Ended(attempt) => ended.push(attempt),
                    Message::Signal(stop) => {
                        let at_once = stop == Stop::Now || self.stopping == Some(Stopping::Interrupted);
                        self.stopping = Some(Stopping::Interrupted);
                        if at_once {
                            self.settle(ended)?;
                            self.abandon();
                            return Ok(());
                        }
                        self.report.interrupted(self.running.len());
                    }
                }
            }
            self.settle(ended)?;
            self.judge()?;
            self.tick()?;
        }
    }

    /// Stops if next to nothing is left to gain: if the upper end of the interval is below the threshold. Estimated when
    /// there is a twentieth more to know, so that it stays cheap beside the proposals.
    fn judge(&mut self) -> Result<(), Error> {
        let Some(threshold) = self.regret_below else { return Ok(()) };
        let complete = self.shared.ledger().complete();
        if self.stopping.is_some() || complete < self.judged + (complete / 20).max(1) {
            return Ok(());
        }
        self.judged = complete;
        if let Some(regret) = self.shared.study().remaining_regret()?
            && regret.interval.1 < threshold
        {
            self.stopping = Some(Stopping::Satisfied);
            self.report.satisfied(&regret, threshold);
        }
        Ok(())
    }

    /// How long to wait for something to happen.
    fn patience(&self) -> Duration {
        if self.unsaved.is_empty() { TICK } else { RETRY }
    }

    /// Whether the study is not done while we have nothing to do: somebody else evaluates, and might vanish.
    fn waits_for_others(&self) -> bool {
        self.stopping.is_none() && self.shared.ledger().next_deadline(&self.worker).is_some()
    }

    /// Gives the free workers something to do.
    fn launch(&mut self) -> Result<(), Error> {
        let free = self.workers.saturating_sub(self.running.len());
        if free == 0 {
            return Ok(());
        }
        let order = HandOut {
            wanted: free,
            batch: self.batch,
            budget: self.budget,
            worker: self.worker.clone(),
            lease: Some(LEASE),
        };
        let begin = Instant::now();
        let trials = match self.shared.hand_out(&order, Timestamp::now()) {
            Ok(trials) => trials,
            Err(error) if error.is_exhausted() => {
                if self.running.is_empty() && !self.waits_for_others() {
                    self.stopping = Some(Stopping::Exhausted);
                }
                return Ok(());
            }
            // Results under way may still find room: wait for them, and try again.
            Err(error) if error.is_temporary() && !self.running.is_empty() => {
                self.report.unwritable(&error);
                return Ok(());
            }
            Err(error) => return Err(error.into()),
        };
        if !trials.is_empty() {
            self.report.handed_out(&trials, begin.elapsed(), &self.shared);
        }
        for trial in &trials {
            self.start(trial)?;
        }
        Ok(())
    }

    fn start(&mut self, trial: &Trial) -> Result<(), Error> {
        let sender = self.sender.clone();
        let done = move |attempt| drop(sender.send(Message::Ended(attempt)));
        let pool = self.shared.study().space().as_pool();
        let id = pool.zip(trial.row).map(|(pool, row)| pool.id(row).into_owned());
        let running = self.objective.start(trial, id.as_deref(), done)?;
        self.running.insert(trial.number, running);
        Ok(())
    }

    /// Writes down how evaluations ended.
    fn settle(&mut self, ended: Vec<Attempt>) -> Result<(), Error> {
        for Attempt { number, outcome } in ended {
            self.running.remove(&number);
            if let Outcome::Failure { reason, stderr, seconds } = &outcome
                && self.may_retry(number)
            {
                let seconds = seconds.unwrap_or_default();
                match self.shared.retry(number, reason, stderr, seconds, Timestamp::now()) {
                    Ok(()) => {
                        self.report.retried(number, reason);
                        continue;
                    }
                    Err(error) if error.is_temporary() => self.report.unwritable(&error),
                    Err(error) => return Err(error.into()),
                }
            }
            self.unsaved.push((number, outcome));
        }
        if self.unsaved.is_empty() {
            return Ok(());
        }
        match self.shared.tell(&self.unsaved, Timestamp::now()) {
            Ok(verdicts) => {
                let told = std::mem::take(&mut self.unsaved);
                for ((number, outcome), verdict) in told.iter().zip(verdicts) {
                    self.told(*number, outcome, verdict);
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
        self.stopping != Some(Stopping::Interrupted) && tried < self.retries
    }

    fn told(&mut self, number: u64, outcome: &Outcome, verdict: Verdict) {
        self.report.told(number, outcome, verdict, &mut self.shared);
    }

    /// What time alone brings: evaluations that take too long, signs of life, news from others.
    fn tick(&mut self) -> Result<(), Error> {
        if let Some(limit) = self.timeout {
            for running in self.running.values().filter(|running| running.since.elapsed() > limit) {
                running.kill(&format!("it took longer than {}", humantime::format_duration(limit)));
            }
        }
        if self.renewed.elapsed() > LEASE / 3 && !self.running.is_empty() {
            self.renewed = Instant::now();
            tolerate(self.shared.renew(&self.worker, LEASE, Timestamp::now()), &mut self.report)?;
        }
        if self.running.len() < self.workers {
            tolerate(self.shared.catch_up().map(drop), &mut self.report)?;
        }
        Ok(())
    }

    /// Stops all evaluations and gives their trials back.
    fn abandon(&mut self) {
        for running in self.running.values() {
            running.kill("noregret was stopped");
        }
        let numbers: Vec<u64> = self.running.keys().copied().collect();
        // Results may have come in the meantime; what cannot be written down returns to the queue when its lease ends.
        let _ = self.shared.release(&numbers, &self.worker, Timestamp::now());
        self.running.clear();
    }
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
