//! One parameter and its coordinate of the unit cube.
//!
//! | parameter                | coordinate of the value                                              |
//! |--------------------------|----------------------------------------------------------------------|
//! | float                    | `(v - low) / (high - low)`                                           |
//! | float, log               | `ln(v / low) / ln(high / low)`                                       |
//! | int                      | middle of its cell: `(v - low + 0.5) / (high - low + 1)`             |
//! | int, log                 | `ln(v / a) / ln(b / a)` with `a = low - 0.5`, `b = high + 0.5`       |
//! | ordinal, category, bool  | middle of its cell: `(i + 0.5) / k` for the i-th of k                |
//!
//! Decoding takes any number: it is clamped to `[0, 1]`, and NaN counts as 0.5. Discrete values survive the round
//! trip exactly, floats to rounding. All of it relies on [`Param::check`].

use super::{Kind, Param, SpaceError, Value};

/// Relative distance by which a float may exceed a bound, and is then clamped: values that were written as decimal text
/// may differ in the last digit.
const SLACK: f64 = 1e-12;

impl Param {
    /// How this parameter's coordinate may move.
    pub(super) fn kind(&self) -> Kind {
        match self {
            Self::Float { .. } => Kind::Continuous,
            Self::Int { low, high, .. } => Kind::Levels(high.abs_diff(*low) + 1),
            Self::Ordinal { values } => Kind::Levels(values.len() as u64),
            Self::Categorical { choices } => Kind::Category(choices.len() as u64),
            Self::Bool {} => Kind::Category(2),
        }
    }

    /// The level whose cell contains `u`; 0 for a float, which has no levels.
    pub(super) fn level_of(&self, u: f64) -> u64 {
        let u = into_unit(u);
        let Some(count) = self.kind().levels() else { return 0 };
        let level = match self {
            Self::Int { low, high, log: true } => {
                let (a, b) = log_range(*low, *high);
                whole((a * (u * ln_ratio(a, b)).exp()).round() - *low as f64)
            }
            _ => whole(u * count as f64),
        };
        level.min(count - 1)
    }

    /// The coordinate of a level, of the last one if `level` is too large; 0.5 for a float, which has no levels.
    pub(super) fn coordinate_of_level(&self, level: u64) -> f64 {
        let Some(count) = self.kind().levels() else { return 0.5 };
        let level = level.min(count - 1);
        match self {
            Self::Int { low, high, log: true } => {
                let (a, b) = log_range(*low, *high);
                ln_ratio(a, low.saturating_add_unsigned(level) as f64) / ln_ratio(a, b)
            }
            _ => (level as f64 + 0.5) / count as f64,
        }
    }

    /// The coordinate of the value nearest to `u`.
    pub(super) fn snap(&self, u: f64) -> f64 {
        match self {
            Self::Float { .. } => into_unit(u),
            _ => self.coordinate_of_level(self.level_of(u)),
        }
    }

    /// The value at `u`.
    pub(super) fn decode(&self, u: f64) -> Value {
        match self {
            Self::Float { low, high, log } => Value::Float(float_at(*low, *high, *log, u)),
            Self::Int { low, .. } => Value::Int(low.saturating_add_unsigned(self.level_of(u))),
            Self::Ordinal { values: choices } | Self::Categorical { choices } => {
                choices[self.index_of(u)].clone()
            }
            Self::Bool {} => Value::Bool(self.level_of(u) == 1),
        }
    }

    /// The index of the choice at `u`.
    pub(super) fn index_of(&self, u: f64) -> usize {
        usize::try_from(self.level_of(u)).expect("invariant: a level of a listed choice is an index")
    }

    /// The coordinate of `value`, or why it is not a value of this parameter, which is called `name`.
    pub(super) fn encode(&self, name: &str, value: &Value) -> Result<f64, SpaceError> {
        let wrong =
            |expected| SpaceError::WrongType { name: name.to_owned(), expected, value: value.clone() };
        match self {
            Self::Float { low, high, log } => {
                let v = value.as_f64().filter(|v| v.is_finite()).ok_or_else(|| wrong("a finite number"))?;
                if v < low - SLACK * low.abs() || v > high + SLACK * high.abs() {
                    return Err(out_of_range(name, *low, *high, value));
                }
                Ok(coordinate_of_float(*low, *high, *log, v))
            }
            Self::Int { low, high, .. } => {
                let v = value.as_i64().ok_or_else(|| wrong("a whole number"))?;
                if v < *low || v > *high {
                    return Err(out_of_range(name, *low, *high, value));
                }
                Ok(self.coordinate_of_level(v.abs_diff(*low)))
            }
            Self::Ordinal { values: choices } | Self::Categorical { choices } => {
                let i = choices.iter().position(|choice| choice.means(value)).ok_or_else(|| {
                    let (name, choices, value) = (name.to_owned(), choices.clone(), value.clone());
                    SpaceError::NotAChoice { name, choices, value }
                })?;
                Ok(self.coordinate_of_level(i as u64))
            }
            Self::Bool {} => {
                let v = value.as_bool().ok_or_else(|| wrong("true or false"))?;
                Ok(self.coordinate_of_level(v.into()))
            }
        }
    }
}

/// The float at `u`: `low` at 0 and `high` at 1 exactly, and never outside.
pub(super) fn float_at(low: f64, high: f64, log: bool, u: f64) -> f64 {
    let u = into_unit(u);
    if u >= 1.0 {
        return high;
    }
    if u <= 0.0 {
        return low;
    }
    let v = if log { (low.ln() + u * ln_ratio(low, high)).exp() } else { low + u * (high - low) };
    v.clamp(low, high)
}

/// The coordinate of the float `v`.
pub(super) fn coordinate_of_float(low: f64, high: f64, log: bool, v: f64) -> f64 {
    let v = v.clamp(low, high);
    into_unit(if log { ln_ratio(low, v) / ln_ratio(low, high) } else { (v - low) / (high - low) })
}

/// `u` clamped to `[0, 1]`, and 0.5 for NaN.
pub(super) fn into_unit(u: f64) -> f64 {
    if u.is_nan() { 0.5 } else { u.clamp(0.0, 1.0) }
}

/// The ends of a logarithmic integer range: half a unit beyond each bound, so that the first and last cell are complete.
fn log_range(low: i64, high: i64) -> (f64, f64) {
    (low as f64 - 0.5, high as f64 + 0.5)
}

/// `ln(b / a)`, positive whenever `b > a > 0`: neither lost in cancellation nor in an overflow of the ratio.
fn ln_ratio(a: f64, b: f64) -> f64 {
    let ratio = b / a;
    if ratio.is_finite() { ratio.ln() } else { b.ln() - a.ln() }
}

/// The whole part of `x`, 0 if negative.
#[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "saturates, as wanted here")]
fn whole(x: f64) -> u64 {
    x as u64
}

fn out_of_range(name: &str, low: impl Into<Value>, high: impl Into<Value>, value: &Value) -> SpaceError {
    SpaceError::OutOfRange { name: name.to_owned(), low: low.into(), high: high.into(), value: value.clone() }
}

#[cfg(test)]
mod tests {
    use super::*;

    const LR: Param = Param::Float { low: 1e-5, high: 1e-1, log: true };
    const LAYERS: Param = Param::Int { low: 1, high: 8, log: false };

    fn int_round_trips(param: &Param, v: i64) {
        let u = param.encode("n", &Value::Int(v)).unwrap();
        assert!((0.0..=1.0).contains(&u));
        assert_eq!(param.decode(u), Value::Int(v), "{param:?}");
        assert_eq!(param.snap(u).to_bits(), u.to_bits());
    }

    fn assert_close(a: f64, b: f64) {
        assert!((a - b).abs() <= 1e-12 * b.abs(), "{a} {b}"); // a few roundings, of logs up to 700
    }

    #[test]
    fn floats_by_hand() {
        let x = Param::Float { low: -1.0, high: 3.0, log: false };
        assert_eq!(x.decode(0.25), Value::Float(0.0));
        assert_close(x.encode("x", &2.into()).unwrap(), 0.75);
        assert_close(LR.decode(0.5).as_f64().unwrap(), 1e-3);
        assert_close(LR.encode("lr", &1e-2.into()).unwrap(), 0.75);
    }

    #[test]
    fn float_ends_are_exact() {
        for (low, high, log) in
            [(0.1, 0.3, false), (1e-5, 0.1, true), (5e-324, f64::MAX, true), (1e300, 1.000_000_1e300, true)]
        {
            let param = Param::Float { low, high, log };
            assert_eq!(param.check("x"), Ok(()));
            assert_eq!((param.decode(0.0), param.decode(1.0)), (low.into(), high.into()));
            assert_eq!((param.decode(-7.0), param.decode(f64::INFINITY)), (low.into(), high.into()));
            assert_close(param.encode("x", &high.into()).unwrap(), 1.0);
            assert_eq!(param.encode("x", &low.into()), Ok(0.0));
        }
    }

    #[test]
    fn cells_by_hand() {
        assert_eq!(LAYERS.encode("n", &1.into()), Ok(0.0625));
        assert_eq!(LAYERS.encode("n", &3.0.into()), Ok(0.3125));
        assert_eq!(LAYERS.decode(1.0), Value::Int(8));
        assert_eq!(Param::Bool {}.encode("b", &true.into()), Ok(0.75));
        // From 0.5 to 7.5: the cube's middle is their geometric mean, 1.94.
        let log = Param::Int { low: 1, high: 7, log: true };
        assert_eq!(log.decode(0.5), Value::Int(2));
        assert_close(log.encode("n", &2.into()).unwrap(), 4_f64.ln() / 15_f64.ln());
    }

    #[test]
    fn single_levels_sit_inside() {
        for param in [
            Param::Int { low: 4, high: 4, log: false },
            Param::Int { low: 4, high: 4, log: true },
            Param::Categorical { choices: vec!["only".into()] },
        ] {
            assert_eq!(param.kind().levels(), Some(1));
            for u in [0.0, 0.5, 1.0, f64::NAN] {
                assert_eq!(param.level_of(u), 0);
            }
            assert!((param.snap(0.0) - 0.5).abs() < 0.1);
        }
    }

    #[test]
    fn every_end_of_the_largest_ranges_round_trips() {
        let max = Param::MAX_INT;
        let linear = Param::Int { low: -max, high: max, log: false };
        let log = Param::Int { low: 1, high: max, log: true };
        for offset in 0..1000 {
            int_round_trips(&linear, max - offset);
            int_round_trips(&linear, offset - max);
            int_round_trips(&log, max - offset);
            int_round_trips(&log, 1 + offset);
            int_round_trips(&log, (max >> 1) - 500 + offset);
        }
    }

    #[test]
    fn wrong_values_say_what_is_right() {
        let message = |param: &Param, value: Value| param.encode("p", &value).unwrap_err().to_string();
        assert_eq!(message(&LR, "a".into()), r#"parameter `p` must be a finite number, not "a""#);
        assert_eq!(message(&LR, f64::NAN.into()), "parameter `p` must be a finite number, not NaN");
        assert_eq!(message(&LR, 1.into()), "parameter `p` must lie between 1e-5 and 0.1, unlike 1");
        assert_eq!(message(&LAYERS, 2.5.into()), "parameter `p` must be a whole number, not 2.5");
        assert_eq!(message(&LAYERS, 9.into()), "parameter `p` must lie between 1 and 8, unlike 9");
        assert_eq!(message(&Param::Bool {}, 1.into()), "parameter `p` must be true or false, not 1");
    }

    #[test]
    fn last_digits_may_differ_at_the_bounds() {
        assert_eq!(LR.encode("lr", &0.100_000_000_000_000_02.into()), Ok(1.0));
        assert_eq!(LR.encode("lr", &9.999_999_999_999_999e-6.into()), Ok(0.0));
        let wide = Param::Float { low: 1e-300, high: 1.0, log: true };
        assert!(matches!(wide.encode("x", &0.0.into()), Err(SpaceError::OutOfRange { .. })));
    }
}
