//! One parameter of a space, as a study file declares it.

use serde::{Deserialize, Serialize};

use super::{SpaceError, Value};

/// The type and range of one parameter.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(tag = "type", rename_all = "lowercase", deny_unknown_fields)]
pub enum Param {
    /// A real number between `low` and `high`, both included.
    Float {
        /// Smallest value.
        low: f64,
        /// Largest value, above `low`.
        high: f64,
        /// Whether ratios matter rather than differences; then `low` must be above 0.
        #[serde(default)]
        log: bool,
    },
    /// A whole number between `low` and `high`, both included.
    Int {
        /// Smallest value.
        low: i64,
        /// Largest value, at least `low`.
        high: i64,
        /// Whether ratios matter rather than differences; then `low` must be at least 1.
        #[serde(default)]
        log: bool,
    },
    /// One of a few values whose order means something.
    Ordinal {
        /// The values, in their order.
        values: Vec<Value>,
    },
    /// One of a few values without an order.
    Categorical {
        /// The choices.
        choices: Vec<Value>,
    },
    /// True or false.
    Bool {},
}

/// How one coordinate of the unit cube may move.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    /// Anywhere between 0 and 1.
    Continuous,
    /// Over this many levels, where neighboring levels are alike.
    Levels(u64),
    /// Over this many levels, none closer to another than to the rest.
    Category(u64),
}

impl Kind {
    /// Number of levels, or `None` if continuous.
    pub fn levels(self) -> Option<u64> {
        match self {
            Self::Continuous => None,
            Self::Levels(n) | Self::Category(n) => Some(n),
        }
    }
}

impl Param {
    /// Largest magnitude of a bound of an integer parameter: 2^45.
    ///
    /// A logarithmic coordinate of `ln(2^46) < 32` is rounded three times on its way there and back, which costs
    /// at most `3 * 2^-48` of the value: below 0.5 up to 2^45, so that rounding recovers every integer.
    pub const MAX_INT: i64 = 1 << 45;

    /// Checks the declaration; all other code in this folder relies on it.
    pub(super) fn check(&self, name: &str) -> Result<(), SpaceError> {
        match self {
            Self::Float { low, high, log } => check_float(name, *low, *high, *log),
            Self::Int { low, high, log } => check_int(name, *low, *high, *log),
            Self::Ordinal { values } => check_choices(name, values),
            Self::Categorical { choices } => check_choices(name, choices),
            Self::Bool {} => Ok(()),
        }
    }
}

fn check_float(name: &str, low: f64, high: f64, log: bool) -> Result<(), SpaceError> {
    let name = || name.to_owned();
    if !(low.is_finite() && high.is_finite()) {
        return Err(SpaceError::NonFiniteBound { name: name(), low, high });
    }
    if low >= high {
        return Err(SpaceError::EmptyRange { name: name(), low: low.into(), high: high.into() });
    }
    if !(high - low).is_finite() {
        return Err(SpaceError::RangeTooWide { name: name(), low, high });
    }
    if log && low <= 0.0 {
        return Err(SpaceError::LogNotPositive { name: name(), low: low.into() });
    }
    Ok(())
}

fn check_int(name: &str, low: i64, high: i64, log: bool) -> Result<(), SpaceError> {
    let name = || name.to_owned();
    if low > high {
        return Err(SpaceError::EmptyRange { name: name(), low: low.into(), high: high.into() });
    }
    if let Some(value) = [low, high].into_iter().find(|v| v.unsigned_abs() > Param::MAX_INT.unsigned_abs()) {
        return Err(SpaceError::IntTooLarge { name: name(), value });
    }
    if log && low < 1 {
        return Err(SpaceError::LogNotPositive { name: name(), low: low.into() });
    }
    Ok(())
}

fn check_choices(name: &str, choices: &[Value]) -> Result<(), SpaceError> {
    if choices.is_empty() {
        return Err(SpaceError::NoChoices { name: name.to_owned() });
    }
    for (i, choice) in choices.iter().enumerate() {
        if matches!(choice, Value::Text(text) if text.contains('\0')) {
            return Err(SpaceError::NulChoice { name: name.to_owned(), choice: choice.clone() });
        }
        if !choice.is_finite() {
            return Err(SpaceError::NonFiniteChoice { name: name.to_owned(), choice: choice.clone() });
        }
        if choices[..i].iter().any(|earlier| earlier.means(choice)) {
            return Err(SpaceError::DuplicateChoice { name: name.to_owned(), choice: choice.clone() });
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn parse(json: &str) -> Result<Param, serde_json::Error> {
        serde_json::from_str(json)
    }

    #[test]
    fn study_file_form() {
        let float = parse(r#"{"type": "float", "low": 1e-5, "high": 1, "log": true}"#).unwrap();
        assert_eq!(float, Param::Float { low: 1e-5, high: 1.0, log: true });
        assert_eq!(
            parse(r#"{"type":"int","low":1,"high":8}"#).unwrap(),
            Param::Int { low: 1, high: 8, log: false }
        );
        assert_eq!(parse(r#"{"type":"bool"}"#).unwrap(), Param::Bool {});
        assert_eq!(
            parse(r#"{"type":"ordinal","values":[32,64]}"#).unwrap(),
            Param::Ordinal { values: vec![32.into(), 64.into()] }
        );
        let choices = vec![Value::from("relu"), Value::from("tanh")];
        let categorical = Param::Categorical { choices };
        assert_eq!(parse(&serde_json::to_string(&categorical).unwrap()).unwrap(), categorical);
    }

    #[test]
    fn unknown_fields_are_refused() {
        assert!(parse(r#"{"type":"float","low":0,"high":1,"step":0.1}"#).is_err());
        assert!(parse(r#"{"type":"bool","log":true}"#).is_err());
        assert!(parse(r#"{"type":"real","low":0,"high":1}"#).is_err());
    }

    #[test]
    fn declarations_are_checked() {
        let float = |low, high, log| Param::Float { low, high, log }.check("x");
        let int = |low, high, log| Param::Int { low, high, log }.check("x");
        assert!(matches!(float(0.0, f64::NAN, false), Err(SpaceError::NonFiniteBound { .. })));
        assert!(matches!(float(1.0, 1.0, false), Err(SpaceError::EmptyRange { .. })));
        assert!(matches!(float(-1e308, 1e308, false), Err(SpaceError::RangeTooWide { .. })));
        assert!(matches!(float(0.0, 1.0, true), Err(SpaceError::LogNotPositive { .. })));
        assert!(matches!(int(2, 1, false), Err(SpaceError::EmptyRange { .. })));
        assert!(matches!(int(0, 1, true), Err(SpaceError::LogNotPositive { .. })));
        assert!(matches!(int(i64::MIN, 0, false), Err(SpaceError::IntTooLarge { value: i64::MIN, .. })));
        assert!(matches!(int(0, Param::MAX_INT + 1, false), Err(SpaceError::IntTooLarge { .. })));
        assert_eq!(int(-Param::MAX_INT, Param::MAX_INT, false), Ok(()));
        assert_eq!(int(3, 3, true), Ok(()));
    }

    #[test]
    fn choices_are_checked() {
        let check = |choices: Vec<Value>| Param::Categorical { choices }.check("c");
        assert!(matches!(check(vec![]), Err(SpaceError::NoChoices { .. })));
        assert!(matches!(check(vec![1.into(), 1.0.into()]), Err(SpaceError::DuplicateChoice { .. })));
        assert!(matches!(check(vec!["a".into(), "b\0".into()]), Err(SpaceError::NulChoice { .. })));
        assert!(matches!(check(vec![f64::NAN.into()]), Err(SpaceError::NonFiniteChoice { .. })));
        assert_eq!(check(vec![1.into(), true.into(), "1".into()]), Ok(()));
    }
}
