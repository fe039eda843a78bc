//! Talks to a noregret server: the types of its interface ([`api`], and [`views`] for what people look at), and a small blocking [`Client`].
//!
//! A client tries again when a connection breaks or the server is busy, for a while. That is safe: every request that writes carries a name
//! of its own (`Idempotency-Key`), by which the server knows that it has done it before.

pub mod api;
mod client;
mod error;
mod key;
pub mod views;

pub use client::{Client, ServerUrl};
pub use error::ClientError;
pub use key::{another_key, random_digits};
