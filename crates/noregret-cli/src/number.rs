//! Numbers for people, with at most six digits.

/// At most six significant digits, without trailing zeros, in scientific notation where that is shorter to read.
pub(crate) fn short(x: f64) -> String {
    if x == 0.0 || !x.is_finite() {
        return format!("{x}");
    }
    let magnitude = x.abs().log10().floor();
    if !(-4.0..7.0).contains(&magnitude) {
        let text = format!("{x:.5e}");
        let (digits, exponent) = text.split_once('e').unwrap_or((&text, "0"));
        return format!("{}e{exponent}", trimmed(digits));
    }
    #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "between 0 and 9")]
    let decimals = (5.0 - magnitude).max(0.0) as usize;
    trimmed(&format!("{x:.decimals$}")).to_owned()
}

fn trimmed(digits: &str) -> &str {
    if digits.contains('.') { digits.trim_end_matches('0').trim_end_matches('.') } else { digits }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn six_digits() {
        for (x, text) in [
            (0.397_887_357_7, "0.397887"),
            (-1234.5, "-1234.5"),
            (3.0, "3"),
            (1e-7, "1e-7"),
            (1.234_567_8e12, "1.23457e12"),
            (1_234_567.0, "1234567"),
            (0.000_123_456_789, "0.000123457"),
            (0.0, "0"),
        ] {
            assert_eq!(short(x), text);
        }
    }
}
