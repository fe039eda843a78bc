//! The tables, and how older ones become the newest. They are in a schema of their own, `noregret`, so that a database may be shared
//! with other programs.

use postgres::Client;

use super::Trouble;

/// Step `i` turns version `i` into version `i + 1`. Never change a step that was released: add one.
const MIGRATIONS: [&str; 1] = ["
    -- 1
    CREATE TABLE noregret.studies (
        id   bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
        name text COLLATE \"C\" NOT NULL UNIQUE,
        last bigint NOT NULL                    -- position of its last entry
    );
    CREATE TABLE noregret.entries (
        study    bigint NOT NULL REFERENCES noregret.studies (id),
        position bigint NOT NULL,
        time     bigint NOT NULL,               -- milliseconds since 1970, by the writer's clock
        body     text NOT NULL,                 -- the event, as JSON
        token    bigint NOT NULL,               -- of the append that wrote it
        PRIMARY KEY (study, position)
    );
    CREATE TABLE noregret.trial_entries (
        study    bigint NOT NULL REFERENCES noregret.studies (id),
        trial    bigint NOT NULL,
        position bigint NOT NULL,
        PRIMARY KEY (study, trial, position)
    );
"];

/// The newest version.
pub(super) const KNOWN: i64 = 1;
const _: () = assert!(MIGRATIONS.len() == 1, "count the migrations in KNOWN");

/// Keeps two processes from making the tables at the same time ("nrgt").
const LOCK: i64 = 0x6e72_6774;

/// Makes the tables, or brings older ones up to date.
pub(super) fn prepare(client: &mut Client) -> Result<(), Trouble> {
    if version(client)? == Some(KNOWN) {
        return Ok(());
    }
    let mut transaction = client.transaction()?;
    transaction.execute("SELECT pg_advisory_xact_lock($1)", &[&LOCK])?;
    // Somebody else may have done it while we waited for the lock.
    transaction.batch_execute(
        "CREATE SCHEMA IF NOT EXISTS noregret; CREATE TABLE IF NOT EXISTS noregret.version (version bigint NOT NULL)",
    )?;
    let row = transaction.query_opt("SELECT max(version) FROM noregret.version", &[])?;
    let found = row.and_then(|row| row.get::<_, Option<i64>>(0)).unwrap_or(0);
    if found > KNOWN {
        return Err(Trouble::Newer(found));
    }
    for (step, sql) in (0..KNOWN).zip(MIGRATIONS).skip_while(|(step, _)| *step < found) {
        transaction.batch_execute(sql)?;
        transaction.execute("DELETE FROM noregret.version", &[])?;
        transaction.execute("INSERT INTO noregret.version VALUES ($1)", &[&(step + 1)])?;
    }
    Ok(transaction.commit()?)
}

/// The version of the tables; `None` if there are none. An error if they are from the future.
pub(super) fn version(client: &mut Client) -> Result<Option<i64>, Trouble> {
    let there: bool = client.query_one("SELECT to_regclass('noregret.version') IS NOT NULL", &[])?.get(0);
    if !there {
        return Ok(None);
    }
    let found: Option<i64> = client.query_one("SELECT max(version) FROM noregret.version", &[])?.get(0);
    match found {
        Some(found) if found > KNOWN => Err(Trouble::Newer(found)),
        found => Ok(found),
    }
}
