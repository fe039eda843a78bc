//! Numerics that know nothing of optimisation: factorisations, special functions, points, ranges, streams, minimizers.

pub mod adam;
pub mod cholesky;
pub mod conjugate_gradient;
pub mod lbfgsb;
pub mod minimum;
pub mod nelder_mead;
pub mod normal;
pub mod range;
pub mod rng;
pub mod sobol;
pub mod vector;
