//! All that can be asked, in one table.
//!
//! The router, the OpenAPI document and the tests of who may do what are made of it: a route exists by its row.

use std::sync::Arc;

use noregret_client::api::Problem;
use noregret_client::{api, views as seen};
use schemars::{JsonSchema, Schema, SchemaGenerator};

use crate::app::App;
use crate::request::{Answer, Call, TAKES, decoded};
use crate::token_file::Role;
use crate::{events, log, pages, service, studies, trials, views};

/// Makes the schema of a type.
pub(crate) type SchemaOf = fn(&mut SchemaGenerator) -> Schema;
/// Answers a request.
pub(crate) type Handler = fn(&Arc<App>, &Call) -> Result<Answer, Problem>;

/// What comes back.
pub(crate) enum Reply {
    Json(SchemaOf),
    Text(&'static str),
}

/// One thing that can be asked.
pub(crate) struct Route {
    pub(crate) method: &'static str,
    /// With `{study}`, `{number}` and `{file}` for what varies.
    pub(crate) path: &'static str,
    /// Who may ask; `None` for everybody.
    pub(crate) role: Option<Role>,
    /// What it does, in a line.
    pub(crate) what: &'static str,
    /// Names in the query, their types in JSON Schema, and what they mean.
    pub(crate) query: &'static [(&'static str, &'static str, &'static str)],
    pub(crate) body: Option<SchemaOf>,
    pub(crate) reply: Reply,
    pub(crate) run: Handler,
}

fn schema<T: JsonSchema>(generator: &mut SchemaGenerator) -> Schema {
    generator.subschema_for::<T>()
}

const PAGE: (&str, &str, &str) = ("limit", "integer", "How many at most.");

/// The table.
#[rustfmt::skip]
pub(crate) static ROUTES: [Route; 47] = {
    use Reply::{Json, Text};
    use Role::{Admin, Read, Work};
    const fn get(path: &'static str, role: Option<Role>, what: &'static str, query: &'static [(&'static str, &'static str, &'static str)], reply: Reply, run: Handler) -> Route {
        Route { method: "GET", path, role, what, query, body: None, reply, run }
    }
    const fn post(path: &'static str, role: Role, what: &'static str, body: SchemaOf, reply: SchemaOf, run: Handler) -> Route {
        Route { method: "POST", path, role: Some(role), what, query: &[], body: Some(body), reply: Json(reply), run }
    }
    const fn open(path: &'static str, what: &'static str, body: Option<SchemaOf>, run: Handler) -> Route {
        Route { method: "POST", path, role: None, what, query: &[], body, reply: Text("text/plain"), run }
    }
    const TABLE: &[(&str, &str, &str)] = &[
        ("filter", "string", "Only trials of which this is true, such as `state = failed and lr < 1e-3`: the language of the constraints, over parameters, attributes, and number, id, state, value, seconds, worker, attempts, reason."),
        ("sort", "string", "The column to sort by: one of the names that filters know."),
        ("descending", "boolean", "Whether large comes first."),
        ("from", "integer", "The first of those that match, from 0."),
        ("limit", "integer", "How many at most: 1000."),
    ];
    [
        get("/", None, "The page.", &[], Text("text/html"), pages::index),
        get("/assets/{file}", None, "A part of the page.", &[], Text("application/octet-stream"), pages::asset),
        open("/login", "Show a token, and get a cookie that stands for it.", Some(schema::<seen::Login>), pages::log_in),
        open("/logout", "Give the cookie back.", None, pages::log_out),
        get("/api/v1/session", Some(Read), "Who is looking.", &[], Json(schema::<seen::Session>), views::session),
        get("/api/v1/overview", Some(Read), "All studies at a glance.", &[], Json(schema::<seen::Overview>), views::overview),
        get("/api/v1/studies/{study}/views/history", Some(Read), "Values over time, thinned for a plot.", &[("points", "integer", "How many trials, more or less: from 1 to 20000; 2000 without a number.")], Json(schema::<seen::History>), views::history),
        get("/api/v1/studies/{study}/views/regret", Some(Read), "What could still be gained, at some moments of the study.", &[], Json(schema::<Option<seen::Regret>>), views::regret),
        get("/api/v1/studies/{study}/views/trials", Some(Read), "A part of the trials, filtered and sorted.", TABLE, Json(schema::<seen::Table>), views::trials),
        get("/api/v1/studies/{study}/trials/{number}/story", Some(Read), "The life of a trial, and why its point was chosen.", &[], Json(schema::<seen::Story>), views::story),
        post("/api/v1/studies/{study}:map", Read, "What the model expects along one or two parameters.", schema::<seen::MapOf>, schema::<Option<seen::SurfaceMap>>, views::map),
        get("/api/v1/studies/{study}/views/importance", Some(Read), "How much each parameter matters.", &[], Json(schema::<Option<seen::Importance>>), views::importance),
        get("/api/v1/studies/{study}/views/trust", Some(Read), "Whether the model can be trusted.", &[], Json(schema::<seen::Trust>), views::trust),
        get("/api/v1/studies/{study}/views/workers", Some(Read), "Who did what, and when.", &[], Json(schema::<seen::Workers>), views::workers),
        get("/api/v1/studies/{study}/views/pool", Some(Read), "Candidates of a pool on a plane; null if there is no pool.", &[], Json(schema::<Option<seen::PoolPlane>>), views::pool),
        get("/healthz", None, "Whether the server is alive.", &[], Text("text/plain"), service::health),
        get("/readyz", None, "Whether it can reach its storage.", &[], Text("text/plain"), service::ready),
        get("/metrics", Some(Read), "Counters, for Prometheus.", &[], Text("text/plain; version=0.0.4"), service::metrics),
        get("/api/v1/openapi.json", Some(Read), "This document.", &[], Text("application/json"), service::openapi),
        get("/api/v1/studies", Some(Read), "All studies, by name.", &[PAGE], Json(schema::<api::Studies>), studies::list),
        post("/api/v1/studies", Admin, "Make a study of a study file (JSON, or TOML as application/toml), or give the one of this name new settings.", schema::<noregret_files::StudyFile>, schema::<api::Study>, studies::create),
        get("/api/v1/studies/{study}", Some(Read), "A study: settings, counts, best value.", &[], Json(schema::<api::Study>), studies::describe),
        post("/api/v1/studies/{study}:plan", Admin, "How many trials there are to be in all.", schema::<api::Plan>, schema::<api::Study>, studies::plan),
        post("/api/v1/studies/{study}:archive", Admin, "Put a study away, or take it out again.", schema::<api::Archive>, schema::<api::Study>, studies::archive),
        post("/api/v1/studies/{study}:pause", Work, "Hand out nothing for now, or go on.", schema::<seen::Pause>, schema::<api::Study>, studies::pause),
        post("/api/v1/studies/{study}:annotate", Work, "Note something about a study, or tag it.", schema::<seen::Annotate>, schema::<api::Study>, studies::annotate),
        post("/api/v1/studies/{study}:suggest", Work, "Points that ask would hand out; nothing is registered.", schema::<api::Suggest>, schema::<api::Suggested>, studies::suggest),
        post("/api/v1/studies/{study}:predict", Read, "What the model expects at points.", schema::<api::Points>, schema::<api::Predicted>, studies::predict),
        get("/api/v1/studies/{study}/best", Some(Read), "What to use: the best trial observed, and the recommended one.", &[], Json(schema::<api::Best>), studies::best),
        get("/api/v1/studies/{study}/insight", Some(Read), "Remaining regret, and importance of the parameters.", &[], Json(schema::<api::Insight>), studies::insight),
        get("/api/v1/studies/{study}/diagnostics", Some(Read), "How the last proposal came about.", &[], Json(schema::<api::Diagnostics>), studies::diagnostics),
        get("/api/v1/studies/{study}/trials", Some(Read), "Trials, a page at a time.", &[PAGE, ("from", "integer", "The first number of the page."), ("state", "string", "Only those that are waiting, running, complete or failed.")], Json(schema::<api::Trials>), trials::list),
        post("/api/v1/studies/{study}/trials:ask", Work, "Hand out trials to evaluate.", schema::<api::Ask>, schema::<api::Asked>, trials::ask),
        post("/api/v1/studies/{study}/trials:enqueue", Work, "Queue points of your own, to be evaluated next.", schema::<api::Points>, schema::<api::Trials>, trials::enqueue),
        post("/api/v1/studies/{study}/trials:add", Work, "Add results from elsewhere.", schema::<api::Add>, schema::<api::Added>, trials::add),
        post("/api/v1/studies/{study}/trials:heartbeat", Work, "A worker is alive: all that it has stays its own.", schema::<api::Heartbeat>, schema::<api::Held>, trials::heartbeat),
        post("/api/v1/studies/{study}/trials:release", Work, "Give trials back, unevaluated.", schema::<api::Release>, schema::<api::Held>, trials::release),
        get("/api/v1/studies/{study}/trials/{number}", Some(Read), "One trial.", &[], Json(schema::<api::Trial>), trials::one),
        post("/api/v1/studies/{study}/trials/{number}:tell", Work, "The result of a trial.", schema::<api::Tell>, schema::<api::Told>, trials::tell),
        post("/api/v1/studies/{study}/trials/{number}:fail", Work, "A trial ended without a value.", schema::<api::Fail>, schema::<api::Told>, trials::fail),
        post("/api/v1/studies/{study}/trials/{number}:replace", Work, "Another result for a trial whose result was wrong.", schema::<seen::Replace>, schema::<api::Told>, trials::replace),
        post("/api/v1/studies/{study}/trials/{number}:annotate", Work, "Note something about a trial.", schema::<seen::Annotate>, schema::<api::Trial>, trials::annotate),
        post("/api/v1/studies/{study}/trials/{number}:heartbeat", Work, "A worker is alive, and asks whether this trial is still its own.", schema::<api::Heartbeat>, schema::<api::Held>, trials::heartbeat),
        post("/api/v1/studies/{study}/trials/{number}:release", Work, "Give this trial back, unevaluated.", schema::<api::Release>, schema::<api::Held>, trials::release),
        get("/api/v1/studies/{study}/events", Some(Read), "Events as they happen (server-sent), from a position on.", &[("after", "integer", "The last position that is known; Last-Event-ID takes precedence.")], Text("text/event-stream"), events::stream),
        get("/api/v1/studies/{study}/log", Some(Read), "Entries of the log, for clients that keep a copy.", &[PAGE, ("after", "integer", "The last position that is known."), ("wait", "number", "Seconds to wait for something new, at most 30."), ("trials_from", "integer", "Only entries about trials from this number on ..."), ("trials_to", "integer", "... and before this one.")], Json(schema::<api::Log>), log::read),
        post("/api/v1/studies/{study}/log", Work, "Append entries that a client has decided on, if nobody was faster. To make or change a study needs the role admin.", schema::<api::Append>, schema::<api::Appended>, log::append),
    ]
};

/// A route, for those who only look at the table.
#[derive(Clone, Copy, Debug)]
pub struct RouteSummary {
    /// `GET` or `POST`.
    pub method: &'static str,
    /// With `{study}`, `{number}` and `{file}` for what varies.
    pub path: &'static str,
    /// Who may ask; `None` for everybody.
    pub role: Option<Role>,
}

/// All routes.
pub fn routes() -> Vec<RouteSummary> {
    ROUTES
        .iter()
        .map(|route| RouteSummary { method: route.method, path: route.path, role: route.role })
        .collect()
}

/// The route of a request, with what varies.
pub(crate) struct Found {
    pub(crate) route: &'static Route,
    pub(crate) study: String,
    pub(crate) number: Option<u64>,
    pub(crate) file: String,
}

/// Finds the route of a request.
pub(crate) fn find(method: &str, path: &str) -> Result<Found, Problem> {
    let mut others = Vec::new();
    for route in &ROUTES {
        let Some(Varying { study, number, file }) = matches(route.path, path) else { continue };
        if route.method != method {
            others.push(route.method);
            continue;
        }
        let (study, file) = (decoded(study)?, decoded(file)?);
        let number = match number {
            Some(text) => Some(text.parse().map_err(|_| {
                Problem::new(
                    404,
                    "no-such-trial",
                    format!("{text:?} is no trial number: they count 0, 1, 2, ..."),
                )
            })?),
            None => None,
        };
        return Ok(Found { route, study, number, file });
    }
    if others.is_empty() {
        return Err(Problem::new(404, "no-such-path", format!("there is nothing at {path:?}")));
    }
    Err(Problem::new(405, "no-such-method", format!("{TAKES}{}", others.join(", "))))
}

/// What varies in a path.
#[derive(Default)]
struct Varying<'a> {
    study: &'a str,
    number: Option<&'a str>,
    file: &'a str,
}

/// What stands for `{study}` and the like, if a path is of this form. Verbs come after the last colon.
fn matches<'a>(form: &str, path: &'a str) -> Option<Varying<'a>> {
    let mut found = Varying::default();
    let (mut forms, mut pieces) = (form.split('/'), path.split('/'));
    loop {
        let (form, piece) = match (forms.next(), pieces.next()) {
            (None, None) => return Some(found),
            (Some(form), Some(piece)) => (form, piece),
            _ => return None,
        };
        let Some(rest) = form.strip_prefix('{') else {
            if form == piece {
                continue;
            }
            return None;
        };
        let (name, verb) = rest.split_once('}')?;
        let value = if verb.is_empty() { piece } else { piece.strip_suffix(verb)? };
        if value.is_empty() {
            return None;
        }
        match name {
            "study" => found.study = value,
            "file" => found.file = value,
            _ => found.number = Some(value),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn paths_find_their_routes() {
        let at = |method: &str, path: &str| {
            find(method, path)
                .map(|found| (found.route.path, found.study, found.number))
                .map_err(|p| p.status)
        };
        let base = "/api/v1/studies";
        assert_eq!(
            at("GET", &format!("{base}/a%2Fb")).unwrap(),
            ("/api/v1/studies/{study}", "a/b".into(), None)
        );
        assert_eq!(at("POST", &format!("{base}/a:b:plan")).unwrap().1, "a:b");
        assert_eq!(at("POST", &format!("{base}/s/trials/7:tell")).unwrap().2, Some(7));
        assert_eq!(
            at("POST", &format!("{base}/s/trials:ask")).unwrap().0,
            "/api/v1/studies/{study}/trials:ask"
        );
        assert_eq!(at("DELETE", &format!("{base}/s")), Err(405));
        assert_eq!(
            find("GET", "/assets/app-1.js").map(|found| found.file).map_err(|p| p.status),
            Ok("app-1.js".into())
        );
        assert_eq!(at("POST", &format!("{base}/a:b:map")).unwrap().1, "a:b");
        assert_eq!(at("POST", "/"), Err(405));
        for path in ["/api", "/assets/", "/assets/a/b", "/api/v1/studies/", "/api/v1/studies//trials"] {
            assert_eq!(at("POST", path), Err(404), "{path}");
        }
        assert_eq!(at("POST", &format!("{base}/s/trials/x:tell")), Err(404));
        assert_eq!(at("POST", &format!("{base}/s/trials/-1:tell")), Err(404));
    }

    #[test]
    fn only_health_and_the_page_are_for_everybody() {
        let open: Vec<&str> =
            ROUTES.iter().filter(|route| route.role.is_none()).map(|route| route.path).collect();
        assert_eq!(open, ["/", "/assets/{file}", "/login", "/logout", "/healthz", "/readyz"]);
        let asks = |route: &Route| [":predict", ":map"].iter().any(|verb| route.path.ends_with(verb));
        let writes =
            ROUTES.iter().filter(|route| route.method == "POST" && route.role.is_some() && !asks(route));
        assert!(writes.into_iter().all(|route| route.role >= Some(Role::Work)));
    }
}
