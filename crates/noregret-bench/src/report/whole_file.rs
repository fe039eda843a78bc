//! Files that are written whole or not at all.

use std::fs::{self, File};
use std::io::{self, BufWriter, Write};
use std::path::{Path, PathBuf};

/// Writes a file by way of a temporary one in the same folder, which then takes its name. Who reads it finds what was there
/// before or all that is new, and if writing fails the old file is as it was.
///
/// A link is followed, permissions are kept. What is no file (a pipe, a device) is written to as it is.
pub fn write_whole<E: From<io::Error>>(
    path: &Path,
    fill: impl FnOnce(&mut dyn Write) -> Result<(), E>,
) -> Result<(), E> {
    let found = fs::metadata(path).ok();
    if found.as_ref().is_some_and(|found| !found.is_file()) {
        let mut out = BufWriter::new(File::options().write(true).open(path)?);
        fill(&mut out)?;
        return Ok(out.flush()?);
    }
    let path = fs::canonicalize(path).unwrap_or_else(|_| path.to_owned());
    let mut part = Part::beside(&path)?;
    if let Some(found) = found {
        part.file.set_permissions(found.permissions())?;
    }
    let mut out = BufWriter::new(&part.file);
    fill(&mut out)?;
    out.flush()?;
    drop(out);
    part.file.sync_all()?;
    fs::rename(&part.path, &path)?;
    part.is_done = true;
    Ok(())
}

/// A file that is being written, removed if that fails.
struct Part {
    file: File,
    path: PathBuf,
    is_done: bool,
}

impl Part {
    fn beside(path: &Path) -> io::Result<Self> {
        let name = path.file_name().ok_or_else(|| io::Error::other("it has no name"))?;
        let mut attempt = 0;
        loop {
            // The process makes the name its own; a number, in case an earlier one of the same number has died.
            let mut hidden = std::ffi::OsString::from(".");
            hidden.push(name);
            hidden.push(format!(".{}-{attempt}.part", std::process::id()));
            let path = path.with_file_name(hidden);
            match File::options().write(true).create_new(true).open(&path) {
                Ok(file) => return Ok(Self { file, path, is_done: false }),
                Err(error) if error.kind() == io::ErrorKind::AlreadyExists && attempt < 100 => attempt += 1,
                Err(error) => return Err(error),
            }
        }
    }
}

impl Drop for Part {
    fn drop(&mut self) {
        if !self.is_done {
            let _ = fs::remove_file(&self.path); // nothing more can be done about it
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn names(folder: &Path) -> Vec<String> {
        let names =
            fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().file_name().into_string().unwrap());
        names.collect()
    }

    #[test]
    fn a_failure_leaves_the_old_file_and_nothing_else() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("a.csv");
        let fails = |out: &mut dyn Write| {
            out.write_all(&vec![b'x'; 100_000])?;
            Err(io::Error::from(io::ErrorKind::StorageFull))
        };
        assert!(write_whole(&path, fails).is_err());
        assert!(names(folder.path()).is_empty());
        fs::write(&path, "old").unwrap();
        assert!(write_whole(&path, fails).is_err());
        assert_eq!((fs::read_to_string(&path).unwrap().as_str(), names(folder.path()).len()), ("old", 1));
        write_whole(&path, |out| out.write_all(b"new")).unwrap();
        assert_eq!((fs::read_to_string(&path).unwrap().as_str(), names(folder.path()).len()), ("new", 1));
    }

    #[cfg(unix)]
    #[test]
    fn links_and_permissions_stay() {
        use std::os::unix::fs::PermissionsExt;
        let folder = tempfile::tempdir().unwrap();
        let (path, link) = (folder.path().join("a.csv"), folder.path().join("link"));
        fs::write(&path, "old").unwrap();
        fs::set_permissions(&path, fs::Permissions::from_mode(0o640)).unwrap();
        std::os::unix::fs::symlink("a.csv", &link).unwrap();
        write_whole(&link, |out| out.write_all(b"new")).unwrap();
        assert!(link.is_symlink());
        assert_eq!(fs::read_to_string(&path).unwrap(), "new");
        assert_eq!(fs::metadata(&path).unwrap().permissions().mode() & 0o777, 0o640);
    }
}
