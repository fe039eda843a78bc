//! What the records say, in the form of the paper's tables.

use std::fmt::Write as _;

use super::setting;
use super::tables::TableRow;
use crate::report::table::{compact, mean_sd_rank};
use crate::report::{LinePlot, Summary, Table, mean_curves};
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
        "Ren & Li, Tables 1 to 3. Setting {}, {}.\n\nSimple regret, mean ± sd [rank]; below it what the paper prints\n",
        setting.name(),
        setting::describe(setting)
    );
    let _ = writeln!(text, "{}", beside_the_paper(rows, &regret));
    let _ = writeln!(text, "Median of the simple regret\n{}", medians(&regret));
    let _ = writeln!(
        text,
        "Smallest distance within a batch, mean over rounds, in the unit cube\n{}",
        Table::matrix(&distance)
    );
    let _ = writeln!(text, "Milliseconds a batch\n{}", Table::matrix(&milliseconds));
    output.text(text + &verdict(setting, rows, &regret, &distance))?;
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
        let label = format!("{problem} (m = {batch}, T = {rounds}, runs: {runs})");
        table.row([label].into_iter().chain(regret.algorithms.iter().map(ours)));
        table.row(["  printed".to_owned()].into_iter().chain(regret.algorithms.iter().map(printed)));
    }
    table
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
