//! The initial design of a study with a network.

use std::num::NonZeroUsize;

use rand::Rng;
use serde::{Deserialize, Serialize};

use crate::error::Result;
use crate::math::rng::Stream;
use crate::maximize::MaximizeError;
use crate::strategy::history::{Choice, History};
use crate::strategy::turn::{Turn, opening};
use crate::surrogate::neural::NetworkConfig;
use crate::surrogate::neural::uncertainty_sampling::most_uncertain;
use crate::surrogate::points::Points;

/// Candidates of which the most uncertain become the initial design.
const UNCERTAIN: usize = 2_000;

/// Where the first points come from.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "kebab-case")]
pub enum Initial {
    /// Scrambled Sobol points, or random rows of a pool.
    #[default]
    Sobol,
    /// The points of the largest variance under the tangent kernel (Dai et al. 2022, eq. (4)).
    Uncertainty,
}

/// The first points of these algorithms.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Opening<'a> {
    /// The network that will be trained on them.
    pub(crate) network: &'a NetworkConfig,
    /// Deviation of the noise.
    pub(crate) noise: f64,
    /// Where they come from ...
    pub(crate) initial: Initial,
    /// ... and how many they are.
    pub(crate) points: Option<usize>,
}

impl<'b> Opening<'b> {
    /// Scrambled Sobol points.
    pub(crate) fn sobol(network: &'b NetworkConfig, points: Option<usize>) -> Self {
        Self { network, noise: 0.0, initial: Initial::Sobol, points }
    }

    /// Opens a turn with its share of the initial design.
    pub(crate) fn open<'a>(
        &self,
        name: &'static str,
        history: &'a History,
        q: Option<NonZeroUsize>,
        rng: &'a mut Stream,
    ) -> Result<Turn<'a>> {
        // Reject a network that does not fit the space before anything is evaluated.
        self.network.encoder(history.space())?;
        let mut turn = Turn::begin(name, history, q, rng);
        let count = turn.design_size(self.points);
        match self.initial {
            Initial::Sobol => opening::add_sobol(&mut turn, count)?,
            Initial::Uncertainty => self.add_uncertain(&mut turn, count)?,
        }
        Ok(turn)
    }

    /// Points of the largest variance under the tangent kernel of a fresh network, given recent evaluations and running points.
    fn add_uncertain(&self, turn: &mut Turn<'_>, count: usize) -> Result<()> {
        if count == 0 {
            return Ok(());
        }
        turn.diagnostics.design_points = count;
        let history = turn.history;
        let encoder = self.network.encoder(history.space())?;
        let network = self.network.network(encoder.inputs());
        let theta = network.init(turn.rng);
        let told = history.points();
        let mut known = told.slice(told.len().saturating_sub(UNCERTAIN)..told.len());
        history.pending().for_each(|choice| known.push(&choice.x));
        let known = encoder.encode(&known, 0..known.len());
        let choices = random_choices(turn)?;
        let mut points = Points::new(history.space().dims());
        choices.iter().for_each(|choice| points.push(&choice.x));
        let x = encoder.encode(&points, 0..points.len());
        let noise = self.noise * self.noise;
        for i in most_uncertain(&network, &theta, known.as_ref(), x.as_ref(), count, noise) {
            turn.push_choice(choices[i].clone())?;
        }
        while turn.choices().len() < count {
            turn.push_random()?;
        }
        Ok(())
    }
}

/// Distinct points that are not taken.
fn random_choices(turn: &mut Turn<'_>) -> Result<Vec<Choice>> {
    let space = turn.history.space();
    let mut choices = Vec::new();
    for _ in 0..UNCERTAIN {
        let choice = match space.as_pool() {
            Some(pool) => {
                let row = usize::try_from(turn.rng.next_u64() % pool.len() as u64).unwrap_or(0);
                Choice { x: pool.point(row), row: Some(row) }
            }
            None => Choice { x: space.sample(turn.rng).map_err(MaximizeError::from)?, row: None },
        };
        if !turn.is_taken(&choice) && !choices.contains(&choice) {
            choices.push(choice);
        }
    }
    Ok(choices)
}
