//! A server of one's own.

use std::num::NonZeroUsize;
use std::path::PathBuf;
use std::sync::Arc;

use noregret_client::{Client, ClientError};
use noregret_server::{App, Listening, NewToken, Options, Role, TokenFile, listen};
use noregret_store::{HttpStore, SqliteStore, Store, Timestamp};
use serde_json::{Value as Json, json};

/// A server with tokens of all roles, and a folder that ends with it.
pub(crate) struct Server {
    pub(crate) listening: Listening,
    pub(crate) tokens: TokenFile,
    pub(crate) folder: tempfile::TempDir,
    pub(crate) admin: String,
}

pub(crate) fn options(tokens: TokenFile, pools: Vec<PathBuf>) -> Options {
    Options {
        tokens,
        session_token: None,
        pools,
        base_path: String::new(),
        thinkers: NonZeroUsize::new(2).unwrap(),
        rate: 1e6,
        guesses: 1e6,
        read_only: false,
        only: Vec::new(),
    }
}

impl Server {
    pub(crate) fn start() -> Self {
        let folder = tempfile::tempdir().unwrap();
        let store = Arc::new(SqliteStore::open(folder.path().join("studies.db")).unwrap());
        Self::over(store, folder)
    }

    pub(crate) fn over(store: Arc<dyn Store>, folder: tempfile::TempDir) -> Self {
        Self::with(store, folder, 1e6)
    }

    pub(crate) fn with(store: Arc<dyn Store>, folder: tempfile::TempDir, guesses: f64) -> Self {
        let tokens = TokenFile::new(folder.path().join("tokens.json"));
        let admin = token(&tokens, Role::Admin, &[]);
        let pools = vec![folder.path().join("pools")];
        let app = Arc::new(App::new(store, Options { guesses, ..options(tokens.clone(), pools) }));
        let listening = listen(app, "127.0.0.1:0".parse().unwrap(), None).unwrap();
        Self { listening, tokens, folder, admin }
    }

    pub(crate) fn url(&self) -> String {
        format!("http://{}", self.listening.address)
    }

    pub(crate) fn client(&self) -> Client {
        self.client_of(&self.admin)
    }

    pub(crate) fn client_of(&self, token: &str) -> Client {
        Client::new(self.url().parse().unwrap(), Some(token.to_owned()))
    }

    pub(crate) fn store(&self) -> Arc<dyn Store> {
        Arc::new(HttpStore::open(&self.url().parse().unwrap(), Some(self.admin.clone())).unwrap())
    }

    /// Makes a study of two parameters.
    pub(crate) fn make(&self, name: &str, more: Json) -> Json {
        let mut study = json!({ "name": name, "algorithm": "random", "seed": 3 });
        study.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
        let file = json!({
            "study": study,
            "objective": { "command": ["evaluate", "{x}"], "retries": 1 },
            "parameters": {
                "x": { "type": "float", "low": 0.0, "high": 1.0 },
                "a": { "type": "categorical", "choices": ["p", "q"] },
            },
        });
        self.client().post("/api/v1/studies", &file).unwrap()
    }

    pub(crate) fn post(&self, path: &str, body: Json) -> Json {
        self.client().post(&format!("/api/v1/studies/{path}"), &body).unwrap()
    }

    pub(crate) fn get(&self, path: &str) -> Json {
        self.client().get(&format!("/api/v1/studies/{path}")).unwrap()
    }

    /// The status and the detail of a refusal.
    pub(crate) fn refused(&self, path: &str, body: Json) -> (u16, String) {
        refusal(self.client().post::<Json>(&format!("/api/v1/studies/{path}"), &body))
    }
}

pub(crate) fn refusal(answer: Result<Json, ClientError>) -> (u16, String) {
    let error = answer.unwrap_err();
    let problem = error.problem().unwrap_or_else(|| panic!("{error}"));
    (problem.status, problem.detail.clone())
}

pub(crate) fn token(tokens: &TokenFile, role: Role, studies: &[&str]) -> String {
    let studies = studies.iter().map(|study| (*study).to_owned()).collect();
    let new = NewToken { name: "test".into(), role, studies, lasts: None };
    tokens.create(new, Timestamp::now()).unwrap().0
}
