//! Browsers that have shown a token: each has a cookie of its own, which is worth as much as the token for as long as that is worth something.

use std::collections::BTreeMap;
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use noregret_client::random_digits;

use crate::digest;

/// How the name of the cookie begins. What follows is the port: browsers keep one set of cookies for all servers of a machine.
const NAME: &str = "noregret_session";
/// A session that nobody uses ends after this.
const IDLE: Duration = Duration::from_hours(7 * 24);
/// Sessions at once; beyond, the one that nobody has used for longest ends.
const MOST: usize = 10_000;

/// Sessions, by the digests of their secrets.
#[derive(Debug, Default)]
pub(crate) struct Sessions {
    open: Mutex<BTreeMap<String, Session>>,
}

#[derive(Debug)]
struct Session {
    /// The public part of the token.
    token: String,
    last_use: Instant,
}

impl Sessions {
    fn open(&self) -> MutexGuard<'_, BTreeMap<String, Session>> {
        self.open.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Begins a session with a token; returns its secret.
    pub(crate) fn begin(&self, token: &str, now: Instant) -> String {
        let secret = random_digits(32);
        let mut open = self.open();
        open.retain(|_, session| now.duration_since(session.last_use) < IDLE);
        if open.len() >= MOST {
            let oldest = open.iter().min_by_key(|(_, session)| session.last_use).map(|(key, _)| key.clone());
            oldest.and_then(|oldest| open.remove(&oldest));
        }
        let session = Session { token: token.to_owned(), last_use: now };
        open.insert(digest::hex(secret.as_bytes()), session);
        secret
    }

    /// The public part of the token of a session, if there is one with this secret.
    pub(crate) fn token(&self, secret: &str, now: Instant) -> Option<String> {
        let key = digest::hex(secret.as_bytes());
        let mut open = self.open();
        let session = open.get_mut(&key)?;
        if now.duration_since(session.last_use) >= IDLE {
            open.remove(&key);
            return None;
        }
        session.last_use = now;
        Some(session.token.clone())
    }

    /// Ends a session.
    pub(crate) fn end(&self, secret: &str) {
        self.open().remove(&digest::hex(secret.as_bytes()));
    }
}

/// The name of the cookie of a server at this port.
pub(crate) fn cookie_name(port: Option<u16>) -> String {
    port.map_or_else(|| NAME.to_owned(), |port| format!("{NAME}_{port}"))
}

/// The value of a cookie in the header of this name.
pub(crate) fn cookie<'a>(header: &'a str, name: &str) -> Option<&'a str> {
    header.split(';').find_map(|pair| {
        let (found, value) = pair.trim().split_once('=')?;
        (found == name).then_some(value)
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    #[expect(clippy::disallowed_methods, reason = "only differences matter")]
    fn sessions_begin_and_end() {
        let sessions = Sessions::default();
        let now = Instant::now();
        let secret = sessions.begin("abcd", now);
        assert_eq!((secret.len(), sessions.token(&secret, now).as_deref()), (64, Some("abcd")));
        assert_eq!(sessions.token("", now), None);
        let other = sessions.begin("abcd", now);
        sessions.end(&secret);
        assert_eq!((sessions.token(&secret, now), sessions.token(&other, now).is_some()), (None, true));
        assert_eq!(sessions.token(&other, now + IDLE), None);
    }

    #[test]
    fn cookies_are_found_among_others() {
        let header = "theme=dark; noregret_session_80=1234;x=";
        assert_eq!(cookie(header, "noregret_session_80"), Some("1234"));
        assert_eq!(cookie(header, "noregret_session"), None);
        assert_eq!(cookie(header, "x"), Some(""));
    }
}
