//! Results of a study whose storage is gone: a table beside the study file, to be told again.

use std::fs::{self, File};
use std::io;
use std::path::{Path, PathBuf};

use noregret_store::{Evaluation, SharedStudy, TrialStatus};

use crate::export::parameter_column;

/// Files of this name to try before giving up.
const NAMES: usize = 1_000;

/// What was saved.
#[derive(Debug)]
pub(super) struct Rescued {
    pub(super) path: PathBuf,
    pub(super) results: usize,
}

/// Writes every value that this process knows to a new file in `folder`.
pub(super) fn write(
    shared: &mut SharedStudy,
    unsaved: &[(u64, Evaluation)],
    folder: &Path,
) -> io::Result<Rescued> {
    let space = shared.study().space().clone();
    let (path, file) = create(folder)?;
    let mut writer = csv::Writer::from_writer(file);
    let mut header: Vec<String> = space.as_pool().map(|_| "id".to_owned()).into_iter().collect();
    header.extend(space.names().iter().map(|name| parameter_column(name)));
    header.extend(["value".to_owned(), "noise_var".to_owned()]);
    writer.write_record(&header)?;
    let mut results = 0;
    for record in shared.ledger().records() {
        let unwritten = unsaved.iter().rev().find_map(|(number, evaluation)| match evaluation {
            Evaluation::Value { value, noise_var, .. } if *number == record.number => {
                Some((*value, *noise_var))
            }
            _ => None,
        });
        let (value, noise_var) = match (&record.status, unwritten) {
            (TrialStatus::Complete { value, noise_var }, _) => (*value, *noise_var),
            (_, Some(unwritten)) => unwritten,
            _ => continue,
        };
        let params = record.params(&space);
        let mut row: Vec<String> = record.id(&space).into_iter().collect();
        let cell = |name: &String| params.get(name).map(ToString::to_string).unwrap_or_default();
        row.extend(space.names().iter().map(cell));
        row.push(value.to_string());
        row.push(noise_var.map_or(String::new(), |variance| variance.to_string()));
        writer.write_record(&row)?;
        results += 1;
    }
    writer.flush()?;
    writer.into_inner().map_err(|error| io::Error::other(error.to_string()))?.sync_all()?;
    if results == 0 {
        fs::remove_file(&path)?;
    }
    Ok(Rescued { path, results })
}

/// A file that was not there before.
fn create(folder: &Path) -> io::Result<(PathBuf, File)> {
    for n in 1..=NAMES {
        let path = folder.join(format!("rescued-{n}.csv"));
        match File::create_new(&path) {
            Err(error) if error.kind() == io::ErrorKind::AlreadyExists => {}
            created => return created.map(|file| (path, file)),
        }
    }
    Err(io::Error::other(format!("there are {NAMES} files of rescued results already")))
}
