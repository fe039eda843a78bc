//! A run of one algorithm on one set of arms.

use std::collections::BTreeMap;
use std::time::Instant;

use noregret::math::rng::{Purpose, Seed, Stream};
use noregret::{Direction, Duplicates, Error, Pool, Space, Study, Trial};
use rand::RngExt;
use rand_distr::{Distribution, StandardNormal};

use super::problem::ArmSet;
use super::{CURVE, INITIAL, NOISE, setting};
use crate::report::{Progress, Record, peak_memory_mb};
use crate::{BenchError, Setting};

/// The fixed batch of asynchronous Thompson sampling (App. D.1).
const FIXED_BATCH: usize = 30;

/// All that determines a run, besides the arms.
pub(super) struct BbkbRun<'a> {
    pub(super) setting: Setting,
    pub(super) algorithm: &'a str,
    pub(super) rounds: usize,
    pub(super) number: u32,
    pub(super) seed: u64,
}

impl BbkbRun<'_> {
    /// Whether a record is that of this plan, made earlier.
    pub(super) fn is_of(&self, record: &Record, arms: &ArmSet) -> bool {
        record.problem == arms.name
            && record.algorithm == self.algorithm
            && (record.seed, record.run) == (self.seed, self.number)
            && record.evaluations == self.rounds
            && record.extra.get("arms").and_then(serde_json::Value::as_u64) == Some(arms.len() as u64)
    }

    /// Runs it; every pull counts as a step of `progress`.
    pub(super) fn execute(
        &self,
        arms: &ArmSet,
        pool: &Pool,
        progress: &Progress,
    ) -> Result<Record, BenchError> {
        let best = arms.best();
        let mut study = Study::builder()
            .space(Space::pool(pool.clone()))
            .direction(Direction::Maximize)
            .algorithm(setting::algorithm(self.setting, self.algorithm, arms, self.rounds))
            .duplicates(Duplicates::Replicate)
            .seed(self.seed)
            .build()?;
        let mut noise = Seed(self.seed).stream(Purpose::Noise, 0, 0);
        let mut design = Seed(self.seed).stream(Purpose::Design, 0, 0);
        let mut tally = PullTally::new(self.rounds);
        for _ in 0..INITIAL {
            let row = design.random_range(0..arms.len());
            study.add_row(row, noisy(arms.values[row], &mut noise), None)?;
            tally.pull(best - arms.values[row], 0.0);
        }
        while tally.pulls < self.rounds {
            let left = self.rounds - tally.pulls;
            let clock = Instant::now();
            let trials = self.ask(&mut study, left)?;
            let seconds = clock.elapsed().as_secs_f64();
            let size = trials.len().min(left);
            tally.batch(size, seconds);
            for (i, trial) in trials.into_iter().take(left).enumerate() {
                let row = trial.row.expect("invariant: points of a pool are rows");
                tally.pull(best - arms.values[row], if i + 1 == size { seconds } else { 0.0 });
                study.tell(trial.number, noisy(arms.values[row], &mut noise))?;
            }
            progress.advance(size as u64);
            if let Some(diagnostics) = study.diagnostics() {
                tally.count(&diagnostics.counters);
            }
        }
        Ok(self.record(arms, &tally))
    }

    /// The next batch, as large as the algorithm makes it.
    fn ask(&self, study: &mut Study, left: usize) -> Result<Vec<Trial>, Error> {
        match self.algorithm {
            "async-ts" => study.ask(FIXED_BATCH.min(left)),
            "eps-greedy" | "reg-evolution" | "random" => study.ask(1),
            _ => study.ask_batch(),
        }
    }

    fn record(&self, arms: &ArmSet, tally: &PullTally) -> Record {
        let uniform = arms.best() - arms.values.iter().sum::<f64>() / arms.len() as f64;
        let steps = (self.rounds - INITIAL.min(self.rounds)).max(1) as f64;
        let mut extra: BTreeMap<String, serde_json::Value> = BTreeMap::from([
            ("regret_ratio".into(), (tally.regret / (tally.pulls as f64 * uniform)).into()),
            ("batches".into(), tally.sizes.len().into()),
            ("mean_batch".into(), (steps / tally.sizes.len().max(1) as f64).into()),
            ("dictionary".into(), tally.counter("atoms").into()),
            ("gflops".into(), tally.counter("gflops").into()),
            ("rebuilds".into(), tally.counter("rebuilds").into()),
            ("ms_per_step".into(), (1e3 * tally.seconds / steps).into()),
            ("arms".into(), arms.len().into()),
            ("recomputed_share".into(), (tally.recomputed / (steps * arms.len() as f64)).into()),
            ("batch_curve".into(), tally.batch_curve.clone().into()),
            ("time_curve".into(), tally.time_curve.clone().into()),
        ]);
        if let Some(mb) = peak_memory_mb(None) {
            extra.insert("peak_gb".into(), (mb / 1e3).into());
        }
        Record {
            experiment: "bbkb".into(),
            setting: self.setting.name().into(),
            problem: arms.name.into(),
            algorithm: self.algorithm.into(),
            run: self.number,
            seed: self.seed,
            batch: 0,
            rounds: tally.sizes.len(),
            evaluations: tally.pulls,
            simple_regret: tally.simple,
            cumulative_regret: tally.regret,
            regret_curve: tally.curve.iter().map(|(t, regret)| regret / (t * uniform)).collect(),
            seconds_thinking: tally.seconds,
            seconds_per_point: tally.seconds / steps,
            extra,
        }
    }
}

fn noisy(value: f64, noise: &mut Stream) -> f64 {
    let z: f64 = StandardNormal.sample(noise);
    value + NOISE * z
}

/// What a run adds up.
struct PullTally {
    rounds: usize,
    pulls: usize,
    regret: f64,
    simple: f64,
    seconds: f64,
    spent: f64,
    sizes: Vec<usize>,
    /// Confidence bounds computed anew, over all batches.
    recomputed: f64,
    /// Counters of the last batch.
    counters: BTreeMap<String, f64>,
    /// Pulls and cumulative regret, at `CURVE` times.
    curve: Vec<(f64, f64)>,
    batch_curve: Vec<f64>,
    time_curve: Vec<f64>,
}

impl PullTally {
    fn new(rounds: usize) -> Self {
        Self {
            rounds,
            pulls: 0,
            regret: 0.0,
            simple: f64::INFINITY,
            seconds: 0.0,
            spent: 0.0,
            sizes: Vec::new(),
            recomputed: 0.0,
            counters: BTreeMap::new(),
            curve: Vec::new(),
            batch_curve: Vec::new(),
            time_curve: Vec::new(),
        }
    }

    fn batch(&mut self, size: usize, seconds: f64) {
        self.sizes.push(size);
        self.seconds += seconds;
    }

    /// Takes what the algorithm counted for a batch.
    fn count(&mut self, counters: &BTreeMap<String, f64>) {
        self.counters.clone_from(counters);
        self.recomputed += self.counter("recomputed");
    }

    /// A counter of the last batch; 0 for algorithms that do not have it.
    fn counter(&self, name: &str) -> f64 {
        self.counters.get(name).copied().unwrap_or(0.0)
    }

    fn pull(&mut self, regret: f64, seconds: f64) {
        self.pulls += 1;
        self.regret += regret;
        self.simple = self.simple.min(regret);
        self.spent += seconds;
        if (self.pulls * CURVE) / self.rounds > ((self.pulls - 1) * CURVE) / self.rounds {
            self.curve.push((self.pulls as f64, self.regret));
            self.batch_curve.push(self.sizes.last().map_or(1.0, |size| *size as f64));
            self.time_curve.push(self.spent);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::ALGORITHMS;
    use super::super::problem::arm_set;
    use super::*;

    fn short(algorithm: &str, setting: Setting, rounds: usize) -> Record {
        let arms = arm_set("problem-g", None, std::path::Path::new("none")).unwrap();
        let pool = Pool::from_f32(arms.features.clone(), arms.dims).unwrap();
        let progress = Progress::new(1, "test");
        BbkbRun { setting, algorithm, rounds, number: 0, seed: 1 }.execute(&arms, &pool, &progress).unwrap()
    }

    #[test]
    fn every_algorithm_pulls_as_often_as_asked() {
        for algorithm in ALGORITHMS {
            let record = short(algorithm, Setting::Ours, 60);
            assert_eq!(record.evaluations, 60, "{algorithm}");
            assert!(record.extra_number("regret_ratio") > 0.0, "{algorithm}");
        }
        for setting in [Setting::Code, Setting::Paper] {
            assert_eq!(short("bbkb", setting, 60).evaluations, 60);
        }
    }

    /// C = 1 makes batches of one, which is BKB; the local rule makes larger batches than the global one.
    #[test]
    fn rules_order_the_batches() {
        let batches = |algorithm| short(algorithm, Setting::Ours, 400).extra_number("batches");
        let (bkb, global, local) = (batches("bkb"), batches("bbkb"), batches("bbkb-local"));
        assert!(bkb > global && global > local, "{bkb} {global} {local}");
        assert!((bkb - 398.0).abs() < 0.5, "{bkb}");
    }
}
