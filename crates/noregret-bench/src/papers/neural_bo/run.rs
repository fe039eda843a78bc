//! A run of one algorithm on one function.

use std::collections::BTreeMap;
use std::time::Instant;

use crate::report::statistics::standard_deviation;
use noregret::math::rng::{Purpose, Seed};
use noregret::{Direction, Duplicates, Space, Study};
use noregret_problems::Problem;
use rand::RngExt;
use rand_distr::{Distribution, StandardNormal};

use super::{Setting, setting};
use crate::BenchError;
use crate::report::{Progress, Record};

/// Uniform points by which a function's range and deviation are estimated.
const PROBES: usize = 10_000;

/// A function with its noise.
pub(super) struct Target {
    pub(super) problem: Problem,
    /// Standard deviation of the noise.
    pub(super) noise: f64,
}

impl Target {
    /// The function of this name, which must be one of the experiment's; with a seed, its minimum is moved to a place of that seed's.
    pub(super) fn new(name: &str, setting: Setting, shift: Option<u64>) -> Self {
        let mut problem = Problem::by_name(name).expect("invariant: all of these are known, see the test");
        if let Some(seed) = shift {
            problem = problem.shifted(seed);
            problem.name = format!("{name}-shifted");
        }
        let mut rng = Seed(0).stream(Purpose::Experiment, 0, 0);
        let mut probe = || {
            let u: Vec<f64> = (0..problem.dims()).map(|_| rng.random()).collect();
            problem.at_unit(&u)
        };
        let values: Vec<f64> = (0..PROBES).map(|_| probe()).collect();
        let noise = if setting == Setting::Code {
            0.1 * standard_deviation(&values)
        } else {
            let largest = values.iter().copied().fold(f64::NEG_INFINITY, f64::max);
            (0.01 * (largest - problem.minimum)).sqrt()
        };
        Self { problem, noise }
    }
}

/// What is run.
pub(super) struct Plan<'a> {
    pub(super) target: &'a Target,
    pub(super) setting: Setting,
    pub(super) algorithm: &'a str,
    pub(super) rounds: usize,
    pub(super) batch: usize,
    pub(super) run: u32,
    pub(super) seed: u64,
}

impl Plan<'_> {
    /// Whether a record is that of this plan, made earlier.
    pub(super) fn is_of(&self, record: &Record) -> bool {
        record.problem == self.target.problem.name
            && record.algorithm == self.algorithm
            && (record.seed, record.run) == (self.seed, self.run)
            && (record.batch, record.rounds) == (self.batch, self.rounds)
    }

    /// Runs it; every round counts as a step of `progress`.
    pub(super) fn execute(&self, progress: &Progress) -> Result<Record, BenchError> {
        let Self { setting, algorithm, rounds, batch, run, seed, .. } = *self;
        let Target { problem, noise } = self.target;
        let space = Space::bounds(&problem.bounds)?;
        let mut study = Study::builder()
            .space(space.clone())
            .direction(Direction::Minimize)
            .algorithm(setting::algorithm(setting, algorithm)?)
            .duplicates(Duplicates::Avoid)
            .seed(seed)
            .build()?;
        let mut stream = Seed(seed).stream(Purpose::Noise, 0, 0);
        let mut noisy = |value: f64| {
            let z: f64 = StandardNormal.sample(&mut stream);
            value + noise * z
        };
        let mut best = f64::INFINITY;
        // The same for all algorithms: it depends on the seed alone.
        let mut rng = Seed(seed).stream(Purpose::Design, 0, 0);
        for _ in 0..setting::initial_points(setting) {
            let u: Vec<f64> = (0..space.dims()).map(|_| rng.random()).collect();
            let value = problem.at_unit(&u);
            study.add(&space.decode(&u), noisy(value), None)?;
            best = best.min(value);
        }
        let (mut curve, mut cumulative, mut seconds) = (vec![best - problem.minimum], 0.0, 0.0);
        for _ in 0..rounds {
            let clock = Instant::now();
            let trials = study.ask(batch)?;
            seconds += clock.elapsed().as_secs_f64();
            for trial in trials {
                let value = problem.value(&trial.numbers());
                cumulative += value - problem.minimum;
                best = best.min(value);
                study.tell(trial.number, noisy(value))?;
            }
            curve.push(best - problem.minimum);
            progress.advance(1);
        }
        let points = batch * rounds;
        Ok(Record {
            experiment: "neural-bo".into(),
            setting: setting.name().into(),
            problem: problem.name.clone(),
            algorithm: algorithm.into(),
            run,
            seed,
            batch,
            rounds,
            evaluations: setting::initial_points(setting) + points,
            simple_regret: best - problem.minimum,
            cumulative_regret: cumulative,
            regret_curve: curve,
            seconds_thinking: seconds,
            seconds_per_point: seconds / points.max(1) as f64,
            extra: BTreeMap::from([
                ("best_value".to_owned(), best.into()),
                ("noise_sd".to_owned(), (*noise).into()),
            ]),
        })
    }
}

#[cfg(test)]
mod tests {
    use super::super::PROBLEMS;
    use super::*;

    #[test]
    fn every_problem_has_a_target_with_some_noise() {
        for name in PROBLEMS {
            for setting in [Setting::Paper, Setting::Code] {
                let target = Target::new(name, setting, None);
                assert!(target.noise > 0.01 && target.noise < 20.0, "{name}: {}", target.noise);
                assert_eq!(target.problem.name, name);
            }
        }
        // The authors' value for Ackley in two dimensions; the deviation of 10,000 values is exact to some 1 %.
        assert!((Target::new("ackley-2d", Setting::Code, None).noise - 0.238).abs() < 0.008);
    }
}
