//! Panics of a foreign reader as errors: what it asserts of a file is the file's fault, not a bug of ours.

use std::any::Any;
use std::cell::Cell;
use std::panic::{self, AssertUnwindSafe};
use std::sync::Once;

thread_local! {
    /// Whether this thread is in [`caught`], where a panic is no news.
    static IS_QUIET: Cell<bool> = const { Cell::new(false) };
}

/// Calls `read`; if it panics, returns what it said, and prints nothing.
pub(super) fn caught<T>(read: impl FnOnce() -> T) -> Result<T, String> {
    static HOOK: Once = Once::new();
    HOOK.call_once(|| {
        let before = panic::take_hook();
        panic::set_hook(Box::new(move |info| {
            if !IS_QUIET.get() {
                before(info);
            }
        }));
    });
    IS_QUIET.set(true);
    // Whatever `read` was working on is dropped.
    let result = panic::catch_unwind(AssertUnwindSafe(read));
    IS_QUIET.set(false);
    result.map_err(|payload| words(&*payload))
}

fn words(payload: &(dyn Any + Send)) -> String {
    let text = payload
        .downcast_ref::<&str>()
        .copied()
        .or_else(|| payload.downcast_ref::<String>().map(String::as_str));
    text.unwrap_or("it cannot be read").to_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn panics_are_errors_with_their_words() {
        assert_eq!(caught(|| 3), Ok(3));
        assert_eq!(caught(|| panic!("no {}", "page")), Err::<(), _>("no page".into()));
        assert_eq!(caught(|| panic!("cut off")), Err::<(), _>("cut off".into()));
        assert!(panic::catch_unwind(|| panic!("heard again")).is_err());
        assert!(!IS_QUIET.get());
    }
}
