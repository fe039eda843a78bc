//! Algorithms on neural networks.

pub mod dngo;
pub mod model;
pub mod neural_bo;
pub mod neural_greedy;
pub mod sto_bnts;

use serde::{Deserialize, Serialize};

use crate::error::Result;
use crate::math::range::Range;
use crate::strategy::limits::INITIAL_POINTS;
use crate::strategy::turn::Turn;
use crate::surrogate::neural::{Encoder, NetworkConfig};
use model::CANDIDATES;
use model::encoded_history::{EncodedHistory, Preparation};
use model::search::SearchBudget;

/// Below a thousandth the equations have more digits than 32 bits hold.
const NOISE: Range = Range::new(0.001, 1_000.0);
/// A climb takes milliseconds.
const POLISHED: Range = Range::new(0.0, 1_000.0);

/// Options of the algorithms that fit a network for every point.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(default)]
pub struct FitOptions {
    /// The network.
    pub network: NetworkConfig,
    /// Deviation of the noise, in units of the values as fitted: standardised, unless `standardize = false`. From 0.001 to 1000.
    #[cfg_attr(feature = "schema", schemars(transform = NOISE.stated()))]
    pub noise: f64,
    /// Shift and scale the values to mean 0 and standard deviation 1.
    pub standardize: bool,
    /// Points at which a fitted network is evaluated. From 1 to 1e6.
    #[cfg_attr(feature = "schema", schemars(transform = CANDIDATES.stated()))]
    pub candidates: usize,
    /// Number of climbs, from the best of them. From 0 to 1000.
    #[cfg_attr(feature = "schema", schemars(transform = POLISHED.stated()))]
    pub polished: usize,
    /// Points before the model is asked; by default a few more than dimensions. From 0 to 1e5.
    #[cfg_attr(feature = "schema", schemars(transform = INITIAL_POINTS.stated()))]
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
        NOISE.check("noise", self.noise)?;
        CANDIDATES.check("candidates", self.candidates)?;
        POLISHED.check("polished", self.polished)?;
        Ok(INITIAL_POINTS.check("initial_points", self.initial_points)?)
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

#[cfg(test)]
mod tests {
    use crate::{Algorithm, Params, Space, Study};

    /// The cost of a fit is cubic: four points of sto-bnts once took a minute after 2,000 evaluations, and did not come after 5,000.
    #[test]
    fn the_evaluations_of_a_fit_are_limited() {
        let cases =
            [("sto-bnts", 1_000), ("neural-greedy", 1_000), ("sto-bnts-linear", 2_000), ("neural-ts", 2_000)];
        for (name, most) in cases {
            let algorithm: Algorithm = serde_json::from_value(serde_json::json!({
                "name": name, "network": { "width": 4, "depth": 1 }, "candidates": 20,
                "training": { "name": "gauss-newton", "steps": 1 },
            }))
            .unwrap();
            let space = Space::bounds(&[(0.0, 1.0)]).unwrap();
            let mut study = Study::builder().space(space).algorithm(algorithm).build().unwrap();
            let mut notes = |told: std::ops::Range<usize>| {
                for i in told {
                    let x = (0.618 * i as f64).fract();
                    study.add(&Params::from_iter([("x0", x)]), (x - 0.3).powi(2), None).unwrap();
                }
                study.ask(1).unwrap();
                study.diagnostics().unwrap().notes.join("; ")
            };
            assert_eq!(notes(0..most), "", "{name}");
            let said = notes(most..most + 1);
            let expected = format!("the network is fitted to {most} of {} evaluations", most + 1);
            assert!(said.contains(&expected), "{name}: {said}");
        }
    }
}
