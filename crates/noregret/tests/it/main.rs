//! Tests of the library as its users see it: one binary, since every further one costs a link.
//!
//! `cfg(test)` is always true here; it tells clippy that helper functions are tests, too.

#[cfg(test)]
mod bad_input;
#[cfg(test)]
mod conformance;
#[cfg(test)]
mod documents;
#[cfg(test)]
mod equivalence;
#[cfg(test)]
mod golden;
#[cfg(test)]
mod images;
#[cfg(test)]
#[cfg(feature = "schema")]
mod option_ranges;
#[cfg(test)]
mod planned;
#[cfg(test)]
mod properties;
#[cfg(test)]
mod replaced;
#[cfg(test)]
mod sklearn;
#[cfg(test)]
mod statistical;
#[cfg(test)]
mod torture;
#[cfg(test)]
mod value_stability;
