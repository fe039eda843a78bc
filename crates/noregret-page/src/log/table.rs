//! A part of the trials, filtered and sorted.

use std::cmp::Ordering;
use std::collections::{BTreeMap, BTreeSet};

use noregret::space::{Cell, Column, ExpressionType, Filter, FilterError, nearest};
use noregret::{Params, Space};
use noregret_client::api::Trial;
use noregret_client::views::Table;
use noregret_store::{TrialRecord, TrialStatus};
use serde_json::Value as Json;

use super::Chronicle;
use super::chronicle::value_of;

/// Trials in a table at most.
pub const MOST_ROWS: usize = 1_000;
/// Trials in a table, if nobody says how many.
const ROWS: usize = 100;

/// Which part.
#[derive(Clone, Debug, Default)]
pub struct TableOf {
    /// A condition, in the language of the constraints.
    pub filter: Option<String>,
    /// The column to sort by; by number, if none is named.
    pub sort: Option<String>,
    /// Whether large comes first.
    pub descending: bool,
    /// The first of those that match, from 0.
    pub from: usize,
    /// How many.
    pub limit: Option<usize>,
}

/// What cannot be shown.
#[derive(Clone, Debug, thiserror::Error)]
#[non_exhaustive]
pub enum TableError {
    /// The filter makes no sense.
    #[error(transparent)]
    Filter(#[from] FilterError),
    /// There is no column to sort by.
    #[error("there is no column `{name}` to sort by (nearest known: `{nearest}`)")]
    Sort {
        /// What was named.
        name: String,
        /// What was probably meant.
        nearest: String,
    },
}

/// What a column shows.
#[derive(Clone, Debug, PartialEq)]
enum Source {
    /// The i-th parameter.
    Param(usize),
    Number,
    Id,
    State,
    Value,
    Seconds,
    Worker,
    Attempts,
    Reason,
    Attribute(String),
}

/// A trial, with what some columns need computed once.
struct Row<'a> {
    record: &'a TrialRecord,
    params: Option<Params>,
    id: Option<String>,
}

impl Chronicle {
    /// The trials that match, sorted, from one of them on.
    pub fn table(&self, space: &Space, of: &TableOf) -> Result<Table, TableError> {
        let (columns, sources) = self.columns(space);
        let source = of.filter.as_deref().map(str::trim).filter(|filter| !filter.is_empty());
        let filter = source.map(|source| Filter::compile(source, &columns)).transpose()?;
        let sort = match of.sort.as_deref() {
            None | Some("") => None,
            Some(name) => Some(columns.iter().position(|column| column.name == name).ok_or_else(|| {
                let nearest = nearest(name, columns.iter().map(|column| column.name.as_str()));
                TableError::Sort { name: name.into(), nearest }
            })?),
        };
        let records = self.ledger().records();
        let matching: Vec<&TrialRecord> = match &filter {
            None => records.iter().collect(),
            Some(filter) => {
                let uses = |i| filter.uses(i);
                let fits = |record: &&TrialRecord| {
                    let row = row(record, space, &sources, uses);
                    filter.holds(|i| self.cell(&row, space, &sources[i]))
                };
                records.iter().filter(fits).collect()
            }
        };
        let sorted = match sort {
            None if of.descending => matching.into_iter().rev().collect(),
            None => matching,
            Some(column) => self.sorted(matching, space, &sources, column, of.descending),
        };
        let page = sorted.iter().skip(of.from).take(of.limit.unwrap_or(ROWS).min(MOST_ROWS));
        Ok(Table {
            position: self.position(),
            total: records.len() as u64,
            matching: sorted.len() as u64,
            from: of.from as u64,
            trials: page.map(|record| self.described(record, space)).collect(),
            attrs: self.attrs().keys().cloned().collect(),
        })
    }

    /// A trial in the user's words, with who had it last, and without what it wrote to stderr.
    pub fn described(&self, record: &TrialRecord, space: &Space) -> Trial {
        let trial = record.described(space);
        let worker = trial.worker.or_else(|| self.activity.worker_of(record.number).map(str::to_owned));
        Trial { worker, stderr: String::new(), ..trial }
    }

    /// What can be filtered and sorted by: parameters, then what every trial has, then attributes. The first of a name counts.
    fn columns(&self, space: &Space) -> (Vec<Column>, Vec<Source>) {
        let mut columns = Vec::new();
        let mut sources = Vec::new();
        for (i, name) in space.names().iter().enumerate() {
            let declared = space.params().nth(i).map(|(name, param)| Column::of_param(name, param));
            columns.push(declared.unwrap_or_else(|| Column::new(name, ExpressionType::Number)));
            sources.push(Source::Param(i));
        }
        let states = ["waiting", "running", "complete", "failed"].map(str::to_owned).to_vec();
        for (name, ty, source) in [
            ("number", ExpressionType::Number, Source::Number),
            ("id", ExpressionType::Text, Source::Id),
            ("state", ExpressionType::Text, Source::State),
            ("value", ExpressionType::Number, Source::Value),
            ("seconds", ExpressionType::Number, Source::Seconds),
            ("worker", ExpressionType::Text, Source::Worker),
            ("attempts", ExpressionType::Number, Source::Attempts),
            ("reason", ExpressionType::Text, Source::Reason),
        ] {
            let words = if source == Source::State { states.clone() } else { Vec::new() };
            columns.push(Column { words, ..Column::new(name, ty) });
            sources.push(source);
        }
        for (name, ty) in self.attrs() {
            columns.push(Column::new(name, *ty));
            sources.push(Source::Attribute(name.clone()));
        }
        (columns, sources)
    }

    fn cell<'a>(&'a self, row: &'a Row<'a>, space: &'a Space, source: &Source) -> Cell<'a> {
        let record = row.record;
        let number = |x: Option<f64>| x.map_or(Cell::Empty, Cell::Number);
        match source {
            Source::Param(i) => match row.params.as_ref().or(record.given()) {
                Some(params) => params.get(&space.names()[*i]).map_or(Cell::Empty, Cell::from),
                None => record.choice.x.get(*i).map_or(Cell::Empty, |u| space.cell(*i, *u)),
            },
            Source::Number => Cell::Number(record.number as f64),
            Source::Id => row.id.as_deref().map_or(Cell::Empty, Cell::Text),
            Source::State => Cell::Text(record.status.word()),
            Source::Value => number(value_of(record)),
            Source::Seconds => number(record.seconds),
            Source::Worker => self.activity.worker_of(record.number).map_or(Cell::Empty, Cell::Text),
            Source::Attempts => Cell::Number(f64::from(record.leases)),
            Source::Reason => match &record.status {
                TrialStatus::Failed { reason } => Cell::Text(reason),
                _ => Cell::Empty,
            },
            Source::Attribute(name) => match record.attrs.get(name) {
                Some(Json::Number(x)) => number(x.as_f64()),
                Some(Json::String(text)) => Cell::Text(text),
                Some(Json::Bool(b)) => Cell::Truth(*b),
                _ => Cell::Empty,
            },
        }
    }

    fn sorted<'a>(
        &'a self,
        matching: Vec<&'a TrialRecord>,
        space: &Space,
        sources: &[Source],
        column: usize,
        descending: bool,
    ) -> Vec<&'a TrialRecord> {
        // Texts that are equal are kept once: there are few workers, and many trials.
        let mut texts: BTreeSet<String> = BTreeSet::new();
        let rows = |record: &'a TrialRecord| row(record, space, sources, |i| i == column);
        for record in &matching {
            if let Cell::Text(text) = self.cell(&rows(record), space, &sources[column])
                && !texts.contains(text)
            {
                texts.insert(text.to_owned());
            }
        }
        let ranks: BTreeMap<&str, usize> = texts.iter().map(String::as_str).zip(0..).collect();
        let key = |record: &'a TrialRecord| match self.cell(&rows(record), space, &sources[column]) {
            Cell::Number(x) => Key::Number(x),
            Cell::Text(text) => Key::Text(ranks.get(text).copied().unwrap_or(usize::MAX)),
            Cell::Truth(b) => Key::Truth(b),
            Cell::Empty => Key::Empty,
        };
        let mut keyed: Vec<(Key, &TrialRecord)> =
            matching.into_iter().map(|record| (key(record), record)).collect();
        // Stable: equal ones stay in the order of their numbers.
        keyed.sort_by(|(a, _), (b, _)| a.compare(*b, descending));
        keyed.into_iter().map(|(_, record)| record).collect()
    }
}

/// What a row is sorted by.
#[derive(Clone, Copy)]
enum Key {
    Number(f64),
    /// The place of the text among all texts.
    Text(usize),
    Truth(bool),
    Empty,
}

impl Key {
    /// Numbers before texts before truths; what is empty comes last, whatever the direction.
    fn compare(self, other: Self, descending: bool) -> Ordering {
        let rank = |key: Self| match key {
            Self::Number(_) => 0,
            Self::Text(_) => 1,
            Self::Truth(_) => 2,
            Self::Empty => 3,
        };
        let order = match (self, other) {
            (Self::Number(a), Self::Number(b)) => a.total_cmp(&b),
            (Self::Text(a), Self::Text(b)) => a.cmp(&b),
            (Self::Truth(a), Self::Truth(b)) => a.cmp(&b),
            _ => return rank(self).cmp(&rank(other)),
        };
        if descending { order.reverse() } else { order }
    }
}

/// What of a record its columns need.
fn row<'a>(
    record: &'a TrialRecord,
    space: &Space,
    sources: &[Source],
    uses: impl Fn(usize) -> bool,
) -> Row<'a> {
    // A row of a pool has features; everything else is read where it is.
    let is_row = space.as_pool().is_some() && record.given().is_none();
    let params = (is_row && (0..space.dims()).any(&uses)).then(|| record.params(space));
    let id = sources.iter().position(|source| *source == Source::Id).filter(|i| uses(*i));
    Row { record, params, id: id.and_then(|_| record.id(space)) }
}
