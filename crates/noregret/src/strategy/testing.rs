//! Helpers that tests of several algorithms share.

use rand::RngExt;

use super::Strategy;
use super::history::{Choice, Duplicates, History, Outcome};
use super::model_free::random::Random;
use crate::math::rng::{Purpose, Seed, Stream};
use crate::maximize::Taken;
use crate::space::{Pool, Space};

/// A value without noise.
pub(crate) fn value(y: f64) -> Outcome {
    Outcome::Value { y, noise_variance: None }
}

/// The stream of the `t`-th proposal.
pub(crate) fn stream(seed: u64, t: u64) -> Stream {
    Seed(seed).stream(Purpose::Propose, t, 0)
}

/// A history of `n` random points with the values of `f`.
pub(crate) fn random_history(space: Space, n: usize, seed: u64, f: impl Fn(&[f64]) -> f64) -> History {
    let mut history = History::new(space, Duplicates::Avoid);
    let mut rng = Seed(seed).stream(Purpose::Experiment, 0, 0);
    for _ in 0..n {
        let x = history.space().sample(&mut rng).unwrap();
        let y = f(&x);
        history.add(&Choice { x, row: None }, value(y));
    }
    history
}

/// A pool of random rows.
pub(crate) fn random_pool(rows: usize, dims: usize) -> Space {
    let mut rng = Seed(3).stream(Purpose::Experiment, 0, 0);
    let features = (0..rows * dims).map(|_| rng.random::<f64>()).collect();
    Space::pool(Pool::new(features, dims).unwrap())
}

/// The values of `rounds` evaluations of `f`, one at a time.
pub(crate) fn play(
    strategy: &mut dyn Strategy,
    space: &Space,
    rounds: u64,
    seed: u64,
    f: impl Fn(&[f64]) -> f64,
) -> Vec<f64> {
    let mut history = History::new(space.clone(), Duplicates::Avoid);
    for t in 0..rounds {
        let proposal = strategy.propose(&history, None, &mut stream(seed, t)).unwrap();
        let choice = &proposal.choices[0];
        assert!(space.is_feasible(&choice.x));
        assert!(!history.region(&Taken::default()).is_taken(&choice.x, choice.row));
        history.add(choice, value(f(&choice.x)));
    }
    history.values().collect()
}

/// Asserts that a strategy is better than random search in 18 of 20 plays, by a score of the values. Were both as good, that
/// would have probability 2e-4.
pub(crate) fn beats_random_search<S: Strategy>(
    strategy: impl Fn() -> S,
    space: &Space,
    rounds: u64,
    score: impl Fn(&[f64]) -> f64,
    f: impl Fn(&[f64]) -> f64,
) {
    let wins = |seed: &u64| {
        score(&play(&mut strategy(), space, rounds, *seed, &f))
            > score(&play(&mut Random, space, rounds, *seed + 1000, &f))
    };
    let wins = (0..20).filter(wins).count();
    assert!(wins >= 18, "{wins} of 20");
}

/// The largest value.
pub(crate) fn best(values: &[f64]) -> f64 {
    values.iter().copied().fold(f64::NEG_INFINITY, f64::max)
}
