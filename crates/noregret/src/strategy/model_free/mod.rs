//! Algorithms without a model.

pub mod random;
pub mod reg_evolution;
pub mod sobol;
