//! Who waits for something new is woken by the database (`LISTEN`), and need not ask again and again.

use std::collections::HashMap;
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError, Weak};
use std::thread;
use std::time::Duration;

use fallible_iterator::FallibleIterator;
use postgres::error::SqlState;

use super::address::PostgresUrl;
use super::pool::Trouble;
use crate::clock::Stopwatch;

/// How often the listening thread looks whether anybody is left who could wait.
const LOOK_ROUND: Duration = Duration::from_secs(1);
/// How long to wait before listening again, after the connection broke. Those who wait ask meanwhile.
const PAUSE: Duration = Duration::from_millis(500);
/// The same where connections are scarce.
const LONG_PAUSE: Duration = Duration::from_mins(1);
/// How often to ask while nobody listens: soon at first, for another process thinks for milliseconds, and ever more seldom.
const ASK: [Duration; 2] = [Duration::from_millis(5), Duration::from_millis(100)];
/// Whether more than half of the server's connections are in use. A process listens by one of its own, and many processes that
/// did would leave none to write by.
const ARE_SCARCE: &str =
    "SELECT 2 * count(datid) > current_setting('max_connections')::bigint FROM pg_stat_activity";

/// What was heard so far.
#[derive(Default)]
pub(super) struct Wakeups {
    heard: Mutex<Heard>,
    news: Condvar,
}

#[derive(Default)]
struct Heard {
    /// The last position of each study, by its number.
    last: HashMap<i64, u64>,
    /// Numbers of studies whose last position was looked up since listening began: from then on, all is heard.
    looked_up: HashMap<String, i64>,
    /// How often listening has begun.
    begun: u64,
    /// Whether the database is being listened to.
    listening: bool,
    /// Whether the last attempt to do so has failed.
    failed: bool,
    /// Whether a thread listens, or tries to.
    started: bool,
}

impl Wakeups {
    fn lock(&self) -> MutexGuard<'_, Heard> {
        self.heard.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Listens from now on; returns when it does, or after a while if it cannot.
    pub(super) fn listen(self: &Arc<Self>, url: &PostgresUrl) {
        let mut heard = self.lock();
        if !heard.started {
            heard.started = true;
            let (weak, url) = (Arc::downgrade(self), url.clone());
            // Without a thread those who wait ask now and then.
            let _ = thread::Builder::new().name("noregret-listen".into()).spawn(move || listen(&weak, &url));
        }
        let begin = Stopwatch::start();
        while !heard.listening && !heard.failed && begin.elapsed() < PAUSE {
            heard = self.news.wait_timeout(heard, PAUSE).unwrap_or_else(PoisonError::into_inner).0;
        }
    }

    /// To be handed to [`Self::looked_up`]: listening must not have begun anew in between.
    pub(super) fn begun(&self) -> u64 {
        self.lock().begun
    }

    /// The database said that this is the number of a study, and this its last position.
    pub(super) fn looked_up(&self, begun: u64, study: &str, number: i64, last: u64) {
        let mut heard = self.lock();
        if heard.listening && heard.begun == begun {
            heard.looked_up.insert(study.to_owned(), number);
            heard.now_at(number, last);
        }
    }

    /// Waits a moment if nobody listens: then whoever waits, for so long by now, must ask.
    pub(super) fn pause(&self, waited: Duration, most: Duration) {
        if !self.lock().listening {
            thread::sleep((waited / 2).clamp(ASK[0], ASK[1]).min(most));
        }
    }

    /// Waits until this study is known to have gone beyond `after`, for at most so long. The database is not asked.
    pub(super) fn wait(&self, study: &str, after: u64, most: Duration) -> Waited {
        let begin = Stopwatch::start();
        let mut heard = self.lock();
        loop {
            let Some(number) = heard.looked_up.get(study).filter(|_| heard.listening) else {
                return Waited::Deaf;
            };
            if heard.last.get(number).is_some_and(|last| *last > after) {
                return Waited::News;
            }
            let Some(left) = most.checked_sub(begin.elapsed()).filter(|left| !left.is_zero()) else {
                return Waited::Long;
            };
            heard = self.news.wait_timeout(heard, left).unwrap_or_else(PoisonError::into_inner).0;
        }
    }
}

/// How waiting has ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Waited {
    /// There is something new.
    News,
    /// The time is over.
    Long,
    /// Nobody listens, or the study was not looked up since: ask.
    Deaf,
}

impl Heard {
    fn now_at(&mut self, number: i64, last: u64) {
        let newest = self.last.entry(number).or_default();
        *newest = last.max(*newest);
    }
}

/// What the thread does, until nobody is left.
fn listen(wakeups: &Weak<Wakeups>, url: &PostgresUrl) {
    while wakeups.strong_count() > 0 {
        // Whatever goes wrong, those who wait notice that nobody listens, and ask.
        let ended = listen_once(wakeups, url);
        if let Some(wakeups) = wakeups.upgrade() {
            let mut heard = wakeups.lock();
            (heard.listening, heard.failed) = (false, true);
            wakeups.news.notify_all();
        }
        thread::sleep(if are_scarce(&ended) { LONG_PAUSE } else { PAUSE });
    }
}

/// Whether others need the connection more.
fn are_scarce(ended: &Result<End, Trouble>) -> bool {
    match ended {
        Ok(end) => *end == End::Scarce,
        Err(Trouble::Postgres(error)) => error.code() == Some(&SqlState::TOO_MANY_CONNECTIONS),
        Err(_) => false,
    }
}

/// Why listening has ended.
#[derive(PartialEq, Eq)]
enum End {
    /// The connection is closed, or nobody is left who could wait.
    Closed,
    /// Others need the connection more.
    Scarce,
}

fn listen_once(wakeups: &Weak<Wakeups>, url: &PostgresUrl) -> Result<End, Trouble> {
    let mut client = url.connect()?;
    if client.query_one(ARE_SCARCE, &[])?.get(0) {
        return Ok(End::Scarce);
    }
    client.batch_execute(&format!("LISTEN {}", super::CHANNEL))?;
    let mut is_first = true;
    loop {
        let heard = if is_first { None } else { client.notifications().timeout_iter(LOOK_ROUND).next()? };
        if heard.is_none() && client.is_closed() {
            return Ok(End::Closed);
        }
        let Some(wakeups) = wakeups.upgrade() else { return Ok(End::Closed) };
        {
            let mut known = wakeups.lock();
            if is_first {
                (known.listening, known.failed) = (true, false);
                known.begun += 1;
                // What was written while nobody listened was not heard.
                known.looked_up.clear();
            }
            let said = heard.as_ref().and_then(|said| said.payload().split_once(' '));
            if let Some((Ok(study), Ok(last))) =
                said.map(|(study, last)| (study.parse(), last.parse::<u64>()))
            {
                known.now_at(study, last);
            }
        }
        if is_first || heard.is_some() {
            wakeups.news.notify_all();
        }
        is_first = false;
    }
}
