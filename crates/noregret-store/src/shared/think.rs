//! New points: who thinks about them, and whether what was thought of still stands.
//!
//! Thinking may take seconds, and others write to the log meanwhile. Points that were thought of after some entry stand
//! as long as nobody else has proposed any since: a result that came in the meantime makes them a little less informed, not
//! wrong. Processes that would think of the same points at the same time take turns. Who wants points claims to think; the
//! first in the queue of claims does, for all who wait.

use std::num::NonZeroUsize;
use std::time::Duration;

use super::{HandOut, SharedStudy};
use crate::clock::Stopwatch;
use crate::ledger::Claim;
use crate::worker::{Life, life};
use crate::{Event, Proposed, StoreError, Timestamp};

/// How long others wait for a claim at least. A process that dies on this machine is noticed at once.
const PATIENCE: Duration = Duration::from_secs(30);
/// Thinking that takes less is not worth a claim, unless there are several who think.
const QUICK: f64 = 0.05;
/// Points to think of for others at most: their claims are only a number in the log.
const MOST_FOR_OTHERS: usize = 1_000;

/// What to think about.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Task {
    /// How many points; `None` leaves it to the algorithm.
    points: Option<usize>,
    /// Never more than this.
    most: usize,
}

/// Points that were thought of and are not in the log yet.
#[derive(Debug)]
pub struct Draft {
    /// The last entry that was known.
    after: u64,
    pub(super) proposed: Proposed,
}

impl Draft {
    /// How long it took to think of it.
    pub fn took(&self) -> Duration {
        Duration::try_from_secs_f64(self.proposed.seconds).unwrap_or_default()
    }
}

/// What a worker that wants trials should do.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Next {
    /// Take what waits: there is enough, or no more is to be had.
    Take,
    /// Think, and take the draft.
    Think(Task),
    /// Wait for somebody else who thinks.
    Wait,
}

impl SharedStudy {
    /// What is to be done for an order. A claim to think is written to the log if others may want to think, too.
    pub fn next(&mut self, order: &HandOut, now: Timestamp) -> Result<Next, StoreError> {
        loop {
            let (next, claim) = self.decide_next(order, now);
            if self.append(now, claim.into_iter().collect())? {
                return Ok(next);
            }
        }
    }

    /// What is to be done, and the claim that must be in the log first.
    fn decide_next(&self, order: &HandOut, now: Timestamp) -> (Next, Option<Event>) {
        let Some((missing, most)) = self.missing(order, now) else { return (Next::Take, self.withdrawal()) };
        let wanted = if order.batch.is_some() { missing.min(most) } else { 1 };
        let queue: Vec<&Claim> =
            self.ledger.claims().iter().filter(|claim| self.counts(claim, now)).collect();
        let first = queue.first().map(|claim| claim.worker.as_str());
        let own = queue.iter().find(|claim| claim.worker == self.claimant);
        let span = PATIENCE.max(Duration::from_secs_f64(3.0 * self.ledger.last_seconds().clamp(0.0, 1e6)));
        let claim = Event::Claimed { worker: self.claimant.clone(), wanted, until: now.after(span) };
        // Half of its time has passed, or it is for less than is wanted now.
        let is_outdated = own.is_none_or(|own| own.until < now.after(span / 2) || own.wanted < wanted);
        if first.is_some_and(|worker| worker != self.claimant) {
            return (Next::Wait, is_outdated.then_some(claim));
        }
        let others: usize = queue.iter().map(|claim| claim.wanted.min(MOST_FOR_OTHERS)).sum();
        let others = others.saturating_sub(own.map_or(0, |own| own.wanted)).min(MOST_FOR_OTHERS);
        let together = missing.saturating_add(others);
        let points = order.batch.map(|batch| batch.max(together).min(most));
        let is_slow = self.ledger.last_seconds() > QUICK;
        let worth = own.is_some() || is_slow || self.has_raced;
        (Next::Think(Task { points, most }), (worth && is_outdated).then_some(claim))
    }

    /// How many trials must be thought of, and how many may be; `None` if none.
    fn missing(&self, order: &HandOut, now: Timestamp) -> Option<(usize, usize)> {
        if self.ledger.is_paused() {
            return None;
        }
        let ready = self.ledger.waiting().len() + self.lost(&order.worker, now).len();
        let open = order.budget.map_or(u64::MAX, |budget| budget.saturating_sub(self.ledger.asked()));
        let open = usize::try_from(open).unwrap_or(usize::MAX);
        let missing = order.wanted.saturating_sub(ready);
        // Without a number, the algorithm says how many may run before it must hear of results.
        let may_ask = order.batch.is_some() || (ready == 0 && self.ledger.running().next().is_none());
        (missing > 0 && open > 0 && may_ask).then_some((missing, open))
    }

    /// Whether others wait for this claim.
    fn counts(&self, claim: &Claim, now: Timestamp) -> bool {
        claim.worker == self.claimant
            || (self.clocks.ours(&claim.worker, claim.until) >= now && life(&claim.worker) != Life::Dead)
    }

    /// What takes our claim back, if there is one.
    pub(super) fn withdrawal(&self) -> Option<Event> {
        let own = self.ledger.claims().iter().find(|claim| claim.worker == self.claimant)?;
        Some(Event::Claimed { worker: own.worker.clone(), wanted: 0, until: own.until })
    }

    /// Takes our claim back: no more points are wanted.
    pub fn withdraw(&mut self, now: Timestamp) -> Result<(), StoreError> {
        while !self.append(now, self.withdrawal().into_iter().collect())? {}
        Ok(())
    }

    /// Thinks of new points. This is what takes time; nothing is written.
    pub fn think(&mut self, task: Task) -> Result<Draft, StoreError> {
        let begin = Stopwatch::start();
        let mut ask = |q: Option<usize>| self.study.draft_ask(q.and_then(NonZeroUsize::new));
        let (mut asked, mut diagnostics) = ask(task.points)?;
        if asked.choices.len() > task.most {
            (asked, diagnostics) = ask(Some(task.most))?;
        }
        let proposed = Proposed {
            first: self.study.trials().len() as u64,
            asked,
            diagnostics: Some(Box::new(diagnostics)),
            seconds: begin.elapsed().as_secs_f64(),
        };
        Ok(Draft { after: self.position, proposed })
    }

    /// Whether points that were thought of may still be proposed: nobody else has proposed any since, with other
    /// settings or the same, or queued one of them.
    pub(super) fn stands(&self, draft: &Draft, order: &HandOut) -> bool {
        let points = draft.proposed.asked.choices.as_slice();
        let begun = usize::try_from(draft.proposed.first).unwrap_or(usize::MAX);
        let since = self.ledger.records().get(begun..).unwrap_or_default();
        let open = order.budget.map_or(u64::MAX, |budget| budget.saturating_sub(self.ledger.asked()));
        draft.after >= self.void_before
            && open >= points.len() as u64
            && !since.iter().any(|record| points.contains(&record.choice))
    }
}
