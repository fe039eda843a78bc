//! Which problems there are, and all of them with all sizes of batches and all seeds.

use super::task::Task;

/// Functions by name, grouped by what is hard about them. Minima are moved to random places, and what leaves the box is mirrored
/// back, which makes creases; `-translated` has what the formula says there instead (only functions whose minimum stays the lowest value, see
/// the test in `task.rs`). `-noisy` adds noise, `-mixed` makes whole numbers and categories of some coordinates, `-pool` leaves 50,000 random
/// points to choose from, `-million` a million.
pub(super) const FAMILIES: [(&str, &[&str]); 6] = [
    (
        "low-dimensional",
        &[
            "branin",
            "branin-translated",
            "six-hump-camel",
            "six-hump-camel-translated",
            "hartmann-3d",
            "hartmann-3d-translated",
        ],
    ),
    ("smooth", &["rosenbrock-5d", "rosenbrock-5d-translated", "hartmann-6d", "hartmann-6d-translated"]),
    (
        "many basins",
        &[
            "levy-5d",
            "levy-5d-translated",
            "ackley-5d",
            "ackley-5d-translated",
            "michalewicz-5d",
            "griewank-8d",
            "griewank-8d-translated",
            "levy-10d",
            "levy-10d-translated",
            "ackley-10d",
            "ackley-10d-translated",
            "styblinski-tang-10d",
        ],
    ),
    ("high-dimensional", &["rastrigin-20d", "levy-50d"]),
    ("noisy", &["hartmann-6d-noisy", "levy-10d-noisy"]),
    ("mixed", &["levy-5d-mixed", "ackley-10d-mixed"]),
];

/// All of them.
pub(crate) fn problems() -> Vec<&'static str> {
    FAMILIES.iter().flat_map(|(_, problems)| *problems).copied().collect()
}

/// What every method is to run.
pub(crate) struct Suite {
    pub(crate) problems: Vec<&'static str>,
    pub(crate) batches: Vec<usize>,
    pub(crate) runs: u32,
    /// In place of the usual number.
    pub(crate) evaluations: Option<usize>,
    /// Of the first run; the others count on from it.
    pub(crate) seed: u64,
}

/// A task with the number and the seed of its run.
pub(crate) struct TaskRun {
    pub(crate) task: Task,
    pub(crate) number: u32,
    pub(crate) seed: u64,
}

impl Suite {
    /// How many runs there are for each method.
    pub(crate) fn len(&self) -> u64 {
        (self.problems.len() * self.batches.len()) as u64 * u64::from(self.runs)
    }

    /// Problem after problem.
    pub(crate) fn runs(&self) -> impl Iterator<Item = TaskRun> {
        let of = move |problem, batch: usize, number| {
            let seed = self.seed.wrapping_add(u64::from(number));
            TaskRun { task: Task::new(problem, batch, self.evaluations, seed), number, seed }
        };
        self.problems.iter().flat_map(move |problem| {
            self.batches.iter().flat_map(move |batch| (0..self.runs).map(move |run| of(problem, *batch, run)))
        })
    }
}
