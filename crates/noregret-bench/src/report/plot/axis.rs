//! Axes: ranges that show the values, and round numbers on them.

use crate::report::table::compact;

/// The vertical axis: a range, straight or logarithmic.
#[derive(Clone, Copy)]
pub(super) struct ValueAxis {
    pub(super) low: f64,
    pub(super) high: f64,
    log: bool,
}

impl ValueAxis {
    /// A range that shows every mean and the upper end of every spread.
    ///
    /// The lower end of a spread is shown as far as it says something: down to 0 when all means are positive, and on
    /// a logarithmic axis down to half the smallest mean, for a spread beyond its mean has no logarithm at all.
    pub(super) fn fit(values: impl Iterator<Item = (f64, f64)>, log: bool) -> Self {
        let spread = |sd: f64| if sd.is_finite() { sd } else { 0.0 };
        let shown = |mean: f64| mean.is_finite() && (mean > 0.0 || !log);
        let values: Vec<(f64, f64)> = values.filter(|&(mean, _)| shown(mean)).collect();
        let Some((low, _)) = span(values.iter().map(|&(mean, _)| mean)) else {
            return Self { low: if log { 0.1 } else { 0.0 }, high: 1.0, log };
        };
        let high = values.iter().map(|&(mean, sd)| mean + spread(sd)).fold(low, f64::max);
        if log {
            return Self { low: low / 2.0, high: high * 2.0, log };
        }
        let lowest = values.iter().map(|&(mean, sd)| mean - spread(sd)).fold(low, f64::min);
        let low = if low >= 0.0 { 0.0 } else { lowest };
        // A twentieth of air above, and a range for constants.
        let air = if high > low { 0.05 * (high - low) } else { high.abs().max(1.0) };
        Self { low: if low < 0.0 { low - air } else { low }, high: high + air, log }
    }

    /// The same, with 0 in sight on a straight axis, as bars need it.
    pub(super) fn grounded(self) -> Self {
        if self.log { self } else { Self { low: self.low.min(0.0), high: self.high.max(0.0), ..self } }
    }

    /// Where bars stand.
    pub(super) fn ground(self) -> f64 {
        if self.log { self.low } else { 0.0 }
    }

    /// Place of a value, 0 at the lower and 1 at the upper end; values outside stop there.
    pub(super) fn share(self, y: f64) -> f64 {
        let y = y.clamp(self.low, self.high);
        if self.log {
            (y / self.low).ln() / (self.high / self.low).ln()
        } else {
            (y - self.low) / (self.high - self.low)
        }
    }

    pub(super) fn ticks(self) -> Vec<(f64, String)> {
        if self.log { log_ticks(self.low, self.high) } else { ticks(self.low, self.high) }
    }
}

/// Smallest and largest of the finite values.
pub(super) fn span(values: impl Iterator<Item = f64>) -> Option<(f64, f64)> {
    values.filter(|v| v.is_finite()).fold(None, |span, v| match span {
        None => Some((v, v)),
        Some((low, high)) => Some((f64::min(low, v), f64::max(high, v))),
    })
}

/// Round numbers between `low` and `high`, at most seven.
pub(super) fn ticks(low: f64, high: f64) -> Vec<(f64, String)> {
    let rough = (high - low) / 6.0;
    let power = 10_f64.powf(rough.log10().floor());
    let step =
        power * [1.0, 2.0, 5.0].into_iter().find(|m| m * power >= rough * (1.0 - 1e-9)).unwrap_or(10.0);
    let label = |value: f64| {
        let largest = low.abs().max(high.abs());
        if largest >= 1e6 || step < 1e-4 {
            return compact(value);
        }
        let decimals = (0..5).find(|&d| (step * 10_f64.powi(d)).fract() < 1e-6).unwrap_or(4);
        format!("{value:.*}", usize::try_from(decimals).unwrap_or(0))
    };
    let first = (low / step - 1e-9).ceil();
    (0..10)
        .map(|k| (first + f64::from(k)) * step)
        .take_while(|value| *value <= high + 1e-9 * step)
        .map(|value| (value, label(value + 0.0)))
        .collect()
}

/// Powers of ten, thinned to at most six; in a range of less than two decades also their doubles and fivefolds.
fn log_ticks(low: f64, high: f64) -> Vec<(f64, String)> {
    #[expect(clippy::cast_possible_truncation, reason = "exponents of doubles")]
    let (first, last) = (low.log10().floor() as i32, high.log10().ceil() as i32);
    let inside = |value: &f64| (low..=high).contains(value);
    let decades: Vec<i32> = (first..=last).filter(|&e| inside(&10_f64.powi(e))).collect();
    if high / low < 100.0 {
        let values = (first..=last).flat_map(|e| [1.0, 2.0, 5.0].map(|m| m * 10_f64.powi(e)));
        return values.filter(inside).map(|value| (value, plain(value))).collect();
    }
    let every = decades.len().div_ceil(6);
    decades.into_iter().step_by(every).map(|e| (10_f64.powi(e), power_of_ten(e))).collect()
}

/// A number of one digit: `0.05`, `2`, `500`, `2e-5`.
fn plain(value: f64) -> String {
    if (1e-3..1e5).contains(&value) { format!("{}", (value * 1e4).round() / 1e4) } else { compact(value) }
}

/// `1`, `10`, and otherwise `10⁻³`.
fn power_of_ten(exponent: i32) -> String {
    const RAISED: [char; 10] = ['⁰', '¹', '²', '³', '⁴', '⁵', '⁶', '⁷', '⁸', '⁹'];
    match exponent {
        0 => "1".into(),
        1 => "10".into(),
        _ => {
            let raise = |c: char| c.to_digit(10).map_or('⁻', |digit| RAISED[digit as usize]);
            format!("10{}", exponent.to_string().chars().map(raise).collect::<String>())
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn labels_of(ticks: &[(f64, String)]) -> Vec<&str> {
        ticks.iter().map(|(_, label)| label.as_str()).collect()
    }

    #[test]
    fn straight_ticks_are_round() {
        assert_eq!(labels_of(&ticks(0.0, 1.0)), ["0.0", "0.2", "0.4", "0.6", "0.8", "1.0"]);
        assert_eq!(labels_of(&ticks(0.0, 50.0)), ["0", "10", "20", "30", "40", "50"]);
        assert_eq!(labels_of(&ticks(-0.3, 1.1)), ["0.0", "0.5", "1.0"]);
        assert_eq!(labels_of(&ticks(0.0, 3e7)), ["0", "5e6", "1e7", "1.5e7", "2e7", "2.5e7", "3e7"]);
        assert_eq!(labels_of(&ticks(-4.0, 4.0)), ["-4", "-2", "0", "2", "4"]);
    }

    #[test]
    fn logarithmic_ticks_are_decades_or_their_parts() {
        assert_eq!(labels_of(&log_ticks(5e-4, 200.0)), ["10⁻³", "10⁻²", "10⁻¹", "1", "10", "10²"]);
        assert_eq!(labels_of(&log_ticks(0.04, 1.5)), ["0.05", "0.1", "0.2", "0.5", "1"]);
        assert!(log_ticks(1e-30, 1.0).len() <= 6);
    }

    #[test]
    fn axes_show_means_and_spreads() {
        let axis = ValueAxis::fit([(1.0, 2.0), (3.0, f64::NAN), (f64::NAN, 9.0)].into_iter(), false);
        assert!(axis.low.abs() < 1e-15 && axis.high > 3.0 && axis.high < 3.5);
        let axis = ValueAxis::fit([(0.01, 1.0), (0.0, 0.0), (-1.0, 0.0)].into_iter(), true);
        assert!((axis.low - 0.005).abs() < 1e-15 && (axis.high - 2.02).abs() < 1e-12);
        assert!(axis.share(0.0).abs() < 1e-15, "zero has no logarithm and is drawn at the foot");
        for (values, log) in
            [(vec![], true), (vec![], false), (vec![(2.0, 0.0)], false), (vec![(0.0, 0.0)], false)]
        {
            let axis = ValueAxis::fit(values.into_iter(), log);
            assert!(axis.low < axis.high);
        }
    }
}
