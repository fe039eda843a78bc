//! RFF-TS: Thompson sampling in a Bayesian linear regression on random Fourier features.
//! The rival `GP-TS` of STO-BNTS in Dai et al. 2022, App. F.3, which has 1,000 features and prints no formula (Rahimi & Recht 2007; Mutny & Krause
//! 2018); here 1,024 by default.
//!
//! # Notation
//! | usual          | here     | shape | meaning                                              |
//! |----------------|----------|-------|------------------------------------------------------|
//! | `phi(x)`       | features | F     | random features of the kernel                        |
//! | `Sigma`        | `A`      | F x F | `Phi^T D^-1 Phi + I`, `D` the noise variances        |
//! | `omega~`       | weights  | F     | `N(A^-1 Phi^T D^-1 y, A^-1)`                         |
//!
//! # Departures
//! - Features are not normalised to unit length, which the authors' code does and which changes the kernel. Lengthscales are
//!   used by coordinate (their code takes the first for all).
//! - Frequencies are drawn anew for every draw, also within a batch: the error of the features is another one each time, and adds to the spread
//!   of the draws.
//! - The number of features is rounded up to a multiple of 64: 1,000 become 1,024, and exactly 1,000 cannot be had.
//! - The model is that of all algorithms on Gaussian processes: Matérn 5/2 on standardised values, priors of all hyperparameters, and a fit whenever the
//!   evaluations have grown by an eighth. Draws are rougher than with the squared exponential kernel of Dai et al., and hyperparameters
//!   stay near their priors while there are few values. Theirs is `model.kernel = "squared-exponential"`; their code's fits by maximum likelihood are `prior =
//!   "flat"` of `model.lengthscale`, `model.outputscale` and `model.noise` with `model.restarts = 10`, `model.warm_start = false`, `model.standardize = false`. It
//!   fits every 20 points, from variance 0.1 and lengthscale 1; here `model.refit_growth` is a share, and 0 fits with every point; beyond
//!   `model.fit_points`, 500, to a part of the values.
//! - A draw is maximised from 1,000 kept and some fresh candidates by a few climbs (`solver`), where Dai et al. take the best of 10,000 random points and
//!   of 100 climbs from random starts.
//! - A point that was told, is running or is in the batch is not proposed again (`duplicates = "avoid"`, the default of a study): the next best takes its
//!   place. The paper allows repeats: `"replicate"`.

use std::num::NonZeroUsize;

use serde::{Deserialize, Serialize};

use crate::error::Result;
use crate::math::rng::Stream;
use crate::strategy::gp::{GpStrategy, OwnOptions};
use crate::strategy::history::History;
use crate::strategy::turn::Turn;
use crate::strategy::{Proposal, Strategy};
use crate::surrogate::gp::path::FeaturePath;

/// Settings of RFF-TS: none of its own; `model.features` is how many features are drawn.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(default)]
pub struct RffTsConfig {}

/// RFF-TS.
pub type RffTs = GpStrategy<RffTsConfig>;

impl OwnOptions for RffTsConfig {
    const NAME: &'static str = "rff-ts";
    const DRAWS_PATHS: bool = true;
}

impl Strategy for RffTs {
    fn propose(&mut self, history: &History, q: Option<NonZeroUsize>, rng: &mut Stream) -> Result<Proposal> {
        let mut turn = Turn::open(self.name, history, q, self.gp.initial_points, rng)?;
        let Some(gp) = self.model.prepare(&mut turn)? else { return turn.finish() };
        let mut search = self.gp.search(gp, &turn);
        while turn.wants_more() {
            let path = FeaturePath::draw(gp.gp(), gp.values(), self.gp.model.features, turn.rng)?;
            let found = search.maximize(&path, gp, &mut turn);
            gp.condition(turn.push(found)?);
        }
        turn.finish()
    }
}
