//! How long one suggestion takes, cold and warm.

use std::time::Instant;

use noregret::math::rng::{Purpose, Seed};
use noregret::{Algorithm, Error, Params, Space, Study};
use noregret_problems::Problem;
use serde::Serialize;

use super::SpeedArgs;
use super::machine::milliseconds;
use crate::report::statistics::{mean, median};

/// Times of one suggestion, in milliseconds.
#[derive(Clone, Debug, Serialize)]
pub struct Suggestion {
    /// Observations.
    pub n: usize,
    /// From nothing: the fastest.
    pub cold_ms: f64,
    /// In a running study: the median of the rounds.
    pub warm_median_ms: f64,
    /// ... and their mean, refits and reference solves included.
    pub warm_mean_ms: f64,
    /// Refits among the rounds.
    pub refits: usize,
    /// Likelihoods evaluated by the cold fit.
    pub likelihoods: usize,
    /// Utilities and gradients evaluated by the last warm suggestion.
    pub utilities: usize,
    /// Gradients among them.
    pub gradients: usize,
}

impl Suggestion {
    /// Times suggestions after `n` random observations.
    pub(super) fn measure(
        args: &SpeedArgs,
        algorithm: &str,
        problem: &Problem,
        n: usize,
    ) -> Result<Self, Error> {
        let (mut cold, mut warm, mut refits, mut likelihoods) = (Vec::new(), Vec::new(), 0, 0);
        let (mut utilities, mut gradients) = (0, 0);
        for run in 0..args.options.runs_or(3) {
            let mut study = random_study(algorithm, problem, n, args.options.seed_of(run))?;
            let start = Instant::now();
            let mut trial = study.ask(1)?.remove(0);
            cold.push(milliseconds(start));
            likelihoods = study.diagnostics().and_then(|d| d.model.as_ref()).map_or(0, |m| m.fit.likelihoods);
            // One running study is enough for the warm figures.
            if run > 0 {
                continue;
            }
            for _ in 0..args.rounds {
                study.tell(trial.number, value(problem, &trial.params))?;
                let start = Instant::now();
                trial = study.ask(1)?.remove(0);
                warm.push(milliseconds(start));
                if let Some(diagnostics) = study.diagnostics() {
                    refits += usize::from(diagnostics.model.as_ref().is_some_and(|m| m.refitted));
                    (utilities, gradients) = (diagnostics.work.values, diagnostics.work.gradients);
                }
            }
        }
        Ok(Self {
            n,
            cold_ms: cold.into_iter().fold(f64::INFINITY, f64::min),
            warm_median_ms: median(&warm),
            warm_mean_ms: mean(&warm),
            refits,
            likelihoods,
            utilities,
            gradients,
        })
    }
}

fn random_study(algorithm: &str, problem: &Problem, n: usize, seed: u64) -> Result<Study, Error> {
    let space = Space::bounds(&problem.bounds)?;
    let algorithm = Algorithm::by_name(algorithm)?;
    let mut study = Study::builder().space(space.clone()).algorithm(algorithm).seed(seed).build()?;
    let mut rng = Seed(seed).stream(Purpose::Experiment, n as u64, 0);
    for _ in 0..n {
        let params = space.decode(&space.sample(&mut rng)?);
        study.add(&params, value(problem, &params), None)?;
    }
    Ok(study)
}

fn value(problem: &Problem, params: &Params) -> f64 {
    let x: Vec<f64> = params.iter().filter_map(|(_, v)| v.as_f64()).collect();
    problem.value(&x)
}
