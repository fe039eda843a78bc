//! Programs in Python that answer questions, a line of JSON each: see `benchmarks/peers/README.md`.

use std::io::{self, BufRead, BufReader, Write};
use std::path::Path;
use std::process::{Child, ChildStdout, Command, Stdio};

use serde_json::{Value as Json, json};

use crate::BenchError;

/// A program, and the environment with the packages it needs.
pub(crate) struct Script {
    /// Its name, as the script that makes environments takes it.
    pub(crate) environment: &'static str,
    pub(crate) name: &'static str,
    pub(crate) argument: Option<&'static str>,
}

/// A program that runs; it ends when this is dropped.
pub(crate) struct Adapter {
    /// With the pipe for questions in it, which is closed when its end is waited for.
    child: Child,
    answers: BufReader<ChildStdout>,
}

impl Adapter {
    /// Starts a program of the folder `adapters` in one of the `environments`.
    pub(crate) fn start(
        script: &Script,
        environments: Option<&Path>,
        adapters: &Path,
        threads: usize,
    ) -> Result<Self, BenchError> {
        let Script { environment, name, argument } = *script;
        let missing = |python, source| BenchError::NoEnvironment { environment, python, source };
        let folder = environments.ok_or_else(|| missing(None, None))?;
        let python = folder.join(format!(".venv-{environment}")).join("bin").join("python");
        let program = adapters.join(name);
        let mut command = Command::new(&python);
        command.arg(&program).args(argument);
        for name in ["OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS", "RAYON_NUM_THREADS"] {
            command.env(name, threads.to_string());
        }
        command.env("PYTHONHASHSEED", "0");
        command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::null());
        let mut child = command.spawn().map_err(|error| missing(Some(python), Some(error)))?;
        let answers = child.stdout.take().expect("invariant: it is piped");
        let adapter = Self { child, answers: BufReader::new(answers) };
        // Python would only say so on its standard error.
        std::fs::metadata(&program).map_err(|source| BenchError::Read { path: program, source })?;
        Ok(adapter)
    }

    /// A question and its answer, which may be that it cannot be answered; an error if the program has died.
    pub(crate) fn converse(&mut self, question: &Json) -> io::Result<Json> {
        let mut line = String::new();
        let spoken = self.say(question).and_then(|()| self.answers.read_line(&mut line));
        match spoken {
            Ok(0) | Err(_) => Err(io::Error::other("the adapter has died")),
            Ok(_) => {
                Ok(serde_json::from_str(&line).unwrap_or_else(|error| json!({"error": error.to_string()})))
            }
        }
    }

    fn say(&mut self, question: &Json) -> io::Result<()> {
        writeln!(self.child.stdin.as_mut().expect("invariant: it is piped"), "{question}")
    }

    /// The number of its process.
    pub(crate) fn id(&self) -> u32 {
        self.child.id()
    }
}

impl Drop for Adapter {
    /// Whether it goes willingly or not makes no difference.
    fn drop(&mut self) {
        let _ = self.say(&json!({"cmd": "stop"}));
        let _ = self.child.wait();
    }
}
