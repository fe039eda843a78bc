//! A factor that is additive where the objective is: effects of single coordinates, of pairs, of triples, ... in one kernel.
//!
//! `prod_i (1 - p + p h_i(x_i, c_i))`, multiplied out, is the sum over all sets of coordinates of the product kernel on the
//! set, each weighed by the probability that coins with heads `p` choose it: an analysis of variance (Stitson et al. 1999;
//! Durrande et al. 2013; Duvenaud et al. 2011 for what it gains). With a small `p` a function is a constant and a sum of
//! functions of one coordinate each, which few evaluations determine in many dimensions; with `p = 1` it is the usual product. The
//! likelihood decides: the odds against, `(1 - p) / p`, are one more hyperparameter, last among the factor's lengthscales.
//!
//! `h_i` is Matérn 5/2 for numbers and the overlap kernel for categories; the categories are the last coordinates of the factor.

use pulp::{Arch, Simd, WithSimd};

use super::kernel::{Factor, Form, LANES};
use crate::math::vector;
use crate::surrogate::points::Points;

/// The factor with its probability.
pub(super) struct Anova<'a> {
    factor: &'a Factor,
    /// That a coordinate plays a part in a term.
    pub(super) p: f64,
}

impl<'a> Anova<'a> {
    /// The factor, if it is one of these.
    pub(super) fn of(factor: &'a Factor) -> Option<Self> {
        let odds_against = *factor.lengthscales.last()?;
        (factor.form == Form::Anova).then(|| Self { factor, p: 1.0 / (1.0 + odds_against) })
    }

    /// Places in the factor, coordinates, inverse lengthscales, and whether they are categories.
    fn inputs(&self) -> impl Iterator<Item = (usize, usize, f64, bool)> {
        let Factor { dims, lengthscales, categories, .. } = self.factor;
        let first_category = dims.len() - categories;
        dims.iter().enumerate().map(move |(i, &k)| (i, k, 1.0 / lengthscales[i], i >= first_category))
    }

    /// Multiplies `out` by the factor's part of the column of `x`.
    pub(super) fn column(&self, points: &Points, from: usize, x: &[f64], out: &mut [f64]) {
        Arch::new().dispatch(Column { anova: self, points, from, x, out });
    }

    /// Multiplies the slopes `own` by the factor's: one array for each coordinate's statistic, one for the logarithm of the odds; and the
    /// `others` (the values, and slopes of other factors) by its part of the column of `x`.
    pub(super) fn column_with_slopes<'b>(
        &self,
        points: &Points,
        from: usize,
        x: &[f64],
        own: &mut [Vec<f64>],
        others: impl Iterator<Item = &'b mut Vec<f64>>,
    ) {
        let mut all = vec![1.0; own[0].len()];
        Arch::new().dispatch(ColumnWithSlopes { anova: self, points, from, x, own, all: &mut all });
        for other in others {
            other.iter_mut().zip(&all).for_each(|(other, h)| *other *= h);
        }
    }

    /// Adds `scale * d/dx sum_i weights[i] k(points[i], x)`; `slopes` are those by the statistics.
    pub(super) fn add_input_gradient(
        &self,
        points: &Points,
        x: &[f64],
        slopes: &[Vec<f64>],
        weights: &[f64],
        scale: f64,
        gradient: &mut [f64],
    ) {
        for (i, k, inverse, category) in self.inputs() {
            if !category {
                let slopes = &slopes[i][..weights.len()];
                let t: Vec<f64> = weights.iter().zip(slopes).map(|(w, slope)| w * slope).collect();
                let moment = vector::dot(&t, &points.coordinate(k)[..t.len()]);
                gradient[k] += scale * 2.0 * inverse * inverse * (x[k] * t.iter().sum::<f64>() - moment);
            }
        }
    }

    /// `sum_i weights[i] dk(points[j + i], points[j]) / dlog l` for each lengthscale, the odds last.
    pub(super) fn log_lengthscale_gradient(
        &self,
        points: &Points,
        j: usize,
        slopes: &[Vec<f64>],
        weights: &[f64],
    ) -> impl Iterator<Item = (usize, f64)> {
        let of_dims = self.inputs().map(move |(i, k, inverse, category)| {
            let coordinate = &points.coordinate(k)[j..];
            let c = coordinate[0];
            let t = weights.iter().zip(&slopes[i]).map(|(w, s)| w * s);
            if category {
                #[expect(clippy::float_cmp, reason = "categories are encoded exactly")]
                let differing = t.zip(coordinate).filter(|(_, x)| **x != c).map(|(t, _)| t);
                return (i, -inverse * differing.sum::<f64>());
            }
            let t: Vec<f64> = t.collect();
            (i, -2.0 * inverse * inverse * vector::weighted_squares(&t, coordinate, c))
        });
        let last = self.factor.dims.len();
        of_dims.chain([(last, vector::dot(weights, &slopes[last][..weights.len()]))])
    }
}

/// Statistics of `c` and a block of a coordinate (beyond its last point: of `c` and itself).
#[inline(always)]
fn statistics(coordinate: &[f64], c: f64, inverse: f64, category: bool) -> [f64; LANES] {
    let mut block = coordinate.first_chunk::<LANES>().copied().unwrap_or_else(|| {
        let mut padded = [c; LANES];
        padded[..coordinate.len()].copy_from_slice(coordinate);
        padded
    });
    for s in &mut block {
        #[expect(clippy::float_cmp, reason = "categories are encoded exactly")]
        let differs = *s != c;
        let difference = (*s - c) * inverse;
        *s = match (category, differs) {
            (false, _) => difference * difference,
            (true, true) => inverse,
            (true, false) => 0.0,
        };
    }
    block
}

struct Column<'a> {
    anova: &'a Anova<'a>,
    points: &'a Points,
    from: usize,
    x: &'a [f64],
    out: &'a mut [f64],
}

impl WithSimd for Column<'_> {
    type Output = ();

    #[inline(always)]
    fn with_simd<S: Simd>(self, _: S) {
        let Self { anova, points, from, x, out } = self;
        let (p, rest) = (anova.p, 1.0 - anova.p);
        for (b, out) in out.chunks_mut(LANES).enumerate() {
            let mut product = [1.0; LANES];
            for (_, k, inverse, category) in anova.inputs() {
                let s = statistics(&points.coordinate(k)[from + b * LANES..], x[k], inverse, category);
                if category {
                    for l in 0..LANES {
                        product[l] *= rest + p * Form::Overlap.value_and_slope::<S>(s[l]).0;
                    }
                } else {
                    for l in 0..LANES {
                        product[l] *= rest + p * Form::Matern52.value_and_slope::<S>(s[l]).0;
                    }
                }
            }
            out.iter_mut().zip(&product).for_each(|(out, h)| *out *= h);
        }
    }
}

struct ColumnWithSlopes<'a> {
    anova: &'a Anova<'a>,
    points: &'a Points,
    from: usize,
    x: &'a [f64],
    own: &'a mut [Vec<f64>],
    all: &'a mut [f64],
}

impl WithSimd for ColumnWithSlopes<'_> {
    type Output = ();

    #[inline(always)]
    fn with_simd<S: Simd>(self, _: S) {
        let Self { anova, points, from, x, own, all } = self;
        let (p, rest) = (anova.p, 1.0 - anova.p);
        let last = own.len() - 1;
        let n = all.len();
        for start in (0..n).step_by(LANES) {
            let block = start..(start + LANES).min(n);
            // A coordinate's slope is that of its term times the other terms: the product over its own, which is at least `1 - p`.
            let (mut product, mut by_odds) = ([1.0; LANES], [0.0; LANES]);
            for (i, k, inverse, category) in anova.inputs() {
                let mut h = statistics(&points.coordinate(k)[from + start..], x[k], inverse, category);
                let mut slope = [0.0; LANES];
                if category {
                    for l in 0..LANES {
                        (h[l], slope[l]) = Form::Overlap.value_and_slope::<S>(h[l]);
                    }
                } else {
                    for l in 0..LANES {
                        (h[l], slope[l]) = Form::Matern52.value_and_slope::<S>(h[l]);
                    }
                }
                for l in 0..LANES {
                    let term = rest + p * h[l];
                    product[l] *= term;
                    slope[l] *= p / term;
                    by_odds[l] += (h[l] - 1.0) / term;
                }
                own[i][block.clone()].iter_mut().zip(&slope).for_each(|(own, slope)| *own *= slope);
            }
            for own in &mut own[..last] {
                own[block.clone()].iter_mut().zip(&product).for_each(|(own, product)| *own *= product);
            }
            // dp / dlog odds = -p (1 - p)
            for (l, own) in own[last][block.clone()].iter_mut().enumerate() {
                *own *= -p * rest * product[l] * by_odds[l];
            }
            all[block].iter_mut().zip(&product).for_each(|(all, product)| *all *= product);
        }
    }
}
