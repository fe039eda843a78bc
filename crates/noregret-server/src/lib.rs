//! Studies over HTTP, for workers on any number of machines: `noregret serve`.
//!
//! [`routes`] is the table of all that can be asked; the router, the OpenAPI document and the tests of who may do what are made of it.
//! A `desk` is a study at work: its fold, which answers at once, and twins that think, one at a time. Requests are handled on threads of
//! their own, in plain sequential code; only sockets and bodies are asynchronous (`listener`).
//!
//! # What is promised
//! - **Nothing is answered before it is in the log.** A server that is killed loses nothing that it said.
//! - **A request that is repeated is done once**, if it has an `Idempotency-Key`: the log remembers.
//! - **Nothing is served without a token**, but for whether the server is alive. No request runs a command, or reads a file that it names.

mod app;
mod chronicles;
mod desk;
mod desks;
mod digest;
mod events;
mod kept;
mod limits;
mod listener;
mod log;
mod metrics;
mod openapi;
mod packing;
mod pages;
mod problem;
mod request;
mod routes;
mod service;
mod sessions;
mod studies;
mod thinking;
mod token_file;
mod trials;
mod views;

pub use app::{App, Options};
pub use kept::Kept;
pub use listener::{ListenError, Listening, TlsFiles, listen};
pub use request::{Answer, Body, Request};
pub use routes::{RouteSummary, routes};
pub use studies::assignment;
pub use token_file::{NewToken, Role, TokenError, TokenFile, TokenRecord};
