//! The service as a function from requests to answers.

use std::net::IpAddr;
use std::num::NonZeroUsize;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::PathBuf;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Instant, SystemTime};

use noregret_client::api::Problem;
use noregret_store::{Store, Timestamp};

use crate::desks::Desks;
use crate::limits::Buckets;
use crate::metrics::Metrics;
use crate::request::{Answer, Call, Request};
use crate::routes::{Found, find};
use crate::thinking::Thinkers;
use crate::token_file::{self, Role, TokenFile, TokenRecord};

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
        let mut label = None;
        let answered = catch_unwind(AssertUnwindSafe(|| self.try_answer(request, begin, &mut label)));
        let answer = match answered {
            Ok(Ok(answer)) => answer,
            Ok(Err(problem)) => problem.into(),
            Err(_) => {
                // Its study may be in the middle of something: it is read again.
                if let Some(study) = label.as_ref().and_then(|(_, study): &(String, _)| study.as_ref()) {
                    self.desks.drop_desk(study);
                }
                tracing::error!(%method, %path, "a request has panicked");
                Problem::new(500, "internal", "this is a bug in noregret").into()
            }
        };
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
            None => Caller { id: String::new(), role: Role::Read, studies: Vec::new() },
            Some(role) => self.admit(&request, role, now)?,
        };
        let Found { route, study, number } = found?;
        if !study.is_empty() && !caller.may_see(&study) {
            return Err(Problem::new(403, "forbidden", format!("this token is not for study `{study}`")));
        }
        let known: Vec<&str> = route.query.iter().map(|(name, ..)| *name).collect();
        let call = Call::new(request, study, number, &known, caller)?;
        (route.run)(self, &call)
    }

    /// Who sends this, if the token allows it.
    fn admit(&self, request: &Request, role: Role, now: Instant) -> Result<Caller, Problem> {
        let record = match self.token_of(request) {
            Ok(record) => record,
            Err(problem) => {
                let from = request.from.map_or_else(String::new, |from: IpAddr| from.to_string());
                if self.failures.take(&from, now) {
                    return Err(problem);
                }
                return Err(Problem::new(
                    429,
                    "too-many-requests",
                    "too many requests without a valid token",
                ));
            }
        };
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
        Ok(Caller { id: record.id, role: record.role, studies: record.studies })
    }

    fn token_of(&self, request: &Request) -> Result<TokenRecord, Problem> {
        let refuse = |detail: &str| Problem::new(401, "unauthorized", detail);
        let given = request.headers.get("authorization").ok_or_else(|| {
            refuse("a token is needed: `noregret token create` makes one, NOREGRET_TOKEN or `Authorization: Bearer …` has it")
        })?;
        let (scheme, token) = given.split_once(' ').unwrap_or((given, ""));
        if !scheme.eq_ignore_ascii_case("bearer") {
            return Err(refuse("write `Authorization: Bearer` and the token"));
        }
        let token = token.trim();
        let mut known = self.known.lock().unwrap_or_else(PoisonError::into_inner);
        let version = self.tokens.version();
        if known.version != version || version.is_none() {
            known.records = self.tokens.read().map_err(|error| {
                tracing::error!("{error}");
                Problem::new(503, "tokens", "the tokens cannot be read for now")
            })?;
            known.version = version;
        }
        let session = self.session_token.as_slice();
        let record = token_file::find(&known.records, token).or_else(|| token_file::find(session, token));
        let record = record.ok_or_else(|| refuse("this token is unknown: it is wrong, or was revoked"))?;
        if record.has_expired(Timestamp::now()) {
            return Err(refuse("this token has expired"));
        }
        Ok(record.clone())
    }
}
