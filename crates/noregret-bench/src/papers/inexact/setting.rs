//! The settings of the experiment: what is printed, what was run, and what we would run.
//!
//! | | `paper` | `code` | `ours` |
//! |---|---|---|---|
//! | kernel | isotropic Matérn 5/2 | isotropic Matérn 3/2 | Matérn 5/2, a lengthscale each |
//! | mean, signal variance | 0, 1 | 0, 1 | values standardised, fitted |
//! | noise variance | 1e-4 | 1e-4 | fitted |
//! | fit (see below) | each round, from lengthscale 1 and 25 random ones | each round, from lengthscale 1 | when data have grown by an eighth, warm, with priors |
//! | gradients of solvers | exact | forward differences | exact |
//! | starts | 10, uniform | 10, uniform | 10 best of 1000 Sobol points |
//! | repeated points | allowed | allowed | avoided |
//!
//! `paper` is what the text says: a Matérn kernel, fitted in each iteration. Its smoothness is not printed, but Assumption 2
//! asks for 2 at least, which the code's 3/2 is not; its footnote 2 counts gradients, not differences. Where the paper is
//! silent it is `code`, but for the starts of a fit: with Matérn 5/2 a fit from lengthscale 1 alone runs on Hartmann 3 into its lower
//! bound 1e-5, where nothing is correlated and the likelihood is flat, so that nothing is learnt (cumulative regret 284 with every
//! solver). So there are 25 more starts, log-uniform within the bounds as scikit-learn would draw them; with 5 the regret was still
//! 92 (seeds 1000 to 1004), with 25 it is 14. `code` is the authors' script: scikit-learn's regressor without normalisation, in raw units, and
//! SciPy's solvers with their tolerances. Boxes have equal sides, so that raw units are converted by one factor.
//!
//! # Departures from the code
//! - The authors seed the grid by the iteration, so that all runs see the same grids, against their Assumption 5. That is a
//!   mistake which we do not copy: all our grids are independent.
//! - Solvers work in the unit cube: first simplices and first steps are scaled by it. Ends of climbs that did not converge
//!   do not count, but where none did, the best counts; the script would crash. Starts of climbs compete with the ends.
//! - Nelder-Mead's vertices are clipped to the box; the authors clip only in the objective, so that their simplex may leave the box, where
//!   the bound is flat. CG makes at most `200 d` evaluations; SciPy's `maxiter` counts iterations alone.
//! - Beyond 256 points (the last three rounds of Hartmann 6) climbs use the variance given the 128 points most correlated with the start;
//!   starts and ends are compared under the full one.
//! - Lengthscales are first fitted to at most 100 of the points, from all starts; from the best end, beyond 200 points, to half of them;
//!   and then to all, with at most 30, 15 and 12 likelihoods and at last to a gradient of 1e-3 per observation. scikit-learn climbs on
//!   all points from each start, to its optimiser's tolerances.

use noregret::Duplicates;
use noregret::acquisition::beta::BetaSchedule;
use noregret::maximize::solver::{LocalConfig, Solver};
use noregret::surrogate::gp::GpConfig;
use noregret::surrogate::gp::hyperparameters::Tunable;
use noregret::surrogate::gp::kernel::Form;

use super::TestedSolver;
use super::fill::Growth;
use crate::Setting;

/// Tolerance of all solvers in the authors' code, in raw units: `gtol`, `xatol`, `fatol`.
const TOLERANCE: f64 = 0.01;
/// SciPy's absolute step of forward differences, in raw units: L-BFGS-B's own, and that of the other methods.
const LBFGSB_STEP: f64 = 1e-8;
const CG_STEP: f64 = 1.49e-8;
/// Points of the growing grid a round, section 5.1.
const PER_ROUND: usize = 100;
/// Of the authors' code, in raw units.
const NOISE_VARIANCE: f64 = 1e-4;
/// Further starts of a fit in `paper`, see above. The bounds span ten decades, of which about one and a half lead to the maximum: 25
/// starts all miss it with a probability of 2 %.
const RESTARTS: usize = 25;
/// The fixed grid of App. B.2.1.
const FIXED_GRID: usize = 100;

/// What it is, in a line.
pub(super) fn describe(setting: Setting) -> &'static str {
    match setting {
        Setting::Paper => {
            "as printed: Matérn 5/2 fitted each round, exact gradients; the code's values where silent"
        }
        Setting::Code => {
            "as the authors' code: raw values, Matérn 3/2 fitted each round, forward differences"
        }
        Setting::Ours => "as users get it: normalised values, fitted Matérn 5/2 ARD, exact gradients",
    }
}

/// The Gaussian process on a box whose sides are all `side`.
pub(super) fn model(setting: Setting, side: f64) -> GpConfig {
    let form = match setting {
        Setting::Ours => return GpConfig::default(),
        Setting::Paper => Form::Matern52,
        Setting::Code => Form::Matern32,
    };
    GpConfig {
        kernel: form,
        isotropic: true,
        // scikit-learn's start and bounds, in raw units.
        lengthscale: Tunable::free(1.0 / side, 1e-5 / side, 1e5 / side),
        outputscale: Tunable::fixed(1.0),
        noise: Tunable::fixed(NOISE_VARIANCE),
        standardize: false,
        fit_points: 20_000,
        refit_growth: 0.0,
        warm_start: false,
        restarts: if setting == Setting::Paper { RESTARTS } else { 0 },
        ..GpConfig::default()
    }
}

/// How the grid of a solver grows; `None` for solvers without one, or whose grid has a rule of its own.
pub(super) fn growth(tested: TestedSolver, dims: usize) -> Option<Growth> {
    let (per_round, power) = match tested.solver {
        "random-grid" if tested.fixed_grid == Some(true) => (FIXED_GRID, 0.0),
        "random-grid" | "gp-ucb-theorem-7" | "gp-ts-theorem-8" => (PER_ROUND, 1.0),
        "random-grid-t" => (1, 1.0),
        "random-grid-t2" => (1, 2.0),
        "random-grid-td" => (1, dims as f64),
        _ => return None,
    };
    Some(Growth { per_round, power })
}

/// `beta_t` of Theorem 7 or 8, which share `delta` among so many events. `B` and `delta` are not printed, and no experiment of the
/// paper uses them; `R` is the deviation of the noise that the model assumes, and 0.01 in `ours`, too, where the noise is fitted.
///
/// The premises of the theorems are not met: `||f|| <= B = 1` cannot hold, since values reach the hundreds (Branin 308), and in `code`
/// the kernel is Matérn 3/2, which Assumption 2 excludes. The runs show what the printed `beta_t` does; they do not test the theorems.
pub(super) fn theorem(events: u8) -> BetaSchedule {
    BetaSchedule::Chowdhury { norm_bound: 1.0, noise: NOISE_VARIANCE.sqrt(), delta: 0.1, events }
}

/// The solver of this name on such a box of `dims` dimensions.
pub(super) fn solver(setting: Setting, tested: TestedSolver, side: f64, dims: usize) -> Solver {
    if let Some(Growth { per_round, power }) = growth(tested, dims) {
        return Solver::RandomGrid { per_round, power, size: None };
    }
    let step = |step: f64| (setting == Setting::Code).then_some(step / side);
    let local = LocalConfig {
        starts: 10,
        grid: 0,
        // A slope by the unit cube's coordinates is `side` times that by raw ones.
        tolerance: TOLERANCE * side,
        iterations: 200,
        only_converged: true,
        ..LocalConfig::default()
    };
    match (setting, tested.solver) {
        (Setting::Paper | Setting::Code, "lbfgsb") => {
            Solver::Lbfgsb(LocalConfig { finite_difference: step(LBFGSB_STEP), ..local })
        }
        (Setting::Paper | Setting::Code, "cg") => {
            Solver::Cg(LocalConfig { finite_difference: step(CG_STEP), ..local })
        }
        (Setting::Paper | Setting::Code, "nelder-mead") => Solver::NelderMead(LocalConfig {
            tolerance: TOLERANCE / side,
            value_tolerance: Some(TOLERANCE),
            ..local
        }),
        _ => default_solver(tested.solver),
    }
}

/// Whether points may repeat.
pub(super) fn duplicates(setting: Setting) -> Duplicates {
    if setting == Setting::Ours { Duplicates::default() } else { Duplicates::Allow }
}

/// The solver as users get it by its name alone.
fn default_solver(name: &str) -> Solver {
    serde_json::from_value(serde_json::json!({ "name": name }))
        .expect("invariant: all solvers of the experiment have defaults, see the test")
}

#[cfg(test)]
mod tests {
    use super::super::SOLVERS;
    use super::*;

    fn tested(solver: &'static str) -> TestedSolver {
        TestedSolver { solver, fixed_grid: None }
    }

    #[test]
    fn all_solvers_are_valid_under_their_names() {
        for setting in Setting::ALL {
            for name in SOLVERS {
                let solver = solver(setting, tested(name), 15.0, 3);
                let expected = if growth(tested(name), 3).is_some() { "random-grid" } else { name };
                assert_eq!((solver.name(), solver.validate()), (expected, Ok(())));
            }
            assert_eq!(model(setting, 15.0).validate(), Ok(()));
        }
        assert_eq!(solver(Setting::Ours, tested("auto"), 1.0, 2), Solver::default());
        assert_eq!(solver(Setting::Ours, tested("random-grid"), 1.0, 2), default_solver("random-grid"));
        let Solver::Lbfgsb(local) = solver(Setting::Ours, tested("lbfgsb"), 20.0, 2) else {
            panic!("a multi-start")
        };
        assert_eq!(local, LocalConfig::default());
        for events in [2, 3] {
            assert_eq!(theorem(events).validate(), Ok(()));
        }
    }

    /// Section 5.1, Assumption 5, Remark 10 and App. B.2.1.
    #[test]
    fn grids_grow_as_printed() {
        let grid = |solver, fixed| {
            let tested = TestedSolver { solver, fixed_grid: Some(fixed) };
            growth(tested, 4).map(|growth| (growth.per_round, growth.power))
        };
        assert_eq!(grid("random-grid", false), Some((100, 1.0)));
        assert_eq!(grid("random-grid", true), Some((100, 0.0)));
        assert_eq!(grid("random-grid-t", false), Some((1, 1.0)));
        assert_eq!(grid("random-grid-t2", false), Some((1, 2.0)));
        assert_eq!(grid("random-grid-td", false), Some((1, 4.0)));
        assert_eq!(grid("lbfgsb", false), None);
    }

    #[test]
    fn raw_units_become_those_of_the_cube() {
        let Solver::Lbfgsb(local) = solver(Setting::Code, tested("lbfgsb"), 20.0, 2) else {
            panic!("a multi-start")
        };
        assert!((local.tolerance - 0.2).abs() < 1e-15);
        assert!(local.finite_difference.is_some_and(|step| (step - 5e-10).abs() < 1e-24));
        assert!((model(Setting::Code, 20.0).lengthscale.start - 0.05).abs() < 1e-15);
        let Solver::Cg(local) = solver(Setting::Paper, tested("cg"), 20.0, 2) else {
            panic!("a multi-start")
        };
        assert_eq!(local.finite_difference, None);
    }
}
