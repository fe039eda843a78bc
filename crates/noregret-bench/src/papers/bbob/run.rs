//! One algorithm on one instance of a function.

use std::collections::BTreeMap;
use std::time::Instant;

use noregret::math::rng::{Purpose, Seed};
use noregret::{Algorithm, Direction, Space, Study};
use rand::RngExt;

use super::problem::Instance;
use super::{EVALUATIONS, FUNCTIONS, INITIAL};
use crate::BenchError;
use crate::papers::neural_bo::as_printed;
use crate::report::{Progress, Record};

/// What is run.
pub(super) struct BbobRun<'a> {
    /// `f1` to `f24`.
    pub(super) function: &'a str,
    pub(super) dims: u32,
    pub(super) setting: &'a str,
    pub(super) algorithm: &'a str,
    pub(super) run: u32,
    pub(super) seed: u64,
}

impl BbobRun<'_> {
    /// The number of the function, from 1.
    pub(super) fn number(&self) -> u32 {
        let found = (1..).zip(FUNCTIONS).find(|(_, known)| *known == self.function);
        found.expect("invariant: names are checked before").0
    }

    /// The number of the instance, from 1.
    pub(super) fn instance(&self) -> u32 {
        self.run + 1
    }

    pub(super) fn evaluations(&self) -> u32 {
        EVALUATIONS * self.dims
    }

    fn problem(&self) -> String {
        format!("{}-{}d", self.function, self.dims)
    }

    /// Whether a record is that of this plan, made earlier.
    pub(super) fn is_of(&self, record: &Record) -> bool {
        record.problem == self.problem()
            && record.setting == self.setting
            && record.algorithm == self.algorithm
            && (record.seed, record.run) == (self.seed, self.run)
            && record.evaluations == self.evaluations() as usize
    }

    /// Runs it; every evaluation counts as a step of `progress`.
    pub(super) fn execute(
        &self,
        problem: &mut Instance<'_>,
        progress: &Progress,
    ) -> Result<Record, BenchError> {
        let (algorithm, initial) = if self.setting == "paper" {
            (as_printed(self.algorithm)?, INITIAL)
        } else {
            (Algorithm::by_name(self.algorithm).map_err(noregret::Error::from)?, 0)
        };
        let space = Space::bounds(&problem.bounds)?;
        let mut study = Study::builder()
            .space(space.clone())
            .direction(Direction::Minimize)
            .algorithm(algorithm)
            .seed(self.seed)
            .trials(self.evaluations() as usize)
            .build()?;
        let (mut best, mut curve) = (f64::INFINITY, Vec::new());
        let (mut cumulative, mut seconds) = (0.0, 0.0);
        // The same for all algorithms: it depends on the seed alone.
        let mut rng = Seed(self.seed).stream(Purpose::Design, 0, 0);
        for _ in 0..initial {
            let u: Vec<f64> = (0..space.dims()).map(|_| rng.random()).collect();
            let x: Vec<f64> =
                u.iter().zip(&problem.bounds).map(|(u, (low, high))| low + u * (high - low)).collect();
            let value = (problem.evaluate)(&x)?;
            study.add(&space.decode(&u), value, None)?;
            best = best.min(value);
            cumulative += value - problem.optimum;
            curve.push(best - problem.optimum);
            progress.advance(1);
        }
        for _ in initial..self.evaluations() {
            let clock = Instant::now();
            let trials = study.ask(1)?;
            seconds += clock.elapsed().as_secs_f64();
            for trial in trials {
                let value = (problem.evaluate)(&trial.numbers())?;
                study.tell(trial.number, value)?;
                best = best.min(value);
                cumulative += value - problem.optimum;
            }
            curve.push(best - problem.optimum);
            progress.advance(1);
        }
        Ok(self.record(curve, cumulative, seconds))
    }

    /// The record of a run. Its curve is the best value so far minus that of the minimum, after every evaluation from the first on.
    pub(super) fn record(&self, regret_curve: Vec<f64>, cumulative_regret: f64, seconds: f64) -> Record {
        let evaluations = self.evaluations() as usize;
        Record {
            experiment: "bbob".into(),
            setting: self.setting.into(),
            problem: self.problem(),
            algorithm: self.algorithm.into(),
            run: self.run,
            seed: self.seed,
            batch: 1,
            rounds: evaluations,
            evaluations,
            simple_regret: regret_curve.last().copied().unwrap_or(f64::NAN),
            cumulative_regret,
            regret_curve,
            seconds_thinking: seconds,
            seconds_per_point: seconds / evaluations as f64,
            extra: BTreeMap::from([
                ("function".to_owned(), self.number().into()),
                ("dims".to_owned(), self.dims.into()),
                ("instance".to_owned(), self.instance().into()),
            ]),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn plan(algorithm: &str) -> BbobRun<'_> {
        BbobRun { function: "f12", dims: 2, setting: "ours", algorithm, run: 4, seed: 9 }
    }

    #[test]
    fn functions_are_named_by_their_numbers() {
        for (number, function) in (1..).zip(FUNCTIONS) {
            assert_eq!(BbobRun { function, ..plan("random") }.number(), number);
        }
    }

    #[test]
    fn methods_of_the_paper_share_their_first_points() {
        let mut all = Vec::new();
        for algorithm in ["gp-ei", "neural-bo-nu10"] {
            let mut points = Vec::new();
            let evaluate = |x: &[f64]| {
                points.push(x.to_vec());
                Ok(x[0] * x[0] + x[1])
            };
            let mut problem =
                Instance { bounds: vec![(-5.0, 5.0); 2], optimum: -5.0, evaluate: Box::new(evaluate) };
            let plan = BbobRun { setting: "paper", ..plan(algorithm) };
            let record = plan.execute(&mut problem, &Progress::new(40, "")).unwrap();
            drop(problem);
            assert!(plan.is_of(&record) && !super::tests::plan(algorithm).is_of(&record));
            assert_eq!((points.len(), record.regret_curve.len()), (40, 40));
            all.push(points);
        }
        assert_eq!(all[0][..INITIAL as usize], all[1][..INITIAL as usize]);
        assert_ne!(all[0][INITIAL as usize], all[1][INITIAL as usize]);
    }

    #[test]
    fn a_run_records_its_regret_after_every_evaluation() {
        let mut values = Vec::new();
        for algorithm in ["random", "gp-ei"] {
            values.clear();
            let evaluate = |x: &[f64]| {
                let value = (x[0] - 1.0).powi(2) + (x[1] + 2.0).powi(2) - 7.0;
                values.push(value);
                Ok(value)
            };
            let mut problem =
                Instance { bounds: vec![(-5.0, 5.0); 2], optimum: -7.0, evaluate: Box::new(evaluate) };
            let plan = plan(algorithm);
            let record = plan.execute(&mut problem, &Progress::new(40, "")).unwrap();
            drop(problem);
            assert!(plan.is_of(&record) && !super::tests::plan("sobol").is_of(&record));
            assert_eq!((record.problem.as_str(), record.evaluations, values.len()), ("f12-2d", 40, 40));
            assert!((record.extra_number("instance") - 5.0).abs() < 1e-15);
            let regret = |n: usize| values[..n].iter().copied().fold(f64::INFINITY, f64::min) + 7.0;
            for (i, found) in record.regret_curve.iter().enumerate() {
                assert!((found - regret(i + 1)).abs() < 1e-12, "{algorithm}, {i}");
            }
            assert!((record.simple_regret - regret(40)).abs() < 1e-12);
        }
    }
}
