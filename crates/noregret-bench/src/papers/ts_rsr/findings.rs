//! What the records say, in the form of the paper's tables.

use std::fmt::Write as _;

use super::setting;
use super::tables::TableRow;
use crate::report::statistics::mean;
use crate::report::table::{compact, mean_sd_rank};
use crate::report::{Curve, LinePlot, Record, Summary, Table, mean_curves};
use crate::{BenchError, Output, Setting};

/// The algorithm of the paper.
const OURS: &str = "ts-rsr";
/// The algorithm whose batches are compared with those of [`OURS`].
const RIVAL: &str = "ts";

/// Writes tables, verdict and figures.
pub(super) fn report(
    setting: Setting,
    rows: &[&TableRow],
    output: &mut Output<'_>,
) -> Result<(), BenchError> {
    let records = output.records().to_vec();
    let regret = Summary::of(&records, |record| record.simple_regret.max(0.0));
    let distance = Summary::of(&records, |record| record.extra_number("smallest_distance"));
    let milliseconds = Summary::of(&records, |record| 1e3 * record.seconds_thinking / record.rounds as f64);
    let mut text = format!(
        "Ren & Li, Tables 1 to 3. Setting {}, {}.\n\nSimple regret, mean ± sd [rank]; below it its standard error (sd / sqrt(runs), the bars of the paper's figures) and what the paper prints\n",
        setting.name(),
        setting::describe(setting)
    );
    let _ = writeln!(text, "{}", beside_the_paper(rows, &regret));
    let _ = writeln!(text, "Median of the simple regret\n{}", medians(&regret));
    let _ = writeln!(
        text,
        "Round in which the mean regret reaches the printed one\n{}",
        rounds_to_the_printed(rows, &records, &regret.algorithms)
    );
    let _ = writeln!(
        text,
        "Smallest distance within a batch, mean over rounds, in the unit cube\n{}",
        Table::matrix(&distance)
    );
    let _ = writeln!(text, "Milliseconds a batch\n{}", Table::matrix(&milliseconds));
    output.text(
        text + &exploration(&records) + &verdict(setting, rows, &regret, &distance) + &levels(rows, &regret),
    )?;
    if output.wants_figures() {
        let plot = LinePlot {
            title: format!("Simple regret by round (setting {})", setting.name()),
            x_label: "round".into(),
            y_label: "simple regret".into(),
            log_y: true,
            panels: LinePlot::panels_of(&mean_curves(&records, |record| &record.regret_curve)),
        };
        output.figure("regret", &plot.to_svg()?)?;
    }
    Ok(())
}

/// For each problem a row of ours, and below it what the paper prints.
fn beside_the_paper(rows: &[&TableRow], regret: &Summary) -> Table {
    let mut table = Table::new(["problem".to_owned()].into_iter().chain(regret.algorithms.iter().cloned()));
    for row in rows {
        let TableRow { problem, batch, rounds, .. } = row;
        let runs = regret.cells.iter().find(|cell| cell.problem == *problem).map_or(0, |cell| cell.count);
        let ours = |algorithm: &String| {
            let cell = regret.get(problem, algorithm);
            cell.map_or(String::new(), |cell| mean_sd_rank(cell.mean, cell.sd, Some(cell.rank)))
        };
        let printed = |algorithm: &String| {
            let printed = row.printed_for(algorithm);
            printed.map_or(String::new(), |(mean, sd)| format!("{} ± {}", compact(mean), compact(sd)))
        };
        let error = |algorithm: &String| {
            let cell = regret.get(problem, algorithm);
            cell.map_or(String::new(), |cell| compact(cell.sd / (cell.count as f64).sqrt()))
        };
        let label = format!("{problem} (m = {batch}, T = {rounds}, runs: {runs})");
        table.row([label].into_iter().chain(regret.algorithms.iter().map(ours)));
        table.row(["  standard error".to_owned()].into_iter().chain(regret.algorithms.iter().map(error)));
        table.row(["  printed".to_owned()].into_iter().chain(regret.algorithms.iter().map(printed)));
    }
    table
}

/// The round in which the mean regret of each algorithm reaches the printed one, which is of the last round.
fn rounds_to_the_printed(rows: &[&TableRow], records: &[Record], algorithms: &[String]) -> Table {
    let curves = mean_curves(records, |record| &record.regret_curve);
    let mut table = Table::new(["problem".to_owned()].into_iter().chain(algorithms.iter().cloned()));
    for row in rows {
        let round = |algorithm: &String| {
            let is_it = |curve: &&Curve| curve.problem == row.problem && curve.algorithm == *algorithm;
            let (Some(curve), Some((printed, _))) = (curves.iter().find(is_it), row.printed_for(algorithm))
            else {
                return String::new();
            };
            let reached = curve.mean.iter().position(|regret| *regret <= printed);
            reached.map_or("-".to_owned(), |round| round.to_string())
        };
        let label = format!("{} ({} rounds)", row.problem, row.rounds);
        table.row([label].into_iter().chain(algorithms.iter().map(round)));
    }
    table
}

/// On how many problems each algorithm is at or below its printed mean.
fn levels(rows: &[&TableRow], regret: &Summary) -> String {
    let level = |algorithm: &String| {
        let pairs = rows.iter().filter_map(|row| {
            let cell = regret.get(row.problem, algorithm)?;
            Some(cell.mean <= row.printed_for(algorithm)?.0)
        });
        let (reached, all) = pairs.fold((0, 0), |(reached, all), is| (reached + u32::from(is), all + 1));
        (all > 0).then(|| format!("{algorithm} {reached} of {all}"))
    };
    let levels: Vec<String> = regret.algorithms.iter().filter_map(level).collect();
    if levels.is_empty() {
        String::new()
    } else {
        format!("At or below the printed mean: {}.\n", levels.join(", "))
    }
}

/// The exploration of App. B.1 beside none, if it was run.
fn exploration(records: &[Record]) -> String {
    const EXPLORING: &str = "ts-rsr-explore";
    let of = |problem: &str, algorithm: &str, metric: &dyn Fn(&Record) -> f64| -> Vec<f64> {
        let those = |record: &&Record| record.problem == problem && record.algorithm == algorithm;
        records.iter().filter(those).map(metric).collect()
    };
    let mut problems: Vec<&str> = Vec::new();
    for record in records.iter().filter(|record| record.algorithm == EXPLORING) {
        if !problems.contains(&record.problem.as_str()) {
            problems.push(&record.problem);
        }
    }
    let mut text = String::new();
    for problem in problems {
        let _ = writeln!(
            text,
            "Exploration of App. B.1 on {problem}; rho_m is the largest over rounds and runs, from below"
        );
        let mut table =
            Table::new(["algorithm", "rounds explored", "rho_m", "cumulative regret", "simple regret"]);
        for algorithm in [OURS, EXPLORING] {
            let average = |metric: &dyn Fn(&Record) -> f64| {
                let values = of(problem, algorithm, metric);
                if values.is_empty() { String::new() } else { compact(mean(&values)) }
            };
            let rho = of(problem, algorithm, &|record| record.extra_number("rho"));
            let rho = rho.into_iter().fold(f64::NEG_INFINITY, f64::max);
            table.row([
                algorithm.to_owned(),
                average(&|record| record.extra_number("rounds_explored")),
                if rho > 0.0 { compact(rho) } else { "never chose by eq. (4.2)".to_owned() },
                average(&|record| record.cumulative_regret),
                average(&|record| record.simple_regret.max(0.0)),
            ]);
        }
        let _ = writeln!(text, "{table}");
        let rho = of(problem, EXPLORING, &|record| record.extra_number("rho"));
        let rho = rho.into_iter().fold(0.0, f64::max);
        let verdict = match () {
            () if rho <= 0.0 => "the exploration does not end within the rounds, so the bound says nothing",
            () if rho <= 1.0_f64.exp() => "after the exploration rho_m is at most e, as Lemma B.2 says",
            () => "after the exploration rho_m is above e, which Lemma B.2 excludes for a fixed model",
        };
        let _ = writeln!(text, "Verdict (App. B.1, {problem}): {verdict}.\n");
    }
    text
}

/// On how many problems TS-RSR is as good as printed, and its batches are spread wider; nothing if it was not run.
fn verdict(setting: Setting, rows: &[&TableRow], regret: &Summary, distance: &Summary) -> String {
    let (mut reached, mut first_two, mut compared) = (0, 0, 0);
    for row in rows {
        if let (Some(cell), Some((printed, _))) = (regret.get(row.problem, OURS), row.printed_for(OURS)) {
            compared += 1;
            reached += u32::from(cell.mean <= printed);
            first_two += u32::from(cell.rank <= 2);
        }
    }
    let mut text = String::new();
    if compared == 0 {
        return text;
    }
    let _ = writeln!(
        text,
        "Verdict ({}): {OURS} is at or below the printed mean on {reached} of {compared} problems, and first or second on {first_two}.",
        setting.name()
    );
    if distance.algorithms.iter().any(|algorithm| algorithm == RIVAL) {
        let of = |row: &TableRow, name| distance.get(row.problem, name).map_or(f64::NAN, |cell| cell.mean);
        let wider = rows.iter().filter(|row| of(row, OURS) > of(row, RIVAL)).count();
        let _ = writeln!(
            text,
            "Batches of {OURS} are spread wider than those of {RIVAL} on {wider} of {compared}."
        );
    }
    text
}

/// The median of every cell.
fn medians(summary: &Summary) -> Table {
    let mut table = Table::new(["problem".to_owned()].into_iter().chain(summary.algorithms.iter().cloned()));
    for problem in &summary.problems {
        let median = |algorithm: &String| {
            summary.get(problem, algorithm).map_or(String::new(), |cell| compact(cell.median))
        };
        table.row([problem.clone()].into_iter().chain(summary.algorithms.iter().map(median)));
    }
    table
}
