//! The server about itself.

use std::sync::Arc;
use std::sync::atomic::Ordering;

use noregret_client::api::Problem;

use crate::app::App;
use crate::openapi;
use crate::problem::{busy, of_store};
use crate::request::{Answer, Call};

/// The type that Prometheus expects.
const METRICS: &str = "text/plain; version=0.0.4";

#[expect(clippy::unnecessary_wraps, reason = "a handler")]
pub(crate) fn health(_: &Arc<App>, _: &Call) -> Result<Answer, Problem> {
    Ok(Answer::text("text/plain", "alive\n".into()))
}

pub(crate) fn ready(app: &Arc<App>, _: &Call) -> Result<Answer, Problem> {
    if app.closing.load(Ordering::Relaxed) {
        return Err(busy("the server is about to end"));
    }
    app.store.last("").map_err(of_store)?;
    Ok(Answer::text("text/plain", "ready\n".into()))
}

#[expect(clippy::unnecessary_wraps, reason = "a handler")]
pub(crate) fn metrics(app: &Arc<App>, _: &Call) -> Result<Answer, Problem> {
    Ok(Answer::text(METRICS, app.metrics.text(app.thinkers.counts(), app.desks.len())))
}

#[expect(clippy::unnecessary_wraps, reason = "a handler")]
pub(crate) fn openapi(_: &Arc<App>, _: &Call) -> Result<Answer, Problem> {
    Ok(Answer::text("application/json", openapi::document().to_string()))
}
