//! A study at work.
//!
//! Its fold follows the log and answers at once: results, leases, lists. Thinking is left to twins, which follow the log on their own: one
//! thinks of new points, another answers questions about the model. So a result never waits for a suggestion. Results that come while one is
//! being written are written together, in one commit.

use std::mem::take;
use std::num::NonZeroUsize;
use std::path::PathBuf;
use std::sync::atomic::{AtomicBool, AtomicU64, AtomicUsize, Ordering};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError, TryLockError};
use std::time::{Duration, Instant};

use noregret::Trial;
use noregret::study::Verdict;
use noregret_client::api::Problem;
use noregret_files::{Allowed, DefineError, again};
use noregret_store::{
    Definition, Entry, Evaluation, HandOut, LogKeeper, Next, Request, Requested, SharedStudy, Statement,
    Store, StoreError, Timestamp,
};

use crate::problem::{busy, invalid, of_store};
use crate::thinking::Thinkers;

/// How long to wait at once for something new: as long as a server may take to end.
const SLICE: Duration = Duration::from_millis(200);
/// How long a request waits for another process that thinks, and for the study's own thinking.
const PATIENCE: Duration = Duration::from_mins(4);
/// Results before a study may stop because of its remaining regret; as `noregret run`.
const FEWEST_TO_JUDGE: u64 = 20;

/// A study at work.
pub(crate) struct Desk {
    name: String,
    store: Arc<dyn Store>,
    fold: Mutex<Fold>,
    /// Thinks of new points; one at a time.
    thinker: Mutex<Option<SharedStudy>>,
    /// Answers questions about the model.
    reader: Mutex<Option<SharedStudy>>,
    /// Results that wait to be written.
    queue: Mutex<Vec<Queued>>,
    /// Trials that are wanted by all who ask at the moment.
    wanted: AtomicUsize,
    /// Number of results when the remaining regret was last estimated, and whether it was small enough.
    judged: AtomicU64,
    satisfied: AtomicBool,
    /// The last position that is known to all who wait.
    heard: Mutex<u64>,
    news: Condvar,
    /// Whoever has this looks at the store for all who wait.
    watch: Mutex<()>,
}

/// What is known of a study.
enum Fold {
    /// All.
    Whole(Box<SharedStudy>),
    /// Its log, and why no more.
    LogOnly(Box<LogKeeper>, Problem),
}

/// A result that waits to be written.
struct Queued {
    said: Said,
    verdict: Arc<Mutex<Option<Result<Verdict, Problem>>>>,
}

/// A result, as it came.
pub(crate) struct Said {
    pub(crate) number: u64,
    pub(crate) evaluation: Evaluation,
    pub(crate) worker: Option<String>,
    pub(crate) request: Option<Request>,
}

/// What is asked for.
#[derive(Debug)]
pub(crate) struct Order {
    /// `None`: as many as the algorithm allows.
    pub(crate) n: Option<usize>,
    pub(crate) worker: String,
    pub(crate) lease: Option<Duration>,
    pub(crate) request: Option<Request>,
    /// Beyond the study's number of trials, too.
    pub(crate) beyond: bool,
    pub(crate) until: Instant,
}

/// Trials that were handed out, and whether none will come.
pub(crate) struct HandedOut {
    pub(crate) trials: Vec<Trial>,
    pub(crate) done: bool,
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    // What a panic leaves behind is dropped with the desk: see `Desks::drop_desk`.
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

impl Desk {
    /// Opens a study of the store. `None` if there is none of this name.
    pub(crate) fn open(
        store: &Arc<dyn Store>,
        name: &str,
        pools: &[PathBuf],
    ) -> Result<Option<Self>, Problem> {
        let definition = match SharedStudy::first_definition(&**store, name, "") {
            Err(StoreError::NoSuchStudy { .. }) => return Ok(None),
            found => found.map_err(of_store)?,
        };
        let fold = match opened(&definition, pools) {
            Ok(space) => {
                let shared = SharedStudy::resume(Arc::clone(store), name, definition, space);
                Fold::Whole(Box::new(shared.map_err(of_store)?))
            }
            Err(error) => {
                let keeper = LogKeeper::open(Arc::clone(store), name).map_err(of_store)?;
                Fold::LogOnly(Box::new(keeper), invalid(error.to_string()))
            }
        };
        let position = match &fold {
            Fold::Whole(shared) => shared.position(),
            Fold::LogOnly(keeper, _) => keeper.position(),
        };
        Ok(Some(Self {
            name: name.into(),
            store: Arc::clone(store),
            fold: Mutex::new(fold),
            thinker: Mutex::default(),
            reader: Mutex::default(),
            queue: Mutex::default(),
            wanted: AtomicUsize::new(0),
            judged: AtomicU64::new(0),
            satisfied: AtomicBool::new(false),
            heard: Mutex::new(position),
            news: Condvar::new(),
            watch: Mutex::new(()),
        }))
    }

    /// Does something with the fold, which is quick, and tells all who wait if it went on.
    pub(crate) fn with<T>(
        &self,
        work: impl FnOnce(&mut SharedStudy) -> Result<T, Problem>,
    ) -> Result<T, Problem> {
        let mut fold = lock(&self.fold);
        match &mut *fold {
            Fold::Whole(shared) => {
                let done = work(shared);
                self.announce(shared.position());
                done
            }
            Fold::LogOnly(_, problem) => Err(problem.clone()),
        }
    }

    /// Where the study searches.
    pub(crate) fn space(&self) -> Result<noregret::Space, Problem> {
        self.with(|shared| Ok(shared.study().space().clone()))
    }

    /// Why there is only a log, if that is so.
    pub(crate) fn problem(&self) -> Option<String> {
        match &*lock(&self.fold) {
            Fold::Whole(_) => None,
            Fold::LogOnly(_, problem) => Some(problem.detail.clone()),
        }
    }

    /// The same with the newest state of the log, others' entries included.
    pub(crate) fn with_newest<T>(
        &self,
        work: impl FnOnce(&mut SharedStudy) -> Result<T, Problem>,
    ) -> Result<T, Problem> {
        self.with(|shared| {
            shared.catch_up().map_err(of_store)?;
            work(shared)
        })
    }

    /// What the log says of a request, if it was done before. The same name for something else is refused.
    pub(crate) fn done(&self, request: Option<&Request>) -> Result<Option<Requested>, Problem> {
        let Some(request) = request else { return Ok(None) };
        self.with_newest(|shared| match shared.ledger().request(&request.key) {
            Some(done) if done.digest != request.digest => Err(Problem::new(
                422,
                "key-reused",
                "this Idempotency-Key belongs to another request: each has its own",
            )),
            found => Ok(found.cloned()),
        })
    }

    /// Writes a result, together with others that come at the same time.
    pub(crate) fn tell(&self, said: Said) -> Result<Verdict, Problem> {
        let verdict = Arc::default();
        lock(&self.queue).push(Queued { said, verdict: Arc::clone(&verdict) });
        let written = self.with(|shared| {
            if lock(&verdict).is_none() {
                tell_all(shared, &take(&mut *lock(&self.queue)));
            }
            Ok(())
        });
        let told = lock(&verdict).take();
        told.unwrap_or_else(|| Err(written.err().unwrap_or_else(|| busy("it was not written: come again"))))
    }

    /// Appends entries that a client has decided on.
    pub(crate) fn append(&self, after: u64, entries: &[Entry]) -> Result<u64, Problem> {
        let mut fold = lock(&self.fold);
        let last = match &mut *fold {
            Fold::Whole(shared) => shared.append_for(after, entries),
            Fold::LogOnly(keeper, _) => keeper.append_for(after, entries),
        };
        let last = last.map_err(|error| match error {
            StoreError::Corrupt { problem, .. } => {
                invalid(format!("these entries do not fit the log: {problem}"))
            }
            StoreError::AnotherStudy { .. } => Problem::new(409, "another-study", error.to_string()),
            other => of_store(other),
        })?;
        self.announce(last);
        Ok(last)
    }

    /// Hands out trials: those that wait, and then new ones. Waits for some if there are none.
    pub(crate) fn ask(
        &self,
        order: &Order,
        thinkers: &Thinkers,
        closing: &AtomicBool,
    ) -> Result<HandedOut, Problem> {
        let wanted = Wanted::new(&self.wanted, order.n.unwrap_or(1));
        let asked = self.think_and_take(order, thinkers, closing);
        drop(wanted);
        if asked.is_err() {
            // Nobody should wait for what will not come.
            let _ = self.with(|shared| shared.withdraw(Timestamp::now()).map_err(of_store));
        }
        asked
    }

    #[expect(clippy::disallowed_methods, reason = "requests wait for so long and no longer")]
    fn think_and_take(
        &self,
        order: &Order,
        thinkers: &Thinkers,
        closing: &AtomicBool,
    ) -> Result<HandedOut, Problem> {
        let longest = Instant::now() + PATIENCE;
        let mut thinker: Option<MutexGuard<'_, Option<SharedStudy>>> = None;
        let mut exhausted_at = None;
        loop {
            let (next, hand_out, position) = self.with_newest(|shared| {
                let hand_out = self.hand_out(order, shared)?;
                let next = shared.next(&hand_out, Timestamp::now()).map_err(of_store)?;
                Ok((next, hand_out, shared.position()))
            })?;
            let is_late = Instant::now() >= longest;
            // Good enough: no more is thought of.
            let is_satisfied = self.is_satisfied() && !order.beyond;
            let next = if is_satisfied { Next::Take } else { next };
            match next {
                Next::Think(_) if exhausted_at == Some(position) => {
                    let taken = self.take_what_waits(&hand_out, true)?;
                    let others = self.with(|shared| Ok(shared.ledger().running().next().is_some()))?;
                    if !taken.trials.is_empty() || !others {
                        return Ok(taken);
                    }
                    if Instant::now() >= order.until || closing.load(Ordering::Relaxed) {
                        return Ok(HandedOut { done: false, ..taken });
                    }
                    self.wait(position, order.until, closing)?;
                    exhausted_at = None;
                }
                Next::Think(task) if thinker.is_some() => {
                    let turn = thinkers.turn()?;
                    let guard = thinker.as_mut().unwrap_or_else(|| unreachable!("invariant: checked above"));
                    let twin = self.twin(guard)?;
                    self.judge(twin);
                    if self.is_satisfied() && !order.beyond {
                        continue;
                    }
                    let draft = twin.think(task);
                    drop(turn);
                    match draft {
                        Ok(draft) => {
                            let taken = self.with(|shared| {
                                shared.take(&hand_out, Some(&draft), Timestamp::now()).map_err(of_store)
                            })?;
                            if let Some(trials) = taken {
                                return Ok(HandedOut { trials, done: false });
                            }
                        }
                        Err(error) if error.is_exhausted() => {
                            self.with(|shared| shared.withdraw(Timestamp::now()).map_err(of_store))?;
                            exhausted_at = Some(self.with(|shared| Ok(shared.position()))?);
                        }
                        Err(error) => return Err(of_store(error)),
                    }
                }
                // Somebody may think for us while we wait for the turn: then there is something to take.
                Next::Think(_) if is_late => {
                    return Err(busy("the study is being thought about: come again"));
                }
                Next::Think(_) => thinker = Some(lock(&self.thinker)),
                Next::Wait if is_late || closing.load(Ordering::Relaxed) => {
                    return Err(busy("another process thinks about this study: come again"));
                }
                Next::Wait => {
                    thinker = None;
                    self.wait(position, Instant::now() + SLICE, closing)?;
                }
                Next::Take => {
                    thinker = None;
                    let taken = self.take_what_waits(&hand_out, is_satisfied)?;
                    let is_over = Instant::now() >= order.until || closing.load(Ordering::Relaxed);
                    if !taken.trials.is_empty() || taken.done || is_over {
                        return Ok(taken);
                    }
                    self.wait(position, order.until.min(Instant::now() + SLICE), closing)?;
                }
            }
        }
    }

    /// What an order means for the study as it is.
    fn hand_out(&self, order: &Order, shared: &SharedStudy) -> Result<HandOut, Problem> {
        let definition = shared.definition();
        if let Some(name) = definition.space.function() {
            let problem =
                format!("constraint `{name}` is a function of the program that made this study: ask there");
            return Err(invalid(problem));
        }
        let budget = definition.trials.filter(|_| !order.beyond).map(|n| n as u64);
        let usual =
            definition.assignment.as_ref().map_or(Some(1), |known| known.batch.map(NonZeroUsize::get));
        let together = self.wanted.load(Ordering::Relaxed);
        let batch = match (order.n, usual) {
            (Some(_), Some(batch)) => Some(batch.max(together)),
            // The algorithm says how many may run.
            _ => None,
        };
        let most = usize::try_from(budget.map_or(u64::MAX, |n| n)).unwrap_or(usize::MAX);
        Ok(HandOut {
            wanted: order.n.unwrap_or(usize::MAX).min(most.max(1)),
            batch,
            budget,
            worker: order.worker.clone(),
            lease: order.lease,
            request: order.request.clone(),
        })
    }

    /// Hands out what waits. `ended`: no new trials will be thought of.
    fn take_what_waits(&self, hand_out: &HandOut, ended: bool) -> Result<HandedOut, Problem> {
        self.with(|shared| {
            let taken = shared.take(hand_out, None, Timestamp::now()).map_err(of_store)?;
            let trials = taken.unwrap_or_default();
            let ledger = shared.ledger();
            let is_spent = ended || hand_out.budget.is_some_and(|budget| ledger.asked() >= budget);
            let is_idle = ledger.waiting().len() == 0 && ledger.running().next().is_none();
            Ok(HandedOut { done: trials.is_empty() && is_spent && is_idle, trials })
        })
    }

    /// Whether the study stops although trials are left, because what may still be gained is little enough.
    pub(crate) fn is_satisfied(&self) -> bool {
        self.satisfied.load(Ordering::Relaxed)
    }

    /// Estimates the remaining regret now and then, if the study is to stop by it.
    fn judge(&self, twin: &mut SharedStudy) {
        let assignment = twin.definition().assignment.as_ref();
        let Some(threshold) = assignment.and_then(|known| known.stop_when_regret_below) else { return };
        let complete = twin.ledger().complete();
        let enough = FEWEST_TO_JUDGE.max(5 * twin.study().space().dims() as u64);
        let judged = self.judged.load(Ordering::Relaxed);
        if complete < enough || complete < judged + (complete / 20).max(1) {
            return;
        }
        self.judged.store(complete, Ordering::Relaxed);
        let regret = twin.study().remaining_regret().ok().flatten();
        self.satisfied.store(regret.is_some_and(|regret| regret.interval.1 < threshold), Ordering::Relaxed);
    }

    /// The twin behind a lock, with all that is in the log.
    fn twin<'a>(&self, slot: &'a mut Option<SharedStudy>) -> Result<&'a mut SharedStudy, Problem> {
        if slot.is_none() {
            *slot = Some(self.with(|shared| shared.twin().map_err(of_store))?);
        }
        let twin = slot.as_mut().unwrap_or_else(|| unreachable!("invariant: made above"));
        twin.catch_up().map_err(of_store)?;
        Ok(twin)
    }

    /// Asks the model, without keeping anybody else from anything.
    pub(crate) fn consult<T>(
        &self,
        thinkers: &Thinkers,
        question: impl FnOnce(&mut SharedStudy) -> Result<T, Problem>,
    ) -> Result<T, Problem> {
        let mut slot = lock(&self.reader);
        let _turn = thinkers.turn()?;
        let twin = self.twin(&mut slot)?;
        question(twin)
    }

    fn announce(&self, position: u64) {
        let mut heard = lock(&self.heard);
        if position > *heard {
            *heard = position;
            self.news.notify_all();
        }
    }

    /// Waits until the log has gone beyond a position, for at most so long. One of all who wait looks at the store, which others may write
    /// to; it tells the rest.
    #[expect(clippy::disallowed_methods, reason = "it waits for so long")]
    pub(crate) fn wait(&self, after: u64, until: Instant, closing: &AtomicBool) -> Result<(), Problem> {
        loop {
            let left = until.saturating_duration_since(Instant::now()).min(SLICE);
            if left.is_zero() || closing.load(Ordering::Relaxed) || *lock(&self.heard) > after {
                return Ok(());
            }
            match self.watch.try_lock() {
                Ok(_watch) => {
                    self.store.wait(&self.name, after, left).map_err(of_store)?;
                    let last = self.store.last(&self.name).map_err(of_store)?;
                    self.announce(last);
                }
                Err(TryLockError::WouldBlock) => {
                    let heard = lock(&self.heard);
                    drop(self.news.wait_timeout_while(heard, left, |heard| *heard <= after));
                }
                Err(TryLockError::Poisoned(_)) => self.watch.clear_poison(),
            }
        }
    }

    /// The last position of the log, as far as it is known.
    pub(crate) fn heard(&self) -> u64 {
        *lock(&self.heard)
    }
}

/// The space of a study, if this server may and can open it.
fn opened(definition: &Definition, pools: &[PathBuf]) -> Result<noregret::Space, DefineError> {
    Ok(again(definition, Allowed::Within(pools))?.1)
}

/// Writes results in one commit; if one of them cannot be, each on its own.
fn tell_all(shared: &mut SharedStudy, queued: &[Queued]) {
    fn statement(said: &Said) -> Statement<'_> {
        Statement {
            number: said.number,
            evaluation: &said.evaluation,
            worker: said.worker.as_deref(),
            request: said.request.as_ref(),
        }
    }
    let statements: Vec<Statement<'_>> = queued.iter().map(|queued| statement(&queued.said)).collect();
    if let Ok(verdicts) = shared.tell_all(&statements, Timestamp::now()) {
        for (queued, verdict) in queued.iter().zip(verdicts) {
            *lock(&queued.verdict) = Some(Ok(verdict));
        }
        return;
    }
    for (queued, statement) in queued.iter().zip(statements) {
        let told = shared.tell_all(&[statement], Timestamp::now()).map(|verdicts| verdicts[0]);
        *lock(&queued.verdict) = Some(told.map_err(of_store));
    }
}

/// Trials that somebody wants at the moment.
struct Wanted<'a>(&'a AtomicUsize, usize);

impl<'a> Wanted<'a> {
    fn new(all: &'a AtomicUsize, n: usize) -> Self {
        let n = n.min(100_000);
        all.fetch_add(n, Ordering::Relaxed);
        Self(all, n)
    }
}

impl Drop for Wanted<'_> {
    fn drop(&mut self) {
        self.0.fetch_sub(self.1, Ordering::Relaxed);
    }
}
