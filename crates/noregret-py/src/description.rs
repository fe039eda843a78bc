//! What makes a study, as Python says it.

use noregret::{Algorithm, Direction, Duplicates};
use noregret_store::{Definition, SpaceDefinition};
use pyo3::prelude::*;
use serde_json::Value as Json;

use crate::errors::{exception, raise};
use crate::space::Pool;

/// Everything that makes a study, as a dict.
#[derive(FromPyObject)]
#[pyo3(from_item_all)]
pub(crate) struct Description<'py> {
    pub(crate) name: String,
    pub(crate) storage: String,
    pub(crate) direction: String,
    pub(crate) seed: u64,
    pub(crate) algorithm: String,
    pub(crate) duplicates: String,
    pub(crate) trials: Option<usize>,
    pub(crate) parameters: Vec<(String, Bound<'py, PyAny>)>,
    pub(crate) constraints: Vec<(String, String)>,
    pub(crate) predicates: Vec<(String, Py<PyAny>)>,
    pub(crate) pool: Option<Py<Pool>>,
    /// A log to begin with, as [`Study::log`] gives it.
    pub(crate) log: Option<String>,
}

impl Description<'_> {
    /// What the log keeps of it.
    pub(crate) fn definition(&self, space: SpaceDefinition) -> PyResult<Definition> {
        Ok(Definition {
            version: Definition::VERSION,
            direction: direction(&self.direction)?,
            seed: self.seed,
            algorithm: algorithm(&self.algorithm)?,
            duplicates: duplicates(&self.duplicates)?,
            trials: self.trials,
            space,
            assignment: None,
        })
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
