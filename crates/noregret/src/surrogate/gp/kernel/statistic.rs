//! The loops of factors with one statistic per pair of points: sum over coordinates, then map, a block of points at a time.

use pulp::{Arch, Simd, WithSimd};

use super::coordinates::Coordinates;
use super::factor::{FactorSlopes, Pairs};

/// Points handled at a time: their statistics stay in registers from the first coordinate to the covariance.
pub(super) const LANES: usize = 16;

/// A covariance `h(s)` of one statistic `s`, a sum over coordinates. The implementors have no fields: each is a type, so
/// that each is compiled to a vector loop of its own.
pub(super) trait OneStatistic: Copy {
    /// Adds to `s` the terms of one coordinate: of its value `c` and of a block of its values at other points.
    fn add_terms<S: Simd>(self, s: &mut [f64; LANES], block: &[f64; LANES], c: f64, inverse: f64);

    /// `h(s)` and `dh/ds`.
    fn value_and_slope<S: Simd>(self, s: f64) -> (f64, f64);
}

/// The first values of a coordinate; beyond its last point, `c`.
#[inline(always)]
pub(super) fn first_block(coordinate: &[f64], c: f64) -> [f64; LANES] {
    coordinate.first_chunk::<LANES>().copied().unwrap_or_else(|| {
        let mut padded = [c; LANES];
        padded[..coordinate.len()].copy_from_slice(coordinate);
        padded
    })
}

/// Statistics of the pairs `start .. start + LANES` (beyond the last point: of `x` and itself).
#[inline(always)]
fn statistics<S: Simd, F: OneStatistic>(
    form: F,
    coordinates: &Coordinates,
    pairs: Pairs<'_>,
    start: usize,
) -> [f64; LANES] {
    let mut s = [0.0; LANES];
    for k in coordinates.iter() {
        let (c, inverse) = (pairs.x[k.index], 1.0 / k.lengthscale);
        let block = first_block(&pairs.coordinate(k.index)[start..], c);
        form.add_terms::<S>(&mut s, &block, c, inverse);
    }
    s
}

/// Multiplies `out` by the factor's covariances.
pub(super) fn multiply_column<F: OneStatistic>(
    form: F,
    coordinates: &Coordinates,
    pairs: Pairs<'_>,
    out: &mut [f64],
) {
    struct Column<'a, F> {
        form: F,
        coordinates: &'a Coordinates,
        pairs: Pairs<'a>,
        out: &'a mut [f64],
    }

    impl<F: OneStatistic> WithSimd for Column<'_, F> {
        type Output = ();

        #[inline(always)]
        fn with_simd<S: Simd>(self, _: S) {
            let Self { form, coordinates, pairs, out } = self;
            for (b, out) in out.chunks_mut(LANES).enumerate() {
                let mut h = statistics::<S, F>(form, coordinates, pairs, b * LANES);
                for h in &mut h {
                    *h = form.value_and_slope::<S>(*h).0;
                }
                multiply(out, &h);
            }
        }
    }

    Arch::new().dispatch(Column { form, coordinates, pairs, out });
}

/// Multiplies the factor's own slopes by `dh/ds`, and everything else by `h`.
pub(super) fn multiply_slopes<F: OneStatistic>(
    form: F,
    coordinates: &Coordinates,
    pairs: Pairs<'_>,
    slopes: FactorSlopes<'_>,
) {
    struct ColumnWithSlopes<'a, F> {
        form: F,
        coordinates: &'a Coordinates,
        pairs: Pairs<'a>,
        slopes: FactorSlopes<'a>,
    }

    impl<F: OneStatistic> WithSimd for ColumnWithSlopes<'_, F> {
        type Output = ();

        #[inline(always)]
        fn with_simd<S: Simd>(self, _: S) {
            let Self { form, coordinates, pairs, slopes: FactorSlopes { own, value, before, after } } = self;
            let own = &mut own[0];
            let n = value.len();
            for start in (0..n).step_by(LANES) {
                let block = start..(start + LANES).min(n);
                let (mut h, mut slope) = ([0.0; LANES], statistics::<S, F>(form, coordinates, pairs, start));
                for l in 0..LANES {
                    (h[l], slope[l]) = form.value_and_slope::<S>(slope[l]);
                }
                multiply(&mut own[block.clone()], &slope);
                multiply(&mut value[block.clone()], &h);
                for other in before.iter_mut().chain(after.iter_mut()) {
                    multiply(&mut other[block.clone()], &h);
                }
            }
        }
    }

    Arch::new().dispatch(ColumnWithSlopes { form, coordinates, pairs, slopes });
}

#[inline(always)]
fn multiply(out: &mut [f64], by: &[f64; LANES]) {
    if let Some(out) = out.first_chunk_mut::<LANES>() {
        for l in 0..LANES {
            out[l] *= by[l];
        }
    } else {
        out.iter_mut().zip(by).for_each(|(out, by)| *out *= by);
    }
}
