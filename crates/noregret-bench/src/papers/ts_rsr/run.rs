//! A run of one algorithm on one function.

use std::collections::BTreeMap;
use std::time::Instant;

use noregret::math::rng::{Purpose, Seed, Stream};
use noregret::{Direction, Duplicates, Params, Space, Study};
use rand::RngExt;
use rand_distr::{Distribution, StandardNormal};

use super::problem::Target;
use super::setting::{self, NOISE};
use super::tables::TableRow;
use crate::report::Record;
use crate::{BenchError, Setting};

/// Initial points.
const INITIAL: usize = 15;

/// All that determines a run.
#[derive(Clone, Copy)]
pub(super) struct TsRsrRun<'a> {
    pub(super) row: &'a TableRow,
    pub(super) target: &'a Target,
    pub(super) setting: Setting,
    pub(super) algorithm: &'a str,
    pub(super) number: u32,
    pub(super) seed: u64,
}

impl TsRsrRun<'_> {
    /// Whether a record is that of this plan, made earlier.
    pub(super) fn is_of(&self, record: &Record) -> bool {
        record.problem == self.row.problem
            && record.algorithm == self.algorithm
            && (record.seed, record.run) == (self.seed, self.number)
            && (record.batch, record.rounds) == (self.row.batch, self.row.rounds)
    }

    /// Runs it.
    pub(super) fn execute(&self) -> Result<Record, BenchError> {
        let space = Space::bounds(&self.target.bounds)?;
        let mut study = self.study(&space, self.seed)?;
        let mut noise = Seed(self.seed).stream(Purpose::Noise, 0, 0);
        let mut seen = Seen::default();
        // The same for all algorithms: it depends on the seed alone.
        let mut rng = Seed(self.seed).stream(Purpose::Design, 0, 0);
        for _ in 0..INITIAL {
            let u: Vec<f64> = (0..space.dims()).map(|_| rng.random()).collect();
            let params = space.decode(&u);
            let x: Vec<f64> = params.iter().filter_map(|(_, value)| value.as_f64()).collect();
            let regret = self.target.regret(&x);
            study.add(&params, noisy(regret, NOISE, &mut noise), None)?;
            seen.push(params, regret);
        }
        let mut tally = BatchTally { regret_curve: vec![seen.best()], ..BatchTally::default() };
        for round in 0..self.row.rounds {
            if setting::draws_noise_anew(self.setting) {
                study = self
                    .study(&space, Seed(self.seed).stream(Purpose::Experiment, round as u64, 0).random())?;
                let sd = NOISE * seen.deviation();
                for (params, regret) in &seen.points {
                    study.add(params, noisy(*regret, sd, &mut noise), None)?;
                }
            }
            let clock = Instant::now();
            let trials = study.ask(self.row.batch)?;
            tally.seconds += clock.elapsed().as_secs_f64();
            let redrawn = study.diagnostics().and_then(|d| d.counters.get("redrawn").copied());
            tally.rounds_redrawn += usize::from(redrawn.is_some_and(|count| count > 0.0));
            let points: Vec<Vec<f64>> =
                trials.iter().map(|trial| space.encode(&trial.params)).collect::<Result<_, _>>()?;
            tally.distances += smallest_distance(&points);
            for trial in trials {
                let regret = self.target.regret(&trial.numbers());
                tally.cumulative_regret += regret;
                study.tell(trial.number, noisy(regret, NOISE, &mut noise))?;
                seen.push(trial.params, regret);
            }
            tally.regret_curve.push(seen.best());
        }
        Ok(self.record(tally, seen.best()))
    }

    fn study(&self, space: &Space, seed: u64) -> Result<Study, noregret::Error> {
        let (low, high) = self.target.bounds[0];
        Study::builder()
            .space(space.clone())
            .direction(Direction::Minimize)
            .algorithm(setting::algorithm(self.setting, self.algorithm, self.row.problem, high - low))
            .duplicates(Duplicates::Avoid)
            .seed(seed)
            .build()
    }

    fn record(&self, tally: BatchTally, simple_regret: f64) -> Record {
        let TableRow { problem, batch, rounds, .. } = *self.row;
        let points = batch * rounds;
        Record {
            experiment: "ts-rsr".into(),
            setting: self.setting.name().into(),
            problem: problem.into(),
            algorithm: self.algorithm.into(),
            run: self.number,
            seed: self.seed,
            batch,
            rounds,
            evaluations: INITIAL + points,
            simple_regret,
            cumulative_regret: tally.cumulative_regret,
            regret_curve: tally.regret_curve,
            seconds_thinking: tally.seconds,
            seconds_per_point: tally.seconds / points as f64,
            extra: BTreeMap::from([
                ("smallest_distance".to_owned(), (tally.distances / rounds as f64).into()),
                ("rounds_redrawn".to_owned(), tally.rounds_redrawn.into()),
            ]),
        }
    }
}

/// What adds up during a run.
#[derive(Default)]
struct BatchTally {
    regret_curve: Vec<f64>,
    cumulative_regret: f64,
    seconds: f64,
    /// Sum over rounds of the smallest distance within the batch.
    distances: f64,
    /// Rounds in which some sampled maximum had to be drawn again.
    rounds_redrawn: usize,
}

/// The points evaluated so far, each with its regret.
#[derive(Default)]
struct Seen {
    points: Vec<(Params, f64)>,
}

impl Seen {
    fn push(&mut self, params: Params, regret: f64) {
        self.points.push((params, regret));
    }

    fn best(&self) -> f64 {
        self.points.iter().map(|(_, regret)| *regret).fold(f64::INFINITY, f64::min)
    }

    /// The standard deviation of the regrets.
    fn deviation(&self) -> f64 {
        let n = self.points.len() as f64;
        let mean = self.points.iter().map(|(_, regret)| regret / n).sum::<f64>();
        self.points.iter().map(|(_, regret)| (regret - mean).powi(2) / n).sum::<f64>().sqrt()
    }
}

fn noisy(regret: f64, sd: f64, noise: &mut Stream) -> f64 {
    let z: f64 = StandardNormal.sample(noise);
    regret + sd * z
}

/// The smallest distance between two points of a batch, in the unit cube.
fn smallest_distance(points: &[Vec<f64>]) -> f64 {
    let distance = |a: &[f64], b: &[f64]| a.iter().zip(b).map(|(a, b)| (a - b).powi(2)).sum::<f64>().sqrt();
    let mut least = f64::INFINITY;
    for (i, a) in points.iter().enumerate() {
        for b in &points[..i] {
            least = least.min(distance(a, b));
        }
    }
    if least.is_finite() { least } else { 0.0 }
}

#[cfg(test)]
mod tests {
    use super::super::ALGORITHMS;
    use super::super::tables::ROWS;
    use super::*;

    fn short(problem: &str, setting: Setting, algorithm: &str) -> Record {
        let row = ROWS.iter().find(|row| row.problem == problem).unwrap();
        let row = &TableRow { rounds: 3, ..*row };
        let target = &Target::new(problem, setting, 0);
        TsRsrRun { row, target, setting, algorithm, number: 0, seed: 7 }.execute().unwrap()
    }

    #[test]
    fn every_algorithm_runs_in_every_setting() {
        for setting in Setting::ALL {
            for algorithm in ALGORITHMS {
                let record = short("ackley-2d", setting, algorithm);
                assert_eq!(
                    (record.evaluations, record.regret_curve.len()),
                    (30, 4),
                    "{setting:?} {algorithm}"
                );
                assert!(record.regret_curve.is_sorted_by(|a, b| a >= b));
            }
        }
    }

    #[test]
    fn designs_are_shared_and_runs_repeat() {
        let (a, b) = (short("bird-2d", Setting::Code, "ts-rsr"), short("bird-2d", Setting::Code, "sp"));
        assert_eq!(a.regret_curve[0].to_bits(), b.regret_curve[0].to_bits());
        assert_eq!(a.regret_curve, short("bird-2d", Setting::Code, "ts-rsr").regret_curve);
    }

    /// Batches of TS-RSR are spread wider than those of Thompson sampling, by the mean over rounds and fixed seeds, on the
    /// functions of two and three dimensions; for the others, which take longer, see docs/reproduction/ts-rsr.md.
    #[test]
    fn batches_are_diverse() {
        for row in ROWS.iter().filter(|row| row.table < 3) {
            let distance = |algorithm| {
                let row = &TableRow { rounds: 15, ..*row };
                let setting = Setting::Code;
                let run = |seed| {
                    let target = &Target::new(row.problem, setting, seed);
                    let run = TsRsrRun { row, target, setting, algorithm, number: 0, seed };
                    run.execute().unwrap().extra_number("smallest_distance")
                };
                (0..3).map(run).sum::<f64>() / 3.0
            };
            let (ours, theirs) = (distance("ts-rsr"), distance("ts"));
            assert!(ours > theirs, "{}: {ours} {theirs}", row.problem);
        }
    }

    /// Now and then a sampled maximum is below the largest mean and is drawn again; the other algorithms draw no maxima.
    #[test]
    fn rounds_with_new_draws_are_counted() {
        let redrawn = |algorithm| short("ackley-2d", Setting::Ours, algorithm).extra_number("rounds_redrawn");
        assert!(redrawn("ts-rsr") > 0.0 && redrawn("ts").abs() < 1e-15, "{}", redrawn("ts-rsr"));
    }
}
