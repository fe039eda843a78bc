//! Algorithms on neural networks.

pub mod dngo;
pub mod model;
pub mod neural_bo;
pub mod neural_greedy;
pub mod sto_bnts;

use serde::{Deserialize, Serialize};

use crate::error::Result;
use crate::strategy::algorithm::AlgorithmError;
use crate::strategy::turn::Turn;
use crate::surrogate::neural::{Encoder, NetworkConfig};
use model::check_candidates;
use model::encoded_history::{EncodedHistory, Preparation};
use model::search::SearchBudget;

/// Options of the algorithms that fit a network for every point.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(default)]
pub struct FitOptions {
    /// The network.
    pub network: NetworkConfig,
    /// Deviation of the noise, in units of the standardised values.
    pub noise: f64,
    /// Shift and scale the values to mean 0 and standard deviation 1.
    pub standardize: bool,
    /// Points at which a fitted network is evaluated.
    pub candidates: usize,
    /// Number of climbs, from the best of them.
    pub polished: usize,
    /// Points before the model is asked; by default a few more than dimensions.
    pub initial_points: Option<usize>,
}

impl Default for FitOptions {
    fn default() -> Self {
        Self {
            network: NetworkConfig::default(),
            noise: 0.1,
            standardize: true,
            candidates: 10_000,
            polished: 5,
            initial_points: None,
        }
    }
}

impl FitOptions {
    /// Checks what serde cannot.
    fn check(&self) -> Result<()> {
        self.network.validate()?;
        // Below a thousandth the equations have more digits than 32 bits hold.
        let fits = (1e-3..=1e3).contains(&self.noise);
        AlgorithmError::check("noise", self.noise, fits, "from 1e-3 to 1e3")?;
        Ok(check_candidates(self.candidates)?)
    }

    /// The encoding of points, and the evaluations in it, at most `most`; `None` if the turn wants no more points.
    fn prepare(&self, most: usize, turn: &mut Turn<'_>) -> Result<Option<(Encoder, EncodedHistory)>> {
        if !turn.wants_more() {
            return Ok(None);
        }
        let Self { network, noise, standardize, .. } = self;
        let (history, diagnostics) = (turn.history, &mut turn.diagnostics);
        let encoder = network.encoder(history.space())?;
        let how = Preparation { standardize: *standardize, noise: *noise, most, seed: 0 };
        let told = EncodedHistory::new(history, history.len(), &encoder, how, diagnostics);
        Ok(Some((encoder, told)))
    }

    fn budget(&self) -> SearchBudget {
        SearchBudget { candidates: self.candidates, polished: self.polished }
    }
}
