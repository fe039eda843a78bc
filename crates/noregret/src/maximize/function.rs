//! A plain function as a utility, for tests of maximizers.

use crate::acquisition::Acquisition;
use crate::surrogate::points::Points;

/// The function; its gradient is by central differences, which stay inside the cube's neighbourhood.
pub(crate) struct FromFn<F>(pub(crate) F);

impl<F: Fn(&[f64]) -> f64 + Sync> Acquisition for FromFn<F> {
    fn values(&self, points: &Points) -> Vec<f64> {
        (0..points.len()).map(|i| (self.0)(&points.point(i))).collect()
    }

    fn value_and_gradient(&self, x: &[f64], gradient: &mut [f64]) -> f64 {
        // About the cube root of the rounding unit, the best step of central differences: exact to 1e-10 for functions of order one.
        const STEP: f64 = 6e-6;
        let mut moved = x.to_vec();
        for (k, gradient) in gradient.iter_mut().enumerate() {
            moved[k] = x[k] + STEP;
            let above = (self.0)(&moved);
            moved[k] = x[k] - STEP;
            *gradient = (above - (self.0)(&moved)) / (2.0 * STEP);
            moved[k] = x[k];
        }
        (self.0)(x)
    }
}
