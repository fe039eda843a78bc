//! Logs in a PostgreSQL database, shared by processes on any number of machines.
//!
//! An append is one statement, and so one round trip: it moves the study's last position on, if that is still the one which the
//! writer knows, and writes the entries behind it. Who comes second finds no row to move, which is a conflict. Every commit is durable,
//! as far as the server's settings say: a server that is killed forgets nothing that a worker has acted upon.
//!
//! If a connection breaks in mid-append, nobody knows whether it was done. Each append has a random token in its entries, by which the next
//! attempt finds out.

mod address;
mod pool;
mod schema;
mod tls;
mod wakeups;

use std::collections::hash_map::RandomState;
use std::fmt;
use std::hash::{BuildHasher, Hasher};
use std::ops::Range;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use postgres::Row;
use postgres::types::ToSql;

use crate::abridged::{self, Basis};
use crate::clock::Stopwatch;
use crate::{Entry, Store, StoreError, Timestamp};
pub use address::PostgresUrl;
use pool::{Connection, FIRST_PATIENCE, PATIENCE, Pool, Trouble};
use wakeups::{Waited, Wakeups};

/// The name under which news are sent: `STUDY LAST`, two numbers.
const CHANNEL: &str = "noregret";

/// Appends entries, if the study is where the writer thinks it is; returns a row if it was.
const APPEND: &str = "
    WITH moved AS (
        INSERT INTO noregret.studies AS study (name, last)
        SELECT $1::text, $3::bigint WHERE $2::bigint = 0 OR EXISTS (SELECT FROM noregret.studies WHERE name = $1::text)
        ON CONFLICT (name) DO UPDATE SET last = excluded.last WHERE study.last = $2::bigint
        RETURNING id
    ), written AS (
        INSERT INTO noregret.entries (study, position, time, body, token)
        SELECT moved.id, entry.position, entry.time, entry.body, $7::bigint
        FROM moved, unnest($4::bigint[], $5::bigint[], $6::text[]) AS entry (position, time, body)
    ), found AS (
        INSERT INTO noregret.trial_entries (study, trial, position)
        SELECT moved.id, entry.trial, entry.position
        FROM moved, unnest($8::bigint[], $9::bigint[]) AS entry (trial, position)
    )
    SELECT pg_notify('noregret', moved.id || ' ' || $3::bigint) FROM moved";
const READ: &str = "
    SELECT position, time, body FROM noregret.entries
    WHERE study = (SELECT id FROM noregret.studies WHERE name = $1) AND position > $2 ORDER BY position LIMIT $3";
const READ_TRIALS: &str = "
    WITH study AS (SELECT id FROM noregret.studies WHERE name = $1)
    SELECT position, time, body FROM noregret.entries WHERE study = (SELECT id FROM study) AND position IN
        (SELECT position FROM noregret.trial_entries WHERE study = (SELECT id FROM study) AND trial >= $2 AND trial < $3)
    ORDER BY position";
const READ_ONE: &str = "
    SELECT body, token FROM noregret.entries
    WHERE study = (SELECT id FROM noregret.studies WHERE name = $1) AND position = $2";
const STUDIES: &str = "SELECT name, last FROM noregret.studies ORDER BY name";
const LAST: &str = "SELECT id, last FROM noregret.studies WHERE name = $1";

/// Logs in a PostgreSQL database.
pub struct PostgresStore {
    place: String,
    pool: Pool,
    wakeups: Arc<Wakeups>,
    /// The last whole proposal that was read or written.
    basis: Mutex<Option<Basis>>,
}

impl fmt::Debug for PostgresStore {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("PostgresStore").field("place", &self.place).finish_non_exhaustive()
    }
}

impl PostgresStore {
    /// Opens the database, which must be there, makes the tables if there are none, and brings older ones up to date.
    pub fn open(url: &PostgresUrl) -> Result<Self, StoreError> {
        let store = Self::unprepared(url);
        let prepared =
            store.pool.with(FIRST_PATIENCE, |connection, _| schema::prepare(&mut connection.client));
        prepared.map_err(|trouble| trouble.into_error(&store.place, opening))?;
        Ok(store)
    }

    /// Opens a database that must have our tables already.
    pub fn open_existing(url: &PostgresUrl) -> Result<Self, StoreError> {
        let store = Self::unprepared(url);
        let version =
            store.pool.with(FIRST_PATIENCE, |connection, _| schema::version(&mut connection.client));
        match version.map_err(|trouble| trouble.into_error(&store.place, opening))? {
            Some(schema::KNOWN) => Ok(store),
            Some(_) => Self::open(url),
            None => Err(opening(store.place, "there are no studies of noregret in it".into())),
        }
    }

    fn unprepared(url: &PostgresUrl) -> Self {
        let pool = Pool::new(url.clone());
        Self { place: url.to_string(), pool, wakeups: Arc::default(), basis: Mutex::default() }
    }

    fn basis(&self) -> MutexGuard<'_, Option<Basis>> {
        self.basis.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn reading(&self, trouble: Trouble) -> StoreError {
        trouble.into_error(&self.place, |place, problem| StoreError::Read { place, problem })
    }

    fn rows(&self, sql: &'static str, args: &[&(dyn ToSql + Sync)]) -> Result<Vec<Row>, StoreError> {
        let query = |connection: &mut Connection, _| {
            let statement = connection.prepared(sql)?;
            Ok(connection.client.query(&statement, args)?)
        };
        self.pool.with(PATIENCE, query).map_err(|trouble| self.reading(trouble))
    }

    /// The entries that a statement selects, with their positions.
    fn entries(
        &self,
        study: &str,
        sql: &'static str,
        args: &[&(dyn ToSql + Sync)],
    ) -> Result<Vec<(u64, Entry)>, StoreError> {
        let rows = self.rows(sql, args)?;
        let mut basis = self.basis().clone();
        let entry = |row: &Row| {
            let (position, time, body): (i64, i64, &str) = (row.get(0), row.get(1), row.get(2));
            let position = unsigned(position);
            let find = |at: u64| self.body_at(study, at);
            let event = abridged::decode(body, study, position, &mut basis, find)
                .map_err(|problem| StoreError::Corrupt { study: study.into(), position, problem })?;
            Ok((position, Entry { time: Timestamp(time), event }))
        };
        let entries = rows.iter().map(entry).collect();
        *self.basis() = basis;
        entries
    }

    /// The text of one entry.
    fn body_at(&self, study: &str, position: u64) -> Result<String, String> {
        let rows = self.rows(READ_ONE, &[&study, &signed(position)]).map_err(|error| error.to_string())?;
        let row = rows.first().ok_or_else(|| format!("it continues entry {position}, which is missing"))?;
        Ok(row.get(0))
    }

    /// The number of a study and its last position.
    fn find(&self, study: &str) -> Result<Option<(i64, u64)>, StoreError> {
        let rows = self.rows(LAST, &[&study])?;
        Ok(rows.first().map(|row| (row.get(0), unsigned(row.get(1)))))
    }
}

/// What an append writes, as the statement takes it.
struct Columns {
    positions: Vec<i64>,
    times: Vec<i64>,
    bodies: Vec<String>,
    token: i64,
    trials: Vec<i64>,
    trial_positions: Vec<i64>,
    /// What it will be the basis for, once it is in the database.
    basis: Option<Basis>,
}

impl Columns {
    fn of(
        study: &str,
        after: u64,
        entries: &[Entry],
        known: Option<&Basis>,
    ) -> Result<Self, serde_json::Error> {
        let mut columns = Self {
            positions: Vec::with_capacity(entries.len()),
            times: Vec::with_capacity(entries.len()),
            bodies: Vec::with_capacity(entries.len()),
            token: another_token(),
            trials: Vec::new(),
            trial_positions: Vec::new(),
            basis: None,
        };
        for (position, entry) in (after + 1..).zip(entries) {
            let basis = columns.basis.as_ref().or(known);
            let (body, whole) = abridged::encode(&entry.event, study, position, basis)?;
            columns.basis = whole.or(columns.basis);
            columns.positions.push(signed(position));
            columns.times.push(entry.time.0);
            columns.bodies.push(body);
            for trial in entry.event.trials() {
                columns.trials.push(signed(trial));
                columns.trial_positions.push(signed(position));
            }
        }
        Ok(columns)
    }
}

impl Store for PostgresStore {
    fn append(&self, study: &str, after: u64, entries: &[Entry]) -> Result<u64, StoreError> {
        let conflict = |found| StoreError::Conflict { study: study.into(), expected: after, found };
        if entries.is_empty() {
            let found = self.last(study)?;
            return if found == after { Ok(found) } else { Err(conflict(found)) };
        }
        let writing = |problem| StoreError::Write { place: self.place.clone(), problem };
        let known = self.basis().clone();
        let columns =
            Columns::of(study, after, entries, known.as_ref()).map_err(|error| writing(error.to_string()))?;
        let last = after.saturating_add(entries.len() as u64);
        let append = |connection: &mut Connection, again: bool| {
            if again && was_written(connection, study, last, columns.token)? {
                return Ok(true);
            }
            let Columns { positions, times, bodies, token, trials, trial_positions, .. } = &columns;
            let (from, to) = (signed(after), signed(last));
            let statement = connection.prepared(APPEND)?;
            let args: [&(dyn ToSql + Sync); 9] =
                [&study, &from, &to, positions, times, bodies, token, trials, trial_positions];
            Ok(!connection.client.query(&statement, &args)?.is_empty())
        };
        let moved = self.pool.with(PATIENCE, append).map_err(|trouble| {
            trouble.into_error(&self.place, |place, problem| StoreError::Write { place, problem })
        })?;
        if !moved {
            return Err(conflict(self.last(study)?));
        }
        // Not before: others may only continue what is there.
        if columns.basis.is_some() {
            *self.basis() = columns.basis;
        }
        Ok(last)
    }

    fn read(&self, study: &str, after: u64, limit: usize) -> Result<Vec<Entry>, StoreError> {
        let limit = i64::try_from(limit).unwrap_or(i64::MAX);
        let found = self.entries(study, READ, &[&study, &signed(after), &limit])?;
        crate::without_gaps(study, after, found)
    }

    fn read_trials(&self, study: &str, numbers: Range<u64>) -> Result<Vec<Entry>, StoreError> {
        let args: [&(dyn ToSql + Sync); 3] = [&study, &signed(numbers.start), &signed(numbers.end)];
        Ok(self.entries(study, READ_TRIALS, &args)?.into_iter().map(|(_, entry)| entry).collect())
    }

    fn studies(&self) -> Result<Vec<(String, u64)>, StoreError> {
        let rows = self.rows(STUDIES, &[])?;
        Ok(rows.iter().map(|row| (row.get(0), unsigned(row.get(1)))).collect())
    }

    fn last(&self, study: &str) -> Result<u64, StoreError> {
        Ok(self.find(study)?.map_or(0, |(_, last)| last))
    }

    fn wait(&self, study: &str, after: u64, most: Duration) -> Result<(), StoreError> {
        let begin = Stopwatch::start();
        self.wakeups.listen(self.pool.url());
        loop {
            match self.wakeups.wait(study, after, most.saturating_sub(begin.elapsed())) {
                Waited::News | Waited::Long => return Ok(()),
                Waited::Deaf => {}
            }
            // Listening first, then looking: what comes in between is heard.
            let begun = self.wakeups.begun();
            let Some((number, last)) = self.find(study)? else { return Ok(()) };
            self.wakeups.looked_up(begun, study, number, last);
            if last > after || begin.elapsed() >= most {
                return Ok(());
            }
            self.wakeups.pause(begin.elapsed(), most.saturating_sub(begin.elapsed()));
        }
    }

    fn is_told(&self) -> bool {
        true
    }
}

/// Whether the entry at the end of an append is the one that it wrote.
fn was_written(connection: &mut Connection, study: &str, last: u64, token: i64) -> Result<bool, Trouble> {
    let statement = connection.prepared(READ_ONE)?;
    let row = connection.client.query_opt(&statement, &[&study, &signed(last)])?;
    Ok(row.is_some_and(|row| row.get::<_, i64>(1) == token))
}

/// A number that no other append has, on any machine: 63 bits from the seeds of the standard library's hash maps.
fn another_token() -> i64 {
    static COUNT: AtomicU64 = AtomicU64::new(0);
    let mut hasher = RandomState::new().build_hasher();
    hasher.write_u64(COUNT.fetch_add(1, Ordering::Relaxed));
    hasher.write(crate::this_worker().as_bytes());
    i64::try_from(hasher.finish() >> 1).unwrap_or(i64::MAX)
}

/// PostgreSQL has no unsigned integers; positions and trial numbers count from 0 and never come near the limit.
fn signed(n: u64) -> i64 {
    i64::try_from(n).unwrap_or(i64::MAX)
}

/// Back again.
fn unsigned(n: i64) -> u64 {
    u64::try_from(n).unwrap_or(0)
}

fn opening(place: String, problem: String) -> StoreError {
    StoreError::Open { place, problem }
}
