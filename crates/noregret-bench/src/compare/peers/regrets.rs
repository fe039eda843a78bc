//! Regrets themselves: at the end of the runs, and on the way there.

use super::blocks::Runs;
use super::findings::{Figure, Finding, batches_of};
use crate::report::statistics::quantile;
use crate::report::table::compact;
use crate::report::{LinePlot, Record, Series, Table, mean_curves};

/// Median and quartiles for each problem and batch size, and the curves, with a figure for each batch size.
pub(super) fn regrets(methods: &[Runs<'_>]) -> Finding {
    let names = methods.iter().map(|runs| runs.method);
    let mut table = Table::new(["problem", "batch"].into_iter().chain(names));
    let mut settings: Vec<(&str, usize)> = Vec::new();
    for record in methods.iter().flat_map(|runs| &runs.records) {
        if !settings.contains(&(&record.problem, record.batch)) {
            settings.push((&record.problem, record.batch));
        }
    }
    for &(problem, batch) in &settings {
        let cell = |runs: &Runs<'_>| {
            let of = |r: &&&Record| r.problem == problem && r.batch == batch && !r.simple_regret.is_nan();
            let values: Vec<f64> = runs.records.iter().filter(of).map(|r| r.simple_regret).collect();
            let quantile = |p| compact(quantile(&values, p));
            match values.len() {
                0 => String::new(),
                1 => quantile(0.5),
                _ => format!("{} [{}, {}]", quantile(0.5), quantile(0.25), quantile(0.75)),
            }
        };
        let cells = [problem.to_owned(), batch.to_string()].into_iter().chain(methods.iter().map(cell));
        table.row(cells);
    }
    let figures =
        batches_of(methods).into_iter().map(|batch| Figure::Lines(curves(methods, batch))).collect();
    let lead = "Regret at the end: median [quartiles] over the runs that each method has, which need not be the same.";
    let lead = if settings.is_empty() { "" } else { lead };
    Finding { title: "Regret", lead: lead.into(), table, figures }
}

/// Mean curves of all problems, for one batch size.
fn curves(methods: &[Runs<'_>], batch: usize) -> LinePlot {
    let plot = plot(methods, |record| (record.batch == batch).then(|| record.problem.clone()));
    LinePlot { title: format!("{}, batches of {batch}", plot.title), ..plot }
}

/// Mean curves of all problems and batch sizes.
pub(super) fn all_curves(methods: &[Runs<'_>]) -> LinePlot {
    plot(methods, |record| Some(format!("{}, q = {}", record.problem, record.batch)))
}

/// `panel` says where a record belongs, if anywhere.
fn plot(methods: &[Runs<'_>], panel: impl Fn(&Record) -> Option<String>) -> LinePlot {
    let named = |record: &&Record| panel(record).map(|problem| Record { problem, ..(*record).clone() });
    let records: Vec<Record> = methods.iter().flat_map(|runs| &runs.records).filter_map(named).collect();
    let mut panels = LinePlot::panels_of(&mean_curves(&records, |record| &record.regret_curve));
    // All methods in their order, so that each has the same colour in all figures.
    if let Some(first) = panels.first_mut() {
        let empty = methods.iter().map(|runs| Series { label: runs.method.into(), ..Series::default() });
        first.series.splice(..0, empty);
    }
    LinePlot {
        title: "Mean regret of the best point so far, noise left out".into(),
        x_label: "batch".into(),
        y_label: "regret".into(),
        log_y: true,
        panels,
    }
}

#[cfg(test)]
mod tests {
    use super::super::blocks::tests::record;
    use super::*;

    #[test]
    fn medians_by_hand_and_a_figure_for_each_batch_size() {
        let mut all: Vec<Record> = (0..)
            .zip([1.0, 2.0, 3.0, 4.0, 50.0])
            .map(|(seed, regret)| record("a", "branin", seed, regret))
            .collect();
        all.push(Record { batch: 1, ..record("b", "levy-5d", 0, 0.5) });
        let methods = ["a", "b"].map(|method| Runs::of(method, &all));
        let found = regrets(&methods);
        let expected = [["branin", "5", "3.00 [2.00, 4.00]", ""], ["levy-5d", "1", "", "0.500"]];
        assert_eq!(found.table.rows(), expected);
        let titles = |figure: &Figure| match figure {
            Figure::Lines(plot) => (plot.title.clone(), plot.panels.len()),
            _ => panic!("curves"),
        };
        let figures: Vec<_> = found.figures.iter().map(titles).collect();
        assert!(
            figures[0].0.ends_with("batches of 1") && figures[1].0.ends_with("batches of 5"),
            "{figures:?}"
        );
        assert_eq!((figures.len(), figures[0].1), (2, 1));
    }

    #[test]
    fn a_method_has_one_colour_in_all_figures() {
        let all = [record("b", "branin", 0, 1.0)];
        let methods = ["a", "b"].map(|method| Runs::of(method, &all));
        let labels: Vec<String> =
            all_curves(&methods).panels[0].series.iter().map(|s| s.label.clone()).collect();
        assert_eq!(labels, ["a", "b", "b"]);
    }
}
