//! Who may do what: a file of tokens, of which it has digests only.

use std::fmt;
use std::fs::{self, File, OpenOptions};
use std::io::{self, Write};
use std::path::{Path, PathBuf};
use std::str::FromStr;
use std::time::{Duration, SystemTime};

use noregret_client::random_digits;
use noregret_store::Timestamp;
use serde::{Deserialize, Serialize};

use crate::digest;

/// How every token begins, so that people and programs that look for leaked secrets know one.
const PREFIX: &str = "nr_";

/// What somebody may do: each role may do what those before it may.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Role {
    /// Look at studies.
    Read,
    /// Ask for trials, and tell results.
    Work,
    /// Make studies, and change what they are to do.
    Admin,
}

impl Role {
    /// All, by rights.
    pub const ALL: [Self; 3] = [Self::Read, Self::Work, Self::Admin];

    /// Its name.
    pub fn word(self) -> &'static str {
        match self {
            Self::Read => "read",
            Self::Work => "work",
            Self::Admin => "admin",
        }
    }
}

impl fmt::Display for Role {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.word())
    }
}

impl FromStr for Role {
    type Err = String;

    fn from_str(word: &str) -> Result<Self, String> {
        let known = Self::ALL.into_iter().find(|role| role.word() == word);
        known.ok_or_else(|| format!("`{word}` is no role: there are read, work and admin"))
    }
}

/// A token, without its secret.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct TokenRecord {
    /// Its public part.
    pub id: String,
    /// SHA-256 of the whole token. It has 256 random bits: nobody finds it by trying.
    digest: String,
    /// What it is for, in the owner's words.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub name: String,
    /// What it allows.
    pub role: Role,
    /// In which studies; in all, if none is named.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub studies: Vec<String>,
    /// When it was made.
    pub created: Timestamp,
    /// When it ends.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub expires: Option<Timestamp>,
}

impl TokenRecord {
    /// Whether it is about this study.
    pub fn covers(&self, study: &str) -> bool {
        self.studies.is_empty() || self.studies.iter().any(|known| known == study)
    }

    /// Whether its time is over.
    pub fn has_expired(&self, now: Timestamp) -> bool {
        self.expires.is_some_and(|expires| expires <= now)
    }
}

/// A token as it is to be made.
#[derive(Clone, Debug)]
pub struct NewToken {
    /// What it is for.
    pub name: String,
    /// What it allows.
    pub role: Role,
    /// In which studies; in all, if none is named.
    pub studies: Vec<String>,
    /// How long.
    pub lasts: Option<Duration>,
}

impl NewToken {
    /// Makes it: the secret, which is shown once, and what is kept.
    pub fn make(self, now: Timestamp) -> (String, TokenRecord) {
        let (id, secret) = (random_digits(4), random_digits(32));
        let token = format!("{PREFIX}{id}_{secret}");
        let record = TokenRecord {
            id,
            digest: digest::hex(token.as_bytes()),
            name: self.name,
            role: self.role,
            studies: self.studies,
            created: now,
            expires: self.lasts.map(|span| now.after(span)),
        };
        (token, record)
    }
}

/// The one of `records` that this token is, whatever its dates say. All digests of this id are compared, in constant time.
pub(crate) fn find<'a>(records: &'a [TokenRecord], token: &str) -> Option<&'a TokenRecord> {
    let id = token.strip_prefix(PREFIX)?.split('_').next()?;
    let given = digest::hex(token.as_bytes());
    records.iter().find(|record| record.id == id && digest::is_same(&record.digest, &given))
}

/// What can go wrong with a file of tokens.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum TokenError {
    /// It cannot be read or written.
    #[error("the tokens in {} cannot be {}: {problem}", .path.display(), if *.writing { "written" } else { "read" })]
    File {
        /// The file.
        path: PathBuf,
        /// Whether it was to be written.
        writing: bool,
        /// Why.
        problem: io::Error,
    },
    /// It is no file of tokens.
    #[error("{} is no file of tokens: {problem}", .path.display())]
    Invalid {
        /// The file.
        path: PathBuf,
        /// Why.
        problem: serde_json::Error,
    },
    /// There is no such token.
    #[error("there is no token `{id}` in {}", .path.display())]
    Unknown {
        /// Its public part.
        id: String,
        /// The file.
        path: PathBuf,
    },
}

/// A file of tokens. It is read anew when it has changed, so that a token that is revoked is worth nothing from then on.
#[derive(Clone, Debug)]
pub struct TokenFile {
    path: PathBuf,
}

impl TokenFile {
    /// The file at this place; it need not be there.
    pub fn new(path: impl Into<PathBuf>) -> Self {
        Self { path: path.into() }
    }

    /// Where it is.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// All tokens, without their secrets; none if there is no file.
    pub fn read(&self) -> Result<Vec<TokenRecord>, TokenError> {
        let text = match fs::read(&self.path) {
            Ok(text) => text,
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(Vec::new()),
            Err(problem) => return Err(self.error(false, problem)),
        };
        serde_json::from_slice(&text)
            .map_err(|problem| TokenError::Invalid { path: self.path.clone(), problem })
    }

    /// When it changed, and how long it is: other tokens, other answer.
    pub(crate) fn version(&self) -> Option<(SystemTime, u64)> {
        let known = fs::metadata(&self.path).ok()?;
        Some((known.modified().ok()?, known.len()))
    }

    /// Makes a token and keeps its digest; returns the token, which nobody can ever read again.
    pub fn create(&self, new: NewToken, now: Timestamp) -> Result<(String, TokenRecord), TokenError> {
        let (token, record) = new.make(now);
        self.change(|records| {
            records.push(record.clone());
            Ok(())
        })?;
        Ok((token, record))
    }

    /// From now on this token is worth nothing.
    pub fn revoke(&self, id: &str) -> Result<TokenRecord, TokenError> {
        // The whole token will do, too.
        let id = id.strip_prefix(PREFIX).map_or(id, |rest| rest.split('_').next().unwrap_or(rest));
        self.change(|records| {
            let found = records.iter().position(|record| record.id == id);
            let unknown = || TokenError::Unknown { id: id.into(), path: self.path.clone() };
            Ok(records.remove(found.ok_or_else(unknown)?))
        })
    }

    /// Reads, changes and replaces the file, while nobody else does.
    fn change<T>(
        &self,
        change: impl FnOnce(&mut Vec<TokenRecord>) -> Result<T, TokenError>,
    ) -> Result<T, TokenError> {
        let write = |problem| self.error(true, problem);
        let lock = private(OpenOptions::new().write(true).create(true), &self.path.with_extension("lock"))
            .map_err(write)?;
        lock.lock().map_err(write)?;
        let mut records = self.read()?;
        let done = change(&mut records)?;
        replace(&self.path, &records).map_err(write)?;
        Ok(done)
    }

    fn error(&self, writing: bool, problem: io::Error) -> TokenError {
        TokenError::File { path: self.path.clone(), writing, problem }
    }
}

/// Writes a file that nobody else may read, whole at once.
pub(crate) fn replace(path: &Path, content: &impl Serialize) -> io::Result<()> {
    let beside = path.with_extension("new");
    let mut file = private(OpenOptions::new().write(true).create(true).truncate(true), &beside)?;
    serde_json::to_writer_pretty(&mut file, content)?;
    file.write_all(b"\n")?;
    file.sync_all()?;
    fs::rename(&beside, path)
}

/// Opens a file that nobody else may read.
fn private(options: &mut OpenOptions, path: &Path) -> io::Result<File> {
    #[cfg(unix)]
    {
        use std::os::unix::fs::OpenOptionsExt;
        options.mode(0o600);
    }
    options.open(path)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn new(role: Role) -> NewToken {
        NewToken { name: "test".into(), role, studies: Vec::new(), lasts: Some(Duration::from_mins(1)) }
    }

    #[test]
    fn a_token_is_found_until_it_is_revoked() {
        let folder = tempfile::tempdir().unwrap();
        let file = TokenFile::new(folder.path().join("tokens.json"));
        assert!(file.read().unwrap().is_empty());
        let now = Timestamp(1_000);
        let (token, record) = file.create(new(Role::Work), now).unwrap();
        let (other, _) = file.create(new(Role::Read), now).unwrap();
        let records = file.read().unwrap();
        assert_eq!(find(&records, &token), Some(&record));
        assert_eq!(find(&records, &other).unwrap().role, Role::Read);
        assert!(!record.has_expired(now) && record.has_expired(now.after(Duration::from_mins(1))));
        let text = fs::read_to_string(file.path()).unwrap();
        assert!(!text.contains(&token[12..]), "secrets are not kept");
        for wrong in
            ["", "nr_", "nr__", &token[..token.len() - 1], &format!("{token}0"), &token.to_uppercase()]
        {
            assert_eq!(find(&records, wrong), None, "{wrong}");
        }
        file.revoke(&record.id).unwrap();
        assert_eq!(find(&file.read().unwrap(), &token), None);
        assert!(matches!(file.revoke(&record.id), Err(TokenError::Unknown { .. })));
    }

    #[cfg(unix)]
    #[test]
    fn nobody_else_may_read_the_file() {
        use std::os::unix::fs::PermissionsExt;
        let folder = tempfile::tempdir().unwrap();
        let file = TokenFile::new(folder.path().join("tokens.json"));
        file.create(new(Role::Admin), Timestamp(0)).unwrap();
        assert_eq!(fs::metadata(file.path()).unwrap().permissions().mode() & 0o777, 0o600);
    }

    #[test]
    fn a_token_may_be_for_some_studies() {
        let (_, record) = NewToken { studies: vec!["a".into()], ..new(Role::Work) }.make(Timestamp(0));
        assert!(record.covers("a") && !record.covers("b"));
    }
}
