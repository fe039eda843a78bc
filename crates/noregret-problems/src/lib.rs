//! Test problems with known minima: what a strategy is measured on.
//!
//! A problem is a plain function on a box, to be **minimized**, in the units of its publication. Formulas and boxes
//! are those of Surjanovic & Bingham, "Virtual Library of Simulation Experiments", unless the function says
//! otherwise; minima and minimizers are given to full double precision, so that a regret is never negative by more
//! than rounding.
//!
//! # Reference numbers
//! Minimizers without a closed form (Hartmann, bird, six-hump camel) come from 400 uniform starts of SciPy 1.17.1's
//! `minimize(f, x0, bounds=box)`, each distinct best end point polished by Newton steps in mpmath at 30 digits.

mod hartmann;
mod hills;
mod michalewicz;
mod planar;
mod valleys;

pub use hartmann::{hartmann3, hartmann4, hartmann6};
pub use hills::{ackley, griewank, griewank_over_i, levy, rastrigin};
pub use michalewicz::michalewicz;
pub use planar::{bird, branin, goldstein_price, six_hump_camel};
pub use valleys::{rosenbrock, sphere, styblinski_tang};

/// A function to minimize on a box, with its known minimum.
#[derive(Clone, Debug)]
pub struct Problem {
    /// The name which [`Problem::by_name`] understands, such as `branin` or `levy-5d`.
    pub name: String,
    /// Lower and upper end of every coordinate.
    pub bounds: Vec<(f64, f64)>,
    /// The smallest value on the box.
    pub minimum: f64,
    /// Points of the box where the minimum is taken: at least one, and all of them unless the problem was shifted.
    pub minimizers: Vec<Vec<f64>>,
    function: fn(&[f64]) -> f64,
    /// How far the landscape was moved, in widths of the box; empty when it stands where its authors put it.
    shift: Vec<f64>,
    /// Beyond the box as it was, whether the formula goes on, in place of the mirror image.
    unfolded: bool,
}

impl Problem {
    fn new(
        name: impl Into<String>,
        function: fn(&[f64]) -> f64,
        bounds: Vec<(f64, f64)>,
        minimum: f64,
        minimizers: Vec<Vec<f64>>,
    ) -> Self {
        Self { name: name.into(), bounds, minimum, minimizers, function, shift: Vec::new(), unfolded: false }
    }

    /// Looks a problem up by name.
    ///
    /// The families `ackley`, `griewank`, `griewank-over-i`, `levy`, `michalewicz`, `rastrigin`, `rosenbrock`,
    /// `sphere` and `styblinski-tang` take any dimension, written `-{d}d`: `levy-5d`. The problems of one dimension
    /// only are understood with and without it: `branin`, `branin-2d`.
    pub fn by_name(name: &str) -> Option<Self> {
        let (family, dims) = split_dims(name);
        let problem = match (family, dims) {
            ("branin", None | Some(2)) => branin(),
            ("bird", None | Some(2)) => bird(),
            ("goldstein-price", None | Some(2)) => goldstein_price(),
            ("six-hump-camel", None | Some(2)) => six_hump_camel(),
            ("hartmann", Some(3)) => hartmann3(),
            ("hartmann", Some(4)) => hartmann4(),
            ("hartmann", Some(6)) => hartmann6(),
            ("ackley", Some(d)) => ackley(d),
            ("griewank", Some(d)) => griewank(d),
            ("griewank-over-i", Some(d)) => griewank_over_i(d),
            ("levy", Some(d)) => levy(d),
            ("michalewicz", Some(d)) => michalewicz(d),
            ("rastrigin", Some(d)) => rastrigin(d),
            ("rosenbrock", Some(d)) if d >= 2 => rosenbrock(d),
            ("sphere", Some(d)) => sphere(d),
            ("styblinski-tang", Some(d)) => styblinski_tang(d),
            _ => return None,
        };
        Some(problem)
    }

    /// Names to show in a list: every problem, the families at the dimensions in which they are mostly met.
    pub fn names() -> &'static [&'static str] {
        &[
            "branin",
            "rastrigin-3d",
            "hartmann-3d",
            "hartmann-4d",
            "levy-5d",
            "hartmann-6d",
            "ackley-2d",
            "ackley-3d",
            "ackley-10d",
            "rosenbrock-2d",
            "rosenbrock-5d",
            "bird-2d",
            "griewank-8d",
            "griewank-over-i-8d",
            "michalewicz-2d",
            "michalewicz-5d",
            "michalewicz-10d",
            "goldstein-price",
            "six-hump-camel",
            "sphere-4d",
            "styblinski-tang-5d",
        ]
    }

    /// Number of coordinates.
    pub fn dims(&self) -> usize {
        self.bounds.len()
    }

    /// The value at `x`, in the problem's own units.
    ///
    /// # Panics
    /// When `x` has another number of coordinates.
    pub fn value(&self, x: &[f64]) -> f64 {
        assert_eq!(x.len(), self.dims(), "coordinates of a point of {}", self.name);
        if self.shift.is_empty() {
            return (self.function)(x);
        }
        let moved: Vec<f64> = x
            .iter()
            .zip(&self.bounds)
            .zip(&self.shift)
            .map(|((&x, &bounds), &shift)| {
                let u = to_unit(x, bounds) - shift;
                from_unit(if self.unfolded { u } else { reflect(u) }, bounds)
            })
            .collect();
        (self.function)(&moved)
    }

    /// The value at the point `u` of the unit cube.
    ///
    /// # Panics
    /// When `u` has another number of coordinates.
    pub fn at_unit(&self, u: &[f64]) -> f64 {
        self.value(&self.raw(u))
    }

    /// The point of the box which `u` of the unit cube stands for.
    pub fn raw(&self, u: &[f64]) -> Vec<f64> {
        u.iter().zip(&self.bounds).map(|(&u, &bounds)| from_unit(u, bounds)).collect()
    }

    /// The point of the unit cube which stands for `x` of the box.
    pub fn unit(&self, x: &[f64]) -> Vec<f64> {
        x.iter().zip(&self.bounds).map(|(&x, &bounds)| to_unit(x, bounds)).collect()
    }

    /// The same function on another box, for papers which cut theirs differently (Ackley on `[-5, 5]^d`).
    ///
    /// The minimum is kept as it is: true of every smaller box with a minimizer in it, and the caller's word for a
    /// larger one.
    ///
    /// # Panics
    /// When no minimizer lies in the box, the dimension changes, or the problem was already shifted.
    #[must_use]
    pub fn on(mut self, bounds: Vec<(f64, f64)>) -> Self {
        assert_eq!(bounds.len(), self.dims(), "bounds of {}", self.name);
        assert!(self.shift.is_empty(), "{}: choose the box before the shift", self.name);
        self.bounds = bounds;
        let bounds = &self.bounds;
        self.minimizers.retain(|x| x.iter().zip(bounds).all(|(x, (low, high))| (low..=high).contains(&x)));
        assert!(!self.minimizers.is_empty(), "{}: no minimizer in the box", self.name);
        self
    }

    /// Moves the landscape so that its first minimizer comes to a random place, uniform in the middle 80 % of every
    /// side; see [`Problem::shifted_to`].
    ///
    /// Minima at the centre or the corner of the box flatter methods that like to look there.
    #[must_use]
    pub fn shifted(self, seed: u64) -> Self {
        let mut state = seed;
        let target: Vec<f64> = (0..self.dims()).map(|_| 0.1 + 0.8 * uniform(&mut state)).collect();
        self.shifted_to(&target)
    }

    /// The same, but what comes in from beyond the box is what the formula says there, without a crease. That may be lower than
    /// the minimum, or of another order of magnitude: not every function is one outside its box.
    #[must_use]
    pub fn translated(self, seed: u64) -> Self {
        Self { unfolded: true, ..self.shifted(seed) }
    }

    /// Moves the landscape so that its first minimizer comes to `target` of the unit cube.
    ///
    /// What leaves the box on one side does not come in on the other: the box is continued by its mirror image, so
    /// the function stays continuous, keeps its length scales and its minimum. Minimizers which leave the box are no
    /// longer listed; mirror images of minimizers may come in and are not listed either.
    ///
    /// # Panics
    /// When `target` is not a point of the unit cube, or the problem was already shifted.
    #[must_use]
    pub fn shifted_to(mut self, target: &[f64]) -> Self {
        assert_eq!(target.len(), self.dims(), "coordinates of the new minimizer of {}", self.name);
        assert!(
            target.iter().all(|t| (0.0..=1.0).contains(t)),
            "{}: target outside the unit cube",
            self.name
        );
        assert!(self.shift.is_empty(), "{}: shifted twice", self.name);
        let first = self.unit(&self.minimizers[0]);
        let shift: Vec<f64> = target.iter().zip(&first).map(|(target, u)| target - u).collect();
        let mut moved = vec![self.raw(target)];
        for minimizer in &self.minimizers[1..] {
            let u: Vec<f64> = self.unit(minimizer).iter().zip(&shift).map(|(u, shift)| u + shift).collect();
            if u.iter().all(|u| (0.0..=1.0).contains(u)) {
                moved.push(self.raw(&u));
            }
        }
        self.minimizers = moved;
        self.shift = shift;
        self
    }
}

/// `levy-5d` is `("levy", Some(5))`, `branin` is `("branin", None)`; a dimension of 0 is none at all.
fn split_dims(name: &str) -> (&str, Option<usize>) {
    name.rsplit_once('-')
        .and_then(|(family, suffix)| {
            let d = suffix.strip_suffix('d')?.parse().ok().filter(|&d| d > 0)?;
            Some((family, Some(d)))
        })
        .unwrap_or((name, None))
}

fn from_unit(u: f64, (low, high): (f64, f64)) -> f64 {
    low + u * (high - low)
}

fn to_unit(x: f64, (low, high): (f64, f64)) -> f64 {
    (x - low) / (high - low)
}

/// Folds `[-1, 2]` onto `[0, 1]` by mirrors at 0 and 1.
fn reflect(u: f64) -> f64 {
    let u = u.abs();
    if u > 1.0 { 2.0 - u } else { u }
}

/// The same interval for each of `d` coordinates.
fn cube(d: usize, low: f64, high: f64) -> Vec<(f64, f64)> {
    vec![(low, high); d]
}

/// One number of `[0, 1)` from `SplitMix64` (Steele et al. 2014): enough chance for a shift, without a dependency.
fn uniform(state: &mut u64) -> f64 {
    *state = state.wrapping_add(0x9E37_79B9_7F4A_7C15);
    let z = (*state ^ (*state >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
    let z = (z ^ (z >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
    let bits = z ^ (z >> 31);
    (bits >> 11) as f64 / (1_u64 << 53) as f64
}

#[cfg(test)]
mod tests {
    use super::*;

    fn all() -> impl Iterator<Item = Problem> {
        Problem::names().iter().map(|name| Problem::by_name(name).unwrap())
    }

    /// Minimizers are rounded to a double, which costs nothing at a smooth minimum; what remains is the rounding of
    /// sums whose terms exceed the minimum by up to a factor of 100.
    fn rounding(problem: &Problem) -> f64 {
        1e-13 * (1.0 + problem.minimum.abs())
    }

    #[test]
    fn listed_minimizers_take_the_minimum() {
        for problem in all() {
            for x in &problem.minimizers {
                let gap = problem.value(x) - problem.minimum;
                assert!(gap.abs() <= rounding(&problem), "{}: {gap:e} at {x:?}", problem.name);
                assert!(x.iter().zip(&problem.bounds).all(|(x, (low, high))| low <= x && x <= high));
            }
        }
    }

    #[test]
    fn no_point_lies_below_the_minimum() {
        let mut state = 1;
        for problem in all() {
            let tolerance = rounding(&problem);
            for i in 0..20_000 {
                let mut u: Vec<f64> = (0..problem.dims()).map(|_| uniform(&mut state)).collect();
                // Half of them near a minimizer, where a wrong one would show: uniform points of ten dimensions
                // never come close.
                if i % 2 == 0 {
                    let near = problem.unit(&problem.minimizers[i % problem.minimizers.len()]);
                    let reach = 0.1_f64.powi(i32::try_from(i % 7).unwrap());
                    for (u, near) in u.iter_mut().zip(near) {
                        *u = (near + reach * (*u - 0.5)).clamp(0.0, 1.0);
                    }
                }
                let gap = problem.at_unit(&u) - problem.minimum;
                assert!(gap >= -tolerance, "{}: {gap:e} at {u:?}", problem.name);
            }
        }
    }

    /// Values by hand or from the defining formula in NumPy 2.4.6, at points that are no minimizers.
    #[test]
    fn values_away_from_the_minimum() {
        for (name, x, expected) in REFERENCE {
            let value = Problem::by_name(name).unwrap().value(x);
            assert!(
                (value - expected).abs() <= 1e-13 * (1.0 + expected.abs()),
                "{name}: {value} != {expected}"
            );
        }
    }
    const REFERENCE: [(&str, &[f64], f64); 17] = [
        ("branin", &[0.75, -1.25], 54.590_451_583_497_48),
        ("bird-2d", &[0.75, -1.25], 5.438_249_323_204_348),
        ("six-hump-camel", &[0.75, -1.25], 4.222_998_046_875),
        ("goldstein-price", &[0.75, -1.25], 3_766.484_619_140_625),
        ("hartmann-3d", &[0.1, 0.3, 0.5], -0.340_419_021_669_852_44),
        ("hartmann-4d", &[0.1, 0.3, 0.5, 0.7], -0.831_791_742_752_959_8),
        ("hartmann-6d", &[0.1, 0.3, 0.5, 0.7, 0.9, 0.2], -0.074_684_947_179_709_39),
        ("ackley-3d", &[0.75, -1.25, 2.0], 6.294_018_037_903_189),
        ("rastrigin-3d", &[0.75, -1.25, 2.0], 26.125),
        ("griewank-3d", &[0.75, -1.25, 2.0], 0.813_984_800_450_555_9),
        ("griewank-over-i-3d", &[0.75, -1.25, 2.0], 0.535_207_213_914_983),
        ("michalewicz-3d", &[1.25, 2.5, 0.75], -0.001_567_343_527_921_964_7),
        ("rosenbrock-3d", &[0.75, -1.25, 2.0], 352.78125),
        ("sphere-3d", &[0.75, -1.25, 2.0], 6.125),
        ("styblinski-tang-3d", &[0.75, -1.25, 2.0], -35.871_093_75),
        ("levy-3d", &[0.75, -1.25, 2.0], 2.027_909_476_764_938),
        ("levy-1d", &[2.5], 1.064_490_890_593_273_5),
    ];

    #[test]
    fn names_are_understood_and_kept() {
        for name in Problem::names() {
            assert_eq!(Problem::by_name(name).unwrap().name, *name);
        }
        assert_eq!(Problem::by_name("bird").unwrap().name, "bird-2d");
        assert_eq!(Problem::by_name("branin-2d").unwrap().name, "branin");
        assert_eq!(Problem::by_name("levy-40d").unwrap().dims(), 40);
        for unknown in [
            "",
            "levy",
            "levy-0d",
            "levy-d",
            "levy-5",
            "hartmann-5d",
            "branin-3d",
            "rosenbrock-1d",
            "-2d",
            "egg",
        ] {
            assert!(Problem::by_name(unknown).is_none(), "{unknown:?}");
        }
    }

    #[test]
    fn units_and_raw_points_are_inverse() {
        let branin = Problem::by_name("branin").unwrap();
        assert_eq!(branin.raw(&[0.0, 1.0]), [-5.0, 15.0]);
        assert_eq!(branin.unit(&[2.5, 7.5]), [0.5, 0.5]);
        assert_eq!(branin.at_unit(&[0.5, 0.5]).to_bits(), branin.value(&[2.5, 7.5]).to_bits());
    }

    #[test]
    fn a_shift_moves_the_minimizer_and_keeps_the_minimum() {
        let mut state = 2;
        for (seed, problem) in (0..).zip(all()) {
            let shifted = problem.clone().shifted(seed);
            let target = shifted.unit(&shifted.minimizers[0]);
            assert!(target.iter().all(|u| (0.1..=0.9).contains(u)), "{}: {target:?}", problem.name);
            // The way through the unit cube moves a point by some 1e-16 of the width, and Ackley's cone has a slope
            // of about 260 per width.
            for x in &shifted.minimizers {
                let gap = shifted.value(x) - shifted.minimum;
                assert!(gap.abs() <= 1e-12 * (1.0 + shifted.minimum.abs()), "{}: {gap:e}", problem.name);
            }
            for _ in 0..1000 {
                let u: Vec<f64> = (0..shifted.dims()).map(|_| uniform(&mut state)).collect();
                assert!(shifted.at_unit(&u) >= shifted.minimum - rounding(&shifted));
            }
        }
    }

    #[test]
    fn a_shift_is_a_translation_inside_and_a_mirror_outside() {
        let plain = sphere(1);
        let shifted = plain.clone().shifted_to(&[0.75]);
        assert_eq!(shifted.minimizers, [vec![plain.raw(&[0.75])[0]]]);
        // The landscape moved a quarter to the right: u shows what stood at u - 1/4, and below 1/4 its mirror image.
        for (u, source) in [(1.0, 0.75), (0.25, 0.0), (0.125, 0.125), (0.0, 0.25)] {
            let gap = shifted.at_unit(&[u]) - plain.at_unit(&[source]);
            assert!(gap.abs() < 1e-13, "u = {u}: {gap:e}"); // values up to 26, and the way through the unit cube
        }
    }

    #[test]
    fn a_translation_follows_the_formula() {
        let translated = Problem { unfolded: true, ..sphere(1).shifted_to(&[0.75]) };
        let minimizer = translated.minimizers[0][0];
        for u in [0.0, 0.125, 0.75, 1.0] {
            let x = translated.raw(&[u])[0];
            let gap = translated.value(&[x]) - (x - minimizer).powi(2);
            assert!(gap.abs() < 1e-12, "u = {u}: {gap:e}"); // values up to 59, and the way through the unit cube
        }
        assert!(branin().translated(3).unfolded);
    }

    #[test]
    fn a_smaller_box_keeps_the_minimizers_inside() {
        let cut = branin().on(vec![(0.0, 10.0), (0.0, 5.0)]);
        assert_eq!(cut.minimizers.len(), 2);
        assert_eq!(
            ackley(2).on(cube(2, -5.0, 5.0)).at_unit(&[0.5, 0.5]).to_bits(),
            ackley(2).value(&[0.0; 2]).to_bits()
        );
    }

    #[test]
    #[should_panic(expected = "no minimizer in the box")]
    fn a_box_without_a_minimizer_is_refused() {
        let _ = branin().on(vec![(0.0, 1.0), (0.0, 1.0)]);
    }
}
