//! Mean and deviation of a trained network.

use std::ops::Range;

use rayon::prelude::*;
use serde::{Deserialize, Serialize};

use super::joined;
use super::learned::LearnedNetwork;
use crate::error::Result;
use crate::surrogate::neural::network::{Signals, Trace};
use crate::surrogate::neural::posterior::{Uncertainty, Variance};
use crate::surrogate::points::Points;

/// Variances computed before the bounds are compared again.
const CHUNK: usize = 1_024;

/// The parameters at which gradients are taken as features.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "kebab-case")]
pub enum Features {
    /// The initial parameters (Phan-Trong et al. 2023).
    Static,
    /// The trained parameters (Zhou et al. 2020; Zhang et al. 2021; the code of Phan-Trong et al.).
    Dynamic,
}

/// Mean and deviation of a trained network.
pub(crate) struct Belief<'a> {
    network: &'a LearnedNetwork,
    features: &'a [f32],
    uncertainty: Uncertainty,
    /// Added to the diagonal to factor the kernel.
    pub(crate) jitter: f64,
}

impl LearnedNetwork {
    /// Conditions on the data and on `more`, points without a value.
    pub(crate) fn belief(
        &self,
        features: Features,
        variance: Variance,
        lambda: f64,
        more: &Points,
    ) -> Result<Belief<'_>> {
        let features = match features {
            Features::Static => &self.start[..],
            Features::Dynamic => &self.theta[..],
        };
        let more = self.encoder.encode(more, 0..more.len());
        if variance == Variance::Accumulated {
            let (mut trace, mut signals) = (Trace::default(), Signals::default());
            self.network.forward(features, more.as_ref(), &mut trace);
            self.network.signals(features, &trace, &mut signals);
            let squares = self.squares.clone();
            let uncertainty = Uncertainty::from_squares(&self.network, squares, (&trace, &signals), lambda);
            return Ok(Belief { network: self, features, uncertainty, jitter: 0.0 });
        }
        let x = joined(&self.told.data.x, &more);
        let (mut trace, mut signals) = (Trace::default(), Signals::default());
        self.network.forward(features, x.as_ref(), &mut trace);
        self.network.signals(features, &trace, &mut signals);
        // Running points get the usual noise: weight 1.
        let mut weights = self.told.data.weights.clone();
        weights.resize(x.ncols(), 1.0);
        let (uncertainty, jitter) =
            Uncertainty::new(variance, &self.network, trace, signals, &weights, lambda)?;
        Ok(Belief { network: self, features, uncertainty, jitter })
    }
}

/// Means of candidates, and upper bounds of their deviations.
pub(crate) struct Envelope {
    pub(super) mean: Vec<f64>,
    /// Prior deviations: data never increase them.
    largest_sd: Vec<f64>,
}

impl Belief<'_> {
    fn panels<T: Send>(
        &self,
        points: &Points,
        each: impl Fn(Range<usize>, &mut Trace, &mut Signals) -> Vec<T> + Sync,
    ) -> Vec<T> {
        let panel = self.network.network.panel();
        let panels: Vec<Vec<T>> = (0..points.len().div_ceil(panel))
            .into_par_iter()
            .map_init(
                || (Trace::default(), Signals::default()),
                |(trace, signals), i| each(i * panel..((i + 1) * panel).min(points.len()), trace, signals),
            )
            .collect();
        panels.into_iter().flatten().collect()
    }

    /// Computes means, and bounds of the deviations.
    pub(crate) fn envelope(&self, points: &Points) -> Envelope {
        let LearnedNetwork { network, encoder, theta, .. } = self.network;
        let pairs = self.panels(points, |range, trace, signals| {
            let x = encoder.encode(points, range);
            network.forward(theta, x.as_ref(), trace);
            let means: Vec<f64> = trace.output().iter().map(|h| f64::from(*h)).collect();
            if *theta != self.features {
                network.forward(self.features, x.as_ref(), trace);
            }
            network.signals(self.features, trace, signals);
            // sigma^2 = lambda g^T U^-1 g with U = lambda I + sum_i g_i g_i^T >= lambda I: at most g^T g.
            let norms = network.squared_norms(trace, signals);
            means.into_iter().zip(norms.into_iter().map(|v| f64::from(v).sqrt())).collect()
        });
        let (mean, largest_sd) = pairs.into_iter().unzip();
        Envelope { mean, largest_sd }
    }

    /// Deviations.
    pub(crate) fn deviations(&self, points: &Points) -> Vec<f64> {
        let LearnedNetwork { network, encoder, .. } = self.network;
        self.panels(points, |range, trace, signals| {
            let x = encoder.encode(points, range);
            network.forward(self.features, x.as_ref(), trace);
            network.signals(self.features, trace, signals);
            // sigma^2(x) = kappa(x, x) - kappa(x)^T (kappa(X, X) + lambda I)^-1 kappa(x), by the tangent kernel kappa; of the
            // diagonal of U alone, lambda sum_k g_k(x)^2 / U_kk.
            let variances = self.uncertainty.variances(network, trace, signals);
            variances.into_iter().map(|v| f64::from(v).sqrt()).collect()
        })
    }

    /// `mean + nu deviation` at some points.
    pub(crate) fn bounds(&self, points: &Points, nu: f64) -> Vec<f64> {
        let means = self.envelope(points).mean;
        means.into_iter().zip(self.deviations(points)).map(|(mean, sd)| mean + nu * sd).collect()
    }

    /// The largest `mean + weight * deviation` among the candidates that `is_free`, if it exceeds `best`, and the number of deviations
    /// computed. Candidates are taken in the order of their bounds, until no bound exceeds the best value.
    pub(super) fn best(
        &self,
        select: impl Fn(&[usize]) -> Points,
        envelope: &Envelope,
        weights: &[f64],
        is_free: impl Fn(usize) -> bool,
        mut best: f64,
    ) -> (Option<(f64, usize)>, usize) {
        // mean + weight sd <= mean + max(weight, 0) largest_sd, since 0 <= sd <= largest_sd.
        let bound = |i: usize| envelope.mean[i] + weights[i].max(0.0) * envelope.largest_sd[i];
        // A NaN cannot be the best.
        let mut order: Vec<usize> =
            (0..envelope.mean.len()).filter(|i| !bound(*i).is_nan() && is_free(*i)).collect();
        order.sort_by(|&a, &b| bound(b).total_cmp(&bound(a)).then(a.cmp(&b)));
        let (mut found, mut computed) = (None, 0);
        for chunk in order.chunks(CHUNK) {
            // Bounds fall along the order: if the first of a chunk cannot win, no later one can.
            if !(bound(chunk[0]) > best) {
                break;
            }
            computed += chunk.len();
            for (&i, sd) in chunk.iter().zip(self.deviations(&select(chunk))) {
                let value = envelope.mean[i] + weights[i] * sd;
                if value.is_finite() && value > best {
                    best = value;
                    found = Some((value, i));
                }
            }
        }
        (found, computed)
    }
}
