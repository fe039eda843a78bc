//! Algorithms on regression trees.

pub mod random_forest;
