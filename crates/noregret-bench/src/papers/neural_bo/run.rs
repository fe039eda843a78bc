//! A run of one algorithm on one function.

use std::collections::BTreeMap;
use std::time::Instant;

use noregret::math::rng::{Purpose, Seed};
use noregret::{Direction, Duplicates, Space, Study};
use rand::RngExt;
use rand_distr::{Distribution, StandardNormal};

use super::problem::NoisyProblem;
use super::{Setting, setting};
use crate::BenchError;
use crate::report::statistics::mean;
use crate::report::{Progress, Record};

/// What is run.
pub(super) struct NeuralBoRun<'a> {
    pub(super) target: &'a NoisyProblem,
    pub(super) setting: Setting,
    pub(super) algorithm: &'a str,
    pub(super) rounds: usize,
    pub(super) batch: usize,
    /// In place of the setting's.
    pub(super) candidates: Option<usize>,
    pub(super) run: u32,
    pub(super) seed: u64,
}

impl NeuralBoRun<'_> {
    /// Whether a record is that of this plan, made earlier.
    pub(super) fn is_of(&self, record: &Record) -> bool {
        record.problem == self.target.problem.name
            && record.setting == self.setting.name()
            && record.algorithm == self.algorithm
            && (record.seed, record.run) == (self.seed, self.run)
            && (record.batch, record.rounds) == (self.batch, self.rounds)
            && record.extra.get("candidates").and_then(serde_json::Value::as_u64)
                == self.candidates.map(|candidates| candidates as u64)
    }

    fn study(&self, space: &Space) -> Result<Study, BenchError> {
        let study = Study::builder()
            .space(space.clone())
            .direction(Direction::Minimize)
            .algorithm(setting::algorithm(self.setting, self.algorithm, self.candidates)?)
            .duplicates(Duplicates::Avoid)
            .seed(self.seed)
            .build()?;
        Ok(study)
    }

    /// Runs it; every round counts as a step of `progress`.
    pub(super) fn execute(&self, progress: &Progress) -> Result<Record, BenchError> {
        let Self { setting, algorithm, rounds, batch, run, seed, .. } = *self;
        let NoisyProblem { problem, noise } = self.target;
        let space = Space::bounds(&problem.bounds)?;
        let mut study = self.study(&space)?;
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
        let (mut rate_factors, mut diverged) = (Vec::new(), 0_u32);
        for _ in 0..rounds {
            let clock = Instant::now();
            let trials = study.ask(batch)?;
            seconds += clock.elapsed().as_secs_f64();
            if let Some(said) = study.diagnostics() {
                rate_factors.extend(said.counters.get("rate_shortened_to"));
                diverged += u32::from(said.notes.iter().any(|note| note.contains("diverged")));
            }
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
        let mut extra = BTreeMap::from([
            ("best_value".to_owned(), best.into()),
            ("noise_sd".to_owned(), (*noise).into()),
            ("trainings_diverged".to_owned(), diverged.into()),
        ]);
        if let Some(candidates) = self.candidates {
            extra.insert("candidates".to_owned(), candidates.into());
        }
        if !rate_factors.is_empty() {
            extra.insert("rate_factor".to_owned(), mean(&rate_factors).into());
        }
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
            extra,
        })
    }
}
