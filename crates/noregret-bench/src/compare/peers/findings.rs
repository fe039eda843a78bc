//! Who was better, by how much, and what it cost: for the terminal, as a page and as Markdown.

use std::collections::BTreeSet;
use std::fmt::Write as _;

use super::blocks::{Runs, has_failed};
use super::costs::costs;
use super::families::{basins, families};
use super::page::Report;
use super::pairs::{pairs, parts};
use super::ranking::ranking;
use super::regrets::{all_curves, regrets};
use crate::report::{BarPlot, LinePlot, PlotError, RankAxis, Record, Surroundings, Table};
use crate::{BenchError, Output};

/// A table with what must be said of it, and its pictures.
pub(super) struct Finding {
    pub(super) title: &'static str,
    /// What the table shows and how it was made; nothing if there is nothing to show.
    pub(super) lead: String,
    pub(super) table: Table,
    pub(super) figures: Vec<Figure>,
}

/// A picture, drawn if somebody wants it.
pub(super) enum Figure {
    Ranks(RankAxis),
    Lines(LinePlot),
    Bars(BarPlot),
}

impl Figure {
    pub(super) fn to_svg(&self) -> Result<String, PlotError> {
        match self {
            Self::Ranks(axis) => Ok(axis.to_svg()),
            Self::Lines(plot) => plot.to_svg(),
            Self::Bars(plot) => plot.to_svg(),
        }
    }
}

/// Prints the findings, and writes them as a figure, a page and Markdown if there is a folder.
pub(crate) fn report(methods: &[&str], output: &mut Output<'_>) -> Result<(), BenchError> {
    let records = output.records().to_vec();
    let runs = methods.iter().map(|method| Runs::of(method, &records));
    let (methods, absent): (Vec<Runs<'_>>, Vec<Runs<'_>>) = runs.partition(|runs| !runs.records.is_empty());
    let findings: [fn(&[Runs<'_>]) -> Finding; 7] = [ranking, pairs, parts, families, basins, regrets, costs];
    let report = Report {
        title: format!("noregret bench {}", output.stem()),
        summary: summary(&methods, &absent),
        findings: findings
            .map(|find| find(&methods))
            .into_iter()
            .filter(|found| !found.lead.is_empty())
            .collect(),
        failures: records.iter().filter(|record| has_failed(record)).map(failure).collect(),
        versions: versions(&methods),
    };
    output.text(text(&report))?;
    if output.wants_figures() {
        output.figure("regret", &all_curves(&methods).to_svg()?)?;
        let surroundings = Surroundings::here();
        output.page(&report.page(&surroundings)?)?;
        output.markdown(&report.markdown(&surroundings))?;
    }
    Ok(())
}

fn text(report: &Report) -> String {
    let mut text = format!("{}\n", report.summary);
    for Finding { title, lead, table, .. } in &report.findings {
        let _ = writeln!(text, "\n{title}\n{lead}");
        if !table.rows().is_empty() {
            let _ = write!(text, "{table}");
        }
    }
    if !report.failures.is_empty() {
        let _ = writeln!(text, "\nRuns that failed\n{}", report.failures.join("\n"));
    }
    text
}

fn summary(methods: &[Runs<'_>], absent: &[Runs<'_>]) -> String {
    let runs: usize = methods.iter().map(|runs| runs.records.len()).sum();
    let mut text = format!(
        "Functions with their minimum in a random place; regret of the best point evaluated, noise left out. {runs} runs \
         of {} methods on {} problems.",
        methods.len(),
        problems_of(methods).len(),
    );
    if !absent.is_empty() {
        let names: Vec<&str> = absent.iter().map(|runs| runs.method).collect();
        let _ = write!(text, " No runs of: {}.", names.join(", "));
    }
    text
}

fn failure(record: &Record) -> String {
    let Record { algorithm, problem, batch, run, .. } = record;
    let what = record.extra.get("problem_of_the_method").and_then(|what| what.as_str());
    format!(
        "{algorithm} on {problem}, batches of {batch}, run {run}: {}",
        what.unwrap_or("no number came of it")
    )
}

/// The versions that the records name, several if there are; nothing for records from before they did.
fn versions(methods: &[Runs<'_>]) -> Table {
    let mut table = Table::new(["method", "version"]);
    for runs in methods {
        let mut versions: Vec<&str> =
            runs.records.iter().filter_map(|record| record.extra.get("version")?.as_str()).collect();
        versions.sort_unstable();
        versions.dedup();
        let versions = if versions.is_empty() { "not recorded".into() } else { versions.join(", ") };
        table.row([runs.method.to_owned(), versions]);
    }
    table
}

/// Problems in the order in which they were first met.
pub(super) fn problems_of<'a>(methods: &[Runs<'a>]) -> Vec<&'a str> {
    let mut problems: Vec<&str> = Vec::new();
    for record in methods.iter().flat_map(|runs| &runs.records) {
        if !problems.contains(&record.problem.as_str()) {
            problems.push(&record.problem);
        }
    }
    problems
}

/// Sizes of batches, the smallest first.
pub(super) fn batches_of(methods: &[Runs<'_>]) -> Vec<usize> {
    let records = methods.iter().flat_map(|runs| &runs.records);
    records.map(|record| record.batch).collect::<BTreeSet<usize>>().into_iter().collect()
}

#[cfg(test)]
mod tests {
    use super::super::blocks::tests::{record, with};
    use super::*;

    #[test]
    fn versions_are_those_of_the_records() {
        let all = [
            with(record("a", "branin", 0, 1.0), "version", "2.0"),
            with(record("a", "branin", 1, 1.0), "version", "1.9"),
            with(record("a", "branin", 2, 1.0), "version", "2.0"),
            record("b", "branin", 0, 1.0),
        ];
        let methods = ["a", "b"].map(|method| Runs::of(method, &all));
        assert_eq!(versions(&methods).rows(), [["a", "1.9, 2.0"], ["b", "not recorded"]]);
    }

    #[test]
    fn the_summary_counts_and_names_the_missing() {
        let all = [record("a", "branin", 0, 1.0), record("a", "levy-5d", 0, 1.0)];
        let text = summary(&[Runs::of("a", &all)], &[Runs::of("b", &all)]);
        assert!(text.contains("2 runs of 1 methods on 2 problems. No runs of: b."), "{text}");
    }

    #[test]
    fn failures_say_what_and_where() {
        let died = with(record("a", "branin", 3, 1.0), "problem_of_the_method", "died");
        assert_eq!(failure(&died), "a on branin, batches of 5, run 0: died");
        assert!(failure(&record("a", "branin", 3, f64::NAN)).ends_with("run 0: no number came of it"));
    }
}
