//! Calls of Python functions from the threads of a computation: constraints.

use std::cell::Cell;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

use noregret::Params;
use pyo3::prelude::*;

use crate::convert::from_params;
use crate::errors::raise;
use crate::interruptible::Attention;

/// Threads that are in Python at the moment, from here.
static INSIDE: AtomicUsize = AtomicUsize::new(0);
/// Whether the interpreter is about to end. A thread that is in Python then does not come back.
static CLOSING: AtomicBool = AtomicBool::new(false);

thread_local! {
    static CALLING: Cell<bool> = const { Cell::new(false) };
}

/// How the functions of one study are called.
#[derive(Clone, Default)]
pub(crate) struct Calls {
    attention: Attention,
    error: Arc<Mutex<Option<PyErr>>>,
}

impl Calls {
    /// Whose patience counts.
    pub(crate) fn attention(&self) -> &Attention {
        &self.attention
    }

    /// Whether a function says yes. After an exception, or when nobody waits any more, nothing that comes of it matters, and the answer
    /// is a quick no.
    pub(crate) fn ask(&self, function: &Py<PyAny>, params: &Params) -> bool {
        if CLOSING.load(Ordering::SeqCst) || self.attention.is_lost() || self.slot(|error| error.is_some()) {
            return false;
        }
        INSIDE.fetch_add(1, Ordering::SeqCst);
        CALLING.set(true);
        let answer = Python::try_attach(|py| {
            let answer = from_params(py, params).and_then(|params| function.bind(py).call1((params,)));
            answer.and_then(|answer| answer.is_truthy()).unwrap_or_else(|error| {
                self.slot(|slot| *slot = Some(error));
                false
            })
        });
        CALLING.set(false);
        INSIDE.fetch_sub(1, Ordering::SeqCst);
        answer.unwrap_or(false)
    }

    /// Forgets what an earlier call has left.
    pub(crate) fn begin(&self) {
        self.slot(|error| *error = None);
    }

    /// The exception of a function, if there was one.
    pub(crate) fn check(&self) -> PyResult<()> {
        self.slot(Option::take).map_or(Ok(()), Err)
    }

    fn slot<T>(&self, look: impl FnOnce(&mut Option<PyErr>) -> T) -> T {
        look(&mut self.error.lock().unwrap_or_else(PoisonError::into_inner))
    }
}

/// An error if this thread is in a function of a study: to wait for the study would be to wait for oneself.
pub(crate) fn refuse_inside() -> PyResult<()> {
    if CALLING.get() {
        let problem = "a constraint must not use a study: it is called while the study computes";
        return Err(raise("InvalidArgument", problem, None));
    }
    Ok(())
}

/// Before the interpreter ends: no calls any more, and those that are under way come back. Not for ever: a function may wait for
/// something that never happens.
#[expect(clippy::disallowed_methods, reason = "a limit to waiting; no result depends on it")]
pub(crate) fn close(py: Python<'_>) {
    CLOSING.store(true, Ordering::SeqCst);
    py.detach(|| {
        let begin = Instant::now();
        while INSIDE.load(Ordering::SeqCst) > 0 && begin.elapsed() < Duration::from_secs(10) {
            std::thread::sleep(Duration::from_millis(1));
        }
    });
}
