//! What the suggestions cost: time, memory, and runs that failed.

use super::blocks::Runs;
use super::findings::{Figure, Finding, batches_of};
use crate::report::statistics::median;
use crate::report::table::compact;
use crate::report::{Bar, BarPanel, BarPlot, Record, Table};

/// One row for each method, and bars.
pub(super) fn costs(methods: &[Runs<'_>]) -> Finding {
    let mut table = Table::new(["method", "runs", "failed", "seconds", "slowest run", "peak MB"]);
    for runs in methods {
        let seconds = seconds(runs, |_| true);
        let slowest = seconds.iter().copied().fold(f64::NAN, f64::max);
        table.row([
            runs.method.to_owned(),
            runs.records.len().to_string(),
            runs.failed().to_string(),
            compact(median(&seconds)),
            compact(slowest),
            compact(peak_mb(runs)),
        ]);
    }
    let lead = "Seconds a point after the design (median over the runs that each method has, and the slowest run), and \
                the method's process at its largest, libraries included. Our own methods share one process with the \
                benchmark.";
    let lead = if methods.is_empty() { "" } else { lead }.to_owned();
    let figures = vec![Figure::Bars(seconds_plot(methods)), Figure::Bars(memory_plot(methods))];
    Finding { title: "What it cost", lead, table, figures }
}

/// Seconds a point, with a panel for each batch size.
fn seconds_plot(methods: &[Runs<'_>]) -> BarPlot {
    let panel = |batch: usize| BarPanel {
        title: format!("batches of {batch}"),
        bars: bars(methods, |runs| median(&seconds(runs, |record| record.batch == batch))),
    };
    BarPlot {
        title: "Seconds a point after the design, median over runs".into(),
        y_label: "seconds".into(),
        log_y: true,
        panels: batches_of(methods).into_iter().map(panel).collect(),
    }
}

/// Memory at its largest.
fn memory_plot(methods: &[Runs<'_>]) -> BarPlot {
    BarPlot {
        title: "Memory of the method's process at its largest".into(),
        y_label: "MB".into(),
        log_y: false,
        panels: vec![BarPanel { title: "all runs".into(), bars: bars(methods, peak_mb) }],
    }
}

/// One bar for each method, none where the height is unknown, so that colours are the same in all figures.
fn bars(methods: &[Runs<'_>], height: impl Fn(&Runs<'_>) -> f64) -> Vec<Bar> {
    let bar = |runs: &Runs<'_>| Bar { label: runs.method.into(), mean: height(runs), sd: f64::NAN };
    methods.iter().map(bar).collect()
}

/// Of the runs that suggested anything after the design.
fn seconds(runs: &Runs<'_>, wanted: impl Fn(&Record) -> bool) -> Vec<f64> {
    let wanted = runs.records.iter().filter(|record| record.rounds > 0 && wanted(record));
    wanted.map(|record| record.seconds_per_point).filter(|seconds| seconds.is_finite()).collect()
}

fn peak_mb(runs: &Runs<'_>) -> f64 {
    runs.records.iter().map(|record| record.extra_number("peak_mb")).fold(f64::NAN, f64::max)
}

#[cfg(test)]
mod tests {
    use super::super::blocks::tests::{record, with};
    use super::*;

    fn run(method: &str, seed: u64, seconds: f64, peak: f64) -> Record {
        let record = Record { rounds: 4, seconds_per_point: seconds, ..record(method, "branin", seed, 1.0) };
        with(record, "peak_mb", peak)
    }

    #[test]
    fn costs_by_hand() {
        let unsupported = with(
            Record { rounds: 0, seconds_per_point: 0.0, ..record("a", "branin", 3, 1.0) },
            "problem_of_the_method",
            "no",
        );
        let all = [run("a", 0, 1.0, 50.0), run("a", 1, 3.0, 70.0), run("a", 2, 2.0, 60.0), unsupported];
        let methods = ["a", "b"].map(|method| Runs::of(method, &all));
        let expected = [["a", "4", "1", "2.00", "3.00", "70.0"], ["b", "0", "0", "NaN", "NaN", "NaN"]];
        assert_eq!(costs(&methods).table.rows(), expected);
        let plot = seconds_plot(&methods);
        assert_eq!((plot.panels.len(), plot.panels[0].bars.len()), (1, 2));
        assert!((plot.panels[0].bars[0].mean - 2.0).abs() < 1e-15 && plot.panels[0].bars[1].mean.is_nan());
        assert!((memory_plot(&methods).panels[0].bars[0].mean - 70.0).abs() < 1e-15);
    }
}
