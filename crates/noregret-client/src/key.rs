//! Random names: of requests, and of tokens.

use ring::rand::{SecureRandom, SystemRandom};

use crate::api::hex;

/// A name that no other request has, on any machine.
pub fn another_key() -> String {
    random_digits(16)
}

/// So many random bytes, as hexadecimal digits; good enough for secrets.
pub fn random_digits(bytes: usize) -> String {
    let mut random = vec![0_u8; bytes];
    // Without a source of randomness there is no TLS and no token either.
    SystemRandom::new().fill(&mut random).expect("invariant: every system that we run on has random numbers");
    random.into_iter().map(hex).collect()
}
