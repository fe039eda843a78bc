//! Networks as surrogates, without a framework: a few dense layers (and a convolution for images), what can be asked of their
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

use crate::space::Space;
pub use activation::Activation;
pub use convolution::{Image, Pooling};
pub use inputs::{Encoder, Inputs};
pub use network::Network;
pub use regression::Training;

/// A network and the prior that it stands for.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(default, deny_unknown_fields)]
pub struct NetworkConfig {
    /// Hidden layers; of an image network the first is the convolution.
    pub depth: usize,
    /// Units in each; of a convolution its channels.
    pub width: usize,
    /// What a unit makes of its input.
    pub activation: Activation,
    /// Deviation of the weights of a unit, all of its inputs together.
    pub weight_sd: f64,
    /// Deviation of the biases; 0 for a network without.
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

/// A network that cannot be built.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum NetworkError {
    /// A number that must be larger.
    #[error("network.{name} must be at least {least}, not {value}")]
    TooSmall {
        /// Which.
        name: &'static str,
        /// What would be right.
        least: usize,
        /// What was given.
        value: usize,
    },
    /// A network of more parameters than is sensible.
    #[error("a network of {parameters} parameters is too large: depth and width allow {most} at most")]
    TooLarge {
        /// How many it would have.
        parameters: usize,
        /// How many it may have.
        most: usize,
    },
    /// A deviation that is none.
    #[error("network.{name} must be {range}, not {value}")]
    Deviation {
        /// Which.
        name: &'static str,
        /// What would be right.
        range: &'static str,
        /// What was given.
        value: f64,
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
    /// A training whose numbers cannot be meant.
    #[error(
        "training needs a positive rate and number of steps, a momentum below 1 and a tolerance that is not negative"
    )]
    Training,
}

/// Parameters that a network may have: some hundred megabytes with all that a fit keeps.
const MOST_PARAMETERS: usize = 20_000_000;

impl NetworkConfig {
    /// Checks what serde cannot.
    pub fn validate(&self) -> Result<(), NetworkError> {
        let least_depth = if self.image.is_some() { 2 } else { 1 };
        for (name, least, value) in [("depth", least_depth, self.depth), ("width", 1, self.width)] {
            if value < least {
                return Err(NetworkError::TooSmall { name, least, value });
            }
        }
        if let Some(image) = self.image.filter(|image| !image.is_valid()) {
            let (name, value) =
                if image.height < 3 { ("image.height", image.height) } else { ("image.width", image.width) };
            return Err(NetworkError::TooSmall { name, least: 3, value });
        }
        if !(self.weight_sd > 0.0 && self.weight_sd.is_finite()) {
            let range = "positive and finite";
            return Err(NetworkError::Deviation { name: "weight_sd", range, value: self.weight_sd });
        }
        if !(self.bias_sd >= 0.0 && self.bias_sd.is_finite()) {
            let range = "finite and not negative";
            return Err(NetworkError::Deviation { name: "bias_sd", range, value: self.bias_sd });
        }
        let parameters = self.width.saturating_mul(self.width).saturating_mul(self.depth - 1);
        if parameters > MOST_PARAMETERS || self.depth > 100 {
            return Err(NetworkError::TooLarge { parameters, most: MOST_PARAMETERS });
        }
        Ok(())
    }

    /// Where points of `space` go in.
    pub fn encoder(&self, space: &Space) -> Result<Encoder, NetworkError> {
        let encoder = Encoder::new(space, self.inputs, self.image);
        if let Some(Image { height, width, .. }) = self.image
            && (height * width != space.dims() || encoder.inputs() != space.dims())
        {
            let (pixels, dims) = (height * width, space.dims());
            return Err(NetworkError::NotImages { height, width, pixels, dims });
        }
        Ok(encoder)
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
