//! Nelder-Mead's simplex search in a box, as SciPy's `minimize(method="Nelder-Mead")`.
//!
//! Nelder & Mead, "A simplex method for function minimization", Computer J. 7 (1965) 308-313, with the order of tests of
//! Lagarias, Reeds, Wright & Wright, "Convergence properties of the Nelder-Mead simplex method in low dimensions", SIAM
//! J. Optim. 9 (1998) 112-147, section 2 (LRWW); adaptive coefficients of Gao & Han, "Implementing the Nelder-Mead
//! simplex algorithm with adaptive parameters", Comput. Optim. Appl. 51 (2012) 259-277, section 4.
//!
//! # Notation
//!
//! | LRWW                 | here          | meaning                                                      |
//! |----------------------|---------------|--------------------------------------------------------------|
//! | `rho`, `chi`         | fields        | reflection, expansion                                        |
//! | `gamma`, `sigma`     | `psi`, `sigma`| contraction (SciPy's letter), shrinkage                      |
//! | `x_1 .. x_n+1`       | `vertices`    | the simplex, best first                                      |
//! | `x bar`              | `center`      | centroid of all but the worst                                |
//! | `x_r, x_e, x_c, x_cc`| `trials`      | points on the line from the worst vertex through the centroid|
//!
//! # Departures
//!
//! - Coordinates with equal bounds take no part, so the simplex has a vertex less for each. SciPy keeps them, with
//!   vertices that coincide.
//! - A first vertex beyond a bound is mirrored at it, at the lower bound as at the upper one. SciPy mirrors at the upper
//!   bound alone and clips at the lower, where the simplex is then flat and stays so: from (-1, 1, -1, 1) it ends a
//!   quadratic in [-1, 1]^4 at 42, this one at 21.3; the minimum is 20.8.
//!
//! # Limits
//!
//! Clipping, here as in SciPy, can press all vertices on a face of the box; the search then stays on it. A restart from
//! the result, or a method with gradients, is the remedy where minima on the boundary matter.

use super::minimum::{Minimum, Stop, clamp_to_box};

/// The settings of a minimization. The defaults are SciPy's.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct NelderMead {
    /// Coefficients that depend on the dimension, better from about 10 coordinates on.
    pub adaptive: bool,
    /// Stops when no vertex is further than this from the best in any coordinate, and
    pub x_tolerance: f64,
    /// no value is further than this from the best.
    pub value_tolerance: f64,
    /// Most iterations; none stands for 200 per coordinate.
    pub max_iterations: Option<usize>,
    /// Most calls of the objective, of which at least 1 is made; none stands for 200 per coordinate.
    pub max_evaluations: Option<usize>,
}

impl Default for NelderMead {
    fn default() -> Self {
        Self {
            adaptive: false,
            x_tolerance: 1e-4,
            value_tolerance: 1e-4,
            max_iterations: None,
            max_evaluations: None,
        }
    }
}

/// First vertices: a coordinate 5 % off, or this far from 0. SciPy's, after L. Pfeffer at Stanford.
const RELATIVE_STEP: f64 = 0.05;
const STEP_FROM_ZERO: f64 = 0.000_25;

impl NelderMead {
    /// Minimizes `f` over `lower <= x <= upper` from `start`, which is clamped to the box first.
    ///
    /// Trial points are clipped to the box, too. Values that are not finite count as `+inf`. The result is the best
    /// point evaluated among the vertices, never worse than the start; a value at the start that is not finite ends the
    /// search with [`Stop::NotFinite`].
    ///
    /// # Panics
    ///
    /// If the lengths of `start`, `lower` and `upper` differ or a lower bound exceeds its upper bound.
    pub fn minimize(
        &self,
        start: &[f64],
        lower: &[f64],
        upper: &[f64],
        mut f: impl FnMut(&[f64]) -> f64,
    ) -> Minimum {
        let x = clamp_to_box(start, lower, upper);
        let value = f(&x);
        if !value.is_finite() || x.iter().any(|x| !x.is_finite()) {
            return Minimum { x, value, iterations: 0, evaluations: 1, stop: Stop::NotFinite };
        }
        let max_iterations = self.max_iterations.unwrap_or(200 * x.len());
        let max_evaluations = self.max_evaluations.unwrap_or(200 * x.len());
        let mut objective = Counted { f, evaluations: 1, max_evaluations };
        let mut simplex = Simplex::new(Vertex { x, value }, (lower, upper), self.adaptive, &mut objective);
        let mut iterations = 0;
        let stop = loop {
            if simplex.is_small(self.x_tolerance, self.value_tolerance) {
                break Stop::Step;
            }
            if iterations >= max_iterations {
                break Stop::Iterations;
            }
            if objective.evaluations >= max_evaluations {
                break Stop::Evaluations;
            }
            simplex.step(&mut objective);
            iterations += 1;
        };
        let Vertex { x, value } = simplex.vertices.swap_remove(0);
        Minimum { x, value, iterations, evaluations: objective.evaluations, stop }
    }
}

/// The objective with its budget. What is not finite, and what the budget no longer allows, counts as `+inf`: then the
/// best vertex stays what it is.
struct Counted<F> {
    f: F,
    evaluations: usize,
    max_evaluations: usize,
}

impl<F: FnMut(&[f64]) -> f64> Counted<F> {
    fn value(&mut self, x: &[f64]) -> f64 {
        if self.evaluations >= self.max_evaluations {
            return f64::INFINITY;
        }
        self.evaluations += 1;
        let value = (self.f)(x);
        if value.is_finite() { value } else { f64::INFINITY }
    }
}

struct Vertex {
    x: Vec<f64>,
    value: f64,
}

/// The vertices, best first, and how to move them.
struct Simplex<'a> {
    vertices: Vec<Vertex>,
    center: Vec<f64>,
    /// Two points under trial: a reflection and what follows it.
    trials: [Vertex; 2],
    lower: &'a [f64],
    upper: &'a [f64],
    rho: f64,
    chi: f64,
    psi: f64,
    sigma: f64,
}

impl<'a> Simplex<'a> {
    fn new(
        first: Vertex,
        (lower, upper): (&'a [f64], &'a [f64]),
        adaptive: bool,
        objective: &mut Counted<impl FnMut(&[f64]) -> f64>,
    ) -> Self {
        let x = first.x.clone();
        let n = x.len();
        let mut vertices = vec![first];
        for i in (0..n).filter(|&i| lower[i] < upper[i]) {
            let mut moved = if x[i] == 0.0 { STEP_FROM_ZERO } else { (1.0 + RELATIVE_STEP) * x[i] };
            if moved > upper[i] {
                moved = 2.0 * upper[i] - moved;
            } else if moved < lower[i] {
                moved = 2.0 * lower[i] - moved;
            }
            let mut x = x.clone();
            x[i] = moved.clamp(lower[i], upper[i]);
            let value = objective.value(&x);
            vertices.push(Vertex { x, value });
        }
        vertices.sort_by(|a, b| a.value.total_cmp(&b.value));
        // Gao & Han (2012), section 4; they are the classical 2, 1/2, 1/2 in two dimensions.
        let free = (vertices.len() - 1).max(1) as f64;
        let (chi, psi, sigma) =
            if adaptive { (1.0 + 2.0 / free, 0.75 - 0.5 / free, 1.0 - 1.0 / free) } else { (2.0, 0.5, 0.5) };
        let blank = || Vertex { x: vec![0.0; n], value: f64::INFINITY };
        let trials = [blank(), blank()];
        Self { vertices, center: vec![0.0; n], trials, lower, upper, rho: 1.0, chi, psi, sigma }
    }

    /// Whether all vertices and all values are as near to the best as the tolerances say.
    fn is_small(&self, x_tolerance: f64, value_tolerance: f64) -> bool {
        let best = &self.vertices[0];
        self.vertices[1..].iter().all(|vertex| {
            let near = vertex.x.iter().zip(&best.x).all(|(a, b)| (a - b).abs() <= x_tolerance);
            near && vertex.value - best.value <= value_tolerance
        })
    }

    /// One iteration, LRWW section 2, steps 1 to 5. Needs two vertices at least.
    fn step(&mut self, objective: &mut Counted<impl FnMut(&[f64]) -> f64>) {
        let last = self.vertices.len() - 1;
        let (best, second_worst, worst) =
            (self.vertices[0].value, self.vertices[last - 1].value, self.vertices[last].value);
        self.center.fill(0.0);
        for vertex in &self.vertices[..last] {
            for i in 0..self.center.len() {
                self.center[i] += vertex.x[i] / last as f64;
            }
        }

        let reflected = self.try_at(0, self.rho, objective);
        if reflected < best {
            let expanded = self.try_at(1, self.rho * self.chi, objective);
            self.replace_worst(usize::from(expanded < reflected));
        } else if reflected < second_worst {
            self.replace_worst(0);
        } else if reflected < worst {
            if self.try_at(1, self.psi * self.rho, objective) <= reflected {
                self.replace_worst(1); // outside contraction
            } else {
                self.shrink(objective);
            }
        } else if self.try_at(1, -self.psi, objective) < worst {
            self.replace_worst(1); // inside contraction
        } else {
            self.shrink(objective);
        }
    }

    /// Evaluates trial `slot` at `center + t (center - worst)`, clipped to the box.
    fn try_at(&mut self, slot: usize, t: f64, objective: &mut Counted<impl FnMut(&[f64]) -> f64>) -> f64 {
        let worst = &self.vertices[self.vertices.len() - 1].x;
        let trial = &mut self.trials[slot];
        for (i, worst) in worst.iter().enumerate() {
            let moved = (1.0 + t) * self.center[i] - t * worst;
            trial.x[i] = moved.clamp(self.lower[i], self.upper[i]);
        }
        trial.value = objective.value(&trial.x);
        trial.value
    }

    /// Puts a trial in the place of the worst vertex, and in order: behind vertices of the same value.
    fn replace_worst(&mut self, slot: usize) {
        let last = self.vertices.len() - 1;
        std::mem::swap(&mut self.vertices[last], &mut self.trials[slot]);
        let value = self.vertices[last].value;
        let place = self.vertices[..last].partition_point(|vertex| vertex.value <= value);
        self.vertices[place..].rotate_right(1);
    }

    /// Moves all vertices toward the best.
    fn shrink(&mut self, objective: &mut Counted<impl FnMut(&[f64]) -> f64>) {
        let (best, others) = self.vertices.split_at_mut(1);
        for vertex in others {
            for i in 0..vertex.x.len() {
                let moved = best[0].x[i] + self.sigma * (vertex.x[i] - best[0].x[i]);
                vertex.x[i] = moved.clamp(self.lower[i], self.upper[i]);
            }
            vertex.value = objective.value(&vertex.x);
        }
        self.vertices.sort_by(|a, b| a.value.total_cmp(&b.value));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn rosenbrock(x: &[f64]) -> f64 {
        x.windows(2).map(|x| 100.0 * (x[1] - x[0] * x[0]).powi(2) + (1.0 - x[0]).powi(2)).sum()
    }

    /// `sum (1 + i) (x_i - t_i)^2 + (x_i+1 - x_i)^2` with `t_i = 2 (-1)^i`, as in the reference script.
    fn quadratic(x: &[f64]) -> f64 {
        let target = |i: usize| if i.is_multiple_of(2) { 2.0 } else { -2.0 };
        let near: f64 = x.iter().enumerate().map(|(i, x)| (1.0 + i as f64) * (x - target(i)).powi(2)).sum();
        near + x.windows(2).map(|x| (x[1] - x[0]).powi(2)).sum::<f64>()
    }

    fn alternating(n: usize) -> Vec<f64> {
        (0..n).map(|i| if i % 2 == 0 { -1.2 } else { 1.0 }).collect()
    }

    fn patient(adaptive: bool, tolerance: f64) -> NelderMead {
        NelderMead {
            adaptive,
            x_tolerance: tolerance,
            value_tolerance: tolerance,
            max_iterations: Some(1_000_000),
            max_evaluations: Some(1_000_000),
        }
    }

    /// SciPy 1.17.1, `scripts/reference/lbfgsb_scipy.py`. The path is the same but for rounding, which moves a comparison
    /// now and then: hence a tenth for the counts, and a factor for values far below the tolerance.
    #[test]
    fn agrees_with_scipy_on_rosenbrock() {
        let inf = f64::INFINITY;
        for (n, adaptive, value, iterations, evaluations) in [
            (2, false, 8.177_661_197e-10, 85, 159),
            (2, true, 8.177_661_197e-10, 85, 159),
            (4, false, 1.506_972_147e-9, 253, 431),
            (4, true, 1.270_530_770e-9, 422, 709),
        ] {
            let solver = patient(adaptive, 1e-4);
            let minimum = solver.minimize(&alternating(n), &vec![-inf; n], &vec![inf; n], rosenbrock);
            assert_eq!(minimum.stop, Stop::Step);
            assert!(minimum.value < 10.0 * value, "{minimum:?}");
            assert!(minimum.iterations.abs_diff(iterations) * 10 <= iterations, "{minimum:?}");
            assert!(minimum.evaluations.abs_diff(evaluations) * 10 <= evaluations, "{minimum:?}");
        }
    }

    /// SciPy 1.17.1 ends at 21, too, after 231 evaluations: a simplex clipped to a face does not leave it. The minimum,
    /// by L-BFGS-B, is 20.787878787879.
    #[test]
    fn agrees_with_scipy_on_the_boundary() {
        let minimum = patient(false, 1e-8).minimize(&[0.3; 4], &[-1.0; 4], &[1.0; 4], quadratic);
        assert!((minimum.value - 21.0).abs() < 1e-8, "{minimum:?}");
        assert_eq!(minimum.stop, Stop::Step);
        assert!(minimum.evaluations.abs_diff(231) <= 23, "{minimum:?}");
    }

    /// From (-1, 1, -1, 1) SciPy's first simplex is flat and ends at 42.
    #[test]
    fn start_in_a_corner_does_not_flatten_the_simplex() {
        let minimum =
            patient(false, 1e-8).minimize(&[-1.0, 1.0, -1.0, 1.0], &[-1.0; 4], &[1.0; 4], quadratic);
        assert!(minimum.value < 21.5, "{minimum:?}");
    }

    #[test]
    fn fixed_coordinates_and_empty_problems() {
        let minimum =
            patient(false, 1e-6).minimize(&[9.0, 0.2, 0.1], &[0.5, -2.0, -2.0], &[0.5, 2.0, 2.0], rosenbrock);
        // With x_0 = 1/2 fixed the rest is Rosenbrock's in two coordinates, with a pull toward x_1 = 1/4.
        assert!(minimum.stop == Stop::Step && minimum.x[0].to_bits() == 0.5_f64.to_bits(), "{minimum:?}");
        let nudged = |i: usize, by: f64| {
            let mut x = minimum.x.clone();
            x[i] += by;
            rosenbrock(&x)
        };
        for i in [1, 2] {
            assert!(nudged(i, 1e-3) > minimum.value && nudged(i, -1e-3) > minimum.value, "{minimum:?}");
        }
        for (start, lower, upper) in [(vec![], vec![], vec![]), (vec![3.0], vec![1.0], vec![1.0])] {
            let minimum = NelderMead::default().minimize(&start, &lower, &upper, |x| x.iter().sum());
            assert_eq!((minimum.stop, minimum.evaluations), (Stop::Step, 1));
        }
    }

    #[test]
    fn not_finite_is_never_accepted() {
        for bad in [f64::NAN, f64::INFINITY, f64::NEG_INFINITY] {
            let minimum = NelderMead::default().minimize(&[0.5; 2], &[0.0; 2], &[1.0; 2], |_| bad);
            assert_eq!((minimum.stop, minimum.evaluations, minimum.x), (Stop::NotFinite, 1, vec![0.5; 2]));
            let mut calls = 0;
            let minimum = NelderMead::default().minimize(&[0.5; 2], &[0.0; 2], &[1.0; 2], |_| {
                calls += 1;
                if calls > 1 { bad } else { 1.0 }
            });
            assert!(!minimum.stop.converged() && minimum.x == vec![0.5; 2], "{minimum:?}");
            let minimum = patient(false, 1e-6).minimize(&[-1.0, 1.0], &[-2.0; 2], &[2.0; 2], |x| {
                if x[0] > 0.5 { bad } else { rosenbrock(x) }
            });
            // Rosenbrock's minimum on the line x_0 = 1/2.
            assert!(minimum.stop == Stop::Step && (minimum.value - 0.25).abs() < 1e-3, "{minimum:?}");
        }
    }

    #[test]
    fn budgets_are_kept_and_nothing_gets_worse() {
        let mut previous = f64::INFINITY;
        for budget in 1..120 {
            let solver = NelderMead { max_evaluations: Some(budget), ..patient(false, 1e-4) };
            let minimum = solver.minimize(&alternating(4), &[-2.0; 4], &[2.0; 4], rosenbrock);
            assert_eq!((minimum.stop, minimum.evaluations), (Stop::Evaluations, budget));
            assert!(minimum.value <= previous);
            assert_eq!(rosenbrock(&minimum.x).to_bits(), minimum.value.to_bits());
            previous = minimum.value;
        }
    }
}
