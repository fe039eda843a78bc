//! A study, as `python/noregret/study.py` wants it.

use std::sync::{Arc, Mutex};
use std::time::Duration;

use noregret::{Algorithm, Direction, Duplicates, Params, Space};
use noregret_store::{
    Added, Attrs, Definition, Entry, Event, HandOut, Outcome, SharedStudy, StorageUrl, Store, StoreError,
    Timestamp, TrialRecord, Verdict, this_worker,
};
use pyo3::prelude::*;
use pyo3::types::{PyDict, PyTuple};
use serde_json::Value as Json;

use crate::convert::{array, from_params, from_record};
use crate::errors::{exception, internal, raise};
use crate::interruptible::{Interruptible, Patience};
use crate::points;
use crate::space::{Declared, Pool, PredicateErrors};
use crate::thinking::{lock, think};

/// Who holds trials that were asked for and belong to no process, as `noregret ask` has it.
const NOBODY: &str = "ask";

/// Everything that makes a study, as a dict.
#[derive(FromPyObject)]
#[pyo3(from_item_all)]
struct Description<'py> {
    name: String,
    storage: String,
    direction: String,
    seed: u64,
    algorithm: String,
    duplicates: String,
    parameters: Vec<(String, Bound<'py, PyAny>)>,
    constraints: Vec<(String, String)>,
    predicates: Vec<(String, Py<PyAny>)>,
    pool: Option<Py<Pool>>,
    /// A log to begin with, as [`Study::log`] gives it.
    log: Option<String>,
}

/// The study and its store.
struct State {
    shared: SharedStudy,
    store: Arc<Interruptible>,
    process: u32,
    space: Space,
    url: StorageUrl,
}

/// A study; see `noregret.Study`.
#[pyclass(frozen, module = "noregret._native")]
pub(crate) struct Study {
    state: Arc<Mutex<State>>,
    space: Space,
    predicate_errors: PredicateErrors,
}

/// How a study in a storage was defined, as JSON.
fn defined(name: &str, storage: &str) -> Result<String, StoreError> {
    let url: StorageUrl = storage.parse()?;
    let definition = SharedStudy::first_definition(&*url.open_existing()?, name, &url.to_string())?;
    Ok(serde_json::to_string(&definition).unwrap_or_default())
}

#[pymethods]
impl Study {
    #[new]
    fn new(py: Python<'_>, description: Description<'_>) -> PyResult<Self> {
        let url: StorageUrl = description.storage.parse().map_err(|error| exception(&error))?;
        let (space_definition, space, predicate_errors) = if let Some(pool) = &description.pool {
            (pool.get().definition(), pool.get().space().clone(), PredicateErrors::default())
        } else {
            let declared =
                Declared::new(description.parameters, description.constraints, description.predicates)?;
            let definition = declared.definition();
            let (space, errors) = declared.build(py)?;
            (definition, space, errors)
        };
        let definition = Definition {
            version: Definition::VERSION,
            direction: direction(&description.direction)?,
            seed: description.seed,
            algorithm: algorithm(&description.algorithm)?,
            duplicates: duplicates(&description.duplicates)?,
            space: space_definition,
        };
        let (name, log) = (description.name, description.log);
        let state = py.detach(|| State::open(name, url, &definition, space.clone(), log.as_deref()));
        let state = Arc::new(Mutex::new(state.map_err(|error| exception(&error))?));
        Ok(Self { state, space, predicate_errors })
    }

    /// How a study in a storage was defined, as JSON.
    #[staticmethod]
    fn defined(py: Python<'_>, name: &str, storage: &str) -> PyResult<String> {
        py.detach(|| defined(name, storage)).map_err(|error| exception(&error))
    }

    /// Names of the parameters, in order.
    fn names(&self) -> Vec<String> {
        self.space.names().to_vec()
    }

    /// Hands out trials: `n`, or as many as the algorithm allows. `lease` is in seconds; `own` trials belong to this
    /// process and return to the queue when it ends.
    #[pyo3(signature = (n, lease=None, own=false))]
    fn ask<'py>(
        &self,
        py: Python<'py>,
        n: Option<usize>,
        lease: Option<f64>,
        own: bool,
    ) -> PyResult<Vec<Bound<'py, PyTuple>>> {
        if n == Some(0) {
            return Err(raise("InvalidArgument", "ask for at least one trial", None));
        }
        let lease = lease.map(|seconds| {
            Duration::try_from_secs_f64(seconds).map_err(|_| {
                raise("InvalidArgument", &format!("a lease is a number of seconds, not {seconds}"), None)
            })
        });
        let order = HandOut {
            wanted: n.unwrap_or(usize::MAX),
            batch: n,
            budget: None,
            worker: if own { this_worker() } else { NOBODY.into() },
            lease: lease.transpose()?,
        };
        let asked = self.think(py, move |state| {
            state.shared.catch_up()?;
            let trials = state.shared.hand_out(&order, Timestamp::now())?;
            let record = |number| state.shared.ledger().record(number).cloned();
            Ok(trials.into_iter().filter_map(|t| Some((record(t.number)?, t.params))).collect::<Vec<_>>())
        })?;
        asked.iter().map(|(record, params)| self.to_tuple(py, record, params)).collect()
    }

    /// Points that `ask` would hand out, as dicts.
    fn suggest<'py>(&self, py: Python<'py>, n: usize) -> PyResult<Vec<Bound<'py, PyDict>>> {
        let points = self.think(py, move |state| {
            state.shared.catch_up()?;
            Ok(state.shared.study().suggest(n)?)
        })?;
        points.iter().map(|params| from_params(py, params)).collect()
    }

    /// Tells a value; answers what became of it, in a word. `attrs` is a JSON object.
    #[pyo3(signature = (number, value, noise_var=None, attrs=None, seconds=None))]
    fn tell(
        &self,
        py: Python<'_>,
        number: u64,
        value: f64,
        noise_var: Option<f64>,
        attrs: Option<&str>,
        seconds: Option<f64>,
    ) -> PyResult<&'static str> {
        if let Some(noise) = noise_var.filter(|noise| !(*noise >= 0.0 && noise.is_finite())) {
            let problem =
                format!("trial {number}: a noise variance must be finite and not negative, not {noise}");
            return Err(raise("InvalidArgument", &problem, None));
        }
        let attrs: Attrs = attrs.map_or(Ok(Attrs::new()), serde_json::from_str).map_err(internal)?;
        let outcome = Outcome::Value { value, noise_var, attrs, seconds };
        self.end(py, number, outcome)
    }

    /// Tells that a trial ended without a value.
    #[pyo3(signature = (number, reason, seconds=None))]
    fn fail(
        &self,
        py: Python<'_>,
        number: u64,
        reason: String,
        seconds: Option<f64>,
    ) -> PyResult<&'static str> {
        self.end(py, number, Outcome::Failure { reason, stderr: String::new(), seconds })
    }

    /// Gives trials that are being evaluated back to the queue.
    #[pyo3(signature = (numbers, own=false))]
    fn release(&self, py: Python<'_>, numbers: Vec<u64>, own: bool) -> PyResult<()> {
        let worker = if own { this_worker() } else { NOBODY.into() };
        self.with(py, |state| state.shared.release(&numbers, &worker, Timestamp::now()))
    }

    /// Puts points into the queue: they are the next to be handed out.
    fn enqueue<'py>(
        &self,
        py: Python<'py>,
        points: &Bound<'py, PyAny>,
    ) -> PyResult<Vec<Bound<'py, PyTuple>>> {
        let points = points::read(&self.space, points)?;
        let queued = self.with(py, |state| {
            let trials = state.shared.enqueue(&points, Timestamp::now())?;
            let record = |number| state.shared.ledger().record(number).cloned();
            Ok(trials.into_iter().filter_map(|t| Some((record(t.number)?, t.params))).collect::<Vec<_>>())
        })?;
        queued.iter().map(|(record, params)| self.to_tuple(py, record, params)).collect()
    }

    /// Adds results from elsewhere, at points or in rows of the pool; answers how many were new.
    #[pyo3(signature = (values, points=None, rows=None, noise_vars=None))]
    fn add(
        &self,
        py: Python<'_>,
        values: Vec<f64>,
        points: Option<&Bound<'_, PyAny>>,
        rows: Option<Vec<usize>>,
        noise_vars: Option<Vec<f64>>,
    ) -> PyResult<usize> {
        let points = points.map(|points| points::read(&self.space, points)).transpose()?;
        let count = points.as_ref().map(Vec::len).or(rows.as_ref().map(Vec::len)).unwrap_or(0);
        let lengths = [Some(values.len()), noise_vars.as_ref().map(Vec::len)];
        if let Some(length) = lengths.into_iter().flatten().find(|length| *length != count) {
            let problem = format!("{count} points need as many values (and noise variances), not {length}");
            return Err(raise("InvalidArgument", &problem, None));
        }
        let space = &self.space;
        self.with(py, |state| {
            let mut points = points.into_iter().flatten();
            let mut results = Vec::with_capacity(count);
            for (i, value) in values.into_iter().enumerate() {
                let row = rows.as_ref().map(|rows| rows[i]);
                let params = match (row, space.as_pool()) {
                    (Some(row), Some(pool)) if row < pool.len() => pool.params(row),
                    (Some(row), _) => {
                        let rows = space.as_pool().map_or(0, noregret::Pool::len);
                        return Err(noregret::Error::from(noregret::study::StudyError::UnknownRow {
                            row,
                            rows,
                        })
                        .into());
                    }
                    (None, _) => points.next().unwrap_or_else(|| unreachable!("invariant: counted above")),
                };
                let noise_var = noise_vars.as_ref().map(|noise_vars| noise_vars[i]);
                results.push(Added { params, row, value: Some(value).filter(|v| v.is_finite()), noise_var });
            }
            state.shared.catch_up()?;
            state.shared.add(&results, Timestamp::now())
        })
    }

    /// All trials, by number.
    fn trials<'py>(&self, py: Python<'py>) -> PyResult<Vec<Bound<'py, PyTuple>>> {
        let records = self.with(py, |state| {
            state.shared.catch_up()?;
            Ok(state.shared.ledger().records().to_vec())
        })?;
        let mut trials = Vec::with_capacity(records.len());
        for record in &records {
            trials.push(self.to_tuple(py, record, &self.params_of(record))?);
        }
        Ok(trials)
    }

    /// How many trials there are, and how many of them wait, run, are complete, have failed.
    fn counts(&self, py: Python<'_>) -> PyResult<(usize, usize, usize, u64, u64)> {
        self.with(py, |state| {
            state.shared.catch_up()?;
            let ledger = state.shared.ledger();
            let (waiting, running) = (ledger.waiting().len(), ledger.running().count());
            Ok((ledger.records().len(), waiting, running, ledger.complete(), ledger.failed()))
        })
    }

    /// The trial with the best value.
    fn best_observed<'py>(&self, py: Python<'py>) -> PyResult<Option<Bound<'py, PyTuple>>> {
        let best = self.with(py, |state| {
            state.shared.catch_up()?;
            let best = state.shared.study().best_observed().map(|trial| trial.number);
            Ok(best.and_then(|number| state.shared.ledger().record(number).cloned()))
        })?;
        best.map(|record| self.to_tuple(py, &record, &self.params_of(&record))).transpose()
    }

    /// Number, params, mean, interval and observed value of the point to use.
    #[expect(clippy::type_complexity, reason = "a tuple that Python gives names to")]
    fn recommended<'py>(
        &self,
        py: Python<'py>,
    ) -> PyResult<Option<(u64, Bound<'py, PyDict>, f64, (f64, f64), Option<f64>)>> {
        let recommended = self.think(py, |state| {
            state.shared.catch_up()?;
            Ok(state.shared.study().recommended()?)
        })?;
        recommended
            .map(|r| Ok((r.number, from_params(py, &r.params)?, r.mean, r.interval, r.observed)))
            .transpose()
    }

    /// Median and 90 % interval of what the recommended point still misses.
    fn remaining_regret(&self, py: Python<'_>) -> PyResult<Option<(f64, (f64, f64))>> {
        let regret = self.think(py, |state| {
            state.shared.catch_up()?;
            Ok(state.shared.study().remaining_regret()?)
        })?;
        Ok(regret.map(|regret| (regret.median, regret.interval)))
    }

    /// The share of variation that each parameter explains, largest first.
    fn importance(&self, py: Python<'_>) -> PyResult<Option<Vec<(String, f64)>>> {
        let insight = self.think(py, |state| {
            state.shared.catch_up()?;
            Ok(state.shared.study().insight()?)
        })?;
        Ok(insight.map(|insight| insight.importance))
    }

    /// Mean and standard deviation of the model at points.
    fn predict<'py>(
        &self,
        py: Python<'py>,
        points: &Bound<'py, PyAny>,
    ) -> PyResult<Option<(Bound<'py, PyAny>, Bound<'py, PyAny>)>> {
        let points = points::read(&self.space, points)?;
        let prediction = self.think(py, move |state| {
            state.shared.catch_up()?;
            Ok(state.shared.study().predict(&points)?)
        })?;
        prediction.map(|p| Ok((array(py, p.mean)?, array(py, p.sd)?))).transpose()
    }

    /// How the last proposal came about, as JSON.
    fn diagnostics(&self, py: Python<'_>) -> PyResult<Option<String>> {
        let diagnostics = self.with(py, |state| {
            state.shared.catch_up()?;
            Ok(state.shared.diagnostics().map(serde_json::to_string))
        })?;
        diagnostics.transpose().map_err(internal)
    }

    /// Everything that happened, as JSON: times with events.
    fn log(&self, py: Python<'_>) -> PyResult<String> {
        let entries = self.with(py, |state| state.store.read(state.shared.name(), 0, usize::MAX))?;
        let pairs: Vec<(Timestamp, Event)> = entries.into_iter().map(|e| (e.time, e.event)).collect();
        py.detach(|| serde_json::to_string(&pairs)).map_err(internal)
    }
}

impl Study {
    /// A computation that takes its time: on a thread, so that Ctrl-C is heard.
    fn think<T: Send + 'static>(
        &self,
        py: Python<'_>,
        work: impl FnOnce(&mut State) -> Result<T, StoreError> + Send + 'static,
    ) -> PyResult<T> {
        let patience = Patience::default();
        let mine = patience.clone();
        let result = think(
            py,
            &self.state,
            || patience.lose(),
            move |state| {
                state.begin(mine)?;
                work(state)
            },
        )?;
        self.predicate_errors.check()?;
        result.map_err(|error| exception(&error))
    }

    /// Something quick.
    fn with<T: Send>(
        &self,
        py: Python<'_>,
        work: impl FnOnce(&mut State) -> Result<T, StoreError> + Send,
    ) -> PyResult<T> {
        let mut state = lock(py, &self.state)?;
        let state = &mut *state;
        let result = py.detach(move || {
            state.begin(Patience::default())?;
            work(state)
        });
        result.map_err(|error| exception(&error))
    }

    fn end(&self, py: Python<'_>, number: u64, outcome: Outcome) -> PyResult<&'static str> {
        let verdicts = self.with(py, |state| {
            state.shared.tell(&[(number, outcome.clone())], None, Timestamp::now()).or_else(|error| {
                // Somebody else may have asked for it: look at the log before saying that there is no such trial.
                if state.shared.catch_up()? == 0 {
                    return Err(error);
                }
                state.shared.tell(&[(number, outcome)], None, Timestamp::now())
            })
        })?;
        Ok(match verdicts[0] {
            Verdict::Complete | Verdict::AfterFailure => "complete",
            Verdict::Failed | Verdict::Retried => "failed",
            Verdict::Same => "same",
            Verdict::Late => "late",
        })
    }

    fn params_of(&self, record: &TrialRecord) -> Params {
        record.added.clone().unwrap_or_else(|| record.choice.params(&self.space))
    }

    fn to_tuple<'py>(
        &self,
        py: Python<'py>,
        record: &TrialRecord,
        params: &Params,
    ) -> PyResult<Bound<'py, PyTuple>> {
        let id = self.space.as_pool().zip(record.choice.row).map(|(pool, row)| pool.id(row));
        from_record(py, record, params, id.as_deref())
    }
}

impl State {
    fn open(
        name: String,
        url: StorageUrl,
        definition: &Definition,
        space: Space,
        log: Option<&str>,
    ) -> Result<Self, StoreError> {
        let store = Arc::new(Interruptible::new(url.open()?));
        if let Some(log) = log {
            let corrupt = |error: serde_json::Error| StoreError::Corrupt {
                study: name.clone(),
                position: 0,
                problem: error.to_string(),
            };
            let pairs: Vec<(Timestamp, Event)> = serde_json::from_str(log).map_err(corrupt)?;
            let entries: Vec<Entry> = pairs.into_iter().map(|(time, event)| Entry { time, event }).collect();
            store.append(&name, 0, &entries)?;
        }
        let shared =
            SharedStudy::open(Arc::clone(&store) as Arc<dyn Store>, &name, definition, space.clone())?;
        Ok(Self { shared, store, process: std::process::id(), space, url })
    }

    /// What is to be done before anything is done.
    fn begin(&mut self, patience: Patience) -> Result<(), StoreError> {
        if self.process != std::process::id() {
            self.settle()?;
        }
        self.store.begin(patience);
        Ok(())
    }

    /// In a forked child: a connection to a database must not be shared with the parent, nor closed.
    fn settle(&mut self) -> Result<(), StoreError> {
        if let StorageUrl::Sqlite(_) = self.url {
            let store = Arc::new(Interruptible::new(self.url.open()?));
            let (name, definition) = (self.shared.name().to_owned(), self.shared.definition().clone());
            let shared = SharedStudy::resume(
                Arc::clone(&store) as Arc<dyn Store>,
                &name,
                definition,
                self.space.clone(),
            )?;
            std::mem::forget(std::mem::replace(&mut self.shared, shared));
            std::mem::forget(std::mem::replace(&mut self.store, store));
        }
        self.process = std::process::id();
        Ok(())
    }
}

fn direction(word: &str) -> PyResult<Direction> {
    match word {
        "minimize" => Ok(Direction::Minimize),
        "maximize" => Ok(Direction::Maximize),
        _ => Err(raise(
            "InvalidArgument",
            &format!("direction must be \"minimize\" or \"maximize\", not {word:?}"),
            None,
        )),
    }
}

fn duplicates(word: &str) -> PyResult<Duplicates> {
    match word {
        "avoid" => Ok(Duplicates::Avoid),
        "allow" => Ok(Duplicates::Allow),
        "replicate" => Ok(Duplicates::Replicate),
        _ => {
            let problem = format!("duplicates must be \"avoid\", \"allow\" or \"replicate\", not {word:?}");
            Err(raise("InvalidArgument", &problem, None))
        }
    }
}

/// An algorithm from its JSON: an object with its name and options.
fn algorithm(json: &str) -> PyResult<Algorithm> {
    let refuse = |problem: String| raise("InvalidAlgorithm", &problem, None);
    let mut options: serde_json::Map<String, Json> =
        serde_json::from_str(json).map_err(|error| refuse(error.to_string()))?;
    let Some(Json::String(name)) = options.remove("name") else {
        return Err(refuse("an algorithm needs a name, as in {\"name\": \"ts-rsr\"}".into()));
    };
    let algorithm = Algorithm::with_options(&name, options).map_err(|error| refuse(error.to_string()))?;
    algorithm.build().map_err(|error| exception(&error.into()))?;
    Ok(algorithm)
}
