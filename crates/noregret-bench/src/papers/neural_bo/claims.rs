//! What Phan-Trong et al. claim, and what our records say of it.

use super::findings::{RowOfTable2, normal, values, with_the_best_nu};
use super::problem::{EXAMPLE, FIGURE_1};
use super::{ALGORITHMS, RUNS};
use crate::BenchError;
use crate::harness::Shelf;
use crate::papers::bbob;
use crate::report::claim::{Claim, Verdict};
use crate::report::statistics::{mean, standard_deviation};
use crate::report::table::compact;
use crate::report::{Record, Summary};

/// The families of Figure 1, four functions each in the order of [`FIGURE_1`].
const FAMILIES: [(&str, [&str; 3]); 3] = [
    ("ackley", ["Figure 1, Ackley", "Table 2, Ackley", "Figure 1, Ackley with its minimum moved"]),
    ("levy", ["Figure 1, Levy", "Table 2, Levy", "Figure 1, Levy with its minimum moved"]),
    (
        "michalewicz",
        ["Figure 1, Michalewicz", "Table 2, Michalewicz", "Figure 1, Michalewicz with its minimum moved"],
    ),
];
const COMMAND: &str = "noregret bench neural-bo --rounds 200";
const SHIFTED: &str = "noregret bench neural-bo --rounds 200 --shifted";

/// All of them; the verdicts on Figure 1 and the tables are those of the setting `paper` with 200 rounds.
pub(crate) fn claims(shelf: &Shelf) -> Result<Vec<Claim>, BenchError> {
    let (records, _) = with_the_best_nu(&shelf.records("neural-bo-paper")?);
    let mut claims = Vec::new();
    for (family, [figure, table, moved]) in FAMILIES {
        let plain: Vec<String> = of_family(family).map(str::to_owned).collect();
        let shifted: Vec<String> = of_family(family).map(|name| format!("{name}-shifted")).collect();
        claims.push(comparable(figure, COMMAND, &records, &plain));
        claims.push(better(table, &records, &plain));
        claims.push(comparable(moved, SHIFTED, &records, &shifted));
    }
    claims.push(normally_distributed(&records));
    claims.push(high_dimensions(&records));
    claims.push(authors_example(&shelf.records("neural-bo-code")?));
    claims.extend(bbob::claims(shelf)?);
    let data = "needs data or a simulator that are not part of the program yet";
    claims.push(Claim::not_run(
        "Figure 3",
        "NeuralBO finds samples that detect tampered models most often",
        data,
    ));
    claims.push(Claim::not_run("Figure 4", "NeuralBO retrieves the most similar documents", data));
    claims.push(Claim::not_run("Figure 5", "NeuralBO has the highest reward on robot pushing", data));
    claims.push(Claim::not_run(
        "Figure 6",
        "the memory of NeuralBO does not grow with the evaluations",
        "by default ours is computed in the dual and grows; `variance = \"diagonal\"` does not, and was not measured",
    ));
    claims.push(Claim::not_run(
        "Theorem 1",
        "cumulative regret grows more slowly than the rounds",
        "not measured",
    ));
    Ok(claims)
}

fn of_family(family: &str) -> impl Iterator<Item = &'static str> {
    FIGURE_1.into_iter().filter(move |name| name.starts_with(family))
}

/// How many runs of every method there are on each of these functions, at least.
fn runs(records: &[Record], problems: &[String]) -> u32 {
    let of = |problem: &String, algorithm: &str| {
        let own = |record: &&Record| record.problem == *problem && record.algorithm == algorithm;
        u32::try_from(records.iter().filter(own).count()).unwrap_or(u32::MAX)
    };
    let each = problems.iter().flat_map(|problem| ALGORITHMS.map(|algorithm| of(problem, algorithm)));
    each.min().unwrap_or(0)
}

/// A verdict that rests on tests which fail to reject: with fewer than the paper's ten runs they say nothing.
fn of_ten_runs(verdict: Verdict, runs: u32) -> Verdict {
    if runs < RUNS { Verdict::NotRun } else { verdict }
}

/// The rows of Table 2 of those functions that were run.
fn rows(records: &[Record], problems: &[String]) -> Vec<RowOfTable2> {
    problems.iter().filter_map(|problem| RowOfTable2::of(records, problem)).collect()
}

/// "NeuralBO is comparable to or better than all other baselines": no rival is significantly better.
fn comparable(place: &'static str, command: &str, records: &[Record], problems: &[String]) -> Claim {
    let rows = rows(records, problems);
    let good = rows.iter().filter(|row| row.beaten == 0).count();
    let (beaten, all): (usize, usize) =
        (rows.iter().map(|row| row.beaten).sum(), rows.iter().map(|row| row.p.len()).sum());
    Claim {
        place,
        claim: "NeuralBO is comparable to or better than all rivals: none is significantly better",
        verdict: if rows.is_empty() { Verdict::NotRun } else { Verdict::count(good, rows.len()) },
        ours: format!(
            "on {good} of {} functions; {beaten} of {all} rivals are better ({} runs)",
            rows.len(),
            runs(records, problems)
        ),
        theirs: "on 4 of 4".into(),
        command: command.into(),
    }
}

/// The letters of Table 2.
fn better(place: &'static str, records: &[Record], problems: &[String]) -> Claim {
    let rows = rows(records, problems);
    let (held, claims): (usize, usize) =
        (rows.iter().map(|row| row.held).sum(), rows.iter().map(|row| row.claims).sum());
    Claim {
        place,
        claim: "NeuralBO is significantly better where Table 2 has a T",
        verdict: of_ten_runs(Verdict::count(held, claims), runs(records, problems)),
        ours: format!("{held} of {claims} T ({} runs)", runs(records, problems)),
        theirs: format!("{claims} of {} T", rows.iter().map(|row| row.p.len()).sum::<usize>()),
        command: COMMAND.into(),
    }
}

/// "As all p-values exceeded 0.05": Table 1.
fn normally_distributed(records: &[Record]) -> Claim {
    let best = Summary::of(records, super::findings::best_value);
    let plain = best.problems.iter().filter(|problem| FIGURE_1.contains(&problem.as_str()));
    let tests: Vec<(usize, usize)> =
        plain.map(|problem| normal(records, problem, &best.algorithms)).collect();
    let (above, all): (usize, usize) =
        (tests.iter().map(|test| test.0).sum(), tests.iter().map(|test| test.1).sum());
    let runs = runs(records, &FIGURE_1.map(str::to_owned));
    Claim {
        place: "Table 1",
        claim: "the best values of ten runs are normal: all p-values exceed 0.05",
        verdict: of_ten_runs(Verdict::count(above, all), runs),
        ours: format!("{above} of {all} ({runs} runs)"),
        theirs: "84 of 84".into(),
        command: COMMAND.into(),
    }
}

/// "Our algorithm is also promising for high dimensions": first in 100 dimensions, within the errors.
fn high_dimensions(records: &[Record]) -> Claim {
    let best = Summary::of(records, super::findings::best_value);
    let problems = ["ackley-100d", "levy-100d", "michalewicz-100d"];
    let standing = |problem: &&str| crate::report::claim::Standing::of(&best, problem, "neural-bo");
    let standings: Vec<_> = problems.iter().filter_map(standing).collect();
    let ranks = standings.iter().map(|standing| format!("{} of {}", standing.rank, standing.of));
    Claim {
        place: "section 7.1",
        claim: "in 100 dimensions NeuralBO has the lowest values",
        verdict: Verdict::count(standings.iter().filter(|standing| standing.level).count(), problems.len()),
        ours: format!("ranks on Ackley, Levy and Michalewicz: {}", ranks.collect::<Vec<_>>().join(", ")),
        theirs: "1 of 7 each; on Levy and Michalewicz level with Neural-Greedy".into(),
        command: COMMAND.into(),
    }
}

/// The authors' ten stored runs of their example end at 0.172 ± 0.085.
fn authors_example(records: &[Record]) -> Claim {
    let ours = values(records, EXAMPLE, "neural-bo");
    let (own, theirs) = (mean(&ours), 0.172);
    let error = (standard_deviation(&ours).powi(2) / ours.len() as f64 + 0.085_f64.powi(2) / 10.0).sqrt();
    Claim {
        place: "authors' code",
        claim: "on Ackley in two dimensions 100 rounds lead to 0.172 or less, within two standard errors",
        verdict: Verdict::test(own - theirs <= 2.0 * error),
        ours: format!("{} ± {} ({} runs)", compact(own), compact(standard_deviation(&ours)), ours.len()),
        theirs: "0.172 ± 0.085 (10 runs)".into(),
        command: "noregret bench neural-bo --setting code --algorithms neural-bo".into(),
    }
}
