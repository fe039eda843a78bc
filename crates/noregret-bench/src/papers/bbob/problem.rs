//! COCO's functions, in a process of its own.

use std::path::PathBuf;

use serde_json::{Value as Json, json};

use super::BbobArgs;
use crate::BenchError;
use crate::harness::adapter::{Adapter, Script};

const SCRIPT: Script = Script { environment: "bbob", name: "bbob.py", argument: None };

/// Where functions are to be had; the process starts with the first of them.
pub(super) struct Coco {
    environments: Option<PathBuf>,
    adapters: PathBuf,
    process: Option<Adapter>,
}

/// From a point to the value there.
type Evaluate<'a> = dyn FnMut(&[f64]) -> Result<f64, BenchError> + 'a;

/// A function that can be evaluated.
pub(super) struct Instance<'a> {
    /// Of its parameters.
    pub(super) bounds: Vec<(f64, f64)>,
    /// Its smallest value.
    pub(super) optimum: f64,
    /// How it is.
    pub(super) evaluate: Box<Evaluate<'a>>,
}

impl Coco {
    pub(super) fn new(args: &BbobArgs) -> Self {
        let BbobArgs { environments, adapters, .. } = args.clone();
        Self { environments, adapters, process: None }
    }

    /// An instance of a function; both count from 1.
    pub(super) fn problem(
        &mut self,
        function: u32,
        dims: u32,
        instance: u32,
    ) -> Result<Instance<'_>, BenchError> {
        let process = match &mut self.process {
            Some(process) => process,
            none => none.insert(Adapter::start(&SCRIPT, self.environments.as_deref(), &self.adapters, 1)?),
        };
        let question =
            json!({"cmd": "problem", "function": function, "dimension": dims, "instance": instance});
        let answer = converse(process, &question)?;
        let bounds = serde_json::from_value(answer["bounds"].clone()).map_err(|e| failed(&e))?;
        let optimum = number(&answer["optimum"])?;
        let evaluate = move |x: &[f64]| {
            let answer = converse(process, &json!({"cmd": "evaluate", "points": [x]}))?;
            number(&answer["values"][0])
        };
        Ok(Instance { bounds, optimum, evaluate: Box::new(evaluate) })
    }
}

/// A question and its answer; here whatever goes wrong is the end.
fn converse(process: &mut Adapter, question: &Json) -> Result<Json, BenchError> {
    let answer = process.converse(question).map_err(|error| failed(&error))?;
    match answer["error"].as_str() {
        Some(problem) => Err(failed(&problem)),
        None => Ok(answer),
    }
}

fn number(answer: &Json) -> Result<f64, BenchError> {
    answer.as_f64().ok_or_else(|| failed(&format!("`{answer}` is not a number")))
}

fn failed(problem: &dyn std::fmt::Display) -> BenchError {
    BenchError::Adapter { script: SCRIPT.name, problem: problem.to_string() }
}
