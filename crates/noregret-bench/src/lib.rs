//! The experiments of the papers behind noregret, and the comparison with its peers: `noregret bench`.

pub mod report;
pub mod speed;
