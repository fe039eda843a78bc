//! The study that a command is about, and its storage.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use anyhow::{Context, Error};
use noregret::Space;
use noregret_files::{Allowed, StudyFile, again, define};
use noregret_store::{Definition, SharedStudy, StorageUrl, Store, StoreError, Timestamp};

use crate::UsageError;

/// Flags that name a study.
#[derive(Debug, clap::Args)]
pub(crate) struct StudyArgs {
    /// The study file (TOML, or JSON of the same shape)
    #[arg(value_name = "STUDY", required_unless_present = "study")]
    pub(crate) file: Option<PathBuf>,
    /// Name of a study in the storage, where no file is given
    #[arg(long, value_name = "NAME", env = "NOREGRET_STUDY")]
    pub(crate) study: Option<String>,
    /// Where studies are kept: `sqlite:///path.db`, `postgresql://user@host/database`,
    /// `http://host:7377` (with `NOREGRET_TOKEN`) or `memory:` [default: noregret.db beside the
    /// study file]
    #[arg(long, value_name = "URL", env = "NOREGRET_STORAGE", hide_env_values = true)]
    pub(crate) storage: Option<StorageUrl>,
}

/// Flags that name any number of studies.
#[derive(Debug, clap::Args)]
pub(crate) struct StudiesArgs {
    /// The study files (TOML, or JSON of the same shape)
    #[arg(value_name = "STUDY")]
    files: Vec<PathBuf>,
    /// Name of a study in the storage; may be given several times
    #[arg(long = "study", value_name = "NAME")]
    names: Vec<String>,
    /// Where studies are kept: `sqlite:///path.db`, `postgresql://user@host/database`,
    /// `http://host:7377` (with `NOREGRET_TOKEN`) [default: noregret.db beside the study file]
    #[arg(long, value_name = "URL", env = "NOREGRET_STORAGE", hide_env_values = true)]
    storage: Option<StorageUrl>,
}

impl StudiesArgs {
    /// Reads the study files. Without names these are all studies of the storage.
    pub(crate) fn locate(&self) -> Result<Vec<Target>, Error> {
        let target = |file: Option<&PathBuf>, study: Option<&String>| {
            let storage = self.storage.clone();
            StudyArgs { file: file.cloned(), study: study.cloned(), storage }.locate()
        };
        let files = self.files.iter().map(|file| target(Some(file), None));
        let mut targets: Vec<Target> =
            files.chain(self.names.iter().map(|name| target(None, Some(name)))).collect::<Result<_, _>>()?;
        if let (true, Some(url)) = (targets.is_empty(), &self.storage) {
            let names = url.open_to_read()?.studies()?;
            targets = names.iter().map(|(name, _)| target(None, Some(name))).collect::<Result<_, _>>()?;
        }
        if targets.is_empty() {
            return Err(UsageError::new("name study files, or --storage, or --study and --storage").into());
        }
        let mut names: Vec<&str> = targets.iter().map(|target| target.name.as_str()).collect();
        names.sort_unstable();
        let pairs = names.iter().zip(names.iter().skip(1));
        if let Some((twice, _)) = pairs.into_iter().find(|(one, next)| one == next) {
            return Err(UsageError::new(format!("there are two studies `{twice}`: name one of them")).into());
        }
        Ok(targets)
    }
}

/// A study before its log is read.
#[derive(Debug)]
pub(crate) struct Target {
    pub(crate) name: String,
    pub(crate) url: StorageUrl,
    /// The study file and its folder.
    pub(crate) file: Option<(StudyFile, PathBuf)>,
    /// Where the study file is.
    pub(crate) path: Option<PathBuf>,
    /// The arguments that name this study on a command line.
    pub(crate) words: String,
}

impl StudyArgs {
    /// Reads the study file, if one is given.
    pub(crate) fn locate(&self) -> Result<Target, Error> {
        let storage = self.storage.as_ref();
        match (&self.file, &self.study) {
            (Some(path), _) => {
                let file = StudyFile::read(path)?;
                let folder = folder_of(path);
                let beside = || StorageUrl::Sqlite(path.with_file_name("noregret.db"));
                let at = |url: &StorageUrl| format!(" --storage {}", quoted(&url.to_string()));
                let words = quoted(&path.display().to_string()) + &storage.map(at).unwrap_or_default();
                let url = storage.cloned().unwrap_or_else(beside);
                let name = file.study.name.clone();
                Ok(Target { name, url, file: Some((file, folder)), path: Some(path.clone()), words })
            }
            (None, Some(name)) => {
                let url = storage.cloned().ok_or(UsageError::new("--study needs --storage"))?;
                let words = format!("--study {} --storage {}", quoted(name), quoted(&url.to_string()));
                Ok(Target { name: name.clone(), url, file: None, path: None, words })
            }
            (None, None) => Err(UsageError::new("name a study file, or --study and --storage").into()),
        }
    }
}

impl Target {
    /// Opens the study, with the settings of its file. Creates it if it does not exist and there is a file. It keeps the number
    /// of trials in its log, unless the file has more.
    pub(crate) fn open(&self) -> Result<SharedStudy, Error> {
        let Some((file, folder)) = &self.file else { return self.open_existing() };
        let (definition, space) = define(file, folder, Allowed::Any)?;
        Ok(SharedStudy::open(self.url.open()?, &self.name, &definition, space)?)
    }

    /// The same, with a new total number of trials, more or fewer than before.
    pub(crate) fn open_for(&self, trials: usize) -> Result<SharedStudy, Error> {
        let Some((file, folder)) = &self.file else { return self.open_existing() };
        let (mut definition, space) = define(file, folder, Allowed::Any)?;
        definition.trials = Some(trials);
        let mut shared = SharedStudy::open(self.url.open()?, &self.name, &definition, space)?;
        shared.plan(trials, Timestamp::now())?;
        Ok(shared)
    }

    /// Opens the study as it is in the storage; returns an error if it does not exist.
    pub(crate) fn open_existing(&self) -> Result<SharedStudy, Error> {
        self.resume(self.store()?)
    }

    /// The same, only to read it: also where nothing may be written.
    pub(crate) fn open_to_read(&self) -> Result<SharedStudy, Error> {
        self.resume(self.store_to_read()?)
    }

    fn resume(&self, store: Arc<dyn Store>) -> Result<SharedStudy, Error> {
        let (definition, space) = self.defined(&*store)?;
        Ok(SharedStudy::resume(store, &self.name, definition, space)?)
    }

    /// Returns the definition of a study in the storage and its space, without reading its trials. The file, if there is one,
    /// must define the same search.
    pub(crate) fn defined(&self, store: &dyn Store) -> Result<(Definition, Space), Error> {
        let definition = SharedStudy::first_definition(store, &self.name, &self.url.to_string())?;
        let (now, space) = match &self.file {
            Some((file, folder)) => define(file, folder, Allowed::Any)?,
            None => again(&definition, Allowed::Any)?,
        };
        match definition.difference(&now) {
            None => Ok((definition, space)),
            Some(difference) => Err(StoreError::AnotherStudy { study: self.name.clone(), difference }.into()),
        }
    }

    /// The column of the pool's file with the names of its rows, if the study file names one.
    pub(crate) fn id_column(&self) -> Option<&str> {
        self.file.as_ref().and_then(|(file, _)| file.pool.as_ref()?.id.as_deref())
    }

    /// Opens the storage, which must exist.
    pub(crate) fn store(&self) -> Result<Arc<dyn Store>, Error> {
        self.explain_absence(self.url.open_existing())
    }

    /// The same, only to read it: also where nothing may be written.
    pub(crate) fn store_to_read(&self) -> Result<Arc<dyn Store>, Error> {
        self.explain_absence(self.url.open_to_read())
    }

    fn explain_absence(&self, opened: Result<Arc<dyn Store>, StoreError>) -> Result<Arc<dyn Store>, Error> {
        let opened = opened.map_err(Error::from);
        if self.file.is_some() && self.url.is_missing() {
            return opened.with_context(|| format!("study `{}` has no trials yet", self.name));
        }
        opened
    }
}

fn folder_of(path: &Path) -> PathBuf {
    match path.parent() {
        Some(parent) if !parent.as_os_str().is_empty() => parent.to_owned(),
        _ => PathBuf::from("."),
    }
}

/// Quotes a word of a command line if a shell would change it.
pub(crate) fn quoted(word: &str) -> String {
    let plain = |c: char| c.is_ascii_alphanumeric() || "-_./:=@%+,".contains(c);
    if !word.is_empty() && word.chars().all(plain) {
        return word.to_owned();
    }
    format!("'{}'", word.replace('\'', r"'\''"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_survive_a_shell() {
        assert_eq!(quoted("a/b.toml"), "a/b.toml");
        assert_eq!(quoted("my study"), "'my study'");
        assert_eq!(quoted("it's"), r"'it'\''s'");
        assert_eq!(quoted(""), "''");
    }
}
