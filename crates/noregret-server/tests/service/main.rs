//! The service: as a storage, as an interface, and in bad company.
#![expect(clippy::disallowed_methods, reason = "tests wait, and measure how long")]
#![expect(clippy::needless_pass_by_value, reason = "bodies are written where they are sent")]
#![expect(clippy::unwrap_used, reason = "also in the helpers of tests: whatever goes wrong should panic")]

mod access;
mod hostile;
mod interface;
mod pages;
mod server;
mod several;
mod storage;
mod views;
