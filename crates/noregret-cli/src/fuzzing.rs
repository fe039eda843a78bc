//! What the fuzzers feed: for everything that reads bytes of others, one function that must survive all of them.
//!
//! `fuzz/` wraps each in a target of libFuzzer, and the tests feed them mutations of the same seeds. A function returns
//! nothing: an error of noregret is as good as success, and a panic, an abort, a hang or a flood of memory is a finding.

use std::io::Write;
use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

use noregret::study::Told;
use noregret::{Algorithm, Pool, Space, Study};
use noregret_files::{Allowed, StudyFile, again, pool_file};
use noregret_server::{App, NewToken, Options, Request, Role, TokenFile};
use noregret_store::{
    Definition, Entry, Evaluation, Event, HandOut, MemoryStore, SharedStudy, SpaceDefinition, SqliteStore,
    Store, Timestamp, records_of, tell_one,
};
use serde_json::Value as Json;

use crate::run::{self, Template};
use crate::summary;
use crate::tell::import::read as read_results;

/// A function to feed, by the name of its target and of its folder of seeds.
pub type Check = fn(&[u8]);

/// All of them.
pub const TARGETS: [(&str, Check); 11] = [
    ("algorithm", algorithm),
    ("answer", answer),
    ("constraint", constraint),
    ("csv", csv_pool),
    ("database", database),
    ("event_log", event_log),
    ("import", import),
    ("npy", npy_pool),
    ("parquet", parquet_pool),
    ("request", request),
    ("study_file", study_file),
];

/// The name under which studies are kept here.
const NAME: &str = "s";
/// Any time.
const NOW: Timestamp = Timestamp(1_700_000_000_000);
/// Work grows with many options. A study thinks here with none larger than this.
const MODEST: u64 = 32;

/// A request to a server: which route, which trial, and the body. Whatever it is, the server does not fail.
pub fn request(bytes: &[u8]) {
    let [route, number, body @ ..] = bytes else { return };
    let routes = noregret_server::routes();
    let route = routes[usize::from(*route) % routes.len()];
    let new = NewToken { name: String::new(), role: Role::Admin, studies: Vec::new(), lasts: None };
    let (token, record) = new.make(NOW);
    let options = Options {
        tokens: TokenFile::new("/nonexistent/tokens.json"),
        session_token: Some(record),
        pools: Vec::new(),
        base_path: String::new(),
        thinkers: std::num::NonZeroUsize::MIN,
        rate: 1e9,
        guesses: 1e9,
        read_only: false,
        only: Vec::new(),
    };
    let app = Arc::new(App::new(Arc::new(MemoryStore::default()), options));
    let send = |method: &str, path: &str, body: &[u8]| {
        let headers = [("authorization", format!("Bearer {token}"))].into();
        let (method, path) = (method.to_owned(), path.to_owned());
        app.answer(Request { method, path, query: String::new(), headers, body: body.to_vec(), from: None })
    };
    let study = r#"{"study":{"name":"s","algorithm":"random"},"objective":{"command":["none"]},"parameters":{"x":{"type":"float","low":0,"high":1}}}"#;
    assert_eq!(send("POST", "/api/v1/studies", study.as_bytes()).status, 201);
    assert_eq!(send("POST", "/api/v1/studies/s/trials:ask", b"{\"n\":3}").status, 200);
    app.close(); // nobody waits
    let path = route.path.replace("{study}", NAME).replace("{number}", &number.to_string());
    let answer = send(route.method, &path, body);
    assert_ne!(answer.status, 500, "{} {path}: {answer:?}", route.method);
    // Whatever was written can be read.
    assert_eq!(send("GET", "/api/v1/studies/s/trials", b"").status, 200);
}

/// A study file, as TOML and as JSON.
pub fn study_file(bytes: &[u8]) {
    let Ok(text) = std::str::from_utf8(bytes) else { return };
    for read in [StudyFile::from_toml(text), StudyFile::from_json(text)] {
        match read {
            Ok(file) => {
                let _ = serde_json::to_string(&file);
                if let Ok(Some(space)) = file.space() {
                    let _ = Template::of_space(&file.objective.command, &space, None);
                    visit(&space);
                }
            }
            Err(error) => drop(error.in_file(Path::new("study.toml")).to_string()),
        }
    }
}

/// The expression of a constraint: parsed, and evaluated everywhere.
pub fn constraint(bytes: &[u8]) {
    let Ok(text) = std::str::from_utf8(bytes) else { return };
    let space = Space::builder()
        .float("x", -1.0, 1.0)
        .log_float("lr", 1e-5, 1.0)
        .int("n", -3, 8)
        .categorical("act", ["relu", "tanh"])
        .ordinal("width", [32, 64, 128])
        .bool("bias")
        .constraint("c", text)
        .build();
    match space {
        Ok(space) => visit(&space),
        Err(error) => drop(error.to_string()),
    }
}

/// Points of a space, decoded, checked and encoded again.
fn visit(space: &Space) {
    for u in [0.0, 0.25, 0.5, 1.0] {
        let mut x = vec![u; space.dims()];
        space.snap(&mut x);
        let params = space.decode(&x);
        let _ = space.is_feasible(&x);
        assert!(space.encode(&params).is_ok(), "what a study suggests, it takes back");
    }
}

/// A log: every line the JSON of an event.
pub fn event_log(bytes: &[u8]) {
    let Ok(text) = std::str::from_utf8(bytes) else { return };
    let events = text.lines().map_while(|line| serde_json::from_str::<Event>(line).ok());
    let entries: Vec<Entry> =
        (NOW.0..).zip(events).map(|(time, event)| Entry { time: Timestamp(time), event }).collect();
    let store = MemoryStore::default();
    if store.append(NAME, 0, &entries).is_ok() {
        use_study(Arc::new(store), NAME);
    }
}

/// A file of SQLite.
pub fn database(bytes: &[u8]) {
    let Ok(folder) = tempfile::tempdir() else { return };
    let path = folder.path().join("noregret.db");
    if std::fs::write(&path, bytes).is_err() {
        return;
    }
    let Ok(store) = SqliteStore::open_existing(path) else { return };
    let store = Arc::new(store);
    let Ok(studies) = store.studies() else { return };
    for (name, _) in studies.iter().take(2) {
        use_study(store.clone(), name);
    }
}

/// What commands do with a study in a storage: look at it, hand out trials, take results.
fn use_study(store: Arc<dyn Store>, name: &str) {
    let Ok(definition) = SharedStudy::first_definition(&*store, name, "memory:") else { return };
    let Some(space) = space_of(&definition) else { return };
    let _ = records_of(&*store, name, 0..u64::MAX);
    let _ = tell_one(&*store, name, 1, &Evaluation::value(0.5), NOW);
    let Ok(mut shared) = SharedStudy::resume(store, name, definition, space) else { return };
    let space = shared.study().space().clone();
    for record in shared.ledger().records() {
        let _ = serde_json::to_string(&record.described(&space));
    }
    let is_modest = is_modest(&shared.definition().algorithm);
    if is_modest && let Ok(recommended) = shared.study().recommended() {
        let _ = summary::best(&mut shared, recommended.as_ref()).to_json();
    }
    let order = HandOut {
        wanted: 2,
        batch: is_modest.then_some(2),
        budget: None,
        worker: "w".into(),
        lease: Some(Duration::from_mins(1)),
        request: None,
    };
    for value in [0.5, -1.0] {
        let Ok(trials) = shared.hand_out(&order, NOW) else { return };
        let results: Vec<_> = trials.iter().map(|trial| (trial.number, Evaluation::value(value))).collect();
        if shared.tell(&results, Some("w"), NOW).is_err() {
            return;
        }
    }
}

/// The space of a definition; pools are not read but made up.
fn space_of(definition: &Definition) -> Option<Space> {
    match &definition.space {
        SpaceDefinition::Pool { features, .. } if features.len() <= 4 => {
            let cells = (0..4 * features.len()).map(|i| i as f64).collect();
            let pool = Pool::new(cells, features.len()).ok()?.with_names(features.clone()).ok()?;
            Some(Space::pool(pool))
        }
        SpaceDefinition::Pool { .. } => None,
        SpaceDefinition::Parameters { .. } => again(definition, Allowed::Any).ok().map(|(_, space)| space),
    }
}

/// Whether no option is larger than [`MODEST`].
fn is_modest(algorithm: &Algorithm) -> bool {
    let Ok(json) = serde_json::to_value(algorithm) else { return false };
    let mut lowered = json.clone();
    lower(&mut lowered);
    lowered == json
}

/// Lowers what is larger than [`MODEST`], defaults included.
fn lower(json: &mut Json) {
    match json {
        Json::Number(number) if number.as_u64().is_some_and(|n| n > MODEST) => *json = MODEST.into(),
        Json::Array(items) => items.iter_mut().for_each(lower),
        Json::Object(fields) => fields.values_mut().for_each(lower),
        _ => {}
    }
}

/// An algorithm with its options as JSON: built as it is, and asked for a few points with large numbers lowered.
pub fn algorithm(bytes: &[u8]) {
    let Ok(algorithm) = serde_json::from_slice::<Algorithm>(bytes) else { return };
    if let Err(error) = algorithm.build() {
        drop(error.to_string());
    }
    let Ok(mut json) = serde_json::to_value(&algorithm) else { return };
    lower(&mut json);
    // The initial design tells nothing of the algorithm: it is short.
    if json.get("initial_points").is_some_and(Json::is_null) {
        json["initial_points"] = 2.into();
    }
    let Ok(algorithm) = serde_json::from_value::<Algorithm>(json) else { return };
    let mixed = Space::builder().float("x", 0.0, 1.0).int("n", 1, 3).categorical("c", ["a", "b"]).build();
    let pool = Pool::new((0..12).map(f64::from).collect(), 2).map(Space::pool);
    for space in [mixed, pool].into_iter().flatten() {
        let Ok(mut study) = Study::builder().space(space).algorithm(algorithm.clone()).build() else {
            return;
        };
        for turn in 0..4 {
            let Ok(trials) = study.ask(2) else { break };
            // The last trial of each turn stays running.
            for trial in trials.iter().skip(1) {
                let value = (trial.number * trial.number % 7) as f64;
                let _ =
                    if turn == 2 { study.fail(trial.number, "no") } else { study.tell(trial.number, value) };
            }
        }
    }
}

/// What an objective prints, which the log must keep.
pub fn answer(bytes: &[u8]) {
    // As `run` reads it.
    let text = String::from_utf8_lossy(bytes);
    if let Ok(answer) = run::parse_answer(&text) {
        assert!(answer.value.is_finite() && answer.noise_var.is_none_or(|v| v >= 0.0 && v.is_finite()));
        let told = Told { number: 0, value: answer.value, noise_var: answer.noise_var };
        let event = Event::Told { told, attrs: answer.attrs, seconds: None };
        let written = serde_json::to_string(&event).expect("an event is JSON");
        assert_eq!(serde_json::from_str::<Event>(&written).ok(), Some(event), "the log reads what it wrote");
    }
}

/// Old results for `tell --from`, for parameters and for a pool.
pub fn import(bytes: &[u8]) {
    let Some(file) = file(bytes, ".csv") else { return };
    let builder = Space::builder().float("lr", 0.0, 1.0).int("layers", 1, 8).bool("bias");
    let mixed = builder.categorical("act", ["relu", "tanh"]).ordinal("width", [32, 64]).build();
    let pool = Pool::new((0..8).map(f64::from).collect(), 2).map(Space::pool);
    for space in [mixed, pool].into_iter().flatten() {
        let Ok(read) = read_results(file.path(), &space, "value", None) else { continue };
        let Ok(mut study) = Study::builder().space(space).build() else { return };
        for result in read.results {
            let value = result.value.unwrap_or(f64::NAN);
            let _ = match result.row {
                Some(row) => study.add_row(row, value, result.noise_var),
                None => study.add(&result.params, value, result.noise_var),
            };
        }
    }
}

/// A pool as CSV.
pub fn csv_pool(bytes: &[u8]) {
    pool(bytes, ".csv");
}

/// A pool as npy.
pub fn npy_pool(bytes: &[u8]) {
    pool(bytes, ".npy");
}

/// A pool as Parquet.
pub fn parquet_pool(bytes: &[u8]) {
    pool(bytes, ".parquet");
}

/// Reads a pool, with all columns and with some.
fn pool(bytes: &[u8], extension: &str) {
    let Some(file) = file(bytes, extension) else { return };
    let named = ["b".to_owned(), "x1".to_owned()];
    let all = pool_file::read(file.path(), &[], None);
    let some = pool_file::read(file.path(), &named[..1], Some("id"));
    let numbered = pool_file::read(file.path(), &named[1..], None);
    for read in [all, some, numbered] {
        match read {
            Ok(pool) => {
                let last = pool.len() - 1;
                assert!(pool.row_of_id(&pool.id(last)).is_some());
                let _ = (pool.params(last), pool.digest());
            }
            Err(error) => drop(error.to_string()),
        }
    }
}

fn file(bytes: &[u8], extension: &str) -> Option<tempfile::NamedTempFile> {
    let mut file = tempfile::Builder::new().suffix(extension).tempfile().ok()?;
    file.write_all(bytes).ok()?;
    Some(file)
}
