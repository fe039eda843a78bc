//! What Kim, Liu & Chen claim, and what our records say of it.

use super::findings::{FIGURE_1 as PLOTTED, labelled};
use super::verdicts;
use crate::BenchError;
use crate::harness::Shelf;
use crate::report::claim::{Claim, Standing, Verdict};
use crate::report::statistics::mean;
use crate::report::table::compact;
use crate::report::{Record, Summary};

const GRID: &str = "random-grid";
const RIVALS: [&str; 3] = ["lbfgsb", "nelder-mead", "cg"];

/// What section 5.1 says of Figure 1, function by function.
const FIGURE_1: [(&str, &str); 6] = [
    ("branin", "on Branin the random grid has the smallest cumulative regret"),
    ("rastrigin-3d", "on Rastrigin the random grid matches or surpasses the other solvers"),
    ("hartmann-3d", "on Hartmann-3 the random grid matches or surpasses the other solvers"),
    ("hartmann-4d", "on Hartmann-4 the random grid matches or surpasses the other solvers"),
    ("levy-5d", "on Levy the random grid is comparable to the other solvers"),
    ("hartmann-6d", "on Hartmann-6 the random grid is comparable to the other solvers"),
];

/// All of them; the verdicts are those of the setting `code`.
pub(crate) fn claims(shelf: &Shelf) -> Result<Vec<Claim>, BenchError> {
    let code = shelf.records("inexact-code")?;
    let regret = Summary::of(&code, |record| record.cumulative_regret);
    let seconds = Summary::of(&code, |record| record.seconds_thinking);
    let command = "noregret bench inexact --setting code";
    let mut claims: Vec<Claim> =
        FIGURE_1.iter().map(|(problem, claim)| figure_1(problem, claim, &regret)).collect();
    claims.push(Claim { command: command.into(), ..fast("Figure 2", &seconds) });
    claims.push(Claim { command: command.into(), ..slow_nelder_mead(&seconds) });
    claims.push(Claim { command: command.into(), ..sublinear(&code) });

    let small = shelf.records("inexact-code-small-design")?;
    let command = "noregret bench inexact --setting code --ablation small-design";
    let regret = Summary::of(&small, |record| record.cumulative_regret);
    claims.push(Claim { command: command.into(), ..competitive(&regret) });
    let seconds = Summary::of(&small, |record| record.seconds_thinking);
    claims.push(Claim { command: command.into(), ..fast("Figure 5", &seconds) });
    claims.extend(section_4(shelf));
    claims.push(growing(&shelf.records("inexact-code-fixed-grid")?));
    claims.push(Claim::not_run(
        "Figure 3",
        "tuning a boosted model in 11 dimensions, the random grid has low regret and time",
        "the authors' code of this task is not public",
    ));
    Ok(claims)
}

/// Remark 10 and Theorems 7 and 8, if they were run.
fn section_4(shelf: &Shelf) -> Vec<Claim> {
    let command = "noregret bench inexact --setting code --ablation growth";
    match shelf.records("inexact-code-growth") {
        Ok(records) => verdicts::of_section_4(&records, command),
        Err(_) => vec![Claim::not_run(
            "Section 4",
            "grids of t, t^2 and t^d points, and the algorithms of Theorems 7 and 8",
            "there are no records of it",
        )],
    }
}

/// The ends of the curves, as far as a plot tells.
fn plotted(problem: &str) -> String {
    let ends = PLOTTED.iter().find(|(known, _)| *known == problem);
    ends.map_or("a plot".into(), |(_, ends)| {
        format!("read off the plot: grid, L-BFGS-B, NM, CG {}", ends.map(compact).join(", "))
    })
}

/// How the grid stands against its three rivals on a function: not worse than the best of them by more than a pooled deviation.
fn figure_1(problem: &'static str, claim: &'static str, regret: &Summary) -> Claim {
    let no_worse = RIVALS.iter().filter(|rival| no_worse(regret, problem, rival)).count();
    let standing = Standing::of(regret, problem, GRID);
    let first = standing.as_ref().is_some_and(|standing| standing.rank == 1);
    Claim {
        place: "Figure 1",
        claim,
        verdict: if problem == "branin" {
            Verdict::test(first)
        } else {
            Verdict::count(no_worse, RIVALS.len())
        },
        ours: standing.map_or(String::new(), |standing| {
            format!("{standing}; no worse than {no_worse} of 3 within one deviation")
        }),
        theirs: plotted(problem),
        command: format!("noregret bench inexact --setting code --problems {problem}"),
    }
}

/// Whether the grid's mean is at most that of a rival plus one deviation, taken over both.
fn no_worse(regret: &Summary, problem: &str, rival: &str) -> bool {
    let both = (regret.get(problem, GRID), regret.get(problem, rival));
    let (Some(grid), Some(rival)) = both else { return false };
    grid.mean <= rival.mean + grid.sd.hypot(rival.sd) / 2.0_f64.sqrt()
}

fn ratios(seconds: &Summary, rival: &str) -> Vec<f64> {
    let ratio = |problem: &String| Some(seconds.get(problem, rival)?.mean / seconds.get(problem, GRID)?.mean);
    seconds.problems.iter().filter_map(ratio).collect()
}

/// "One of the lowest average runtimes across all problems": first or second of four.
fn fast(place: &'static str, seconds: &Summary) -> Claim {
    let fast = seconds.cells.iter().filter(|cell| cell.algorithm == GRID && cell.rank <= 2).count();
    let times = |rival: &&str| format!("{rival} {}", compact(mean(&ratios(seconds, rival))));
    Claim {
        place,
        claim: "the random grid has one of the two lowest runtimes on every function",
        verdict: Verdict::count(fast, seconds.problems.len()),
        ours: format!(
            "{fast} of {}; times of the others in multiples of the grid's: {}",
            seconds.problems.len(),
            RIVALS.iter().map(times).collect::<Vec<_>>().join(", ")
        ),
        theirs: "a plot".into(),
        command: String::new(),
    }
}

fn slow_nelder_mead(seconds: &Summary) -> Claim {
    let slowest = |problem: &&&str| seconds.get(problem, "nelder-mead").is_some_and(|cell| cell.rank == 4);
    let problems = ["levy-5d", "hartmann-6d"];
    let slowest = problems.iter().filter(slowest).count();
    Claim {
        place: "Figure 2",
        claim: "Nelder-Mead takes by far the longest in 5 and 6 dimensions",
        verdict: Verdict::count(slowest, problems.len()),
        ours: format!("slowest of four on {slowest} of {}", problems.len()),
        theirs: "a plot".into(),
        command: String::new(),
    }
}

/// The regret a round falls, with the `beta_t` of section 5.1, which is that of no theorem.
fn sublinear(code: &[Record]) -> Claim {
    let summary = |at: fn(usize) -> usize| {
        let grid: Vec<Record> = code.iter().filter(|record| record.algorithm == GRID).cloned().collect();
        Summary::of(&grid, move |record| {
            let t = at(record.rounds);
            record.regret_curve[t] / t as f64
        })
    };
    let (half, whole) = (summary(|rounds| rounds / 2), summary(|rounds| rounds));
    let falls = half.cells.iter().zip(&whole.cells).filter(|(half, whole)| whole.mean < half.mean).count();
    Claim {
        place: "Section 5.1",
        claim: "the regret of the random grid grows more slowly than the rounds",
        verdict: Verdict::count(falls, whole.cells.len()),
        ours: format!("regret a round falls in the second half on {falls} of {}", whole.cells.len()),
        theirs: "a plot".into(),
        command: String::new(),
    }
}

fn competitive(regret: &Summary) -> Claim {
    let all = RIVALS.len() * regret.problems.len();
    let pairs = regret.problems.iter().flat_map(|problem| RIVALS.map(|rival| (problem, rival)));
    let no_worse = pairs.filter(|(problem, rival)| no_worse(regret, problem, rival)).count();
    Claim {
        place: "Figure 6",
        claim: "with half the initial points the random grid is competitive, too",
        verdict: Verdict::count(no_worse, all),
        ours: format!("no worse within one deviation in {no_worse} of {all} comparisons"),
        theirs: "a plot".into(),
        command: String::new(),
    }
}

fn growing(records: &[Record]) -> Claim {
    let records: Vec<Record> = records.iter().map(labelled).collect();
    let regret = Summary::of(&records, |record| record.cumulative_regret);
    let better = regret.cells.iter().filter(|cell| cell.algorithm == GRID && cell.rank == 1).count();
    Claim {
        place: "Figure 4",
        claim: "a growing grid has less regret than a fixed one of 100 points",
        verdict: Verdict::count(better, regret.problems.len()),
        ours: format!("{better} of {} (on the six functions)", regret.problems.len()),
        theirs: "slightly better, on another task".into(),
        command: "noregret bench inexact --setting code --ablation fixed-grid --algorithms random-grid"
            .into(),
    }
}
