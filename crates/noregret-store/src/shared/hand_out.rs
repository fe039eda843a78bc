//! Who evaluates which trial: handing out, queueing, giving back.

use std::collections::BTreeMap;
use std::time::Duration;

use noregret::study::Failed;
use noregret::{Params, Trial};

use super::think::Next;
use super::{Draft, Request, SharedStudy};
use crate::clock::Clock;
use crate::worker::{Life, is_process, life};
use crate::{Event, Lease, Proposed, StoreError, Timestamp, TrialStatus};

/// A trial that was in the hands of this many vanished workers has failed: it may be what kills them.
const MAX_LOST: u32 = 10;
/// How often to look whether that process still lives.
const LOOK_ROUND: Duration = Duration::from_millis(200);

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
    /// The request from another machine that this is for. If it was done before, it gets the same trials again.
    pub request: Option<Request>,
}

impl SharedStudy {
    /// Hands out up to `wanted` trials: those that wait first, then new ones, decided on together. Fewer, or none, if the
    /// budget is spent, and none while the study is paused; an error only if nothing at all is left to suggest and nothing waits. This
    /// may take a while: it thinks, or waits for another process that does.
    pub fn hand_out(&mut self, order: &HandOut, now: Timestamp) -> Result<Vec<Trial>, StoreError> {
        let clock = Clock::start(now);
        let handed_out = self.think_and_take(order, clock);
        if handed_out.is_err() {
            // Nobody should wait for us. The claim may be in the log although writing it has failed; if nothing works, it ends by
            // itself.
            let _ = self.catch_up_at(clock.time()).and_then(|_| self.withdraw(clock.time()));
        }
        handed_out
    }

    fn think_and_take(&mut self, order: &HandOut, clock: Clock) -> Result<Vec<Trial>, StoreError> {
        loop {
            let draft = match self.next(order, clock.time())? {
                Next::Take => None,
                Next::Wait => {
                    self.await_others(clock)?;
                    continue;
                }
                Next::Think(task) => match self.think(task) {
                    Ok(draft) => Some(draft),
                    Err(error) if error.is_exhausted() && self.ledger.waiting().len() > 0 => None,
                    Err(error) => return Err(error),
                },
            };
            if let Some(trials) = self.take(order, draft.as_ref(), clock.time())? {
                return Ok(trials);
            }
        }
    }

    /// Waits until something is written, or for so long that somebody may have died.
    fn await_others(&mut self, clock: Clock) -> Result<(), StoreError> {
        self.store.wait(&self.name, self.position, LOOK_ROUND)?;
        self.catch_up_at(clock.time()).map(drop)
    }

    /// Hands out trials that wait, then those of a draft, without thinking. `None` if the draft stands no more.
    pub fn take(
        &mut self,
        order: &HandOut,
        draft: Option<&Draft>,
        now: Timestamp,
    ) -> Result<Option<Vec<Trial>>, StoreError> {
        let mut proposed = None;
        loop {
            if let Some(done) = self.done(order.request.as_ref()) {
                return self.trials(&done.trials.clone()).map(Some);
            }
            if let Some(draft) = draft {
                if !self.stands(draft, order) {
                    self.has_raced = true;
                    return Ok(None);
                }
                let first = self.study.trials().len() as u64;
                proposed = Some(Proposed { first, ..draft.proposed.clone() });
            }
            let (events, taken) = self.decide_take(order, proposed.take(), now);
            if self.append(now, events)? {
                return self.trials(&taken).map(Some);
            }
        }
    }

    /// What handing out writes now, and which trials it hands out.
    fn decide_take(
        &self,
        order: &HandOut,
        proposed: Option<Proposed>,
        now: Timestamp,
    ) -> (Vec<Event>, Vec<u64>) {
        let mut events = self.recover(&order.worker, now);
        let recovered = events.iter().filter_map(|event| match event {
            Event::Released { number, .. } => Some(*number),
            _ => None,
        });
        let mut taken: Vec<u64> = self.ledger.waiting().chain(recovered).collect();
        taken.sort_unstable();
        taken.truncate(if self.ledger.is_paused() { 0 } else { order.wanted });
        // What was thought of before a pause is kept for later.
        if let Some(proposed) = proposed {
            let asked = Event::Asked(Box::new(proposed));
            if !self.ledger.is_paused() {
                taken.extend(asked.trials().take(order.wanted - taken.len()));
            }
            events.push(asked);
        }
        let until = order.lease.map(|span| now.after(span));
        let lease = |&number: &u64| Event::Leased { number, worker: order.worker.clone(), until };
        events.extend(taken.iter().map(lease));
        // Who has enough, or has thought of what was wanted, waits no more.
        if taken.len() == order.wanted || events.iter().any(|event| matches!(event, Event::Asked(_))) {
            events.extend(self.withdrawal());
        }
        if !taken.is_empty() {
            events.extend(order.request.as_ref().map(|request| request.done(taken.clone(), "")));
        }
        (events, taken)
    }

    /// Trials by their numbers.
    fn trials(&self, numbers: &[u64]) -> Result<Vec<Trial>, StoreError> {
        numbers.iter().map(|number| Ok(self.study.trial(*number)?.clone())).collect()
    }

    /// Puts points of the user's own into the queue, all or none: they are handed out before new ones are thought of.
    pub fn enqueue(&mut self, points: &[Params], now: Timestamp) -> Result<Vec<Trial>, StoreError> {
        self.enqueue_for(points, None, now)
    }

    /// The same for a request from another machine.
    pub fn enqueue_for(
        &mut self,
        points: &[Params],
        request: Option<&Request>,
        now: Timestamp,
    ) -> Result<Vec<Trial>, StoreError> {
        let clock = Clock::start(now);
        loop {
            if let Some(done) = self.done(request) {
                return self.trials(&done.trials.clone());
            }
            let first = self.study.trials().len();
            let queue = |(number, params): (u64, &Params)| {
                Ok(Event::Enqueued { number, enqueued: self.study.draft_enqueue(params)? })
            };
            let mut events =
                (first as u64..).zip(points).map(queue).collect::<Result<Vec<_>, StoreError>>()?;
            let numbers = (first as u64..).take(points.len()).collect();
            events.extend(request.map(|request| request.done(numbers, "")));
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
        self.lost(own, now).into_iter().map(event).collect()
    }

    /// Running trials that nobody will finish: their worker has died, or their time is up. A process knows best what it is
    /// working on, and one that lives is working, whatever the clocks say; people forget.
    pub(super) fn lost(&self, own: &str, now: Timestamp) -> Vec<u64> {
        let mut lives = BTreeMap::new(); // asking is not free, and workers hold many trials
        let mut life = |worker: &str| *lives.entry(worker.to_owned()).or_insert_with(|| life(worker));
        let mut is_lost = |lease: &Lease| {
            let Some(until) = lease.until.filter(|_| lease.worker != own || !is_process(own)) else {
                return false;
            };
            match life(&lease.worker) {
                Life::Dead => true,
                Life::Alive => false,
                Life::Unknown => self.clocks.ours(&lease.worker, until) < now,
            }
        };
        self.ledger.running().filter(|(_, lease)| is_lost(lease)).map(|(number, _)| number).collect()
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
