//! Algorithms against each other: noregret's with those of other libraries, and `auto` with parts of itself.

pub mod auto;
pub mod peers;
