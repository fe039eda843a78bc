//! The maximizers by name, as a user chooses them.
//!
//! On a pool every one of them is replaced by a search of all rows.
//!
//! # Departures
//! L-BFGS-B, Nelder-Mead and conjugate gradients are the rivals in Kim et al. 2025, section 5. With more than 256 points in the model,
//! running ones included, they climb a stand-in of a utility of mean and deviation: the mean is exact, the variance is that of the
//! 128 points most correlated with the start. It is too large away from the start, so climbs may end elsewhere than those on the
//! utility itself; starts and ends are compared by the utility itself. In the paper's runs that concerns the last three rounds of
//! Hartmann-6D alone. Draws of GP-TS are climbed as they are.

use serde::{Deserialize, Serialize};

use super::Maximize;
use super::climb::{Climber, Discrete, LocalMethod};
use super::grid::{RandomGrid, SobolGrid};
use super::multi_start::MultiStart;
use crate::math::conjugate_gradient::ConjugateGradient;
use crate::math::lbfgsb::Lbfgsb;
use crate::math::nelder_mead::NelderMead;
use crate::math::range::{OutOfRange, Range};

/// Candidates that are kept cost 8 bytes for each evaluation.
const CANDIDATES: Range = Range::new(1.0, 1e6);
/// A climb takes milliseconds.
const POLISHED: Range = Range::new(0.0, 1_000.0);
/// Points of a grid cost 8 bytes for each parameter.
const GRID: Range = Range::new(1.0, 1e7);
/// A grid that grows ends here, where a round takes minutes.
pub const LARGEST_GRID: usize = 1_000_000;
const PER_ROUND: Range = Range::new(1.0, 1e5);
const POWER: Range = Range::new(0.0, 20.0);
const BUDGET: Range = Range::new(1e-9, 1e9);
/// No adaptive grid is smaller.
const FIRST: Range = Range::new(16.0, 1e6);
const STARTS: Range = Range::new(1.0, 10_000.0);
const START_GRID: Range = Range::new(0.0, 1e7);
const TOLERANCE: Range = Range::new(1e-15, 1e6);
const ITERATIONS: Range = Range::new(1.0, 1e5);
const DIFFERENCE: Range = Range::new(1e-15, 1.0);

/// How the acquisition function is maximized.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(tag = "name", rename_all = "kebab-case", deny_unknown_fields)]
pub enum Solver {
    /// Candidates kept from round to round, fresh ones around the best points, and the most promising polished: the
    /// fastest way to a good point.
    Auto {
        /// Candidates kept: always so many, drawn anew at each refit. From 1 to 1e6.
        #[serde(default = "defaults::candidates")]
        #[cfg_attr(feature = "schema", schemars(transform = CANDIDATES.stated()))]
        candidates: usize,
        /// Kept candidates polished, and half as many fresh ones; 0 takes the best candidate as it is. From 0 to 1000.
        #[serde(default = "defaults::polished")]
        #[cfg_attr(feature = "schema", schemars(transform = POLISHED.stated()))]
        polished: usize,
    },
    /// `per_round * t^power` fresh uniform points in round `t` (at most a million), or `size` if given. Here every point that the
    /// model chooses is a round, those of a batch, too.
    RandomGrid {
        /// The constant `c` of `|X_t| = c t^power`. From 1 to 1e5.
        #[serde(default = "defaults::per_round")]
        #[cfg_attr(feature = "schema", schemars(transform = PER_ROUND.stated()))]
        per_round: usize,
        /// The growth of the grid: 1 is linear (Theorems 7 and 8), 2 and the dimension are those of Remark 10. From 0 to 20.
        #[serde(default = "defaults::power")]
        #[cfg_attr(feature = "schema", schemars(transform = POWER.stated()))]
        power: f64,
        /// A fixed size in place of a growing one. From 1 to 1e7.
        #[serde(default)]
        #[cfg_attr(feature = "schema", schemars(transform = GRID.stated()))]
        size: Option<usize>,
    },
    /// Scrambled Sobol points.
    SobolGrid {
        /// How many. From 1 to 1e7.
        #[serde(default = "defaults::sobol")]
        #[cfg_attr(feature = "schema", schemars(transform = GRID.stated()))]
        size: usize,
    },
    /// A random grid that grows in measured rounds until the accumulated inexactness is at most `budget * sqrt(t)`, and shrinks after
    /// them while it is below half of that. By default rounds 1, 2, 4, 8, ... are measured, and in between nothing is known;
    /// `measure = "always"` keeps the budget in every round, `"never"` is refused.
    AdaptiveGrid {
        /// The constant of the budget. From 1e-9 to 1e9.
        #[serde(default = "defaults::budget")]
        #[cfg_attr(feature = "schema", schemars(transform = BUDGET.stated()))]
        budget: f64,
        /// Size of the first grid. From 16 to 1e6.
        #[serde(default = "defaults::per_round")]
        #[cfg_attr(feature = "schema", schemars(transform = FIRST.stated()))]
        first: usize,
    },
    /// Multi-start L-BFGS-B; from 257 points on, on a local model.
    Lbfgsb(LocalConfig),
    /// Multi-start Nelder-Mead; from 257 points on, on a local model.
    NelderMead(LocalConfig),
    /// Multi-start conjugate gradients; from 257 points on, on a local model.
    Cg(LocalConfig),
}

/// A multi-start of a local method.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(default, deny_unknown_fields)]
pub struct LocalConfig {
    /// Climbs. From 1 to 10000.
    #[cfg_attr(feature = "schema", schemars(transform = STARTS.stated()))]
    pub starts: usize,
    /// Sobol points from which the best are the starts; 0 starts from uniform points. From 0 to 1e7.
    #[cfg_attr(feature = "schema", schemars(transform = START_GRID.stated()))]
    pub grid: usize,
    /// Gradient, or size of the simplex, that counts as converged. From 1e-15 to 1e6.
    #[cfg_attr(feature = "schema", schemars(transform = TOLERANCE.stated()))]
    pub tolerance: f64,
    /// Nelder-Mead: spread of the simplex's utilities that counts as converged; by default the same as `tolerance`.
    /// From 1e-15 to 1e6.
    #[cfg_attr(feature = "schema", schemars(transform = TOLERANCE.stated()))]
    pub value_tolerance: Option<f64>,
    /// Iterations allowed a dimension. Nelder-Mead makes at most 200 evaluations a dimension, whatever this is; for conjugate
    /// gradients it limits the evaluations as well, line searches included, where SciPy limits the iterations alone.
    /// From 1 to 1e5.
    #[cfg_attr(feature = "schema", schemars(transform = ITERATIONS.stated()))]
    pub iterations: usize,
    /// Step of finite differences in place of analytic gradients. From 1e-15 to 1.
    #[cfg_attr(feature = "schema", schemars(transform = DIFFERENCE.stated()))]
    pub finite_difference: Option<f64>,
    /// What is done with integers and categories.
    pub discrete: Discrete,
    /// Count only climbs that converged.
    pub only_converged: bool,
}

impl Default for LocalConfig {
    fn default() -> Self {
        Self {
            starts: 10,
            grid: 1_000,
            tolerance: 1e-5,
            value_tolerance: None,
            iterations: 200,
            finite_difference: None,
            discrete: Discrete::Search,
            only_converged: false,
        }
    }
}

impl Default for Solver {
    fn default() -> Self {
        Self::Auto { candidates: defaults::candidates(), polished: defaults::polished() }
    }
}

mod defaults {
    pub(super) fn candidates() -> usize {
        1_000
    }
    pub(super) fn polished() -> usize {
        4
    }
    pub(super) fn per_round() -> usize {
        100
    }
    pub(super) fn power() -> f64 {
        1.0
    }
    pub(super) fn sobol() -> usize {
        1_024
    }
    pub(super) fn budget() -> f64 {
        0.1
    }
}

impl Solver {
    /// Its name in study files and on the command line.
    pub fn name(&self) -> &'static str {
        match self {
            Solver::Auto { .. } => "auto",
            Solver::RandomGrid { .. } => "random-grid",
            Solver::SobolGrid { .. } => "sobol-grid",
            Solver::AdaptiveGrid { .. } => "adaptive-grid",
            Solver::Lbfgsb(_) => "lbfgsb",
            Solver::NelderMead(_) => "nelder-mead",
            Solver::Cg(_) => "cg",
        }
    }

    /// Checks what serde cannot.
    pub fn validate(&self) -> Result<(), OutOfRange> {
        match self {
            Solver::Auto { candidates, polished } => {
                CANDIDATES.check("solver.candidates", *candidates)?;
                POLISHED.check("solver.polished", *polished)
            }
            Solver::RandomGrid { per_round, power, size } => {
                PER_ROUND.check("solver.per_round", *per_round)?;
                POWER.check("solver.power", *power)?;
                GRID.check("solver.size", *size)
            }
            Solver::SobolGrid { size } => GRID.check("solver.size", *size),
            Solver::AdaptiveGrid { budget, first } => {
                BUDGET.check("solver.budget", *budget)?;
                FIRST.check("solver.first", *first)
            }
            Solver::Lbfgsb(local) | Solver::NelderMead(local) | Solver::Cg(local) => {
                STARTS.check("solver.starts", local.starts)?;
                START_GRID.check("solver.grid", local.grid)?;
                TOLERANCE.check("solver.tolerance", local.tolerance)?;
                TOLERANCE.check("solver.value_tolerance", local.value_tolerance)?;
                ITERATIONS.check("solver.iterations", local.iterations)?;
                DIFFERENCE.check("solver.finite_difference", local.finite_difference)
            }
        }
    }

    /// The largest number of points that it holds at once, by the name of the option that says it.
    pub fn most_points(&self) -> (&'static str, usize) {
        match self {
            Solver::Auto { candidates, .. } => ("solver.candidates", *candidates),
            Solver::RandomGrid { per_round, size: None, .. } => ("solver.per_round", *per_round),
            Solver::RandomGrid { size: Some(size), .. } | Solver::SobolGrid { size } => {
                ("solver.size", *size)
            }
            Solver::AdaptiveGrid { first, .. } => ("solver.first", *first),
            Solver::Lbfgsb(local) | Solver::NelderMead(local) | Solver::Cg(local) => {
                ("solver.grid", local.grid.max(local.starts))
            }
        }
    }

    /// Candidates whose posterior is kept from round to round.
    pub fn kept_candidates(&self) -> usize {
        if let Solver::Auto { candidates, .. } = self { *candidates } else { 0 }
    }

    /// Candidates that are climbed from.
    pub fn polished(&self) -> usize {
        if let Solver::Auto { polished, .. } = self { *polished } else { 0 }
    }

    /// The maximizer for round `t` (counted from 0) in `dims` dimensions. `grid` is the adaptive grid's present size. `None`
    /// for `Auto`, which works on the candidates of a model and belongs to it.
    pub fn build(&self, t: usize, dims: usize, grid: Option<usize>) -> Option<Box<dyn Maximize>> {
        Some(match self {
            Solver::Auto { .. } => return None,
            Solver::RandomGrid { per_round, power, size } => {
                Box::new(RandomGrid { size: size.unwrap_or_else(|| grid_size(*per_round, *power, t + 1)) })
            }
            Solver::AdaptiveGrid { first, .. } => Box::new(RandomGrid { size: grid.unwrap_or(*first) }),
            Solver::SobolGrid { size } => Box::new(SobolGrid { size: *size }),
            Solver::Lbfgsb(local) => local.build(LocalMethod::Lbfgsb(Lbfgsb {
                gradient_tolerance: local.tolerance,
                max_iterations: local.iterations * dims,
                ..Lbfgsb::default()
            })),
            Solver::NelderMead(local) => local.build(LocalMethod::NelderMead(NelderMead {
                x_tolerance: local.tolerance,
                value_tolerance: local.value_tolerance.unwrap_or(local.tolerance),
                max_iterations: Some(local.iterations * dims),
                ..NelderMead::default()
            })),
            Solver::Cg(local) => local.build(LocalMethod::ConjugateGradient(ConjugateGradient {
                gradient_tolerance: local.tolerance,
                max_iterations: Some(local.iterations * dims),
                // Along a clipped face a line search may make no progress.
                max_evaluations: local.iterations * dims,
                ..ConjugateGradient::default()
            })),
        })
    }
}

/// Points of a growing grid in round `t`, counted from 1: `per_round t^power`, rounded up, at most [`LARGEST_GRID`].
pub fn grid_size(per_round: usize, power: f64, t: usize) -> usize {
    #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "saturates, then is capped")]
    let size = (per_round as f64 * (t as f64).powf(power)).ceil() as usize;
    size.clamp(1, LARGEST_GRID)
}

impl LocalConfig {
    fn build(&self, method: LocalMethod) -> Box<dyn Maximize> {
        Box::new(MultiStart {
            starts: self.starts,
            grid: self.grid,
            climber: Climber {
                method,
                discrete: self.discrete,
                finite_difference: self.finite_difference,
                within: None,
            },
            only_converged: self.only_converged,
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::acquisition::Acquisition;
    use crate::math::rng::{Purpose, Seed};
    use crate::maximize::{Region, Taken, Work};
    use crate::space::Space;
    use crate::surrogate::points::Points;

    /// A hill in the middle of the square.
    struct Hill;

    impl Acquisition for Hill {
        fn values(&self, points: &Points) -> Vec<f64> {
            (0..points.len()).map(|i| self.value_and_gradient(&points.point(i), &mut [0.0; 2])).collect()
        }

        fn value_and_gradient(&self, x: &[f64], gradient: &mut [f64]) -> f64 {
            gradient.iter_mut().zip(x).for_each(|(g, x)| *g = -2.0 * (x - 0.5));
            -x.iter().map(|x| (x - 0.5).powi(2)).sum::<f64>()
        }
    }

    fn work(local: LocalConfig) -> Work {
        let space = Space::bounds(&[(0.0, 1.0); 2]).unwrap();
        let none = Taken::default();
        let region = Region { space: &space, taken: &none, batch: &none, apart: 0.0 };
        let mut rng = Seed(0).stream(Purpose::Candidates, 0, 0);
        Solver::NelderMead(local).build(0, 2, None).unwrap().maximize(&Hill, &region, &mut rng).unwrap().work
    }

    /// SciPy's `xatol` and `fatol` are in different units: those of the parameters and those of the utility.
    #[test]
    fn the_simplex_has_a_tolerance_for_either_unit() {
        let local = LocalConfig { grid: 0, tolerance: 0.01, ..LocalConfig::default() };
        let same = work(LocalConfig { value_tolerance: Some(0.01), ..local.clone() });
        let strict = work(LocalConfig { value_tolerance: Some(1e-9), ..local.clone() });
        assert_eq!(work(local), same);
        assert!(strict.values > same.values, "{strict:?}, {same:?}");
    }

    #[test]
    fn settings_out_of_range_are_named() {
        let bad = Solver::NelderMead(LocalConfig { value_tolerance: Some(0.0), ..LocalConfig::default() });
        assert_eq!(bad.validate().unwrap_err().option, "solver.value_tolerance");
    }

    fn parse(json: &str) -> Result<Solver, serde_json::Error> {
        serde_json::from_str(json)
    }

    const NAMES: [&str; 7] =
        ["auto", "random-grid", "sobol-grid", "adaptive-grid", "lbfgsb", "nelder-mead", "cg"];

    #[test]
    fn a_name_is_enough() {
        for name in NAMES {
            let solver = parse(&format!(r#"{{"name": "{name}"}}"#)).unwrap();
            assert_eq!(solver.name(), name);
            assert_eq!(solver.validate(), Ok(()));
            let text = serde_json::to_string(&solver).unwrap();
            assert_eq!(parse(&text).unwrap(), solver, "{text}");
        }
        assert_eq!(parse(r#"{"name": "auto"}"#).unwrap(), Solver::default());
        assert_eq!(parse(r#"{"name": "lbfgsb"}"#).unwrap(), Solver::Lbfgsb(LocalConfig::default()));
    }

    #[test]
    fn settings_are_read() {
        let grid = parse(r#"{"name": "random-grid", "size": 50}"#).unwrap();
        assert_eq!(grid, Solver::RandomGrid { per_round: 100, power: 1.0, size: Some(50) });
        let local =
            parse(r#"{"name": "cg", "starts": 3, "finite_difference": 1e-8, "discrete": "round"}"#).unwrap();
        let expected = LocalConfig {
            starts: 3,
            finite_difference: Some(1e-8),
            discrete: Discrete::Round,
            ..LocalConfig::default()
        };
        assert_eq!(local, Solver::Cg(expected));
    }

    #[test]
    fn unknown_names_and_settings_are_errors() {
        for name in NAMES {
            let error = parse(&format!(r#"{{"name": "{name}", "startz": 3}}"#)).unwrap_err();
            assert!(error.to_string().contains("startz"), "{name}: {error}");
        }
        let error = parse(r#"{"name": "newton"}"#).unwrap_err().to_string();
        assert!(error.contains("newton") && error.contains("lbfgsb"), "{error}");
        assert!(parse(r#"{"size": 3}"#).is_err());
    }

    /// Assumption 5 and Remark 10: `t`, `t^2` and `t^d` points, up to a limit.
    #[test]
    fn grids_grow_as_their_power_says() {
        assert_eq!([1, 2, 7].map(|t| grid_size(100, 1.0, t)), [100, 200, 700]);
        assert_eq!([1, 2, 7].map(|t| grid_size(1, 2.0, t)), [1, 4, 49]);
        assert_eq!([1, 2, 7, 100, 101].map(|t| grid_size(1, 3.0, t)), [1, 8, 343, 1_000_000, LARGEST_GRID]);
        assert_eq!((grid_size(50, 0.0, 9), grid_size(1, 20.0, usize::MAX)), (50, LARGEST_GRID));
        let cubic = parse(r#"{"name": "random-grid", "per_round": 2, "power": 3}"#).unwrap();
        let space = Space::bounds(&[(0.0, 1.0); 2]).unwrap();
        let none = Taken::default();
        let region = Region { space: &space, taken: &none, batch: &none, apart: 0.0 };
        let mut rng = Seed(0).stream(Purpose::Candidates, 0, 0);
        let found = cubic.build(3, 2, None).unwrap().maximize(&Hill, &region, &mut rng).unwrap();
        assert_eq!(found.work.values, 2 * 4 * 4 * 4);
    }

    #[test]
    fn settings_of_zero_are_named() {
        let field = |json: &str| parse(json).unwrap().validate().unwrap_err().option;
        assert_eq!(field(r#"{"name": "auto", "candidates": 0}"#), "solver.candidates");
        assert_eq!(field(r#"{"name": "random-grid", "per_round": 0}"#), "solver.per_round");
        assert_eq!(field(r#"{"name": "random-grid", "size": 0}"#), "solver.size");
        assert_eq!(field(r#"{"name": "sobol-grid", "size": 0}"#), "solver.size");
        assert_eq!(field(r#"{"name": "adaptive-grid", "budget": -0.1}"#), "solver.budget");
        assert_eq!(field(r#"{"name": "adaptive-grid", "first": 15}"#), "solver.first");
        assert_eq!(field(r#"{"name": "lbfgsb", "starts": 0}"#), "solver.starts");
        assert_eq!(field(r#"{"name": "nelder-mead", "tolerance": 0}"#), "solver.tolerance");
        assert_eq!(field(r#"{"name": "cg", "iterations": 0}"#), "solver.iterations");
        assert_eq!(field(r#"{"name": "cg", "finite_difference": 0}"#), "solver.finite_difference");
    }

    #[test]
    fn random_grids_grow_with_the_rounds() {
        use crate::maximize::function::FromFn;
        use rand::SeedableRng;
        let space = crate::space::Space::bounds(&[(0.0, 1.0)]).unwrap();
        let none = Taken::default();
        let region = Region { space: &space, taken: &none, batch: &none, apart: 0.0 };
        let looked_at = |solver: &Solver, t, grid| {
            let mut rng = crate::math::rng::Stream::seed_from_u64(0);
            let maximizer = solver.build(t, 1, grid).unwrap();
            maximizer.maximize(&FromFn(|u: &[f64]| u[0]), &region, &mut rng).unwrap().work.values
        };
        let growing = Solver::RandomGrid { per_round: 10, power: 1.0, size: None };
        assert_eq!([0, 1, 9].map(|t| looked_at(&growing, t, None)), [10, 20, 100]);
        assert_eq!(looked_at(&Solver::RandomGrid { per_round: 10, power: 1.0, size: Some(7) }, 9, None), 7);
        let adaptive = Solver::AdaptiveGrid { budget: 0.1, first: 16 };
        assert_eq!([None, Some(40)].map(|grid| looked_at(&adaptive, 5, grid)), [16, 40]);
    }
}
