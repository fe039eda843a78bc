//! A study as a notebook shows it: a table and a plot, without scripts.

use std::fmt::Write;

use noregret::Direction;
use noregret_store::{Ledger, SharedStudy};

use super::number::short;
use crate::log::Chronicle;

/// Size of the plot, and the space around it.
const WIDTH: f64 = 420.0;
const HEIGHT: f64 = 120.0;
const MARGIN: f64 = 6.0;
/// Points in the plot.
const POINTS: usize = 300;

/// A study in HTML that stands on its own.
pub fn notebook(shared: &mut SharedStudy, chronicle: &Chronicle) -> String {
    let mut html = String::from("<div>");
    let definition = shared.definition();
    let goal = if definition.direction == Direction::Minimize { "minimize" } else { "maximize" };
    let of = definition.trials.map_or(String::new(), |trials| format!(" of {trials}"));
    let counts = chronicle.counts();
    let _ = write!(
        html,
        "<p><strong>{}</strong>: {goal} by {}<br>{}{of} trials with a value, {} failed, {} running, {} waiting</p>",
        escaped(shared.name()),
        escaped(definition.algorithm.name()),
        counts.complete,
        counts.failed,
        counts.running,
        counts.waiting
    );
    best(shared, &mut html);
    html += &plot(chronicle);
    html + "</div>"
}

fn best(shared: &mut SharedStudy, html: &mut String) {
    let space = shared.study().space().clone();
    let number = shared.study().best_observed().map(|trial| trial.number);
    let ledger: &Ledger = shared.ledger();
    let Some(record) = number.and_then(|number| ledger.record(number)) else { return };
    let value = record.described(&space).value.map(short).unwrap_or_default();
    let _ = write!(
        html,
        "<table><tr><th>best value</th><td>{value}</td></tr><tr><th>trial</th><td>{}</td></tr>",
        record.number
    );
    if let Some(id) = record.id(&space) {
        let _ = write!(html, "<tr><th>candidate</th><td>{}</td></tr>", escaped(&id));
    }
    for (name, value) in record.params(&space).iter() {
        let value = value.as_f64().map_or_else(|| value.to_string(), short);
        let _ = write!(html, "<tr><th>{}</th><td>{}</td></tr>", escaped(name), escaped(&value));
    }
    *html += "</table>";
}

/// Values as dots, and the best so far as a line.
fn plot(chronicle: &Chronicle) -> String {
    let history = chronicle.history(POINTS);
    let values: Vec<(f64, f64)> = (history.place.iter().zip(&history.value))
        .filter_map(|(place, value)| Some((*place as f64, (*value)?)))
        .collect();
    let (Some(low), Some(high)) = range(&values) else { return String::new() };
    let last = history.place.last().map_or(1.0, |place| *place as f64).max(1.0);
    let x = |place: f64| MARGIN + (WIDTH - 2.0 * MARGIN) * place / last;
    let span = if high > low { high - low } else { 1.0 };
    let y = |value: f64| HEIGHT - MARGIN - (HEIGHT - 2.0 * MARGIN) * ((value - low) / span).clamp(0.0, 1.0);
    let mut svg = format!(
        "<svg viewBox=\"0 0 {WIDTH} {HEIGHT}\" width=\"{WIDTH}\" height=\"{HEIGHT}\" role=\"img\"><title>values of {} trials, and the best so far</title>",
        history.place.last().map_or(0, |place| place + 1)
    );
    for (place, value) in &values {
        let _ = write!(
            svg,
            "<circle cx=\"{:.1}\" cy=\"{:.1}\" r=\"1.5\" fill=\"#888\" fill-opacity=\"0.6\"/>",
            x(*place),
            y(*value)
        );
    }
    let mut path = String::new();
    for (place, _, value) in &history.best {
        let sign = if path.is_empty() { "M" } else { "H" };
        let _ = match sign {
            "M" => write!(path, "M{:.1} {:.1}", x(*place as f64), y(*value)),
            _ => write!(path, "H{:.1}V{:.1}", x(*place as f64), y(*value)),
        };
    }
    let _ = write!(path, "H{:.1}", x(last));
    let _ = write!(svg, "<path d=\"{path}\" fill=\"none\" stroke=\"#0072b2\" stroke-width=\"2\"/></svg>");
    svg
}

/// The least and the largest value, without the tenth that is worst on either side if it is far off.
fn range(values: &[(f64, f64)]) -> (Option<f64>, Option<f64>) {
    let mut sorted: Vec<f64> = values.iter().map(|(_, value)| *value).collect();
    sorted.sort_by(f64::total_cmp);
    let Some(last) = sorted.len().checked_sub(1) else { return (None, None) };
    let (tenth, rest) = (sorted[last / 10], sorted[last - last / 10]);
    let far = 3.0 * (rest - tenth);
    let low = if tenth - sorted[0] > far { tenth - far } else { sorted[0] };
    let high = if sorted[last] - rest > far { rest + far } else { sorted[last] };
    (Some(low), Some(high))
}

fn escaped(text: &str) -> String {
    text.replace('&', "&amp;").replace('<', "&lt;").replace('>', "&gt;").replace('"', "&quot;")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_far_off_does_not_flatten_the_rest() {
        let mut values: Vec<(f64, f64)> = (0..20).map(|i| (f64::from(i), f64::from(i))).collect();
        assert_eq!(range(&values), (Some(0.0), Some(19.0)));
        values.push((20.0, 1e9));
        let (_, high) = range(&values);
        assert!(high.unwrap() < 100.0, "{high:?}");
        assert_eq!(range(&[]), (None, None));
        assert_eq!(escaped("<a & \"b\">"), "&lt;a &amp; &quot;b&quot;&gt;");
    }
}
