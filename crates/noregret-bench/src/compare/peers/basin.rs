//! Did a run find the right valley? Whether a point lies in the basin of attraction of a global minimizer.
//!
//! A basin is what a descent by short steps says: from the point, minimise within a cube of half a `REACH` to every side,
//! move there, and go on until nothing is gained. The point is in a global basin if the value at the end is the minimum, to
//! `TOLERANCE`; which minimizer it is does not matter, and mirror images of minimizers (see [`Problem::shifted_to`]) count
//! as what they are.
//!
//! This is strict where ripples are fine. The basin of Ackley's function is one ripple of 65 in every direction, that of Griewank's
//! one of up to 190, and a point in the next one, with a small regret, is outside. And a point on the plateau of Michalewicz'
//! function, where the slope is lost in rounding, is in no basin at all.

use noregret::math::lbfgsb::Lbfgsb;
use noregret_problems::Problem;

/// Side of the cube of one step, as a share of the box. The finest ripples that we have are Griewank's, 2 pi of a side of
/// 1200: with 0.005 of the box from crest to crest, a step to either side is a fifth of that.
const REACH: f64 = 0.002;
/// Values as near to the minimum as this are it. Local minima are further away, by 0.007 for Griewank's function and by 0.04 and more
/// for all others; and a descent by differences into Ackley's kink ends nearer than this.
const TOLERANCE: f64 = 1e-3;
/// For central differences, as a share of the box: rounding costs 1e-10 of the value, and the finest ripples have a thousand
/// times its length.
const STEP: f64 = 1e-6;
/// A gain below this ends the descent.
const GAIN: f64 = 1e-9;
/// Enough steps to cross the box.
const MOST_STEPS: usize = 1_000;

/// Whether a descent from `x`, a point of the box, ends at the minimum.
pub(super) fn is_global(problem: &Problem, x: &[f64]) -> bool {
    end_of_descent(problem, x) - problem.minimum <= TOLERANCE
}

/// The value of the local minimum below `x`.
fn end_of_descent(problem: &Problem, x: &[f64]) -> f64 {
    let solver = Lbfgsb { max_evaluations: 50, ..Lbfgsb::default() };
    let mut u = problem.unit(x);
    let mut value = problem.at_unit(&u);
    for _ in 0..MOST_STEPS {
        let lower: Vec<f64> = u.iter().map(|u| (u - REACH / 2.0).max(0.0)).collect();
        let upper: Vec<f64> = u.iter().map(|u| (u + REACH / 2.0).min(1.0)).collect();
        let minimum = solver.minimize(&u, &lower, &upper, |u, gradient| with_slopes(problem, u, gradient));
        let gain = value - minimum.value;
        if !(gain > GAIN) {
            break;
        }
        (u, value) = (minimum.x, minimum.value);
    }
    value
}

/// The value at `u` of the unit cube, and the gradient by differences, which stay in the cube.
fn with_slopes(problem: &Problem, u: &[f64], gradient: &mut [f64]) -> f64 {
    let mut near = u.to_vec();
    for i in 0..u.len() {
        let (left, right) = ((u[i] - STEP).max(0.0), (u[i] + STEP).min(1.0));
        near[i] = right;
        let above = problem.at_unit(&near);
        near[i] = left;
        let below = problem.at_unit(&near);
        near[i] = u[i];
        gradient[i] = (above - below) / (right - left);
    }
    problem.at_unit(u)
}

#[cfg(test)]
mod tests {
    use super::super::name::ProblemName;
    use super::super::suite::problems;
    use super::super::task::Task;
    use super::*;
    use noregret::math::rng::{Purpose, Seed};
    use rand::RngExt;

    fn all() -> impl Iterator<Item = Problem> {
        let continuous = problems().into_iter().filter(|name| ProblemName::parse(name).has_many_basins());
        continuous.map(|name| Task::new(name, 1, None, 7).problem)
    }

    /// A tenth of the finest ripple away from the minimizer one is in its basin, whatever the function.
    #[test]
    fn around_the_minimizer_is_its_basin() {
        let mut rng = Seed(1).stream(Purpose::Experiment, 0, 0);
        for problem in all() {
            for _ in 0..3 {
                let nudge = |u: &f64| u + 0.0005 * (2.0 * rng.random::<f64>() - 1.0);
                let u: Vec<f64> = problem.unit(&problem.minimizers[0]).iter().map(nudge).collect();
                assert!(is_global(&problem, &problem.raw(&u)), "{}", problem.name);
            }
        }
    }

    /// Minima by hand: one ripple aside, one valley aside, the other side of the bowl.
    #[test]
    fn the_next_valley_is_another_one() {
        for (name, aside, global) in [
            ("ackley-5d", 0.4, true),
            ("ackley-5d", 1.0, false),
            ("rastrigin-3d", 0.4, true),
            ("rastrigin-3d", 1.0, false),
            ("griewank-8d", 2.5, true),
            ("griewank-8d", 6.2, false),
            ("levy-5d", 0.5, true),
            ("levy-5d", 3.0, false),
            ("styblinski-tang-10d", 2.0, true),
            ("styblinski-tang-10d", 5.6, false),
        ] {
            let problem = Problem::by_name(name).unwrap();
            let mut x = problem.minimizers[0].clone();
            x[0] += aside;
            assert_eq!(is_global(&problem, &x), global, "{name} at {aside} aside");
        }
    }

    /// The tolerance tells minima apart: descents end well below it or well above.
    #[test]
    fn no_descent_ends_in_between() {
        let mut rng = Seed(2).stream(Purpose::Experiment, 0, 0);
        for problem in all().filter(|problem| problem.dims() <= 10) {
            let minimizer = problem.unit(&problem.minimizers[0]);
            for i in 0..12 {
                // From everywhere, and from where valleys are deep.
                let reach = [1.0, 0.1, 0.02][i % 3];
                let near = |m: &f64| (m + reach * (rng.random::<f64>() - 0.5)).clamp(0.0, 1.0);
                let u: Vec<f64> = minimizer.iter().map(near).collect();
                let gap = end_of_descent(&problem, &problem.raw(&u)) - problem.minimum;
                assert!(!(0.3 * TOLERANCE..5.0 * TOLERANCE).contains(&gap), "{}: {gap:e}", problem.name);
            }
        }
    }

    #[test]
    fn branin_has_three_global_basins() {
        let problem = Problem::by_name("branin").unwrap();
        assert_eq!(problem.minimizers.len(), 3);
        for x in &problem.minimizers {
            assert!(is_global(&problem, &[x[0] + 0.5, x[1] - 0.5]));
        }
    }
}
