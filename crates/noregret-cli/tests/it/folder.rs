//! A folder with a study in it, and the binary called there.

use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Output, Stdio};

use serde_json::Value;
use tempfile::TempDir;

/// A temporary folder with a study file.
pub(crate) struct Folder {
    folder: TempDir,
}

/// How a command ended.
#[derive(Debug)]
pub(crate) struct Ended {
    pub(crate) code: Option<i32>,
    pub(crate) stdout: String,
    pub(crate) stderr: String,
}

impl From<Output> for Ended {
    fn from(output: Output) -> Self {
        let text = |bytes: Vec<u8>| String::from_utf8(bytes).expect("text");
        Self { code: output.status.code(), stdout: text(output.stdout), stderr: text(output.stderr) }
    }
}

impl Ended {
    /// Asserts the exit code.
    #[track_caller]
    pub(crate) fn with(self, code: i32) -> Self {
        assert_eq!(self.code, Some(code), "{}{}", self.stdout, self.stderr);
        self
    }

    /// Every line of stdout as JSON.
    pub(crate) fn json(&self) -> Vec<Value> {
        self.stdout.lines().map(|line| serde_json::from_str(line).expect("JSON")).collect()
    }
}

impl Folder {
    /// A study of one float `x` from 0 to 1, with this `[study]` and this command.
    pub(crate) fn with(study: &str, command: &str) -> Self {
        let parameters = "x = { type = \"float\", low = 0, high = 1 }";
        Self::full(&format!(
            "[study]\nname = \"s\"\n{study}\n[objective]\ncommand = {command}\n[parameters]\n{parameters}\n"
        ))
    }

    /// The study file as given.
    pub(crate) fn full(text: &str) -> Self {
        let folder = Self { folder: tempfile::tempdir().unwrap() };
        folder.write("study.toml", text);
        folder
    }

    pub(crate) fn path(&self, name: &str) -> PathBuf {
        self.folder.path().join(name)
    }

    pub(crate) fn root(&self) -> &Path {
        self.folder.path()
    }

    pub(crate) fn write(&self, name: &str, text: &str) {
        fs::write(self.path(name), text).unwrap();
    }

    pub(crate) fn read(&self, name: &str) -> String {
        fs::read_to_string(self.path(name)).unwrap()
    }

    /// A shell script.
    pub(crate) fn script(&self, name: &str, text: &str) {
        self.write(name, &format!("#!/bin/sh\n{text}\n"));
        fs::set_permissions(self.path(name), fs::Permissions::from_mode(0o755)).unwrap();
    }

    pub(crate) fn command(&self, args: &[&str]) -> Command {
        let mut command = Command::new(env!("CARGO_BIN_EXE_noregret"));
        command.args(args).current_dir(self.root()).stdin(Stdio::null());
        command
    }

    pub(crate) fn call(&self, args: &[&str]) -> Ended {
        self.command(args).output().expect("the binary runs").into()
    }

    pub(crate) fn start(&self, args: &[&str]) -> Child {
        self.command(args).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().expect("the binary runs")
    }

    /// All trials as `trials --json` prints them.
    pub(crate) fn trials(&self) -> Vec<Value> {
        self.call(&["trials", "study.toml", "--json"]).with(0).json()
    }

    /// How many trials are in this state.
    pub(crate) fn count(&self, state: &str) -> usize {
        self.trials().iter().filter(|trial| trial["state"] == state).count()
    }
}
