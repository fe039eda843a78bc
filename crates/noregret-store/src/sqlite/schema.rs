//! The tables, and how older ones become the newest.

use std::path::Path;

use rusqlite::Connection;

use super::{explain, opening};
use crate::StoreError;

/// Marks a database as ours ("nrgt").
const APPLICATION_ID: i64 = 0x6e72_6774;

/// Step `i` turns schema `i` into schema `i + 1`. Never change a step that was released: add one.
const MIGRATIONS: [&str; 1] = ["
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
"];

/// The schema that this version writes.
const KNOWN: i64 = 1;
const _: () = assert!(MIGRATIONS.len() == 1, "count the migrations in KNOWN");

/// Makes the connection ready: ours, in WAL mode, with the newest schema.
pub(super) fn prepare(connection: &Connection, path: &Path) -> Result<(), StoreError> {
    let open = |error: rusqlite::Error| opening(path, &error);
    if check(connection, path)? == KNOWN {
        return Ok(());
    }
    // Readers go on while somebody writes. The answer is the mode that the file is in now, whatever it was before.
    connection.query_row("PRAGMA journal_mode = WAL", [], |_| Ok(())).map_err(open)?;
    connection.pragma_update(None, "synchronous", "FULL").map_err(open)?;
    let migrate = || -> Result<(), rusqlite::Error> {
        connection.execute_batch("BEGIN IMMEDIATE")?;
        // Somebody else may have done it while we waited for the lock.
        let found = version(connection)?;
        for (step, sql) in (0..KNOWN).zip(MIGRATIONS).skip_while(|(step, _)| *step < found) {
            connection.execute_batch(sql)?;
            connection.pragma_update(None, "user_version", step + 1)?;
        }
        connection.pragma_update(None, "application_id", APPLICATION_ID)?;
        connection.execute_batch("COMMIT")
    };
    migrate().map_err(|error| StoreError::Write { path: path.into(), problem: explain(&error) })
}

/// The schema's version, if the database is ours or empty, and not from the future.
fn check(connection: &Connection, path: &Path) -> Result<i64, StoreError> {
    let open = |error: rusqlite::Error| opening(path, &error);
    let found = version(connection).map_err(open)?;
    let id: i64 = connection.pragma_query_value(None, "application_id", |row| row.get(0)).map_err(open)?;
    let tables: i64 =
        connection.query_row("SELECT count(*) FROM sqlite_schema", [], |row| row.get(0)).map_err(open)?;
    if tables > 0 && id != APPLICATION_ID {
        return Err(StoreError::Foreign { path: path.into() });
    }
    if found > KNOWN {
        return Err(StoreError::Newer { path: path.into(), found, known: KNOWN });
    }
    Ok(found)
}

fn version(connection: &Connection) -> Result<i64, rusqlite::Error> {
    connection.pragma_query_value(None, "user_version", |row| row.get(0))
}
