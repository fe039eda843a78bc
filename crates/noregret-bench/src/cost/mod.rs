//! What things cost: time and memory of suggestions and their stages, and of the event log.

pub(crate) mod batches;
pub mod crowd;
pub(crate) mod large;
pub(crate) mod networks;
pub mod service;
pub mod speed;
pub mod store;
