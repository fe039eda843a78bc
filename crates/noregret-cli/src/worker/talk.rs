//! Threads that talk to the server.

use std::collections::VecDeque;
use std::io;
use std::sync::mpsc::{self, Sender};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::thread;
use std::time::Duration;

use noregret_client::api::{Ask, Asked, Fail, Heartbeat, Held, Tell, Told};
use noregret_client::{Client, ClientError, another_key};
use noregret_store::Evaluation;

use super::{Message, RETRY};

/// How long the server waits for a trial before it answers that there is none: shorter than proxies wait for an answer.
const WAIT: Duration = Duration::from_secs(20);
/// How long the client itself tries again before it says that the server cannot be reached.
const PATIENCE: Duration = Duration::from_secs(30);

/// Sends a request until it is answered, and says now and then that it is not.
fn insist<T>(
    sender: &Sender<Message>,
    mut send: impl FnMut() -> Result<T, ClientError>,
) -> Result<T, ClientError> {
    loop {
        match send() {
            Err(error) if error.is_temporary() => {
                if sender.send(Message::Waiting(error.to_string())).is_err() {
                    return Err(error); // nobody is left
                }
                thread::sleep(RETRY);
            }
            other => return other,
        }
    }
}

/// Asks for trials, one request at a time.
pub(super) struct Asker {
    wanted: Sender<usize>,
    is_busy: bool,
}

impl Asker {
    pub(super) fn start(
        client: Client,
        path: &str,
        worker: &str,
        lease: Duration,
        sender: Sender<Message>,
    ) -> io::Result<Self> {
        let (wanted, asked) = mpsc::channel();
        let (path, worker) = (format!("{path}/trials:ask"), worker.to_owned());
        let work = move || {
            for n in asked {
                let body = Ask {
                    n: Some(n),
                    worker: Some(worker.clone()),
                    lease: Some(lease.as_secs_f64()),
                    wait: WAIT.as_secs_f64(),
                    beyond: false,
                };
                // The same name for all attempts: trials whose answer was lost are handed out to us again.
                let key = another_key();
                let found: Result<Asked, ClientError> =
                    insist(&sender, || client.post_waiting(&path, &body, &key, WAIT, PATIENCE));
                if sender.send(Message::Asked(found)).is_err() {
                    return;
                }
            }
        };
        thread::Builder::new().name("asking".into()).spawn(work)?;
        Ok(Self { wanted, is_busy: false })
    }

    pub(super) fn ask(&mut self, n: usize) {
        self.is_busy = self.wanted.send(n).is_ok();
    }

    pub(super) fn heard(&mut self) {
        self.is_busy = false;
    }

    pub(super) fn is_busy(&self) -> bool {
        self.is_busy
    }
}

/// A result on its way to the server.
#[derive(Clone, Debug)]
pub(super) struct Outcome {
    pub(super) number: u64,
    pub(super) evaluation: Evaluation,
    /// Whether a failure may be tried again.
    pub(super) may_retry: bool,
}

/// Tells results, one after the other, until the server has them.
pub(super) struct Teller {
    queue: Arc<Queue>,
}

#[derive(Default)]
struct Queue {
    results: Mutex<VecDeque<Outcome>>,
    news: Condvar,
}

impl Queue {
    fn lock(&self) -> MutexGuard<'_, VecDeque<Outcome>> {
        self.results.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// The first, which stays until it was told.
    fn first(&self) -> Outcome {
        let mut results = self.lock();
        loop {
            if let Some(first) = results.front() {
                return first.clone();
            }
            results = self.news.wait(results).unwrap_or_else(PoisonError::into_inner);
        }
    }
}

impl Teller {
    pub(super) fn start(
        client: Client,
        path: &str,
        worker: &str,
        sender: Sender<Message>,
    ) -> io::Result<Self> {
        let queue = Arc::new(Queue::default());
        let (path, worker, results) = (path.to_owned(), worker.to_owned(), Arc::clone(&queue));
        let work = move || {
            loop {
                let result = results.first();
                let key = another_key();
                let told = insist(&sender, || send(&client, &path, &worker, &result, &key));
                results.lock().pop_front();
                if sender.send(Message::Told(result, told)).is_err() {
                    return;
                }
            }
        };
        thread::Builder::new().name("telling".into()).spawn(work)?;
        Ok(Self { queue })
    }

    pub(super) fn tell(&self, result: Outcome) {
        self.queue.lock().push_back(result);
        self.queue.news.notify_one();
    }

    /// Results that the server does not have.
    pub(super) fn left(&self) -> Vec<(u64, Evaluation)> {
        self.queue.lock().iter().map(|result| (result.number, result.evaluation.clone())).collect()
    }
}

fn send(client: &Client, path: &str, worker: &str, result: &Outcome, key: &str) -> Result<Told, ClientError> {
    let worker = Some(worker.to_owned());
    let path = format!("{path}/trials/{}", result.number);
    match result.evaluation.clone() {
        Evaluation::Value { value, noise_var, attrs, seconds } => {
            let value = Some(value).filter(|value| value.is_finite());
            let body = Tell { value, noise_var, attrs, seconds, worker };
            client.post_waiting(&format!("{path}:tell"), &body, key, Duration::ZERO, PATIENCE)
        }
        Evaluation::Failure { reason, stderr, seconds } => {
            let body = Fail { reason, stderr, seconds, retry: result.may_retry, worker };
            client.post_waiting(&format!("{path}:fail"), &body, key, Duration::ZERO, PATIENCE)
        }
        Evaluation::Retry { reason, stderr, seconds } => {
            let body = Fail { reason, stderr, seconds: Some(seconds), retry: true, worker };
            client.post_waiting(&format!("{path}:fail"), &body, key, Duration::ZERO, PATIENCE)
        }
    }
}

/// Keeps what this worker has its own, for as long as the process lives.
pub(super) fn keep_leases(client: Client, path: &str, worker: &str, lease: Duration) -> io::Result<()> {
    let (path, worker) = (format!("{path}/trials:heartbeat"), worker.to_owned());
    let work = move || {
        loop {
            thread::sleep(lease / 3);
            // If the server is away for longer, trials are handed out again; the first result counts.
            let body = Heartbeat { worker: worker.clone(), lease: lease.as_secs_f64() };
            let _: Result<Held, _> = client.post(&path, &body);
        }
    };
    thread::Builder::new().name("heartbeat".into()).spawn(work)?;
    Ok(())
}
