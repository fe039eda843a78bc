//! Near-linear time Gaussian process optimization: Calandriello et al. 2020, "Near-linear time Gaussian process
//! optimization with adaptive batching and resparsification" (BBKB).

#![cfg_attr(not(test), expect(dead_code, reason = "the experiment comes next"))]

mod drawn;
mod problem;
mod table;
