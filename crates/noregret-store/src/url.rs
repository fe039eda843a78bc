//! Where studies are kept, in one line: `memory:`, `sqlite:///path.db`, `postgresql://user@host/database`, `http://host:7377`.

use std::fmt;
use std::path::{Path, PathBuf};
use std::str::FromStr;
use std::sync::Arc;

use noregret_client::ServerUrl;

use crate::{HttpStore, MemoryStore, PostgresStore, PostgresUrl, SqliteStore, Store, StoreError};

/// A storage, by its address.
///
/// As in other Python-minded tools, `sqlite:///results.db` is relative to the current folder and
/// `sqlite:////data/results.db`, with four slashes, is absolute.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum StorageUrl {
    /// In memory: gone when the process ends.
    Memory,
    /// In a SQLite file.
    Sqlite(PathBuf),
    /// In a PostgreSQL database.
    Postgres(Box<PostgresUrl>),
    /// On a noregret server.
    Http(ServerUrl),
}

impl StorageUrl {
    /// Opens it, and makes it if need be.
    pub fn open(&self) -> Result<Arc<dyn Store>, StoreError> {
        Ok(match self {
            Self::Memory => Arc::new(MemoryStore::default()),
            Self::Sqlite(path) => Arc::new(SqliteStore::open(path).map_err(|e| hint(path, e))?),
            Self::Postgres(url) => Arc::new(PostgresStore::open(url)?),
            Self::Http(url) => Arc::new(HttpStore::open(url, None)?),
        })
    }

    /// Whether its file is not there yet.
    pub fn is_missing(&self) -> bool {
        matches!(self, Self::Sqlite(path) if !path.exists())
    }

    /// Opens it if there is one, only to read it: also where nothing may be written.
    pub fn open_to_read(&self) -> Result<Arc<dyn Store>, StoreError> {
        match self {
            Self::Memory => self.open(),
            Self::Sqlite(path) => Ok(Arc::new(SqliteStore::open_to_read(path).map_err(|e| hint(path, e))?)),
            Self::Postgres(_) | Self::Http(_) => self.open_existing(),
        }
    }

    /// Opens it if there is one.
    pub fn open_existing(&self) -> Result<Arc<dyn Store>, StoreError> {
        match self {
            Self::Memory | Self::Http(_) => self.open(),
            Self::Sqlite(path) => Ok(Arc::new(SqliteStore::open_existing(path).map_err(|e| hint(path, e))?)),
            Self::Postgres(url) => Ok(Arc::new(PostgresStore::open_existing(url)?)),
        }
    }
}

/// Three slashes where four were meant.
fn hint(path: &Path, error: StoreError) -> StoreError {
    let absolute = Path::new("/").join(path);
    match error {
        StoreError::Open { place, problem }
            if path.is_relative() && absolute.parent().is_some_and(|p| p != Path::new("/") && p.exists()) =>
        {
            let url = StorageUrl::Sqlite(absolute);
            StoreError::Open {
                place,
                problem: format!("{problem}; an absolute path has four slashes: {url}"),
            }
        }
        other => other,
    }
}

impl FromStr for StorageUrl {
    type Err = StoreError;

    fn from_str(url: &str) -> Result<Self, StoreError> {
        let refuse = |problem: &str| StoreError::Url { url: url.into(), problem: problem.into() };
        if matches!(url, "memory:" | "memory://") {
            return Ok(Self::Memory);
        }
        if let Some(path) = url.strip_prefix("sqlite:") {
            let path = path.strip_prefix("///").unwrap_or(path);
            return match path {
                "" => Err(refuse("name a file, as in sqlite:///noregret.db")),
                ":memory:" => Err(refuse("write memory: for a study that ends with the process")),
                path if path.starts_with("file:") => Err(refuse(
                    "SQLite's own addresses (file:...) are not supported; name the file, as in sqlite:///noregret.db",
                )),
                path if path.starts_with("//") && !url.starts_with("sqlite:////") => {
                    Err(refuse("a path begins after three slashes, as in sqlite:///noregret.db"))
                }
                path => Ok(Self::Sqlite(path.into())),
            };
        }
        if url.starts_with("postgres://") || url.starts_with("postgresql://") {
            return Ok(Self::Postgres(Box::new(url.parse()?)));
        }
        if url.starts_with("http://") || url.starts_with("https://") {
            let refused = |error: noregret_client::ClientError| match error {
                noregret_client::ClientError::Url { problem, .. } => refuse(&problem),
                other => refuse(&other.to_string()),
            };
            return Ok(Self::Http(url.parse().map_err(refused)?));
        }
        Err(refuse(
            "write sqlite:///path.db, sqlite:////absolute/path.db, postgresql://user@host/database, http://host:7377 or memory:",
        ))
    }
}

impl fmt::Display for StorageUrl {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Memory => f.write_str("memory:"),
            Self::Sqlite(path) => write!(f, "sqlite:///{}", path.display()),
            Self::Postgres(url) => url.fmt(f),
            Self::Http(url) => url.fmt(f),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn three_slashes_are_relative_and_four_absolute() {
        let parse = |url: &str| url.parse::<StorageUrl>().unwrap();
        assert_eq!(parse("memory:"), StorageUrl::Memory);
        assert_eq!(parse("sqlite:///a/b.db"), StorageUrl::Sqlite("a/b.db".into()));
        assert_eq!(parse("sqlite:////a/b.db"), StorageUrl::Sqlite("/a/b.db".into()));
        assert_eq!(parse("sqlite:b.db"), StorageUrl::Sqlite("b.db".into()));
        for url in ["memory:", "sqlite:///a.db", "sqlite:////a.db"] {
            assert_eq!(parse(url).to_string(), url);
        }
    }

    #[test]
    fn others_are_refused_with_what_would_be_right() {
        let problem = |url: &str| url.parse::<StorageUrl>().unwrap_err().to_string();
        assert!(problem("results.db").contains("sqlite:///path.db"));
        assert!(problem("sqlite://").contains("three slashes"), "{}", problem("sqlite://"));
        assert!(problem("sqlite:").contains("name a file"));
        // SQLite would keep nothing of this, or write to a file of another name.
        for url in ["sqlite:///file:u.db?mode=memory", "sqlite:file:u.db", "sqlite:///file::memory:"] {
            assert!(problem(url).contains("SQLite's own addresses"), "{}", problem(url));
        }
        assert_eq!(
            "sqlite:///./file:u.db".parse::<StorageUrl>().unwrap(),
            StorageUrl::Sqlite("./file:u.db".into())
        );
        assert!(problem("postgresql://ann:secret@host/db?sslmode=no").contains("sslmode"));
    }
}
