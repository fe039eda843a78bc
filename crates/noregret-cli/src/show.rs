//! `noregret show`: the progress of a study.

use std::io::Write;

use anyhow::Error;
use noregret::Direction;
use noregret_store::{SharedStudy, TrialStatus};
use serde_json::json;

use crate::common_args::JsonArg;
use crate::number::short;
use crate::printable;
use crate::summary;
use crate::target::StudyArgs;

/// Columns and lines of the chart.
const CHART: (usize, usize) = (64, 8);
/// Width of a bar, in characters, for an importance of 1.
const BAR: f64 = 30.0;

/// Flags of `noregret show`.
#[derive(Debug, clap::Args)]
#[command(after_help = AFTER_HELP)]
pub(crate) struct ShowArgs {
    #[command(flatten)]
    study: StudyArgs,
    #[command(flatten)]
    json: JsonArg,
}

const AFTER_HELP: &str = "\
Examples:
  noregret show study.toml
  noregret show study.toml --json | jq .importance

Importance is the share of the model's variation over the space that a parameter explains on its own; what is left to
100 % are interactions. Remaining regret is what the best point may still gain, by the model.";

pub(crate) fn run(args: &ShowArgs, out: &mut dyn Write) -> Result<(), Error> {
    let mut shared = args.study.locate()?.open_to_read()?;
    let recommended = shared.study().recommended()?;
    let insight = shared.study().insight()?;
    let best = summary::best(&mut shared, recommended.as_ref());
    let curve = best_curve(&shared);
    let ledger = shared.ledger();
    let (complete, failed) = (ledger.complete(), ledger.failed());
    let (waiting, running) = (ledger.waiting().len(), ledger.running().count());
    let evaluations: f64 = ledger.records().iter().filter_map(|record| record.seconds).sum();
    let model = ledger.model_seconds();
    if args.json.json {
        let report = json!({
            "study": shared.name(), "definition": shared.definition(), "complete": complete, "failed": failed,
            "waiting": waiting, "running": running, "model_seconds": model, "evaluation_seconds": evaluations,
            "best": best.to_json(), "history": curve, "remaining_regret": insight.as_ref().map(|i| &i.remaining_regret),
            "importance": insight.as_ref().map(|i| &i.importance), "diagnostics": shared.diagnostics(),
        });
        writeln!(out, "{report}")?;
        return Ok(());
    }
    let definition = shared.definition();
    writeln!(
        out,
        "study `{}`: {} by {}, seed {}",
        printable::line(shared.name()),
        if definition.direction == Direction::Minimize { "minimize" } else { "maximize" },
        definition.algorithm.name(),
        definition.seed
    )?;
    writeln!(out, "trials: {complete} complete, {failed} failed, {running} running, {waiting} waiting")?;
    writeln!(out, "time: {} s in evaluations, {} s in the model", short(evaluations), short(model))?;
    writeln!(out)?;
    write!(out, "{best}")?;
    if let Some(insight) = &insight {
        writeln!(out, "{}", summary::remaining(&insight.remaining_regret))?;
    }
    if curve.len() > 1 {
        writeln!(out, "\nbest value so far, by trial told")?;
        for line in chart(&curve.iter().map(|point| point.1).collect::<Vec<_>>()) {
            writeln!(out, "{line}")?;
        }
    }
    if let Some(insight) = insight.filter(|insight| !insight.importance.is_empty()) {
        writeln!(out, "\nimportance, each parameter alone")?;
        let names: Vec<_> = insight.importance.iter().map(|(name, _)| printable::line(name)).collect();
        let width = names.iter().map(|name| name.chars().count()).max().unwrap_or(0);
        for (name, (_, share)) in names.iter().zip(&insight.importance) {
            #[expect(
                clippy::cast_possible_truncation,
                clippy::cast_sign_loss,
                reason = "a share, between 0 and 1"
            )]
            let bar = "━".repeat((share * BAR).round() as usize);
            writeln!(out, "{name:width$}  {:3.0} %  {bar}", 100.0 * share)?;
        }
    }
    diagnostics(&shared, out)
}

/// Trials that were better than all before: index in the order of telling, and value.
fn best_curve(shared: &SharedStudy) -> Vec<(u64, f64)> {
    let direction = shared.definition().direction;
    let mut told: Vec<_> = shared
        .ledger()
        .records()
        .iter()
        .filter_map(|record| match record.status {
            TrialStatus::Complete { value, .. } => Some((record.ended, record.number, value)),
            _ => None,
        })
        .collect();
    told.sort_by_key(|(ended, number, _)| (*ended, *number));
    let mut best = f64::NAN;
    let mut curve = Vec::with_capacity(told.len());
    for (_, number, value) in told {
        let better = match direction {
            Direction::Minimize => value < best,
            Direction::Maximize => value > best,
        };
        if best.is_nan() || better {
            best = value;
        }
        curve.push((number, best));
    }
    curve
}

/// A line chart in characters, two values to a column at most.
fn chart(values: &[f64]) -> Vec<String> {
    const DOTS: [[char; 2]; 2] = [[' ', '▄'], ['▀', '█']];
    let (columns, lines) = (CHART.0.min(values.len()), CHART.1);
    let (low, high) =
        values.iter().fold((f64::INFINITY, f64::NEG_INFINITY), |(low, high), &v| (low.min(v), high.max(v)));
    let span = if high > low { high - low } else { 1.0 };
    let levels = 2 * lines;
    #[expect(
        clippy::cast_possible_truncation,
        clippy::cast_sign_loss,
        reason = "between 0 and the chart's height"
    )]
    let level = |v: f64| (((v - low) / span) * (levels - 1) as f64).round() as usize;
    let heights: Vec<usize> =
        (0..columns).map(|c| level(values[(c + 1) * values.len() / columns - 1])).collect();
    let label = |line: usize| match line {
        0 => short(high),
        line if line + 1 == lines => short(low),
        _ => String::new(),
    };
    let width = label(0).len().max(label(lines - 1).len());
    (0..lines)
        .map(|line| {
            let top = levels - 1 - 2 * line;
            let dots: String = heights
                .iter()
                .map(|&h| DOTS[usize::from(h == top)][usize::from(top > 0 && h == top - 1)])
                .collect();
            format!("{:>width$} ┤{}", label(line), dots.trim_end())
        })
        .collect()
}

fn diagnostics(shared: &SharedStudy, out: &mut dyn Write) -> Result<(), Error> {
    let Some(last) = shared.diagnostics() else { return Ok(()) };
    writeln!(out, "\nlast proposal, by {}", last.algorithm)?;
    if last.design_points > 0 {
        writeln!(out, "  {} points of the initial design", last.design_points)?;
    }
    if let Some(model) = &last.model {
        let subset = model.subset_of.map_or(String::new(), |n| format!(" of {n}"));
        let fitted = if model.refitted { ", fitted anew" } else { "" };
        writeln!(out, "  model of {}{subset} evaluations, {} running{fitted}", model.points, model.pending)?;
        if model.jitter > 0.0 || model.lifted_pivots > 0 {
            writeln!(
                out,
                "  repairs: jitter {}, {} pivots lifted",
                short(model.jitter),
                model.lifted_pivots
            )?;
        }
    }
    if let Some(inexactness) = &last.inexactness {
        writeln!(
            out,
            "  acquisition maximized to {} of the best known (M = {} over {} rounds)",
            short(inexactness.eta_hat),
            short(inexactness.m_hat),
            inexactness.rounds
        )?;
    }
    if last.duplicates_avoided > 0 {
        writeln!(out, "  {} duplicates avoided", last.duplicates_avoided)?;
    }
    last.notes.iter().try_for_each(|note| writeln!(out, "  {}", printable::line(note)))?;
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_chart_goes_from_the_first_to_the_last() {
        let lines = chart(&[3.0, 2.0, 1.0, 0.0]);
        assert_eq!(lines.len(), CHART.1);
        assert_eq!(lines[0], "3 ┤▀");
        assert_eq!(lines[CHART.1 - 1], "0 ┤   ▄");
        assert!(chart(&[1.0, 1.0])[CHART.1 - 1].ends_with("▄▄"));
        assert!(chart(&vec![0.5; 1000]).iter().all(|line| line.chars().count() < 80));
    }
}
