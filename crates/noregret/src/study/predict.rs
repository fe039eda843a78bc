//! What the model expects elsewhere: for plots, and for whoever wants to ask before trying.

use super::Direction;
use super::recommend::posterior;
use crate::error::Error;
use crate::math::rng::Stream;
use crate::space::Params;
use crate::strategy::history::History;
use crate::surrogate::Surrogate;
use crate::surrogate::points::Points;

/// The posterior of the noise-free objective at some points, in the user's units.
#[derive(Clone, Debug, PartialEq)]
pub struct Prediction {
    /// What is expected.
    pub mean: Vec<f64>,
    /// How sure that is: standard deviations.
    pub sd: Vec<f64>,
}

/// By the model that recommends; `None` if nothing was told.
pub(super) fn predict(
    history: &History,
    direction: Direction,
    points: &[Params],
    rng: &mut Stream,
) -> Result<Option<Prediction>, Error> {
    let mut encoded = Points::new(history.space().dims());
    for params in points {
        encoded.push(&history.space().encode(params)?);
    }
    let Some((gp, fit)) = posterior(history, rng)? else { return Ok(None) };
    let values = gp.marginals(&encoded);
    let mean = values.mean.iter().map(|m| direction.flip(fit.mean + fit.sd * m)).collect();
    let sd = values.variance.iter().map(|v| fit.sd * v.sqrt()).collect();
    Ok(Some(Prediction { mean, sd }))
}
