//! Computing while the interpreter goes on: other Python threads run, and Ctrl-C is answered.

use std::sync::mpsc::{self, RecvTimeoutError};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError, TryLockError};
use std::time::Duration;

use pyo3::prelude::*;

use crate::errors;

/// How often signals are looked for.
const PULSE: Duration = Duration::from_millis(50);
/// How often a lock that somebody holds is tried again.
const NAP: Duration = Duration::from_millis(1);

/// Runs `work` on a thread of its own, once it has the lock, without that of the interpreter. When a signal handler raises (Ctrl-C
/// does), its exception is returned at once, after `give_up`; `work` goes on to its end unheard.
pub(crate) fn think<S: Send + 'static, T: Send + 'static>(
    py: Python<'_>,
    state: &Arc<Mutex<S>>,
    give_up: impl FnOnce(),
    work: impl FnOnce(&mut S) -> T + Send + 'static,
) -> PyResult<T> {
    let (pool, state) = (pool()?, Arc::clone(state));
    let (sender, mut receiver) = mpsc::sync_channel(1);
    let run = move || {
        // The lock is taken outside of the pool: its threads pick up other work while they wait within some, and must
        // not come upon a lock there.
        let mut state = state.lock().unwrap_or_else(PoisonError::into_inner);
        let result = {
            let state = &mut *state;
            pool.install(|| work(state))
        };
        drop(state);
        drop(sender.send(result));
    };
    std::thread::Builder::new().name("noregret".into()).spawn(run).map_err(errors::internal)?;
    loop {
        let receiver = &mut receiver;
        match py.detach(move || receiver.recv_timeout(PULSE)) {
            Ok(result) => return Ok(result),
            Err(RecvTimeoutError::Disconnected) => return Err(errors::internal("a computation panicked")),
            Err(RecvTimeoutError::Timeout) => {
                if let Err(signal) = py.check_signals() {
                    give_up();
                    return Err(signal);
                }
            }
        }
    }
}

/// Takes the lock, or the exception of a signal that comes while somebody else holds it.
pub(crate) fn lock<'a, T: Send>(py: Python<'_>, mutex: &'a Mutex<T>) -> PyResult<MutexGuard<'a, T>> {
    loop {
        match mutex.try_lock() {
            Ok(guard) => return Ok(guard),
            Err(TryLockError::Poisoned(poisoned)) => return Ok(poisoned.into_inner()),
            Err(TryLockError::WouldBlock) => py.detach(|| std::thread::sleep(NAP)),
        }
        py.check_signals()?;
    }
}

/// The threads of this process. Those of a parent do not survive a fork, and to wait for them would be to wait for ever:
/// a child has its own.
fn pool() -> PyResult<Arc<rayon::ThreadPool>> {
    static POOL: Mutex<Option<(u32, Arc<rayon::ThreadPool>)>> = Mutex::new(None);
    let process = std::process::id();
    let mut known = POOL.lock().unwrap_or_else(PoisonError::into_inner);
    match &*known {
        Some((owner, pool)) if *owner == process => Ok(Arc::clone(pool)),
        _ => {
            let pool = Arc::new(rayon::ThreadPoolBuilder::new().build().map_err(errors::internal)?);
            if let Some(orphaned) = known.replace((process, Arc::clone(&pool))) {
                std::mem::forget(orphaned); // its threads are in another process
            }
            Ok(pool)
        }
    }
}
