//! Answers as gzip has them, for those who understand it.

use std::io::Write;

use flate2::Compression;
use flate2::write::GzEncoder;

use crate::request::{Answer, Body};

/// Shorter bodies are sent as they are.
const WORTH_IT: usize = 1_000;
/// Most of what can be gained, at a third of the time that the usual level takes.
const LEVEL: u32 = 3;

/// Bytes, compressed.
pub(crate) fn packed(plain: &[u8]) -> Vec<u8> {
    let mut encoder = GzEncoder::new(Vec::with_capacity(plain.len() / 4), Compression::new(LEVEL));
    // Nothing can go wrong in memory.
    let _ = encoder.write_all(plain);
    encoder.finish().unwrap_or_default()
}

/// Whether who sent this header understands gzip.
pub(crate) fn accepts(header: Option<&String>) -> bool {
    let Some(header) = header else { return false };
    header.split(',').any(|part| {
        let mut words = part.split(';').map(str::trim);
        let is_gzip = words.next().is_some_and(|name| name.eq_ignore_ascii_case("gzip") || name == "*");
        let quality = words.find_map(|word| word.strip_prefix("q=")).and_then(|q| q.parse::<f64>().ok());
        is_gzip && quality.is_none_or(|quality| quality > 0.0)
    })
}

/// Compresses the body of an answer where that is worth it; `accepted`: whether who asked understands it.
pub(crate) fn pack(answer: Answer, accepted: bool) -> Answer {
    let is_text = ["application/json", "application/problem+json", "text/html", "text/plain"]
        .iter()
        .any(|kind| answer.content_type.starts_with(kind));
    if !is_text || answer.headers.iter().any(|(name, _)| *name == "content-encoding") {
        return answer;
    }
    let body = match &answer.body {
        Body::Whole(plain) if accepted && plain.len() >= WORTH_IT => packed(plain),
        Body::Kept(kept) if accepted && kept.plain().len() >= WORTH_IT => kept.packed().to_vec(),
        Body::Whole(_) | Body::Pieces(_) | Body::Kept(_) => return answer,
    };
    let mut answer = Answer { body: Body::Whole(body), ..answer };
    answer.headers.push(("content-encoding", "gzip".into()));
    answer.headers.push(("vary", "accept-encoding".into()));
    answer
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn who_understands_gzip_says_so() {
        for (header, accepted) in [
            ("gzip", true),
            ("br, GZIP;q=0.5", true),
            ("*", true),
            ("gzip;q=0", false),
            ("br", false),
            ("", false),
        ] {
            assert_eq!(accepts(Some(&header.to_owned())), accepted, "{header}");
        }
        assert!(!accepts(None));
    }
}
