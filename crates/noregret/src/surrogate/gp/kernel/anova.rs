//! A factor that is additive where the objective is: effects of single coordinates, of pairs, of triples, ... in one kernel.
//!
//! `k = prod_i (1 - p + p h_i)`, multiplied out, is the sum over all sets of coordinates of the product kernel on the
//! set, each weighed by the probability that coins with heads `p` choose it: an analysis of variance (Stitson et al. 1999;
//! Durrande et al. 2013; Duvenaud et al. 2011 for what it gains). With a small `p` a function is a constant and a sum of
//! functions of one coordinate each, which few evaluations determine in many dimensions; with `p = 1` it is the usual product. The
//! likelihood decides: the odds against, `(1 - p) / p`, are one more hyperparameter.
//!
//! `h_i` is Matérn 5/2 for numbers and the overlap kernel for categories.
//!
//! # Derivatives
//! The statistics are the `s_i` of all coordinates, and the logarithm of the odds as one more. With the terms `u_i = 1 - p + p h_i`:
//!
//! - `dk/ds_i = p h_i' prod_{j != i} u_j = k p h_i' / u_i`, where `u_i` is at least `1 - p`;
//! - `p = 1 / (1 + odds)`, so `dp / dlog odds = -p (1 - p)`, and `dk / dlog odds = -p (1 - p) k sum_i (h_i - 1) / u_i`.

use pulp::{Arch, Simd, WithSimd};

use super::coordinates::Coordinates;
use super::factor::{FactorKernel, FactorSlopes, Pairs, ParameterKind};
use super::overlap::{Mismatches, sum_of_mismatches};
use super::stationary::Matern52;
use super::statistic::{LANES, OneStatistic, first_block};
use crate::math::vector;
use crate::surrogate::points::Points;

/// A factor with effects of every set of coordinates.
#[derive(Clone, Debug, PartialEq)]
pub struct Anova {
    /// The numbers among its coordinates.
    pub numeric: Coordinates,
    /// The categories among its coordinates.
    pub categorical: Coordinates,
    /// The odds against a coordinate's part in a term, `(1 - p) / p`.
    pub odds: f64,
}

impl Anova {
    /// `p`: the probability that a coordinate plays a part in a term.
    pub fn probability(&self) -> f64 {
        1.0 / (1.0 + self.odds)
    }
}

impl FactorKernel for Anova {
    fn parameter_count(&self) -> usize {
        self.numeric.lengthscales().len() + self.categorical.lengthscales().len() + 1
    }

    fn parameter_kinds(&self) -> Vec<ParameterKind> {
        let mut kinds = vec![ParameterKind::Lengthscale; self.parameter_count() - 1];
        kinds.push(ParameterKind::Odds);
        kinds
    }

    fn parameters_mut(&mut self) -> Vec<&mut f64> {
        let lengthscales = self.numeric.lengthscales_mut().iter_mut();
        lengthscales.chain(self.categorical.lengthscales_mut()).chain([&mut self.odds]).collect()
    }

    fn statistic_count(&self) -> usize {
        self.numeric.len() + self.categorical.len() + 1
    }

    fn multiply_column(&self, pairs: Pairs<'_>, out: &mut [f64]) {
        Arch::new().dispatch(AnovaColumn { anova: self, pairs, out });
    }

    fn multiply_slopes(&self, pairs: Pairs<'_>, slopes: FactorSlopes<'_>) {
        let mut h = vec![1.0; slopes.value.len()];
        Arch::new().dispatch(AnovaSlopes { anova: self, pairs, own: slopes.own, h: &mut h });
        slopes.multiply_others(&h);
    }

    fn add_input_gradient(
        &self,
        pairs: Pairs<'_>,
        slopes: &[Vec<f64>],
        weights: &[f64],
        scale: f64,
        gradient: &mut [f64],
    ) {
        for (k, slopes) in self.numeric.iter().zip(slopes) {
            let (x, inverse) = (pairs.x[k.index], 1.0 / k.lengthscale);
            let slopes = &slopes[..weights.len()];
            let t: Vec<f64> = weights.iter().zip(slopes).map(|(w, slope)| w * slope).collect();
            let moment = vector::dot(&t, &pairs.coordinate(k.index)[..t.len()]);
            gradient[k.index] += scale * 2.0 * inverse * inverse * (x * t.iter().sum::<f64>() - moment);
        }
    }

    fn add_log_parameter_gradient(
        &self,
        points: &Points,
        j: usize,
        slopes: &[Vec<f64>],
        weights: &[f64],
        t: &mut Vec<f64>,
        gradient: &mut [f64],
    ) {
        let (by_number, rest) = slopes.split_at(self.numeric.len());
        let (by_category, by_odds) = rest.split_at(self.categorical.len());
        let (numeric, rest) = gradient.split_at_mut(self.numeric.lengthscales().len());
        let (categorical, odds) = rest.split_at_mut(self.categorical.lengthscales().len());
        for (k, slopes) in self.numeric.iter().zip(by_number) {
            let (coordinate, inverse) = (&points.coordinate(k.index)[j..], 1.0 / k.lengthscale);
            t.clear();
            t.extend(weights.iter().zip(slopes).map(|(w, s)| w * s));
            let squares = vector::weighted_squares(t, coordinate, coordinate[0]);
            numeric[k.slot] += -2.0 * inverse * inverse * squares;
        }
        for (k, slopes) in self.categorical.iter().zip(by_category) {
            let t = weights.iter().zip(slopes).map(|(w, s)| w * s);
            let sum = sum_of_mismatches(t, &points.coordinate(k.index)[j..]);
            categorical[k.slot] += -(1.0 / k.lengthscale) * sum;
        }
        odds[0] += vector::dot(weights, &by_odds[0][..weights.len()]);
    }
}

/// Multiplies `out` by the factor's part of a column.
struct AnovaColumn<'a> {
    anova: &'a Anova,
    pairs: Pairs<'a>,
    out: &'a mut [f64],
}

impl WithSimd for AnovaColumn<'_> {
    type Output = ();

    #[inline(always)]
    fn with_simd<S: Simd>(self, _: S) {
        let Self { anova, pairs, out } = self;
        let p = anova.probability();
        for (b, out) in out.chunks_mut(LANES).enumerate() {
            let mut product = [1.0; LANES];
            multiply_terms::<S, _>(Matern52, &anova.numeric, pairs, b * LANES, p, &mut product);
            multiply_terms::<S, _>(Mismatches, &anova.categorical, pairs, b * LANES, p, &mut product);
            out.iter_mut().zip(&product).for_each(|(out, h)| *out *= h);
        }
    }
}

/// Multiplies `product` by the terms `1 - p + p h_i` of some coordinates, for the pairs from `start` on.
#[inline(always)]
fn multiply_terms<S: Simd, F: OneStatistic>(
    form: F,
    coordinates: &Coordinates,
    pairs: Pairs<'_>,
    start: usize,
    p: f64,
    product: &mut [f64; LANES],
) {
    let rest = 1.0 - p;
    for k in coordinates.iter() {
        let c = pairs.x[k.index];
        let block = first_block(&pairs.coordinate(k.index)[start..], c);
        let mut s = [0.0; LANES];
        form.add_terms::<S>(&mut s, &block, c, 1.0 / k.lengthscale);
        for l in 0..LANES {
            product[l] *= rest + p * form.value_and_slope::<S>(s[l]).0;
        }
    }
}

/// Multiplies the slopes `own` by the factor's, and `h` by its part of the column.
struct AnovaSlopes<'a> {
    anova: &'a Anova,
    pairs: Pairs<'a>,
    own: &'a mut [Vec<f64>],
    h: &'a mut [f64],
}

/// Terms of a block of pairs.
struct Terms {
    /// `prod_i u_i`.
    product: [f64; LANES],
    /// `sum_i (h_i - 1) / u_i`.
    by_odds: [f64; LANES],
}

impl WithSimd for AnovaSlopes<'_> {
    type Output = ();

    #[inline(always)]
    fn with_simd<S: Simd>(self, _: S) {
        let Self { anova, pairs, own, h } = self;
        let p = anova.probability();
        let n = h.len();
        let (by_coordinate, by_odds) = own.split_at_mut(anova.numeric.len() + anova.categorical.len());
        for start in (0..n).step_by(LANES) {
            let block = start..(start + LANES).min(n);
            let mut terms = Terms { product: [1.0; LANES], by_odds: [0.0; LANES] };
            let (numeric, categorical) = by_coordinate.split_at_mut(anova.numeric.len());
            terms.add::<S, _>(Matern52, &anova.numeric, pairs, start, p, numeric);
            terms.add::<S, _>(Mismatches, &anova.categorical, pairs, start, p, categorical);
            let Terms { product, by_odds: sum } = terms;
            for own in &mut *by_coordinate {
                own[block.clone()].iter_mut().zip(&product).for_each(|(own, product)| *own *= product);
            }
            for (l, own) in by_odds[0][block.clone()].iter_mut().enumerate() {
                *own *= -p * (1.0 - p) * product[l] * sum[l];
            }
            h[block].iter_mut().zip(&product).for_each(|(h, product)| *h *= product);
        }
    }
}

impl Terms {
    /// Adds the terms of some coordinates, for the pairs from `start` on, and multiplies `own[i]` by `p h_i' / u_i`.
    #[inline(always)]
    fn add<S: Simd, F: OneStatistic>(
        &mut self,
        form: F,
        coordinates: &Coordinates,
        pairs: Pairs<'_>,
        start: usize,
        p: f64,
        own: &mut [Vec<f64>],
    ) {
        let rest = 1.0 - p;
        for (k, own) in coordinates.iter().zip(own) {
            let c = pairs.x[k.index];
            let block = first_block(&pairs.coordinate(k.index)[start..], c);
            let (mut h, mut slope) = ([0.0; LANES], [0.0; LANES]);
            form.add_terms::<S>(&mut h, &block, c, 1.0 / k.lengthscale);
            for l in 0..LANES {
                (h[l], slope[l]) = form.value_and_slope::<S>(h[l]);
            }
            for l in 0..LANES {
                let term = rest + p * h[l];
                self.product[l] *= term;
                slope[l] *= p / term;
                self.by_odds[l] += (h[l] - 1.0) / term;
            }
            own[start..].iter_mut().zip(&slope).for_each(|(own, slope)| *own *= slope);
        }
    }
}
