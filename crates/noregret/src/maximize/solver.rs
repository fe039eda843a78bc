//! The maximizers by name, as a user chooses them.

use serde::{Deserialize, Serialize};

use super::Maximize;
use super::climb::{Climber, Discrete, LocalMethod};
use super::grid::{RandomGrid, SobolGrid};
use super::multi_start::MultiStart;
use crate::math::conjugate_gradient::ConjugateGradient;
use crate::math::lbfgsb::Lbfgsb;
use crate::math::nelder_mead::NelderMead;

/// How the acquisition function is maximized.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(tag = "name", rename_all = "kebab-case", deny_unknown_fields)]
pub enum Solver {
    /// Candidates kept from round to round, fresh ones around the best points, and the most promising polished: the
    /// fastest way to a good point. On a pool, every row.
    Auto {
        /// Candidates kept; they grow with nothing but the number of refits.
        #[serde(default = "defaults::candidates")]
        candidates: usize,
        /// Candidates polished; 0 takes the best candidate as it is.
        #[serde(default = "defaults::polished")]
        polished: usize,
    },
    /// `per_round * t` fresh uniform points in round `t`, or `size` if given.
    RandomGrid {
        /// The constant `c` of `|X_t| = c t`.
        #[serde(default = "defaults::per_round")]
        per_round: usize,
        /// A fixed size in place of a growing one.
        #[serde(default)]
        size: Option<usize>,
    },
    /// Scrambled Sobol points.
    SobolGrid {
        /// How many.
        #[serde(default = "defaults::sobol")]
        size: usize,
    },
    /// A random grid that is just large enough to keep the accumulated inexactness below `budget * sqrt(t)`.
    AdaptiveGrid {
        /// The constant of the budget.
        #[serde(default = "defaults::budget")]
        budget: f64,
        /// Size of the first grid.
        #[serde(default = "defaults::per_round")]
        first: usize,
    },
    /// Multi-start L-BFGS-B.
    Lbfgsb(LocalConfig),
    /// Multi-start Nelder-Mead.
    NelderMead(LocalConfig),
    /// Multi-start conjugate gradients.
    Cg(LocalConfig),
}

/// A multi-start of a local method.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(default, deny_unknown_fields)]
pub struct LocalConfig {
    /// Climbs.
    pub starts: usize,
    /// Sobol points from which the best are the starts; 0 starts from uniform points.
    pub grid: usize,
    /// Gradient, or size of the simplex, that counts as converged.
    pub tolerance: f64,
    /// Nelder-Mead: spread of the simplex's utilities that counts as converged; by default the same as `tolerance`.
    pub value_tolerance: Option<f64>,
    /// Iterations allowed a dimension.
    pub iterations: usize,
    /// Step of finite differences in place of analytic gradients.
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
    pub(super) fn sobol() -> usize {
        1_024
    }
    pub(super) fn budget() -> f64 {
        0.1
    }
}

/// An invalid setting of a solver.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
#[error("solver `{solver}` needs a positive {field}, not {value}")]
pub struct SolverError {
    /// Its name.
    pub solver: &'static str,
    /// Which setting.
    pub field: &'static str,
    /// Its value.
    pub value: f64,
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
    pub fn validate(&self) -> Result<(), SolverError> {
        let positive = |field, value: f64| {
            if value > 0.0 && value.is_finite() {
                Ok(())
            } else {
                Err(SolverError { solver: self.name(), field, value })
            }
        };
        match self {
            Solver::Auto { candidates, .. } => positive("candidates", *candidates as f64),
            Solver::RandomGrid { per_round, size } => positive("per_round", *per_round as f64)
                .and_then(|()| positive("size", size.unwrap_or(1) as f64)),
            Solver::SobolGrid { size } => positive("size", *size as f64),
            Solver::AdaptiveGrid { budget, first } => {
                positive("budget", *budget).and_then(|()| positive("first", *first as f64))
            }
            Solver::Lbfgsb(local) | Solver::NelderMead(local) | Solver::Cg(local) => {
                positive("starts", local.starts as f64)
                    .and_then(|()| positive("tolerance", local.tolerance))
                    .and_then(|()| positive("value_tolerance", local.value_tolerance.unwrap_or(1.0)))
                    .and_then(|()| positive("iterations", local.iterations as f64))
                    .and_then(|()| positive("finite_difference", local.finite_difference.unwrap_or(1.0)))
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
            Solver::RandomGrid { per_round, size } => {
                Box::new(RandomGrid { size: size.unwrap_or(per_round * (t + 1)) })
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
        assert_eq!(bad.validate().unwrap_err().field, "value_tolerance");
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
        assert_eq!(grid, Solver::RandomGrid { per_round: 100, size: Some(50) });
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

    #[test]
    fn settings_must_be_positive() {
        let field = |json: &str| parse(json).unwrap().validate().unwrap_err().field;
        assert_eq!(field(r#"{"name": "auto", "candidates": 0}"#), "candidates");
        assert_eq!(field(r#"{"name": "random-grid", "per_round": 0}"#), "per_round");
        assert_eq!(field(r#"{"name": "random-grid", "size": 0}"#), "size");
        assert_eq!(field(r#"{"name": "sobol-grid", "size": 0}"#), "size");
        assert_eq!(field(r#"{"name": "adaptive-grid", "budget": -0.1}"#), "budget");
        assert_eq!(field(r#"{"name": "adaptive-grid", "first": 0}"#), "first");
        assert_eq!(field(r#"{"name": "lbfgsb", "starts": 0}"#), "starts");
        assert_eq!(field(r#"{"name": "nelder-mead", "tolerance": 0}"#), "tolerance");
        assert_eq!(field(r#"{"name": "cg", "iterations": 0}"#), "iterations");
        assert_eq!(field(r#"{"name": "cg", "finite_difference": 0}"#), "finite_difference");
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
        let growing = Solver::RandomGrid { per_round: 10, size: None };
        assert_eq!([0, 1, 9].map(|t| looked_at(&growing, t, None)), [10, 20, 100]);
        assert_eq!(looked_at(&Solver::RandomGrid { per_round: 10, size: Some(7) }, 9, None), 7);
        let adaptive = Solver::AdaptiveGrid { budget: 0.1, first: 16 };
        assert_eq!([None, Some(40)].map(|grid| looked_at(&adaptive, 5, grid)), [16, 40]);
    }
}
