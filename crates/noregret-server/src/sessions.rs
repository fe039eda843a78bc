//! Browsers that have shown a token: each has a cookie of its own, which is worth as much as the token for as long as that is worth something.
//!
//! Those of lasting tokens are kept in a file, as digests, so that pages which are open go on after the server was started again.

use std::collections::BTreeMap;
use std::fs;
use std::path::PathBuf;
use std::sync::{Mutex, MutexGuard, OnceLock, PoisonError};
use std::time::Duration;

use noregret_client::random_digits;
use noregret_store::Timestamp;
use serde::{Deserialize, Serialize};

use crate::digest;
use crate::token_file;

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
    file: OnceLock<PathBuf>,
}

#[derive(Clone, Debug, Serialize, Deserialize)]
struct Session {
    /// The public part of the token.
    token: String,
    last_use: Timestamp,
    /// Whether the token outlives the server.
    #[serde(skip, default = "yes")]
    lasts: bool,
}

fn yes() -> bool {
    true
}

impl Sessions {
    fn open(&self) -> MutexGuard<'_, BTreeMap<String, Session>> {
        self.open.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Goes on with the sessions of this file, and keeps them there. What cannot be read is as good as none: people log in again.
    pub(crate) fn keep_in(&self, file: PathBuf) {
        let known = fs::read(&file).ok().and_then(|text| serde_json::from_slice(&text).ok());
        let known: BTreeMap<String, Session> = known.unwrap_or_default();
        self.open().extend(known);
        let _ = self.file.set(file);
    }

    /// Writes down those that last; nothing depends on it.
    fn save(&self, open: &BTreeMap<String, Session>) {
        let Some(file) = self.file.get() else { return };
        let lasting: BTreeMap<&String, &Session> = open.iter().filter(|(_, session)| session.lasts).collect();
        if lasting.is_empty() && !file.exists() {
            return;
        }
        if let Err(error) = token_file::replace(file, &lasting) {
            tracing::warn!("sessions will end with the server: {}: {error}", file.display());
        }
    }

    /// Begins a session with a token; returns its secret. `lasts`: whether the token outlives the server.
    pub(crate) fn begin(&self, token: &str, lasts: bool, now: Timestamp) -> String {
        let secret = random_digits(32);
        let mut open = self.open();
        open.retain(|_, session| now.since(session.last_use) < IDLE);
        if open.len() >= MOST {
            let oldest = open.iter().min_by_key(|(_, session)| session.last_use).map(|(key, _)| key.clone());
            oldest.and_then(|oldest| open.remove(&oldest));
        }
        let session = Session { token: token.to_owned(), last_use: now, lasts };
        open.insert(digest::hex(secret.as_bytes()), session);
        self.save(&open);
        secret
    }

    /// The public part of the token of a session, if there is one with this secret.
    pub(crate) fn token(&self, secret: &str, now: Timestamp) -> Option<String> {
        let key = digest::hex(secret.as_bytes());
        let mut open = self.open();
        let session = open.get_mut(&key)?;
        if now.since(session.last_use) >= IDLE {
            open.remove(&key);
            return None;
        }
        session.last_use = now;
        Some(session.token.clone())
    }

    /// Ends a session.
    pub(crate) fn end(&self, secret: &str) {
        let mut open = self.open();
        if open.remove(&digest::hex(secret.as_bytes())).is_some() {
            self.save(&open);
        }
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
    fn sessions_begin_and_end() {
        let sessions = Sessions::default();
        let now = Timestamp(1_000);
        let secret = sessions.begin("abcd", true, now);
        assert_eq!((secret.len(), sessions.token(&secret, now).as_deref()), (64, Some("abcd")));
        assert_eq!(sessions.token("", now), None);
        let other = sessions.begin("abcd", true, now);
        sessions.end(&secret);
        assert_eq!((sessions.token(&secret, now), sessions.token(&other, now).is_some()), (None, true));
        assert_eq!(sessions.token(&other, now.after(IDLE)), None);
    }

    /// Those of a token that ends with the server end with it; of the others a file has digests.
    #[test]
    fn sessions_go_on_with_another_server() {
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("sessions.json");
        let (first, second) = (Sessions::default(), Sessions::default());
        let now = Timestamp(1_000);
        first.keep_in(file.clone());
        let short = first.begin("once", false, now);
        assert!(!file.exists());
        let (kept, ended) = (first.begin("abcd", true, now), first.begin("abcd", true, now));
        first.end(&ended);
        let text = fs::read_to_string(&file).unwrap();
        assert!(!text.contains(&kept) && !text.contains("once"), "{text}");
        second.keep_in(file.clone());
        assert_eq!(second.token(&kept, now).as_deref(), Some("abcd"));
        assert_eq!((second.token(&short, now), second.token(&ended, now)), (None, None));
        fs::write(&file, "nonsense").unwrap();
        let third = Sessions::default();
        third.keep_in(file);
        assert_eq!(third.token(&kept, now), None);
    }

    #[test]
    fn cookies_are_found_among_others() {
        let header = "theme=dark; noregret_session_80=1234;x=";
        assert_eq!(cookie(header, "noregret_session_80"), Some("1234"));
        assert_eq!(cookie(header, "noregret_session"), None);
        assert_eq!(cookie(header, "x"), Some(""));
    }
}
