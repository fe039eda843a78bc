//! `auto`: the default. Plain for now, and honest about it: expected improvement on a fitted Gaussian process.
//!
//! It says in the diagnostics what it chose and why.

use std::num::NonZeroUsize;

use serde::{Deserialize, Serialize};

use super::gp_ei::{GpEi, GpEiConfig};
use super::history::History;
use super::{Proposal, Strategy};
use crate::error::Error;
use crate::math::rng::Stream;

/// Settings of `auto`: none but the size of the initial design.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(default, deny_unknown_fields)]
pub struct AutoConfig {
    /// Points before the model is asked; by default a few more than dimensions.
    pub initial_points: Option<usize>,
}

/// The default strategy.
#[derive(Debug)]
pub struct Auto {
    inner: GpEi,
}

impl TryFrom<AutoConfig> for Auto {
    type Error = Error;

    fn try_from(config: AutoConfig) -> Result<Self, Error> {
        let inner = GpEiConfig { initial_points: config.initial_points, ..GpEiConfig::default() };
        Ok(Self { inner: inner.try_into()? })
    }
}

impl Strategy for Auto {
    fn propose(
        &mut self,
        history: &History,
        q: Option<NonZeroUsize>,
        rng: &mut Stream,
    ) -> Result<Proposal, Error> {
        let mut proposal = self.inner.propose(history, q, rng)?;
        let d = &mut proposal.diagnostics;
        d.algorithm = "auto".into();
        d.notes.push(if d.model.is_none() {
            "auto chose an initial Sobol design: there are too few values for a model".into()
        } else {
            "auto chose gp-ei: the logarithm of the expected improvement under a Gaussian process fitted to the values".into()
        });
        Ok(proposal)
    }
}
