//! Tests of the library as its users see it: one binary, since every further one costs a link.

mod bad_input;
mod conformance;
mod equivalence;
mod golden;
mod properties;
mod sklearn;
mod statistical;
