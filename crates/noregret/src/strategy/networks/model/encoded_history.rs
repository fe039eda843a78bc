//! What a network is fitted to.

use crate::maximize::multi_start::top;
use crate::strategy::dataset::{Dataset, mean_and_sd};
use crate::strategy::diagnostics::Diagnostics;
use crate::strategy::history::History;
use crate::strategy::memo::Units;
use crate::surrogate::neural::Encoder;
use crate::surrogate::neural::draw::TrainingData;
use crate::surrogate::points::Points;

/// Beyond this many evaluations a network is fitted to half as many of them: fits take the cube.
const MAX_POINTS: usize = 8_000;
/// How many of the best evaluations have candidates around them.
pub(super) const CENTERS: usize = 3;
/// Values beyond this are no longer told apart: 32 bits, squared.
const LARGEST: f64 = 1e15;

/// What a network is fitted to, and what its values mean.
pub(crate) struct EncodedHistory {
    pub(crate) data: TrainingData,
    /// The same points in the unit cube.
    pub(crate) points: Points,
}

impl EncodedHistory {
    /// All evaluations, or a subset of them if they are too many. Failures stand with the worst value.
    #[expect(clippy::cast_possible_truncation, reason = "networks work with 32 bits")]
    pub(crate) fn new(
        history: &History,
        evaluations: usize,
        encoder: &Encoder,
        standardize: bool,
        noise: f64,
        seed: u64,
        diagnostics: &mut Diagnostics,
    ) -> Self {
        let data = Dataset::new(MAX_POINTS, history, evaluations, seed);
        if let Some(told) = data.subset_of {
            diagnostics.notes.push(format!(
                "the network is fitted to {} of {told} evaluations: all of them would be too slow",
                data.values.len()
            ));
        }
        let (mean, sd) = if standardize { mean_and_sd(&data.values) } else { (0.0, 1.0) };
        let data = data.standardized(&Units { warp: None, mean, sd });
        let usual = noise * noise;
        // Noise that is known counts in place of the usual one; not so little of it that 32 bits would not do.
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
