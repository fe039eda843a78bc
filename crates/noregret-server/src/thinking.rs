//! How much is thought at once: models take all processors, and more of them at a time would only be slower.

use std::sync::{Condvar, Mutex, PoisonError};

use noregret_client::api::Problem;

use crate::problem::busy;

/// Those who think, and those who wait for their turn.
#[derive(Debug)]
pub(crate) struct Thinkers {
    most: usize,
    /// How many may wait.
    queue: usize,
    state: Mutex<State>,
    free: Condvar,
}

#[derive(Debug, Default)]
struct State {
    thinking: usize,
    waiting: usize,
}

/// The right to think, until it is dropped.
#[derive(Debug)]
pub(crate) struct Turn<'a>(&'a Thinkers);

impl Thinkers {
    pub(crate) fn new(most: usize, queue: usize) -> Self {
        Self { most: most.max(1), queue, state: Mutex::default(), free: Condvar::new() }
    }

    /// Waits for a turn; refuses if too many wait already.
    pub(crate) fn turn(&self) -> Result<Turn<'_>, Problem> {
        let mut state = self.state.lock().unwrap_or_else(PoisonError::into_inner);
        if state.thinking >= self.most {
            if state.waiting >= self.queue {
                return Err(busy("the server thinks about as many studies as it can: come again"));
            }
            state.waiting += 1;
            state = self
                .free
                .wait_while(state, |state| state.thinking >= self.most)
                .unwrap_or_else(PoisonError::into_inner);
            state.waiting -= 1;
        }
        state.thinking += 1;
        Ok(Turn(self))
    }

    /// How many think, and how many wait.
    pub(crate) fn counts(&self) -> (usize, usize) {
        let state = self.state.lock().unwrap_or_else(PoisonError::into_inner);
        (state.thinking, state.waiting)
    }
}

impl Drop for Turn<'_> {
    fn drop(&mut self) {
        self.0.state.lock().unwrap_or_else(PoisonError::into_inner).thinking -= 1;
        self.0.free.notify_one();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn who_comes_when_it_is_full_is_sent_away() {
        let thinkers = Thinkers::new(1, 0);
        let turn = thinkers.turn().unwrap();
        assert_eq!(thinkers.turn().unwrap_err().status, 503);
        drop(turn);
        assert!(thinkers.turn().is_ok());
    }
}
