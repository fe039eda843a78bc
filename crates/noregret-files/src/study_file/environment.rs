//! Which variables of its own environment noregret passes on to the command.

use std::borrow::Cow;
use std::ffi::OsStr;
use std::fmt;
use std::os::unix::ffi::OsStrExt;

use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use serde::de::{Error, SeqAccess, Unexpected, Visitor};
use serde::{Deserialize, Deserializer, Serialize, Serializer};

use super::error::VariableProblem;

/// Variables that noregret sets itself.
const OWN: [&str; 2] = ["NOREGRET_TRIAL", "NOREGRET_PARAMS"];

/// What a command inherits of noregret's environment: all of it, or the variables named.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub enum Environment {
    /// All of it.
    #[default]
    Inherit,
    /// `PATH`, and the variables of these names. A `*` at the end of a name stands for any rest.
    Only(Vec<String>),
}

impl Environment {
    /// Whether it is all of it.
    pub fn is_all(&self) -> bool {
        *self == Self::Inherit
    }

    /// Whether the command inherits this variable.
    pub fn passes(&self, name: &OsStr) -> bool {
        let Self::Only(patterns) = self else { return true };
        let is = |pattern: &String| match pattern.strip_suffix('*') {
            Some(begin) => name.as_bytes().starts_with(begin.as_bytes()),
            None => name == pattern.as_str(),
        };
        name == "PATH" || patterns.iter().any(is) // without a path the program would not be found
    }

    /// Checks the names; returns the first that cannot be one.
    pub(super) fn check(&self) -> Result<(), (&str, VariableProblem)> {
        let Self::Only(patterns) = self else { return Ok(()) };
        patterns.iter().try_for_each(|pattern| {
            let begin = pattern.strip_suffix('*').unwrap_or(pattern);
            match problem_of(begin) {
                _ if begin.contains('*') => Err((pattern.as_str(), VariableProblem::Star)),
                Some(VariableProblem::Empty) if pattern == "*" => Ok(()),
                Some(problem) => Err((pattern.as_str(), problem)),
                None => Ok(()),
            }
        })
    }
}

/// Checks a variable to be set.
pub(super) fn check_variable(name: &str, value: &str) -> Result<(), VariableProblem> {
    match problem_of(name) {
        Some(problem) => Err(problem),
        None if OWN.contains(&name) => Err(VariableProblem::Ours),
        None if value.contains('\0') => Err(VariableProblem::Value),
        None => Ok(()),
    }
}

fn problem_of(name: &str) -> Option<VariableProblem> {
    if name.is_empty() {
        Some(VariableProblem::Empty)
    } else if name.contains(['=', '\0']) {
        Some(VariableProblem::Character)
    } else {
        None
    }
}

impl Serialize for Environment {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        match self {
            Self::Inherit => "inherit".serialize(serializer),
            Self::Only(names) => names.serialize(serializer),
        }
    }
}

impl<'de> Deserialize<'de> for Environment {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_any(ReadEnvironment)
    }
}

struct ReadEnvironment;

impl<'de> Visitor<'de> for ReadEnvironment {
    type Value = Environment;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("\"inherit\", or a list of variables to pass on, such as [\"HOME\", \"CUDA_*\"]")
    }

    fn visit_str<E: Error>(self, text: &str) -> Result<Environment, E> {
        if text == "inherit" {
            Ok(Environment::Inherit)
        } else {
            Err(E::invalid_value(Unexpected::Str(text), &self))
        }
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut list: A) -> Result<Environment, A::Error> {
        let mut names = Vec::new();
        while let Some(name) = list.next_element()? {
            names.push(name);
        }
        Ok(Environment::Only(names))
    }
}

impl JsonSchema for Environment {
    fn schema_name() -> Cow<'static, str> {
        "Environment".into()
    }

    fn json_schema(_: &mut SchemaGenerator) -> Schema {
        json_schema!({ "anyOf": [{ "const": "inherit" }, { "type": "array", "items": { "type": "string" } }] })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_and_beginnings_of_names() {
        let some = Environment::Only(vec!["HOME".into(), "CUDA_*".into()]);
        for (name, passes) in [("HOME", true), ("HOMER", false), ("CUDA_HOME", true), ("CUDA_", true)] {
            assert_eq!(some.passes(name.as_ref()), passes, "{name}");
        }
        assert!(
            some.passes("PATH".as_ref()) && !some.passes("PATHS".as_ref()) && !some.passes("cuda_x".as_ref())
        );
        let (none, all) = (Environment::Only(Vec::new()), Environment::Inherit);
        assert!(none.passes("PATH".as_ref()) && !none.passes("HOME".as_ref()) && all.passes("HOME".as_ref()));
        assert!(Environment::Only(vec!["*".into()]).passes("HOME".as_ref()));
    }
}
