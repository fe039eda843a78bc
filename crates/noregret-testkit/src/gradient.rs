//! The gradient check: analytic derivatives against differences of values.

/// Largest difference between the gradient `g` and the slopes of `f` at `x`, each divided by `1 + |slope|`.
///
/// Slopes are central differences extrapolated to step zero, good to about 1e-10 for a smooth `f` of order one, so
/// `gradient_gap(f, g, x) < 1e-6` leaves room for badly scaled functions and still finds any wrong term. `f` is
/// looked at up to `max(1, |x_i|) / 64` to both sides of each coordinate, about 16 times: keep `x` that far from kinks.
///
/// NaN when a value or a derivative is: no comparison with it holds, so the check fails.
pub fn gradient_gap(f: impl Fn(&[f64]) -> f64, g: impl Fn(&[f64], &mut [f64]), x: &[f64]) -> f64 {
    let mut gradient = vec![f64::NAN; x.len()]; // a coordinate which `g` forgets must not pass as zero
    g(x, &mut gradient);
    let mut largest = 0.0;
    for (i, analytic) in gradient.iter().enumerate() {
        let numeric = slope(&f, x, i);
        let gap = (analytic - numeric).abs() / (1.0 + numeric.abs());
        if gap.is_nan() {
            return f64::NAN;
        }
        largest = f64::max(largest, gap);
    }
    largest
}

/// Rows of the extrapolation table: steps from 1/64 down to 1/8192 of the coordinate's scale.
///
/// Long steps suit smooth functions (less cancellation), short ones functions of short length scale; the table finds
/// out which.
const ROWS: usize = 8;

/// Derivative of `f` along coordinate `i` (Ridders 1982): central differences at halved steps, extrapolated by
/// Neville's scheme in the squared step, and of all entries of the table the one that changed least.
fn slope(f: &impl Fn(&[f64]) -> f64, x: &[f64], i: usize) -> f64 {
    let mut point = x.to_vec();
    let mut at = |x_i: f64| {
        point[i] = x_i;
        f(&point)
    };
    let mut step = x[i].abs().max(1.0) / 64.0;
    let (mut best, mut least_change) = (f64::NAN, f64::INFINITY);
    let mut previous: Vec<f64> = Vec::new();
    for _ in 0..ROWS {
        // The distance of the two arguments as they are after rounding, not as they were meant.
        let (above, below) = (x[i] + step, x[i] - step);
        let mut row = vec![(at(above) - at(below)) / (above - below)];
        let mut weight = 4.0; // the squared ratio of the steps, to the power of the column
        for (column, coarse) in previous.iter().enumerate() {
            let fine = row[column];
            let next = fine + (fine - coarse) / (weight - 1.0);
            let change = (next - fine).abs().max((next - coarse).abs());
            if change < least_change {
                (best, least_change) = (next, change);
            }
            row.push(next);
            weight *= 4.0;
        }
        previous = row;
        step /= 2.0;
    }
    best
}

#[cfg(test)]
mod tests {
    use super::*;

    fn rosenbrock(x: &[f64]) -> f64 {
        100.0 * (x[1] - x[0] * x[0]).powi(2) + (1.0 - x[0]).powi(2)
    }

    fn rosenbrock_gradient(x: &[f64], g: &mut [f64]) {
        let valley = x[1] - x[0] * x[0];
        g[0] = -400.0 * x[0] * valley - 2.0 * (1.0 - x[0]);
        g[1] = 200.0 * valley;
    }

    #[test]
    fn right_gradients_pass_by_a_wide_margin() {
        for x in [[-1.2, 1.0], [1.0, 1.0], [0.0, 0.0], [3.0, -40.0]] {
            let gap = gradient_gap(rosenbrock, rosenbrock_gradient, &x);
            assert!(gap < 1e-9, "{gap:e} at {x:?}");
        }
    }

    /// Short and long scales, large offsets, far from the origin: the 1e-6 of the style guide must hold for all.
    #[test]
    fn right_gradients_pass_when_badly_scaled() {
        type Function = fn(f64) -> f64;
        let cases: [(Function, Function, f64); 4] = [
            (|x| (50.0 * x).sin(), |x| 50.0 * (50.0 * x).cos(), 0.3),
            (|x| (x / 1000.0).exp(), |x| (x / 1000.0).exp() / 1000.0, -700.0),
            (|x| 1e4 + x.tanh(), |x| 1.0 - x.tanh() * x.tanh(), 0.4),
            (f64::ln, f64::recip, 0.05),
        ];
        for (case, (f, derivative, x)) in cases.into_iter().enumerate() {
            let gap = gradient_gap(|x| f(x[0]), |x, g| g[0] = derivative(x[0]), &[x]);
            assert!(gap < 1e-8, "case {case}: {gap:e}");
        }
    }

    #[test]
    fn wrong_gradients_are_found() {
        let x = [-1.2, 1.0];
        let wrong_sign = |x: &[f64], g: &mut [f64]| {
            rosenbrock_gradient(x, g);
            g[1] = -g[1];
        };
        assert!(gradient_gap(rosenbrock, wrong_sign, &x) > 1.0);
        let slightly_off = |x: &[f64], g: &mut [f64]| {
            rosenbrock_gradient(x, g);
            g[0] *= 1.0 + 1e-5;
        };
        assert!(gradient_gap(rosenbrock, slightly_off, &x) > 5e-6);
    }

    #[test]
    fn forgotten_coordinates_and_nan_never_pass() {
        let forgets = |x: &[f64], g: &mut [f64]| g[0] = 2.0 * x[0];
        assert!(gradient_gap(|x| x[0] * x[0], forgets, &[1.0, 2.0]).is_nan());
        assert!(gradient_gap(|_| f64::NAN, |_, g| g.fill(0.0), &[1.0]).is_nan());
    }

    #[test]
    fn no_coordinates_no_gap() {
        assert!(gradient_gap(|_| 1.0, |_, _| (), &[]) <= 0.0);
    }
}
