//! The uncertainty of a network at a point, by its gradients (Zhou et al. 2020; Zhang et al. 2021; Phan-Trong et al. 2023):
//! `sigma^2(x) = lambda g(x)^T U^-1 g(x)`, `U = lambda I + sum_i g(x_i) g(x_i)^T`, with `g` by parameters of scale 1, which is their
//! `g / sqrt(m)`. Zhou et al. print it without the first factor `lambda`, which their code has.
//!
//! By Woodbury this is `kappa(x, x) - kappa(x)^T (kappa(X, X) + lambda I)^-1 kappa(x)` with the tangent kernel `kappa`: an n x n matrix in
//! place of a p x p one, and no gradient is ever formed. The codes of NeuralTS and NeuralUCB keep the diagonal of `U` only; that of NeuralBO
//! keeps the inverse of all of it, by Sherman and Morrison, or the diagonal if told so.

use faer::linalg::triangular_solve::solve_lower_triangular_in_place;
use faer::{Mat, Par};
use serde::{Deserialize, Serialize};

use super::network::{Network, Signals, Trace};
use crate::math::cholesky::{Cholesky, NotPositiveDefinite};

/// How `U` is represented.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "kebab-case")]
pub enum Variance {
    /// All of it, in the dual.
    #[default]
    Exact,
    /// Its diagonal, with the gradients of all points at the same parameters.
    Diagonal,
    /// Its diagonal, in which each point has the gradient that it had when it was chosen, and initial points have none: the published
    /// code of NeuralUCB and NeuralTS.
    Accumulated,
}

/// The gradients of the points seen so far, in the form that variances need.
#[derive(Debug)]
pub enum Uncertainty {
    /// The dual.
    Exact {
        /// Their passes.
        trace: Box<Trace>,
        /// Their signals.
        signals: Box<Signals>,
        /// Lower factor of `kappa + lambda I`.
        factor: Mat<f32>,
    },
    /// The inverse of the diagonal, times lambda.
    Diagonal(Vec<f32>),
}

impl Uncertainty {
    /// From sums of squared gradients and the gradients of some more points, `lambda` being the weight of the prior.
    #[expect(clippy::cast_possible_truncation, reason = "networks work with 32 bits")]
    pub fn from_squares(
        network: &Network,
        mut squares: Vec<f32>,
        (trace, signals): (&Trace, &Signals),
        lambda: f64,
    ) -> Self {
        let lambda = lambda as f32;
        network.add_squared_gradients(trace, signals, &mut squares);
        squares.iter_mut().for_each(|u| *u = lambda / (lambda + *u));
        Self::Diagonal(squares)
    }

    /// From the gradients of points, `lambda` being the weight of the prior; points of less weight than 1 (the exact form only) count as
    /// noisier. Also returns the jitter that was added to the diagonal.
    #[expect(clippy::cast_possible_truncation, reason = "networks work with 32 bits")]
    pub fn new(
        variance: Variance,
        network: &Network,
        trace: Trace,
        signals: Signals,
        weights: &[f32],
        lambda: f64,
    ) -> Result<(Self, f64), NotPositiveDefinite> {
        match variance {
            Variance::Diagonal | Variance::Accumulated => {
                let mut diagonal = vec![lambda as f32; network.parameters()];
                network.add_squared_gradients(&trace, &signals, &mut diagonal);
                diagonal.iter_mut().for_each(|u| *u = lambda as f32 / *u);
                Ok((Self::Diagonal(diagonal), 0.0))
            }
            Variance::Exact => {
                let gram = network.gram_of_itself(&trace, &signals);
                let n = gram.nrows();
                let factor = Cholesky::factor(n, |j, rows| {
                    for (row, k) in rows.iter_mut().zip(&gram.col_as_slice(j)[j..]) {
                        *row = f64::from(*k);
                    }
                    rows[0] += lambda / f64::from(weights[j].max(1e-12));
                })?;
                let (l, jitter) = (factor.l(), factor.repairs().jitter);
                let factor = Mat::from_fn(n, n, |i, j| if i >= j { l[(i, j)] as f32 } else { 0.0 });
                Ok((Self::Exact { trace: Box::new(trace), signals: Box::new(signals), factor }, jitter))
            }
        }
    }

    /// The variances of some points; never negative.
    pub fn variances(&self, network: &Network, trace: &Trace, signals: &Signals) -> Vec<f32> {
        match self {
            Self::Diagonal(inverse) => network.weighted_squared_norms(trace, signals, inverse),
            Self::Exact { trace: seen, signals: seen_signals, factor } => {
                let mut variances = network.squared_norms(trace, signals);
                let mut cross = network.gram((seen, seen_signals), (trace, signals));
                solve_lower_triangular_in_place(factor.as_ref(), cross.as_mut(), Par::Seq);
                for (j, variance) in variances.iter_mut().enumerate() {
                    let column = cross.col_as_slice(j);
                    *variance = (*variance - super::network::dot(column, column)).max(0.0);
                }
                variances
            }
        }
    }
}
