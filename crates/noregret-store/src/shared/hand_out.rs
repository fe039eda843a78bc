//! Who evaluates which trial: handing out, queueing, giving back.

use std::num::NonZeroUsize;
use std::time::Duration;

use noregret::study::Failed;
use noregret::{Params, Trial};

use super::SharedStudy;
use crate::clock::{Clock, Stopwatch};
use crate::worker::{is_dead, is_process};
use crate::{Event, Proposed, StoreError, Timestamp, TrialStatus};

/// A trial that was in the hands of this many vanished workers has failed: it may be what kills them.
const MAX_LOST: u32 = 10;

/// What to hand out.
#[derive(Clone, Debug)]
pub struct HandOut {
    /// Trials wanted now.
    pub wanted: usize,
    /// Trials to decide on together when new ones are needed, if more; `None` leaves it to the algorithm.
    pub batch: Option<usize>,
    /// No new trials once so many were proposed. It limits handing out and does not steer the algorithm: see
    /// [`SharedStudy::plan`].
    pub budget: Option<u64>,
    /// Who takes them.
    pub worker: String,
    /// For how long; without a span, until they are told.
    pub lease: Option<Duration>,
}

impl SharedStudy {
    /// Hands out up to `wanted` trials: those that wait first, then new ones, decided on together. Fewer, or none, if the
    /// budget is spent; an error only if nothing at all is left to suggest and nothing waits.
    pub fn hand_out(&mut self, order: &HandOut, now: Timestamp) -> Result<Vec<Trial>, StoreError> {
        let clock = Clock::start(now);
        loop {
            let (events, taken) = self.decide_hand_out(order, clock)?;
            if self.append(clock.time(), events)? {
                return taken.iter().map(|&number| Ok(self.study.trial(number)?.clone())).collect();
            }
        }
    }

    /// What handing out would write now, and which trials it would hand out. This may take a while: it thinks.
    fn decide_hand_out(
        &mut self,
        order: &HandOut,
        clock: Clock,
    ) -> Result<(Vec<Event>, Vec<u64>), StoreError> {
        let mut events = self.recover(&order.worker, clock.time());
        let recovered = events.iter().filter_map(|event| match event {
            Event::Released { number, .. } => Some(*number),
            _ => None,
        });
        let mut taken: Vec<u64> = self.ledger.waiting().chain(recovered).collect();
        taken.sort_unstable();
        taken.truncate(order.wanted);
        let open = order.budget.map_or(u64::MAX, |budget| budget.saturating_sub(self.ledger.asked()));
        let open = usize::try_from(open).unwrap_or(usize::MAX);
        let missing = order.wanted - taken.len();
        // Without a number, the algorithm says how many may run before it must hear of results.
        let may_ask = order.batch.is_some() || (taken.is_empty() && self.ledger.running().next().is_none());
        if missing > 0 && open > 0 && may_ask {
            match self.draft(order.batch.map(|batch| batch.max(missing)), open) {
                Ok(proposed) => {
                    let asked = Event::Asked(Box::new(proposed));
                    taken.extend(asked.trials().take(missing));
                    events.push(asked);
                }
                Err(error) if error.is_exhausted() && !taken.is_empty() => {}
                Err(error) => return Err(error),
            }
        }
        let until = order.lease.map(|span| clock.time().after(span));
        let lease = |&number: &u64| Event::Leased { number, worker: order.worker.clone(), until };
        events.extend(taken.iter().map(lease));
        Ok((events, taken))
    }

    /// Proposes `q` points, or as many as the algorithm allows, and never more than `most`.
    fn draft(&mut self, q: Option<usize>, most: usize) -> Result<Proposed, StoreError> {
        let begin = Stopwatch::start();
        let mut ask = |q: Option<usize>| self.study.draft_ask(q.and_then(NonZeroUsize::new));
        let (mut asked, mut diagnostics) = ask(q.map(|q| q.min(most)))?;
        if asked.choices.len() > most {
            (asked, diagnostics) = ask(Some(most))?;
        }
        Ok(Proposed {
            first: self.study.trials().len() as u64,
            asked,
            diagnostics: Some(Box::new(diagnostics)),
            seconds: begin.elapsed().as_secs_f64(),
        })
    }

    /// Puts points of the user's own into the queue, all or none: they are handed out before new ones are thought of.
    pub fn enqueue(&mut self, points: &[Params], now: Timestamp) -> Result<Vec<Trial>, StoreError> {
        let clock = Clock::start(now);
        loop {
            let first = self.study.trials().len();
            let queue = |(number, params): (u64, &Params)| {
                Ok(Event::Enqueued { number, enqueued: self.study.draft_enqueue(params)? })
            };
            let events = (first as u64..).zip(points).map(queue).collect::<Result<_, StoreError>>()?;
            if self.append(clock.time(), events)? {
                return Ok(self.study.trials()[first..first + points.len()].to_vec());
            }
        }
    }

    /// What becomes of trials whose workers have vanished.
    fn recover(&self, own: &str, now: Timestamp) -> Vec<Event> {
        let event = |number| match self.ledger.record(number) {
            Some(record) if record.lost + 1 >= MAX_LOST => {
                let reason = format!("its worker vanished {MAX_LOST} times while it was evaluated");
                Event::Failed { failed: Failed { number, reason }, stderr: String::new(), seconds: None }
            }
            _ => Event::Released { number, lost: true },
        };
        // A process knows best what it is working on, whatever the clock says; people forget.
        let own = if is_process(own) { own } else { "" };
        self.ledger.abandoned(own, now, is_dead).into_iter().map(event).collect()
    }

    /// Gives trials that one of `workers` holds back to the queue, unevaluated.
    pub fn release(&mut self, numbers: &[u64], workers: &[&str], now: Timestamp) -> Result<(), StoreError> {
        let clock = Clock::start(now);
        loop {
            let own = |number: &&u64| match self.ledger.record(**number).map(|record| &record.status) {
                Some(TrialStatus::Running(lease)) => workers.contains(&lease.worker.as_str()),
                _ => false,
            };
            let release = |&number: &u64| Event::Released { number, lost: false };
            let events = numbers.iter().filter(own).map(release).collect();
            if self.append(clock.time(), events)? {
                return Ok(());
            }
        }
    }

    /// Keeps what this worker has leased for another `span`.
    pub fn renew(&mut self, worker: &str, span: Duration, now: Timestamp) -> Result<(), StoreError> {
        let clock = Clock::start(now);
        loop {
            let until = clock.time().after(span);
            if self.append(clock.time(), vec![Event::Renewed { worker: worker.to_owned(), until }])? {
                return Ok(());
            }
        }
    }
}
