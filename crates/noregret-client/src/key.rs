//! Names of requests.

use crate::api::hex;
use ring::rand::{SecureRandom, SystemRandom};

/// A name that no other request has, on any machine.
pub fn another_key() -> String {
    let mut bytes = [0_u8; 16];
    // Without a source of randomness there is no TLS and no token either.
    SystemRandom::new().fill(&mut bytes).expect("invariant: every system that we run on has random numbers");
    bytes.into_iter().map(hex).collect()
}
