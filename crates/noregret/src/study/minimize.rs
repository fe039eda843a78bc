//! The whole loop in one call, for objectives that are functions.

use super::{Direction, Recommendation, Study, Trial};
use crate::error::Error;
use crate::space::Space;
use crate::strategy::algorithm::Algorithm;

/// Options of [`minimize`].
#[derive(Clone, Debug)]
pub struct MinimizeOptions {
    /// Total number of evaluations, at most 1e9.
    pub trials: usize,
    /// Batch size: points proposed together, at most 1e5.
    pub batch: usize,
    /// The algorithm.
    pub algorithm: Algorithm,
    /// The seed.
    pub seed: u64,
}

impl Default for MinimizeOptions {
    fn default() -> Self {
        Self { trials: 100, batch: 1, algorithm: Algorithm::default(), seed: 0 }
    }
}

/// The result of [`minimize`].
#[derive(Debug)]
pub struct Minimized {
    /// The trial with the smallest value; `None` if all failed.
    pub best: Option<Trial>,
    /// The trial with the smallest posterior mean.
    pub recommended: Option<Recommendation>,
    /// The study, which can be continued.
    pub study: Study,
}

/// Minimizes `objective` over `space`. A value that is not finite counts as a failure. Stops early when a finite space
/// is exhausted.
pub fn minimize(
    space: Space,
    options: &MinimizeOptions,
    mut objective: impl FnMut(&Trial) -> f64,
) -> Result<Minimized, Error> {
    let builder = Study::builder().space(space).direction(Direction::Minimize);
    let builder = builder.algorithm(options.algorithm.clone()).seed(options.seed).trials(options.trials);
    let mut study = builder.build()?;
    while study.trials().len() < options.trials {
        let n = options.batch.max(1).min(options.trials - study.trials().len());
        let trials = match study.ask(n) {
            Ok(trials) => trials,
            Err(error) if error.is_exhausted() => break,
            Err(error) => return Err(error),
        };
        for trial in trials {
            let value = objective(&trial);
            study.tell(trial.number, value)?;
        }
    }
    let recommended = study.recommended()?;
    Ok(Minimized { best: study.best_observed().cloned(), recommended, study })
}
