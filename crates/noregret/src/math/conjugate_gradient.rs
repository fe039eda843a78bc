//! Nonlinear conjugate gradients in a box, as SciPy's `minimize(method="CG")` with a box added.
//!
//! Polak & Ribière (1969) with Powell's restart, "PR+": Gilbert & Nocedal, "Global convergence properties of conjugate
//! gradient methods for optimization", SIAM J. Optim. 2 (1992) 21-42, section 4; Nocedal & Wright, "Numerical
//! Optimization" (2006), Algorithm 5.4, cited as NW. The line search is that of [`super::minimum`].
//!
//! # Notation
//!
//! | paper     | here    | shape | meaning                                                |
//! |-----------|---------|-------|--------------------------------------------------------|
//! | `x_k`     | `x`     | n     | the iterate                                            |
//! | `grad f_k`| `g`     | n     | the gradient, zero in the coordinates the box holds    |
//! | `p_k`     | `p`     | n     | the search direction                                   |
//! | `beta+`   | `beta`  | 1     | `max(0, g_new'(g_new - g) / g'g)`, NW (5.44), (5.45)   |
//! | `a_k`     | `step`  | 1     | a step with the strong Wolfe conditions, NW (5.43)     |
//!
//! # Departures
//!
//! A step after which the next direction would not descend is followed by steepest descent; SciPy searches the line
//! again for a better step. The same after a line search that fails, where SciPy tries a second kind of search.

use super::minimum::{LineSearch, Minimum, Searched, Stop, Trial, clamp_to_box, dot, is_rounding};

/// How a direction that leaves the box is dealt with.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default)]
pub enum Outside {
    /// Iterates roam everywhere; the objective is that of the nearest point of the box, hence flat outside, with a
    /// gradient of 0 in the coordinates outside. An iterate that has left the box in all coordinates is stationary.
    #[default]
    Clip,
    /// Steps end at the first bound they meet. There the direction starts afresh, without the coordinates at whose
    /// bounds the gradient pushes outward.
    Project,
}

/// The settings of a minimization. The defaults are SciPy's.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct ConjugateGradient {
    /// Stops when the sup-norm of the gradient, in the coordinates the box does not hold, is at most this.
    pub gradient_tolerance: f64,
    /// Most iterations; none stands for 200 per coordinate.
    pub max_iterations: Option<usize>,
    /// Most calls of the objective; at least 1 is made.
    pub max_evaluations: usize,
    /// What happens at the bounds.
    pub outside: Outside,
}

impl Default for ConjugateGradient {
    fn default() -> Self {
        Self {
            gradient_tolerance: 1e-5,
            max_iterations: None,
            max_evaluations: usize::MAX,
            outside: Outside::default(),
        }
    }
}

/// SciPy's constants: curvature 0.4 < 1/2, as the theory of conjugate directions asks (NW (5.43)), the bracket down to
/// rounding, and a hundred trials.
const SEARCH: LineSearch =
    LineSearch { sufficient_decrease: 1e-4, curvature: 0.4, interval: 1e-14, max_evaluations: 100 };

/// Longest step along an unlimited line, SciPy's `amax`.
const LONGEST_STEP: f64 = 1e100;

/// Sufficient descent `p'g <= -sigma g'g` of Gilbert & Nocedal, section 4, with SciPy's `sigma_3`.
const DESCENT: f64 = 0.01;

impl ConjugateGradient {
    /// Minimizes `f` over `lower <= x <= upper` from `start`, which is clamped to the box first.
    ///
    /// `f` is called at points of the box only, fills in the gradient and returns the value. The result lies in the box
    /// and is never worse than the start; if the objective or its gradient is not finite there, it is returned at once
    /// with [`Stop::NotFinite`].
    ///
    /// # Panics
    ///
    /// If the lengths of `start`, `lower` and `upper` differ or a lower bound exceeds its upper bound.
    pub fn minimize(
        &self,
        start: &[f64],
        lower: &[f64],
        upper: &[f64],
        mut f: impl FnMut(&[f64], &mut [f64]) -> f64,
    ) -> Minimum {
        let mut run = Run::new(clamp_to_box(start, lower, upper), lower, upper, self.outside);
        run.value = f(&run.x, &mut run.g);
        let (mut iterations, mut evaluations) = (0, 1);
        let finite = run.value.is_finite() && run.x.iter().chain(&run.g).all(|v| v.is_finite());
        let max_iterations = self.max_iterations.unwrap_or(200 * start.len());
        let mut previous = run.begin();
        let mut expected = f64::INFINITY; // decrease promised to first order by the searches that failed here
        let stop = loop {
            if !finite {
                break Stop::NotFinite;
            }
            if run.g.iter().all(|g| g.abs() <= self.gradient_tolerance) {
                break Stop::Gradient;
            }
            if iterations >= max_iterations {
                break Stop::Iterations;
            }
            if evaluations >= self.max_evaluations {
                break Stop::Evaluations;
            }
            let budget = self.max_evaluations - evaluations;
            let slope = dot(&run.g, &run.p);
            if slope.is_nan() || slope >= 0.0 {
                // Only steepest descent gets here: the square of the gradient underflows or overflows.
                break if slope == 0.0 { Stop::Step } else { Stop::NotFinite };
            }
            let (end, at_bound) = run.search(slope, previous, budget, &mut f);
            evaluations += end.evaluations;
            if end.is_usable(run.value, budget) {
                previous = run.value;
                run.accept(end.last.value, at_bound);
                expected = f64::INFINITY;
                iterations += 1;
                continue;
            }
            expected = expected.min(-slope);
            if !run.steepest {
                run.restart();
            } else if evaluations >= self.max_evaluations {
                break Stop::Evaluations;
            } else if !(end.last.value.is_finite() && end.last.slope.is_finite()) {
                break Stop::NotFinite;
            } else if is_rounding(expected, run.value) {
                break Stop::Step;
            } else {
                break Stop::LineSearch;
            }
        };
        let x = clamp_to_box(&run.x, lower, upper);
        Minimum { x, value: run.value, iterations, evaluations, stop }
    }
}

/// The iterate, its direction and the buffers: allocated once per minimization.
struct Run<'a> {
    x: Vec<f64>,
    g: Vec<f64>,
    value: f64,
    p: Vec<f64>,
    /// Whether `p = -g`.
    steepest: bool,
    /// Iterate and gradient of the last trial, and the point of the box where it was evaluated.
    trial: (Vec<f64>, Vec<f64>),
    inside: Vec<f64>,
    lower: &'a [f64],
    upper: &'a [f64],
    outside: Outside,
}

impl<'a> Run<'a> {
    fn new(x: Vec<f64>, lower: &'a [f64], upper: &'a [f64], outside: Outside) -> Self {
        let zeros = || vec![0.0; x.len()];
        Self {
            g: zeros(),
            value: f64::NAN,
            p: zeros(),
            steepest: true,
            trial: (zeros(), zeros()),
            inside: zeros(),
            lower,
            upper,
            outside,
            x,
        }
    }

    /// First direction. Returns the "previous" value that makes the first guess of the step about `1 / abs g`: SciPy's.
    fn begin(&mut self) -> f64 {
        self.hold();
        self.restart();
        self.value + 0.5 * dot(&self.g, &self.g).sqrt()
    }

    /// `p = -g`.
    fn restart(&mut self) {
        for i in 0..self.p.len() {
            self.p[i] = -self.g[i];
        }
        self.steepest = true;
    }

    /// Takes out of the gradient the coordinates at whose bounds it pushes outward.
    fn hold(&mut self) {
        for i in 0..self.x.len() {
            if self.outside == Outside::Project && self.leaves(i, -self.g[i]) {
                self.g[i] = 0.0;
            }
        }
    }

    /// Whether moving coordinate `i` by `p_i` leaves the box at once.
    fn leaves(&self, i: usize, p_i: f64) -> bool {
        p_i > 0.0 && self.x[i] >= self.upper[i] || p_i < 0.0 && self.x[i] <= self.lower[i]
    }

    /// Line search along `p`; also whether it ended at a bound. The trial buffers hold its last point.
    fn search(
        &mut self,
        slope: f64,
        previous: f64,
        budget: usize,
        f: &mut impl FnMut(&[f64], &mut [f64]) -> f64,
    ) -> (Searched, bool) {
        let Self { x, value, p, trial, inside, lower, upper, outside, .. } = self;
        let project = *outside == Outside::Project;
        // The step at which coordinate i meets its bound.
        let meets = |i: usize| {
            let bound = if p[i] > 0.0 { upper[i] } else { lower[i] };
            if p[i] == 0.0 { (f64::INFINITY, bound) } else { ((bound - x[i]) / p[i], bound) }
        };
        let mut max_step = LONGEST_STEP;
        if project {
            max_step = (0..x.len()).fold(max_step, |step, i| step.min(meets(i).0));
        }
        // The decrease of the last iteration once more, NW (3.60), and not beyond the step of Newton's method.
        let mut first = (1.01 * 2.0 * (*value - previous) / slope).min(1.0);
        if first.is_nan() || first <= 0.0 {
            first = 1.0;
        }
        let search = LineSearch { max_evaluations: SEARCH.max_evaluations.min(budget), ..SEARCH };
        let origin = Trial { step: 0.0, value: *value, slope };
        let end = search.search(origin, first.min(max_step), max_step, |step| {
            let (trial_x, trial_g) = &mut *trial;
            for i in 0..x.len() {
                let (end, bound) = meets(i);
                trial_x[i] = if project && step >= end { bound } else { x[i] + step * p[i] };
                inside[i] = trial_x[i].clamp(lower[i], upper[i]);
            }
            let value = f(inside, trial_g);
            for i in 0..x.len() {
                // Flat outside. A NaN stays, for the search to see.
                if (trial_x[i] < lower[i] || trial_x[i] > upper[i]) && !trial_g[i].is_nan() {
                    trial_g[i] = 0.0;
                }
            }
            (value, dot(trial_g, p))
        });
        (end, project && end.last.step >= max_step)
    }

    /// Moves to the trial point and turns the direction, NW Algorithm 5.4 with `beta+`.
    fn accept(&mut self, value: f64, at_bound: bool) {
        std::mem::swap(&mut self.x, &mut self.trial.0);
        std::mem::swap(&mut self.g, &mut self.trial.1);
        self.value = value;
        self.hold();
        let old = &self.trial.1;
        let gg = dot(&self.g, &self.g);
        let beta = ((gg - dot(&self.g, old)) / dot(old, old)).max(0.0);
        for i in 0..self.p.len() {
            self.p[i] = beta * self.p[i] - self.g[i];
        }
        self.steepest = false;
        let project = self.outside == Outside::Project;
        let stuck = project && (0..self.p.len()).any(|i| self.leaves(i, self.p[i]));
        let descends = dot(&self.p, &self.g) <= -DESCENT * gg;
        if at_bound || stuck || !descends {
            self.restart();
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn rosenbrock(x: &[f64], g: &mut [f64]) -> f64 {
        let mut f = 0.0;
        g.fill(0.0);
        for i in 1..x.len() {
            let (a, b) = (x[i] - x[i - 1].powi(2), 1.0 - x[i - 1]);
            f += 100.0 * a * a + b * b;
            g[i - 1] += -400.0 * x[i - 1] * a - 2.0 * b;
            g[i] += 200.0 * a;
        }
        f
    }

    /// `sum (1 + i) (x_i - t_i)^2 + (x_i+1 - x_i)^2` with `t_i = 2 (-1)^i`, as in the reference script.
    fn quadratic(x: &[f64], g: &mut [f64]) -> f64 {
        let mut f = 0.0;
        for i in 0..x.len() {
            let (w, t) = (1.0 + i as f64, if i % 2 == 0 { 2.0 } else { -2.0 });
            f += w * (x[i] - t).powi(2);
            g[i] = 2.0 * w * (x[i] - t);
        }
        for i in 1..x.len() {
            let d = x[i] - x[i - 1];
            f += d * d;
            g[i] += 2.0 * d;
            g[i - 1] -= 2.0 * d;
        }
        f
    }

    fn alternating(n: usize) -> Vec<f64> {
        (0..n).map(|i| if i % 2 == 0 { -1.2 } else { 1.0 }).collect()
    }

    /// SciPy 1.17.1, `scripts/reference/lbfgsb_scipy.py`: value 1.9e-14 and 78 evaluations for 2 coordinates, 3.3e-13
    /// and 191 for 4. The gradient of 1e-5 leaves about 1e-10 times the curvature's inverse.
    #[test]
    fn agrees_with_scipy_on_rosenbrock() {
        for (n, evaluations) in [(2, 78), (4, 191)] {
            for outside in [Outside::Clip, Outside::Project] {
                let solver = ConjugateGradient { outside, ..ConjugateGradient::default() };
                let minimum = solver.minimize(&alternating(n), &vec![-9.0; n], &vec![9.0; n], rosenbrock);
                assert_eq!(minimum.stop, Stop::Gradient, "{minimum:?}");
                assert!(minimum.value < 1e-9, "{minimum:?}");
                assert!(minimum.evaluations * 2 <= evaluations * 3, "{minimum:?}");
            }
        }
    }

    /// SciPy 1.17.1: 19.848101265823 after 9 evaluations, after 13 with the objective flat outside [-3, 3], which the
    /// first steps leave.
    #[test]
    fn agrees_with_scipy_on_a_quadratic() {
        for (bound, evaluations) in [(1e3, 9), (3.0, 13)] {
            let solver = ConjugateGradient::default();
            let minimum = solver.minimize(&alternating(4), &[-bound; 4], &[bound; 4], quadratic);
            assert!((minimum.value - 19.848_101_265_82).abs() < 1e-9, "{minimum:?}");
            assert_eq!(minimum.stop, Stop::Gradient);
            assert!(minimum.evaluations * 2 <= evaluations * 3, "{minimum:?}");
        }
    }

    /// The minimum in [-1, 1]^4, 20.787878787879, has active bounds. SciPy's L-BFGS-B finds it; so does the projection.
    /// Clipping alone need not: outside in one coordinate it minimizes over the others, which is what it is asked for.
    #[test]
    fn projection_finds_the_minimum_on_the_boundary() {
        let solver = ConjugateGradient { outside: Outside::Project, ..ConjugateGradient::default() };
        let minimum = solver.minimize(&alternating(4), &[-1.0; 4], &[1.0; 4], quadratic);
        assert!((minimum.value - 20.787_878_787_88).abs() < 1e-9, "{minimum:?}");
        assert_eq!(minimum.stop, Stop::Gradient);
    }

    #[test]
    fn result_is_inside_and_no_worse() {
        for outside in [Outside::Clip, Outside::Project] {
            for case in 0..100_u32 {
                let n = 1 + case as usize % 6;
                let start: Vec<f64> =
                    (0..n).map(|i| f64::from(case * 37 % 101) / 25.0 - 2.0 + i as f64 / 7.0).collect();
                let (mut lower, upper) = (vec![-1.0; n], vec![0.9; n]);
                lower[0] = if case % 5 == 0 { 0.9 } else { -1.0 };
                let solver = ConjugateGradient { outside, gradient_tolerance: 0.01, ..Default::default() };
                let minimum = solver.minimize(&start, &lower, &upper, rosenbrock);
                let clamped: Vec<f64> = (0..n).map(|i| start[i].clamp(lower[i], upper[i])).collect();
                assert!(minimum.value <= rosenbrock(&clamped, &mut vec![0.0; n]), "{minimum:?}");
                let value = rosenbrock(&minimum.x, &mut vec![0.0; n]);
                assert_eq!(value.to_bits(), minimum.value.to_bits());
                assert!(minimum.x.iter().zip(&lower).all(|(x, l)| *l <= *x && *x <= 0.9), "{minimum:?}");
                assert!(minimum.stop.converged(), "{minimum:?}");
            }
        }
    }

    #[test]
    fn not_finite_is_never_accepted() {
        for bad in [f64::NAN, f64::INFINITY, f64::NEG_INFINITY] {
            let solver = ConjugateGradient::default();
            let minimum = solver.minimize(&[0.5], &[0.0], &[1.0], |_, _| bad);
            assert_eq!((minimum.stop, minimum.evaluations), (Stop::NotFinite, 1));
            let mut calls = 0;
            let minimum = solver.minimize(&alternating(2), &[-2.0; 2], &[2.0; 2], |x, g| {
                calls += 1;
                let value = rosenbrock(x, g);
                if calls > 1 { bad } else { value }
            });
            assert_eq!((minimum.stop, &minimum.x), (Stop::NotFinite, &alternating(2)));
            let minimum = solver.minimize(&[0.0], &[-9.0], &[9.0], |x, g| {
                g[0] = -1.0;
                if x[0] > 0.5 { bad } else { -x[0] }
            });
            assert!(minimum.value < -0.1 && minimum.x[0] <= 0.5, "{minimum:?}");
        }
    }

    #[test]
    fn empty_problem_and_spent_budgets() {
        let solver = ConjugateGradient::default();
        assert_eq!(solver.minimize(&[], &[], &[], |_, _| 1.0).stop, Stop::Gradient);
        for budget in 1..30 {
            let solver = ConjugateGradient { max_evaluations: budget, ..ConjugateGradient::default() };
            let minimum = solver.minimize(&alternating(4), &[-2.0; 4], &[2.0; 4], rosenbrock);
            assert_eq!((minimum.stop, minimum.evaluations), (Stop::Evaluations, budget));
        }
    }

    #[test]
    fn wrong_gradient_is_not_convergence() {
        let minimum = ConjugateGradient::default().minimize(&[1.0], &[-9.0], &[9.0], |x, g| {
            g[0] = -2.0 * x[0];
            x[0] * x[0]
        });
        assert!(!minimum.stop.converged() || minimum.value < 1.0, "{minimum:?}");
    }
}
