//! What every store must pass: the log itself, and studies shared over it.
#![expect(clippy::unwrap_used, reason = "a suite of tests: whatever goes wrong should panic")]

use std::sync::Arc;
use std::thread;
use std::time::{Duration, Instant};

use noregret::study::{Added, Asked, Enqueued, Failed, Planned, Told};
use noregret::{Algorithm, Direction, Duplicates, Param, Params, Space};
use noregret_store::{
    Attrs, Definition, Entry, Evaluation, Event, HandOut, Proposed, SharedStudy, SpaceDefinition, Store,
    StoreError, Timestamp, TrialStatus, Verdict, records_of, tell_one,
};

/// Runs every check; `make` gives a new, empty store.
pub fn conforms(make: &dyn Fn() -> Arc<dyn Store>) {
    appends_and_reads_back(&*make());
    refuses_to_overwrite(&*make());
    keeps_studies_apart(&*make());
    finds_the_entries_of_trials(&*make());
    takes_many_writers(&make());
    every_event_reads_back(&*make());
    shares_studies(make);
}

/// The part of it that is about studies: also for a store that takes no logs without one.
pub fn shares_studies(make: &dyn Fn() -> Arc<dyn Store>) {
    goes_on_where_it_stopped(&make());
    counts_nothing_twice(&make());
    returns_lost_trials_to_the_queue(&make());
    spends_the_budget_once(&make());
    refuses_another_search(&make());
    hands_out_the_users_own_points_first(&make());
    wakes_who_waits(&make());
    crate::faults::survives_faults(make);
    crate::faults::survives_clocks(make);
}

fn entry(number: u64) -> Entry {
    let event = Event::Late {
        number,
        value: Some(0.1 + 0.2),
        noise_var: None,
        attrs: Attrs::new(),
        reason: "a \"quote\"\n".into(),
    };
    Entry { time: Timestamp(7), event }
}

fn appends_and_reads_back(store: &dyn Store) {
    assert_eq!((store.last("s").unwrap(), store.read("s", 0, 9).unwrap().len()), (0, 0));
    assert_eq!(store.append("s", 0, &[]).unwrap(), 0);
    assert_eq!(store.append("s", 0, &[entry(0), entry(1)]).unwrap(), 2);
    assert_eq!(store.append("s", 2, &[entry(2)]).unwrap(), 3);
    assert_eq!(store.read("s", 0, 9).unwrap(), [entry(0), entry(1), entry(2)]);
    assert_eq!(store.read("s", 1, 1).unwrap(), [entry(1)]);
    assert_eq!(store.read("s", 3, 9).unwrap(), []);
    assert_eq!(store.last("s").unwrap(), 3);
}

fn refuses_to_overwrite(store: &dyn Store) {
    store.append("s", 0, &[entry(0)]).unwrap();
    for after in [0, 2, u64::MAX >> 1] {
        assert!(store.append("s", after, &[entry(9)]).unwrap_err().is_conflict());
    }
    assert_eq!(store.read("s", 0, 9).unwrap(), [entry(0)]);
}

fn keeps_studies_apart(store: &dyn Store) {
    store.append("b", 0, &[entry(0)]).unwrap();
    store.append("a; DROP TABLE studies --", 0, &[entry(1), entry(2)]).unwrap();
    assert_eq!(store.studies().unwrap(), [("a; DROP TABLE studies --".to_owned(), 2), ("b".to_owned(), 1)]);
    assert_eq!(store.read("b", 0, 9).unwrap(), [entry(0)]);
}

fn finds_the_entries_of_trials(store: &dyn Store) {
    let log: Vec<Entry> = [3, 1, 2, 1].map(entry).into();
    store.append("s", 0, &log).unwrap();
    assert_eq!(store.read_trials("s", 1..2).unwrap(), [entry(1), entry(1)]);
    assert_eq!(store.read_trials("s", 2..9).unwrap(), [entry(3), entry(2)]);
    assert_eq!(store.read_trials("s", 7..9).unwrap(), []);
}

/// Eight threads append to one log; every entry arrives once, in an order that each writer agrees with.
fn takes_many_writers(store: &Arc<dyn Store>) {
    const EACH: u64 = 20;
    let threads: Vec<_> = (0..8u64)
        .map(|writer| {
            let store = Arc::clone(store);
            thread::spawn(move || {
                for i in 0..EACH {
                    while store
                        .append("s", store.last("s").unwrap(), &[entry(writer * EACH + i)])
                        .map_err(|error| assert!(error.is_conflict(), "{error}"))
                        .is_err()
                    {}
                }
            })
        })
        .collect();
    threads.into_iter().for_each(|thread| thread.join().unwrap());
    let numbers: Vec<u64> =
        store.read("s", 0, 1000).unwrap().iter().map(|entry| entry.event.trials().start).collect();
    for writer in 0..8 {
        let own: Vec<u64> = numbers.iter().copied().filter(|n| n / EACH == writer).collect();
        assert_eq!(own, (writer * EACH..(writer + 1) * EACH).collect::<Vec<_>>());
    }
}

fn every_event_reads_back(store: &dyn Store) {
    let number = 3;
    let attrs = serde_json::json!({ "loss": [1.5, null] }).as_object().cloned().unwrap();
    let choice = noregret::strategy::history::Choice { x: vec![0.1, 1.0 / 3.0], row: Some(2) };
    let params: Params = [("x", 0.1)].into_iter().collect();
    let events = vec![
        Event::Defined(Box::new(definition())),
        Event::Asked(Box::new(Proposed {
            first: 3,
            asked: Asked { choices: vec![choice.clone()], memo: Box::default() },
            diagnostics: Some(Box::default()),
            seconds: 0.25,
        })),
        Event::Enqueued { number, enqueued: Enqueued { params: params.clone(), choice: choice.clone() } },
        Event::Planned(Planned { trials: Some(60) }),
        Event::Claimed { worker: "w".into(), wanted: 2, until: Timestamp(9) },
        Event::Leased { number, worker: "w".into(), until: Some(Timestamp(9)) },
        Event::Renewed { worker: "w".into(), until: Timestamp(99) },
        Event::Released { number, lost: true },
        Event::Retried { number, reason: "r".into(), stderr: "e".into(), seconds: 1.0 },
        Event::Told {
            told: Told { number, value: 1e-300, noise_var: Some(0.5) },
            attrs: attrs.clone(),
            seconds: Some(2.0),
        },
        Event::Failed {
            failed: Failed { number, reason: "r".into() },
            stderr: "\u{0}\u{fffd}".into(),
            seconds: None,
        },
        Event::Late { number, value: None, noise_var: Some(0.5), attrs: attrs.clone(), reason: "r".into() },
        Event::Added {
            number: 4,
            added: Added { params: params.clone(), choice: choice.clone(), value: -0.0, noise_var: None },
        },
        Event::Added {
            number: 5,
            added: Added { params, choice, value: f64::NEG_INFINITY, noise_var: Some(0.5) },
        },
    ];
    let entries: Vec<Entry> = events.into_iter().map(|event| Entry { time: Timestamp(-1), event }).collect();
    store.append("s", 0, &entries).unwrap();
    assert_eq!(store.read("s", 0, 99).unwrap(), entries);
}

fn definition() -> Definition {
    let parameters = [("x".to_owned(), Param::Float { low: 0.0, high: 1.0, log: false })].into();
    Definition {
        version: Definition::VERSION,
        direction: Direction::Minimize,
        seed: 5,
        algorithm: Algorithm::by_name("gp-ei").unwrap(),
        duplicates: Duplicates::Avoid,
        trials: None,
        space: SpaceDefinition::Parameters { parameters, constraints: [].into() },
        assignment: None,
    }
}

fn open(store: &Arc<dyn Store>) -> SharedStudy {
    let space = Space::builder().float("x", 0.0, 1.0).build().unwrap();
    SharedStudy::open(Arc::clone(store), "study", &definition(), space).unwrap()
}

/// A study whose algorithm takes no time.
pub(crate) fn open_quick(store: &Arc<dyn Store>) -> Result<SharedStudy, StoreError> {
    let space = Space::builder().float("x", 0.0, 1.0).build().unwrap();
    let quick = Definition { algorithm: Algorithm::by_name("random").unwrap(), ..definition() };
    SharedStudy::open(Arc::clone(store), "study", &quick, space)
}

fn order(wanted: usize, worker: &str) -> HandOut {
    let lease = Some(Duration::from_mins(1));
    HandOut { wanted, batch: Some(1), budget: None, worker: worker.into(), lease, request: None }
}

const NOW: Timestamp = Timestamp(1_000_000);

/// A resumed study proposes what the running one would have proposed.
fn goes_on_where_it_stopped(store: &Arc<dyn Store>) {
    let mut running = open(store);
    for round in 0..6 {
        for trial in running.hand_out(&order(2, "w"), NOW).unwrap() {
            let x = trial.numbers()[0];
            let outcome = if round == 2 {
                Evaluation::Failure { reason: "it broke".into(), stderr: "help".into(), seconds: None }
            } else {
                Evaluation::value((x - 0.3).powi(2))
            };
            running.tell(&[(trial.number, outcome)], None, NOW).unwrap();
        }
    }
    let mut resumed = open(store);
    assert_eq!(resumed.position(), running.position(), "opening again writes nothing");
    assert_eq!(resumed.ledger().records(), running.ledger().records());
    let next = |shared: &mut SharedStudy| shared.study().suggest(3).unwrap();
    assert_eq!(next(&mut resumed), next(&mut running));
}

fn counts_nothing_twice(store: &Arc<dyn Store>) {
    let mut one = open(store);
    let mut other = open(store);
    let number = one.hand_out(&order(1, "one"), NOW).unwrap()[0].number;
    // The other takes over when the lease has ended, and is told first; then the first comes late.
    let later = NOW.after(Duration::from_secs(61));
    assert_eq!(other.hand_out(&order(1, "other"), later).unwrap()[0].number, number);
    assert_eq!(other.tell(&[(number, Evaluation::value(2.0))], None, later).unwrap(), [Verdict::Complete]);
    assert_eq!(one.tell(&[(number, Evaluation::value(1.0))], None, later).unwrap(), [Verdict::Late]);
    assert_eq!(one.tell(&[(number, Evaluation::value(2.0))], None, later).unwrap(), [Verdict::Same]);
    let failure = Evaluation::Failure { reason: "late, too".into(), stderr: String::new(), seconds: None };
    let retry = Evaluation::Retry { reason: "again".into(), stderr: String::new(), seconds: 1.0 };
    let next = one.hand_out(&order(1, "one"), later).unwrap()[0].number;
    let much_later = later.after(Duration::from_mins(2));
    assert_eq!(other.hand_out(&order(1, "other"), much_later).unwrap()[0].number, next);
    for outcome in [&failure, &retry] {
        let told = one.tell(&[(next, outcome.clone())], Some("one"), much_later).unwrap();
        assert_eq!(told, [Verdict::Late], "it is somebody else's now");
    }
    assert_eq!(other.tell(&[(next, retry)], Some("other"), much_later).unwrap(), [Verdict::Retried]);
    assert_eq!(other.hand_out(&order(1, "other"), much_later).unwrap()[0].number, next);
    other.tell(&[(next, Evaluation::value(3.0))], Some("other"), much_later).unwrap();
    assert_eq!(tell_one(&**store, "study", number, &failure, later).unwrap(), Some(Verdict::Late));
    assert_eq!(tell_one(&**store, "study", 99, &failure, later).unwrap(), None);
    other.catch_up().unwrap();
    let record = other.ledger().record(number).unwrap();
    assert_eq!(record.status, TrialStatus::Complete { value: 2.0, noise_var: None });
    assert_eq!((record.leases, record.lost, record.late), (2, 1, 2));
    assert_eq!((other.ledger().complete(), other.study().trials().len()), (2, 2));
    assert_eq!(records_of(&**store, "study", 0..9).unwrap(), other.ledger().records());
}

fn returns_lost_trials_to_the_queue(store: &Arc<dyn Store>) {
    let mut shared = open(store);
    let mut now = NOW;
    let number = shared.hand_out(&order(1, "w"), now).unwrap()[0].number;
    shared.renew("w", Duration::from_secs(90), now).unwrap();
    now = now.after(Duration::from_secs(61));
    assert_ne!(shared.hand_out(&order(1, "v"), now).unwrap()[0].number, number, "the lease was renewed");
    // Given back, it comes first; lost too often, it has failed.
    shared.release(&[number], &["somebody else"], now).unwrap();
    assert_eq!(shared.ledger().waiting().len(), 0, "only its holder may give a trial back");
    shared.release(&[number], &["somebody else", "w"], now).unwrap();
    assert_eq!(shared.ledger().waiting().collect::<Vec<_>>(), [number]);
    // Whoever holds it keeps it, however late; others take it over when its time is up.
    shared.hand_out(&order(1, "w0@here"), now).unwrap();
    now = now.after(Duration::from_mins(2));
    assert_ne!(shared.hand_out(&order(1, "w0@here"), now).unwrap()[0].number, number);
    for worker in 1..20 {
        let taken = shared.hand_out(&order(1, &format!("w{worker}@here")), now).unwrap()[0].number;
        if taken != number {
            break;
        }
        now = now.after(Duration::from_mins(2));
    }
    let record = shared.ledger().record(number).unwrap();
    assert!(
        matches!(&record.status, TrialStatus::Failed { reason } if reason.contains("vanished")),
        "{record:?}"
    );
    // A value after all is still welcome.
    assert_eq!(shared.tell(&[(number, Evaluation::value(1.0))], None, now).unwrap(), [Verdict::AfterFailure]);
}

/// Two processes that ask at the same time do not exceed the number of trials.
fn spends_the_budget_once(store: &Arc<dyn Store>) {
    let threads: Vec<_> = (0..4)
        .map(|worker| {
            let store = Arc::clone(store);
            thread::spawn(move || {
                let mut shared = open(&store);
                let order = HandOut { budget: Some(10), ..order(3, &format!("w{worker}@here")) };
                let mut taken = Vec::new();
                loop {
                    let trials = shared.hand_out(&order, NOW).unwrap();
                    if trials.is_empty() {
                        return taken;
                    }
                    taken.extend(trials.iter().map(|trial| trial.number));
                    for trial in trials {
                        shared.tell(&[(trial.number, Evaluation::value(1.0))], None, NOW).unwrap();
                    }
                }
            })
        })
        .collect();
    let mut taken: Vec<u64> = threads.into_iter().flat_map(|thread| thread.join().unwrap()).collect();
    taken.sort_unstable();
    assert_eq!(taken, (0..10).collect::<Vec<_>>());
}

fn hands_out_the_users_own_points_first(store: &Arc<dyn Store>) {
    let mut shared = open(store);
    let own = [0.1, 0.7].map(|x| Params::from_iter([("x", x)]));
    let queued = shared.enqueue(&own, NOW).unwrap();
    assert_eq!(queued.iter().map(|trial| trial.number).collect::<Vec<_>>(), [0, 1]);
    let outside = [own[0].clone(), Params::from_iter([("x", 7.0)])];
    assert!(shared.enqueue(&outside, NOW).is_err());
    assert_eq!(shared.enqueue(&[], NOW).unwrap(), []);
    let mut other = open(store);
    let trials = other.hand_out(&order(3, "w@here"), NOW).unwrap();
    assert_eq!(trials.len(), 3);
    assert_eq!([&trials[0].params, &trials[1].params], [&own[0], &own[1]]);
    assert_eq!(other.ledger().asked(), 3);
}

/// Who waits hears of what is written long before its time is up, and of nothing else.
#[expect(clippy::disallowed_methods, reason = "it measures how long somebody waits")]
fn wakes_who_waits(store: &Arc<dyn Store>) {
    const LONG: Duration = Duration::from_secs(20);
    let defined = Entry { time: NOW, event: Event::Defined(Box::new(definition())) };
    store.append("s", 0, std::slice::from_ref(&defined)).unwrap();
    store.append("other", 0, &[defined]).unwrap();
    let begin = Instant::now();
    store.wait("s", 0, LONG).unwrap();
    assert!(begin.elapsed() < LONG / 4, "there is something new already: {:?}", begin.elapsed());
    let begin = Instant::now();
    store.wait("s", 1, Duration::from_millis(200)).unwrap();
    assert!(begin.elapsed() >= Duration::from_millis(150), "nothing is new: {:?}", begin.elapsed());
    let writer = Arc::clone(store);
    let thread = thread::spawn(move || {
        thread::sleep(Duration::from_millis(300));
        let renewed = Entry { time: NOW, event: Event::Renewed { worker: "w".into(), until: NOW } };
        writer.append("other", 1, std::slice::from_ref(&renewed)).unwrap();
        thread::sleep(Duration::from_millis(300));
        writer.append("s", 1, &[renewed]).unwrap();
    });
    let begin = Instant::now();
    while store.last("s").unwrap() == 1 {
        store.wait("s", 1, LONG).unwrap();
    }
    let waited = begin.elapsed();
    assert!(waited >= Duration::from_millis(500) && waited < LONG / 4, "{waited:?}");
    thread.join().unwrap();
}

fn refuses_another_search(store: &Arc<dyn Store>) {
    drop(open(store));
    let space = Space::builder().float("x", 0.0, 1.0).build().unwrap();
    let turned = Definition { direction: Direction::Maximize, ..definition() };
    let error = SharedStudy::open(Arc::clone(store), "study", &turned, space.clone()).unwrap_err();
    assert!(error.to_string().contains("direction was minimize"), "{error}");
    // Another algorithm is fine, and noted; who opens without a wish goes on with it.
    let other = Definition { algorithm: Algorithm::by_name("random").unwrap(), ..definition() };
    let changed = SharedStudy::open(Arc::clone(store), "study", &other, space.clone()).unwrap();
    assert_eq!(changed.position(), 2);
    let resumed = SharedStudy::resume(Arc::clone(store), "study", definition(), space).unwrap();
    assert_eq!(resumed.definition().algorithm.name(), "random");
}
