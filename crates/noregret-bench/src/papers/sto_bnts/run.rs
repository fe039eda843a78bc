//! A run of one variant on one objective.

use std::collections::BTreeMap;
use std::time::Instant;

use noregret::math::rng::{Purpose, Seed};
use noregret::{Direction, Duplicates, Study};

use super::problem::{Objective, Start};
use super::setting::Variant;
use super::{Setting, setting};
use crate::BenchError;
use crate::report::{Progress, Record};

/// What is run.
pub(super) struct StoBntsRun<'a> {
    pub(super) objective: &'a Objective,
    pub(super) setting: Setting,
    pub(super) variant: Variant,
    pub(super) rounds: usize,
    pub(super) run: u32,
    pub(super) seed: u64,
}

impl StoBntsRun<'_> {
    /// Whether a record is that of this plan, made earlier.
    pub(super) fn is_of(&self, record: &Record) -> bool {
        record.problem == self.objective.name
            && record.algorithm == self.variant.name
            && (record.seed, record.run) == (self.seed, self.run)
            && (record.batch, record.rounds) == (self.variant.batch, self.rounds)
    }

    /// Runs it; every iteration counts as a step of `progress`.
    pub(super) fn execute(&self, progress: &Progress) -> Result<Record, BenchError> {
        let Self { objective, setting, variant, rounds, run, seed } = *self;
        let mut study = Study::builder()
            .space(objective.space.clone())
            .direction(Direction::Maximize)
            .algorithm(setting::algorithm(setting, variant, objective.name)?)
            .duplicates(Duplicates::Replicate)
            .seed(seed)
            .build()?;
        // Both depend on the seed alone, so that the initial points are the same for all.
        let mut design = Seed(seed).stream(Purpose::Design, 0, 0);
        let mut noise = Seed(seed).stream(Purpose::Noise, 0, 0);
        let mut best = f64::NEG_INFINITY;
        for _ in 0..objective.initial {
            let (start, value, observed) = objective.random(&mut design, &mut noise);
            match start {
                Start::Row(row) => study.add_row(row, observed, None)?,
                Start::Params(params) => study.add(&params, observed, None)?,
            };
            best = best.max(value);
        }
        let (mut curve, mut cumulative, mut seconds) = (vec![objective.maximum - best], 0.0, 0.0);
        for _ in 0..rounds {
            let clock = Instant::now();
            let trials = study.ask(variant.batch)?;
            seconds += clock.elapsed().as_secs_f64();
            for trial in trials {
                let (value, observed) = objective.evaluate(&trial, &mut noise);
                cumulative += objective.maximum - value;
                best = best.max(value);
                study.tell(trial.number, observed)?;
            }
            curve.push(objective.maximum - best);
            progress.advance(1);
        }
        let points = variant.batch * rounds;
        let area = curve[1..].iter().sum::<f64>() / rounds.max(1) as f64;
        Ok(Record {
            experiment: "sto-bnts".into(),
            setting: setting.name().into(),
            problem: objective.name.into(),
            algorithm: variant.name.into(),
            run,
            seed,
            batch: variant.batch,
            rounds,
            evaluations: objective.initial + points,
            simple_regret: objective.maximum - best,
            cumulative_regret: cumulative,
            regret_curve: curve,
            seconds_thinking: seconds,
            seconds_per_point: seconds / points.max(1) as f64,
            extra: BTreeMap::from([("area".to_owned(), area.into()), ("best_value".to_owned(), best.into())]),
        })
    }
}
