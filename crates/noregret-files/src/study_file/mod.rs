//! The study file: objective, search space, algorithm and budget. TOML, or JSON of the same shape.
//!
//! [`StudyFile::from_toml`] and [`StudyFile::from_json`] accept only valid files: they reject unknown fields and
//! contradictions between sections. Checks that need the space or the disk happen where those are used.

mod duration;
mod either;
mod environment;
mod error;
mod place;

use std::fs;
use std::num::{NonZeroU64, NonZeroUsize};
use std::path::{Path, PathBuf};

use indexmap::IndexMap;
use noregret::math::range::Range;
use noregret::study::TRIALS;
use noregret::{Direction, Duplicates, Param, Space};
use noregret_problems::Problem as Builtin;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

pub use duration::Span;
pub use either::{AlgorithmChoice, Batch};
pub use environment::Environment;
pub use error::{Problem, StudyFileError, VariableProblem};

/// How often a failed evaluation may be tried again: more often is for ever.
const RETRIES: Range = Range::new(0.0, 1_000.0);

/// A study file.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
#[schemars(title = "noregret study file")]
pub struct StudyFile {
    /// The study as a whole.
    pub study: StudySection,
    /// What is evaluated.
    pub objective: Objective,
    /// What may be varied, by name and in this order.
    #[serde(default, skip_serializing_if = "IndexMap::is_empty")]
    pub parameters: IndexMap<String, Param>,
    /// What must hold of the parameters together: expressions, by name.
    #[serde(default, skip_serializing_if = "IndexMap::is_empty")]
    pub constraints: IndexMap<String, String>,
    /// A finite set of candidates, in place of parameters.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub pool: Option<PoolSection>,
}

/// The study as a whole.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct StudySection {
    /// Its name in the storage.
    pub name: String,
    /// Whether small or large values are good.
    #[serde(default)]
    pub direction: Direction,
    /// Evaluations in all, from 1 to 1e9; without a number it goes on until it is stopped.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(range(max = 1_000_000_000))]
    pub trials: Option<NonZeroU64>,
    /// Points decided on together, from 1 to 1e5, or "auto": the algorithm says how many may run.
    #[serde(default)]
    pub batch: Batch,
    /// The one number behind all chance.
    #[serde(default)]
    pub seed: u64,
    /// The algorithm: its name, or a table of its name and its options.
    #[serde(default)]
    pub algorithm: AlgorithmChoice,
    /// Whether points may repeat.
    #[serde(default)]
    pub duplicates: Duplicates,
    /// Stop when the estimate of what could still be gained is below this.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub stop_when_regret_below: Option<f64>,
    /// Stop after this time, such as "8h".
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub timeout: Option<Span>,
}

/// What is evaluated: a command or a built-in test problem.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Objective {
    /// A program and its arguments, in which "{name}" stands for a parameter's value. No shell is involved.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub command: Vec<String>,
    /// A test problem, such as "branin" or "levy-5d"; it brings its own parameters.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub builtin: Option<String>,
    /// Longest time of one evaluation, such as "10m".
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub timeout: Option<Span>,
    /// How often a failed evaluation is tried again, from 0 to 1000.
    #[serde(default)]
    #[schemars(range(max = 1_000))]
    pub retries: u32,
    /// What the command inherits of noregret's environment: "inherit" for all of it, or a list of names such as "HOME" or
    /// "CUDA_*". `PATH` is always passed on.
    #[serde(default, skip_serializing_if = "Environment::is_all")]
    pub environment: Environment,
    /// Variables that are set for the command, in place of inherited ones.
    #[serde(default, skip_serializing_if = "IndexMap::is_empty")]
    pub env: IndexMap<String, String>,
}

/// A finite set of candidates in a file.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct PoolSection {
    /// CSV, Parquet or npy, relative to the study file.
    pub file: PathBuf,
    /// Columns that describe a candidate; all numeric ones by default.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub features: Vec<String>,
    /// Column with the names of candidates; by default they are numbered.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub id: Option<String>,
}

impl StudyFile {
    /// Reads a file: JSON if its name ends so, TOML otherwise.
    pub fn read(path: &Path) -> Result<Self, StudyFileError> {
        let text =
            fs::read_to_string(path).map_err(|e| StudyFileError::from(Problem::Read(e)).in_file(path))?;
        let is_json = path.extension().is_some_and(|extension| extension.eq_ignore_ascii_case("json"));
        let read = if is_json { Self::from_json(&text) } else { Self::from_toml(&text) };
        read.map_err(|error| error.in_file(path))
    }

    /// Reads TOML.
    pub fn from_toml(text: &str) -> Result<Self, StudyFileError> {
        let file: Self = toml::from_str(text).map_err(|error| StudyFileError::toml(text, &error))?;
        file.checked().map_err(|problem| StudyFileError::from(problem).located_in(text))
    }

    /// Reads JSON.
    pub fn from_json(text: &str) -> Result<Self, StudyFileError> {
        let file: Self = serde_json::from_str(text).map_err(|error| StudyFileError::json(text, &error))?;
        Ok(file.checked()?)
    }

    fn checked(self) -> Result<Self, Problem> {
        if self.study.name.trim().is_empty() {
            return Err(Problem::EmptyName);
        }
        let Objective { command, builtin, .. } = &self.objective;
        if command.is_empty() == builtin.is_none() {
            return Err(Problem::Objective { both: builtin.is_some() });
        }
        self.builtin()?;
        self.objective.check_environment()?;
        let (parameters, pool) = (!self.parameters.is_empty(), self.pool.is_some());
        if parameters && pool {
            return Err(Problem::Space { both: true });
        }
        if !parameters && !pool && builtin.is_none() {
            return Err(Problem::Space { both: false });
        }
        if !parameters && !self.constraints.is_empty() {
            return Err(Problem::ConstraintsWithoutParameters);
        }
        if let Some(value) = self.study.stop_when_regret_below.filter(|v| !(*v > 0.0 && v.is_finite())) {
            return Err(Problem::Threshold { value });
        }
        let trials = self.study.trials.map(|n| usize::try_from(n.get()).unwrap_or(usize::MAX));
        TRIALS.check("study.trials", trials)?;
        RETRIES.check("objective.retries", f64::from(self.objective.retries))?;
        if let Some(word) = self.objective.command.iter().find(|word| word.contains('\0')) {
            return Err(Problem::Nul { word: word.clone() });
        }
        self.space()?;
        self.study.algorithm.0.build().map_err(|error| Problem::Algorithm(Box::new(error)))?;
        Ok(self)
    }

    /// The test problem to evaluate, if it is one.
    pub fn builtin(&self) -> Result<Option<Builtin>, Problem> {
        let find = |name: &String| {
            Builtin::by_name(name).ok_or_else(|| Problem::UnknownBuiltin { name: name.clone() })
        };
        self.objective.builtin.as_ref().map(find).transpose()
    }

    /// The space of the parameters, or the box of the test problem; `None` for a pool, whose file must be read first.
    pub fn space(&self) -> Result<Option<Space>, Problem> {
        if self.pool.is_some() {
            return Ok(None);
        }
        if self.parameters.is_empty() {
            let bounds = self.builtin()?.map(|problem| problem.bounds);
            return Ok(bounds.map(|bounds| Space::bounds(&bounds)).transpose()?);
        }
        let (parameters, constraints) = (self.parameters.clone(), self.constraints.clone());
        Ok(Some(Space::from_params(parameters, constraints)?))
    }

    /// Points decided on together; `None` leaves it to the algorithm.
    pub fn batch(&self) -> Option<NonZeroUsize> {
        match self.study.batch {
            Batch::Points(n) => Some(n),
            Batch::Auto => None,
        }
    }
}

impl Objective {
    fn check_environment(&self) -> Result<(), Problem> {
        if self.builtin.is_some() && !(self.environment.is_all() && self.env.is_empty()) {
            return Err(Problem::EnvironmentOfBuiltin {
                key: if self.env.is_empty() { "environment" } else { "env" },
            });
        }
        let invalid = |key, name: &str, problem| Problem::Variable { key, name: name.into(), problem };
        self.environment.check().map_err(|(name, problem)| invalid("environment", name, problem))?;
        let check = |(name, value): (&String, &String)| {
            environment::check_variable(name, value).map_err(|problem| invalid("env", name, problem))
        };
        self.env.iter().try_for_each(check)
    }
}

#[cfg(test)]
mod tests;
