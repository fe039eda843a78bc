//! What the records say: the figures of the paper as tables, and whether its finding holds.

use std::fmt::Write;

use super::run::SOLVES;
use super::verdicts::Verdicts;
use super::{Ablation, Setting, setting};
use crate::report::table::{compact, mean_sd_rank};
use crate::report::{BarPlot, LinePlot, Record, Summary, Table, mean_curves};
use crate::{BenchError, Output};

/// Cumulative regret of the authors' public code, run by us: their scikit-learn and SciPy on the large design.
///
/// The spread over seeds is wide: on Branin this experiment gives 17.3 ± 8.0 for seeds 0 to 19 and 24.6 ± 15.6 for seeds
/// 100 to 159; the same loop over scikit-learn 1.9.1 with independent grids gives 26.4 ± 12.3 (12 runs) and
/// 21.8 ± 12.5 (40 others). Fitted lengthscales agree with scikit-learn's to five digits on the same data.
const AUTHORS_CODE: [(&str, &str, &str); 3] = [
    ("branin", "random-grid", "27.1 ± 11.7 (17 runs)"),
    ("branin", "lbfgsb", "35.7 ± 12.1 (3 runs)"),
    ("hartmann-6d", "random-grid", "121 ± 2.2 (2 runs)"),
];

/// Cumulative regret at the ends of the curves of Figure 1, read off the plots: grid, L-BFGS-B, Nelder-Mead and CG. The plot of
/// Hartmann 4 has 120 rounds, the text says 100. No other figure was read: the paper prints no numbers.
pub(super) const FIGURE_1: [(&str, [f64; 4]); 6] = [
    ("branin", [29.0, 40.0, 43.0, 48.0]),
    ("rastrigin-3d", [3400.0, 3230.0, 3040.0, 2830.0]),
    ("hartmann-3d", [28.0, 31.0, 28.0, 52.0]),
    ("hartmann-4d", [15.6, 9.6, 7.5, 14.0]),
    ("levy-5d", [560.0, 740.0, 2600.0, 1440.0]),
    ("hartmann-6d", [120.0, 68.0, 68.0, 113.0]),
];

/// Writes tables, verdict and figures.
pub(super) fn report(
    setting: Setting,
    ablation: Option<Ablation>,
    output: &mut Output<'_>,
) -> Result<(), BenchError> {
    let records: Vec<Record> = output.records().iter().map(labelled).collect();
    output.text(tables(setting, ablation, &records))?;
    if output.wants_figures() {
        let name = setting.name();
        let regret = LinePlot {
            title: format!("GP-UCB by solver: cumulative regret (setting {name})"),
            x_label: "round".into(),
            y_label: "cumulative regret".into(),
            log_y: false,
            panels: LinePlot::panels_of(&mean_curves(&records, |record| &record.regret_curve)),
        };
        output.figure("regret", &regret.to_svg()?)?;
        let time = BarPlot {
            title: format!("GP-UCB by solver: time of proposing in a run (setting {name})"),
            y_label: "seconds".into(),
            log_y: true,
            panels: BarPlot::panels_of(&Summary::of(&records, |record| record.seconds_thinking)),
        };
        output.figure("time", &time.to_svg()?)?;
    }
    Ok(())
}

/// The record under a name that tells the fixed grid from the growing one.
pub(super) fn labelled(record: &Record) -> Record {
    let is_fixed = record.extra.get("grid").is_some_and(|grid| grid == "fixed");
    let size = if is_fixed { " of 100" } else { "" };
    Record { algorithm: format!("{}{size}", record.algorithm), ..record.clone() }
}

fn tables(setting: Setting, ablation: Option<Ablation>, records: &[Record]) -> String {
    let cumulative = Summary::of(records, |record| record.cumulative_regret);
    let simple = Summary::of(records, |record| record.simple_regret);
    let seconds = Summary::of(records, |record| record.seconds_thinking);
    let mut text = String::new();
    let mut part = |heading: &str, table: &Table| {
        write!(text, "{heading}\n{table}\n").expect("invariant: a string takes everything");
    };

    let what = match ablation {
        None => "Figures 1 and 2",
        Some(Ablation::FixedGrid) => "the grid ablation (App. B.2.1, here on the functions)",
        Some(Ablation::SmallDesign) => "the small initial design (App. B.2.2)",
        Some(Ablation::Growth) => {
            "section 4: grids by their growth, and Theorems 7 and 8 (not run in the paper)"
        }
    };
    let runs = cumulative.cells.iter().map(|cell| cell.count).max().unwrap_or(0);
    let heading = format!(
        "Kim, Liu & Chen 2025, {what}. Setting {}, {}.\n\n\
         Cumulative regret, mean ± sd [rank], runs: {runs} (the paper prints plots only)",
        setting.name(),
        setting::describe(setting),
    );
    part(
        &heading,
        &if ablation.is_none() { beside_paper(setting, &cumulative) } else { Table::matrix(&cumulative) },
    );
    part("Simple regret, initial points included", &Table::matrix(&simple));
    part("Seconds of proposing in a run: fit and acquisition", &Table::matrix(&seconds));
    if records.iter().any(|record| record.extra.contains_key("eta_hat")) {
        part(
            "Inexactness as realised: mean eta-hat of the rounds, and M-hat, the sum of 1 - eta-hat",
            &inexactness(records),
        );
        let key = format!("m_worst_of_{SOLVES}");
        let solved_again: Vec<Record> =
            records.iter().filter(|record| record.extra.contains_key(&key)).cloned().collect();
        let worst = Summary::of(&solved_again, |record| record.extra_number(&key));
        part(
            &format!(
                "Towards the paper's M_T: M-worst, the same with the worst of {SOLVES} independent solves of each bound (from every \
                 fifth round; the worst case over all outcomes is larger still)"
            ),
            &Table::matrix(&worst),
        );
    }
    if records.iter().any(|record| record.extra.contains_key("fill_sum")) {
        part(
            "Fill distance of the grids in the unit cube, estimated: h_T of the last round, and the sum of all h_t",
            &fill_distances(records),
        );
    }
    let verdicts = Verdicts { setting, ablation, records, cumulative: &cumulative, seconds: &seconds };
    text + &verdict(setting, &cumulative, &seconds) + "\nClaims of the paper\n" + &verdicts.lines()
}

/// Problems by solvers, and last columns with what the plots show and what the authors' code gave.
fn beside_paper(setting: Setting, summary: &Summary) -> Table {
    let plotted =
        Table::matrix_beside(summary, "Fig. 1, read off the plot: grid, L-BFGS-B, NM, CG", |problem| {
            let ends = FIGURE_1.iter().find(|(known, _)| *known == problem);
            ends.map_or(String::new(), |(_, ends)| ends.map(compact).join(", "))
        });
    if setting != Setting::Code {
        return plotted;
    }
    plotted.beside(
        "authors' code, run by us",
        summary.problems.iter().map(|problem| {
            let theirs = AUTHORS_CODE.iter().filter(|(known, ..)| *known == problem);
            theirs.map(|(_, solver, value)| format!("{solver} {value}")).collect::<Vec<_>>().join(", ")
        }),
    )
}

/// Of the solvers that have a grid.
fn fill_distances(records: &[Record]) -> Table {
    let on_grids: Vec<Record> =
        records.iter().filter(|record| record.extra.contains_key("fill_sum")).cloned().collect();
    let last = Summary::of(&on_grids, |record| record.extra_number("fill_last"));
    let sum = Summary::of(&on_grids, |record| record.extra_number("fill_sum"));
    let mut table = Table::new(["problem".to_owned()].into_iter().chain(last.algorithms.iter().cloned()));
    for problem in &last.problems {
        let cell = |grid: &String| match (last.get(problem, grid), sum.get(problem, grid)) {
            (Some(last), Some(sum)) => format!("{}, {}", compact(last.mean), compact(sum.mean)),
            _ => String::new(),
        };
        table.row([problem.clone()].into_iter().chain(last.algorithms.iter().map(cell)));
    }
    table
}

fn inexactness(records: &[Record]) -> Table {
    let eta = Summary::of(records, |record| record.extra_number("eta_hat"));
    let m = Summary::of(records, |record| record.extra_number("m_hat"));
    let header = ["problem".to_owned()].into_iter().chain(eta.algorithms.iter().cloned());
    let mut table = Table::new(header);
    for problem in &eta.problems {
        let cell = |solver: &String| match (eta.get(problem, solver), m.get(problem, solver)) {
            (Some(eta), Some(m)) => format!("{:.4}, {}", eta.mean, mean_sd_rank(m.mean, m.sd, None)),
            _ => String::new(),
        };
        table.row([problem.clone()].into_iter().chain(eta.algorithms.iter().map(cell)));
    }
    table
}

/// Whether the random grid's mean regret is within one deviation of the rival's or better, problem by problem, and what
/// the rival's time is in multiples of the grid's.
fn verdict(setting: Setting, cumulative: &Summary, seconds: &Summary) -> String {
    const GRID: &str = "random-grid";
    let mut text = String::new();
    for rival in cumulative.algorithms.iter().filter(|name| *name != GRID) {
        let (mut of, mut no_worse, mut better) = (0, 0, 0);
        let mut ratios = Vec::new();
        for problem in &cumulative.problems {
            let both = (cumulative.get(problem, GRID), cumulative.get(problem, rival));
            let (Some(grid), Some(other)) = both else { continue };
            // One deviation, taken over both; none for a single run.
            let spread = (grid.sd.hypot(other.sd) / 2.0_f64.sqrt()).max(0.0);
            of += 1;
            no_worse += usize::from(grid.mean <= other.mean + spread);
            better += usize::from(grid.mean <= other.mean);
            if let (Some(grid), Some(other)) = (seconds.get(problem, GRID), seconds.get(problem, rival)) {
                ratios.push((other.mean, grid.mean));
            }
        }
        let (theirs, ours) = ratios.iter().fold((0.0, 0.0), |sum, r| (sum.0 + r.0, sum.1 + r.1));
        let each = ratios.iter().map(|(theirs, ours)| theirs / ours);
        let (low, high) =
            each.fold((f64::INFINITY, 0.0), |(low, high): (f64, f64), r| (low.min(r), high.max(r)));
        if of > 0 {
            writeln!(
                text,
                "Verdict ({}): the random grid's mean cumulative regret is no worse than that of {rival} within one \
                 standard deviation on {no_worse} of {of} problems (smaller on {better}); {rival} takes {} times its \
                 time ({} to {} by problem).",
                setting.name(),
                compact(theirs / ours),
                compact(low),
                compact(high),
            )
            .expect("invariant: a string takes everything");
        }
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    fn record(problem: &str, solver: &str, regret: f64, seconds: f64) -> Record {
        Record {
            problem: problem.into(),
            algorithm: solver.into(),
            cumulative_regret: regret,
            seconds_thinking: seconds,
            ..Record::default()
        }
    }

    #[test]
    fn the_verdict_counts_problems_within_one_deviation() {
        let records: Vec<Record> = [
            // Better; worse, but within a deviation; worse.
            record("a", "random-grid", 1.0, 1.0),
            record("a", "random-grid", 3.0, 1.0),
            record("a", "lbfgsb", 3.0, 4.0),
            record("a", "lbfgsb", 5.0, 4.0),
            record("b", "random-grid", 4.0, 1.0),
            record("b", "random-grid", 6.0, 1.0),
            record("b", "lbfgsb", 3.0, 2.0),
            record("b", "lbfgsb", 5.0, 2.0),
            record("c", "random-grid", 8.0, 2.0),
            record("c", "random-grid", 9.0, 2.0),
            record("c", "lbfgsb", 3.0, 6.0),
            record("c", "lbfgsb", 4.0, 6.0),
        ]
        .iter()
        .map(labelled)
        .collect();
        let cumulative = Summary::of(&records, |record| record.cumulative_regret);
        let seconds = Summary::of(&records, |record| record.seconds_thinking);
        let text = verdict(Setting::Code, &cumulative, &seconds);
        assert!(text.contains("on 2 of 3 problems (smaller on 1)"), "{text}");
        assert!(text.contains("takes 3.00 times its time (2.00 to 4.00 by problem)"), "{text}");
    }

    #[test]
    fn the_fixed_grid_has_a_label_of_its_own() {
        let mut fixed = record("a", "random-grid", 1.0, 1.0);
        fixed.extra.insert("grid".into(), "fixed".into());
        assert_eq!(labelled(&fixed).algorithm, "random-grid of 100");
    }
}
