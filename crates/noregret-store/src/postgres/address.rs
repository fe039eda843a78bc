//! Where a database is and how to reach it: the address as users write it, and the encryption that it asks for.

use std::fmt;
use std::path::PathBuf;
use std::str::FromStr;
use std::time::Duration;

use postgres::config::SslMode;
use postgres::{Client, Config, NoTls};

use super::{Trouble, tls};
use crate::StoreError;
use crate::error::explained;

/// How long to wait for a server that does not answer.
const CONNECT: Duration = Duration::from_secs(10);
/// How long what was sent may stay unanswered before the connection counts as broken.
const SILENCE: Duration = Duration::from_secs(30);

/// The address of a PostgreSQL database: `postgresql://user:password@host:port/database?sslmode=verify-full`.
///
/// `sslmode` is as in PostgreSQL's own programs: `disable`, `prefer` (the default: encrypted if the server can, and nobody's identity is
/// checked), `require` (encrypted; with `sslrootcert` the server's certificate is checked), `verify-full` (the certificate and the
/// name in it are checked, by the machine's own authorities or `sslrootcert`). `verify-ca` is taken as `verify-full`. A password that
/// is not in the address may be in the variable `PGPASSWORD`.
#[derive(Clone)]
pub struct PostgresUrl {
    /// As it was written; it may have a password.
    url: String,
    config: Config,
    check: Check,
    roots: Option<PathBuf>,
}

/// Whose certificate is good enough.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Check {
    /// Anybody's.
    Nobody,
    /// One that an authority has given to this host.
    Host,
}

/// What is written decides everything else.
impl PartialEq for PostgresUrl {
    fn eq(&self, other: &Self) -> bool {
        self.url == other.url
    }
}

impl Eq for PostgresUrl {}

impl FromStr for PostgresUrl {
    type Err = StoreError;

    fn from_str(url: &str) -> Result<Self, StoreError> {
        let refuse = |problem: String| StoreError::Url { url: hidden(url), problem };
        let (address, query) = url.split_once('?').unwrap_or((url, ""));
        let (mut mode, mut roots, mut others) = ("prefer".to_owned(), None, Vec::new());
        for pair in query.split('&').filter(|pair| !pair.is_empty()) {
            match pair.split_once('=') {
                Some(("sslmode", value)) => value.clone_into(&mut mode),
                Some(("sslrootcert", value)) => roots = Some(PathBuf::from(decoded(value))),
                _ => others.push(pair),
            }
        }
        let rest =
            if others.is_empty() { address.to_owned() } else { format!("{address}?{}", others.join("&")) };
        let mut config: Config = rest.parse().map_err(|error: postgres::Error| refuse(explained(&error)))?;
        let (encryption, check) = match mode.as_str() {
            "disable" => (SslMode::Disable, Check::Nobody),
            "prefer" | "allow" => (SslMode::Prefer, Check::Nobody),
            "require" => (SslMode::Require, if roots.is_some() { Check::Host } else { Check::Nobody }),
            "verify-ca" | "verify-full" => (SslMode::Require, Check::Host),
            other => {
                return Err(refuse(format!(
                    "sslmode is disable, prefer, require or verify-full, not {other:?}"
                )));
            }
        };
        if config.get_dbname().is_none() && config.get_user().is_none() {
            return Err(refuse("name a database, as in postgresql://user@host/database".into()));
        }
        if config.get_password().is_none()
            && let Some(password) = password_of_the_environment()
        {
            config.password(password);
        }
        config.ssl_mode(encryption);
        config.keepalives_idle(SILENCE);
        config.tcp_user_timeout(SILENCE);
        if config.get_connect_timeout().is_none() {
            config.connect_timeout(CONNECT);
        }
        if config.get_application_name().is_none() {
            config.application_name("noregret");
        }
        Ok(Self { url: url.into(), config, check, roots })
    }
}

impl PostgresUrl {
    /// A new connection.
    pub(super) fn connect(&self) -> Result<Client, Trouble> {
        if self.config.get_ssl_mode() == SslMode::Disable {
            return Ok(self.config.connect(NoTls)?);
        }
        let encryption = match self.check {
            Check::Nobody => tls::unchecked(),
            Check::Host => tls::checked(self.roots.as_deref()),
        };
        Ok(self.config.connect(encryption.map_err(Trouble::Other)?)?)
    }

    /// The address with its password, for other programs of the same user.
    pub fn with_password(&self) -> &str {
        &self.url
    }
}

/// Without the password.
impl fmt::Display for PostgresUrl {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&hidden(&self.url))
    }
}

/// Without the password.
impl fmt::Debug for PostgresUrl {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "PostgresUrl({self})")
    }
}

#[expect(
    clippy::disallowed_methods,
    reason = "as all programs of PostgreSQL do: addresses are seen by others"
)]
fn password_of_the_environment() -> Option<String> {
    std::env::var("PGPASSWORD").ok()
}

/// An address without its password.
fn hidden(url: &str) -> String {
    let (address, query) = url.split_once('?').map_or((url, None), |(address, query)| (address, Some(query)));
    let shown = |pair: &str| match pair.split_once('=') {
        Some(("password", _)) => "password=***".to_owned(),
        _ => pair.to_owned(),
    };
    let query = query.map(|query| format!("?{}", query.split('&').map(shown).collect::<Vec<_>>().join("&")));
    let begin = address.find("://").map_or(0, |at| at + 3);
    let end = address[begin..].find('/').map_or(address.len(), |at| begin + at);
    let host = address[begin..end].rfind('@').map_or(begin, |at| begin + at);
    let address = match address[begin..host].find(':') {
        Some(colon) => format!("{}:***{}", &address[..begin + colon], &address[host..]),
        None => address.to_owned(),
    };
    address + &query.unwrap_or_default()
}

/// `%2F` as `/`.
fn decoded(text: &str) -> String {
    let (mut bytes, mut rest) = (Vec::new(), text.as_bytes());
    while let [first, tail @ ..] = rest {
        let code = tail.get(..2).filter(|_| *first == b'%').and_then(|two| std::str::from_utf8(two).ok());
        if let Some(byte) = code.and_then(|two| u8::from_str_radix(two, 16).ok()) {
            bytes.push(byte);
            rest = &tail[2..];
        } else {
            bytes.push(*first);
            rest = tail;
        }
    }
    String::from_utf8_lossy(&bytes).into_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn parsed(url: &str) -> PostgresUrl {
        url.parse().unwrap()
    }

    #[test]
    fn a_password_is_never_shown() {
        for (url, shown) in [
            ("postgresql://ann:secret@host/db", "postgresql://ann:***@host/db"),
            (
                "postgresql://ann:se%40cr:et@host:5/db?sslmode=require",
                "postgresql://ann:***@host:5/db?sslmode=require",
            ),
            ("postgres://host/db?user=a&password=secret", "postgres://host/db?user=a&password=***"),
            ("postgresql://ann@host/db", "postgresql://ann@host/db"),
        ] {
            assert_eq!(parsed(url).to_string(), shown);
            assert!(!format!("{:?}", parsed(url)).contains("secret"));
            assert_eq!(parsed(url).with_password(), url);
        }
        let error = "postgresql://ann:secret@host/db?sslmode=maybe".parse::<PostgresUrl>().unwrap_err();
        assert!(
            error.to_string().contains("verify-full") && !error.to_string().contains("secret"),
            "{error}"
        );
    }

    #[test]
    fn encryption_is_as_asked_for() {
        let of = |query: &str| {
            let url = parsed(&format!("postgresql://ann@host/db{query}"));
            (url.config.get_ssl_mode(), url.check, url.roots.clone())
        };
        assert_eq!(of(""), (SslMode::Prefer, Check::Nobody, None));
        assert_eq!(of("?sslmode=disable&connect_timeout=3"), (SslMode::Disable, Check::Nobody, None));
        assert_eq!(of("?sslmode=require"), (SslMode::Require, Check::Nobody, None));
        let roots = Some(PathBuf::from("/a b/root.pem"));
        assert_eq!(
            of("?sslmode=require&sslrootcert=%2Fa%20b/root.pem"),
            (SslMode::Require, Check::Host, roots)
        );
        assert_eq!(of("?sslmode=verify-full"), (SslMode::Require, Check::Host, None));
    }

    #[test]
    fn an_address_that_is_none_says_what_would_be_one() {
        for url in ["postgresql://", "postgresql://ann@host/db?colour=red"] {
            let error = url.parse::<PostgresUrl>().unwrap_err();
            assert!(matches!(error, StoreError::Url { .. }), "{error}");
        }
    }
}
