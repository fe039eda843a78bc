//! The OpenAPI document, made of the table of routes and the types.

use noregret_client::api::Problem;
use schemars::generate::SchemaSettings;
use serde_json::{Map, Value as Json, json};

use crate::routes::{ROUTES, Reply, Route};

/// The document.
pub(crate) fn document() -> Json {
    let settings = SchemaSettings::draft2020_12().with(|settings| {
        settings.definitions_path = "/components/schemas".into();
    });
    let mut generator = settings.into_generator();
    let problem = generator.subschema_for::<Problem>();
    let mut paths = Map::new();
    for route in &ROUTES {
        let body = route.body.map(|schema| schema(&mut generator));
        let reply = match &route.reply {
            Reply::Json(schema) => ("application/json", json!(schema(&mut generator))),
            Reply::Text(kind) => (*kind, json!({ "type": "string" })),
        };
        let path = paths.entry(route.path).or_insert_with(|| json!({}));
        path[route.method.to_lowercase()] = operation(route, body.map(|b| json!(b)), reply, &json!(problem));
    }
    let schemas = generator.take_definitions(true);
    json!({
        "openapi": "3.1.0",
        "info": {
            "title": "noregret",
            "version": env!("CARGO_PKG_VERSION"),
            "description": "Which experiments to run next: studies over HTTP.",
            "license": { "name": "MIT OR Apache-2.0", "identifier": "MIT OR Apache-2.0" },
        },
        "paths": paths,
        "components": {
            "schemas": schemas,
            "securitySchemes": { "token": { "type": "http", "scheme": "bearer" } },
        },
    })
}

fn operation(route: &Route, body: Option<Json>, (kind, reply): (&str, Json), problem: &Json) -> Json {
    let mut parameters: Vec<Json> = Vec::new();
    for (name, form) in [("study", "string"), ("number", "integer"), ("file", "string")] {
        if route.path.contains(&format!("{{{name}}}")) {
            let mut schema = json!({ "type": form });
            if form == "integer" {
                schema["minimum"] = 0.into();
            } else {
                schema["minLength"] = 1.into();
            }
            parameters.push(json!({ "name": name, "in": "path", "required": true, "schema": schema }));
        }
    }
    for (name, form, what) in route.query {
        let mut schema = json!({ "type": form });
        if matches!(*form, "integer" | "number") {
            schema["minimum"] = 0.into();
        }
        if *name == "state" {
            schema["enum"] = json!(["waiting", "running", "complete", "failed"]);
        }
        if *name == "wait" {
            schema["maximum"] = 30.into();
        }
        parameters.push(json!({ "name": name, "in": "query", "description": what, "schema": schema }));
    }
    if body.is_some() {
        let schema = json!({ "type": "string", "minLength": 1, "maxLength": 200, "pattern": "^[!-~]+$" });
        let what = "A name of the request's own: sent again, it is done once.";
        parameters.push(
            json!({ "name": "Idempotency-Key", "in": "header", "description": what, "schema": schema }),
        );
    }
    let success = json!({ "description": "Done.", "content": { kind: { "schema": reply } } });
    let error = json!({
        "description": "A problem, with what would be right.",
        "content": { "application/problem+json": { "schema": problem } },
    });
    let mut responses = json!({ "200": success, "default": error });
    if ["/login", "/logout"].contains(&route.path) {
        responses = json!({ "204": { "description": "Done; the answer has the cookie." }, "default": error });
    }
    if route.path == "/api/v1/studies" && route.method == "POST" {
        responses["201"] = success;
    }
    let mut operation = json!({
        "operationId": operation_id(route),
        "summary": route.what,
        "parameters": parameters,
        "responses": responses,
    });
    operation["security"] = match route.role {
        Some(role) => {
            operation["description"] = format!("Needs the role `{role}`.").into();
            json!([{ "token": [] }])
        }
        None => json!([]),
    };
    if let Some(body) = body {
        operation["requestBody"] = json!({ "required": !may_be_empty(route), "content": { "application/json": { "schema": body } } });
    }
    operation
}

/// Whether a request without a body is as good as one with nothing in it.
fn may_be_empty(route: &Route) -> bool {
    [":ask", ":archive"].iter().any(|verb| route.path.ends_with(verb))
}

fn operation_id(route: &Route) -> String {
    let words = route.path.replace("/api/v1/", "").replace(['/', ':', '{', '}', '.'], " ");
    let words: Vec<&str> = words.split_whitespace().collect();
    format!("{}_{}", route.method.to_lowercase(), words.join("_"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_route_is_in_it_and_every_reference_leads_somewhere() {
        let document = document();
        for route in &ROUTES {
            let operation = &document["paths"][route.path][route.method.to_lowercase()];
            assert_eq!(operation["summary"], route.what, "{}", route.path);
        }
        let text = document.to_string();
        for reference in text.split("\"$ref\":\"#").skip(1) {
            let pointer = reference.split('"').next().unwrap();
            assert!(document.pointer(pointer).is_some(), "{pointer}");
        }
        let mut ids: Vec<String> = ROUTES.iter().map(operation_id).collect();
        ids.sort();
        ids.dedup();
        assert_eq!(ids.len(), ROUTES.len());
    }
}
