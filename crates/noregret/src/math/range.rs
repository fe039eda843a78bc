//! Ranges of options: one statement of what is allowed, for the check, the error and the schema.
//!
//! A limit that gives no reason of its own is far beyond what is useful, and low enough that a proposal ends.

use std::fmt;

/// The numbers from `least` to `most`, both included.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Range {
    /// The smallest.
    pub least: f64,
    /// The largest.
    pub most: f64,
}

impl Range {
    /// From `least` to `most`.
    pub const fn new(least: f64, most: f64) -> Self {
        Self { least, most }
    }

    /// Whether a number is inside; NaN is not.
    pub fn contains(self, number: f64) -> bool {
        (self.least..=self.most).contains(&number)
    }

    /// Returns an error that names the option unless all its numbers are inside.
    pub fn check(self, option: &str, given: impl Numbers) -> Result<(), OutOfRange> {
        match given.find(|number| !self.contains(number)) {
            Some(value) => Err(OutOfRange { option: option.into(), value, range: self }),
            None => Ok(()),
        }
    }
}

/// `1 to 1e6`: large and small numbers by their exponents.
impl fmt::Display for Range {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let number = |x: f64| {
            if x == 0.0 || (1e-3..1e5).contains(&x.abs()) { format!("{x}") } else { format!("{x:e}") }
        };
        write!(f, "{} to {}", number(self.least), number(self.most))
    }
}

/// An option out of its range.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
#[error("{option} must be from {range}, not {value}")]
pub struct OutOfRange {
    /// Which option; those of a table after its name and a dot.
    pub option: String,
    /// What was given.
    pub value: f64,
    /// What is allowed.
    pub range: Range,
}

impl OutOfRange {
    /// The same for an option of the table `owner`.
    #[must_use]
    pub fn of(mut self, owner: &str) -> Self {
        self.option = format!("{owner}.{}", self.option);
        self
    }
}

/// What an option may hold: a number, several, or none.
pub trait Numbers {
    /// The first number for which `wanted` is true.
    fn find(self, wanted: impl FnMut(f64) -> bool) -> Option<f64>;
}

impl Numbers for f64 {
    fn find(self, mut wanted: impl FnMut(f64) -> bool) -> Option<f64> {
        wanted(self).then_some(self)
    }
}

impl Numbers for usize {
    fn find(self, wanted: impl FnMut(f64) -> bool) -> Option<f64> {
        (self as f64).find(wanted)
    }
}

impl<N: Numbers> Numbers for Option<N> {
    fn find(self, wanted: impl FnMut(f64) -> bool) -> Option<f64> {
        self.and_then(|numbers| numbers.find(wanted))
    }
}

impl Numbers for &[f64] {
    fn find(self, mut wanted: impl FnMut(f64) -> bool) -> Option<f64> {
        self.iter().copied().find(|number| wanted(*number))
    }
}

#[cfg(feature = "schema")]
impl Range {
    /// Writes the range into the schema of a number, or of the items of an array.
    pub(crate) fn stated(self) -> impl FnMut(&mut schemars::Schema) {
        // Whole numbers are written as such: editors show them.
        #[expect(clippy::cast_possible_truncation, reason = "limits of counts are far below 2^63")]
        let bound = |x: f64| {
            if x.fract() == 0.0 && x.abs() < 1e15 {
                serde_json::json!(x as i64)
            } else {
                serde_json::json!(x)
            }
        };
        move |schema| {
            let numbers = match schema.get_mut("items") {
                Some(items) => items.as_object_mut(),
                None => Some(schema.ensure_object()),
            };
            if let Some(numbers) = numbers {
                numbers.insert("minimum".into(), bound(self.least));
                numbers.insert("maximum".into(), bound(self.most));
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const UNIT: Range = Range::new(0.0, 1.0);

    #[test]
    fn the_ends_are_inside_and_nan_is_not() {
        for fine in [0.0, 0.5, 1.0] {
            assert_eq!(UNIT.check("x", fine), Ok(()));
        }
        for bad in [-1e-9, 1.0 + 1e-9, f64::INFINITY, f64::NEG_INFINITY, f64::NAN] {
            assert!(UNIT.check("x", bad).is_err(), "{bad}");
        }
        assert_eq!(UNIT.check("x", None::<f64>), Ok(()));
        assert!(UNIT.check("x", Some(2_usize)).is_err());
        let error = UNIT.check("x", &[0.5, 3.0, 4.0][..]).unwrap_err();
        assert_eq!(error, OutOfRange { option: "x".into(), value: 3.0, range: UNIT });
    }

    #[test]
    fn the_error_names_option_range_and_value() {
        let error = Range::new(1.0, 1e6).check("size", 1_usize << 31).unwrap_err().of("solver");
        assert_eq!(error.to_string(), "solver.size must be from 1 to 1e6, not 2147483648");
        assert_eq!(Range::new(1e-6, 20_000.0).to_string(), "1e-6 to 20000");
    }
}
