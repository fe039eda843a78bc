//! Where a command writes: a file that becomes whole at once, and never one that a study consists of.

use std::ffi::OsString;
use std::fs;
use std::io::Write;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};

use anyhow::{Context, Error};
use noregret_bench::report::write_whole;
use noregret_store::{Definition, SpaceDefinition, StorageUrl};

use crate::UsageError;
use crate::target::Target;

/// Writes what is asked for with `--output`.
pub(crate) fn write(
    path: &Path,
    target: &Target,
    definition: &Definition,
    fill: impl FnOnce(&mut dyn Write) -> Result<(), Error>,
) -> Result<(), Error> {
    check(path, target, definition)?;
    write_checked(path, fill)
}

/// Refuses a file that the study consists of.
pub(crate) fn check(path: &Path, target: &Target, definition: &Definition) -> Result<(), Error> {
    if let Some((_, what)) = files_of(target, definition).iter().find(|(file, _)| is_same(file, path)) {
        let problem =
            format!("--output {}: this is {what}, which would be lost; name another file", path.display());
        return Err(UsageError::new(problem).into());
    }
    Ok(())
}

/// Writes a file that was checked against all studies that it is about.
pub(crate) fn write_checked(
    path: &Path,
    fill: impl FnOnce(&mut dyn Write) -> Result<(), Error>,
) -> Result<(), Error> {
    write_whole(path, fill).with_context(|| format!("{} cannot be written", path.display()))
}

/// The files of a study, and what they are.
fn files_of(target: &Target, definition: &Definition) -> Vec<(PathBuf, &'static str)> {
    let mut files = Vec::new();
    if let StorageUrl::Sqlite(path) = &target.url {
        for ending in ["", "-wal", "-shm", "-journal"] {
            let mut name = OsString::from(path);
            name.push(ending);
            files.push((name.into(), "the storage of the study"));
        }
    }
    files.extend(target.path.clone().map(|path| (path, "the study file")));
    if let SpaceDefinition::Pool { file, .. } = &definition.space {
        files.push((file.into(), "the pool of the study"));
    }
    files
}

/// Whether two paths lead to one file, by whatever links. One that does not exist yet has a folder and a name.
fn is_same(a: &Path, b: &Path) -> bool {
    let file = |path: &Path| fs::metadata(path).ok().map(|found| (found.dev(), found.ino()));
    let place = |path: &Path| {
        let folder = path.parent().filter(|folder| !folder.as_os_str().is_empty());
        let folder = fs::canonicalize(folder.unwrap_or(Path::new("."))).ok()?;
        Some(folder.join(path.file_name()?))
    };
    match (file(a), file(b)) {
        (Some(a), Some(b)) => a == b,
        (None, None) => place(a).is_some_and(|a| Some(a) == place(b)),
        _ => false,
    }
}
