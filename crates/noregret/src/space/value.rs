//! One value of one parameter, as users write and read it.

use std::fmt;

use serde::{Deserialize, Serialize};

/// A value of a parameter: what a study file, a JSON message or a Python object can hold.
///
/// Floats must be finite; a [`Space`](super::Space) refuses others.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(untagged)]
pub enum Value {
    /// True or false.
    Bool(bool),
    /// A whole number.
    Int(i64),
    /// A finite real number.
    Float(f64),
    /// A word.
    Text(String),
}

impl Value {
    /// The number, if this is one.
    pub fn as_f64(&self) -> Option<f64> {
        match self {
            Self::Int(i) => Some(*i as f64),
            Self::Float(x) => Some(*x),
            Self::Bool(_) | Self::Text(_) => None,
        }
    }

    /// The whole number, if this is one; an integral float such as `3.0` counts.
    pub fn as_i64(&self) -> Option<i64> {
        match self {
            Self::Int(i) => Some(*i),
            Self::Float(x) => integral(*x),
            Self::Bool(_) | Self::Text(_) => None,
        }
    }

    /// The truth value, if this is one.
    pub fn as_bool(&self) -> Option<bool> {
        if let Self::Bool(b) = self { Some(*b) } else { None }
    }

    /// The word, if this is one.
    pub fn as_str(&self) -> Option<&str> {
        if let Self::Text(text) = self { Some(text) } else { None }
    }

    /// Whether both are the same choice: like `==`, but `3` and `3.0` are the same number.
    pub fn means(&self, other: &Self) -> bool {
        match (self, other) {
            (Self::Int(i), Self::Float(x)) | (Self::Float(x), Self::Int(i)) => integral(*x) == Some(*i),
            _ => self == other,
        }
    }

    /// Whether a space accepts it: everything but infinities and NaN.
    pub(super) fn is_finite(&self) -> bool {
        self.as_f64().is_none_or(f64::is_finite)
    }
}

/// The integer equal to `x`, if `x` is one that no other integer is rounded to.
#[expect(clippy::cast_possible_truncation, reason = "checked to be integral and within 2^53")]
fn integral(x: f64) -> Option<i64> {
    const EXACT: f64 = 9_007_199_254_740_992.0; // 2^53: beyond it neighboring integers share a float
    (x.fract() == 0.0 && x.abs() <= EXACT).then_some(x as i64)
}

impl fmt::Display for Value {
    /// As on a command line; floats keep their point or exponent and parse back exactly.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Bool(b) => write!(f, "{b}"),
            Self::Int(i) => write!(f, "{i}"),
            Self::Float(x) => write!(f, "{x:?}"),
            Self::Text(text) => f.write_str(text),
        }
    }
}

impl From<bool> for Value {
    fn from(b: bool) -> Self {
        Self::Bool(b)
    }
}

impl From<i64> for Value {
    fn from(i: i64) -> Self {
        Self::Int(i)
    }
}

impl From<i32> for Value {
    fn from(i: i32) -> Self {
        Self::Int(i.into())
    }
}

impl From<u32> for Value {
    fn from(i: u32) -> Self {
        Self::Int(i.into())
    }
}

impl From<f64> for Value {
    fn from(x: f64) -> Self {
        Self::Float(x)
    }
}

impl From<&str> for Value {
    fn from(text: &str) -> Self {
        Self::Text(text.to_owned())
    }
}

impl From<String> for Value {
    fn from(text: String) -> Self {
        Self::Text(text)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn json_keeps_the_type() {
        for (json, value) in [
            ("true", Value::Bool(true)),
            ("3", Value::Int(3)),
            ("3.0", Value::Float(3.0)),
            ("-1e-7", Value::Float(-1e-7)),
            (r#""relu""#, Value::from("relu")),
        ] {
            assert_eq!(serde_json::from_str::<Value>(json).unwrap(), value);
            assert_eq!(serde_json::to_string(&value).unwrap(), json);
        }
        assert!(serde_json::from_str::<Value>("[1]").is_err());
        assert!(serde_json::from_str::<Value>("null").is_err());
    }

    #[test]
    fn numbers_mean_the_same_across_types() {
        assert!(Value::Int(3).means(&Value::Float(3.0)));
        assert!(!Value::Int(3).means(&Value::Float(3.5)));
        assert!(!Value::Int(1).means(&Value::Bool(true)));
        assert!(!Value::Int(i64::MAX).means(&Value::Float(i64::MAX as f64)));
        assert_eq!(Value::Float(f64::NAN).as_i64(), None);
        assert_eq!(Value::Float(-0.0).as_i64(), Some(0));
    }

    #[test]
    fn display_reads_back() {
        assert_eq!(Value::Float(1e-7).to_string(), "1e-7");
        assert_eq!(Value::Float(3.0).to_string(), "3.0");
        assert_eq!(Value::from("tanh").to_string(), "tanh");
    }
}
