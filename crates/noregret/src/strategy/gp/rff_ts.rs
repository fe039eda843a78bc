//! RFF-TS: Thompson sampling in a Bayesian linear regression on random Fourier features.
//! Dai et al. 2022, App. F.3 (Rahimi & Recht 2007; Mutny & Krause 2018): the rival `GP-TS` of STO-BNTS, 1,000 features.
//!
//! # Notation
//! | paper          | here     | shape | meaning                                              |
//! |----------------|----------|-------|------------------------------------------------------|
//! | `phi(x)`       | features | F     | random features of the kernel                        |
//! | `Sigma`        | `A`      | F x F | `Phi^T D^-1 Phi + I`, `D` the noise variances        |
//! | `omega~`       | weights  | F     | `N(A^-1 Phi^T D^-1 y, A^-1)`                         |
//!
//! # Departures
//! Features are not normalised to unit length, which the authors' code does and which changes the kernel. Lengthscales are
//! used by coordinate (their code takes the first for all). Frequencies are drawn anew for every point, also within a batch. The
//! number of features is rounded up to a multiple of 64: 1,000 become 1,024.

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
