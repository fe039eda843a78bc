//! The training data of a network.

use crate::maximize::multi_start::top;
use crate::strategy::dataset::{Dataset, mean_and_sd};
use crate::strategy::diagnostics::Diagnostics;
use crate::strategy::history::History;
use crate::strategy::memo::Units;
use crate::surrogate::neural::Encoder;
use crate::surrogate::neural::draw::TrainingData;
use crate::surrogate::points::Points;

/// How many evaluations a network is fitted to, at most, if there is one fit of some steps for a batch: a step costs their cube.
pub(crate) const ONE_FIT: usize = 2_000;
/// The same for a fit of tens of steps for every point of a batch.
pub(crate) const FIT_A_POINT: usize = 1_000;
/// The same for passes over the data, whose cost is linear.
pub(crate) const PASSES: usize = 3_000;
/// Number of the best evaluations that get candidates around them.
pub(super) const CENTERS: usize = 3;
/// Values are clamped to this: their squares must fit into 32 bits.
const LARGEST: f64 = 1e15;

/// How evaluations become training data.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Preparation {
    /// Shift and scale the values to mean 0 and deviation 1.
    pub(crate) standardize: bool,
    /// Deviation of the noise.
    pub(crate) noise: f64,
    /// At most this many evaluations, the best and some of the others ...
    pub(crate) most: usize,
    /// ... by this seed.
    pub(crate) seed: u64,
}

/// The training data of a network, and its points in the unit cube.
pub(crate) struct EncodedHistory {
    pub(crate) data: TrainingData,
    /// The same points in the unit cube.
    pub(crate) points: Points,
}

impl EncodedHistory {
    /// Encodes all evaluations, or a subset if they are too many. Failures take the worst value.
    #[expect(clippy::cast_possible_truncation, reason = "networks work with 32 bits")]
    pub(crate) fn new(
        history: &History,
        evaluations: usize,
        encoder: &Encoder,
        Preparation { standardize, noise, most, seed }: Preparation,
        diagnostics: &mut Diagnostics,
    ) -> Self {
        let data = Dataset::at_most(most, history, evaluations, seed);
        if let Some(told) = data.subset_of {
            diagnostics.notes.push(format!(
                "the network is fitted to {} of {told} evaluations: all of them would be too slow",
                data.values.len()
            ));
        }
        let (mean, sd) = if standardize { mean_and_sd(&data.values) } else { (0.0, 1.0) };
        let data = data.standardized(&Units { warp: None, mean, sd });
        let usual = noise * noise;
        // A known noise variance replaces the usual one, within the range of 32 bits.
        let weight =
            |known: &Option<f64>| known.map_or(1.0, |v| (usual / v.max(1e-6)).clamp(1e-12, 1e4) as f32);
        let far = data.values.iter().filter(|y| y.abs() > LARGEST).count();
        if far > 0 {
            diagnostics.notes.push(format!(
                "{far} values beyond {LARGEST:e} count as that much: standardize = true would tell them apart"
            ));
        }
        Self {
            data: TrainingData {
                x: encoder.encode(&data.points, 0..data.points.len()),
                y: data.values.iter().map(|y| y.clamp(-LARGEST, LARGEST) as f32).collect(),
                weights: data.known_noise.iter().map(weight).collect(),
                noise: noise as f32,
            },
            points: data.points,
        }
    }

    /// The points with the best values.
    pub(crate) fn centers(&self) -> Vec<Vec<f64>> {
        let y: Vec<f64> = self.data.y.iter().map(|y| f64::from(*y)).collect();
        top(&y, CENTERS).into_iter().map(|i| self.points.point(i)).collect()
    }
}
