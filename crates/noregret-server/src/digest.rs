//! Digests of secrets and of requests.

use ring::digest::{SHA256, digest};

/// SHA-256 as hexadecimal digits.
pub(crate) fn hex(bytes: &[u8]) -> String {
    digits(digest(&SHA256, bytes).as_ref())
}

/// Bytes as hexadecimal digits.
fn digits(bytes: &[u8]) -> String {
    let digit = |n: u8| char::from_digit(u32::from(n), 16).unwrap_or('0');
    bytes.iter().flat_map(|byte| [digit(byte >> 4), digit(byte & 15)]).collect()
}

/// A number of 53 bits: JSON of other languages has no more.
pub(crate) fn number(parts: &[&[u8]]) -> u64 {
    let mut all = Vec::new();
    for part in parts {
        all.extend_from_slice(&(part.len() as u64).to_be_bytes());
        all.extend_from_slice(part);
    }
    let digest = digest(&SHA256, &all);
    let first: [u8; 8] = digest.as_ref()[..8].try_into().unwrap_or_default();
    u64::from_be_bytes(first) >> 11
}

/// Whether two texts are the same, in a time that does not tell where they differ.
pub(crate) fn is_same(a: &str, b: &str) -> bool {
    let mut difference = u8::from(a.len() != b.len());
    for (a, b) in a.bytes().zip(b.bytes()) {
        difference |= a ^ b;
    }
    std::hint::black_box(difference) == 0
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn digests() {
        // The example of FIPS 180-2.
        assert!(hex(b"abc").starts_with("ba7816bf8f01cfea"));
        assert_ne!(number(&[b"a", b"bc"]), number(&[b"ab", b"c"]));
        assert!(number(&[b"abc"]) < 1 << 53);
        assert!(is_same("abc", "abc") && !is_same("abc", "abd") && !is_same("abc", "ab"));
    }
}
