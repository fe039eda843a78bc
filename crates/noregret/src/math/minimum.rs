//! What the minimizers share: where one stopped, the box, and the line search of the two that use gradients.
//!
//! Moré & Thuente, "Line search algorithms with guaranteed sufficient decrease", ACM TOMS 20 (1994) 286-307.
//!
//! # Notation of the line search
//!
//! | paper             | here                  | meaning                                                      |
//! |-------------------|-----------------------|--------------------------------------------------------------|
//! | `phi(a)`          | `Trial::value`        | the objective at step `a` along the direction                |
//! | `phi'(a)`         | `Trial::slope`        | its derivative by `a`                                        |
//! | `mu`              | `sufficient_decrease` | `phi(a) <= phi(0) + mu phi'(0) a`, eq. (1.1)                 |
//! | `eta`             | `curvature`           | `abs phi'(a) <= eta abs phi'(0)`, eq. (1.2)                  |
//! | `psi(a)`          | `Trial::tilted`       | `phi(a) - phi(0) - mu phi'(0) a` of section 2, up to `phi(0)`|
//! | `a_l`, `a_u`      | `low`, `up`           | ends of the interval of uncertainty, `low` the better        |
//! | `a_t`, `a_t+`     | `last`, `step`        | the step just evaluated and the one to evaluate next         |
//! | `a_c, a_q, a_s`   | `cubic`, `quadratic`, `secant` | minimizers of the interpolants of section 4         |
//!
//! # Departures
//!
//! A trial whose value or slope is not finite counts as `+inf`: everything beyond is fenced off and a quarter of the
//! step is tried. The paper assumes a finite function.

/// Where a minimizer stopped and what it spent.
#[derive(Clone, Debug, PartialEq)]
pub struct Minimum {
    /// The best point found, inside the box.
    pub x: Vec<f64>,
    /// The objective at `x`; finite unless `stop` is [`Stop::NotFinite`] at the start.
    pub value: f64,
    /// Completed iterations.
    pub iterations: usize,
    /// Calls of the objective.
    pub evaluations: usize,
    /// Why it stopped.
    pub stop: Stop,
}

/// Why a minimizer stopped.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Stop {
    /// The projected gradient is below its tolerance.
    Gradient,
    /// The last iteration reduced the value by less than its tolerance.
    Progress,
    /// The simplex has shrunk below its tolerances, or the decrease still expected is at the level of rounding.
    Step,
    /// No decrease along a direction that promised one, not even steepest descent: value and gradient disagree, by
    /// noise or by a mistake. Not convergence.
    LineSearch,
    /// The budget of iterations is spent.
    Iterations,
    /// The budget of evaluations is spent.
    Evaluations,
    /// The objective is not finite at the start, or at every point tried around the one returned.
    NotFinite,
}

impl Stop {
    /// Whether a tolerance was met, rather than a budget spent or a failure met.
    pub fn converged(self) -> bool {
        matches!(self, Stop::Gradient | Stop::Progress | Stop::Step)
    }
}

/// `start` clamped to the box. A NaN stays NaN, for the caller to refuse.
///
/// # Panics
///
/// If the lengths differ or a lower bound is not at most its upper bound: a mistake of the calling code.
pub(super) fn clamp_to_box(start: &[f64], lower: &[f64], upper: &[f64]) -> Vec<f64> {
    assert_eq!(start.len(), lower.len(), "one lower bound per coordinate");
    assert_eq!(start.len(), upper.len(), "one upper bound per coordinate");
    assert!(lower.iter().zip(upper).all(|(l, u)| l <= u), "lower bounds at most upper bounds");
    start.iter().zip(lower).zip(upper).map(|((x, l), u)| x.clamp(*l, *u)).collect()
}

/// Sup-norm of `P(x - g) - x`, the projected gradient: zero exactly at a first-order point of the box
/// (Byrd, Lu, Nocedal & Zhu 1995, eq. 6.1).
pub(super) fn projected_gradient_norm(x: &[f64], g: &[f64], lower: &[f64], upper: &[f64]) -> f64 {
    let mut norm = 0.0_f64;
    for i in 0..x.len() {
        norm = norm.max(((x[i] - g[i]).clamp(lower[i], upper[i]) - x[i]).abs());
    }
    norm
}

/// Inner product.
pub(super) fn dot(a: &[f64], b: &[f64]) -> f64 {
    a.iter().zip(b).map(|(a, b)| a * b).sum()
}

/// Whether a decrease of `expected` is lost in the rounding of `value`.
///
/// 64 units in the last place: a value summed from a few dozen terms cannot be trusted further. The floor of 1 is the
/// one of the progress test, for minima of value 0.
pub(super) fn is_rounding(expected: f64, value: f64) -> bool {
    expected <= 64.0 * f64::EPSILON * value.abs().max(1.0)
}

/// The function along the search direction, at one step.
#[derive(Clone, Copy, Debug)]
pub(super) struct Trial {
    pub(super) step: f64,
    pub(super) value: f64,
    pub(super) slope: f64,
}

impl Trial {
    /// `psi` of section 2, up to the constant `phi(0)`: the function less the line of sufficient decrease.
    fn tilted(self, line: f64) -> Self {
        Self { step: self.step, value: self.value - line * self.step, slope: self.slope - line }
    }
}

/// Settings of the line search.
#[derive(Clone, Copy, Debug)]
pub(super) struct LineSearch {
    /// `mu` of eq. (1.1).
    pub(super) sufficient_decrease: f64,
    /// `eta` of eq. (1.2).
    pub(super) curvature: f64,
    /// Width of the interval of uncertainty, relative to its upper end, at which the best step is good enough.
    pub(super) interval: f64,
    /// Most evaluations of one search, at least 1.
    pub(super) max_evaluations: usize,
}

/// How a line search ended.
#[derive(Clone, Copy, Debug)]
pub(super) struct Searched {
    /// The trial evaluated last, hence the one in the caller's buffers.
    pub(super) last: Trial,
    /// Calls of the function.
    pub(super) evaluations: usize,
    /// `last` satisfies (1.1) and (1.2), or is the best that rounding or the longest step permit; never above `phi(0)`.
    pub(super) found: bool,
}

impl Searched {
    /// Whether to move from a point of `value` to `last`: it was found, or it is the last that the whole `budget` of
    /// evaluations allows, finite and better.
    pub(super) fn is_usable(&self, value: f64, budget: usize) -> bool {
        let finite = self.last.value.is_finite() && self.last.slope.is_finite();
        self.found || self.evaluations == budget && finite && self.last.value < value
    }
}

impl LineSearch {
    /// Searches `(0, max_step]` for a step with (1.1) and (1.2): the algorithm of section 3.
    ///
    /// `phi` returns value and slope at a step. Needs `origin.slope < 0` and `0 < first <= max_step`.
    pub(super) fn search(
        &self,
        origin: Trial,
        first: f64,
        mut max_step: f64,
        mut phi: impl FnMut(f64) -> (f64, f64),
    ) -> Searched {
        // Before the minimum is bracketed the next step grows by 1.1 to 4 times the last growth, MINPACK-2's constants.
        const GROWTH: (f64, f64) = (1.1, 4.0);
        // The interval must lose a third of its width in two trials, otherwise it is halved: section 3, delta = 0.66.
        const SHRINK: f64 = 0.66;

        let line = self.sufficient_decrease * origin.slope;
        let mut interval = Interval { low: origin, up: origin, bracketed: false };
        let mut modified = true; // the first stage of section 3 works on psi, the second on phi
        let mut limits = (0.0, first * (1.0 + GROWTH.1));
        let mut widths = (max_step, 2.0 * max_step); // now and one trial ago
        let mut last = Trial { step: first, ..origin };

        for evaluations in 1..=self.max_evaluations {
            (last.value, last.slope) = phi(last.step);
            if !(last.value.is_finite() && last.slope.is_finite()) {
                let nearer = interval.low.step + 0.25 * (last.step - interval.low.step);
                if last.step > interval.low.step {
                    max_step = nearer;
                }
                if evaluations < self.max_evaluations {
                    last.step = nearer;
                }
                continue;
            }

            let decreased = last.value <= origin.value + line * last.step;
            let flat = last.slope.abs() <= self.curvature * origin.slope.abs();
            let cramped = interval.bracketed && self.is_cramped(last.step, limits);
            let longest = last.step >= max_step && last.slope <= line;
            if cramped || decreased && (flat || longest) {
                return Searched { last, evaluations, found: last.value <= origin.value };
            }
            if evaluations == self.max_evaluations {
                break;
            }

            modified &= !(decreased && last.slope >= 0.0);
            let tilt = if modified && !decreased && last.value <= interval.low.value { line } else { 0.0 };
            let mut step = interval.next_step(last, tilt, limits);
            interval.update(last, tilt);

            let Interval { low, up, bracketed } = interval;
            if bracketed {
                let width = (up.step - low.step).abs();
                if width >= SHRINK * widths.1 {
                    step = low.step + 0.5 * (up.step - low.step);
                }
                widths = (width, widths.0);
                limits = (low.step.min(up.step), low.step.max(up.step));
            } else {
                let growth = step - low.step;
                limits = (step + GROWTH.0 * growth, step + GROWTH.1 * growth);
            }
            step = step.min(max_step);
            if bracketed && self.is_cramped(step, limits) {
                if low.step == 0.0 {
                    return Searched { last, evaluations, found: false };
                }
                step = low.step; // evaluated once more, so that the caller's buffers hold the best step
            }
            last.step = step;
        }
        Searched { last, evaluations: self.max_evaluations, found: false }
    }

    /// Whether the bracket leaves no room for `step` strictly inside, or is narrow enough.
    fn is_cramped(&self, step: f64, limits: (f64, f64)) -> bool {
        step <= limits.0 || step >= limits.1 || limits.1 - limits.0 <= self.interval * limits.1
    }
}

/// The interval of uncertainty: once `bracketed`, a minimum lies between `low` and `up`.
#[derive(Clone, Copy, Debug)]
struct Interval {
    low: Trial,
    up: Trial,
    bracketed: bool,
}

impl Interval {
    /// The updating algorithm of section 2, for `psi` if `tilt` is the line of sufficient decrease, for `phi` if 0.
    fn update(&mut self, trial: Trial, tilt: f64) {
        let (low, t) = (self.low.tilted(tilt), trial.tilted(tilt));
        if t.value > low.value {
            self.up = trial;
            self.bracketed = true;
        } else {
            if t.slope * low.slope < 0.0 {
                self.up = self.low;
                self.bracketed = true;
            }
            self.low = trial;
        }
    }

    /// Trial value selection, section 4, cases 1 to 4 in the paper's order.
    fn next_step(&self, trial: Trial, tilt: f64, limits: (f64, f64)) -> f64 {
        let (low, up, t) = (self.low.tilted(tilt), self.up.tilted(tilt), trial.tilted(tilt));
        let outward = if t.step > low.step { limits.1 } else { limits.0 };
        let cubic = cubic_minimizer(low, t);
        let secant = t.step - t.slope * (t.step - low.step) / (t.slope - low.slope);
        if t.value > low.value {
            let length = t.step - low.step;
            let rise = (t.value - low.value) / length;
            let quadratic = low.step + 0.5 * length * low.slope / (low.slope - rise);
            let nearer = (cubic - low.step).abs() < (quadratic - low.step).abs();
            if nearer { cubic } else { 0.5 * (cubic + quadratic) }
        } else if t.slope * low.slope < 0.0 {
            if (cubic - t.step).abs() > (secant - t.step).abs() { cubic } else { secant }
        } else if t.slope.abs() < low.slope.abs() {
            // The cubic may have no minimizer ahead; then it is taken to lie at the limit.
            let ahead = cubic.is_finite() && (cubic - t.step) * (t.step - low.step) > 0.0;
            let cubic = if ahead { cubic } else { outward };
            let cubic_nearer = (cubic - t.step).abs() < (secant - t.step).abs();
            if self.bracketed {
                let step = if cubic_nearer { cubic } else { secant };
                // Not closer to the far end than delta = 0.66 of the way, the safeguard at the end of section 4.
                let cap = t.step + 0.66 * (up.step - t.step);
                if t.step > low.step { step.min(cap) } else { step.max(cap) }
            } else {
                let step = if cubic_nearer { secant } else { cubic };
                step.max(limits.0).min(limits.1)
            }
        } else if self.bracketed {
            cubic_minimizer(up, t)
        } else {
            outward
        }
    }
}

/// Minimizer of the cubic through two values and two slopes (Nocedal & Wright 2006, eq. 3.59). Where the cubic has
/// none the discriminant is cut at 0, which gives its inflection point.
fn cubic_minimizer(a: Trial, b: Trial) -> f64 {
    let d1 = a.slope + b.slope - 3.0 * (a.value - b.value) / (a.step - b.step);
    // Scaled, so that steep functions do not overflow in the square.
    let s = d1.abs().max(a.slope.abs()).max(b.slope.abs());
    let root = s * ((d1 / s).powi(2) - (a.slope / s) * (b.slope / s)).max(0.0).sqrt();
    let d2 = root.copysign(b.step - a.step);
    b.step - (b.step - a.step) * (b.slope + d2 - d1) / (b.slope - a.slope + 2.0 * d2)
}

#[cfg(test)]
mod tests {
    use super::*;

    const STRICT: LineSearch =
        LineSearch { sufficient_decrease: 1e-4, curvature: 0.1, interval: 1e-14, max_evaluations: 40 };

    fn searched(phi: impl Fn(f64) -> (f64, f64), first: f64, max_step: f64) -> Searched {
        let (value, slope) = phi(0.0);
        STRICT.search(Trial { step: 0.0, value, slope }, first, max_step, phi)
    }

    #[test]
    fn cubic_minimizer_is_exact_on_cubics() {
        // 1 + x^3 - 3 x has its minimum at 1.
        let at = |x: f64| Trial { step: x, value: 1.0 + x.powi(3) - 3.0 * x, slope: 3.0 * x * x - 3.0 };
        for (a, b) in [(0.0, 2.0), (2.0, 0.0), (0.5, 0.9), (3.0, 1.5)] {
            assert!((cubic_minimizer(at(a), at(b)) - 1.0).abs() < 1e-14, "{a} {b}");
        }
    }

    /// Moré & Thuente 1994, section 5, eq. (5.1) with beta = 2 and eq. (5.2) with beta = 0.004, whose minima are at
    /// `sqrt(beta)` and near 1.6, from first steps 1e-3 to 1e3 as in their tables I and II.
    #[test]
    fn strong_wolfe_step_on_the_functions_of_the_paper() {
        let first = |a: f64| (-a / (a * a + 2.0), (a * a - 2.0) / (a * a + 2.0).powi(2));
        let second = |a: f64| {
            let b = a + 0.004;
            (b.powi(5) - 2.0 * b.powi(4), 5.0 * b.powi(4) - 8.0 * b.powi(3))
        };
        for exponent in [-3, -1, 1, 3] {
            let guess = 10_f64.powi(exponent);
            for (phi, most) in [(&first as &dyn Fn(f64) -> (f64, f64), 10), (&second, 18)] {
                let (value, slope) = phi(0.0);
                let end = searched(phi, guess, 1e10);
                assert!(end.found && end.evaluations <= most, "{guess} {end:?}");
                assert!(end.last.value <= value + 1e-4 * slope * end.last.step);
                assert!(end.last.slope.abs() <= 0.1 * slope.abs());
            }
        }
    }

    #[test]
    fn stops_at_the_longest_step() {
        let end = searched(|a| (-a, -1.0), 1.0, 7.0);
        assert!(end.found);
        assert_eq!(end.last.step.to_bits(), 7.0_f64.to_bits());
    }

    #[test]
    fn backs_away_from_what_is_not_finite() {
        for bad in [f64::NAN, f64::INFINITY, f64::NEG_INFINITY] {
            let end = searched(|a| if a > 1e-3 { (bad, 0.0) } else { (-a, -1.0) }, 1.0, 10.0);
            assert!(end.found && end.last.step <= 1e-3, "{bad} {end:?}");
            assert!(!searched(|a| if a > 0.0 { (bad, 0.0) } else { (0.0, -1.0) }, 1.0, 1.0).found);
        }
    }

    #[test]
    fn wrong_slope_is_not_found() {
        let end = searched(|a| (a, -1.0), 1.0, 10.0);
        assert!(!end.found && end.evaluations <= STRICT.max_evaluations);
    }

    #[test]
    fn projected_gradient_ignores_what_the_box_blocks() {
        let norm = projected_gradient_norm(&[0.0, 1.0, 0.5], &[3.0, -2.0, 0.25], &[0.0; 3], &[1.0; 3]);
        assert!((norm - 0.25).abs() < 1e-15);
    }
}
