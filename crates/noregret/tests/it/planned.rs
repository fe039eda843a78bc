//! How many trials a study is to have steers `auto`, and is in the log: the same events give the same next proposal.

use noregret::study::StudyBuilder;
use noregret::{MinimizeOptions, Params, Space, Study, Trial, minimize};

const TRIALS: usize = 12;

fn builder() -> StudyBuilder {
    Study::builder().space(space()).seed(7)
}

fn space() -> Space {
    Space::builder().float("x", -1.0, 1.0).float("y", -1.0, 1.0).build().unwrap()
}

fn value(trial: &Trial) -> f64 {
    trial.numbers().iter().map(|x| (x - 0.3).powi(2)).sum()
}

/// Asks for pairs and tells their values, until there are so many trials.
fn play(study: &mut Study, trials: usize) -> Vec<Params> {
    while study.trials().len() < trials {
        for trial in study.ask(2).unwrap() {
            study.tell(trial.number, value(&trial)).unwrap();
        }
    }
    study.trials().iter().map(|trial| trial.params.clone()).collect()
}

#[test]
fn the_number_steers_and_it_does_not_matter_how_it_is_said() {
    let mut unknown = builder().build().unwrap();
    let mut built = builder().trials(TRIALS).build().unwrap();
    let mut planned = builder().build().unwrap();
    planned.plan(Some(TRIALS));
    let points = play(&mut built, TRIALS);
    assert_ne!(play(&mut unknown, TRIALS), points);
    assert_eq!(play(&mut planned, TRIALS), points, "an event takes no chance from the streams");
    let options = MinimizeOptions { trials: TRIALS, batch: 2, seed: 7, ..MinimizeOptions::default() };
    let minimized = minimize(space(), &options, value).unwrap();
    assert_eq!(minimized.study.trials(), built.trials());
}

#[test]
fn a_log_with_another_number_is_replayed() {
    let mut study = builder().trials(TRIALS).build().unwrap();
    play(&mut study, 8);
    let before = study.suggest(2).unwrap();
    study.plan(Some(10 * TRIALS));
    assert_ne!(study.suggest(2).unwrap(), before);
    play(&mut study, 10);
    let mut replayed = builder().trials(TRIALS).replay(study.events().to_vec()).unwrap();
    assert_eq!(replayed.planned(), Some(10 * TRIALS));
    assert_eq!(replayed.suggest(2).unwrap(), study.suggest(2).unwrap());
    study.plan(None);
    assert_eq!(study.planned(), None);
}
