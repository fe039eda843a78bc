//! PostgreSQL: the suite of all stores, and what only a server on a network can do wrong. Each test has a server of its own; where
//! PostgreSQL is not installed, it says so and ends.
#![expect(clippy::disallowed_methods, reason = "a test measures how long somebody waits")]
#![expect(clippy::unwrap_used, reason = "also in the helpers of tests: whatever goes wrong should panic")]

use std::net::SocketAddr;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::thread;
use std::time::{Duration, Instant};

use noregret::{Algorithm, Direction, Duplicates, Param, Space};
use noregret_store::{
    Definition, Evaluation, HandOut, MemoryStore, PostgresStore, PostgresUrl, SharedStudy, SpaceDefinition,
    SqliteStore, Store, StoreError, Timestamp, TrialStatus, Verdict,
};
use noregret_testkit::postgres::PostgresServer;
use noregret_testkit::proxy::Proxy;
use noregret_testkit::store::conforms;

fn url(address: &str) -> PostgresUrl {
    address.parse().unwrap()
}

fn opened(address: &str) -> Arc<dyn Store> {
    Arc::new(PostgresStore::open(&url(address)).unwrap())
}

#[test]
fn it_passes_the_suite() {
    let Some(server) = PostgresServer::start() else { return };
    let address = server.create_database("suite");
    conforms(&|| {
        server.query("suite", "DROP SCHEMA IF EXISTS noregret CASCADE");
        opened(&address)
    });
}

#[test]
fn tables_are_ours_and_of_a_version_that_we_know() {
    let Some(server) = PostgresServer::start() else { return };
    let address = server.create_database("tables");
    let missing = PostgresStore::open_existing(&url(&address)).unwrap_err();
    assert!(missing.to_string().contains("no studies of noregret"), "{missing}");
    // Several at once make them once.
    thread::scope(|scope| {
        for _ in 0..8 {
            scope.spawn(|| opened(&address));
        }
    });
    assert_eq!(server.query("tables", "SELECT count(*) FROM noregret.version"), "1");
    assert!(PostgresStore::open_existing(&url(&address)).is_ok());
    server.query("tables", "UPDATE noregret.version SET version = 99");
    for opened in [PostgresStore::open(&url(&address)), PostgresStore::open_existing(&url(&address))] {
        assert!(matches!(opened, Err(StoreError::Newer { found: 99, .. })), "{opened:?}");
    }
    let nowhere = PostgresStore::open(&url(&address.replace("/tables", "/nowhere"))).unwrap_err();
    assert!(nowhere.to_string().contains("createdb"), "{nowhere}");
    // A user without rights hears what is missing, and leaves nothing behind.
    server.query("tables", "DROP SCHEMA noregret CASCADE; CREATE ROLE guest LOGIN");
    let guest = address.replace("noregret@", "guest@");
    let refused = PostgresStore::open(&url(&guest)).unwrap_err();
    assert!(refused.to_string().contains("needs CREATE"), "{refused}");
}

fn definition() -> Definition {
    let parameters = [("x".to_owned(), Param::Float { low: 0.0, high: 1.0, log: false })].into();
    Definition {
        version: Definition::VERSION,
        direction: Direction::Minimize,
        seed: 5,
        algorithm: Algorithm::by_name("random").unwrap(),
        duplicates: Duplicates::Avoid,
        trials: None,
        space: SpaceDefinition::Parameters { parameters, constraints: [].into() },
        assignment: None,
    }
}

fn space() -> Space {
    Space::builder().float("x", 0.0, 1.0).build().unwrap()
}

fn study(store: &Arc<dyn Store>) -> Result<SharedStudy, StoreError> {
    SharedStudy::open(Arc::clone(store), "study", &definition(), space())
}

/// Four workers evaluate trials through `address`, until there are so many or `is_over`. Returns how many results counted.
fn evaluated(address: &str, trials: Option<u64>, is_over: &AtomicBool) -> u64 {
    let complete = AtomicU64::new(0);
    thread::scope(|scope| {
        for worker in 0..4 {
            let (complete, name) = (&complete, format!("worker {worker}"));
            scope.spawn(move || {
                let store = opened(address);
                let mut study = study(&store).unwrap();
                let order = HandOut {
                    wanted: 1,
                    batch: Some(1),
                    budget: trials,
                    worker: name.clone(),
                    lease: Some(Duration::from_mins(10)),
                    request: None,
                };
                while !is_over.load(Ordering::SeqCst) {
                    let taken = study.hand_out(&order, Timestamp::now()).unwrap();
                    if taken.is_empty() {
                        return;
                    }
                    for trial in taken {
                        let value = Evaluation::value(trial.numbers()[0]);
                        let verdict =
                            study.tell(&[(trial.number, value)], Some(&name), Timestamp::now()).unwrap();
                        assert_eq!(verdict, [Verdict::Complete], "trial {}", trial.number);
                        complete.fetch_add(1, Ordering::SeqCst);
                    }
                }
            });
        }
    });
    complete.into_inner()
}

/// All trials have the value that was told, once.
fn check(address: &str, trials: u64) {
    let store = opened(address);
    let study = study(&store).unwrap();
    let records = study.ledger().records();
    assert_eq!((records.len() as u64, study.ledger().complete()), (trials, trials));
    for record in records {
        let TrialStatus::Complete { value, .. } = record.status else { panic!("{record:?}") };
        assert_eq!(value.to_bits(), record.choice.x[0].to_bits());
        assert_eq!((record.leases, record.late), (1, 0), "evaluated once, told once: {record:?}");
    }
}

/// The same log gives the same suggestions, wherever it is kept.
#[test]
fn suggestions_are_those_of_other_stores() {
    let Some(server) = PostgresServer::start() else { return };
    let folder = tempfile::tempdir().unwrap();
    let stores: [Arc<dyn Store>; 3] = [
        Arc::new(MemoryStore::default()),
        Arc::new(SqliteStore::open(folder.path().join("s.db")).unwrap()),
        opened(&server.create_database("same")),
    ];
    let suggested = stores.map(|store| {
        let definition = Definition { algorithm: Algorithm::by_name("auto").unwrap(), ..definition() };
        let mut shared = SharedStudy::open(Arc::clone(&store), "study", &definition, space()).unwrap();
        let order = HandOut {
            wanted: 2,
            batch: Some(2),
            budget: None,
            worker: "w".into(),
            lease: None,
            request: None,
        };
        for _ in 0..8 {
            for trial in shared.hand_out(&order, Timestamp(0)).unwrap() {
                let value = Evaluation::value((trial.numbers()[0] - 0.3).powi(2));
                shared.tell(&[(trial.number, value)], None, Timestamp(0)).unwrap();
            }
        }
        // As a new process would.
        let mut again = SharedStudy::open(store, "study", &definition, space()).unwrap();
        again.study().suggest(3).unwrap()
    });
    assert!(suggested[0] == suggested[1] && suggested[0] == suggested[2], "{suggested:?}");
}

/// How often the server is restarted in the test below; `NOREGRET_RESTARTS=20` for more.
fn restarts() -> usize {
    std::env::var_os("NOREGRET_RESTARTS").map_or(4, |text| text.to_str().unwrap().parse().unwrap())
}

#[test]
fn a_server_that_is_restarted_loses_nothing() {
    let Some(server) = PostgresServer::start() else { return };
    let address = server.create_database("restarts");
    let is_over = AtomicBool::new(false);
    let done = thread::scope(|scope| {
        let (server, is_over) = (&server, &is_over);
        scope.spawn(move || {
            for i in 0..restarts() {
                thread::sleep(Duration::from_millis(300));
                server.restart(i % 2 == 1);
            }
            is_over.store(true, Ordering::SeqCst);
        });
        evaluated(&address, None, is_over)
    });
    assert!(done > 0);
    check(&address, done);
}

#[test]
fn an_answer_that_is_lost_is_found_again() {
    let Some(server) = PostgresServer::start() else { return };
    let address = server.create_database("answers");
    drop(opened(&address));
    let proxy = Proxy::new(SocketAddr::from(([127, 0, 0, 1], server.port())));
    let through = address.replace(&format!(":{}", server.port()), &format!(":{}", proxy.port()));
    // A connection takes a few answers to begin, so it works for a while.
    proxy.lose_every(23);
    proxy.delay(Duration::from_millis(1));
    let through = format!("{through}?sslmode=disable");
    assert_eq!(evaluated(&through, Some(60), &AtomicBool::new(false)), 60);
    assert!(proxy.lost() > 10, "{}", proxy.lost());
    check(&address, 60);
}

#[test]
fn who_waits_is_woken_again_after_the_server_was_away() {
    let Some(server) = PostgresServer::start() else { return };
    let address = server.create_database("waiting");
    let store = opened(&address);
    let mut one = study(&store).unwrap();
    let position = one.position();
    store.wait("study", position, Duration::from_millis(50)).unwrap(); // listens from now on
    server.restart(true);
    let begin = Instant::now();
    thread::scope(|scope| {
        scope.spawn(|| {
            thread::sleep(Duration::from_millis(800));
            one.plan(7, Timestamp::now()).unwrap();
        });
        while store.last("study").unwrap() == position {
            store.wait("study", position, Duration::from_secs(30)).unwrap();
        }
    });
    assert!(begin.elapsed() < Duration::from_secs(10), "{:?}", begin.elapsed());
}

/// A certificate for this name, with its key, by an authority of its own; and that authority's certificate.
fn certificate(name: &str) -> (String, String, String) {
    let key = rcgen::KeyPair::generate().unwrap();
    let mut authority = rcgen::CertificateParams::new(Vec::new()).unwrap();
    authority.is_ca = rcgen::IsCa::Ca(rcgen::BasicConstraints::Unconstrained);
    let root = authority.self_signed(&key).unwrap();
    let issuer = rcgen::Issuer::from_params(&authority, &key);
    let own = rcgen::KeyPair::generate().unwrap();
    let server =
        rcgen::CertificateParams::new(vec![name.to_owned()]).unwrap().signed_by(&own, &issuer).unwrap();
    (server.pem(), own.serialize_pem(), root.pem())
}

#[test]
fn connections_are_encrypted_as_asked_for() {
    let (server_pem, key, root) = certificate("localhost");
    let Some(server) = PostgresServer::start_encrypted(&server_pem, &key) else { return };
    let address = server.create_database("encrypted").replace("127.0.0.1", "localhost");
    let folder = tempfile::tempdir().unwrap();
    let path = |name: &str, pem: &str| {
        let path = folder.path().join(name);
        std::fs::write(&path, pem).unwrap();
        path.display().to_string()
    };
    let (good, bad) = (path("good.pem", &root), path("bad.pem", &certificate("localhost").2));
    let opened = |query: &str| PostgresStore::open(&url(&format!("{address}?{query}")));
    for query in
        ["", "sslmode=disable", "sslmode=require", &format!("sslmode=verify-full&sslrootcert={good}")]
    {
        assert!(opened(query).is_ok(), "{query}: {:?}", opened(query));
    }
    let by_number = address.replace("localhost", "127.0.0.1");
    let wrong_name =
        PostgresStore::open(&url(&format!("{by_number}?sslmode=verify-full&sslrootcert={good}")));
    let errors = [
        wrong_name.map(drop),
        opened(&format!("sslmode=verify-full&sslrootcert={bad}")).map(drop),
        opened("sslmode=verify-full&sslrootcert=/nowhere.pem").map(drop),
    ];
    for error in errors {
        assert!(matches!(error, Err(StoreError::Open { .. })), "{error:?}");
    }
    let encrypted = "SELECT count(*) > 0 FROM pg_stat_ssl JOIN pg_stat_activity USING (pid) WHERE ssl AND application_name = 'noregret'";
    let held = opened("sslmode=require").unwrap();
    assert_eq!(server.query("encrypted", encrypted), "t");
    drop(held);
    // A server that cannot encrypt is refused where encryption is required.
    let Some(plain) = PostgresServer::start() else { return };
    let address = plain.create_database("plain");
    assert!(PostgresStore::open(&url(&address)).is_ok());
    assert!(PostgresStore::open(&url(&format!("{address}?sslmode=require"))).is_err());
}

/// Who waits takes a second connection. Where they are scarce it does without, and hears all the same.
#[test]
fn who_waits_leaves_connections_for_those_who_write() {
    const WAITING: usize = 8;
    let Some(server) = PostgresServer::start() else { return };
    let address = server.create_database("scarce");
    server.query("scarce", "ALTER SYSTEM SET max_connections = 14");
    server.restart(false);
    let mut study = SharedStudy::open(opened(&address), "study", &definition(), space()).unwrap();
    let stores: Vec<Arc<dyn Store>> = (0..WAITING).map(|_| opened(&address)).collect();
    let position = study.position();
    let delays: Vec<Duration> = thread::scope(|scope| {
        let wait = |store: &Arc<dyn Store>| {
            let begin = Instant::now();
            while store.last("study").unwrap() <= position {
                store.wait("study", position, Duration::from_secs(30)).unwrap();
            }
            begin.elapsed()
        };
        let waiting: Vec<_> = stores.iter().map(|store| scope.spawn(move || wait(store))).collect();
        thread::sleep(Duration::from_secs(2));
        let listening = "SELECT count(*) FROM pg_stat_activity WHERE query LIKE 'LISTEN%'";
        let listening: usize = server.query("scarce", listening).parse().unwrap();
        // Eight and the writer have nine of the fourteen; whoever finds fewer than eight in use listens.
        assert!(listening < WAITING, "{listening} listen");
        study.plan(77, Timestamp::now()).unwrap();
        waiting.into_iter().map(|thread| thread.join().unwrap()).collect()
    });
    assert!(delays.iter().all(|delay| *delay < Duration::from_secs(5)), "{delays:?}");
}
