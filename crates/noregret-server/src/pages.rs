//! The page itself, and who may look: a token is shown once, and a cookie stands for it from then on.

use std::sync::Arc;

use noregret_client::api::Problem;
use noregret_client::views::Login;
use noregret_page::bundle::{self, Embedded};

use crate::app::App;
use crate::packing;
use crate::problem::invalid;
use crate::request::{Answer, Body, Call};

pub(crate) fn index(_: &Arc<App>, call: &Call) -> Result<Answer, Problem> {
    let page = bundle::file("index.html").ok_or_else(|| nothing("index.html"))?;
    Ok(file(page, call, "no-cache"))
}

/// A file of the bundle. Its name has a digest of what is in it: it never changes.
pub(crate) fn asset(_: &Arc<App>, call: &Call) -> Result<Answer, Problem> {
    let name = format!("assets/{}", call.file);
    let found = bundle::file(&name).ok_or_else(|| nothing(&name))?;
    Ok(file(found, call, "public, max-age=31536000, immutable"))
}

fn nothing(name: &str) -> Problem {
    Problem::new(404, "no-such-path", format!("the page has no {name:?}"))
}

fn file(file: &'static Embedded, call: &Call, cache: &str) -> Answer {
    let mut headers = vec![("cache-control", cache.to_owned()), ("vary", "accept-encoding".to_owned())];
    let body = match file.packed().filter(|_| packing::accepts(call.accept_encoding.as_ref())) {
        Some(packed) => {
            headers.push(("content-encoding", "gzip".into()));
            packed.to_vec()
        }
        None => file.plain().into_owned(),
    };
    Answer { content_type: file.content_type(), headers, ..Answer::empty(200, Body::Whole(body)) }
}

/// Begins a session, for a token.
pub(crate) fn log_in(app: &Arc<App>, call: &Call) -> Result<Answer, Problem> {
    // A form on another site can send neither.
    if !call.is_json() && !call.is_of_page {
        return Err(invalid("send the token as application/json"));
    }
    let Login { token } = call.json()?;
    let cookie = app.log_in(&token, call)?;
    Ok(with_cookie(cookie))
}

/// Ends the session.
#[expect(clippy::unnecessary_wraps, reason = "a handler")]
pub(crate) fn log_out(app: &Arc<App>, call: &Call) -> Result<Answer, Problem> {
    Ok(with_cookie(app.log_out(call)))
}

fn with_cookie(cookie: String) -> Answer {
    let headers = vec![("set-cookie", cookie)];
    Answer { headers, ..Answer::empty(204, Body::Whole(Vec::new())) }
}
