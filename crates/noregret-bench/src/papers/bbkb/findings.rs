//! What the records say: regret, batches, and what the choices cost.

use std::fmt::Write as _;

use super::{CURVE, setting};
use crate::cost::speed::machine::product_gflops;
use crate::report::table::compact;
use crate::report::{Curve, LinePlot, Record, Summary, Table, mean_curves};
use crate::{BenchError, Output, Setting};

/// Writes tables and figures; `titles` say what the problems are.
pub(super) fn report(setting: Setting, titles: &[String], output: &mut Output<'_>) -> Result<(), BenchError> {
    let records = output.records().to_vec();
    let mut text =
        format!("Calandriello et al. 2020. Setting {}: {}.\n", setting.name(), setting::describe(setting));
    for title in titles {
        let _ = writeln!(text, "{title}");
    }
    let _ = writeln!(text, "\n{}", regrets_and_batches(&records));
    output.text(text + &costs(&records))?;
    if output.wants_figures() {
        figures(setting, &records, output)?;
    }
    Ok(())
}

/// A row for each problem and algorithm.
fn regrets_and_batches(records: &[Record]) -> Table {
    let of = |name: &'static str| Summary::of(records, move |record| record.extra_number(name));
    let ratio = of("regret_ratio");
    let simple = Summary::of(records, |record| record.simple_regret);
    let sizes = ["batches", "mean_batch", "dictionary", "ms_per_step"].map(of);
    let recomputed = of("recomputed_share");
    let mut table = Table::new([
        "problem",
        "algorithm",
        "runs",
        "regret ratio",
        "simple regret",
        "batches",
        "mean batch",
        "dictionary",
        "ms a step",
        "bounds recomputed",
    ]);
    for cell in &ratio.cells {
        let mean = |summary: &Summary| {
            summary.get(&cell.problem, &cell.algorithm).map_or(String::new(), |cell| compact(cell.mean))
        };
        let spread = if cell.count > 1 { format!(" ± {}", compact(cell.sd)) } else { String::new() };
        let mut row = vec![
            cell.problem.clone(),
            cell.algorithm.clone(),
            cell.count.to_string(),
            format!("{:.4}{spread}", cell.mean),
            mean(&simple),
        ];
        row.extend(sizes.iter().map(mean));
        let share = recomputed.get(&cell.problem, &cell.algorithm).map_or(0.0, |cell| cell.mean);
        row.push(if share > 0.0 { format!("{:.3} %", 100.0 * share) } else { String::new() });
        table.row(row);
    }
    table
}

/// Time, arithmetic and memory of the first run of each algorithm that counts its arithmetic; nothing if there is none.
fn costs(records: &[Record]) -> String {
    let counted = |record: &&Record| record.run == 0 && record.extra_number("gflops") > 0.0;
    let counted: Vec<&Record> = records.iter().filter(counted).collect();
    if counted.is_empty() {
        return String::new();
    }
    let threads = rayon::current_num_threads();
    let peak = product_gflops(threads);
    let mut table = Table::new([
        "problem",
        "algorithm",
        "arms",
        "seconds",
        "rebuilds",
        "GFLOP",
        "GFLOP/s",
        "share of peak",
        "peak GB",
    ]);
    for record in counted {
        let number = |name: &str| record.extra_number(name);
        let speed = number("gflops") / record.seconds_thinking.max(1e-9);
        table.row([
            record.problem.clone(),
            record.algorithm.clone(),
            number("arms").to_string(),
            compact(record.seconds_thinking),
            number("rebuilds").to_string(),
            compact(number("gflops")),
            format!("{speed:.1}"),
            format!("{:.0} %", 100.0 * speed / peak),
            compact(number("peak_gb")),
        ]);
    }
    format!(
        "What run 0 cost: seconds of all suggestions, and the arithmetic of its dense algebra over all of them; a product of large \
         matrices does {peak:.1} GFLOP/s on {threads} threads\n{table}\n"
    )
}

fn figures(setting: Setting, records: &[Record], output: &mut Output<'_>) -> Result<(), BenchError> {
    let mut figure =
        |name: &str, title: &str, y: &str, log_y: bool, curves: Vec<Curve>| -> Result<(), BenchError> {
            let plot = LinePlot {
                title: format!("{title} (setting {})", setting.name()),
                x_label: format!("pulls, in {CURVE}ths of all"),
                y_label: y.into(),
                log_y,
                panels: LinePlot::panels_of(&curves),
            };
            output.figure(name, &plot.to_svg()?)
        };
    let with = |name: &str| {
        let swap = |record: &Record| {
            let curve = record.extra.get(name).and_then(|v| serde_json::from_value(v.clone()).ok());
            Record { regret_curve: curve.unwrap_or_default(), ..record.clone() }
        };
        let swapped: Vec<Record> = records.iter().map(swap).collect();
        mean_curves(&swapped, |record| &record.regret_curve)
    };
    let regret = mean_curves(records, |record| &record.regret_curve);
    figure("regret", "Regret over that of uniform choices", "regret ratio", false, regret)?;
    figure("time", "Time to choose", "seconds", true, with("time_curve"))?;
    figure("batch", "Batch size", "points", true, with("batch_curve"))
}
