//! The page, and who may look at it: tokens for cookies, and what browsers are told.

use std::num::NonZeroUsize;
use std::sync::Arc;

use noregret_server::{App, NewToken, Options, Role, TokenFile, TokenRecord, listen};
use noregret_store::{MemoryStore, Timestamp};
use serde_json::{Value as Json, json};
use ureq::http::Response;

use crate::server::{Server, options, token};

fn agent() -> ureq::Agent {
    ureq::Agent::config_builder()
        .http_status_as_error(false)
        .max_redirects(0)
        .max_redirects_will_error(false)
        .build()
        .new_agent()
}

fn get(url: &str, headers: &[(&str, &str)]) -> Response<ureq::Body> {
    headers
        .iter()
        .fold(agent().get(url), |request, (name, value)| request.header(*name, *value))
        .call()
        .unwrap()
}

fn post(url: &str, headers: &[(&str, &str)], body: Json) -> Response<ureq::Body> {
    let request = agent().post(url).header("content-type", "application/json");
    let request = headers.iter().fold(request, |request, (name, value)| request.header(*name, *value));
    request.send(body.to_string()).unwrap()
}

fn header(answer: &Response<ureq::Body>, name: &str) -> String {
    answer.headers().get(name).map_or(String::new(), |value| value.to_str().unwrap().to_owned())
}

/// The cookie's name and value, of a login that worked.
fn cookie(answer: &Response<ureq::Body>) -> String {
    assert_eq!(answer.status(), 204);
    header(answer, "set-cookie").split(';').next().unwrap().to_owned()
}

fn problem(mut answer: Response<ureq::Body>) -> (u16, String) {
    let text = answer.body_mut().read_to_string().unwrap();
    let problem: Json = serde_json::from_str(&text).unwrap_or_else(|_| panic!("{text}"));
    (answer.status().as_u16(), problem["detail"].as_str().unwrap().to_owned())
}

#[test]
fn a_token_becomes_a_cookie_and_the_cookie_ends_with_it() {
    let server = Server::start();
    server.make("s", json!({}));
    let url = server.url();
    let worker = token(&server.tokens, Role::Work, &["s"]);
    let login = post(&format!("{url}/login"), &[], json!({ "token": worker }));
    let set = header(&login, "set-cookie");
    let port = server.listening.address.port();
    assert!(set.starts_with(&format!("noregret_session_{port}=")), "{set}");
    for attribute in ["; Path=/", "; HttpOnly", "; SameSite=Strict"] {
        assert!(set.contains(attribute), "{set}");
    }
    // Without TLS a browser would not send it back.
    assert!(!set.contains("Secure"), "{set}");
    let cookie = cookie(&login);
    assert!(!cookie.contains(&worker) && !cookie.contains(&worker[12..]), "{cookie}");
    let session = |cookie: &str| get(&format!("{url}/api/v1/session"), &[("cookie", cookie)]);
    let mut answer = session(&format!("other=1; {cookie}; more=2"));
    let text = answer.body_mut().read_to_string().unwrap();
    assert!(answer.status() == 200 && text.contains("\"role\":\"work\""), "{text}");
    // It is for its studies only, like the token.
    server.make("other", json!({}));
    assert_eq!(get(&format!("{url}/api/v1/studies/other"), &[("cookie", &cookie)]).status(), 403);
    assert_eq!(session("noregret_session=0").status(), 401);
    assert_eq!(session(&format!("{cookie}0")).status(), 401);
    // Logging out ends this session, and no other one.
    let second = self::cookie(&post(&format!("{url}/login"), &[], json!({ "token": worker })));
    let out = post(&format!("{url}/logout"), &[("cookie", &cookie)], json!({}));
    assert!(header(&out, "set-cookie").contains("Max-Age=0"));
    assert_eq!((session(&cookie).status().as_u16(), session(&second).status().as_u16()), (401, 200));
    server.tokens.revoke(&worker).unwrap();
    assert_eq!(session(&second).status(), 401);
}

#[test]
fn who_has_no_token_gets_no_cookie() {
    let server = Server::start();
    let url = format!("{}/login", server.url());
    let revoked = token(&server.tokens, Role::Admin, &[]);
    server.tokens.revoke(&revoked).unwrap();
    let new = NewToken {
        name: String::new(),
        role: Role::Admin,
        studies: Vec::new(),
        lasts: Some(std::time::Duration::from_millis(1)),
    };
    let (expired, _) = server.tokens.create(new, Timestamp(0)).unwrap();
    for wrong in ["", "nr_", "secret", &revoked, &expired, &server.admin[1..]] {
        let answer = post(&url, &[], json!({ "token": wrong }));
        assert_eq!(header(&answer, "set-cookie"), "", "{wrong}");
        assert_eq!(answer.status(), 401, "{wrong}");
    }
    for (body, status) in [(json!({}), 422), (json!({ "token": 3 }), 422), (json!([]), 422)] {
        assert_eq!(post(&url, &[], body.clone()).status(), status, "{body}");
    }
    // A form of another site can send text, and no JSON.
    let form = agent().post(&url).header("content-type", "text/plain");
    let (status, detail) = problem(form.send(json!({ "token": server.admin }).to_string()).unwrap());
    assert!(status == 422 && detail.contains("application/json"), "{detail}");
}

#[test]
fn guesses_at_the_door_are_limited() {
    let folder = tempfile::tempdir().unwrap();
    let server = Server::with(Arc::new(MemoryStore::default()), folder, 0.5);
    let url = format!("{}/login", server.url());
    let statuses: Vec<u16> =
        (0..20).map(|i| post(&url, &[], json!({ "token": format!("nr_{i}") })).status().as_u16()).collect();
    assert_eq!((statuses[0], statuses[19]), (401, 429), "{statuses:?}");
}

/// What another site makes a browser send has the cookie, and not the header.
#[test]
fn changes_by_cookie_need_a_header() {
    let server = Server::start();
    server.make("s", json!({}));
    let url = server.url();
    let cookie = cookie(&post(&format!("{url}/login"), &[], json!({ "token": server.admin })));
    let enqueue = format!("{url}/api/v1/studies/s/trials:enqueue");
    let points = json!({ "points": [{ "x": 0.5, "a": "q" }] });
    let (status, detail) = problem(post(&enqueue, &[("cookie", &cookie)], points.clone()));
    assert!(status == 403 && detail.contains("X-Noregret"), "{detail}");
    assert_eq!(post(&enqueue, &[("cookie", &cookie), ("x-noregret", "form")], points.clone()).status(), 403);
    assert_eq!(post(&enqueue, &[("cookie", &cookie), ("x-noregret", "page")], points.clone()).status(), 200);
    // Questions change nothing, and a token in a header is sent by nobody else.
    let predict = format!("{url}/api/v1/studies/s:predict");
    assert_eq!(post(&predict, &[("cookie", &cookie)], points.clone()).status(), 200);
    let bearer = format!("Bearer {}", server.admin);
    assert_eq!(post(&enqueue, &[("authorization", &bearer)], points).status(), 200);
}

#[test]
fn browsers_are_told_to_be_careful() {
    let server = Server::start();
    let url = server.url();
    for path in ["/", "/assets/none.js", "/healthz", "/api/v1/session", "/none"] {
        let answer = get(&format!("{url}{path}"), &[]);
        let policy = header(&answer, "content-security-policy");
        assert!(policy.starts_with("default-src 'none'; script-src 'self'; "), "{path}: {policy}");
        for part in ["frame-ancestors 'none'", "connect-src 'self'", "base-uri 'none'", "form-action 'self'"]
        {
            assert!(policy.contains(part), "{path}: {policy}");
        }
        assert!(!policy.contains("unsafe"), "{path}: {policy}");
        assert_eq!(header(&answer, "x-content-type-options"), "nosniff", "{path}");
        assert_eq!(header(&answer, "referrer-policy"), "no-referrer", "{path}");
    }
    let mut page = get(&format!("{url}/"), &[]);
    assert_eq!((page.status().as_u16(), header(&page, "cache-control")), (200, "no-cache".into()));
    assert!(header(&page, "content-type").starts_with("text/html"));
    assert!(page.body_mut().read_to_string().unwrap().contains("<html"));
    assert_eq!(header(&get(&format!("{url}/healthz"), &[]), "cache-control"), "no-store");
}

fn served(
    change: impl FnOnce(&mut Options),
    store: Arc<dyn noregret_store::Store>,
) -> (noregret_server::Listening, String) {
    let folder = tempfile::tempdir().unwrap();
    let new = NewToken { name: String::new(), role: Role::Admin, studies: Vec::new(), lasts: None };
    let (token, record): (String, TokenRecord) = new.make(Timestamp::now());
    let mut options = Options {
        session_token: Some(record),
        thinkers: NonZeroUsize::MIN,
        ..options(TokenFile::new(folder.path().join("none.json")), Vec::new())
    };
    change(&mut options);
    (listen(Arc::new(App::new(store, options)), "127.0.0.1:0".parse().unwrap(), None).unwrap(), token)
}

#[test]
fn the_page_behind_a_path() {
    let (listening, token) =
        served(|options| options.base_path = "/lab/noregret".into(), Arc::new(MemoryStore::default()));
    let url = format!("http://{}", listening.address);
    let moved = get(&format!("{url}/lab/noregret"), &[]);
    assert_eq!((moved.status().as_u16(), header(&moved, "location")), (308, "/lab/noregret/".into()));
    assert_eq!(get(&format!("{url}/lab/noregret/"), &[]).status(), 200);
    assert_eq!(get(&format!("{url}/"), &[]).status(), 401);
    let login = post(
        &format!("{url}/lab/noregret/login"),
        &[("x-forwarded-proto", "https")],
        json!({ "token": token }),
    );
    let set = header(&login, "set-cookie");
    assert!(set.contains("; Path=/lab/noregret;") && set.ends_with("; Secure"), "{set}");
    let session = get(&format!("{url}/lab/noregret/api/v1/session"), &[("cookie", &cookie(&login))]);
    assert_eq!(session.status(), 200);
}

/// Whoever asks, and with whatever: nothing is changed.
#[test]
fn what_is_for_looking_only_changes_nothing() {
    let server = Server::start();
    server.make("s", json!({}));
    server.make("hidden", json!({}));
    server.post("s/trials:ask", json!({ "n": 1 }));
    let store = server.store();
    let before = store.last("s").unwrap();
    let change = |options: &mut Options| (options.read_only, options.only) = (true, vec!["s".into()]);
    let (listening, token) = served(change, Arc::clone(&store));
    let url = format!("http://{}", listening.address);
    let bearer = format!("Bearer {token}");
    let bearer = [("authorization", bearer.as_str())];
    for route in noregret_server::routes() {
        if route.role <= Some(Role::Read) {
            continue;
        }
        let path = route.path.replace("{study}", "s").replace("{number}", "0");
        let (status, detail) = problem(post(&format!("{url}{path}"), &bearer, json!({ "value": 1.0 })));
        assert!(status == 403 && detail.contains("looking only"), "{path}: {status} {detail}");
    }
    let read = |path: &str| {
        let mut answer = get(&format!("{url}/api/v1/{path}"), &bearer);
        (answer.status().as_u16(), answer.body_mut().read_to_string().unwrap())
    };
    assert!(read("session").1.contains("\"role\":\"read\""));
    for path in [
        "studies/s",
        "studies/s/best",
        "studies/s/views/trials",
        "studies/s/views/history",
        "studies/s/trials/0/story",
    ] {
        assert_eq!(read(path).0, 200, "{path}");
    }
    assert_eq!((read("studies/hidden").0, read("studies/hidden/views/history").0), (404, 404));
    for path in ["studies", "overview"] {
        assert!(!read(path).1.contains("hidden"), "{path}");
    }
    assert_eq!(store.last("s").unwrap(), before);
}

#[test]
fn long_answers_are_compressed_for_who_understands() {
    let server = Server::start();
    server.make("s", json!({}));
    let results: Vec<Json> = (0..500)
        .map(|i| json!({ "params": { "x": f64::from(i) / 500.0, "a": "p" }, "value": f64::from(i).sin() }))
        .collect();
    server.post("s/trials:add", json!({ "results": results }));
    let url = format!("{}/api/v1/studies/s/views/history", server.url());
    let bearer = format!("Bearer {}", server.admin);
    let length = |encoding: &str| {
        let mut answer = get(&url, &[("authorization", &bearer), ("accept-encoding", encoding)]);
        let packed = header(&answer, "content-encoding");
        // The agent knows no gzip: these are the bytes on the wire.
        let bytes = answer.body_mut().read_to_vec().unwrap();
        if packed.is_empty() {
            assert_eq!(bytes[0], b'{');
        } else {
            assert_eq!((packed.as_str(), &bytes[..2]), ("gzip", &[0x1f, 0x8b][..]));
        }
        bytes.len()
    };
    let (plain, packed) = (length("identity"), length("gzip, br"));
    assert!(packed * 2 < plain && length("gzip;q=0") == plain, "{packed} of {plain}");
    // What is short is not worth it.
    let session = get(
        &format!("{}/api/v1/session", server.url()),
        &[("authorization", &bearer), ("accept-encoding", "gzip")],
    );
    assert_eq!(header(&session, "content-encoding"), "");
}
