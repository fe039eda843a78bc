//! The life of one trial, as the entries that concern it tell it.

use noregret::strategy::history::Choice;
use noregret::{Params, Space, TrialState};

use crate::{Attrs, Entry, Event, Timestamp};

/// A claim on a trial.
#[derive(Clone, Debug, PartialEq)]
pub struct Lease {
    /// Who evaluates it.
    pub worker: String,
    /// Until when nobody else will; without a date, until it is told or released.
    pub until: Option<Timestamp>,
}

/// Where a trial stands.
#[derive(Clone, Debug, PartialEq)]
pub enum TrialStatus {
    /// Nobody evaluates it.
    Waiting,
    /// Somebody does.
    Running(Lease),
    /// It has a value.
    Complete {
        /// The value.
        value: f64,
        /// Variance of its noise.
        noise_var: Option<f64>,
    },
    /// It ended without one.
    Failed {
        /// Why.
        reason: String,
    },
}

impl TrialStatus {
    /// The word for it.
    pub fn word(&self) -> &'static str {
        match self {
            Self::Waiting => "waiting",
            Self::Running(_) => "running",
            Self::Complete { .. } => "complete",
            Self::Failed { .. } => "failed",
        }
    }

    /// Whether it has ended, one way or the other.
    pub fn is_over(&self) -> bool {
        matches!(self, Self::Complete { .. } | Self::Failed { .. })
    }
}

impl From<TrialState> for TrialStatus {
    /// In a study without workers a trial runs as soon as it is there; here it waits for one.
    fn from(state: TrialState) -> Self {
        match state {
            TrialState::Running => Self::Waiting,
            TrialState::Complete { value, noise_var } => Self::Complete { value, noise_var },
            TrialState::Failed { reason } => Self::Failed { reason },
        }
    }
}

/// A trial with all that is known of it.
#[derive(Clone, Debug, PartialEq)]
pub struct TrialRecord {
    /// Its number, from 0 on.
    pub number: u64,
    /// Its point.
    pub choice: Choice,
    /// Its parameters if they came from the user; others follow from the point.
    params: Option<Params>,
    /// Where it stands.
    pub status: TrialStatus,
    /// How often it was handed out.
    pub leases: u32,
    /// How often a worker vanished with it.
    pub lost: u32,
    /// How often it was tried again after a failure.
    pub retries: u32,
    /// Results that came when it had one already.
    pub late: u32,
    /// What the evaluation said beyond its value.
    pub attrs: Attrs,
    /// The end of what the last failed attempt wrote to stderr.
    pub stderr: String,
    /// What somebody noted about it.
    pub note: String,
    /// When it was proposed.
    pub asked: Timestamp,
    /// When it was last handed out.
    pub started: Option<Timestamp>,
    /// When it ended.
    pub ended: Option<Timestamp>,
    /// How long its evaluation took, if known.
    pub seconds: Option<f64>,
}

impl TrialRecord {
    /// The trials that begin with this entry.
    pub fn begun_by(entry: &Entry) -> Vec<Self> {
        match &entry.event {
            Event::Asked(proposed) => (proposed.first..)
                .zip(&proposed.asked.choices)
                .map(|(number, choice)| Self::new(number, choice, entry.time))
                .collect(),
            Event::Enqueued { number, enqueued } => {
                let params = Some(enqueued.params.clone());
                vec![Self { params, ..Self::new(*number, &enqueued.choice, entry.time) }]
            }
            Event::Added { number, added } => {
                let (params, status) = (Some(added.params.clone()), added.state().into());
                let ended = Some(entry.time);
                vec![Self { params, status, ended, ..Self::new(*number, &added.choice, entry.time) }]
            }
            _ => Vec::new(),
        }
    }

    fn new(number: u64, choice: &Choice, asked: Timestamp) -> Self {
        Self {
            number,
            choice: choice.clone(),
            params: None,
            status: TrialStatus::Waiting,
            leases: 0,
            lost: 0,
            retries: 0,
            late: 0,
            attrs: Attrs::new(),
            stderr: String::new(),
            note: String::new(),
            asked,
            started: None,
            ended: None,
            seconds: None,
        }
    }

    /// Its parameters, in the user's own units.
    pub fn params(&self, space: &Space) -> Params {
        self.params.clone().unwrap_or_else(|| self.choice.params(space))
    }

    /// The name of its candidate, in a pool.
    pub fn id(&self, space: &Space) -> Option<String> {
        space.as_pool().zip(self.choice.row).map(|(pool, row)| pool.id(row).into_owned())
    }

    /// Goes on with an entry that concerns this trial.
    pub fn apply(&mut self, entry: &Entry) {
        match &entry.event {
            Event::Leased { worker, until, .. } => {
                if !self.status.is_over() {
                    self.status = TrialStatus::Running(Lease { worker: worker.clone(), until: *until });
                    self.started = Some(entry.time);
                }
                self.leases += 1;
            }
            Event::Renewed { worker, until } => {
                if let TrialStatus::Running(lease) = &mut self.status
                    && lease.worker == *worker
                    && lease.until.is_some()
                {
                    lease.until = Some(*until);
                }
            }
            Event::Released { lost, .. } => {
                self.lost += u32::from(*lost);
                self.wait();
            }
            Event::Retried { stderr, seconds, .. } => {
                self.retries += 1;
                self.stderr.clone_from(stderr);
                self.seconds = Some(*seconds);
                self.wait();
            }
            Event::Told { told, attrs, seconds } => {
                self.status = TrialStatus::Complete { value: told.value, noise_var: told.noise_var };
                self.attrs.clone_from(attrs);
                self.end(entry.time, *seconds);
            }
            Event::Failed { failed, stderr, seconds } => {
                self.status = TrialStatus::Failed { reason: failed.reason.clone() };
                self.stderr.clone_from(stderr);
                self.end(entry.time, *seconds);
            }
            Event::Late { .. } => self.late += 1,
            Event::Replaced { replaced, .. } => self.status = replaced.state().into(),
            Event::Noted { note, .. } => self.note.clone_from(note),
            Event::Defined(_)
            | Event::Planned(_)
            | Event::Claimed { .. }
            | Event::Requested(_)
            | Event::Archived { .. }
            | Event::Paused { .. }
            | Event::Tagged { .. }
            | Event::Asked(_)
            | Event::Enqueued { .. }
            | Event::Added { .. } => {}
        }
    }

    fn wait(&mut self) {
        if !self.status.is_over() {
            self.status = TrialStatus::Waiting;
        }
    }

    fn end(&mut self, time: Timestamp, seconds: Option<f64>) {
        self.ended = Some(time);
        let since_start = || self.started.map(|started| time.since(started).as_secs_f64());
        self.seconds = seconds.or_else(since_start);
    }
}
