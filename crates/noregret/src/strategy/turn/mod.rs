//! One proposal in the making.

pub mod batch;
pub mod opening;
