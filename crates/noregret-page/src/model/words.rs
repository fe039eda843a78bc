//! Numbers and lists in sentences.

/// Names that a sentence lists before it counts the others.
const LISTED: usize = 4;

/// A number with three significant digits, and with an exponent if it is very large or small.
pub(super) fn number(x: f64) -> String {
    if x == 0.0 || !x.is_finite() {
        return format!("{x}");
    }
    let rounded: f64 = format!("{x:.2e}").parse().unwrap_or(x);
    if (1e-3..1e6).contains(&rounded.abs()) { format!("{rounded}") } else { format!("{rounded:e}") }
}

/// A share as a whole number of hundredths.
pub(super) fn percent(share: f64) -> String {
    format!("{:.0} %", 100.0 * share)
}

/// `1 evaluation`, `2 evaluations`.
pub(super) fn count(n: usize, one: &str) -> String {
    format!("{n} {one}{}", if n == 1 { "" } else { "s" })
}

/// Names in a sentence: `a, b and c`.
pub(super) fn names(names: &[String]) -> String {
    let quoted =
        |names: &[String]| names.iter().map(|name| format!("`{name}`")).collect::<Vec<_>>().join(", ");
    match names {
        [] => String::new(),
        [one] => quoted(std::slice::from_ref(one)),
        [first @ .., last] if names.len() <= LISTED => format!("{} and `{last}`", quoted(first)),
        _ => format!("{} and {} more", quoted(&names[..LISTED]), names.len() - LISTED),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_have_three_digits() {
        let written = [0.0, 1.0, -0.012_345, 1234.5, 999_999.0, 1.5e9, 2.0e-7, f64::INFINITY].map(number);
        assert_eq!(written, ["0", "1", "-0.0123", "1230", "1e6", "1.5e9", "2e-7", "inf"]);
        assert_eq!(
            (percent(0.874), count(1, "value"), count(3, "value")),
            ("87 %".into(), "1 value".into(), "3 values".into())
        );
    }

    #[test]
    fn long_lists_are_counted() {
        let all: Vec<String> = ["a", "b", "c", "d", "e", "f"].map(String::from).into();
        assert_eq!(names(&all[..0]), "");
        assert_eq!(names(&all[..1]), "`a`");
        assert_eq!(names(&all[..3]), "`a`, `b` and `c`");
        assert_eq!(names(&all), "`a`, `b`, `c`, `d` and 2 more");
    }
}
