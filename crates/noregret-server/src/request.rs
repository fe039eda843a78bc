//! A request as handlers see it, and their answers.

use std::collections::BTreeMap;
use std::fmt;
use std::net::IpAddr;
use std::str::FromStr;
use std::sync::Arc;

use noregret_client::api::Problem;
use noregret_store::Request as Named;
use serde::Serialize;
use serde::de::DeserializeOwned;

use crate::digest;
use crate::kept::Kept;
use crate::problem::invalid;
use crate::routes::Found;

/// A request, with its body.
#[derive(Debug)]
pub struct Request {
    /// `GET` or `POST`.
    pub method: String,
    /// Its path, as it was sent.
    pub path: String,
    /// What follows the question mark.
    pub query: String,
    /// Headers that matter, by their names in lower case.
    pub headers: BTreeMap<&'static str, String>,
    /// The body.
    pub body: Vec<u8>,
    /// Where it comes from.
    pub from: Option<IpAddr>,
}

/// Headers that handlers see.
pub(crate) const HEADERS: [&str; 8] = [
    "accept-encoding",
    "authorization",
    "content-type",
    "cookie",
    "idempotency-key",
    "last-event-id",
    "x-forwarded-proto",
    "x-noregret",
];
/// What a path says that was sent another method.
pub(crate) const TAKES: &str = "this path takes ";
/// Names of requests and of workers are this long at most.
pub(crate) const LONGEST_NAME: usize = 200;

/// An answer.
pub struct Answer {
    /// The HTTP status.
    pub status: u16,
    /// Its type.
    pub content_type: &'static str,
    /// When to come again, in seconds.
    pub retry_after: Option<u64>,
    /// Methods that the path takes, if it was another.
    pub allow: Option<String>,
    /// Other headers.
    pub headers: Vec<(&'static str, String)>,
    /// What it says.
    pub body: Body,
}

/// What an answer says.
pub enum Body {
    /// All at once.
    Whole(Vec<u8>),
    /// The same, for several who ask.
    Kept(Arc<Kept>),
    /// Piece by piece, until the other end is dropped.
    Pieces(tokio::sync::mpsc::Receiver<Vec<u8>>),
}

/// Pieces of a body that come one after the other. Dropping it tells whoever makes them to stop.
pub(crate) type Pieces = tokio::sync::mpsc::Receiver<Vec<u8>>;

impl Request {
    /// Whether a script of the page has sent it: a form on another site cannot set this header.
    pub(crate) fn is_of_page(&self) -> bool {
        self.headers.get("x-noregret").is_some_and(|value| value == "page")
    }
}

impl fmt::Debug for Answer {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut shown = f.debug_struct("Answer");
        shown.field("status", &self.status).field("content_type", &self.content_type);
        if let Body::Whole(body) = &self.body {
            shown.field("body", &String::from_utf8_lossy(body));
        }
        shown.finish_non_exhaustive()
    }
}

impl Answer {
    /// Something as JSON.
    pub(crate) fn json(status: u16, value: &impl Serialize) -> Result<Self, Problem> {
        let body =
            serde_json::to_vec(value).map_err(|error| Problem::new(500, "internal", error.to_string()))?;
        Ok(Self::empty(status, Body::Whole(body)))
    }

    /// An answer that is kept, as JSON.
    pub(crate) fn kept(kept: Arc<Kept>) -> Self {
        Self::empty(200, Body::Kept(kept))
    }

    /// A body with nothing said about it, but for being JSON.
    pub(crate) fn empty(status: u16, body: Body) -> Self {
        Self {
            status,
            content_type: "application/json",
            retry_after: None,
            allow: None,
            headers: Vec::new(),
            body,
        }
    }

    /// A text of this type.
    pub(crate) fn text(content_type: &'static str, text: String) -> Self {
        Self { content_type, ..Self::empty(200, Body::Whole(text.into_bytes())) }
    }
}

impl From<Problem> for Answer {
    fn from(problem: Problem) -> Self {
        let retry_after = match problem.status {
            429 => Some(1),
            503 => Some(2),
            _ => None,
        };
        let body = Body::Whole(serde_json::to_vec(&problem).unwrap_or_default());
        let allow = problem.detail.strip_prefix(TAKES).filter(|_| problem.status == 405).map(str::to_owned);
        Self {
            content_type: "application/problem+json",
            retry_after,
            allow,
            ..Self::empty(problem.status, body)
        }
    }
}

/// What a handler knows of its request, beyond the body.
#[derive(Debug)]
pub(crate) struct Call {
    /// The study in the path.
    pub(crate) study: String,
    /// The trial in the path.
    pub(crate) number: u64,
    /// Whether there is one.
    pub(crate) is_about_one: bool,
    /// The file in the path.
    pub(crate) file: String,
    /// The query, by name.
    query: BTreeMap<String, String>,
    /// The name that the sender gave the request.
    pub(crate) named: Option<Named>,
    /// What the sender may do.
    pub(crate) caller: crate::app::Caller,
    /// The last event that a reader of events has seen.
    pub(crate) last_event: Option<u64>,
    /// What the body says to be.
    content_type: String,
    /// Whether a script has sent it, rather than a form.
    pub(crate) is_of_page: bool,
    /// How the answer may be compressed.
    pub(crate) accept_encoding: Option<String>,
    /// The cookies of whoever sends it.
    pub(crate) cookies: Option<String>,
    /// Whether it came encrypted to a proxy before us.
    pub(crate) was_encrypted: bool,
    /// Where it comes from.
    pub(crate) from: Option<IpAddr>,
    pub(crate) body: Vec<u8>,
}

impl Call {
    /// Puts together what is known, or says what is wrong with it.
    pub(crate) fn new(request: Request, found: Found, caller: crate::app::Caller) -> Result<Self, Problem> {
        let Found { route, study, number, file } = found;
        let known: Vec<&str> = route.query.iter().map(|(name, ..)| *name).collect();
        let query = parse_query(&request.query)?;
        if let Some(name) = query.keys().find(|name| !known.contains(&name.as_str())) {
            let list = if known.is_empty() { "none".into() } else { known.join(", ") };
            return Err(invalid(format!("`{name}` in the query is unknown here; known are: {list}")));
        }
        let header = |name| request.headers.get(name);
        let named = match header("idempotency-key") {
            Some(key) if key.is_empty() || key.len() > LONGEST_NAME || key.chars().any(char::is_control) => {
                let problem = format!("an Idempotency-Key has from 1 to {LONGEST_NAME} printable characters");
                return Err(invalid(problem));
            }
            Some(key) => {
                let digest = digest::number(&[request.path.as_bytes(), &request.body]);
                Some(Named { key: format!("{}/{key}", caller.id), digest })
            }
            None => None,
        };
        let last_event = match header("last-event-id") {
            Some(id) => {
                Some(id.parse().map_err(|_| invalid("a Last-Event-ID is a position: a whole number"))?)
            }
            None => None,
        };
        let is_of_page = request.is_of_page();
        let was_encrypted = header("x-forwarded-proto").is_some_and(|scheme| scheme == "https");
        let (number, is_about_one) = (number.unwrap_or_default(), number.is_some());
        Ok(Self {
            study,
            number,
            is_about_one,
            file,
            query,
            named,
            caller,
            last_event,
            content_type: header("content-type").cloned().unwrap_or_default(),
            is_of_page,
            accept_encoding: header("accept-encoding").cloned(),
            cookies: header("cookie").cloned(),
            was_encrypted,
            from: request.from,
            body: request.body,
        })
    }

    /// The body, as JSON.
    pub(crate) fn json<T: DeserializeOwned>(&self) -> Result<T, Problem> {
        let body: &[u8] = if self.body.is_empty() { b"{}" } else { &self.body };
        // A list would do for serde, field by field.
        if body.iter().find(|byte| !byte.is_ascii_whitespace()) != Some(&b'{') {
            return Err(invalid("the body must be an object of JSON"));
        }
        serde_json::from_slice(body)
            .map_err(|error| invalid(format!("the body is not what is expected: {error}")))
    }

    /// Whether the body says to be TOML.
    pub(crate) fn is_toml(&self) -> bool {
        self.content_type.contains("toml")
    }

    /// Whether it says to be JSON.
    pub(crate) fn is_json(&self) -> bool {
        self.content_type.starts_with("application/json")
    }

    /// A number in the query.
    pub(crate) fn number_of<T: FromStr>(&self, name: &str) -> Result<Option<T>, Problem> {
        let parse = |text: &String| {
            text.parse().map_err(|_| invalid(format!("`{name}` in the query: {text:?} is no such number")))
        };
        self.query.get(name).map(parse).transpose()
    }

    /// Whether something in the query is so.
    pub(crate) fn truth_of(&self, name: &str) -> Result<bool, Problem> {
        match self.word_of(name) {
            None | Some("false" | "0") => Ok(false),
            Some("true" | "1" | "") => Ok(true),
            Some(other) => Err(invalid(format!("`{name}` in the query is true or false, not {other:?}"))),
        }
    }

    /// A word in the query.
    pub(crate) fn word_of(&self, name: &str) -> Option<&str> {
        self.query.get(name).map(String::as_str)
    }
}

fn parse_query(query: &str) -> Result<BTreeMap<String, String>, Problem> {
    let pairs = query.split('&').filter(|pair| !pair.is_empty());
    pairs
        .map(|pair| {
            let (name, value) = pair.split_once('=').unwrap_or((pair, ""));
            Ok((decoded(&name.replace('+', " "))?, decoded(&value.replace('+', " "))?))
        })
        .collect()
}

/// A piece of an address without its percent signs.
pub(crate) fn decoded(text: &str) -> Result<String, Problem> {
    let wrong = || invalid(format!("{text:?} is no piece of an address"));
    let mut bytes = Vec::with_capacity(text.len());
    let mut rest = text.bytes();
    while let Some(byte) = rest.next() {
        if byte != b'%' {
            bytes.push(byte);
            continue;
        }
        let digit = |byte: Option<u8>| char::from(byte?).to_digit(16);
        let (high, low) = (digit(rest.next()).ok_or_else(wrong)?, digit(rest.next()).ok_or_else(wrong)?);
        bytes.push(u8::try_from(16 * high + low).map_err(|_| wrong())?);
    }
    String::from_utf8(bytes).map_err(|_| wrong())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn addresses_are_decoded() {
        assert_eq!(decoded("a%2Fb%20%C3%A9").unwrap(), "a/b é");
        for wrong in ["%", "%2", "%zz", "%ff"] {
            assert_eq!(decoded(wrong).unwrap_err().status, 422, "{wrong}");
        }
        let query = parse_query("after=3&state=running&x").unwrap();
        assert_eq!((query["after"].as_str(), query["x"].as_str()), ("3", ""));
    }
}
