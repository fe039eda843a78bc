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
//! used by coordinate (their code takes the first for all).

use std::num::NonZeroUsize;

use serde::{Deserialize, Serialize};

use crate::acquisition::Acquisition;
use crate::error::Error;
use crate::math::rng::Stream;
use crate::maximize::MaximizeError;
use crate::maximize::inexact::Measure;
use crate::maximize::solver::Solver;
use crate::strategy::gp::model::{GpModel, OnModel};
use crate::strategy::gp::search::{self, Course};
use crate::strategy::history::History;
use crate::strategy::{Proposal, Strategy};
use crate::surrogate::gp::GpConfig;
use crate::surrogate::gp::candidates::Candidates;
use crate::surrogate::gp::path::FeaturePath;
use crate::surrogate::points::Points;

/// Settings of RFF-TS.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(default, deny_unknown_fields)]
pub struct RffTsConfig {
    /// The Gaussian process whose features are drawn; `features` says how many.
    pub model: GpConfig,
    /// How the drawn function is maximized.
    pub solver: Solver,
    /// When the maximization is compared with a stronger one.
    pub measure: Measure,
    /// Points before the model is asked; by default a few more than dimensions.
    pub initial_points: Option<usize>,
}

/// RFF-TS.
#[derive(Debug)]
pub struct RffTs {
    config: RffTsConfig,
    model: GpModel,
}

impl TryFrom<RffTsConfig> for RffTs {
    type Error = Error;

    fn try_from(config: RffTsConfig) -> Result<Self, Error> {
        config.model.validate_for_paths()?;
        config.solver.validate()?;
        Ok(Self { model: GpModel::new(config.model.clone()), config })
    }
}

impl Acquisition for FeaturePath {
    fn values(&self, points: &Points) -> Vec<f64> {
        FeaturePath::values(self, points)
    }

    fn value_and_gradient(&self, x: &[f64], gradient: &mut [f64]) -> f64 {
        FeaturePath::value_and_gradient(self, x, gradient)
    }
}

impl OnModel for FeaturePath {
    fn values_at(&self, candidates: &Candidates) -> Vec<f64> {
        FeaturePath::values(self, candidates.points())
    }
}

impl Strategy for RffTs {
    fn propose(
        &mut self,
        history: &History,
        q: Option<NonZeroUsize>,
        rng: &mut Stream,
    ) -> Result<Proposal, Error> {
        let RffTsConfig { solver, measure, initial_points, model } = &self.config;
        let course = Course::new("rff-ts", solver, *measure, *initial_points);
        search::propose(course, &mut self.model, history, q, rng, |now, solve, rng| {
            let path = FeaturePath::draw(now.state.gp(), now.state.values(), model.features, rng)
                .map_err(|_| MaximizeError::NotFinite { tried: 0 })?;
            solve(&path, rng)
        })
    }
}
