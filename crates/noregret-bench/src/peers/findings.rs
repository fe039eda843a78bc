//! Who was better, by how much, and what it cost.
//!
//! # Notation
//! | here        | meaning                                                                                             |
//! |-------------|-----------------------------------------------------------------------------------------------------|
//! | `k`, `n`    | methods, blocks                                                                                     |
//! | mean rank   | over blocks, of the regret within the block: 1 is best, equal ones share their mean rank            |
//! | `CD`        | Nemenyi's critical difference of mean ranks at 5 %, `q sqrt(k (k + 1) / (6 n))` (Demsar 2006, section 3.2.2) |

use std::fmt::Write as _;

use noregret_testkit::statistics::{holm, mean, median, quantile, ranks, signed_rank_test};

use crate::report::table::compact;
use crate::report::{LinePlot, Record, Table, mean_curves};
use crate::{BenchError, Output};

/// `q` of Nemenyi's test at 5 % for 2, 3, ... methods (Demsar 2006, Table 5a; from 11 on by the same studentised range).
const Q: [f64; 11] = [1.960, 2.343, 2.569, 2.728, 2.850, 2.949, 3.031, 3.102, 3.164, 3.219, 3.268];

pub(crate) fn report(methods: &[&str], output: &mut Output<'_>) -> Result<(), BenchError> {
    let records = output.records().to_vec();
    let of =
        |method: &str| records.iter().filter(|r| r.algorithm == method).cloned().collect::<Vec<Record>>();
    let by_method: Vec<Vec<Record>> = methods.iter().map(|method| of(method)).collect();
    let blocks = blocks(&by_method);
    let mut text = format!(
        "Functions with their minimum in a random place; regret of the best point evaluated, noise left out.\n{} blocks of {} methods.\n\n",
        blocks.len(),
        methods.len()
    );
    let _ = writeln!(text, "Regret at the end: median [quartiles]\n{}", regrets(methods, &by_method));
    text += &ranking(methods, &blocks);
    let _ = writeln!(
        text,
        "\nWhat it cost: seconds a point after the design (median), and the process at its largest\n{}",
        costs(methods, &by_method)
    );
    for record in &records {
        if let Some(problem) = record.extra.get("problem_of_the_method") {
            let Record { algorithm, problem: function, batch, run, .. } = record;
            let _ = writeln!(text, "{algorithm} on {function}, batches of {batch}, run {run}: {problem}");
        }
    }
    output.text(text)?;
    if output.wants_figures() {
        let mut named = records;
        named
            .iter_mut()
            .for_each(|record| record.problem = format!("{}, q = {}", record.problem, record.batch));
        let plot = LinePlot {
            title: "Regret of the best point so far, noise left out".into(),
            x_label: "batch".into(),
            y_label: "regret".into(),
            log_y: true,
            panels: LinePlot::panels_of(&mean_curves(&named, |record| &record.regret_curve)),
        };
        output.figure("regret", &plot.to_svg()?)?;
    }
    Ok(())
}

/// The regrets of all methods where all have run: a row for each block, of which each is of a problem, a batch size and a seed.
fn blocks(by_method: &[Vec<Record>]) -> Vec<Vec<f64>> {
    let Some((first, others)) = by_method.split_first() else { return Vec::new() };
    let key = |record: &Record| (record.problem.clone(), record.batch, record.seed, record.evaluations);
    // A failed run is as bad as can be.
    let regret = |record: &Record| {
        let failed = record.extra.contains_key("problem_of_the_method") || record.simple_regret.is_nan();
        if failed { f64::INFINITY } else { record.simple_regret }
    };
    let row = |record: &Record| {
        let same = |runs: &Vec<Record>| runs.iter().find(|other| key(other) == key(record)).map(regret);
        std::iter::once(Some(regret(record))).chain(others.iter().map(same)).collect::<Option<Vec<f64>>>()
    };
    first.iter().filter_map(row).collect()
}

fn regrets(methods: &[&str], by_method: &[Vec<Record>]) -> Table {
    let mut table = Table::new(["problem", "batch"].into_iter().chain(methods.iter().copied()));
    let mut rows: Vec<(&str, usize)> = Vec::new();
    for record in by_method.iter().flatten() {
        if !rows.contains(&(&record.problem, record.batch)) {
            rows.push((&record.problem, record.batch));
        }
    }
    for (problem, batch) in rows {
        let cell = |runs: &Vec<Record>| {
            let of = |r: &&Record| r.problem == problem && r.batch == batch && !r.simple_regret.is_nan();
            let values: Vec<f64> = runs.iter().filter(of).map(|r| r.simple_regret).collect();
            if values.is_empty() {
                return String::new();
            }
            let quartile = |p| compact(quantile(&values, p));
            format!("{} [{}, {}]", compact(median(&values)), quartile(0.25), quartile(0.75))
        };
        let cells = [problem.to_owned(), batch.to_string()].into_iter().chain(by_method.iter().map(cell));
        table.row(cells);
    }
    table
}

fn ranking(methods: &[&str], blocks: &[Vec<f64>]) -> String {
    let k = methods.len();
    if blocks.is_empty() || k < 2 {
        return "No block has been run by all methods: nothing to rank.\n".into();
    }
    let ranked: Vec<Vec<f64>> = blocks.iter().map(|block| ranks(block)).collect();
    let column = |rows: &[Vec<f64>], j: usize| rows.iter().map(|row| row[j]).collect::<Vec<f64>>();
    let ours = column(&ranked, 0);
    // Ranks rather than regrets: blocks have units of their own, and regrets of whole orders of magnitude.
    let p_values: Vec<f64> = (1..k).map(|j| signed_rank_test(&column(&ranked, j), &ours)).collect();
    let adjusted = holm(&p_values);
    let mut order: Vec<usize> = (0..k).collect();
    let mean_rank = |j: usize| mean(&column(&ranked, j));
    order.sort_by(|&a, &b| mean_rank(a).total_cmp(&mean_rank(b)));
    let mut table =
        Table::new(["method", "mean rank", "best in", "last in", "p against the first named (Holm)"]);
    for j in order {
        let share = |rank: f64| ranked.iter().filter(|row| (row[j] - rank).abs() < 0.25).count().to_string();
        let p = if j == 0 { String::new() } else { compact(adjusted[j - 1]) };
        table.row([methods[j].to_owned(), format!("{:.2}", mean_rank(j)), share(1.0), share(k as f64), p]);
    }
    let n = blocks.len() as f64;
    let difference = Q.get(k - 2).map(|q| q * (k as f64 * (k as f64 + 1.0) / (6.0 * n)).sqrt());
    let difference = difference.map_or("unknown for so many methods".into(), |cd| format!("{cd:.2}"));
    format!("Ranks within {} blocks; critical difference (Nemenyi, 5 %): {difference}\n{table}", blocks.len())
}

fn costs(methods: &[&str], by_method: &[Vec<Record>]) -> Table {
    let mut table = Table::new(["method", "seconds", "slowest run", "peak MB"]);
    for (method, runs) in methods.iter().zip(by_method) {
        let seconds: Vec<f64> = runs.iter().map(|run| run.seconds_per_point).collect();
        let peak = runs.iter().map(|run| run.extra_number("peak_mb")).fold(f64::NAN, f64::max);
        let slowest = seconds.iter().copied().fold(f64::NAN, f64::max);
        table.row([(*method).to_owned(), compact(median(&seconds)), compact(slowest), compact(peak)]);
    }
    table
}
