//! Databases that may only be read: on a read-only disk, or of another user.
//!
//! In WAL mode even a reader writes: to the shared memory beside the database. Where that is not possible, there are three
//! ways, tried in this order.

use std::fs;
use std::path::{Path, PathBuf};

use rusqlite::{Connection, OpenFlags};
use tempfile::TempDir;

use super::{explain, file_name, named, schema};
use crate::StoreError;

/// A connection for reading, and the copy that it reads from, if it needs one.
pub(super) fn open(path: &Path) -> Result<(Connection, Option<TempDir>), StoreError> {
    let flags = OpenFlags::SQLITE_OPEN_READ_ONLY | OpenFlags::SQLITE_OPEN_NO_MUTEX;
    // Somebody is writing, and lets us use the shared memory.
    if let Ok(connection) = Connection::open_with_flags(file_name::plain(path), flags)
        && schema::check(&connection, path).is_ok()
    {
        return Ok((connection, None));
    }
    let refuse = |problem: String| StoreError::Open { place: named(path), problem };
    // Everything is in the database itself: it was closed cleanly.
    let log = beside(path, "-wal");
    if fs::metadata(&log).map_or(0, |data| data.len()) == 0 {
        let flags = flags | OpenFlags::SQLITE_OPEN_URI;
        let connection =
            Connection::open_with_flags(address(path), flags).map_err(|error| refuse(explain(&error)))?;
        schema::check(&connection, path)?;
        return Ok((connection, None));
    }
    // Some of it is still in the log beside it, which only a writer may bring in: into a copy.
    let copy = || -> std::io::Result<(TempDir, PathBuf)> {
        let folder = tempfile::tempdir()?;
        let to = folder.path().join("copy.db");
        fs::copy(path, &to)?;
        fs::copy(&log, beside(&to, "-wal"))?;
        for file in [&to, &beside(&to, "-wal")] {
            let mut permissions = fs::metadata(file)?.permissions();
            #[expect(clippy::permissions_set_readonly_false, reason = "a copy of ours in a folder of ours")]
            permissions.set_readonly(false);
            fs::set_permissions(file, permissions)?;
        }
        Ok((folder, to))
    };
    let (folder, to) = copy().map_err(|error| refuse(error.to_string()))?;
    let connection = Connection::open(&to).map_err(|error| refuse(explain(&error)))?;
    schema::check(&connection, path)?;
    Ok((connection, Some(folder)))
}

fn beside(path: &Path, suffix: &str) -> PathBuf {
    let mut name = path.as_os_str().to_owned();
    name.push(suffix);
    name.into()
}

/// The path as SQLite's address of a file that nobody changes.
fn address(path: &Path) -> String {
    let text = path.display().to_string();
    let quoted: String = text
        .chars()
        .map(|c| match c {
            '%' => "%25".into(),
            '?' => "%3f".into(),
            '#' => "%23".into(),
            c => c.to_string(),
        })
        .collect();
    format!("file:{quoted}?immutable=1")
}
