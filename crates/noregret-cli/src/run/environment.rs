//! The environment of the command.

use std::env;
use std::ffi::OsString;

use indexmap::IndexMap;
use noregret::Trial;

use noregret_files::study_file::{Environment, Objective};

/// Which variables a command gets.
#[derive(Clone, Debug)]
pub(crate) struct CommandEnvironment {
    inherited: Environment,
    set: IndexMap<String, String>,
}

impl CommandEnvironment {
    pub(crate) fn new(objective: &Objective) -> Self {
        Self { inherited: objective.environment.clone(), set: objective.env.clone() }
    }

    /// All variables for one trial; later ones replace earlier ones of the same name.
    pub(crate) fn of(&self, trial: &Trial) -> Vec<(OsString, OsString)> {
        let inherited = env::vars_os().filter(|(name, _)| self.inherited.passes(name));
        let set = self.set.iter().map(|(name, value)| (name.into(), value.into()));
        let own = [
            ("NOREGRET_TRIAL".into(), trial.number.to_string().into()),
            ("NOREGRET_PARAMS".into(), serde_json::to_string(&trial.params).unwrap_or_default().into()),
        ];
        inherited.chain(set).chain(own).collect()
    }
}
