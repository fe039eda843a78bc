//! Networks as surrogates, without a framework: a few dense layers (and a convolution for images), operations on their
//! gradients, and fits to convergence.
//!
//! Everything is in the parameterisation of the neural tangent kernel (Jacot et al. 2018): parameters are standard normal and
//! scales stand in the forward pass, so that a prior over functions is a ball in the parameters and its posterior a
//! ridge regression.

pub mod activation;
pub mod convolution;
pub mod draw;
pub mod epochs;
pub mod inputs;
pub mod last_layer;
pub mod model;
pub mod network;
pub mod posterior;
pub mod regression;
#[cfg(test)]
mod tests;
pub mod uncertainty_sampling;

use serde::{Deserialize, Serialize};

use crate::math::range::{OutOfRange, Range};
use crate::space::{Kind, Space};
pub use activation::Activation;
use convolution::PIXELS;
pub use convolution::{Image, Pooling};
pub use inputs::{Encoder, Inputs};
pub use network::Network;
pub use regression::Training;

const DEPTH: Range = Range::new(1.0, 32.0);
const WIDTH: Range = Range::new(1.0, 20_000.0);
/// Squares of sums of such numbers must be far from the largest of 32 bits.
const WEIGHT_SD: Range = Range::new(0.001, 100.0);
const BIAS_SD: Range = Range::new(0.0, 100.0);

/// A network and the prior that it stands for.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(default, deny_unknown_fields)]
pub struct NetworkConfig {
    /// Hidden layers; of an image network the first is the convolution. From 1 to 32.
    #[cfg_attr(feature = "schema", schemars(transform = DEPTH.stated()))]
    pub depth: usize,
    /// Units in each; of a convolution its channels. From 1 to 20000.
    #[cfg_attr(feature = "schema", schemars(transform = WIDTH.stated()))]
    pub width: usize,
    /// What a unit makes of its input.
    pub activation: Activation,
    /// Deviation of the weights of a unit, all of its inputs together. From 0.001 to 100.
    #[cfg_attr(feature = "schema", schemars(transform = WEIGHT_SD.stated()))]
    pub weight_sd: f64,
    /// Deviation of the biases; 0 for a network without. From 0 to 100.
    #[cfg_attr(feature = "schema", schemars(transform = BIAS_SD.stated()))]
    pub bias_sd: f64,
    /// How coordinates become inputs.
    pub inputs: Inputs,
    /// The points are images of this size.
    pub image: Option<Image>,
}

impl Default for NetworkConfig {
    /// The size that Dai et al. 2022 recommend (section 5.5). Their biases have a deviation of 0.05; with so little, functions are fixed
    /// at the middle of the cube (or its corner), and searches find less.
    fn default() -> Self {
        Self {
            depth: 2,
            width: 256,
            activation: Activation::Relu,
            weight_sd: 1.5,
            bias_sd: 1.0,
            inputs: Inputs::default(),
            image: None,
        }
    }
}

/// An invalid network.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum NetworkError {
    /// A number out of its range.
    #[error(transparent)]
    OutOfRange(#[from] OutOfRange),
    /// A network of more parameters than is sensible.
    #[error(
        "a network of {parameters} parameters is too large: width, depth and the number of inputs (one for each category) may give {most} at most"
    )]
    TooLarge {
        /// How many it would have.
        parameters: usize,
        /// How many it may have.
        most: usize,
    },
    /// Points that are no images of the size given.
    #[error(
        "images of {height} x {width} have {pixels} pixels, but the space has {dims} parameters, all of which must be numbers"
    )]
    NotImages {
        /// Rows of pixels.
        height: usize,
        /// Pixels in a row.
        width: usize,
        /// Their product.
        pixels: usize,
        /// Parameters of the space.
        dims: usize,
    },
}

/// Parameters that a network may have: some hundred megabytes with all that a fit keeps.
const MOST_PARAMETERS: usize = 40_000_000;
impl NetworkConfig {
    /// Checks what serde cannot.
    pub fn validate(&self) -> Result<(), NetworkError> {
        // Of an image network the first layer is the convolution: one more must follow.
        let depth = if self.image.is_some() { Range::new(2.0, DEPTH.most) } else { DEPTH };
        depth.check("network.depth", self.depth)?;
        WIDTH.check("network.width", self.width)?;
        if let Some(Image { height, width, .. }) = self.image {
            PIXELS.check("network.image.height", height)?;
            PIXELS.check("network.image.width", width)?;
        }
        WEIGHT_SD.check("network.weight_sd", self.weight_sd)?;
        Ok(BIAS_SD.check("network.bias_sd", self.bias_sd)?)
    }

    /// Where points of `space` go in.
    pub fn encoder(&self, space: &Space) -> Result<Encoder, NetworkError> {
        if let Some(Image { height, width, .. }) = self.image {
            let (pixels, dims) = (height * width, space.dims());
            if pixels != dims || space.kinds().iter().any(|kind| matches!(kind, Kind::Category(_))) {
                return Err(NetworkError::NotImages { height, width, pixels, dims });
            }
        }
        // Categories are counted before they are made inputs.
        let inputs = |kind: &Kind| match kind {
            Kind::Category(levels) => usize::try_from(*levels).unwrap_or(usize::MAX),
            _ => 1,
        };
        let inputs = space.kinds().iter().map(inputs).fold(0_usize, usize::saturating_add);
        // A convolution has fewer weights than this, and the layer after it at most as many as it has pixels times channels.
        let first = inputs.saturating_mul(self.width);
        let square = self.width.saturating_mul(self.width).saturating_mul(self.depth - 1);
        let parameters = match self.image {
            Some(_) => first.saturating_mul(self.width).saturating_add(square),
            None => first.saturating_add(square),
        };
        if parameters > MOST_PARAMETERS {
            return Err(NetworkError::TooLarge { parameters, most: MOST_PARAMETERS });
        }
        Ok(Encoder::new(space, self.inputs, self.image))
    }

    /// The network for so many inputs, with weights of deviation `weight_sd / sqrt(fan in)` and biases of `bias_sd`.
    pub fn network(&self, inputs: usize) -> Network {
        #[expect(clippy::cast_possible_truncation, reason = "networks work with 32 bits")]
        self.network_with(inputs, |_, fan_in| {
            ((self.weight_sd / (fan_in as f64).sqrt()) as f32, self.bias_sd as f32)
        })
    }

    /// The network for so many inputs with scales of its own.
    pub fn network_with(&self, inputs: usize, scales: impl Fn(usize, usize) -> (f32, f32)) -> Network {
        Network::new(inputs, self.image, &vec![self.width; self.depth], self.activation, scales)
    }
}
