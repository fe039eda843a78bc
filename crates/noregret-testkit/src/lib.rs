//! Test problems with known optima, statistics, and the gradient check.

pub mod gradient;
pub mod problems;
pub mod statistics;

pub use gradient::gradient_gap;
pub use problems::Problem;
