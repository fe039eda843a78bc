//! Algorithms on an exact Gaussian process, one file each; `model` fits it to a history, `search` maximizes utilities on it.

pub mod bucb;
pub mod dpp_ts;
pub mod gp_ei;
pub mod gp_ts;
pub mod gp_ucb;
pub mod model;
pub mod ntk_ts;
pub mod qei;
pub mod rff_ts;
pub mod search;
pub mod sp;
pub mod ts;
pub mod ts_rsr;
pub mod ucb_pe;
