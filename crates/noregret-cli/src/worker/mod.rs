//! `noregret worker`: evaluates the trials of a study that a server keeps, on this machine.
//!
//! One thread makes all decisions. Others talk to the server, so that a slow network stops no evaluation: one asks for trials, one tells
//! results, one keeps the leases. Results are told until the server has them.
#![expect(clippy::disallowed_methods, reason = "a worker has time-outs, leases and a time to live")]

mod end_time;
mod talk;

use std::collections::BTreeMap;
use std::io::Write;
use std::num::NonZeroUsize;
use std::path::PathBuf;
use std::sync::Arc;
use std::sync::mpsc::{self, Receiver, RecvTimeoutError, Sender};
use std::time::{Duration, Instant};

use anyhow::{Context, Error};
use noregret::{Trial, TrialState};
use noregret_client::api::{self, segment};
use noregret_client::{Client, ClientError, ServerUrl};
use noregret_files::study_file::{Objective, Span};
use noregret_problems::Problem as Builtin;
use noregret_store::{Evaluation, SpaceDefinition, this_worker};
use serde_json::json;

use crate::common_args::{JsonArg, MOST_WORKERS, count};
use crate::number::short;
use crate::printable;
use crate::run::{Attempt, CommandEnvironment, Evaluator, Running, StartError, Starting, Template};
use crate::signals::{self, Stop};
use crate::summary;
use crate::{Interrupted, UsageError, say};
use talk::{Asker, Outcome, Teller};

/// The leases that a server gives.
const SHORTEST_LEASE: Duration = Duration::from_secs(1);
const LONGEST_LEASE: Duration = Duration::from_hours(365 * 24);
/// The interval of periodic work.
const TICK: Duration = Duration::from_millis(200);
/// How long to wait before a command that no longer starts, or a server that cannot be reached, is tried again.
const RETRY: Duration = Duration::from_secs(2);
/// How often in a row a command may fail to start, if it has started before.
const MAX_FAILED_STARTS: u32 = 5;
/// Failures before any success after which the command must be wrong, not the points.
const HOPELESS: u64 = 5;
/// How long to wait for the last results after everything was stopped, and for the server to hear of them.
const LAST_CALL: Duration = Duration::from_millis(300);
const LAST_WORDS: Duration = Duration::from_secs(10);
/// What a failure says that was asked to end, and how long we wait to be asked, too.
const ASKED_TO_END: [&str; 2] = ["killed by signal 15", "exit code 143"];
const SUSPICION: Duration = Duration::from_secs(3);
/// What is kept in reserve before the end of the worker's time, and by how much evaluations may take longer than those before.
const RESERVE: Duration = Duration::from_secs(10);
const LONGER: f64 = 1.25;

/// Flags of `noregret worker`.
#[derive(Debug, clap::Args)]
#[command(after_help = AFTER_HELP)]
pub(crate) struct WorkerArgs {
    /// The server, as `noregret serve` prints it
    #[arg(value_name = "URL")]
    url: String,
    /// The study
    #[arg(long, value_name = "NAME", env = "NOREGRET_STUDY")]
    study: String,
    /// Evaluations at once
    #[arg(long, short, value_name = "N", env = "NOREGRET_WORKERS", default_value = "1", value_parser = count::<MOST_WORKERS>)]
    workers: NonZeroUsize,
    /// The folder in which the command runs
    #[arg(long, value_name = "FOLDER", default_value = ".")]
    folder: PathBuf,
    /// How long this worker lives, such as 2h: it takes no trial that cannot finish [default: what Slurm says, or for ever]
    #[arg(long, value_name = "TIME", value_parser = Span::parse, conflicts_with = "until")]
    wall_time: Option<Span>,
    /// The same as a moment, in UTC, such as 2026-11-18T17:00:00Z
    #[arg(long, value_name = "MOMENT", value_parser = end_time::parse_moment)]
    until: Option<std::time::SystemTime>,
    /// How long trials stay ours when the server hears nothing from this machine; then others get them. At least 1s
    #[arg(long, value_name = "TIME", default_value = "2m", value_parser = lease)]
    lease: Span,
    /// Go on even if every trial fails
    #[arg(long)]
    keep_going: bool,
    /// A command in place of the study's own
    #[arg(last = true, value_name = "COMMAND")]
    command: Vec<String>,
    #[command(flatten)]
    json: JsonArg,
}

const AFTER_HELP: &str = "\
Examples:
  NOREGRET_TOKEN=nr_... noregret worker http://127.0.0.1:7377 --study quickstart
  noregret worker https://host --study mlp --workers 4 --wall-time 2h
  noregret worker https://host --study mlp -- python3 train.py --lr {lr}

The command of the study file runs on this machine, as `noregret run` would run it. Ctrl-C finishes the trials that are
running and stops; a second one, or SIGTERM, stops at once and gives them back. In a Slurm job it knows when the job ends.
A server that cannot be reached is waited for: results are kept until it has them.";

/// Messages to the coordinating thread.
enum Message {
    Ended(Attempt),
    Signal(Stop),
    Asked(Result<api::Asked, ClientError>),
    /// A result has arrived, or will never.
    Told(Outcome, Result<api::Told, ClientError>),
    /// The server is not to be reached.
    Waiting(String),
}

pub(crate) fn run(args: &WorkerArgs, out: &mut dyn Write) -> Result<(), Error> {
    let url: ServerUrl = args.url.parse().map_err(|error: ClientError| UsageError::new(error.to_string()))?;
    let client = Client::new(url, std::env::var("NOREGRET_TOKEN").ok());
    client.connect()?;
    let path = format!("/api/v1/studies/{}", segment(&args.study));
    let study: api::Study = client.get(&path)?;
    let objective = objective(&study, &args.command)?;
    let evaluator = evaluator(&study, &objective, args)?;
    let until = match (args.wall_time, args.until) {
        (Some(span), _) => Instant::now().checked_add(span.0),
        (None, Some(moment)) => {
            let left = moment.duration_since(std::time::SystemTime::now()).unwrap_or_default();
            Instant::now().checked_add(left)
        }
        (None, None) => end_time::of_slurm().and_then(|left| Instant::now().checked_add(left)),
    };
    let (sender, messages) = mpsc::channel();
    let forward = sender.clone();
    signals::listen(move |stop| drop(forward.send(Message::Signal(stop))))?;
    let name = this_worker();
    let teller = Teller::start(client.clone(), &path, &name, sender.clone()).context("no thread is left")?;
    let lease = args.lease.0;
    let asker = Asker::start(client.clone(), &path, &name, lease, sender.clone());
    let asker = asker.context("no thread is left")?;
    talk::keep_leases(client.clone(), &path, &name, lease).context("no thread is left")?;
    if !args.json.json {
        say(&format!(
            "working on study `{}` of {}: {} at once",
            printable::line(&study.name),
            client.url(),
            args.workers
        ));
    }
    let longest = longest_evaluation(&client, &path, objective.timeout.map(|span| span.0));
    let worker = Worker {
        name,
        evaluator,
        timeout: objective.timeout.map(|span| span.0),
        workers: args.workers.get(),
        until,
        longest,
        keep_going: args.keep_going,
        json: args.json.json,
        out,
        client,
        path,
        asker,
        teller,
        sender,
        messages,
        running: BTreeMap::new(),
        untold: 0,
        suspects: Vec::new(),
        complete: 0,
        failed: 0,
        stopping: None,
        has_started: false,
        failed_starts: 0,
        not_before: None,
    };
    worker.run()
}

/// A lease that the server would take, and that a heartbeat can keep.
fn lease(text: &str) -> Result<Span, String> {
    let span = Span::parse(text)?;
    if (SHORTEST_LEASE..=LONGEST_LEASE).contains(&span.0) {
        return Ok(span);
    }
    Err("a lease lasts from 1s to 365 days".into())
}

/// What to evaluate: as the server says, or as this command line does.
fn objective(study: &api::Study, command: &[String]) -> Result<Objective, Error> {
    let known = study.objective.clone().map(serde_json::from_value::<Objective>).transpose();
    let known = known.context("the study's [objective] is of another version of noregret")?;
    match (known, command) {
        (Some(known), []) => Ok(known),
        (Some(known), words) => Ok(Objective { command: words.to_vec(), builtin: None, ..known }),
        (None, []) => Err(UsageError::new(format!(
            "study `{}` has no command for workers: name one after `--`, or start the server with the study file",
            study.name
        ))
        .into()),
        (None, words) => Ok(serde_json::from_value(json!({ "command": words }))?),
    }
}

fn evaluator(study: &api::Study, objective: &Objective, args: &WorkerArgs) -> Result<Evaluator, Error> {
    if let Some(name) = &objective.builtin {
        let problem = Builtin::by_name(name).ok_or_else(|| {
            UsageError::new(format!("this noregret does not know the test problem `{name}`"))
        })?;
        return Ok(Evaluator::Builtin(Arc::new(problem)));
    }
    let space: SpaceDefinition = serde_json::from_str(study.space.get())
        .context("the study's space is of another version of noregret")?;
    let (names, is_pool, id) = match space {
        SpaceDefinition::Parameters { parameters, .. } => (parameters.into_keys().collect(), false, None),
        SpaceDefinition::Pool { features, id, .. } => (features, true, id),
    };
    let template = Template::parse(&objective.command, &names, is_pool, id.as_deref())?;
    let environment = CommandEnvironment::new(objective);
    Ok(Evaluator::Command { template, folder: args.folder.clone(), environment })
}

/// How long an evaluation may take, by the study file or by those that have ended.
fn longest_evaluation(client: &Client, path: &str, timeout: Option<Duration>) -> Option<Duration> {
    if timeout.is_some() {
        return timeout;
    }
    let page: api::Trials = client.get(&format!("{path}/trials?state=complete&limit=1000")).ok()?;
    let seconds = page.trials.iter().filter_map(|trial| trial.seconds).fold(0.0, f64::max);
    Duration::try_from_secs_f64(LONGER * seconds).ok()
}

/// Why no more trials are asked for.
#[derive(Debug)]
enum Stopping {
    Done,
    Interrupted,
    TimeOver,
    Hopeless,
    Refused(ClientError),
    Broken(StartError),
}

struct Worker<'a> {
    name: String,
    evaluator: Evaluator,
    timeout: Option<Duration>,
    workers: usize,
    /// When this worker must have ended.
    until: Option<Instant>,
    longest: Option<Duration>,
    keep_going: bool,
    json: bool,
    out: &'a mut dyn Write,
    client: Client,
    path: String,
    asker: Asker,
    teller: Teller,
    sender: Sender<Message>,
    messages: Receiver<Message>,
    running: BTreeMap<u64, Running>,
    /// Results that the server does not have yet.
    untold: usize,
    /// Evaluations that ended by SIGTERM, and when.
    suspects: Vec<(Instant, Attempt)>,
    complete: u64,
    failed: u64,
    stopping: Option<Stopping>,
    has_started: bool,
    failed_starts: u32,
    not_before: Option<Instant>,
}

impl Worker<'_> {
    fn run(mut self) -> Result<(), Error> {
        let worked = self.work();
        if worked.is_err() || !self.running.is_empty() {
            self.abandon();
        }
        worked?;
        self.wait_for_teller();
        self.finish()
    }

    fn finish(self) -> Result<(), Error> {
        if !self.json {
            say(&format!(
                "{} trials evaluated here, {} of them failed",
                self.complete + self.failed,
                self.failed
            ));
        }
        match self.stopping {
            Some(Stopping::Interrupted) => Err(Interrupted.into()),
            Some(Stopping::Refused(error)) => Err(error.into()),
            Some(Stopping::Broken(error)) => Err(error.into()),
            Some(Stopping::Hopeless) => Err(Error::msg(
                "nothing has worked so far (--keep-going goes on); `noregret trials` shows why",
            )),
            Some(Stopping::Done | Stopping::TimeOver) | None => Ok(()),
        }
    }

    fn work(&mut self) -> Result<(), Error> {
        loop {
            self.look_at_the_clock();
            if self.until.is_some_and(|until| Instant::now() + RESERVE / 2 >= until) {
                return Ok(()); // what is running is given back
            }
            self.settle_suspects();
            self.ask();
            if self.running.is_empty() && self.untold == 0 && self.stopping.is_some() && !self.asker.is_busy()
            {
                return Ok(());
            }
            let message = match self.messages.recv_timeout(TICK) {
                Ok(message) => message,
                Err(RecvTimeoutError::Timeout) => {
                    self.stop_what_takes_too_long();
                    continue;
                }
                Err(RecvTimeoutError::Disconnected) => unreachable!("invariant: we hold a sender ourselves"),
            };
            match message {
                Message::Ended(attempt) => self.ended(attempt),
                Message::Asked(asked) => {
                    self.asker.heard();
                    self.asked(asked)?;
                }
                Message::Told(outcome, told) => self.told(&outcome, told)?,
                Message::Waiting(problem) => say(&format!("{problem}; trying again")),
                Message::Signal(stop) => {
                    let at_once = stop == Stop::Now || matches!(self.stopping, Some(Stopping::Interrupted));
                    self.stopping = Some(Stopping::Interrupted);
                    if at_once {
                        return Ok(());
                    }
                    say(&format!("finishing {} trials; once more stops at once", self.running.len()));
                }
            }
        }
    }

    /// Takes no trial that cannot finish.
    fn look_at_the_clock(&mut self) {
        let Some(until) = self.until.filter(|_| self.stopping.is_none()) else { return };
        let longest = self.longest.unwrap_or_default();
        if Instant::now() + longest + RESERVE >= until {
            say("no trial would finish in the time that is left");
            self.stopping = Some(Stopping::TimeOver);
        }
    }

    fn stop_what_takes_too_long(&self) {
        let Some(limit) = self.timeout else { return };
        for running in self.running.values().filter(|running| running.since.elapsed() > limit) {
            running.kill(&format!("it took longer than {}", humantime::format_duration(limit)));
        }
    }

    fn ask(&mut self) {
        let free = self.workers.saturating_sub(self.running.len());
        let is_early = self.not_before.is_some_and(|moment| Instant::now() < moment);
        if free > 0 && self.stopping.is_none() && !is_early && !self.asker.is_busy() {
            self.asker.ask(free);
        }
    }

    fn asked(&mut self, asked: Result<api::Asked, ClientError>) -> Result<(), Error> {
        let asked = match asked {
            Ok(asked) => asked,
            Err(error) => {
                self.stopping.get_or_insert(Stopping::Refused(error));
                return Ok(());
            }
        };
        if self.stopping.is_some() {
            self.give_back(&asked.trials.iter().map(|trial| trial.number).collect::<Vec<_>>());
            return Ok(());
        }
        if asked.done {
            self.stopping = Some(Stopping::Done);
        }
        self.start_all(asked.trials)
    }

    fn start_all(&mut self, trials: Vec<api::Trial>) -> Result<(), Error> {
        let starting: Vec<_> = trials
            .into_iter()
            // One that is running here already: the lease was lost, and given to us again.
            .filter(|trial| !self.running.contains_key(&trial.number))
            .map(|trial| {
                let sender = self.sender.clone();
                let done = move |attempt| drop(sender.send(Message::Ended(attempt)));
                let id = trial.id.clone();
                let number = trial.number;
                let trial = Trial { number, params: trial.params, row: None, state: TrialState::Running };
                (number, self.evaluator.begin(&trial, id.as_deref(), done))
            })
            .collect();
        let (mut failed, mut problem) = (Vec::new(), None);
        for (number, starting) in starting {
            match starting.and_then(Starting::wait) {
                Ok(running) => {
                    self.running.insert(number, running);
                    self.has_started = true;
                    self.failed_starts = 0;
                    if self.json {
                        writeln!(self.out, "{}", json!({ "event": "started", "number": number }))?;
                    }
                }
                Err(error) => {
                    failed.push(number);
                    problem.get_or_insert(error);
                }
            }
        }
        let Some(error) = problem else { return Ok(()) };
        self.give_back(&failed);
        if !self.has_started && !error.is_temporary() {
            return Err(error.into());
        }
        self.failed_starts += 1;
        say(&error.to_string());
        if self.failed_starts >= MAX_FAILED_STARTS && !error.is_temporary() {
            self.stopping = Some(Stopping::Broken(error));
        } else {
            self.not_before = Some(Instant::now() + RETRY);
        }
        Ok(())
    }

    /// An evaluation has ended. One that was asked to end (SIGTERM) waits for a moment: Slurm and others send the signal to all
    /// processes of a job, and a command may hear it before we do. Then its trial is given back, and has not failed.
    fn ended(&mut self, attempt: Attempt) {
        let is_asked = matches!(&attempt.outcome, Evaluation::Failure { reason, .. } if ASKED_TO_END.iter().any(|words| reason.contains(words)));
        if is_asked && !matches!(self.stopping, Some(Stopping::Interrupted)) {
            self.suspects.push((Instant::now(), attempt));
        } else {
            self.settle(attempt);
        }
    }

    /// Nobody has asked us to end: what ended by a signal has failed.
    fn settle_suspects(&mut self) {
        while self.suspects.first().is_some_and(|(since, _)| since.elapsed() >= SUSPICION) {
            let (_, attempt) = self.suspects.remove(0);
            self.settle(attempt);
        }
    }

    fn settle(&mut self, Attempt { number, outcome }: Attempt) {
        if let Some(running) = self.running.remove(&number) {
            let took = Duration::try_from_secs_f64(LONGER * running.since.elapsed().as_secs_f64());
            self.longest = self.longest.max(took.ok());
        }
        let is_interrupted = matches!(self.stopping, Some(Stopping::Interrupted));
        match &outcome {
            Evaluation::Value { value, .. } if value.is_finite() => self.complete += 1,
            _ => self.failed += 1,
        }
        self.untold += 1;
        self.teller.tell(Outcome { number, evaluation: outcome, may_retry: !is_interrupted });
        let limit = HOPELESS.max(2 * self.workers as u64);
        if !self.keep_going && self.complete == 0 && self.failed >= limit {
            self.stopping.get_or_insert(Stopping::Hopeless);
        }
    }

    fn told(&mut self, said: &Outcome, told: Result<api::Told, ClientError>) -> Result<(), Error> {
        self.untold -= 1;
        let number = said.number;
        match told {
            Ok(told) if self.json => {
                writeln!(
                    self.out,
                    "{}",
                    json!({ "event": "told", "number": number, "result": told.result })
                )?;
                self.out.flush()?;
            }
            Ok(told) => {
                let what = match (&said.evaluation, told.result.as_str()) {
                    (Evaluation::Value { value, .. }, "complete") => short(*value),
                    (Evaluation::Failure { reason, stderr, .. }, "failed") => {
                        summary::failure(reason, stderr)
                    }
                    (_, word) => word.to_owned(),
                };
                say(&format!("trial {number}: {what}"));
            }
            Err(error) => {
                say(&format!("trial {number}: its result was refused: {error}"));
                self.stopping.get_or_insert(Stopping::Refused(error));
            }
        }
        Ok(())
    }

    /// Stops all evaluations and gives back their trials, except those that have a value by now.
    fn abandon(&mut self) {
        for running in self.running.values() {
            running.kill("the worker was stopped");
        }
        let until = Instant::now() + LAST_CALL;
        let mut given_up = Vec::new();
        while !self.running.is_empty()
            && let Ok(message) = self.messages.recv_timeout(until.saturating_duration_since(Instant::now()))
        {
            match message {
                Message::Ended(attempt @ Attempt { outcome: Evaluation::Value { .. }, .. }) => {
                    self.settle(attempt);
                }
                Message::Ended(Attempt { number, .. }) => {
                    self.running.remove(&number);
                    given_up.push(number);
                }
                Message::Told(..) => self.untold -= 1,
                Message::Asked(Ok(asked)) => given_up.extend(asked.trials.iter().map(|trial| trial.number)),
                _ => {}
            }
        }
        given_up.extend(std::mem::take(&mut self.running).into_keys());
        self.suspects.clear(); // they count as running until they are settled
        self.give_back(&given_up);
    }

    /// Gives trials back, unevaluated. If that fails they return to the queue when our lease ends.
    fn give_back(&self, numbers: &[u64]) {
        if numbers.is_empty() {
            return;
        }
        let body = api::Release { worker: self.name.clone(), trials: Some(numbers.to_vec()) };
        let released: Result<api::Held, _> =
            self.client.post(&format!("{}/trials:release", self.path), &body);
        if let Err(error) = released {
            say(&format!("trials {numbers:?} could not be given back: {error}"));
        }
    }

    /// Waits until the server has all results, for a while.
    fn wait_for_teller(&mut self) {
        let until = Instant::now() + LAST_WORDS;
        while self.untold > 0
            && let Ok(message) = self.messages.recv_timeout(until.saturating_duration_since(Instant::now()))
        {
            match message {
                Message::Told(outcome, told) => drop(self.told(&outcome, told)),
                Message::Asked(Ok(asked)) => {
                    self.give_back(&asked.trials.iter().map(|trial| trial.number).collect::<Vec<_>>());
                }
                _ => {}
            }
        }
        for (number, outcome) in self.teller.left() {
            // Nobody should have to evaluate it again.
            if let Evaluation::Value { value, .. } = outcome {
                let words = format!("--study NAME --storage {}", self.client.url());
                say(&format!("not told: noregret tell {words} {number} {value}"));
            }
        }
    }
}
