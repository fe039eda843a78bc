//! A report as text, for pull requests.

use std::collections::BTreeMap;
use std::fmt::Write;

use noregret::{Direction, Params, Value};
use noregret_client::views::Remark;
use noregret_store::{SharedStudy, TrialStatus};

use super::number::short;
use super::{ReportError, Reported};
use crate::model;

/// Reasons of failures that are listed, the most frequent first.
const MOST_REASONS: usize = 10;

/// A report as Markdown. `made` is when, as text.
pub fn markdown(studies: &mut [Reported<'_>], made: &str) -> Result<String, ReportError> {
    let mut text = String::new();
    for study in studies {
        add(study, &mut text)?;
    }
    let _ = writeln!(text, "*noregret {}, {made}*", env!("CARGO_PKG_VERSION"));
    Ok(text)
}

fn add(study: &mut Reported<'_>, text: &mut String) -> Result<(), ReportError> {
    let Reported { shared, chronicle, .. } = study;
    let counts = chronicle.counts();
    let definition = shared.definition();
    let goal = if definition.direction == Direction::Minimize { "minimize" } else { "maximize" };
    let _ = writeln!(text, "## {}\n", plain(shared.name()));
    let of = definition.trials.map_or(String::new(), |trials| format!(" of {trials}"));
    let mut parts = vec![format!("{}{of} trials with a value", counts.complete)];
    for (n, what) in [(counts.failed, "failed"), (counts.running, "running"), (counts.waiting, "waiting")] {
        if n > 0 {
            parts.push(format!("{n} {what}"));
        }
    }
    let algorithm = definition.algorithm.name();
    let _ = writeln!(text, "{goal} by {algorithm}, seed {}: {}.\n", definition.seed, parts.join(", "));
    best(shared, text)?;
    importance(shared, text)?;
    let (inner, ledger, diagnostics) = shared.parts();
    health(&model::trust(inner, ledger, diagnostics)?.health, text);
    failures(shared, text);
    Ok(())
}

/// The best trial and the recommended one, side by side.
fn best(shared: &mut SharedStudy, text: &mut String) -> Result<(), ReportError> {
    let recommended = shared.study().recommended()?;
    let regret = shared.study().remaining_regret()?;
    let space = shared.study().space().clone();
    let number = shared.study().best_observed().map(|trial| trial.number);
    let Some(record) = number.and_then(|number| shared.ledger().record(number)) else {
        let _ = writeln!(text, "There is no value yet.\n");
        return Ok(());
    };
    let observed = record.params(&space);
    let value = record.described(&space).value.map(short).unwrap_or_default();
    // The model may recommend what happens to be the best observed.
    let other = recommended.as_ref().filter(|found| found.number != record.number);
    let both = if other.is_none() && recommended.is_some() {
        "best observed, and recommended"
    } else {
        "best observed"
    };
    let _ = writeln!(text, "| | {both} |{}", other.map_or("", |_| " recommended |"));
    let _ = writeln!(text, "|---|---|{}", other.map_or("", |_| "---|"));
    let second = |cell: &dyn Fn(&noregret::study::Recommendation) -> String| {
        other.map_or(String::new(), |found| format!(" {} |", cell(found)))
    };
    let _ = writeln!(text, "| trial | {} |{}", record.number, second(&|found| found.number.to_string()));
    if let Some(id) = record.id(&space) {
        let other = |found: &noregret::study::Recommendation| {
            let id = shared.ledger().record(found.number).and_then(|record| record.id(&space));
            cell(&id.unwrap_or_default())
        };
        let _ = writeln!(text, "| candidate | {} |{}", cell(&id), second(&other));
    }
    let seen = |found: &noregret::study::Recommendation| found.observed.map(short).unwrap_or_default();
    let _ = writeln!(text, "| value observed | {value} |{}", second(&seen));
    if let Some(found) = &recommended {
        let expected = |found: &noregret::study::Recommendation| {
            let (low, high) = (short(found.interval.0), short(found.interval.1));
            format!("{} (95 %: {low} to {high})", short(found.mean))
        };
        let first = if other.is_none() { expected(found) } else { String::new() };
        let _ = writeln!(text, "| value expected, without noise | {first} |{}", second(&expected));
    }
    for (name, value) in observed.iter() {
        let of = |params: &Params| params.get(name).map(shown).unwrap_or_default();
        let _ =
            writeln!(text, "| `{}` | {} |{}", cell(name), shown(value), second(&|found| of(&found.params)));
    }
    let _ = writeln!(text);
    if let Some(regret) = regret {
        let (low, high) = (short(regret.interval.0), short(regret.interval.1));
        let median = short(regret.median);
        let _ = writeln!(text, "What may still be gained, by the model: {median} (90 %: {low} to {high}).\n");
    }
    Ok(())
}

fn importance(shared: &mut SharedStudy, text: &mut String) -> Result<(), ReportError> {
    let Some(importance) = model::importance(shared.study())? else { return Ok(()) };
    if importance.parameters.is_empty() {
        return Ok(());
    }
    let _ = writeln!(text, "| parameter | alone | with interactions |\n|---|---|---|");
    let percent = |share: f64| format!("{:.0} %", 100.0 * share);
    let share = |of: &noregret_client::views::Share| {
        format!("{} ({} to {})", percent(of.share), percent(of.low), percent(of.high))
    };
    for of in &importance.parameters {
        let _ = writeln!(text, "| `{}` | {} | {} |", cell(&of.name), share(&of.first), share(&of.total));
    }
    let _ = writeln!(
        text,
        "\nShares of the objective's variation that parameters explain, with 90 % intervals, by a model of {} evaluations.\n",
        importance.evaluations
    );
    Ok(())
}

fn health(remarks: &[Remark], text: &mut String) {
    for remark in remarks {
        let sign = if remark.level == "warning" { "**Warning:** " } else { "" };
        let _ = writeln!(text, "- {sign}{}", plain(&remark.text));
    }
    if !remarks.is_empty() {
        let _ = writeln!(text);
    }
}

/// Why trials failed, the most frequent reasons first.
fn failures(shared: &SharedStudy, text: &mut String) {
    let mut reasons: BTreeMap<&str, (u64, u64)> = BTreeMap::new();
    for record in shared.ledger().records() {
        if let TrialStatus::Failed { reason } = &record.status {
            let (count, last) = reasons.entry(reason).or_default();
            (*count, *last) = (*count + 1, record.number);
        }
    }
    if reasons.is_empty() {
        return;
    }
    let mut reasons: Vec<_> = reasons.into_iter().collect();
    reasons.sort_by_key(|(_, (count, _))| std::cmp::Reverse(*count));
    let _ = writeln!(text, "| failures | reason | last trial |\n|---|---|---|");
    for (reason, (count, last)) in reasons.iter().take(MOST_REASONS) {
        let _ = writeln!(text, "| {count} | {} | {last} |", cell(reason));
    }
    let more = reasons.len().saturating_sub(MOST_REASONS);
    if more > 0 {
        let _ = writeln!(text, "\nand {more} other reasons");
    }
    let _ = writeln!(text);
}

fn shown(value: &Value) -> String {
    match value {
        Value::Float(x) => short(*x),
        other => cell(&other.to_string()),
    }
}

/// Text that is nothing but text: on one line, without what Markdown or a browser would act upon.
fn plain(text: &str) -> String {
    let mut plain = String::new();
    for c in text.chars() {
        match c {
            '\n' | '\r' | '\t' => plain.push(' '),
            c if c.is_control() => {}
            '<' => plain += "&lt;",
            '&' => plain += "&amp;",
            '*' | '_' | '`' | '[' | ']' | '#' | '\\' | '|' | '@' => plain.extend(['\\', c]),
            c => plain.push(c),
        }
    }
    plain
}

/// The same in a cell of a table, where names are in backquotes or alone.
fn cell(text: &str) -> String {
    plain(text).replace("\\_", "_")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn text_stays_text() {
        assert_eq!(plain("a|b\n<script>*x*"), "a\\|b &lt;script>\\*x\\*");
        assert_eq!(cell("learning_rate"), "learning_rate");
    }
}
