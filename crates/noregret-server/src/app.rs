//! The service as a function from requests to answers.

use std::net::IpAddr;
use std::num::NonZeroUsize;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::PathBuf;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, OnceLock, PoisonError};
use std::time::{Instant, SystemTime};

use noregret_client::api::Problem;
use noregret_store::{Store, Timestamp};

use crate::chronicles::Chronicles;
use crate::desks::Desks;
use crate::kept::Answers;
use crate::limits::Buckets;
use crate::metrics::Metrics;
use crate::packing;
use crate::request::{Answer, Body, Call, Request};
use crate::routes::{Found, find};
use crate::sessions::{Sessions, cookie, cookie_name};
use crate::thinking::Thinkers;
use crate::token_file::{self, Role, TokenFile, TokenRecord};
use crate::views::check_shown;

/// How a server is set up.
#[derive(Debug)]
pub struct Options {
    /// Tokens.
    pub tokens: TokenFile,
    /// One more token, which ends with the server.
    pub session_token: Option<TokenRecord>,
    /// Folders with candidates that may be read.
    pub pools: Vec<PathBuf>,
    /// What comes before `/api`, behind a proxy.
    pub base_path: String,
    /// Studies that are thought about at once.
    pub thinkers: NonZeroUsize,
    /// Requests of a token a second, in the long run.
    pub rate: f64,
    /// Requests without a valid token of one address a second, in the long run.
    pub guesses: f64,
    /// Whether nothing can be changed, whoever asks.
    pub read_only: bool,
    /// The studies that are shown; all, if none is named.
    pub only: Vec<String>,
}

/// How many seconds' worth of requests without a valid token may come at once.
const BURST: f64 = 10.0;
/// Requests that may wait to think.
const QUEUE: usize = 256;

/// The service.
pub struct App {
    pub(crate) store: Arc<dyn Store>,
    pub(crate) desks: Desks,
    pub(crate) thinkers: Thinkers,
    pub(crate) metrics: Metrics,
    pub(crate) closing: AtomicBool,
    pub(crate) pools: Vec<PathBuf>,
    pub(crate) chronicles: Chronicles,
    pub(crate) answers: Answers,
    pub(crate) read_only: bool,
    only: Vec<String>,
    sessions: Sessions,
    /// The port, and whether it is encrypted.
    place: OnceLock<(u16, bool)>,
    base_path: String,
    tokens: TokenFile,
    session_token: Option<TokenRecord>,
    known: Mutex<KnownTokens>,
    rates: Buckets,
    failures: Buckets,
}

#[derive(Default)]
struct KnownTokens {
    version: Option<(SystemTime, u64)>,
    records: Vec<TokenRecord>,
}

/// Who has sent a request.
#[derive(Clone, Debug)]
pub(crate) struct Caller {
    /// The public part of the token.
    pub(crate) id: String,
    pub(crate) role: Role,
    /// In which studies; in all, if none is named.
    studies: Vec<String>,
    /// Whether a cookie has said so, which a browser sends whoever made it send something.
    by_cookie: bool,
}

impl Caller {
    /// Whether it may see this study.
    pub(crate) fn may_see(&self, study: &str) -> bool {
        self.studies.is_empty() || self.studies.iter().any(|known| known == study)
    }

    /// Whether it may do what this role may.
    pub(crate) fn is(&self, role: Role) -> bool {
        self.role >= role
    }
}

impl App {
    /// A service over this store.
    pub fn new(store: Arc<dyn Store>, options: Options) -> Self {
        Self {
            desks: Desks::new(Arc::clone(&store), options.pools.clone()),
            chronicles: Chronicles::new(Arc::clone(&store)),
            answers: Answers::default(),
            read_only: options.read_only,
            only: options.only,
            sessions: Sessions::default(),
            place: OnceLock::new(),
            store,
            thinkers: Thinkers::new(options.thinkers.get(), QUEUE),
            metrics: Metrics::default(),
            closing: AtomicBool::new(false),
            pools: options.pools,
            base_path: options.base_path.trim_end_matches('/').to_owned(),
            tokens: options.tokens,
            session_token: options.session_token,
            known: Mutex::default(),
            rates: Buckets::new(options.rate, 2.0 * options.rate),
            failures: Buckets::new(options.guesses, BURST * options.guesses),
        }
    }

    /// Answers who waits, and takes nothing new.
    pub fn close(&self) {
        self.closing.store(true, Ordering::Relaxed);
    }

    /// Answers a request. This may take a while: it is called on a thread of its own.
    #[expect(clippy::disallowed_methods, reason = "how long requests take is measured")]
    pub fn answer(self: &Arc<Self>, request: Request) -> Answer {
        let begin = Instant::now();
        let (method, path) = (request.method.clone(), request.path.clone());
        let may_be_packed = packing::accepts(request.headers.get("accept-encoding"));
        let mut label = None;
        let answered = catch_unwind(AssertUnwindSafe(|| self.try_answer(request, begin, &mut label)));
        let answer = match answered {
            Ok(Ok(answer)) => answer,
            Ok(Err(problem)) => problem.into(),
            Err(_) => {
                // Its study may be in the middle of something: it is read again.
                if let Some(study) = label.as_ref().and_then(|(_, study): &(String, _)| study.as_ref()) {
                    self.desks.drop_desk(study);
                    self.chronicles.forget(study);
                }
                tracing::error!(%method, %path, "a request has panicked");
                Problem::new(500, "internal", "this is a bug in noregret").into()
            }
        };
        let answer = packing::pack(answer, may_be_packed);
        let took = begin.elapsed();
        let (route, study) = label.unwrap_or_else(|| ("unknown".into(), None));
        self.metrics.count(&route, answer.status, took);
        let ms = took.as_secs_f64() * 1e3;
        if answer.status >= 500 {
            tracing::warn!(route, study, status = answer.status, ms, "request");
        } else {
            tracing::info!(route, study, status = answer.status, ms, "request");
        }
        answer
    }

    fn try_answer(
        self: &Arc<Self>,
        request: Request,
        now: Instant,
        label: &mut Option<(String, Option<String>)>,
    ) -> Result<Answer, Problem> {
        let path = request.path.strip_prefix(&self.base_path).unwrap_or_default().to_owned();
        if path.is_empty() && request.path == self.base_path && request.method == "GET" {
            // Addresses in the page are relative to what ends with a slash.
            let headers = vec![("location", format!("{}/", self.base_path))];
            return Ok(Answer { headers, ..Answer::empty(308, Body::Whole(Vec::new())) });
        }
        let found = find(&request.method, &path);
        if let Ok(Found { route, study, .. }) = &found {
            *label = Some((
                format!("{} {}", route.method, route.path),
                Some(study.clone()).filter(|s| !s.is_empty()),
            ));
        }
        // Who has no token does not learn what there is.
        let role = found.as_ref().map_or(Some(Role::Read), |found| found.route.role);
        let caller = match role {
            None => Caller { id: String::new(), role: Role::Read, studies: Vec::new(), by_cookie: false },
            Some(role) => self.admit(&request, role, now)?,
        };
        let found = found?;
        let study = &found.study;
        if !study.is_empty() && !caller.may_see(study) {
            return Err(Problem::new(403, "forbidden", format!("this token is not for study `{study}`")));
        }
        if !study.is_empty() {
            check_shown(self, study)?;
        }
        let is_write = found.route.role > Some(Role::Read);
        if is_write && self.read_only {
            return Err(Problem::new(
                403,
                "read-only",
                "this is for looking only: nothing can be changed here",
            ));
        }
        if is_write && caller.by_cookie && !request.is_of_page() {
            let problem =
                "with a cookie, changes need the header `X-Noregret: page`, which other sites cannot send";
            return Err(Problem::new(403, "forbidden", problem));
        }
        let run = found.route.run;
        let call = Call::new(request, found, caller)?;
        run(self, &call)
    }

    /// Who sends this, if the token allows it.
    fn admit(&self, request: &Request, role: Role, now: Instant) -> Result<Caller, Problem> {
        let (record, by_cookie) =
            self.token_of(request, now).map_err(|problem| self.count_failure(problem, request.from, now))?;
        if !self.rates.take(&record.id, now) {
            return Err(Problem::new(
                429,
                "too-many-requests",
                "too many requests with this token: slow down",
            ));
        }
        if record.role < role {
            let problem = format!("this token may {}, and this needs one that may {role}", record.role);
            return Err(Problem::new(403, "forbidden", problem));
        }
        Ok(Caller { id: record.id, role: record.role, studies: record.studies, by_cookie })
    }

    /// What is said to somebody without a valid token: another thing, if that happens too often.
    fn count_failure(&self, problem: Problem, from: Option<IpAddr>, now: Instant) -> Problem {
        let from = from.map_or_else(String::new, |from: IpAddr| from.to_string());
        if self.failures.take(&from, now) {
            return problem;
        }
        Problem::new(429, "too-many-requests", "too many requests without a valid token")
    }

    /// The token of a request, and whether a cookie stands for it.
    fn token_of(&self, request: &Request, now: Instant) -> Result<(TokenRecord, bool), Problem> {
        let Some(given) = request.headers.get("authorization") else {
            let cookie = request.headers.get("cookie").and_then(|header| cookie(header, &self.cookie_name()));
            let secret = cookie.ok_or_else(|| {
                refuse("a token is needed: `noregret token create` makes one, NOREGRET_TOKEN or `Authorization: Bearer …` has it")
            })?;
            let over = || refuse("this session is over: log in again");
            let id = self.sessions.token(secret, now).ok_or_else(over)?;
            let found =
                self.record(|record| record.id == id)?.filter(|found| !found.has_expired(Timestamp::now()));
            if found.is_none() {
                self.sessions.end(secret);
            }
            return Ok((found.ok_or_else(over)?, true));
        };
        let (scheme, token) = given.split_once(' ').unwrap_or((given, ""));
        if !scheme.eq_ignore_ascii_case("bearer") {
            return Err(refuse("write `Authorization: Bearer` and the token"));
        }
        Ok((self.checked(token.trim())?, false))
    }

    /// The token with this secret, if it is worth something.
    fn checked(&self, token: &str) -> Result<TokenRecord, Problem> {
        let record = self.record(|record| token_file::find(std::slice::from_ref(record), token).is_some())?;
        let record = record.ok_or_else(|| refuse("this token is unknown: it is wrong, or was revoked"))?;
        if record.has_expired(Timestamp::now()) {
            return Err(refuse("this token has expired"));
        }
        Ok(record)
    }

    /// The first token of which this is true.
    fn record(&self, is_it: impl Fn(&TokenRecord) -> bool) -> Result<Option<TokenRecord>, Problem> {
        let mut known = self.known.lock().unwrap_or_else(PoisonError::into_inner);
        let version = self.tokens.version();
        if known.version != version || version.is_none() {
            known.records = self.tokens.read().map_err(|error| {
                tracing::error!("{error}");
                Problem::new(503, "tokens", "the tokens cannot be read for now")
            })?;
            known.version = version;
        }
        Ok(known.records.iter().chain(&self.session_token).find(|record| is_it(record)).cloned())
    }

    /// Whether who was admitted once would be so now.
    pub(crate) fn still_admits(&self, caller: &Caller) -> bool {
        let found = self.record(|record| record.id == caller.id);
        found.is_ok_and(|found| found.is_some_and(|record| !record.has_expired(Timestamp::now())))
    }

    /// Begins a session for who has this token; returns its cookie.
    #[expect(clippy::disallowed_methods, reason = "guesses are counted by the time")]
    pub(crate) fn log_in(&self, token: &str, call: &Call) -> Result<String, Problem> {
        let now = Instant::now();
        let record =
            self.checked(token.trim()).map_err(|problem| self.count_failure(problem, call.from, now))?;
        Ok(self.cookie(&self.sessions.begin(&record.id, now), call))
    }

    /// Ends the session of whoever sends this; returns the cookie that takes its place.
    pub(crate) fn log_out(&self, call: &Call) -> String {
        let name = self.cookie_name();
        if let Some(secret) = call.cookies.as_deref().and_then(|header| cookie(header, &name)) {
            self.sessions.end(secret);
        }
        self.cookie("", call) + "; Max-Age=0"
    }

    fn cookie(&self, value: &str, call: &Call) -> String {
        let path = if self.base_path.is_empty() { "/" } else { &self.base_path };
        let is_encrypted = self.place.get().is_some_and(|place| place.1) || call.was_encrypted;
        let secure = if is_encrypted { "; Secure" } else { "" };
        format!("{}={value}; Path={path}; HttpOnly; SameSite=Strict{secure}", self.cookie_name())
    }

    fn cookie_name(&self) -> String {
        cookie_name(self.place.get().map(|place| place.0))
    }

    /// Says where it is served.
    pub(crate) fn serves_at(&self, port: u16, is_encrypted: bool) {
        let _ = self.place.set((port, is_encrypted));
    }

    /// Whether this study is shown.
    pub(crate) fn shows(&self, study: &str) -> bool {
        self.only.is_empty() || self.only.iter().any(|shown| shown == study)
    }
}

fn refuse(detail: &str) -> Problem {
    Problem::new(401, "unauthorized", detail)
}
