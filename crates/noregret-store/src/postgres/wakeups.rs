//! Who waits for something new is woken by the database (`LISTEN`), and need not ask again and again.

use std::collections::HashMap;
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError, Weak};
use std::thread;
use std::time::Duration;

use fallible_iterator::FallibleIterator;

use super::address::PostgresUrl;
use crate::clock::Stopwatch;

/// How often the listening thread looks whether anybody is left who could wait.
const LOOK_ROUND: Duration = Duration::from_secs(1);
/// How long to wait before listening again, after the connection broke. Those who wait ask meanwhile.
const PAUSE: Duration = Duration::from_millis(500);
/// The same where connections are scarce.
const LONG_PAUSE: Duration = Duration::from_mins(1);
/// How often to ask while nobody listens.
const ASK: Duration = Duration::from_millis(100);
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

    /// Waits until this study is known to have gone beyond `after`, or the connection breaks, or for this long.
    pub(super) fn wait(&self, study: i64, after: u64, most: Duration) {
        let begin = Stopwatch::start();
        let mut heard = self.lock();
        while heard.listening && heard.last.get(&study).is_none_or(|last| *last <= after) {
            let Some(left) = most.checked_sub(begin.elapsed()).filter(|left| !left.is_zero()) else { return };
            heard = self.news.wait_timeout(heard, left).unwrap_or_else(PoisonError::into_inner).0;
        }
        let broken = !heard.listening;
        drop(heard);
        if broken {
            thread::sleep(ASK.min(most.saturating_sub(begin.elapsed())));
        }
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
        thread::sleep(if matches!(ended, Ok(End::Scarce)) { LONG_PAUSE } else { PAUSE });
    }
}

/// Why listening has ended.
enum End {
    /// The connection is closed, or nobody is left who could wait.
    Closed,
    /// Others need the connection more.
    Scarce,
}

fn listen_once(wakeups: &Weak<Wakeups>, url: &PostgresUrl) -> Result<End, super::Trouble> {
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
            (known.listening, known.failed) = (true, false);
            let said = heard.as_ref().and_then(|said| said.payload().split_once(' '));
            if let Some((Ok(study), Ok(last))) =
                said.map(|(study, last)| (study.parse(), last.parse::<u64>()))
            {
                let newest = known.last.entry(study).or_default();
                *newest = last.max(*newest);
            }
        }
        if is_first || heard.is_some() {
            wakeups.news.notify_all();
        }
        is_first = false;
    }
}
