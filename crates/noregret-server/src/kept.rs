//! Answers that are kept: what many people look at is thought of once.

use std::collections::BTreeMap;
use std::fmt;
use std::sync::{Arc, Mutex, MutexGuard, OnceLock, PoisonError};
use std::time::{Duration, Instant};

use noregret_client::api::Problem;

use crate::packing::packed;

/// Answers that are kept at most, and their bytes; beyond, those that nobody has wanted for longest are forgotten.
const MOST: usize = 1_000;
const MOST_BYTES: usize = 64 << 20;
/// An answer that took so long to think of serves for so many times as long, whatever happens meanwhile: looking may take this share of the
/// server's time and no more ...
const REST: u32 = 20;
/// ... and never longer than this.
const LONGEST: Duration = Duration::from_mins(1);

/// An answer's bytes, compressed once.
pub struct Kept {
    plain: Vec<u8>,
    packed: OnceLock<Vec<u8>>,
}

impl fmt::Debug for Kept {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Kept").field("bytes", &self.plain.len()).finish_non_exhaustive()
    }
}

impl Kept {
    /// The bytes.
    pub fn plain(&self) -> &[u8] {
        &self.plain
    }

    /// The bytes as gzip has them.
    pub fn packed(&self) -> &[u8] {
        self.packed.get_or_init(|| packed(&self.plain))
    }
}

/// Answers by the study and the question.
#[derive(Default)]
pub(crate) struct Answers {
    known: Mutex<Known>,
}

#[derive(Default)]
struct Known {
    places: BTreeMap<(String, String), Place>,
    bytes: usize,
    uses: u64,
}

#[derive(Default)]
struct Place {
    /// Locked while somebody thinks of the answer: others wait, and get the same.
    answer: Arc<Mutex<Option<Made>>>,
    last_use: u64,
    bytes: usize,
}

/// An answer, and what it is worth.
struct Made {
    kept: Arc<Kept>,
    position: u64,
    at: Instant,
    took: Duration,
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

impl Answers {
    /// The answer to a question about a study that has come to a position: the one that is kept, or what `think` makes. `may_rest`: whether
    /// an older one will do for a while, if it took long.
    #[expect(clippy::disallowed_methods, reason = "what takes long serves long")]
    pub(crate) fn get(
        &self,
        study: &str,
        question: &str,
        position: u64,
        may_rest: bool,
        think: impl FnOnce() -> Result<Vec<u8>, Problem>,
    ) -> Result<Arc<Kept>, Problem> {
        let key = (study.to_owned(), question.to_owned());
        let answer = {
            let mut known = lock(&self.known);
            known.uses += 1;
            let uses = known.uses;
            let place = known.places.entry(key.clone()).or_default();
            place.last_use = uses;
            Arc::clone(&place.answer)
        };
        let mut answer = lock(&answer);
        let begin = Instant::now();
        let is_good = |made: &&Made| {
            let rest = (made.took * REST).min(LONGEST);
            made.position == position || (may_rest && begin.duration_since(made.at) < rest)
        };
        if let Some(made) = answer.as_ref().filter(is_good) {
            return Ok(Arc::clone(&made.kept));
        }
        let kept = Arc::new(Kept { plain: think()?, packed: OnceLock::new() });
        let at = Instant::now();
        *answer = Some(Made { kept: Arc::clone(&kept), position, at, took: at.duration_since(begin) });
        self.count(&key, kept.plain.len());
        Ok(kept)
    }

    fn count(&self, key: &(String, String), bytes: usize) {
        let mut known = lock(&self.known);
        let Known { places, bytes: all, .. } = &mut *known;
        if let Some(place) = places.get_mut(key) {
            *all = (*all - place.bytes) + bytes;
            place.bytes = bytes;
        }
        while places.len() > MOST || (*all > MOST_BYTES && places.len() > 1) {
            let oldest = places.iter().min_by_key(|(_, place)| place.last_use).map(|(key, _)| key.clone());
            let Some(place) = oldest.and_then(|oldest| places.remove(&oldest)) else { return };
            *all -= place.bytes;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_answer_is_thought_of_once() {
        let answers = Answers::default();
        let ask = |position, may_rest, text: &str| {
            let kept = answers.get("s", "q", position, may_rest, || Ok(text.as_bytes().to_vec())).unwrap();
            String::from_utf8(kept.plain().to_vec()).unwrap()
        };
        assert_eq!(ask(1, false, "first"), "first");
        assert_eq!(ask(1, false, "again"), "first");
        assert_eq!(ask(2, false, "second"), "second");
        let other = answers.get("t", "q", 2, false, || Ok(b"other".to_vec())).unwrap();
        assert_eq!(other.plain(), b"other");
    }

    #[test]
    fn what_took_long_serves_long() {
        let answers = Answers::default();
        let slow = || {
            std::thread::sleep(Duration::from_millis(200));
            Ok(b"slow".to_vec())
        };
        answers.get("s", "q", 1, true, slow).unwrap();
        let kept = answers.get("s", "q", 2, true, || Ok(b"new".to_vec())).unwrap();
        assert_eq!(kept.plain(), b"slow");
        let kept = answers.get("s", "q", 2, false, || Ok(b"new".to_vec())).unwrap();
        assert_eq!(kept.plain(), b"new");
    }

    #[test]
    fn what_fails_is_tried_again_and_what_is_too_much_is_forgotten() {
        let answers = Answers::default();
        assert!(answers.get("s", "q", 1, true, || Err(Problem::new(500, "x", "y"))).is_err());
        for i in 0..5 {
            let large = || Ok(vec![0; MOST_BYTES / 3]);
            answers.get("s", &i.to_string(), 1, true, large).unwrap();
        }
        let known = lock(&answers.known);
        assert!(known.bytes <= MOST_BYTES && known.places.len() == 3, "{}", known.places.len());
        assert!(known.places.contains_key(&("s".into(), "4".into())));
    }
}
