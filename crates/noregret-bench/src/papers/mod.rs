//! The experiments of published papers, a folder each: `inexact` is the shortest and shows the pattern.
//!
//! In a folder, `mod.rs` has the flags and the loop over all runs, `problem.rs` what is optimised, `setting.rs` what the paper, its
//! code and our users give to the algorithms, `run.rs` a single run, `findings.rs` the tables and figures.

pub mod bbkb;
pub mod bbob;
pub mod claims;
pub mod inexact;
pub mod neural_bo;
pub mod sto_bnts;
pub mod ts_rsr;
