//! The functions of section 5.1.

use noregret_problems::Problem;

/// A function, its initial points and its rounds, as in section 5.1 and, for the small design, the authors' script.
#[derive(Clone, Copy, Debug)]
pub(super) struct Case {
    pub(super) problem: &'static str,
    /// Of the main experiment.
    pub(super) large: (usize, usize),
    /// Of the small design (App. B.2.2).
    pub(super) small: (usize, usize),
}

pub(super) const CASES: [Case; 6] = [
    Case { problem: "branin", large: (20, 80), small: (10, 20) },
    Case { problem: "rastrigin-3d", large: (30, 100), small: (15, 45) },
    Case { problem: "hartmann-3d", large: (30, 100), small: (15, 45) },
    Case { problem: "hartmann-4d", large: (40, 100), small: (20, 60) },
    Case { problem: "levy-5d", large: (50, 150), small: (25, 50) },
    Case { problem: "hartmann-6d", large: (60, 200), small: (30, 90) },
];

impl Case {
    /// The function itself.
    pub(super) fn problem(&self) -> Problem {
        Problem::by_name(self.problem).expect("invariant: all cases are known, see the test")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn all_cases_are_known_functions() {
        for case in CASES {
            let problem = case.problem();
            let d = problem.dims();
            assert_eq!((case.large.0, case.small.0), (10 * d, 5 * d), "{}", case.problem);
            // The settings convert raw units by one side.
            let side = problem.bounds[0].1 - problem.bounds[0].0;
            assert!(problem.bounds.iter().all(|(low, high)| (high - low - side).abs() < 1e-12));
        }
    }
}
