//! Who is good at what: ranks within families of problems, and how often the global basin was found.

use super::blocks::{Runs, common};
use super::findings::{Finding, problems_of};
use super::name::ProblemName;
use super::ranking::mean_ranks;
use super::suite::FAMILIES;
use crate::report::Table;

/// Mean rank and place of each method within each family.
///
/// A method that has run nothing of a family is left out of its row, instead of leaving no block to rank.
pub(super) fn families(methods: &[Runs<'_>]) -> Finding {
    let names = methods.iter().map(|runs| runs.method);
    let mut table = Table::new(["family", "blocks"].into_iter().chain(names));
    for (family, problems) in FAMILIES {
        let of_family = |runs: &Runs<'_>| runs.records.iter().any(|r| problems.contains(&r.problem.as_str()));
        let present: Vec<&Runs<'_>> = methods.iter().filter(|runs| of_family(runs)).collect();
        if present.is_empty() {
            continue;
        }
        let blocks = common(&present, |block| problems.contains(&block.0));
        let means = mean_ranks(&blocks);
        let cell = |runs: &Runs<'_>| {
            let place = present.iter().position(|other| other.method == runs.method);
            let Some(&mean) = place.and_then(|j| means.get(j)) else { return String::new() };
            // Rounding apart, so that equals share their place.
            let better = means.iter().filter(|other| **other < mean - 1e-9).count();
            format!("{mean:.2} ({})", ordinal(better + 1))
        };
        table.row([family.to_owned(), blocks.len().to_string()].into_iter().chain(methods.iter().map(cell)));
    }
    let members = FAMILIES.map(|(family, problems)| format!("{family}: {}", problems.join(", ")));
    let lead = format!(
        "Mean rank (place) within each family of problems, over the blocks that all methods with runs of the family have. {}.",
        members.join("; ")
    );
    let lead = if table.rows().is_empty() { String::new() } else { lead };
    Finding { title: "Families of problems", lead, table, figures: Vec::new() }
}

/// Share of the runs of each method on each problem whose best point lies in the basin of a global minimizer.
///
/// Records from before this was looked at are not counted.
pub(super) fn basins(methods: &[Runs<'_>]) -> Finding {
    let names = methods.iter().map(|runs| runs.method);
    let mut table = Table::new(["problem"].into_iter().chain(names));
    for problem in
        problems_of(methods).into_iter().filter(|problem| ProblemName::parse(problem).has_many_basins())
    {
        let found = |runs: &Runs<'_>| -> Vec<bool> {
            let of = runs.records.iter().filter(|record| record.problem == problem);
            of.filter_map(|record| record.extra.get("global_basin")?.as_bool()).collect()
        };
        let found: Vec<Vec<bool>> = methods.iter().map(found).collect();
        if found.iter().any(|runs| !runs.is_empty()) {
            table.row([problem.to_owned()].into_iter().chain(found.iter().map(|runs| share(runs))));
        }
    }
    let lead = "Share of the runs that found the global basin: a descent by short steps from the best point evaluated, on \
                the function without noise, ends at the global minimum. Strict where ripples are fine (Ackley, Griewank): \
                next to the right ripple is beside it.";
    let lead = if table.rows().is_empty() { "" } else { lead };
    Finding { title: "Global basins", lead: lead.to_owned(), table, figures: Vec::new() }
}

/// `75 % of 12`, nothing of none.
fn share(found: &[bool]) -> String {
    if found.is_empty() {
        return String::new();
    }
    let hits = found.iter().filter(|hit| **hit).count();
    format!("{:.0} % of {}", 100.0 * hits as f64 / found.len() as f64, found.len())
}

fn ordinal(n: usize) -> String {
    let ending = match (n % 100, n % 10) {
        (11..=13, _) => "th",
        (_, 1) => "st",
        (_, 2) => "nd",
        (_, 3) => "rd",
        _ => "th",
    };
    format!("{n}{ending}")
}

#[cfg(test)]
mod tests {
    use super::super::blocks::tests::{record, with};
    use super::*;
    use crate::report::Record;

    /// By hand: in two dimensions `a` is first twice and last once; the second block of the noisy ones is `a`'s alone, and
    /// `c` has none there.
    #[test]
    fn places_by_hand() {
        let mut all: Vec<Record> = Vec::new();
        for (problem, regrets) in [
            ("branin", [0.1, 0.2, 0.3]),
            ("six-hump-camel", [0.1, 0.2, 0.3]),
            ("hartmann-3d", [3.0, 2.0, 1.0]),
        ] {
            all.extend(
                ["a", "b", "c"]
                    .iter()
                    .zip(regrets)
                    .map(|(method, regret)| record(method, problem, 0, regret)),
            );
        }
        for (method, seed, regret) in [("a", 0, 1.0), ("a", 1, 1.0), ("b", 0, 1.0)] {
            all.push(record(method, "levy-10d-noisy", seed, regret));
        }
        let methods = ["a", "b", "c"].map(|method| Runs::of(method, &all));
        let expected = [
            ["low-dimensional", "3", "1.67 (1st)", "2.00 (2nd)", "2.33 (3rd)"],
            ["noisy", "1", "1.50 (1st)", "1.50 (1st)", ""],
        ];
        assert_eq!(families(&methods).table.rows(), expected);
    }

    #[test]
    fn basins_are_counted_where_they_were_looked_for() {
        let found = |method: &str, problem: &str, seed, hit: bool| {
            with(record(method, problem, seed, 1.0), "global_basin", hit)
        };
        let all = [
            found("a", "ackley-5d", 0, true),
            found("a", "ackley-5d", 1, false),
            found("a", "ackley-5d", 2, true),
            record("a", "ackley-5d", 3, 1.0),
            record("b", "ackley-5d", 0, 1.0),
            record("a", "levy-5d", 0, 1.0),
            found("b", "rosenbrock-5d", 0, true),
            found("b", "levy-10d-noisy", 0, true),
        ];
        let methods = ["a", "b"].map(|method| Runs::of(method, &all));
        let expected = [["ackley-5d", "67 % of 3", ""], ["levy-10d-noisy", "", "100 % of 1"]];
        assert_eq!(basins(&methods).table.rows(), expected);
    }

    #[test]
    fn ordinals() {
        assert_eq!(
            [1, 2, 3, 4, 11, 12, 13, 21].map(ordinal),
            ["1st", "2nd", "3rd", "4th", "11th", "12th", "13th", "21st"]
        );
    }
}
