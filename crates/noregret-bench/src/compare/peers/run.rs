//! One method on one task.

use std::collections::BTreeMap;
use std::fmt;

use noregret::math::rng::{Purpose, Seed};
use rand_distr::{Distribution, StandardNormal};

use super::basin;
use super::contender::Contender;
use super::suite::TaskRun;
use super::task::PointJson;
use crate::BenchError;
use crate::report::Record;

/// What is run.
pub(crate) struct MethodRun<'a> {
    pub(crate) method: &'a str,
    pub(crate) run: &'a TaskRun,
}

impl fmt::Display for MethodRun<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let TaskRun { task, number, .. } = self.run;
        write!(f, "{}, {}, batches of {}, run {number}", self.method, task.name, task.batch)
    }
}

impl MethodRun<'_> {
    /// Whether a record is that of this plan, made earlier.
    pub(crate) fn is_of(&self, record: &Record) -> bool {
        let TaskRun { task, seed, .. } = self.run;
        record.problem == task.name
            && record.algorithm == self.method
            && (record.seed, record.batch, record.evaluations) == (*seed, task.batch, task.evaluations)
    }

    /// Runs it. A method that fails on the way keeps what it has found, and the record says so.
    pub(crate) fn execute(&self, contender: &mut Contender) -> Result<Record, BenchError> {
        let TaskRun { task, seed, .. } = self.run;
        let mut noise = Seed(*seed).stream(Purpose::Noise, 0, 0);
        let mut tally = TaskTally { best: f64::INFINITY, ..TaskTally::default() };
        contender.start(task, *seed)?;
        while tally.done < task.evaluations && contender.problem.is_none() {
            // The design comes at once, batches after it.
            let is_design = tally.done == 0;
            let n = if is_design { task.initial } else { task.batch.min(task.evaluations - tally.done) };
            let (points, asking) = contender.ask(n)?;
            if points.is_empty() {
                contender.problem.get_or_insert("no points were suggested".into());
                break;
            }
            let values: Vec<f64> = points.iter().map(|point| task.value(point)).collect();
            let noisy: Vec<f64> = values
                .iter()
                .map(|value| {
                    let z: f64 = StandardNormal.sample(&mut noise);
                    value + task.noise * z
                })
                .collect();
            let telling = contender.tell(&points, &noisy)?;
            if !is_design {
                tally.seconds += asking + telling;
                tally.points_of_model += points.len();
                tally.rounds += 1;
            }
            tally.evaluated(&points, &values, task.minimum);
        }
        Ok(self.record(tally, contender))
    }

    fn record(&self, tally: TaskTally, contender: &Contender) -> Record {
        let TaskRun { task, number, seed } = self.run;
        let mut extra = BTreeMap::from([("dims".to_owned(), task.problem.dims().into())]);
        if let Some(peak) = contender.peak_mb() {
            extra.insert("peak_mb".into(), peak.into());
        }
        if let Some(version) = contender.version() {
            extra.insert("version".into(), version.into());
        }
        if let Some(point) = tally.best_point.filter(|_| task.is_continuous()) {
            let found = basin::is_global(&task.problem, &task.coordinates(&point));
            extra.insert("global_basin".into(), found.into());
        }
        if let Some(problem) = &contender.problem {
            extra.insert("problem_of_the_method".into(), problem.clone().into());
        }
        Record {
            experiment: "peers".into(),
            setting: "shifted".into(),
            problem: task.name.clone(),
            algorithm: self.method.into(),
            run: *number,
            seed: *seed,
            batch: task.batch,
            rounds: tally.rounds,
            evaluations: task.evaluations,
            simple_regret: tally.best - task.minimum,
            cumulative_regret: tally.cumulative_regret,
            regret_curve: tally.regret_curve,
            seconds_thinking: tally.seconds,
            seconds_per_point: tally.seconds / tally.points_of_model.max(1) as f64,
            extra,
        }
    }
}

/// What adds up during a run.
#[derive(Default)]
struct TaskTally {
    done: usize,
    best: f64,
    best_point: Option<PointJson>,
    regret_curve: Vec<f64>,
    cumulative_regret: f64,
    /// Batches after the design, their points, and the time they took.
    rounds: usize,
    points_of_model: usize,
    seconds: f64,
}

impl TaskTally {
    /// Takes the values of a batch.
    fn evaluated(&mut self, points: &[PointJson], values: &[f64], minimum: f64) {
        for (value, point) in values.iter().zip(points) {
            if *value < self.best {
                (self.best, self.best_point) = (*value, Some(point.clone()));
            }
            self.cumulative_regret += value - minimum;
        }
        self.done += points.len();
        self.regret_curve.push(self.best - minimum);
    }
}
