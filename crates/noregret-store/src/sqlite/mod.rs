//! Logs in a SQLite database: one file that any number of processes on a machine may share.
//!
//! The database runs in WAL mode: readers never wait for the writer, and a commit appends to one file. Commits with
//! results, and with trials handed to people, are synchronised with the disk (`synchronous = FULL`) and survive a power
//! cut. Others (a proposal, the lease of a process) only survive the death of the process: losing them in a power cut
//! loses nothing that was paid for.

mod file_name;
#[cfg(unix)]
mod identity;
mod read_only;
mod schema;

use std::ops::Range;
use std::path::{Path, PathBuf};
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use tempfile::TempDir;

use rusqlite::{Connection, ErrorCode, OptionalExtension, TransactionBehavior, params};

use crate::abridged;
use crate::{Entry, Store, StoreError, Timestamp};

/// How long a writer waits for another one. Commits take milliseconds; this is for a disk that stalls.
const BUSY: Duration = Duration::from_secs(30);

/// Logs in a SQLite file.
#[derive(Debug)]
pub struct SqliteStore {
    path: PathBuf,
    connection: Mutex<Connection>,
    /// Must be dropped after the connection.
    #[cfg(unix)]
    identity: Option<identity::Identity>,
    /// What is read in place of a file that may not be written; gone with the connection.
    _copy: Option<TempDir>,
    /// Whether a commit without synchronisation is safe from the death of the process: only in WAL mode.
    wal: bool,
    /// The last whole proposal that was read or written.
    basis: Mutex<Option<abridged::Basis>>,
}

impl SqliteStore {
    /// Opens the database, makes it if there is none, and brings an older one up to date.
    pub fn open(path: impl Into<PathBuf>) -> Result<Self, StoreError> {
        let path = path.into();
        let connection = Connection::open(file_name::plain(&path)).map_err(|error| opening(&path, &error))?;
        connection.busy_timeout(BUSY).map_err(|error| opening(&path, &error))?;
        let wal = schema::prepare(&connection, &path)?;
        Ok(Self {
            #[cfg(unix)]
            identity: Some(identity::Identity::of(&path, wal).map_err(|error| unreadable(&path, &error))?),
            path,
            connection: Mutex::new(connection),
            _copy: None,
            wal,
            basis: Mutex::default(),
        })
    }

    /// Opens a database that must be there already, to read it: also where nothing may be written.
    pub fn open_to_read(path: impl Into<PathBuf>) -> Result<Self, StoreError> {
        let path = path.into();
        match Self::open_existing(&path) {
            Err(StoreError::Open { .. } | StoreError::Write { .. }) if path.exists() => {}
            opened => return opened,
        }
        let (connection, copy) = read_only::open(&path)?;
        connection.busy_timeout(BUSY).map_err(|error| opening(&path, &error))?;
        Ok(Self {
            path,
            connection: Mutex::new(connection),
            #[cfg(unix)]
            identity: None,
            _copy: copy,
            wal: true,
            basis: Mutex::default(),
        })
    }

    /// An error if the file is no longer the one that was opened.
    fn check_identity(&self) -> Result<(), StoreError> {
        #[cfg(unix)]
        if let Some(problem) = self.identity.as_ref().and_then(identity::Identity::problem) {
            return Err(StoreError::Lost { place: named(&self.path), problem });
        }
        Ok(())
    }

    /// Opens a database that must be there already.
    pub fn open_existing(path: impl Into<PathBuf>) -> Result<Self, StoreError> {
        let path = path.into();
        if !path.exists() {
            return Err(StoreError::Open { place: named(&path), problem: "there is no such file".into() });
        }
        Self::open(path)
    }

    fn lock(&self) -> MutexGuard<'_, Connection> {
        // A transaction that was not committed is rolled back when it is dropped, also by a panic.
        self.connection.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Always locked after the connection.
    fn basis(&self) -> MutexGuard<'_, Option<abridged::Basis>> {
        self.basis.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn reading(&self, error: &rusqlite::Error) -> StoreError {
        if let Err(lost) = self.check_identity() {
            return lost;
        }
        if is_damage(error) {
            return StoreError::Lost { place: named(&self.path), problem: explain(error) };
        }
        StoreError::Read { place: named(&self.path), problem: explain(error) }
    }

    fn writing(&self, error: &rusqlite::Error) -> StoreError {
        if is_damage(error) {
            return StoreError::Lost { place: named(&self.path), problem: explain(error) };
        }
        StoreError::Write { place: named(&self.path), problem: explain(error) }
    }

    /// The entries that a statement selects, with their positions.
    fn query(
        &self,
        study: &str,
        sql: &str,
        args: impl rusqlite::Params,
    ) -> Result<Vec<(u64, Entry)>, StoreError> {
        // The connection is free for others while the text is understood.
        let rows = self.rows(sql, args).map_err(|error| self.reading(&error))?;
        let mut basis = self.basis().clone();
        let mut entry = |(position, time, body): (u64, i64, Vec<u8>)| {
            let find = |at| body_at(&self.lock(), study, at);
            let event = std::str::from_utf8(&body)
                .map_err(|error| error.to_string())
                .and_then(|text| abridged::decode(text, study, position, &mut basis, find))
                .map_err(|problem| StoreError::Corrupt { study: study.into(), position, problem })?;
            Ok((position, Entry { time: Timestamp(time), event }))
        };
        let entries = rows.into_iter().map(&mut entry).collect();
        *self.basis() = basis;
        entries
    }

    fn rows(
        &self,
        sql: &str,
        args: impl rusqlite::Params,
    ) -> Result<Vec<(u64, i64, Vec<u8>)>, rusqlite::Error> {
        let connection = self.lock();
        let mut statement = connection.prepare_cached(sql)?;
        let row = |row: &rusqlite::Row<'_>| {
            Ok((unsigned(row.get(0)?)?, row.get(1)?, row.get_ref(2)?.as_bytes()?.to_vec()))
        };
        statement.query_map(args, row)?.collect()
    }

    fn write(&self, study: &str, after: u64, entries: &[Entry]) -> Result<Result<u64, u64>, rusqlite::Error> {
        let mut connection = self.lock();
        let durable = !self.wal || entries.iter().any(|entry| entry.event.must_last());
        connection.pragma_update(None, "synchronous", if durable { "FULL" } else { "NORMAL" })?;
        let transaction = connection.transaction_with_behavior(TransactionBehavior::Immediate)?;
        let known: Option<(i64, i64)> = transaction
            .prepare_cached("SELECT id, last FROM studies WHERE name = ?1")?
            .query_row([study], |row| Ok((row.get(0)?, row.get(1)?)))
            .optional()?;
        let found = known.map_or(Ok(0), |(_, last)| unsigned(last))?;
        if found != after {
            return Ok(Err(found));
        }
        if entries.is_empty() {
            return Ok(Ok(found));
        }
        let last = after + entries.len() as u64;
        let id = if let Some((id, _)) = known {
            transaction
                .prepare_cached("UPDATE studies SET last = ?2 WHERE id = ?1")?
                .execute(params![id, signed(last)])?;
            id
        } else {
            transaction
                .prepare_cached("INSERT INTO studies (name, last) VALUES (?1, ?2)")?
                .execute(params![study, signed(last)])?;
            transaction.last_insert_rowid()
        };
        let mut known_basis = self.basis();
        let mut written = None;
        {
            let mut entry_row = transaction.prepare_cached(
                "INSERT INTO entries (study, position, time, body) VALUES (?1, ?2, ?3, ?4)",
            )?;
            let mut trial_row = transaction
                .prepare_cached("INSERT INTO trial_entries (study, trial, position) VALUES (?1, ?2, ?3)")?;
            for (position, entry) in (after + 1..).zip(entries) {
                let basis = written.as_ref().or(known_basis.as_ref());
                let (body, whole) = abridged::encode(&entry.event, study, position, basis)
                    .map_err(|error| rusqlite::Error::ToSqlConversionFailure(Box::new(error)))?;
                written = whole.or(written);
                entry_row.execute(params![id, signed(position), entry.time.0, body])?;
                for trial in entry.event.trials() {
                    trial_row.execute(params![id, signed(trial), signed(position)])?;
                }
            }
        }
        transaction.commit()?;
        // Not before: others may only continue what is there.
        if written.is_some() {
            *known_basis = written;
        }
        Ok(Ok(last))
    }
}

impl Store for SqliteStore {
    fn append(&self, study: &str, after: u64, entries: &[Entry]) -> Result<u64, StoreError> {
        self.check_identity()?;
        match self.write(study, after, entries) {
            // Before anybody is told that it is kept.
            Ok(Ok(last)) => self.check_identity().map(|()| last),
            Ok(Err(found)) => Err(StoreError::Conflict { study: study.into(), expected: after, found }),
            Err(error) => Err(self.writing(&error)),
        }
    }

    fn read(&self, study: &str, after: u64, limit: usize) -> Result<Vec<Entry>, StoreError> {
        let found = self.query(
            study,
            "SELECT position, time, body FROM entries
             WHERE study = (SELECT id FROM studies WHERE name = ?1) AND position > ?2 ORDER BY position LIMIT ?3",
            params![study, signed(after), i64::try_from(limit).unwrap_or(i64::MAX)],
        )?;
        crate::without_gaps(study, after, found)
    }

    fn read_trials(&self, study: &str, numbers: Range<u64>) -> Result<Vec<Entry>, StoreError> {
        let found = self.query(
            study,
            "WITH id AS (SELECT id FROM studies WHERE name = ?1)
             SELECT position, time, body FROM entries WHERE study = (SELECT id FROM id) AND position IN
                (SELECT position FROM trial_entries WHERE study = (SELECT id FROM id) AND trial >= ?2 AND trial < ?3)
             ORDER BY position",
            params![study, signed(numbers.start), signed(numbers.end)],
        )?;
        Ok(found.into_iter().map(|(_, entry)| entry).collect())
    }

    fn studies(&self) -> Result<Vec<(String, u64)>, StoreError> {
        let connection = self.lock();
        let rows = || -> Result<Vec<(String, u64)>, rusqlite::Error> {
            let mut statement = connection.prepare_cached("SELECT name, last FROM studies ORDER BY name")?;
            statement.query_map([], |row| Ok((row.get(0)?, unsigned(row.get(1)?)?)))?.collect()
        };
        rows().map_err(|error| self.reading(&error))
    }

    fn last(&self, study: &str) -> Result<u64, StoreError> {
        let connection = self.lock();
        let last = || -> Result<Option<u64>, rusqlite::Error> {
            let mut statement = connection.prepare_cached("SELECT last FROM studies WHERE name = ?1")?;
            statement.query_row([study], |row| unsigned(row.get(0)?)).optional()
        };
        Ok(last().map_err(|error| self.reading(&error))?.unwrap_or(0))
    }
}

/// The text of one entry.
fn body_at(connection: &Connection, study: &str, position: u64) -> Result<String, String> {
    let sql =
        "SELECT body FROM entries WHERE study = (SELECT id FROM studies WHERE name = ?1) AND position = ?2";
    let body =
        || connection.prepare_cached(sql)?.query_row(params![study, signed(position)], |row| row.get(0));
    body().map_err(|error: rusqlite::Error| format!("it continues entry {position}: {}", explain(&error)))
}

/// SQLite has no unsigned integers; positions and trial numbers count from 0 and never come near the limit.
fn signed(n: u64) -> i64 {
    i64::try_from(n).unwrap_or(i64::MAX)
}

/// A file as errors name it.
fn named(path: &Path) -> String {
    path.display().to_string()
}

fn unreadable(path: &Path, error: &std::io::Error) -> StoreError {
    StoreError::Open { place: named(path), problem: error.to_string() }
}

/// Back again. A negative position is none that was written by us.
fn unsigned(n: i64) -> Result<u64, rusqlite::Error> {
    u64::try_from(n).map_err(|_| rusqlite::Error::IntegralValueOutOfRange(0, n))
}

fn opening(path: &Path, error: &rusqlite::Error) -> StoreError {
    if error.sqlite_error_code() == Some(ErrorCode::NotADatabase) {
        return StoreError::Foreign { place: named(path) };
    }
    StoreError::Open { place: named(path), problem: explain(error) }
}

/// Whether the file itself is broken: waiting does not help.
fn is_damage(error: &rusqlite::Error) -> bool {
    matches!(error.sqlite_error_code(), Some(ErrorCode::DatabaseCorrupt | ErrorCode::NotADatabase))
}

/// What an error of SQLite means to somebody who does not know SQLite.
fn explain(error: &rusqlite::Error) -> String {
    let meaning = match error.sqlite_error_code() {
        Some(ErrorCode::DiskFull) => "the disk is full",
        Some(ErrorCode::ReadOnly) => "the file or its folder is read-only",
        Some(ErrorCode::DatabaseBusy | ErrorCode::DatabaseLocked) => {
            "another program has locked it for too long"
        }
        Some(ErrorCode::CannotOpen) => "the folder does not exist or may not be written to",
        Some(ErrorCode::PermissionDenied) => "permission denied",
        Some(ErrorCode::SystemIoFailure) => "the disk gave an error (is it full or gone?)",
        Some(ErrorCode::DatabaseCorrupt) => "the file is damaged",
        _ => return error.to_string(),
    };
    format!("{meaning} ({error})")
}

#[cfg(test)]
mod tests;
