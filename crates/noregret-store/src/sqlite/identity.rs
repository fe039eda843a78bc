//! Whether the file at a path is still the database that was opened.
//!
//! SQLite keeps writing to a file that was deleted, and does not notice that one was truncated or overwritten: in WAL mode it
//! looks at its log and its shared memory. What it then calls committed is gone with the process.

use std::collections::BTreeMap;
use std::fs::{self, File, Metadata};
use std::io;
use std::os::unix::fs::{FileExt, MetadataExt};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread;
use std::time::Duration;

/// Device and inode.
type FileId = (u64, u64);

/// A checkpoint of another process writes the header before it has written the pages that the header counts: look again so
/// often, ...
const LOOKS: u32 = 20;
/// ... with this pause. Checkpoints take milliseconds.
const PAUSE: Duration = Duration::from_millis(50);

/// Open files of this process by what they are. POSIX drops all locks that a process has on a file when *any* of its
/// handles is closed, those of SQLite included: there is one handle to a file, and it is closed when all connections are.
static OPEN: Mutex<BTreeMap<FileId, (usize, Arc<File>)>> = Mutex::new(BTreeMap::new());

/// The database as it was opened.
#[derive(Debug)]
pub(super) struct Identity {
    path: PathBuf,
    id: FileId,
    file: Arc<File>,
    /// Its write-ahead log.
    wal: Option<(PathBuf, FileId)>,
    /// The newest that its header has been: how often the tables changed, then how many pages there are. A file only shrinks
    /// by `VACUUM`, which counts as a change of the tables.
    newest: AtomicU64,
}

impl Identity {
    /// Takes down what the file is. The connection must be open, and be closed before this is dropped.
    pub(super) fn of(path: &Path, is_wal: bool) -> io::Result<Self> {
        let id = id(&fs::metadata(path)?);
        let mut open = OPEN.lock().unwrap_or_else(PoisonError::into_inner);
        let (count, file) = match open.remove(&id) {
            Some((count, file)) => (count + 1, file),
            None => (1, Arc::new(File::open(path)?)),
        };
        open.insert(id, (count, Arc::clone(&file)));
        drop(open);
        let mut log = path.as_os_str().to_owned();
        log.push("-wal");
        let wal = match fs::metadata(&log) {
            Ok(data) if is_wal => Some((log.into(), self::id(&data))),
            _ => None,
        };
        Ok(Self { path: path.into(), id, file, wal, newest: AtomicU64::new(0) })
    }

    /// What has become of the file, if it is not the database that was opened.
    pub(super) fn problem(&self) -> Option<String> {
        let mut problem = self.look();
        for _ in 1..LOOKS {
            if !matches!(problem, Some(Problem::Short)) {
                break;
            }
            thread::sleep(PAUSE);
            problem = self.look();
        }
        problem.map(|problem| match problem {
            Problem::Gone(path) => format!("{} was deleted or moved", path.display()),
            Problem::Another(path) => format!("another file was put in the place of {}", path.display()),
            Problem::Overwritten => "it was overwritten".into(),
            Problem::Older => "an older copy was written over it".into(),
            Problem::Short => "it was truncated".into(),
            Problem::Unreadable(error) => format!("it cannot be read: {error}"),
        })
    }

    fn look(&self) -> Option<Problem> {
        for (path, known) in [Some((&self.path, self.id)), self.wal.as_ref().map(|(path, id)| (path, *id))]
            .into_iter()
            .flatten()
        {
            match fs::metadata(path) {
                Ok(data) if id(&data) == known => {}
                Ok(_) => return Some(Problem::Another(path.clone())),
                Err(error) if error.kind() == io::ErrorKind::NotFound => {
                    return Some(Problem::Gone(path.clone()));
                }
                Err(error) => return Some(Problem::Unreadable(error)),
            }
        }
        let size = match self.file.metadata() {
            Ok(data) => data.len(),
            Err(error) => return Some(Problem::Unreadable(error)),
        };
        let mut header = [0; 100];
        if size < header.len() as u64 {
            return Some(Problem::Short);
        }
        if let Err(error) = self.file.read_exact_at(&mut header, 0) {
            return Some(Problem::Unreadable(error));
        }
        self.look_at(&header, size)
    }

    /// What the header says; the numbers of its bytes are in SQLite's description of the file format.
    fn look_at(&self, header: &[u8; 100], size: u64) -> Option<Problem> {
        if !header.starts_with(b"SQLite format 3\0") {
            return Some(Problem::Overwritten);
        }
        let number =
            |at: usize| u32::from_be_bytes([header[at], header[at + 1], header[at + 2], header[at + 3]]);
        let (changes, pages, tables, valid_for) = (number(24), number(28), number(40), number(92));
        let page = match u16::from_be_bytes([header[16], header[17]]) {
            1 => 65_536,
            size => u64::from(size),
        };
        let age = (u64::from(tables) << 32) | u64::from(pages);
        if self.newest.fetch_max(age, Ordering::Relaxed) > age {
            return Some(Problem::Older);
        }
        // The number of pages counts only if the same writer has set both.
        (changes == valid_for && size < page * u64::from(pages)).then_some(Problem::Short)
    }
}

impl Drop for Identity {
    fn drop(&mut self) {
        let mut open = OPEN.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some((count, file)) = open.remove(&self.id)
            && count > 1
        {
            open.insert(self.id, (count - 1, file));
        }
    }
}

enum Problem {
    Gone(PathBuf),
    Another(PathBuf),
    Overwritten,
    Older,
    Short,
    Unreadable(io::Error),
}

fn id(data: &Metadata) -> FileId {
    (data.dev(), data.ino())
}
