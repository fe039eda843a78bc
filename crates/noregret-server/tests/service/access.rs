//! Who may do what: every route with every kind of token.

use std::time::Duration;

use noregret_server::{NewToken, Role, routes};
use noregret_store::Timestamp;
use serde_json::json;

use crate::server::{Server, refusal, token};

/// A path of this form.
fn path(form: &str) -> String {
    form.replace("{study}", "s").replace("{number}", "0").replace("{file}", "none")
}

fn send(server: &Server, method: &str, path: &str, token: Option<&str>) -> u16 {
    let agent = ureq::Agent::config_builder().http_status_as_error(false).build().new_agent();
    let url = format!("{}{path}", server.url());
    let bearer = token.map(|token| format!("Bearer {token}"));
    let status = if method == "GET" {
        let request = agent.get(&url);
        match &bearer {
            Some(bearer) => request.header("authorization", bearer).call(),
            None => request.call(),
        }
    } else {
        // Nobody gets as far as this body, but for those who may.
        let request = agent.post(&url);
        match &bearer {
            Some(bearer) => request.header("authorization", bearer).send("not json"),
            None => request.send("not json"),
        }
    };
    status.unwrap().status().as_u16()
}

#[test]
fn every_route_knows_its_role() {
    let server = Server::start();
    server.make("s", json!({}));
    server.post("s/trials:ask", json!({ "n": 1 }));
    let before = server.get("s")["position"].clone();
    let expired = NewToken {
        name: String::new(),
        role: Role::Admin,
        studies: Vec::new(),
        lasts: Some(Duration::from_millis(1)),
    };
    let (expired, _) = server.tokens.create(expired, Timestamp(0)).unwrap();
    let revoked = token(&server.tokens, Role::Admin, &[]);
    server.tokens.revoke(&revoked).unwrap();
    let elsewhere = token(&server.tokens, Role::Admin, &["other"]);
    let roles = Role::ALL.map(|role| (role, token(&server.tokens, role, &["s"])));
    let wrong = format!("{}0", &server.admin[..server.admin.len() - 1]);
    for route in routes() {
        let at = format!("{} {}", route.method, route.path);
        let path = path(route.path);
        let status = |token: Option<&str>| send(&server, route.method, &path, token);
        let Some(needed) = route.role else {
            let expected = match route.path {
                "/assets/{file}" => 404,
                // Not JSON.
                "/login" => 422,
                "/logout" => 204,
                _ => 200,
            };
            assert_eq!(status(None), expected, "{at}");
            continue;
        };
        assert_eq!(status(None), 401, "{at}: no token");
        assert_eq!(status(Some("")), 401, "{at}: an empty token");
        if wrong != server.admin {
            assert_eq!(status(Some(&wrong)), 401, "{at}: a wrong token");
        }
        assert_eq!(status(Some(&expired)), 401, "{at}: an expired token");
        assert_eq!(status(Some(&revoked)), 401, "{at}: a revoked token");
        if route.path.contains("{study}") {
            assert_eq!(status(Some(&elsewhere)), 403, "{at}: a token for another study");
        }
        for (role, token) in &roles {
            // Who may gets on to the body, which is wrong; a stream of events does not end.
            if *role < needed {
                assert_eq!(status(Some(token)), 403, "{at}: {role}");
            } else if route.method == "POST" {
                assert_eq!(status(Some(token)), 422, "{at}: {role}");
            } else if !route.path.ends_with("/events") {
                assert_eq!(status(Some(token)), 200, "{at}: {role}");
            }
        }
    }
    assert_eq!(server.get("s")["position"], before, "nothing was written");
}

#[test]
fn a_token_for_some_studies_sees_no_others() {
    let server = Server::start();
    server.make("mine", json!({}));
    server.make("theirs", json!({}));
    let client = server.client_of(&token(&server.tokens, Role::Work, &["mine"]));
    let list: serde_json::Value = client.get("/api/v1/studies").unwrap();
    assert_eq!(list["studies"].as_array().unwrap().len(), 1, "{list}");
    assert_eq!(refusal(client.get("/api/v1/studies/theirs")).0, 403);
    // Whether a study is there is not told either.
    assert_eq!(refusal(client.get("/api/v1/studies/none")).0, 403);
    // What workers are to run is not for readers.
    let reader = server.client_of(&token(&server.tokens, Role::Read, &[]));
    let study: serde_json::Value = reader.get("/api/v1/studies/mine").unwrap();
    assert!(study.get("objective").is_none(), "{study}");
    let study: serde_json::Value = client.get("/api/v1/studies/mine").unwrap();
    assert_eq!(study["objective"]["command"][0], "evaluate");
}

/// Entries of a log say what they do: who may only work makes and changes no studies.
#[test]
fn the_log_has_roles_too() {
    let server = Server::start();
    server.make("s", json!({}));
    let client = server.client_of(&token(&server.tokens, Role::Work, &[]));
    let after = server.get("s")["position"].clone();
    for event in [json!({ "planned": { "trials": 5 } }), json!({ "archived": { "archived": true } })] {
        let append = json!({ "after": after, "entries": [[0, event]] });
        let refused = refusal(client.post("/api/v1/studies/s/log", &append));
        assert!(refused.0 == 403 && refused.1.contains("may admin"), "{refused:?}");
    }
    let append = json!({ "after": after, "entries": [[0, { "renewed": { "worker": "w", "until": 9 } }]] });
    client.post::<serde_json::Value>("/api/v1/studies/s/log", &append).unwrap();
}
