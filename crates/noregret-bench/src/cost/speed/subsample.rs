//! What is lost, and saved, by fitting hyperparameters to a part of the data.

use std::time::Instant;

use noregret::math::rng::{Purpose, Seed};
use noregret::strategy::gp::model::GpModel;
use noregret::strategy::history::{Choice, Duplicates, History, Outcome};
use noregret::strategy::memo::Memo;
use noregret::surrogate::gp::GpConfig;
use noregret::{Error, Space};
use noregret_problems::Problem;
use serde::Serialize;

use super::machine::milliseconds;

/// Log likelihood of all data under hyperparameters fitted to all of them and to a subsample.
#[derive(Clone, Debug, Serialize)]
pub struct Subsample {
    /// Observations.
    pub n: usize,
    /// Those used by the fit.
    pub points: usize,
    /// Log likelihood an observation lost, in nats.
    pub nats_lost: f64,
    /// Time of the fit on the subsample over that on all data.
    pub time_ratio: f64,
}

impl Subsample {
    /// Fits on the default subsample and on everything, and compares the likelihoods of everything.
    pub(super) fn measure(problem: &Problem, n: usize, seed: u64) -> Result<Self, Error> {
        let space = Space::bounds(&problem.bounds)?;
        let mut history = History::new(space.clone(), Duplicates::Avoid);
        let mut rng = Seed(seed).stream(Purpose::Experiment, n as u64, 99);
        for _ in 0..n {
            let x = space.sample(&mut rng)?;
            let y = -problem.at_unit(&x);
            history.add(&Choice { x, row: None }, Outcome::Value { y, noise_variance: None });
        }
        let fit = |fit_points: usize| -> Result<(f64, f64), Error> {
            let mut rng = Seed(seed).stream(Purpose::Propose, n as u64, 0);
            let mut model = GpModel::new(GpConfig { fit_points, ..GpConfig::default() }, 1);
            let start = Instant::now();
            let (state, _) = model.update(&history, &mut Memo::default(), &mut rng)?;
            Ok((state.gp().log_likelihood(), milliseconds(start)))
        };
        let most = GpConfig::default().fit_points;
        let (sub, sub_ms) = fit(most)?;
        // Allowed twice as many as there are, the fit uses all of them.
        let (all, all_ms) = fit(2 * n)?;
        let points = most.min(n / 5 * 4);
        Ok(Self { n, points, nats_lost: (all - sub) / n as f64, time_ratio: sub_ms / all_ms })
    }
}
