//! A study, as `python/noregret/study.py` wants it.

use std::mem::take;
use std::sync::atomic::{AtomicU32, Ordering};
use std::sync::{Arc, Mutex, TryLockError};
use std::time::Duration;

use noregret::study::check_noise_var;
use noregret::{Params, Space, SpaceError};
use noregret_page::log::Chronicle;
use noregret_page::model::ViewError;
use noregret_page::report::{self, ReportError, Reported};
use noregret_store::{
    Attrs, Evaluation, Event, ExternalResult, HandOut, StorageUrl, Store, StoreError, Timestamp, TrialRecord,
    can_be_kept, rfc3339, this_worker,
};
use pyo3::prelude::*;
use pyo3::types::{PyDict, PyTuple};

use crate::calls::{Calls, refuse_inside};
use crate::convert::{array, from_params, from_record};
use crate::description::Description;
use crate::errors::{exception, internal, raise, space_exception};
use crate::interruptible::Patience;
use crate::points;
use crate::space::Declared;
use crate::state::{State, defined};
use crate::thinking::{lock, think};

/// Who holds trials that were asked for and belong to no process, as `noregret ask` has it.
const NOBODY: &str = "ask";

/// A study; see `noregret.Study`.
#[pyclass(frozen, module = "noregret._native")]
pub(crate) struct Study {
    state: Arc<Mutex<State>>,
    process: AtomicU32,
    space: Space,
    calls: Calls,
}

#[pymethods]
impl Study {
    #[new]
    fn new(py: Python<'_>, mut description: Description<'_>) -> PyResult<Self> {
        let url: StorageUrl = description.storage.parse().map_err(|error| exception(&error))?;
        let calls = Calls::default();
        let (space_definition, space) = if let Some(pool) = &description.pool {
            (pool.get().definition(), pool.get().space().clone())
        } else {
            let declared = Declared::new(
                take(&mut description.parameters),
                take(&mut description.constraints),
                take(&mut description.predicates),
            )?;
            (declared.definition(), declared.build(py, &calls)?)
        };
        let definition = description.definition(space_definition)?;
        let (name, log, attention) = (description.name, description.log, calls.attention().clone());
        let open = || State::open(name, url, &definition, space.clone(), attention, log.as_deref());
        let state = Arc::new(Mutex::new(py.detach(open).map_err(|error| exception(&error))?));
        Ok(Self { state, process: AtomicU32::new(std::process::id()), space, calls })
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
            // Those that wait count: no more new ones than are missing.
            batch: n.map(|_| 1),
            budget: None,
            worker: if own { this_worker() } else { NOBODY.into() },
            lease: lease.transpose()?,
            request: None,
        };
        let asked = self.think(py, move |state| {
            state.shared.catch_up()?;
            let trials = state.shared.hand_out(&order, Timestamp::now())?;
            let record = |number| state.shared.ledger().record(number).cloned();
            Ok(trials.into_iter().filter_map(|t| Some((record(t.number)?, t.params))).collect::<Vec<_>>())
        })?;
        asked.iter().map(|(record, params)| self.to_tuple(py, record, params)).collect()
    }

    /// Puts trials of processes that have died back into the queue.
    fn recover(&self, py: Python<'_>) -> PyResult<()> {
        let order = HandOut {
            wanted: 0,
            batch: Some(1),
            budget: None,
            worker: this_worker(),
            lease: None,
            request: None,
        };
        self.with(py, |state| {
            state.shared.catch_up()?;
            state.shared.hand_out(&order, Timestamp::now()).map(drop)
        })
    }

    /// Points that `ask` would hand out, as dicts.
    fn suggest<'py>(&self, py: Python<'py>, n: usize) -> PyResult<Vec<Bound<'py, PyDict>>> {
        let points = self.think(py, move |state| {
            state.shared.catch_up()?;
            Ok(state.shared.study().suggest(n)?)
        })?;
        points.iter().map(|params| from_params(py, params)).collect()
    }

    /// Tells a value; returns what became of it, in a word. `attrs` is a JSON object.
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
        check_noise_var(number, noise_var)
            .map_err(|error| exception(&noregret::Error::from(error).into()))?;
        let attrs: Attrs = attrs.map_or(Ok(Attrs::new()), serde_json::from_str).map_err(|error| {
            // Such as half of a surrogate pair, which is no text.
            raise("InvalidArgument", &format!("attrs cannot be kept as JSON: {error}"), None)
        })?;
        if !can_be_kept(&attrs) {
            return Err(raise("InvalidArgument", "attrs are nested too deep", None));
        }
        let outcome = Evaluation::Value { value, noise_var, attrs, seconds };
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
        self.end(py, number, Evaluation::Failure { reason, stderr: String::new(), seconds })
    }

    /// Replaces the result of a trial.
    #[pyo3(signature = (number, value, noise_var=None, reason=None))]
    fn replace(
        &self,
        py: Python<'_>,
        number: u64,
        value: f64,
        noise_var: Option<f64>,
        reason: Option<String>,
    ) -> PyResult<&'static str> {
        let reason = reason.unwrap_or_default();
        self.with(py, |state| {
            let now = Timestamp::now();
            Ok(state.shared.replace(number, value, noise_var, &reason, now)?.word())
        })
    }

    /// Gives trials that this process or nobody holds back to the queue.
    fn release(&self, py: Python<'_>, numbers: Vec<u64>) -> PyResult<()> {
        self.with(py, |state| {
            state.shared.catch_up()?;
            for number in &numbers {
                state.shared.study().trial(*number)?;
            }
            state.shared.release(&numbers, &[NOBODY, &this_worker()], Timestamp::now())
        })
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

    /// Adds results from elsewhere, at points or in rows of the pool; returns how many were new.
    #[pyo3(signature = (values, points=None, rows=None, noise_vars=None))]
    fn add(
        &self,
        py: Python<'_>,
        values: Vec<f64>,
        points: Option<&Bound<'_, PyAny>>,
        rows: Option<Vec<usize>>,
        noise_vars: Option<Vec<f64>>,
    ) -> PyResult<usize> {
        let given = points;
        let points = given.map(|points| points::read(&self.space, points)).transpose()?;
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
                results.push(ExternalResult { params, row, value: Some(value), noise_var });
            }
            state.shared.catch_up()?;
            match state.shared.add(&results, Timestamp::now()) {
                Err(StoreError::Study(noregret::Error::Space(problem))) => Ok(Err(problem)),
                other => other.map(Ok),
            }
        })?
        .map_err(|problem| self.locate(given, &problem))
    }

    /// All trials, by number.
    fn trials<'py>(&self, py: Python<'py>) -> PyResult<Vec<Bound<'py, PyTuple>>> {
        let records = self.with(py, |state| {
            state.shared.catch_up()?;
            Ok(state.shared.ledger().records().to_vec())
        })?;
        let mut trials = Vec::with_capacity(records.len());
        for record in &records {
            trials.push(self.to_tuple(py, record, &record.params(&self.space))?);
        }
        Ok(trials)
    }

    /// One trial.
    fn trial<'py>(&self, py: Python<'py>, number: u64) -> PyResult<Bound<'py, PyTuple>> {
        let record = self.with(py, |state| {
            state.shared.catch_up()?;
            state.shared.study().trial(number)?;
            Ok(state.shared.ledger().record(number).cloned())
        })?;
        let record = record.ok_or_else(|| internal("a trial that the ledger does not know"))?;
        self.to_tuple(py, &record, &record.params(&self.space))
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
        best.map(|record| self.to_tuple(py, &record, &record.params(&self.space))).transpose()
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

    /// The study as a notebook shows it, as HTML.
    fn notebook(&self, py: Python<'_>) -> PyResult<String> {
        self.with(py, |state| {
            state.shared.catch_up()?;
            let mut chronicle = Chronicle::default();
            chronicle.catch_up(&*state.store, state.shared.name())?;
            Ok(report::notebook(&mut state.shared, &chronicle))
        })
    }

    /// A report: HTML with everything in it, or Markdown.
    fn report(&self, py: Python<'_>, markdown: bool) -> PyResult<String> {
        let made = self.think(py, move |state| {
            state.shared.catch_up()?;
            let store = Arc::clone(&state.store) as Arc<dyn Store>;
            let mut studies = [Reported::new(&mut state.shared, store)?];
            let now = rfc3339(Timestamp::now());
            let made = if markdown {
                report::markdown(&mut studies, &now)
            } else {
                report::html(&mut studies, &now)
            };
            match made {
                Err(ReportError::Store(error)) => Err(error),
                Err(ReportError::View(ViewError::Study(error))) => Err(error.into()),
                other => Ok(other),
            }
        })?;
        made.map_err(|error| raise("NoRegretError", &error.to_string(), None))
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
        self.enter()?;
        let patience = Patience::default();
        let (mine, calls) = (patience.clone(), self.calls.clone());
        let result = think(
            py,
            &self.state,
            || patience.lose(),
            move |state| {
                calls.begin();
                state.begin(mine)?;
                work(state)
            },
        )?;
        self.calls.check()?;
        result.map_err(|error| exception(&error))
    }

    /// Something quick.
    fn with<T: Send>(
        &self,
        py: Python<'_>,
        work: impl FnOnce(&mut State) -> Result<T, StoreError> + Send,
    ) -> PyResult<T> {
        self.enter()?;
        let mut state = lock(py, &self.state)?;
        let state = &mut *state;
        let calls = &self.calls;
        let result = py.detach(move || {
            calls.begin();
            state.begin(Patience::default())?;
            work(state)
        });
        self.calls.check()?;
        result.map_err(|error| exception(&error))
    }

    /// Before every call: whoever would wait for ever is told.
    fn enter(&self) -> PyResult<()> {
        refuse_inside()?;
        let process = std::process::id();
        if self.process.swap(process, Ordering::SeqCst) != process
            && matches!(self.state.try_lock(), Err(TryLockError::WouldBlock))
        {
            self.process.store(0, Ordering::SeqCst);
            let problem = "this process was forked while another thread was using the study, which cannot be used here: open it again";
            return Err(raise("InvalidArgument", problem, None));
        }
        Ok(())
    }

    fn end(&self, py: Python<'_>, number: u64, outcome: Evaluation) -> PyResult<&'static str> {
        let verdicts = self.with(py, |state| {
            state.shared.tell(&[(number, outcome.clone())], None, Timestamp::now()).or_else(|error| {
                // Somebody else may have asked for it: look at the log before saying that there is no such trial.
                if state.shared.catch_up()? == 0 {
                    return Err(error);
                }
                state.shared.tell(&[(number, outcome)], None, Timestamp::now())
            })
        })?;
        Ok(verdicts[0].word())
    }

    /// The exception for one of many points, with the row it is in.
    fn locate(&self, points: Option<&Bound<'_, PyAny>>, problem: &SpaceError) -> PyErr {
        let points = points.and_then(|points| points::read(&self.space, points).ok()).unwrap_or_default();
        match points.iter().position(|params| self.space.encode(params).is_err()) {
            Some(row) => {
                raise("InvalidParams", &format!("row {row} (from 0): {problem}"), problem.parameter())
            }
            None => space_exception(problem),
        }
    }

    fn to_tuple<'py>(
        &self,
        py: Python<'py>,
        record: &TrialRecord,
        params: &Params,
    ) -> PyResult<Bound<'py, PyTuple>> {
        from_record(py, record, params, record.id(&self.space).as_deref())
    }
}
