//! noregret decides which experiments to run next: model-based optimisation of expensive things, in batches.
//!
//! ```
//! use noregret::{MinimizeOptions, Space, minimize};
//!
//! let space = Space::builder().float("x", -5.0, 10.0).float("y", 0.0, 15.0).build()?;
//! let options = MinimizeOptions { trials: 25, ..MinimizeOptions::default() };
//! let found = minimize(space, &options, |trial| {
//!     let v = trial.numbers();
//!     (v[0] - 3.0).powi(2) + (v[1] - 2.0).powi(2)
//! })?;
//! assert!(found.best.and_then(|t| t.value()).is_some_and(|value| value < 0.5));
//! # Ok::<(), noregret::Error>(())
//! ```
//!
//! The data flow is the module tree: [`space`] encodes parameters into the unit cube, [`surrogate`] turns observations
//! into a posterior, [`acquisition`] into the utility of a point, [`maximize`] finds a good one, [`strategy`] puts these
//! together (one file per published algorithm), and [`study`] is what you talk to. [`math`] knows nothing of optimisation.

pub mod acquisition;
mod error;
pub mod math;
pub mod maximize;
pub mod space;
pub mod strategy;
pub mod study;
pub mod surrogate;

pub use error::{Error, Result};
pub use space::{Param, Params, Pool, Space, SpaceError, Value};
pub use strategy::algorithm::Algorithm;
pub use strategy::history::Duplicates;
pub use study::{Direction, MinimizeOptions, Minimized, Study, Trial, TrialState, minimize};

/// The Rust snippets of the documents are tests like any other.
#[cfg(doctest)]
mod documents {
    #[doc = include_str!("../../../README.md")]
    struct Readme;
    #[doc = include_str!("../../../docs/guide.md")]
    struct Guide;
}
