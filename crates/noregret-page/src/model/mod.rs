//! What the model knows: maps, importance, trust, remaining regret, why a point was chosen, candidates on a plane.
//!
//! All of it is by the model of recommendations (see [`noregret::study`]), the same for every algorithm. The algorithm of a study may
//! have another one of its own.

mod axis;
mod error;
mod health;
mod importance;
mod map;
mod plane;
mod pool;
mod regret;
mod trust;
mod why;
mod words;

pub use error::ViewError;
pub use importance::importance;
pub use map::map;
pub use pool::pool;
pub use regret::regret;
pub use trust::trust;
pub use why::why;
