//! A run of one algorithm on one function.

use std::collections::BTreeMap;
use std::time::Instant;

use noregret::math::rng::{Purpose, Seed, Stream};
use noregret::study::{Event, Told};
use noregret::{Algorithm, Direction, Duplicates, Space, Study};
use rand::RngExt;
use rand_distr::{Distribution, StandardNormal};

use super::problem::Target;
use super::setting;
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
        let noise_sd = self.row.noise;
        let mut seen = Seen::default();
        // The same for all algorithms: it depends on the seed alone.
        let mut rng = Seed(self.seed).stream(Purpose::Design, 0, 0);
        for _ in 0..INITIAL {
            let u: Vec<f64> = (0..space.dims()).map(|_| rng.random()).collect();
            let params = space.decode(&u);
            let x: Vec<f64> = params.iter().filter_map(|(_, value)| value.as_f64()).collect();
            let regret = self.target.regret(&x);
            seen.push(study.add(&params, noisy(regret, noise_sd, &mut noise), None)?, regret);
        }
        let mut tally = BatchTally { regret_curve: vec![seen.best()], ..BatchTally::default() };
        for _ in 0..self.row.rounds {
            if setting::draws_noise_anew(self.setting) {
                // The same study goes on, so that rounds are counted: its values are told again.
                let sd = noise_sd * seen.deviation();
                for &(number, regret) in &seen.points {
                    study.absorb(Told { number, value: noisy(regret, sd, &mut noise), noise_var: None })?;
                }
            }
            let clock = Instant::now();
            let trials = study.ask(self.row.batch)?;
            tally.seconds += clock.elapsed().as_secs_f64();
            let counter = |name: &str| study.diagnostics().and_then(|d| d.counters.get(name).copied());
            tally.rounds_redrawn += usize::from(counter("redrawn").is_some_and(|count| count > 0.0));
            match counter("rho") {
                Some(rho) => tally.rho = tally.rho.max(rho),
                None => tally.rounds_without_rho += 1,
            }
            let points: Vec<Vec<f64>> =
                trials.iter().map(|trial| space.encode(&trial.params)).collect::<Result<_, _>>()?;
            tally.distances += smallest_distance(&points);
            for trial in trials {
                let regret = self.target.regret(&trial.numbers());
                tally.cumulative_regret += regret;
                study.tell(trial.number, noisy(regret, noise_sd, &mut noise))?;
                seen.push(trial.number, regret);
            }
            tally.regret_curve.push(seen.best());
        }
        tally.rounds_counted = study.events().iter().rev().find_map(|event| match event {
            Event::Asked(asked) => asked.memo.rounds.map(|rounds| rounds.begun),
            _ => None,
        });
        Ok(self.record(tally, seen.best()))
    }

    fn study_algorithm(&self) -> Algorithm {
        let (low, high) = self.target.bounds[0];
        setting::algorithm(self.setting, self.algorithm, self.row, high - low)
    }

    fn study(&self, space: &Space, seed: u64) -> Result<Study, noregret::Error> {
        Study::builder()
            .space(space.clone())
            .direction(Direction::Minimize)
            .algorithm(self.study_algorithm())
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
                // Of the rounds that chose by eq. (4.2); 0 if none did.
                ("rho".to_owned(), tally.rho.into()),
                ("rounds_explored".to_owned(), tally.rounds_without_rho.into()),
                // By the algorithm, if its weights depend on them.
                ("rounds_counted".to_owned(), tally.rounds_counted.into()),
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
    /// The largest `rho_m`, estimated from below at the start of each round.
    rho: f64,
    /// Rounds without an estimate: all of the other algorithms', and those of the initial exploration.
    rounds_without_rho: usize,
    /// Rounds that the study itself counted: all of them, if one study lasts from the first to the last.
    rounds_counted: Option<usize>,
}

/// The trials evaluated so far, each with its regret.
#[derive(Default)]
struct Seen {
    points: Vec<(u64, f64)>,
}

impl Seen {
    fn push(&mut self, number: u64, regret: f64) {
        self.points.push((number, regret));
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
    use super::super::tables::{EXTRA, ROWS};
    use super::*;

    fn short(problem: &str, setting: Setting, algorithm: &str) -> Record {
        let row = ROWS.iter().chain(&EXTRA).find(|row| row.problem == problem).unwrap();
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

    /// Batches of TS-RSR are spread wider than those of Thompson sampling, by the mean over rounds and fixed seeds, on the functions
    /// of Table 2. For those of Table 1, of which each seed has another and three say nothing, and those of Table 3, which take
    /// longer, see docs/reproduction/ts-rsr.md.
    #[test]
    fn batches_are_diverse() {
        for row in ROWS.iter().filter(|row| row.table == 2) {
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

    /// Where noise is drawn anew, as in setting `code`, values are told again, and the study goes on: the weights of `bucb` and
    /// `ucb-pe` and the temperature of `sp` go by the round of the experiment.
    #[test]
    fn rounds_are_counted_where_noise_is_drawn_anew() {
        assert!(setting::draws_noise_anew(Setting::Code));
        for setting in Setting::ALL {
            for algorithm in ["bucb", "ucb-pe", "sp"] {
                let counted = short("bird-2d", setting, algorithm).extra_number("rounds_counted");
                assert!((counted - 3.0).abs() < 1e-15, "{setting:?} {algorithm}: {counted}");
            }
        }
    }

    /// App. B.1 where the noise is as large as its bound needs: the exploration ends, and `rho_m` is at most `e` from then on
    /// (Lemma B.2). Without it, `rho_m` is larger.
    #[test]
    fn exploration_bounds_rho() {
        let row = EXTRA.iter().find(|row| row.problem == "gp-noisy-2d").unwrap();
        let target = &Target::new(row.problem, Setting::Paper, 0);
        let run = |algorithm| {
            let run = TsRsrRun { row, target, setting: Setting::Paper, algorithm, number: 0, seed: 1 };
            let record = run.execute().unwrap();
            (record.extra_number("rho"), record.extra_number("rounds_explored"))
        };
        let ((with, explored), (without, none)) = (run("ts-rsr-explore"), run("ts-rsr"));
        assert!(with > 1.0 && with <= 1.0_f64.exp() && without > 1.0_f64.exp(), "{with} {without}");
        assert!(explored > 1.0 && explored < row.rounds as f64 && none.abs() < 1e-15, "{explored} {none}");
    }

    /// Now and then a sampled maximum is below the largest mean and is drawn again; the other algorithms draw no maxima.
    #[test]
    fn rounds_with_new_draws_are_counted() {
        let redrawn = |algorithm| short("ackley-2d", Setting::Ours, algorithm).extra_number("rounds_redrawn");
        assert!(redrawn("ts-rsr") > 0.0 && redrawn("ts").abs() < 1e-15, "{}", redrawn("ts-rsr"));
    }
}
