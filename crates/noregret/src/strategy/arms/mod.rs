//! Algorithms over a finite set of arms, on a sparse model that scales to millions of them.

pub mod async_ts;
pub mod bbkb;
pub mod eps_greedy;
pub mod gp_bucb;
pub mod model;
