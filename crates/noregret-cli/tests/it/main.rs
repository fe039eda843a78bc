//! The binary as users meet it. One test binary, one module a topic.
#![expect(clippy::disallowed_methods, reason = "some tests measure time")]
#![expect(clippy::unwrap_used, reason = "also in the helpers of tests: whatever goes wrong should panic")]

mod bad_input;
mod cli;
mod commands;
mod crash;
mod folder;
#[cfg(feature = "fuzzing")]
mod fuzz;
mod looking;
mod postgres;
mod queue;
mod service;
mod signals;
mod slow_model;
mod storage;
mod studies;
