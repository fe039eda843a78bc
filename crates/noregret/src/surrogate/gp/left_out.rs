//! Leave-one-out predictions: what the model of all other observations says of each, with the same hyperparameters.
//!
//! Rasmussen & Williams 2006, eq. (5.12), after Sundararajan & Keerthi 2001: the mean is `y_i - alpha_i / [C^-1]_ii` and the variance
//! `1 / [C^-1]_ii`, where `C = K + tau I` and `alpha = C^-1 y`. The variance includes the noise of the observation left out.

use super::posterior::Gp;

/// Leave-one-out predictions, one an observation.
#[derive(Clone, Debug)]
pub(crate) struct LeftOut {
    /// Values less the means of their predictions.
    pub(crate) residual: Vec<f64>,
    /// Variances of the values, noise included.
    pub(crate) variance: Vec<f64>,
}

impl Gp {
    /// Leave-one-out predictions of all observations: `O(n^3 / 3)` altogether, a third of what the factor cost. There must be no pending
    /// points.
    pub(crate) fn left_out(&self) -> LeftOut {
        assert_eq!(self.len(), self.observed(), "points without a value are not predicted");
        let precision = self.factor().inverse_diagonal();
        let residual = self.alpha().iter().zip(&precision).map(|(alpha, p)| alpha / p).collect();
        LeftOut { residual, variance: precision.iter().map(|p| p.recip()).collect() }
    }
}

#[cfg(test)]
mod tests {
    use rand::RngExt;

    use super::*;
    use crate::math::rng::{Purpose, Seed};
    use crate::surrogate::Surrogate;
    use crate::surrogate::gp::kernel::{Form, Kernel};
    use crate::surrogate::points::Points;

    /// An equivalence: the model is built again without each observation in turn.
    #[test]
    fn predictions_are_those_of_models_without_the_point() {
        let n = 25;
        let mut rng = Seed(1).stream(Purpose::Experiment, 0, 0);
        let points = Points::from_columns(2, &(0..2 * n).map(|_| rng.random()).collect::<Vec<f64>>());
        let y: Vec<f64> = (0..n).map(|_| rng.random_range(-2.0..2.0)).collect();
        let noise: Vec<f64> = (0..n).map(|_| rng.random_range(1e-3..0.5)).collect();
        let kernel = Kernel::new(Form::Matern52, vec![0.3, 0.6], 2, 1.4);
        let found = Gp::new(kernel.clone(), points.clone(), &y, noise.clone()).unwrap().left_out();
        for i in 0..n {
            let others: Vec<usize> = (0..n).filter(|&j| j != i).collect();
            let of = |values: &[f64]| -> Vec<f64> { others.iter().map(|&j| values[j]).collect() };
            let gp = Gp::new(kernel.clone(), points.select(&others), &of(&y), of(&noise)).unwrap();
            let there = gp.marginals(&points.slice(i..i + 1));
            // A condition number of about 1e4, times rounding.
            assert!((y[i] - found.residual[i] - there.mean[0]).abs() < 1e-9, "{i}");
            assert!((found.variance[i] - there.variance[0] - noise[i]).abs() < 1e-9, "{i}");
        }
    }
}
