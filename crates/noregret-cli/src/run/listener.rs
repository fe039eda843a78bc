//! Listening for what others write, on a thread of its own: who decides never waits for the storage.

use std::io;
use std::sync::Arc;
use std::sync::mpsc::{self, Receiver, RecvTimeoutError, Sender};
use std::thread::{self, JoinHandle};
use std::time::{Duration, Instant};

use noregret_store::Store;

/// How long without news until it is time to look all the same: a notice may be lost, and the clocks of others are compared by
/// what was written between two looks.
const LONGEST: Duration = Duration::from_secs(10);
/// How often to look at a storage that tells nobody: at first, and after a while without news.
const LOOKS: (Duration, Duration) = (Duration::from_millis(15), Duration::from_millis(100));
/// The news come late by at most this share of the time without any.
const SHARE: u32 = 20;
/// The pause after an error. Whoever decides looks then, and hears of it.
const PAUSE: Duration = Duration::from_secs(1);

/// A thread that waits for news of one study.
#[derive(Debug)]
pub(super) struct Listener {
    /// Until the end.
    positions: Option<Sender<u64>>,
    thread: Option<JoinHandle<()>>,
    /// The position after which it waits for something, while it does.
    after: Option<u64>,
    /// Whether the storage wakes it: nobody else can, then.
    is_told: bool,
}

impl Listener {
    /// Starts the thread, which reports to `hear`.
    pub(super) fn start(
        store: Arc<dyn Store>,
        study: &str,
        hear: impl Fn() + Send + 'static,
    ) -> io::Result<Self> {
        let (positions, asked) = mpsc::channel();
        let study = study.to_owned();
        let is_told = store.is_told();
        let listen = move || {
            while let Ok(after) = asked.recv() {
                if is_told {
                    if store.wait(&study, after, LONGEST).is_err() {
                        thread::sleep(PAUSE);
                    }
                } else if !look_round(&*store, &study, after, &asked) {
                    return;
                }
                hear();
            }
        };
        let thread = Some(thread::Builder::new().name("listening".into()).spawn(listen)?);
        Ok(Self { positions: Some(positions), thread, after: None, is_told })
    }

    /// Listens for what is written after this position, unless it listens already. There will be an answer, news or not.
    pub(super) fn listen(&mut self, after: u64) {
        let Some(thread) = self.positions.as_ref().filter(|_| self.after.is_none()) else { return };
        self.after = thread.send(after).ok().map(|()| after);
    }

    /// The answer was heard. Returns the position after which it listened.
    pub(super) fn heard(&mut self) -> Option<u64> {
        self.after.take()
    }

    /// Ends the thread and closes its storage, if that is possible at once.
    pub(super) fn end(&mut self) {
        self.positions = None;
        if let Some(thread) = self.thread.take().filter(|_| !self.is_told || self.after.is_none()) {
            let _ = thread.join();
        }
    }
}

/// Looks again and again until there is something, or for a while. Returns `false` at the end of all listening.
#[expect(clippy::disallowed_methods, reason = "it looks for so long")]
fn look_round(store: &dyn Store, study: &str, after: u64, end: &Receiver<u64>) -> bool {
    let begin = Instant::now();
    let mut pause = Duration::ZERO;
    loop {
        match end.recv_timeout(pause) {
            Err(RecvTimeoutError::Disconnected) => return false,
            Ok(_) | Err(RecvTimeoutError::Timeout) => {}
        }
        pause = match store.last(study) {
            Ok(last) if last > after || begin.elapsed() >= LONGEST => return true,
            Ok(_) => (begin.elapsed() / SHARE).clamp(LOOKS.0, LOOKS.1),
            Err(_) if pause == PAUSE => return true,
            Err(_) => PAUSE,
        };
    }
}

#[cfg(test)]
mod tests {
    use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};

    use noregret_store::{Entry, Event, MemoryStore, SqliteStore, StoreError, Timestamp};

    use super::*;

    /// A store that counts how often it is asked for the last position, and may fail to say.
    struct Counted<S> {
        store: S,
        asked: AtomicUsize,
        fails: AtomicBool,
    }

    impl<S: Store> Counted<S> {
        fn new(store: S) -> Arc<Self> {
            store.append("s", 0, &[entry()]).unwrap();
            Arc::new(Self { store, asked: AtomicUsize::new(0), fails: AtomicBool::new(false) })
        }
    }

    impl<S: Store> Store for Counted<S> {
        fn append(&self, study: &str, after: u64, entries: &[Entry]) -> Result<u64, StoreError> {
            self.store.append(study, after, entries)
        }
        fn read(&self, study: &str, after: u64, limit: usize) -> Result<Vec<Entry>, StoreError> {
            self.store.read(study, after, limit)
        }
        fn read_trials(&self, study: &str, numbers: std::ops::Range<u64>) -> Result<Vec<Entry>, StoreError> {
            self.store.read_trials(study, numbers)
        }
        fn studies(&self) -> Result<Vec<(String, u64)>, StoreError> {
            self.store.studies()
        }
        fn last(&self, study: &str) -> Result<u64, StoreError> {
            self.asked.fetch_add(1, Ordering::SeqCst);
            if self.fails.load(Ordering::SeqCst) {
                return Err(StoreError::Read { place: "here".into(), problem: "it is broken".into() });
            }
            self.store.last(study)
        }
        fn wait(&self, study: &str, after: u64, most: Duration) -> Result<(), StoreError> {
            self.store.wait(study, after, most)
        }
        fn is_told(&self) -> bool {
            self.store.is_told()
        }
    }

    fn entry() -> Entry {
        Entry { time: Timestamp(0), event: Event::Renewed { worker: "w".into(), until: Timestamp(0) } }
    }

    /// Somebody writes after a while: returns how long the news took, and how often the store was asked for them.
    #[expect(clippy::disallowed_methods, reason = "it measures how long news take")]
    fn heard(store: impl Store + 'static, quiet: Duration) -> (Duration, usize) {
        let store = Counted::new(store);
        let (news, told) = mpsc::channel();
        let listened: Arc<dyn Store> = Arc::<Counted<_>>::clone(&store);
        let mut listener = Listener::start(listened, "s", move || {
            let _ = news.send(());
        })
        .unwrap();
        listener.listen(1);
        listener.listen(1); // one answer all the same
        assert!(told.recv_timeout(quiet).is_err(), "nothing is new");
        let begin = Instant::now();
        store.append("s", 1, &[entry()]).unwrap();
        told.recv_timeout(LONGEST).unwrap();
        let took = begin.elapsed();
        assert_eq!((listener.heard(), told.try_recv().is_err()), (Some(1), true));
        listener.listen(2);
        let begin = Instant::now();
        listener.end();
        assert!(begin.elapsed() < LONGEST / 4, "it ends at once: {:?}", begin.elapsed());
        (took, store.asked.load(Ordering::SeqCst))
    }

    #[test]
    fn who_is_told_need_not_look() {
        let (took, asked) = heard(MemoryStore::default(), Duration::from_millis(500));
        assert!(took < Duration::from_millis(150), "{took:?}");
        assert_eq!(asked, 0);
    }

    /// A file tells nobody: it is looked at, less and less often.
    #[test]
    fn a_file_is_looked_at_now_and_then() {
        let folder = tempfile::tempdir().unwrap();
        let store = SqliteStore::open(folder.path().join("s.db")).unwrap();
        let (took, asked) = heard(store, Duration::from_secs(2));
        assert!(took < Duration::from_millis(180), "{took:?}");
        // 20 looks until 15 ms are a share of the time, then ever fewer: 55 in two seconds. At a fixed 15 ms it would be 133.
        assert!((10..=70).contains(&asked), "{asked} looks");
    }

    /// Trouble is heard by whoever decides, and not in a storm of messages.
    #[test]
    fn trouble_is_news() {
        let folder = tempfile::tempdir().unwrap();
        let store = Counted::new(SqliteStore::open(folder.path().join("s.db")).unwrap());
        store.fails.store(true, Ordering::SeqCst);
        let (news, told) = mpsc::channel();
        let listened: Arc<dyn Store> = Arc::<Counted<_>>::clone(&store);
        let mut listener = Listener::start(listened, "s", move || {
            let _ = news.send(());
        })
        .unwrap();
        listener.listen(1);
        told.recv_timeout(LONGEST / 2).unwrap();
        assert_eq!(store.asked.load(Ordering::SeqCst), 2, "it looked again after a pause");
        listener.end();
    }
}
