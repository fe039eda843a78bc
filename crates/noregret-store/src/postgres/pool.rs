//! Connections that are kept for the next call, and what is done when one breaks.

use std::collections::HashMap;
use std::sync::{Condvar, Mutex, MutexGuard, PoisonError};
use std::thread;
use std::time::Duration;

use postgres::error::SqlState;
use postgres::{Client, Statement};

use super::address::PostgresUrl;
use super::schema::KNOWN;
use crate::StoreError;
use crate::clock::Stopwatch;
use crate::error::explained;

/// Connections of one process at most: a server has a hundred for all.
const MOST: usize = 8;
/// Connections that are kept while nobody uses them: one, so that sixty processes leave some for others.
const KEPT: usize = 1;
/// How long a call tries again before it gives up: longer than a server takes to restart, and no longer than a person waits. `run` goes on
/// trying by itself.
pub(super) const PATIENCE: Duration = Duration::from_secs(10);
/// The same for the first call: a server that is just starting, rather than an address that is wrong.
pub(super) const FIRST_PATIENCE: Duration = Duration::from_secs(3);
/// The first pause before trying again; each is twice the one before, up to the longest.
const PAUSE: (Duration, Duration) = (Duration::from_millis(20), Duration::from_secs(2));
/// Settings of every connection: no call of ours takes longer than this, unless something is stuck.
const SETTINGS: &str = "SET statement_timeout = '60s'; SET lock_timeout = '30s'; \
     SET idle_in_transaction_session_timeout = '60s'; SET search_path = pg_catalog";

/// What goes wrong inside a call.
#[derive(Debug)]
pub(super) enum Trouble {
    /// The server, or the way to it.
    Postgres(postgres::Error),
    /// The tables are of a newer noregret.
    Newer(i64),
    /// Anything else, in words.
    Other(String),
}

impl From<postgres::Error> for Trouble {
    fn from(error: postgres::Error) -> Self {
        Self::Postgres(error)
    }
}

impl Trouble {
    /// Whether the same call may succeed if it is made again.
    fn is_passing(&self) -> bool {
        let Self::Postgres(error) = self else { return false };
        let Some(code) = error.code() else {
            // No answer of the server: the connection broke, or there is none. What cannot be sent will never be.
            return error.is_closed() || is_of_the_network(error);
        };
        let class = &code.code()[..2];
        // Connection trouble, no resources left, an operator's intervention, conflicts between transactions.
        matches!(class, "08" | "53" | "57" | "58") && *code != SqlState::QUERY_CANCELED
            || matches!(*code, SqlState::T_R_SERIALIZATION_FAILURE | SqlState::T_R_DEADLOCK_DETECTED)
            || *code == SqlState::LOCK_NOT_AVAILABLE
    }

    /// What it means to somebody who does not know PostgreSQL's codes.
    fn explained(&self) -> String {
        let Self::Postgres(error) = self else {
            return match self {
                Self::Other(problem) => problem.clone(),
                _ => String::new(),
            };
        };
        let meaning = match error.code() {
            Some(code) if *code == SqlState::INVALID_CATALOG_NAME => {
                "there is no such database; `createdb` makes one"
            }
            Some(code) if *code == SqlState::INVALID_PASSWORD => "the password is wrong",
            Some(code) if *code == SqlState::INVALID_AUTHORIZATION_SPECIFICATION => {
                "this user may not connect from here"
            }
            Some(code) if *code == SqlState::INSUFFICIENT_PRIVILEGE => {
                "this user lacks rights; to make the tables it needs CREATE on the database"
            }
            Some(code) if *code == SqlState::TOO_MANY_CONNECTIONS => "the server has no connections left",
            Some(code) if *code == SqlState::DISK_FULL => "the disk of the server is full",
            Some(code) if *code == SqlState::READ_ONLY_SQL_TRANSACTION => {
                "the server only reads: it is a standby, or was made read-only"
            }
            _ => return explained(error),
        };
        format!("{meaning} ({})", explained(error))
    }

    /// As an error of the storage, where `kind` is for what neither the tables nor the schema explain.
    pub(super) fn into_error(self, place: &str, kind: fn(String, String) -> StoreError) -> StoreError {
        match self {
            Self::Newer(found) => StoreError::Newer { place: place.into(), found, known: KNOWN },
            other => kind(place.into(), other.explained()),
        }
    }
}

/// Whether the cause of an error is a connection that failed.
fn is_of_the_network(error: &postgres::Error) -> bool {
    let mut cause = std::error::Error::source(error);
    while let Some(error) = cause {
        if let Some(error) = error.downcast_ref::<std::io::Error>() {
            // What cannot be understood, certificates among it, will not be the next time.
            return error.kind() != std::io::ErrorKind::InvalidData;
        }
        cause = error.source();
    }
    false
}

/// A connection with its prepared statements, so that a call is one round trip.
pub(super) struct Connection {
    pub(super) client: Client,
    statements: HashMap<&'static str, Statement>,
}

impl Connection {
    fn new(url: &PostgresUrl) -> Result<Self, Trouble> {
        let mut client = url.connect()?;
        client.batch_execute(SETTINGS)?;
        Ok(Self { client, statements: HashMap::new() })
    }

    /// The statement, prepared when it is first used.
    pub(super) fn prepared(&mut self, sql: &'static str) -> Result<Statement, postgres::Error> {
        if let Some(known) = self.statements.get(sql) {
            return Ok(known.clone());
        }
        let statement = self.client.prepare(sql)?;
        self.statements.insert(sql, statement.clone());
        Ok(statement)
    }
}

/// The connections of a process to one database.
pub(super) struct Pool {
    url: PostgresUrl,
    kept: Mutex<Kept>,
    /// Somebody has given a connection back.
    freed: Condvar,
}

#[derive(Default)]
struct Kept {
    idle: Vec<Connection>,
    /// Those that are in use.
    lent: usize,
}

impl Pool {
    pub(super) fn new(url: PostgresUrl) -> Self {
        Self { url, kept: Mutex::default(), freed: Condvar::new() }
    }

    pub(super) fn url(&self) -> &PostgresUrl {
        &self.url
    }

    fn lock(&self) -> MutexGuard<'_, Kept> {
        self.kept.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Does some work with a connection. If the connection breaks, or the server says that trying again may help, the work is done
    /// again with another one, until patience ends. `work` is told whether it is a further attempt: what the one before
    /// wrote may be there.
    pub(super) fn with<T>(
        &self,
        patience: Duration,
        mut work: impl FnMut(&mut Connection, bool) -> Result<T, Trouble>,
    ) -> Result<T, Trouble> {
        let begin = Stopwatch::start();
        let mut pause = PAUSE.0;
        let mut again = false;
        loop {
            let trouble =
                match self.borrow().and_then(|mut lent| lent.work(|connection| work(connection, again))) {
                    Err(trouble) if trouble.is_passing() => trouble,
                    done => return done,
                };
            // What is idle was opened before the trouble, and is likely to be broken, too.
            self.lock().idle.clear();
            if begin.elapsed() + pause > patience {
                return Err(trouble);
            }
            thread::sleep(pause);
            pause = (2 * pause).min(PAUSE.1);
            again = true;
        }
    }

    fn borrow(&self) -> Result<Lent<'_>, Trouble> {
        let mut kept = self.lock();
        loop {
            if let Some(connection) = kept.idle.pop() {
                if connection.client.is_closed() {
                    continue;
                }
                kept.lent += 1;
                return Ok(Lent { pool: self, connection: Some(connection) });
            }
            if kept.lent < MOST {
                kept.lent += 1;
                break;
            }
            kept = self.freed.wait(kept).unwrap_or_else(PoisonError::into_inner);
        }
        drop(kept);
        // From here on it counts as lent: dropping `lent` takes that back.
        let mut lent = Lent { pool: self, connection: None };
        lent.connection = Some(Connection::new(&self.url)?);
        Ok(lent)
    }
}

/// A connection in use.
struct Lent<'a> {
    pool: &'a Pool,
    connection: Option<Connection>,
}

impl Lent<'_> {
    /// A connection whose work has failed is not used again: it may be in the middle of something.
    fn work<T>(&mut self, work: impl FnOnce(&mut Connection) -> Result<T, Trouble>) -> Result<T, Trouble> {
        let Some(connection) = &mut self.connection else {
            return Err(Trouble::Other("no connection".into()));
        };
        let done = work(connection);
        if done.is_err() {
            self.connection = None;
        }
        done
    }
}

impl Drop for Lent<'_> {
    fn drop(&mut self) {
        let mut kept = self.pool.lock();
        kept.lent -= 1;
        if kept.idle.len() < KEPT {
            kept.idle.extend(self.connection.take());
        }
        drop(kept);
        self.pool.freed.notify_one();
        // What is not kept is closed here, where nobody waits for the lock.
    }
}
