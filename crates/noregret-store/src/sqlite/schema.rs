//! The tables, and how older ones become the newest.

use std::path::Path;
use std::thread;
use std::time::Duration;

use rusqlite::{Connection, ErrorCode, Transaction, TransactionBehavior};

use super::{BUSY, explain, named, opening};
use crate::StoreError;
use crate::clock::Stopwatch;

/// Marks a database as ours ("nrgt").
const APPLICATION_ID: i64 = 0x6e72_6774;

/// Step `i` turns schema `i` into schema `i + 1`. Never change a step that was released: add one.
const MIGRATIONS: [&str; 2] = ["
    -- 1
    CREATE TABLE studies (
        id   INTEGER PRIMARY KEY,
        name TEXT NOT NULL UNIQUE,
        last INTEGER NOT NULL                   -- position of its last entry
    ) STRICT;
    CREATE TABLE entries (
        study    INTEGER NOT NULL REFERENCES studies (id),
        position INTEGER NOT NULL,              -- 1, 2, 3, ...
        time     INTEGER NOT NULL,              -- milliseconds since 1970, UTC
        body     TEXT NOT NULL,                 -- JSON
        PRIMARY KEY (study, position)
    ) STRICT, WITHOUT ROWID;
    CREATE TABLE trial_entries (                -- which entries concern a trial
        study    INTEGER NOT NULL REFERENCES studies (id),
        trial    INTEGER NOT NULL,
        position INTEGER NOT NULL,
        PRIMARY KEY (study, trial, position)
    ) STRICT, WITHOUT ROWID;
", "
    -- 2: In a table without row numbers an entry of more than a quarter of a page takes pages of its own. The columns stay as
    -- they were, so that one statement reads either.
    CREATE TABLE entries_2 (
        study    INTEGER NOT NULL REFERENCES studies (id),
        position INTEGER NOT NULL,              -- 1, 2, 3, ...
        time     INTEGER NOT NULL,              -- milliseconds since 1970, UTC
        body     TEXT NOT NULL                  -- JSON
    ) STRICT;
    INSERT INTO entries_2 SELECT study, position, time, body FROM entries ORDER BY study, position;
    DROP TABLE entries;
    ALTER TABLE entries_2 RENAME TO entries;
    CREATE UNIQUE INDEX entries_by_position ON entries (study, position);
"];

/// The schema that this version writes.
const KNOWN: i64 = 2;
const _: () = assert!(MIGRATIONS.len() == 2, "count the migrations in KNOWN");

/// Makes the connection ready: ours, in WAL mode if the file system allows it, with the newest schema. Returns whether it
/// is in WAL mode. What cannot be written to is left in the schema it has: all of them are read alike.
pub(super) fn prepare(connection: &Connection, path: &Path) -> Result<bool, StoreError> {
    let open = |error: rusqlite::Error| opening(path, &error);
    let found = check(connection, path)?;
    let is_for_reading = found > 0 && connection.is_readonly(rusqlite::MAIN_DB).map_err(open)?;
    if found < KNOWN && !is_for_reading {
        let begin = Stopwatch::start();
        // Changing the mode does not wait for others who are just doing the same.
        while let Err(error) = connection.query_row("PRAGMA journal_mode = WAL", [], |_| Ok(())) {
            let busy = error.sqlite_error_code() == Some(ErrorCode::DatabaseBusy);
            if !busy || begin.elapsed() > BUSY {
                return Err(opening(path, &error));
            }
            thread::sleep(Duration::from_millis(5));
        }
        connection.pragma_update(None, "synchronous", "FULL").map_err(open)?;
        migrate(connection)
            .map_err(|error| StoreError::Write { place: named(path), problem: explain(&error) })?;
    }
    let mode: String = connection.pragma_query_value(None, "journal_mode", |row| row.get(0)).map_err(open)?;
    Ok(mode == "wal")
}

fn migrate(connection: &Connection) -> Result<(), rusqlite::Error> {
    let transaction = Transaction::new_unchecked(connection, TransactionBehavior::Immediate)?;
    // Somebody else may have done it while we waited for the lock.
    let found = version(&transaction)?;
    for (step, sql) in (0..KNOWN).zip(MIGRATIONS).skip_while(|(step, _)| *step < found) {
        transaction.execute_batch(sql)?;
        transaction.pragma_update(None, "user_version", step + 1)?;
    }
    transaction.pragma_update(None, "application_id", APPLICATION_ID)?;
    transaction.commit()
}

/// The schema's version, if the database is ours or empty, and not from the future.
pub(super) fn check(connection: &Connection, path: &Path) -> Result<i64, StoreError> {
    // In one transaction: somebody else may be making the tables.
    let look = || -> Result<(i64, i64, i64), rusqlite::Error> {
        let transaction = Transaction::new_unchecked(connection, TransactionBehavior::Deferred)?;
        let tables = transaction.query_row("SELECT count(*) FROM sqlite_schema", [], |row| row.get(0))?;
        let id = transaction.pragma_query_value(None, "application_id", |row| row.get(0))?;
        Ok((tables, id, version(&transaction)?))
    };
    let (tables, id, found) = look().map_err(|error| opening(path, &error))?;
    if tables > 0 && id != APPLICATION_ID {
        return Err(StoreError::Foreign { place: named(path) });
    }
    if found > KNOWN {
        return Err(StoreError::Newer { place: named(path), found, known: KNOWN });
    }
    Ok(found)
}

fn version(connection: &Connection) -> Result<i64, rusqlite::Error> {
    connection.pragma_query_value(None, "user_version", |row| row.get(0))
}
