//! Upper confidence bound, `mean + beta sd`.
//!
//! Cox & John (1992), "A statistical method for global optimization"; with guarantees by Srinivas et al. (2010), whose
//! `beta_t` is the square of ours: here the weight multiplies the deviation as it is (see [`super::beta`]).

use super::utility::Slope;

pub(super) fn value(beta: f64, mean: f64, sd: f64) -> f64 {
    mean + beta * sd
}

pub(super) fn slope(beta: f64, mean: f64, sd: f64) -> Slope {
    Slope { value: value(beta, mean, sd), by_mean: 1.0, by_sd: beta }
}
