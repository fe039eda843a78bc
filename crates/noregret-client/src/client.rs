//! A blocking client.

use std::fmt;
use std::str::FromStr;
use std::thread;
use std::time::{Duration, Instant};

use serde::Serialize;
use serde::de::DeserializeOwned;
use ureq::tls::{Certificate, RootCerts, TlsConfig};
use ureq::{Agent, Body, http};

use crate::api::Problem;
use crate::error::is_passing;
use crate::{ClientError, another_key};

/// How long a call tries again before it gives up: longer than a server takes to restart.
const PATIENCE: Duration = Duration::from_secs(10);
/// The same for the first call: a server that is just starting, rather than an address that is wrong.
const FIRST_PATIENCE: Duration = Duration::from_secs(3);
/// The first pause before trying again; each is twice the one before, up to the longest.
const PAUSE: (Duration, Duration) = (Duration::from_millis(20), Duration::from_secs(2));
/// How long to wait for a connection, and for an answer beyond what was asked to be waited for. Thinking may take a while.
const CONNECT: Duration = Duration::from_secs(5);
const ANSWER: Duration = Duration::from_mins(5);
/// The longest answer that is read.
const LONGEST: u64 = 1 << 30;

/// The address of a server: `http://host:7377`, or `https://host/base`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ServerUrl(String);

impl FromStr for ServerUrl {
    type Err = ClientError;

    fn from_str(url: &str) -> Result<Self, ClientError> {
        let refuse = |problem: &str| ClientError::Url { url: url.into(), problem: problem.into() };
        let rest = url.strip_prefix("http://").or_else(|| url.strip_prefix("https://"));
        let rest = rest.ok_or_else(|| refuse("write http://host:7377 or https://host/base"))?;
        let host = rest.split('/').next().unwrap_or_default();
        if host.is_empty() {
            return Err(refuse("it names no host"));
        }
        if host.contains('@') {
            return Err(refuse("tokens do not belong into addresses: set NOREGRET_TOKEN"));
        }
        if rest.contains(['?', '#']) {
            return Err(refuse("it ends with the path of the server"));
        }
        http::Uri::from_str(url).map_err(|error| refuse(&error.to_string()))?;
        Ok(Self(url.trim_end_matches('/').to_owned()))
    }
}

impl fmt::Display for ServerUrl {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

/// Talks to one server.
#[derive(Clone)]
pub struct Client {
    url: ServerUrl,
    token: Option<String>,
    agent: Agent,
}

impl fmt::Debug for Client {
    /// Without the token.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Client").field("url", &self.url).finish_non_exhaustive()
    }
}

/// A request on its way.
struct Call<'a> {
    method: &'static str,
    path: &'a str,
    body: Option<Vec<u8>>,
    key: Option<String>,
    patience: Duration,
    /// How long the server may take.
    answer: Duration,
}

impl Client {
    /// A client for this server; nothing is sent yet.
    pub fn new(url: ServerUrl, token: Option<String>) -> Self {
        let mut config = Agent::config_builder()
            .http_status_as_error(false)
            .max_redirects(0) // a token goes nowhere else
            .proxy(None)
            .max_idle_age(Duration::from_secs(10)) // a server closes what is idle for 20 s
            .user_agent(concat!("noregret/", env!("CARGO_PKG_VERSION")))
            .timeout_connect(Some(CONNECT));
        if url.0.starts_with("https:") {
            // Those of the system, or of SSL_CERT_FILE.
            let found = rustls_native_certs::load_native_certs().certs;
            let roots: Vec<_> = found.iter().map(|der| Certificate::from_der(der).to_owned()).collect();
            let tls = TlsConfig::builder().root_certs(RootCerts::new_with_certs(&roots)).build();
            config = config.tls_config(tls);
        }
        Self { url, token: token.filter(|token| !token.is_empty()), agent: config.build().new_agent() }
    }

    /// The server's address.
    pub fn url(&self) -> &ServerUrl {
        &self.url
    }

    /// Whether the server is there and lets us in: with less patience than usual.
    pub fn connect(&self) -> Result<(), ClientError> {
        let call = Call { patience: FIRST_PATIENCE, answer: CONNECT, ..get("/api/v1/studies?limit=1") };
        self.send(&call).map(drop)
    }

    /// Reads something. `path` begins with `/api/v1`.
    pub fn get<T: DeserializeOwned>(&self, path: &str) -> Result<T, ClientError> {
        self.read(&self.send(&get(path))?)
    }

    /// The same where the server may take so long to have something to say.
    pub fn get_waiting<T: DeserializeOwned>(&self, path: &str, wait: Duration) -> Result<T, ClientError> {
        self.read(&self.send(&Call { answer: ANSWER + wait, ..get(path) })?)
    }

    /// Changes something. It may be sent several times, and is done once.
    pub fn post<T: DeserializeOwned>(&self, path: &str, body: &impl Serialize) -> Result<T, ClientError> {
        self.post_waiting(path, body, &another_key(), Duration::ZERO, PATIENCE)
    }

    /// The same under a name that the caller keeps, in case that it gives up and comes again; the server may take `wait` longer.
    pub fn post_waiting<T: DeserializeOwned>(
        &self,
        path: &str,
        body: &impl Serialize,
        key: &str,
        wait: Duration,
        patience: Duration,
    ) -> Result<T, ClientError> {
        let body = serde_json::to_vec(body).map_err(|error| self.unreachable(error.to_string()))?;
        let key = Some(key.to_owned());
        let call = Call { method: "POST", path, body: Some(body), key, patience, answer: ANSWER + wait };
        self.read(&self.send(&call)?)
    }

    fn unreachable(&self, problem: String) -> ClientError {
        ClientError::Connection { place: self.url.to_string(), problem }
    }

    fn read<T: DeserializeOwned>(&self, body: &[u8]) -> Result<T, ClientError> {
        serde_json::from_slice(body)
            .map_err(|error| self.unreachable(format!("it is no noregret server of this version: {error}")))
    }

    /// Sends a request, again if need be.
    #[expect(clippy::disallowed_methods, reason = "patience is a matter of time")]
    fn send(&self, call: &Call<'_>) -> Result<Vec<u8>, ClientError> {
        let begin = Instant::now();
        let mut pause = PAUSE.0;
        loop {
            let (error, asked) = match self.send_once(call) {
                Ok(body) => return Ok(body),
                Err((error, asked)) if error.is_temporary() => (error, asked),
                Err((error, _)) => return Err(error),
            };
            let rest = asked.unwrap_or(pause).clamp(pause, PAUSE.1);
            if begin.elapsed() + rest > call.patience {
                return Err(error);
            }
            thread::sleep(rest);
            pause = (2 * pause).min(PAUSE.1);
        }
    }

    /// Sends it once; with an error comes the pause that the server asks for.
    fn send_once(&self, call: &Call<'_>) -> Result<Vec<u8>, (ClientError, Option<Duration>)> {
        let mut request = http::Request::builder()
            .method(call.method)
            .uri(format!("{}{}", self.url, call.path))
            .header("accept", "application/json");
        if let Some(token) = &self.token {
            request = request.header("authorization", format!("Bearer {token}"));
        }
        if let Some(key) = &call.key {
            request =
                request.header("idempotency-key", key.as_str()).header("content-type", "application/json");
        }
        let failed = |problem: String| (self.unreachable(problem), None);
        let answered = if let Some(body) = &call.body {
            let request = request.body(body.as_slice()).map_err(|error| failed(error.to_string()))?;
            let request = self.agent.configure_request(request);
            self.agent.run(request.timeout_recv_response(Some(call.answer)).build())
        } else {
            let request = request.body(()).map_err(|error| failed(error.to_string()))?;
            let request = self.agent.configure_request(request);
            self.agent.run(request.timeout_recv_response(Some(call.answer)).build())
        };
        let mut answer = answered.map_err(|error| failed(explain(&error)))?;
        let bytes =
            |answer: &mut http::Response<Body>| answer.body_mut().with_config().limit(LONGEST).read_to_vec();
        let body = bytes(&mut answer).map_err(|error| failed(explain(&error)))?;
        let status = answer.status().as_u16();
        if answer.status().is_success() {
            return Ok(body);
        }
        let after = answer.headers().get("retry-after").and_then(|value| value.to_str().ok()?.parse().ok());
        let problem = serde_json::from_slice::<Problem>(&body).unwrap_or_else(|_| {
            let said = if is_passing(status) { "is not ready" } else { "is no noregret server, it seems" };
            Problem::new(status, "unknown", format!("{} {said}: it answers {status}", self.url))
        });
        Err((ClientError::Refused(Box::new(problem)), after.map(Duration::from_secs)))
    }
}

fn get(path: &str) -> Call<'_> {
    Call { method: "GET", path, body: None, key: None, patience: PATIENCE, answer: ANSWER }
}

fn explain(error: &ureq::Error) -> String {
    match error {
        ureq::Error::Io(error) => error.to_string(),
        ureq::Error::HostNotFound => "there is no such host".into(),
        ureq::Error::ConnectionFailed => "nothing answers there".into(),
        other => other.to_string(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn addresses() {
        let parse = |url: &str| url.parse::<ServerUrl>().map(|url| url.to_string());
        assert_eq!(parse("http://localhost:7377/").unwrap(), "http://localhost:7377");
        assert_eq!(parse("https://host/base/").unwrap(), "https://host/base");
        for (url, why) in [
            ("ftp://host", "write http://"),
            ("http://", "no host"),
            ("http://nr_secret@host", "NOREGRET_TOKEN"),
            ("http://host/?a=b", "ends with the path"),
            ("http://ho st", "not the address"),
        ] {
            let problem = parse(url).unwrap_err().to_string();
            assert!(problem.contains(why), "{url}: {problem}");
        }
    }

    #[test]
    fn a_token_is_never_printed() {
        let client = Client::new("http://localhost:1".parse().unwrap(), Some("nr_secret".into()));
        assert!(!format!("{client:?}").contains("secret"));
    }
}
