//! Tests of the library as its users see it: one binary, since every further one costs a link.

mod conformance;
