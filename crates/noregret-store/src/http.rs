//! Logs that a noregret server keeps (`noregret serve`), over HTTP.

use std::fmt;
use std::ops::Range;
use std::time::Duration;

use noregret_client::api::{Append, Appended, Log, Studies, segment};
use noregret_client::{Client, ClientError, ServerUrl};

use crate::abridged;
use crate::{Entry, Store, StoreError};

/// Entries asked for at once: a server answers with as many at most.
const PAGE: usize = 2_000;

/// Logs on a server.
pub struct HttpStore {
    client: Client,
}

impl fmt::Debug for HttpStore {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("HttpStore").field("url", self.client.url()).finish()
    }
}

impl HttpStore {
    /// Connects to the server, with a token of its own or that of `NOREGRET_TOKEN`.
    pub fn open(url: &ServerUrl, token: Option<String>) -> Result<Self, StoreError> {
        let client = Client::new(url.clone(), token.or_else(token_of_environment));
        client.connect().map_err(|error| {
            let problem = match &error {
                ClientError::Connection { problem, .. } => problem.clone(),
                other => other.to_string(),
            };
            StoreError::Open { place: url.to_string(), problem }
        })?;
        Ok(Self { client })
    }

    fn place(&self) -> String {
        self.client.url().to_string()
    }

    fn reading(&self, error: &ClientError) -> StoreError {
        self.error(error, |place, problem| StoreError::Read { place, problem })
    }

    fn error(&self, error: &ClientError, passing: fn(String, String) -> StoreError) -> StoreError {
        let problem = match error {
            ClientError::Connection { problem, .. } => problem.clone(),
            other => other.to_string(),
        };
        if error.is_temporary() {
            passing(self.place(), problem)
        } else {
            StoreError::Refused { place: self.place(), problem }
        }
    }

    /// A page of the log.
    fn page(&self, study: &str, query: &str, wait: Duration) -> Result<(Vec<(u64, Entry)>, u64), StoreError> {
        let path = format!("/api/v1/studies/{}/log?{query}", segment(study));
        let log: Log = match self.client.get_waiting(&path, wait) {
            Ok(log) => log,
            // A study that is not there has an empty log.
            Err(error) if is_missing(&error) => return Ok((Vec::new(), 0)),
            Err(error) => return Err(self.reading(&error)),
        };
        let texts = log.entries.iter().map(|(position, time, text)| (*position, *time, text.get()));
        let entries = abridged::read_page(study, texts)
            .map_err(|(position, problem)| StoreError::Corrupt { study: study.into(), position, problem })?;
        Ok((entries, log.last))
    }

    /// Whether these entries are in the log after this position: an answer was lost on the way.
    fn was_written(&self, study: &str, after: u64, entries: &[Entry]) -> Result<bool, StoreError> {
        Ok(self.read(study, after, entries.len())? == entries)
    }
}

#[expect(
    clippy::disallowed_methods,
    reason = "as PGPASSWORD: a secret belongs neither into addresses nor into files"
)]
fn token_of_environment() -> Option<String> {
    std::env::var("NOREGRET_TOKEN").ok()
}

fn is_missing(error: &ClientError) -> bool {
    error.problem().is_some_and(|problem| problem.word() == "no-such-study")
}

impl Store for HttpStore {
    fn append(&self, study: &str, after: u64, entries: &[Entry]) -> Result<u64, StoreError> {
        let conflict = |found| StoreError::Conflict { study: study.into(), expected: after, found };
        if entries.is_empty() {
            let found = self.last(study)?;
            return if found == after { Ok(found) } else { Err(conflict(found)) };
        }
        let writing = |problem: String| StoreError::Write { place: self.place(), problem };
        let text = |entry: &Entry| {
            let text = serde_json::value::to_raw_value(&entry.event).map_err(|e| writing(e.to_string()))?;
            Ok((entry.time.0, text))
        };
        let append = Append { after, entries: entries.iter().map(text).collect::<Result<_, StoreError>>()? };
        match self.client.post::<Appended>(&format!("/api/v1/studies/{}/log", segment(study)), &append) {
            Ok(done) => Ok(done.last),
            Err(error) => match error.problem().filter(|problem| problem.word() == "conflict") {
                // Perhaps by our own first attempt, whose answer never came.
                Some(_) if self.was_written(study, after, entries)? => Ok(after + entries.len() as u64),
                Some(problem) => Err(conflict(problem.position.unwrap_or(after))),
                None => Err(self.error(&error, |place, problem| StoreError::Write { place, problem })),
            },
        }
    }

    fn read(&self, study: &str, after: u64, limit: usize) -> Result<Vec<Entry>, StoreError> {
        let mut entries: Vec<Entry> = Vec::new();
        while entries.len() < limit {
            let position = after.saturating_add(entries.len() as u64);
            let wanted = (limit - entries.len()).min(PAGE);
            let (found, _) = self.page(study, &format!("after={position}&limit={wanted}"), Duration::ZERO)?;
            let is_last = found.is_empty();
            entries.extend(crate::without_gaps(study, position, found)?);
            if is_last {
                break;
            }
        }
        Ok(entries)
    }

    fn read_trials(&self, study: &str, numbers: Range<u64>) -> Result<Vec<Entry>, StoreError> {
        let query = format!("trials_from={}&trials_to={}", numbers.start, numbers.end);
        Ok(self.page(study, &query, Duration::ZERO)?.0.into_iter().map(|(_, entry)| entry).collect())
    }

    fn studies(&self) -> Result<Vec<(String, u64)>, StoreError> {
        let found: Studies = self.client.get("/api/v1/studies").map_err(|error| self.reading(&error))?;
        Ok(found.studies.into_iter().map(|study| (study.name, study.position)).collect())
    }

    fn last(&self, study: &str) -> Result<u64, StoreError> {
        Ok(self.page(study, "limit=0", Duration::ZERO)?.1)
    }

    fn wait(&self, study: &str, after: u64, most: Duration) -> Result<(), StoreError> {
        let query = format!("limit=0&after={after}&wait={}", most.as_secs_f64().min(30.0));
        self.page(study, &query, most).map(drop)
    }

    fn is_told(&self) -> bool {
        true
    }
}
