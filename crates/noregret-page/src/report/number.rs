//! Numbers as reports have them.

use serde_json::{Number, Value as Json};

/// Digits of what a model says: more than a screen shows.
const DIGITS: usize = 6;

/// A number with so many digits that matter.
pub(super) fn short(x: f64) -> String {
    if x == 0.0 || !x.is_finite() {
        return x.to_string();
    }
    let rounded: f64 = format!("{x:.*e}", 3).parse().unwrap_or(x);
    if (1e-4..1e7).contains(&x.abs()) { rounded.to_string() } else { format!("{rounded:e}") }
}

/// The same JSON with numbers of fewer digits.
pub(super) fn rounded(json: Json) -> Json {
    match json {
        Json::Number(number) if number.is_f64() => {
            let x = number.as_f64().unwrap_or(f64::NAN);
            let parsed = format!("{x:.*e}", DIGITS - 1).parse().ok();
            Json::Number(parsed.and_then(Number::from_f64).unwrap_or(number))
        }
        Json::Array(items) => Json::Array(items.into_iter().map(rounded).collect()),
        Json::Object(fields) => {
            Json::Object(fields.into_iter().map(|(name, json)| (name, rounded(json))).collect())
        }
        other => other,
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn numbers_are_short() {
        for (x, text) in [
            (0.0, "0"),
            (0.123_456, "0.1235"),
            (-12.0, "-12"),
            (1_234_567.0, "1235000"),
            (1.234_56e-7, "1.235e-7"),
            (f64::INFINITY, "inf"),
        ] {
            assert_eq!(short(x), text);
        }
        assert_eq!(rounded(json!({ "a": [0.123_456_789, 3, "x"] })), json!({ "a": [0.123_457, 3, "x"] }));
    }
}
