//! What tests share: the gradient check, and what every algorithm and every store must pass.
//!
//! [`conformance`] speaks the types of the `noregret` that this crate depends on: call it from integration tests, since
//! unit tests inside `noregret` are a crate of their own.

pub mod conformance;
pub mod faults;
pub mod gradient;
pub mod postgres;
pub mod proxy;
pub mod store;

pub use gradient::gradient_gap;
