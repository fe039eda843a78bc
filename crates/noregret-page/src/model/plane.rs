//! The plane through a cloud of points on which they are spread most: two principal components.
//!
//! Features are standardized, so that units do not matter: the components are the eigenvectors of the correlation matrix with the largest
//! eigenvalues. They are found by orthogonal iteration (Golub & Van Loan 2013, section 8.2.4) on a sample of rows, without forming the
//! matrix: a step costs four products of the sample with a vector, whatever the number of features.

/// Cells of the sample: 200,000 rows of 10 features, 1,000 of 2,000. A step takes some milliseconds.
const CELLS: usize = 2_000_000;
/// Rows of the sample at least, however many features they have.
const FEWEST_ROWS: usize = 100;
/// Steps at most. If two eigenvalues are nearly the same, neither is more of an axis than the other.
const STEPS: usize = 60;
/// The axes turn by less than this a step (as a squared sine).
const STEADY: f64 = 1e-10;
/// The golden ratio: its multiples are spread evenly over the circle, and follow no period that a table may have.
const GOLDEN: f64 = 0.618_033_988_749_894_9;

/// Two axes, and how features are scaled on the way to them.
#[derive(Debug)]
pub(super) struct Plane {
    /// Mean and inverse deviation of each feature; 0 for a constant one.
    scales: Vec<(f64, f64)>,
    axes: [Vec<f64>; 2],
    /// The share of the variance that each axis has.
    pub(super) explained: [f64; 2],
}

/// `count` of `rows` rows, evenly spread and in no step with the table; all of them if they are no more.
pub(super) fn spread(rows: usize, count: usize) -> Vec<usize> {
    if rows <= count {
        return (0..rows).collect();
    }
    #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "a share of the rows")]
    let row = |i: usize| ((i as f64 * GOLDEN).fract() * rows as f64) as usize;
    let mut chosen: Vec<usize> = (0..count).map(|i| row(i).min(rows - 1)).collect();
    chosen.sort_unstable();
    chosen.dedup();
    chosen
}

impl Plane {
    /// The plane of a table, row by row with `dims` features each, none of them infinite.
    pub(super) fn of(features: &[f32], dims: usize) -> Self {
        let rows = features.len() / dims;
        let sample = spread(rows, (CELLS / dims).max(FEWEST_ROWS));
        let row = |i: usize| &features[i * dims..(i + 1) * dims];
        let scales = scales(sample.iter().map(|i| row(*i)), sample.len(), dims);
        let mut cells = Vec::with_capacity(sample.len() * dims);
        for i in sample {
            cells.extend(
                row(i).iter().zip(&scales).map(|(x, (mean, inverse))| (f64::from(*x) - mean) * inverse),
            );
        }
        // Each feature that is not constant has a variance of 1.
        let varying = scales.iter().filter(|(_, inverse)| *inverse > 0.0).count();
        let total = varying as f64 * (cells.len() / dims) as f64;
        let (axes, eigenvalues) = leading(&cells, dims);
        let explained =
            eigenvalues.map(|value| if total > 0.0 { (value / total).clamp(0.0, 1.0) } else { 0.0 });
        Self { scales, axes, explained }
    }

    /// Where a row is on the plane.
    pub(super) fn place(&self, row: &[f32]) -> [f64; 2] {
        let scaled =
            row.iter().zip(&self.scales).map(|(x, (mean, inverse))| (f64::from(*x) - mean) * inverse);
        let scaled: Vec<f64> = scaled.collect();
        [0, 1].map(|k| dot(&scaled, &self.axes[k]))
    }
}

/// Mean and inverse deviation of each feature.
fn scales<'a>(rows: impl Iterator<Item = &'a [f32]> + Clone, count: usize, dims: usize) -> Vec<(f64, f64)> {
    let n = count as f64;
    let mut means = vec![0.0; dims];
    for row in rows.clone() {
        means.iter_mut().zip(row).for_each(|(mean, x)| *mean += f64::from(*x) / n);
    }
    let mut variances = vec![0.0; dims];
    for row in rows {
        for ((variance, mean), x) in variances.iter_mut().zip(&means).zip(row) {
            *variance += (f64::from(*x) - mean).powi(2) / n;
        }
    }
    // The rounded mean of equal values may differ from them in the last bit; that is not a deviation.
    let inverse = |mean: f64, variance: f64| {
        let deviation = variance.sqrt();
        if deviation > 1e-12 * mean.abs() && deviation.is_normal() { deviation.recip() } else { 0.0 }
    };
    means.iter().zip(variances).map(|(mean, variance)| (*mean, inverse(*mean, variance))).collect()
}

/// The two leading eigenvectors of `Z^T Z` and their eigenvalues, the largest first. `cells` are the rows of `Z`.
fn leading(cells: &[f64], dims: usize) -> ([Vec<f64>; 2], [f64; 2]) {
    let start = |step: f64| (1..=dims).map(|k| (k as f64 * step).fract() - 0.5).collect::<Vec<f64>>();
    let mut axes = orthonormal([start(GOLDEN), start(GOLDEN * GOLDEN + 0.1)]);
    let mut eigenvalues = [0.0; 2];
    for _ in 0..STEPS {
        let mut next = [vec![0.0; dims], vec![0.0; dims]];
        for row in cells.chunks_exact(dims) {
            for (next, axis) in next.iter_mut().zip(&axes) {
                let along = dot(row, axis);
                next.iter_mut().zip(row).for_each(|(sum, x)| *sum += along * x);
            }
        }
        eigenvalues = [0, 1].map(|k| dot(&next[k], &axes[k]));
        let turned = orthonormal(next);
        let moved = [0, 1].map(|k| 1.0 - dot(&turned[k], &axes[k]).powi(2));
        axes = turned;
        if moved.iter().all(|moved| *moved < STEADY) {
            break;
        }
    }
    // An eigenvector has no sign of its own: its largest element is positive.
    for axis in &mut axes {
        let largest = axis.iter().copied().fold(0.0, |a: f64, b| if b.abs() > a.abs() { b } else { a });
        if largest < 0.0 {
            axis.iter_mut().for_each(|x| *x = -*x);
        }
    }
    (axes, eigenvalues)
}

/// Gram and Schmidt's; an axis of nothing is 0.
fn orthonormal([first, second]: [Vec<f64>; 2]) -> [Vec<f64>; 2] {
    let unit = |mut axis: Vec<f64>| {
        let length = dot(&axis, &axis).sqrt();
        let factor = if length.is_normal() { length.recip() } else { 0.0 };
        axis.iter_mut().for_each(|x| *x *= factor);
        axis
    };
    let first = unit(first);
    let before = dot(&second, &second).sqrt();
    let along = dot(&first, &second);
    let rest: Vec<f64> = second.iter().zip(&first).map(|(x, f)| x - along * f).collect();
    // What is left of a multiple of the first is rounding.
    let second = if dot(&rest, &rest).sqrt() > 1e-12 * before { unit(rest) } else { vec![0.0; first.len()] };
    [first, second]
}

fn dot(a: &[f64], b: &[f64]) -> f64 {
    a.iter().zip(b).map(|(a, b)| a * b).sum()
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Numbers without any pattern that a test would notice, from -1 to 1.
    fn noise(i: usize) -> f64 {
        let mut z = (i as u64).wrapping_mul(0x9E37_79B9_7F4A_7C15);
        z = (z ^ (z >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
        ((z ^ (z >> 31)) >> 11) as f64 / (1_u64 << 52) as f64 - 1.0
    }

    /// A closed form: two features that are the same up to scale, another pair, and a constant. The correlation matrix has the
    /// eigenvalues 2, 2, 0, 0; with some noise in the second pair they are `1 +- 1 / sqrt(3.25)`, and the first axis is the first pair.
    #[test]
    #[expect(clippy::cast_possible_truncation, reason = "features are 32-bit floats")]
    fn pairs_that_go_together_are_the_axes() {
        let rows = 4_000;
        let features: Vec<f32> = (0..rows)
            .flat_map(|i| {
                let (a, b, c) = (noise(3 * i), noise(3 * i + 1), noise(3 * i + 2));
                [a, 1_000.0 * a + 5.0, b, b + 1.5 * c, 7.0].map(|x| x as f32)
            })
            .collect();
        let plane = Plane::of(&features, 5);
        let half = 0.5_f64.sqrt();
        for (axis, expected) in
            plane.axes.iter().zip([[half, half, 0.0, 0.0, 0.0], [0.0, 0.0, half, half, 0.0]])
        {
            for (found, expected) in axis.iter().zip(expected) {
                // Samples of 4,000 have correlations of 1 / sqrt(4000) where there are none, over a gap of 0.45 of the eigenvalues.
                assert!((found - expected).abs() < 0.25, "{:?}", plane.axes);
            }
        }
        // 2 of 4, and 1 + 1 / sqrt(3.25) of 4.
        assert!((plane.explained[0] - 0.5).abs() < 0.01, "{:?}", plane.explained);
        assert!(
            (plane.explained[1] - (1.0 + 3.25_f64.sqrt().recip()) / 4.0).abs() < 0.01,
            "{:?}",
            plane.explained
        );
        // The variance along an axis is its eigenvalue.
        let places: Vec<[f64; 2]> = features.chunks(5).map(|row| plane.place(row)).collect();
        let variance = places.iter().map(|p| p[0] * p[0]).sum::<f64>() / f64::from(rows as u32);
        assert!((variance - 4.0 * plane.explained[0]).abs() < 1e-3, "{variance}");
        let product = places.iter().map(|p| p[0] * p[1]).sum::<f64>() / f64::from(rows as u32);
        assert!(product.abs() < 1e-3, "what is along one axis says nothing of the other: {product}");
    }

    #[test]
    fn tables_without_a_plane_are_no_problem() {
        for (features, dims) in
            [(vec![3.0; 12], 3), (vec![1.0, 2.0, 3.0], 1), (vec![5.0], 1), (vec![f32::MAX, -f32::MAX], 1)]
        {
            let plane = Plane::of(&features, dims);
            let places: Vec<[f64; 2]> = features.chunks(dims).map(|row| plane.place(row)).collect();
            assert!(places.iter().flatten().all(|x| x.is_finite()), "{plane:?}");
            assert!(plane.explained.iter().all(|share| (0.0..=1.0).contains(share)), "{plane:?}");
        }
        let line = Plane::of(&[1.0, 2.0, 2.0, 4.0, 3.0, 6.0], 2);
        assert!((line.explained[0] - 1.0).abs() < 1e-9 && line.explained[1] < 1e-9, "{line:?}");
    }

    #[test]
    fn rows_are_spread_over_the_table() {
        assert_eq!(spread(5, 10), [0, 1, 2, 3, 4]);
        let rows = spread(1_000_000, 3_000);
        assert!(rows.len() > 2_990 && rows.is_sorted_by(|a, b| a < b));
        // In no step with a table of ten columns a plate: each remainder about as often.
        let counts: Vec<usize> =
            (0..10).map(|digit| rows.iter().filter(|row| *row % 10 == digit).count()).collect();
        assert!(counts.iter().all(|count| (200..400).contains(count)), "{counts:?}");
    }
}
