//! What the name of a problem says.

/// Rows of `-pool` and of `-million` problems.
pub(super) const POOL: usize = 50_000;
const MILLION: usize = 1_000_000;
/// Functions without local minima to be caught in. Rosenbrock's valley has a second minimum from four dimensions on, at its far end,
/// but is not hard for that.
const ONE_VALLEY: [&str; 2] = ["rosenbrock-5d", "rosenbrock-20d"];

/// Endings of names by which the points to choose from are not a box.
const DOMAINS: [(&str, Domain); 4] = [
    ("-mixed", Domain::Mixed),
    ("-categories", Domain::Categories),
    ("-pool", Domain::Pool { rows: POOL }),
    ("-million", Domain::Pool { rows: MILLION }),
];

/// A function and what is done to it, as in `levy-10d-noisy`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct ProblemName<'a> {
    /// The function, by its name in `noregret_problems`.
    pub(super) function: &'a str,
    /// Moved by its formula, in place of the mirror image.
    pub(super) translated: bool,
    /// With noise on its values.
    pub(super) noisy: bool,
    pub(super) domain: Domain,
}

/// What may be chosen.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Domain {
    /// Any point of the function's box.
    Box,
    /// Some coordinates are whole numbers and categories.
    Mixed,
    /// All coordinates are categories.
    Categories,
    /// So many random points.
    Pool { rows: usize },
}

impl<'a> ProblemName<'a> {
    /// Reads a name from its end.
    pub(super) fn parse(name: &'a str) -> Self {
        let (rest, noisy) = split(name, "-noisy");
        let ending = DOMAINS.iter().find_map(|(ending, domain)| Some((rest.strip_suffix(ending)?, *domain)));
        let (rest, domain) = ending.unwrap_or((rest, Domain::Box));
        let (function, translated) = split(rest, "-translated");
        Self { function, translated, noisy, domain }
    }

    /// Whether there are local minima to be caught in, and descents from all points.
    pub(super) fn has_many_basins(&self) -> bool {
        !ONE_VALLEY.contains(&self.function) && self.domain != Domain::Mixed
    }
}

/// The name without this ending, and whether it had it.
fn split<'a>(name: &'a str, ending: &str) -> (&'a str, bool) {
    name.strip_suffix(ending).map_or((name, false), |rest| (rest, true))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_by_hand() {
        let of = ProblemName::parse;
        let plain = of("levy-10d");
        let expected =
            ProblemName { function: "levy-10d", translated: false, noisy: false, domain: Domain::Box };
        assert_eq!(plain, expected);
        assert_eq!(of("levy-10d-noisy"), ProblemName { noisy: true, ..plain });
        assert_eq!(of("levy-10d-translated"), ProblemName { translated: true, ..plain });
        for (ending, domain) in DOMAINS {
            let name = format!("levy-10d{ending}");
            assert_eq!(ProblemName::parse(&name), ProblemName { domain, ..plain });
        }
        assert!(plain.has_many_basins() && !of("levy-5d-mixed").has_many_basins());
        assert!(!of("rosenbrock-5d-translated").has_many_basins());
    }
}
