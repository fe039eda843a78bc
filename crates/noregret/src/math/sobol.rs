//! Sobol points with Owen scrambling: evenly spread, random, and independent of one another's errors.
//!
//! Sobol (1967), in the Gray-code order of Antonov & Saleev (1979); direction numbers by Joe & Kuo (2008),
//! "Constructing Sobol sequences with better two-dimensional projections", file new-joe-kuo-6, first 1,024 dimensions
//! (`joe_kuo.txt`, a line `s a m_1 .. m_s` for each from the second on); nested uniform scrambling of Owen (1995) by a
//! hash, Laine & Karras (2011), as in Burley (2020), "Practical hash-based Owen scrambling".
//! # Notation
//! | paper     | here         | meaning                                                                    |
//! |-----------|--------------|----------------------------------------------------------------------------|
//! | `s`       | `s`          | degree of the primitive polynomial                                         |
//! | `a`       | `a`          | its inner coefficients `a_1 .. a_{s-1}` as bits, `a_1` the highest         |
//! | `m_k`     | `m`          | initial direction integers                                                 |
//! | `v_k`     | `v`          | direction numbers as 32-bit fractions, highest bit worth 1/2               |
//! # Departures
//! Direction numbers are kept with their bits reversed, the order in which the hash wants them: `xor` does not mind,
//! and one of the two reversals per coordinate is saved. Coordinates past the table's are Latin hypercube
//! coordinates (`McKay` et al. 1979): each is evenly spread by itself and independent of all others.

use rand::{Rng, seq::SliceRandom};

use super::rng::Stream;

/// How many dimensions the table of direction numbers holds.
pub const MAX_DIMS: usize = 1_024;

/// Binary digits of a coordinate, and so the logarithm of the number of distinct points.
const BITS: usize = 32;

static TABLE: &str = include_str!("joe_kuo.txt");

/// The sequence in a fixed number of dimensions: its first 2^32 points, by index or one after the other.
#[derive(Clone, Debug)]
pub struct Sobol {
    dims: usize,
    /// `BITS x dims`, the `v_k` of all dimensions side by side; each with its bits reversed.
    directions: Vec<u32>,
}

impl Sobol {
    /// The sequence in `dims` dimensions, or `None` beyond [`MAX_DIMS`].
    pub fn new(dims: usize) -> Option<Self> {
        if dims > MAX_DIMS {
            return None;
        }
        let mut directions = vec![0; BITS * dims];
        let mut set = |j: usize, v: [u32; BITS]| {
            for (k, v) in v.into_iter().enumerate() {
                directions[k * dims + j] = v.reverse_bits();
            }
        };
        if dims > 0 {
            // The first dimension, which has no polynomial: all m_k = 1.
            set(0, std::array::from_fn(|k| 1 << (BITS - 1 - k)));
        }
        for (j, line) in (1..dims).zip(TABLE.lines()) {
            set(j, direction_numbers(line));
        }
        Some(Self { dims, directions })
    }

    /// Point number `index` without scrambling, in `[0, 1)`: number 0 is the origin, number 1 the centre.
    pub fn unscrambled(&self, index: u32) -> Vec<f64> {
        let gray = index ^ (index >> 1);
        let digits = |j: usize| {
            let chosen = (0..BITS).filter(|k| gray >> k & 1 == 1);
            chosen.fold(0, |x, k| x ^ self.directions[k * self.dims + j])
        };
        (0..self.dims).map(|j| f64::from(digits(j).reverse_bits()) * TWO_TO_MINUS_32).collect()
    }

    /// Writes the first points, scrambled by one seed a dimension, into the leading coordinates of the rows of `out`
    /// (which are `stride` long).
    fn scrambled(&self, seeds: &[u32], stride: usize, out: &mut [f64]) {
        let mut state = vec![0_u32; self.dims];
        for (index, point) in out.chunks_exact_mut(stride).enumerate() {
            if index > 0 {
                // Gray codes of neighbours differ in one digit: Antonov & Saleev.
                let k = index.trailing_zeros() as usize;
                let v = &self.directions[k * self.dims..][..self.dims];
                state.iter_mut().zip(v).for_each(|(x, v)| *x ^= v);
            }
            for ((u, &x), &seed) in point.iter_mut().zip(&state).zip(seeds) {
                *u = open_unit(laine_karras(x, seed).reverse_bits());
            }
        }
    }
}

/// `count` scrambled points of the unit cube, point after point (column-major `dims x count`), all within `(0, 1)`.
///
/// Any number of points may be asked for; powers of 2 are spread best. Coordinates from [`MAX_DIMS`] on are Latin
/// hypercube coordinates. From `rng` come one number a dimension for the scrambling, then, only past the table, two
/// a point and dimension. Costs about 5 ns a coordinate.
///
/// # Panics
/// If `count` exceeds 2^32.
pub fn points(dims: usize, count: usize, rng: &mut Stream) -> Vec<f64> {
    assert!(count as u64 <= 1 << BITS, "the sequence has 2^32 points");
    if dims == 0 {
        return Vec::new();
    }
    let mut out = vec![0.0; dims * count];
    let tabled = dims.min(MAX_DIMS);
    let sobol = Sobol::new(tabled).expect("invariant: within the table");
    let seeds: Vec<u32> = (0..tabled).map(|_| rng.next_u32()).collect();
    sobol.scrambled(&seeds, dims, &mut out);
    for j in tabled..dims {
        latin_coordinate(out[j..].iter_mut().step_by(dims), count, rng);
    }
    out
}

/// One coordinate of a Latin hypercube: one point in each of `count` intervals, in random order.
fn latin_coordinate<'a>(out: impl Iterator<Item = &'a mut f64>, count: usize, rng: &mut Stream) {
    let mut cells: Vec<usize> = (0..count).collect();
    cells.shuffle(rng);
    for (u, cell) in out.zip(cells) {
        let x = (cell as f64 + open_unit(rng.next_u32())) / count as f64;
        // With millions of cells the last one could round to 1.
        *u = x.min(1.0 - f64::EPSILON / 2.0);
    }
}

const TWO_TO_MINUS_32: f64 = 1.0 / (1_u64 << BITS) as f64;

/// The middle of the interval which 32 digits name: never 0, never 1, exact.
fn open_unit(digits: u32) -> f64 {
    (f64::from(digits) + 0.5) * TWO_TO_MINUS_32
}

/// Nested uniform scrambling of a number with reversed bits: Laine & Karras (2011), Burley (2020).
///
/// An even multiplier carries only from lower bits to higher: each digit is flipped or not depending on the seed and
/// on the digits before it, which is Owen's scrambling. Over all seeds every result is equally frequent.
fn laine_karras(mut x: u32, seed: u32) -> u32 {
    x = x.wrapping_add(seed);
    x ^= x.wrapping_mul(0x6c50_b47c);
    x ^= x.wrapping_mul(0xb82f_1e52);
    x ^= x.wrapping_mul(0xc7af_e638);
    x ^ x.wrapping_mul(0x8d22_f6e6)
}

/// The `v_k` of one dimension from its line `s a m_1 .. m_s`: the recurrence of Joe & Kuo (2008), shifted to 32 bits.
fn direction_numbers(line: &str) -> [u32; BITS] {
    let mut fields =
        line.split(' ').map(|n| n.parse::<u32>().expect("invariant: the table holds numbers only"));
    let mut next = || fields.next().expect("invariant: s, a and s direction integers a line");
    let (s, a) = (next() as usize, next());
    let mut v = [0; BITS];
    for k in 0..BITS {
        v[k] = if k < s {
            next() << (BITS - 1 - k)
        } else {
            let inner = (1..s).filter(|i| a >> (s - 1 - i) & 1 == 1).fold(0, |x, i| x ^ v[k - i]);
            inner ^ v[k - s] ^ (v[k - s] >> s)
        };
    }
    v
}

#[cfg(test)]
#[expect(clippy::float_cmp, reason = "limits and stored digits are exact")]
mod tests {
    use super::*;
    use crate::math::rng::{Purpose, Seed};

    fn stream(seed: u64) -> Stream {
        Seed(seed).stream(Purpose::Experiment, 0, 0)
    }

    #[test]
    fn first_points_are_those_of_joe_and_kuo() {
        let sobol = Sobol::new(3).unwrap();
        let expected = [
            [0.0, 0.0, 0.0],
            [0.5, 0.5, 0.5],
            [0.75, 0.25, 0.25],
            [0.25, 0.75, 0.75],
            [0.375, 0.375, 0.625],
            [0.875, 0.875, 0.125],
        ];
        for (index, point) in (0..).zip(expected) {
            assert_eq!(sobol.unscrambled(index), point);
        }
    }

    /// SciPy 1.17.1: `2**32 * qmc.Sobol(1024, scramble=False, bits=32).random(16384)[12345]` at a few dimensions.
    #[test]
    fn agrees_with_scipy_up_to_the_last_dimension() {
        let point = Sobol::new(MAX_DIMS).unwrap().unscrambled(12_345);
        for (j, digits) in [
            (0, 2_752_774_144_u32),
            (1, 3_493_593_088),
            (2, 688_652_288),
            (5, 252_968_960),
            (9, 1_845_231_616),
            (99, 2_314_469_376),
            (511, 3_786_670_080),
            (1_023, 2_478_571_520),
        ] {
            assert_eq!(point[j], f64::from(digits) * TWO_TO_MINUS_32, "dimension {j}");
        }
        assert!(Sobol::new(MAX_DIMS + 1).is_none());
    }

    /// How many of `points` fall into each of `rows x columns` boxes.
    fn boxes(points: &[(f64, f64)], rows: usize, columns: usize) -> Vec<usize> {
        let mut counts = vec![0; rows * columns];
        #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "numbers of boxes")]
        for &(x, y) in points {
            counts[(x * rows as f64) as usize * columns + (y * columns as f64) as usize] += 1;
        }
        counts
    }

    #[test]
    fn every_scrambled_coordinate_has_one_point_an_interval() {
        for (dims, m) in [(6, 0), (6, 1), (6, 10), (MAX_DIMS, 6), (MAX_DIMS + 3, 7)] {
            let n = 1 << m;
            let points = points(dims, n, &mut stream(1));
            for j in 0..dims {
                let line: Vec<_> = points.chunks(dims).map(|point| (point[j], 0.0)).collect();
                assert!(boxes(&line, n, 1).iter().all(|&c| c == 1), "coordinate {j} of {dims}, {n} points");
            }
        }
    }

    /// The first two dimensions are a (0, m, 2)-net: every box of volume `2^-m` holds one point, whatever its shape.
    #[test]
    fn scrambling_keeps_the_net() {
        let m = 10;
        for seed in 0..5 {
            let points = points(2, 1 << m, &mut stream(seed));
            let plane: Vec<_> = points.chunks(2).map(|point| (point[0], point[1])).collect();
            for rows in 0..=m {
                assert!(boxes(&plane, 1 << rows, 1 << (m - rows)).iter().all(|&c| c == 1), "2^{rows} rows");
            }
        }
    }

    #[test]
    fn a_prefix_does_not_depend_on_the_count_and_seeds_matter() {
        let long = points(5, 100, &mut stream(3));
        assert_eq!(long[..5 * 17], points(5, 17, &mut stream(3)));
        assert_ne!(long, points(5, 100, &mut stream(4)));
        assert!(points(0, 10, &mut stream(3)).is_empty() && points(3, 0, &mut stream(3)).is_empty());
    }

    /// Root mean square error over 32 scramblings of a product in 6 dimensions with mean 1. Plain Monte Carlo has
    /// `sqrt(((1 + 1/12)^6 - 1) / 1024)`, 0.025; the bound asks for a tenth, and 0.0006 is measured.
    #[test]
    fn integrates_far_better_than_monte_carlo() {
        let (dims, n) = (6, 1_024);
        let error = |seed| {
            let points = points(dims, n, &mut stream(seed));
            points.chunks(dims).map(|point| point.iter().map(|u| u + 0.5).product::<f64>()).sum::<f64>()
                / n as f64
                - 1.0
        };
        let rms = ((0..32).map(|seed| error(seed).powi(2)).sum::<f64>() / 32.0).sqrt();
        let monte_carlo = (((1.0 + 1.0 / 12.0_f64).powi(6) - 1.0) / n as f64).sqrt();
        assert!(rms < 0.1 * monte_carlo, "{rms:e} against {monte_carlo:e}");
    }

    /// A scrambled point is uniform: over seeds the first one has mean 1/2 and variance 1/12. Bounds of 5 standard
    /// deviations, a false alarm in 10^6.
    #[test]
    fn each_point_is_uniform_over_seeds() {
        let n = 2_000;
        for index in [0, 1, 5] {
            let first: Vec<f64> = (0..n).map(|seed| points(2, 6, &mut stream(seed))[2 * index + 1]).collect();
            let mean = first.iter().sum::<f64>() / n as f64;
            let variance = first.iter().map(|u| (u - 0.5).powi(2)).sum::<f64>() / n as f64;
            assert!((mean - 0.5).abs() < 5.0 * (1.0 / 12.0 / n as f64).sqrt(), "{mean}");
            assert!((variance - 1.0 / 12.0).abs() < 5.0 * (1.0 / 180.0 / n as f64).sqrt(), "{variance}");
        }
    }
}
