//! Algorithms on neural networks.

pub mod dngo;
pub mod model;
pub mod neural_bo;
pub mod neural_greedy;
pub mod sto_bnts;
