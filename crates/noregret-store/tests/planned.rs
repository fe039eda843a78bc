//! The log alone decides: how many trials a study is to have is in it, and whoever goes on with the log suggests the same.
#![expect(clippy::unwrap_used, reason = "also in the helpers of tests: whatever goes wrong should panic")]

use std::sync::Arc;

use noregret::{Algorithm, Direction, Duplicates, Params, Space, Study, Trial, study};
use noregret_store::{
    Definition, Evaluation, Event, HandOut, MemoryStore, SharedStudy, SpaceDefinition, Store, Timestamp,
};

const NOW: Timestamp = Timestamp(0);

fn space() -> Space {
    Space::builder().float("x", 0.0, 1.0).float("y", 0.0, 1.0).build().unwrap()
}

fn definition(trials: Option<usize>) -> Definition {
    let parameters = space().params().map(|(name, param)| (name.to_owned(), param.clone())).collect();
    Definition {
        version: Definition::VERSION,
        direction: Direction::Minimize,
        seed: 5,
        algorithm: Algorithm::default(),
        duplicates: Duplicates::Avoid,
        trials,
        assignment: None,
        space: SpaceDefinition::Parameters { parameters, constraints: [].into_iter().collect() },
    }
}

fn open(store: &Arc<dyn Store>, trials: Option<usize>) -> SharedStudy {
    SharedStudy::open(Arc::clone(store), "s", &definition(trials), space()).unwrap()
}

fn resume(store: &Arc<dyn Store>) -> SharedStudy {
    SharedStudy::resume(Arc::clone(store), "s", definition(None), space()).unwrap()
}

fn store() -> Arc<dyn Store> {
    Arc::new(MemoryStore::default())
}

fn value(trial: &Trial) -> f64 {
    trial.numbers().iter().map(|x| (x - 0.3).powi(2)).sum()
}

/// A round of two trials, with a limit to handing out that says nothing of the study's plan.
fn play(shared: &mut SharedStudy, budget: Option<u64>) {
    let order = HandOut { wanted: 2, batch: Some(2), budget, worker: "w".into(), lease: None, request: None };
    for trial in shared.hand_out(&order, NOW).unwrap() {
        let told = Evaluation::value(value(&trial));
        shared.tell(&[(trial.number, told)], None, NOW).unwrap();
    }
}

/// The study's own events in a log.
fn in_rust(store: &dyn Store, trials: Option<usize>) -> Study {
    let builder = Study::builder().space(space()).seed(5).trials(trials);
    let events = store.read("s", 0, usize::MAX).unwrap().into_iter().filter_map(|entry| match entry.event {
        Event::Asked(proposed) => Some(proposed.asked.into()),
        Event::Told { told, .. } => Some(told.into()),
        Event::Planned(planned) => Some(planned.into()),
        _ => None,
    });
    builder.replay(events.collect::<Vec<study::Event>>()).unwrap()
}

fn next(shared: &mut SharedStudy) -> Vec<Params> {
    shared.study().suggest(2).unwrap()
}

#[test]
fn the_same_log_gives_the_same_next_batch() {
    let store = store();
    let mut running = open(&store, Some(9));
    for _ in 0..3 {
        play(&mut running, Some(9));
    }
    let expected = next(&mut running);
    assert_eq!(next(&mut resume(&store)), expected, "who only looks");
    assert_eq!(next(&mut open(&store, None)), expected, "who does not say how many");
    assert_eq!(next(&mut open(&store, Some(9))), expected);
    assert_eq!(in_rust(&*store, Some(9)).suggest(2).unwrap(), expected);
    assert_ne!(in_rust(&*store, None).suggest(2).unwrap(), expected, "the number matters here");
    let position = running.position();
    assert_eq!(resume(&store).position(), position, "nobody has written anything");
    play(&mut running, None);
    assert_eq!(running.study().trials()[6..].iter().map(|t| t.params.clone()).collect::<Vec<_>>(), expected);
}

#[test]
fn another_number_is_an_event_and_changes_the_suggestions_of_all() {
    let store = store();
    let mut one = open(&store, Some(6));
    for _ in 0..3 {
        play(&mut one, None);
    }
    let before = next(&mut one);
    let mut other = open(&store, Some(60));
    let last = store.read("s", one.position(), 9).unwrap();
    assert!(
        matches!(&last[..], [entry] if entry.event == Event::Planned(study::Planned { trials: Some(60) }))
    );
    assert_eq!(other.definition().trials, Some(60));
    let expected = next(&mut other);
    assert_ne!(expected, before);
    one.catch_up().unwrap();
    assert_eq!(next(&mut one), expected);
    assert_eq!(next(&mut resume(&store)), expected);
    assert_eq!(in_rust(&*store, Some(6)).suggest(2).unwrap(), expected);
    // A smaller number, as in a study file that was overruled once, must be meant.
    assert_eq!(open(&store, Some(6)).position(), other.position());
    other.plan(6, NOW).unwrap();
    other.plan(6, NOW).unwrap();
    assert_eq!(next(&mut other), before);
    assert_eq!(resume(&store).position(), one.position() + 1);
}

#[test]
fn other_settings_keep_the_number_of_trials() {
    let store = store();
    let mut shared = open(&store, Some(6));
    shared.plan(30, NOW).unwrap();
    let changed = Definition { seed: 8, ..definition(None) };
    let shared = SharedStudy::open(Arc::clone(&store), "s", &changed, space()).unwrap();
    assert_eq!((shared.definition().seed, shared.definition().trials), (8, Some(30)));
    let more = Definition { seed: 9, ..definition(Some(40)) };
    let mut shared = SharedStudy::open(Arc::clone(&store), "s", &more, space()).unwrap();
    assert_eq!((shared.definition().seed, shared.definition().trials), (9, Some(40)));
    assert_eq!(shared.study().planned(), Some(40));
    let mut resumed = resume(&store);
    assert_eq!((resumed.study().planned(), resumed.definition().seed), (Some(40), 9));
}

#[test]
fn a_log_that_never_said_how_many_is_told_later() {
    let store = store();
    let mut shared = open(&store, None);
    play(&mut shared, Some(9));
    assert_eq!(shared.study().planned(), None, "a limit to handing out is no plan");
    let mut later = open(&store, Some(9));
    let mut begun = Study::builder().space(space()).seed(5).trials(9).build().unwrap();
    for event in shared.study().events().to_vec() {
        begun.absorb(event).unwrap();
    }
    assert_eq!(next(&mut later), begun.suggest(2).unwrap());
}
