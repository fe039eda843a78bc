//! A claim of a paper, and what our runs say of it.

use std::fmt::{self, Display};

use serde::Serialize;

use super::table::compact;
use super::{Cell, Summary, Table};

/// What our runs say of a claim.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Verdict {
    /// It holds.
    Holds,
    /// It holds in some cases.
    InPart,
    /// Our runs contradict it.
    Contradicted,
    /// It was not tested.
    NotRun,
}

impl Verdict {
    /// Of a claim that needs `needed` cases and has `won`: it holds with as many, and in part with at least half of them. Without a
    /// case it was not tested.
    pub fn count(won: usize, needed: usize) -> Self {
        match () {
            () if needed == 0 => Self::NotRun,
            () if won >= needed => Self::Holds,
            () if 2 * won >= needed => Self::InPart,
            () => Self::Contradicted,
        }
    }

    /// Of a claim that is true or false.
    pub fn test(holds: bool) -> Self {
        if holds { Self::Holds } else { Self::Contradicted }
    }
}

impl Display for Verdict {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(match self {
            Self::Holds => "holds",
            Self::InPart => "holds in part",
            Self::Contradicted => "contradicted",
            Self::NotRun => "not run",
        })
    }
}

/// A claim of a paper beside what we found.
#[derive(Clone, Debug, Serialize)]
pub struct Claim {
    /// Where it stands: `Table 2`.
    pub place: &'static str,
    /// What is claimed, in a sentence.
    pub claim: &'static str,
    /// What our runs say.
    pub verdict: Verdict,
    /// What we found.
    pub ours: String,
    /// What the paper says.
    pub theirs: String,
    /// The command that prints the table behind it; nothing for a claim that was not tested.
    pub command: String,
}

impl Claim {
    /// A claim that was not tested, and why.
    pub fn not_run(place: &'static str, claim: &'static str, why: &str) -> Self {
        let (ours, theirs, command) = (why.to_owned(), String::new(), String::new());
        Self { place, claim, verdict: Verdict::NotRun, ours, theirs, command }
    }
}

/// Where an algorithm stands on a problem.
pub struct Standing {
    /// One more than the number of algorithms with a smaller mean.
    pub rank: usize,
    /// How many were compared.
    pub of: usize,
    /// Its mean.
    pub mean: f64,
    /// Its standard error.
    pub error: f64,
    /// Whether it is first, or the difference to the first is within two standard errors of it.
    pub level: bool,
    /// The best of the others, and its mean.
    pub rival: Option<(String, f64)>,
}

impl Standing {
    /// By the means of a summary; nothing if the algorithm was not run on the problem.
    pub fn of(summary: &Summary, problem: &str, algorithm: &str) -> Option<Self> {
        let own = summary.get(problem, algorithm)?;
        let error = |cell: &Cell| cell.sd / (cell.count as f64).sqrt();
        let others = summary.problem(problem).filter(|cell| cell.algorithm != algorithm);
        let rival = others.min_by(|a, b| a.mean.total_cmp(&b.mean));
        let level = rival.is_none_or(|rival| own.mean - rival.mean <= 2.0 * error(own).hypot(error(rival)));
        Some(Self {
            rank: own.rank,
            of: summary.problem(problem).count(),
            mean: own.mean,
            error: error(own),
            level,
            rival: rival.map(|rival| (rival.algorithm.clone(), rival.mean)),
        })
    }
}

impl Display for Standing {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} ± {} [{} of {}]", compact(self.mean), compact(self.error), self.rank, self.of)?;
        self.rival.as_ref().map_or(Ok(()), |(name, mean)| write!(f, ", {name} {}", compact(*mean)))
    }
}

/// All claims of papers, a row each.
pub fn claims_table<'a>(claims: impl IntoIterator<Item = (&'a str, &'a Claim)>) -> Table {
    let mut table = Table::new(["paper", "where", "claim", "verdict", "ours", "theirs", "command"]);
    for (paper, claim) in claims {
        let command = if claim.command.is_empty() { String::new() } else { format!("`{}`", claim.command) };
        table.row([
            paper.to_owned(),
            claim.place.to_owned(),
            claim.claim.to_owned(),
            claim.verdict.to_string(),
            claim.ours.clone(),
            claim.theirs.clone(),
            command,
        ]);
    }
    table
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::report::summary::tests::records;

    #[test]
    fn counts_decide() {
        let verdicts = [9, 8, 4, 3].map(|won| Verdict::count(won, 8));
        assert_eq!(verdicts, [Verdict::Holds, Verdict::Holds, Verdict::InPart, Verdict::Contradicted]);
        assert_eq!(format!("{:>13}|", Verdict::NotRun), "      not run|");
    }

    /// The difference 0.5 has the standard error sqrt(0.5^2 + 0.5^2) = 0.71.
    #[test]
    fn a_rival_within_two_standard_errors_is_level() {
        let all = [("a", [1.0, 2.0]), ("b", [1.5, 2.5]), ("c", [9.0, 9.5])];
        let records: Vec<_> = all.iter().flat_map(|(name, values)| records("p", name, values)).collect();
        let summary = Summary::of(&records, |record| record.simple_regret);
        let standing = |name| Standing::of(&summary, "p", name).unwrap();
        assert_eq!(
            ["a", "b", "c"].map(|name| (standing(name).rank, standing(name).level)),
            [(1, true), (2, true), (3, false)]
        );
        assert_eq!(standing("b").to_string(), "2.00 ± 0.500 [2 of 3], a 1.50");
        assert!(Standing::of(&summary, "p", "d").is_none());
    }

    #[test]
    fn a_claim_is_a_row() {
        let claim = Claim::not_run("Table 4", "first of seven", "needs a simulator");
        let table = claims_table([("Ren & Li", &claim)]);
        assert_eq!(
            table.rows()[0],
            ["Ren & Li", "Table 4", "first of seven", "not run", "needs a simulator", "", ""]
        );
    }
}
