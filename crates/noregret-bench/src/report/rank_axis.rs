//! Mean ranks on an axis, with the difference that matters: the picture of Demsar 2006, Figure 1.
//!
//! The best is on the left. Methods that no critical difference separates are joined by a bar.

use std::fmt::Write as _;

use super::html::escape;

/// What is drawn.
#[derive(Clone, Debug, Default)]
pub struct RankAxis {
    /// Names and mean ranks, in any order.
    pub methods: Vec<(String, f64)>,
    /// How far mean ranks must lie apart to differ; `None` where nobody knows.
    pub critical_difference: Option<f64>,
}

/// Pixels: the axis between the names on both sides, the height of a name's line, and that of a joining bar.
const WIDTH: f64 = 900.0;
const SIDE: f64 = 190.0;
const AXIS: f64 = 70.0;
const LINE: f64 = 22.0;
const JOIN: f64 = 8.0;

impl RankAxis {
    /// The figure as an SVG document.
    pub fn to_svg(&self) -> String {
        let mut methods: Vec<&(String, f64)> = self.methods.iter().collect();
        methods.sort_by(|a, b| a.1.total_cmp(&b.1));
        let most = methods.len().max(2) as f64;
        let x = |rank: f64| SIDE + (rank - 1.0) / (most - 1.0) * (WIDTH - 2.0 * SIDE);
        let joined = self.joined(&methods);
        let names_from = AXIS + 18.0 + JOIN * joined.len() as f64;
        let left = methods.len().div_ceil(2);
        let height = names_from + LINE * left as f64;
        let mut svg = format!(
            "<svg width=\"{WIDTH}\" height=\"{height}\" viewBox=\"0 0 {WIDTH} {height}\" xmlns=\"http://www.w3.org/2000/svg\" \
             font-family=\"sans-serif\" font-size=\"13\" fill=\"#333\">\n"
        );
        line(&mut svg, (x(1.0), AXIS), (x(most), AXIS), "#333", 1.2);
        for rank in 1..=methods.len().max(2) {
            let at = x(rank as f64);
            line(&mut svg, (at, AXIS - 5.0), (at, AXIS), "#333", 1.2);
            text(&mut svg, (at, AXIS - 10.0), "middle", &rank.to_string());
        }
        if let Some(cd) = self.critical_difference {
            // No longer than the axis: a difference beyond it is told by the number.
            let end = x(1.0 + cd.min(most - 1.0));
            line(&mut svg, (x(1.0), 22.0), (end, 22.0), "#c81e1e", 3.0);
            text(&mut svg, (x(1.0), 14.0), "start", &format!("critical difference {cd:.2}"));
        }
        for (i, &(from, to)) in joined.iter().enumerate() {
            let y = AXIS + 8.0 + JOIN * i as f64;
            line(&mut svg, (x(from) - 3.0, y), (x(to) + 3.0, y), "#c81e1e", 3.0);
        }
        for (i, (name, rank)) in methods.iter().enumerate() {
            // The better half on the left from above, the others on the right from below, so that no lines cross.
            let on_left = i < left;
            let row = if on_left { i } else { methods.len() - 1 - i };
            let y = names_from + LINE * row as f64;
            let (side, anchor, nudge) =
                if on_left { (SIDE - 12.0, "end", -5.0) } else { (WIDTH - SIDE + 12.0, "start", 5.0) };
            line(&mut svg, (x(*rank), AXIS), (x(*rank), y), "#0072b2", 1.2);
            line(&mut svg, (x(*rank), y), (side, y), "#0072b2", 1.2);
            text(&mut svg, (side + nudge, y + 4.0), anchor, &format!("{name} {rank:.2}"));
        }
        svg + "</svg>\n"
    }

    /// First and last rank of each group whose members lie within the critical difference, the largest groups only.
    fn joined(&self, sorted: &[&(String, f64)]) -> Vec<(f64, f64)> {
        let Some(cd) = self.critical_difference else { return Vec::new() };
        let mut groups: Vec<(f64, f64)> = Vec::new();
        for (i, (_, first)) in sorted.iter().enumerate() {
            let within = sorted[i..].iter().take_while(|(_, rank)| rank - first < cd);
            let Some((_, last)) = within.skip(1).last() else { continue };
            // A group that ends where an earlier one does is part of it.
            if groups.last().is_none_or(|(_, end)| last > end) {
                groups.push((*first, *last));
            }
        }
        groups
    }
}

fn line(svg: &mut String, (x1, y1): (f64, f64), (x2, y2): (f64, f64), colour: &str, width: f64) {
    let _ = writeln!(
        svg,
        "<line x1=\"{x1:.1}\" y1=\"{y1:.1}\" x2=\"{x2:.1}\" y2=\"{y2:.1}\" stroke=\"{colour}\" stroke-width=\"{width}\"/>"
    );
}

fn text(svg: &mut String, (x, y): (f64, f64), anchor: &str, text: &str) {
    let _ = writeln!(
        svg,
        "<text x=\"{x:.1}\" y=\"{y:.1}\" text-anchor=\"{anchor}\" stroke=\"none\">{}</text>",
        escape(text)
    );
}

#[cfg(test)]
mod tests {
    use super::super::html::tests::assert_well_formed;
    use super::*;

    fn axis(ranks: &[f64], critical_difference: Option<f64>) -> RankAxis {
        let method = |(i, rank): (usize, &f64)| (format!("m<{i}>"), *rank);
        RankAxis { methods: ranks.iter().enumerate().map(method).collect(), critical_difference }
    }

    #[test]
    fn groups_are_as_large_as_can_be_and_no_larger() {
        let axis = axis(&[1.0, 1.5, 2.2, 4.5, 4.6], Some(1.0));
        let sorted: Vec<_> = axis.methods.iter().collect();
        assert_eq!(axis.joined(&sorted), [(1.0, 1.5), (1.5, 2.2), (4.5, 4.6)]);
        assert!(RankAxis { critical_difference: None, ..axis.clone() }.joined(&sorted).is_empty());
    }

    #[test]
    fn every_method_has_its_mark_and_name() {
        for ranks in [&[][..], &[1.0], &[2.0, 1.0], &[2.5, 2.5, 1.0]] {
            for difference in [None, Some(0.7), Some(50.0)] {
                let svg = axis(ranks, difference).to_svg();
                assert_well_formed(&format!("<!DOCTYPE html>{svg}"));
                assert_eq!(svg.matches("m&lt;").count(), ranks.len());
                assert_eq!(svg.contains("critical difference"), difference.is_some());
                assert!(!svg.contains("NaN"));
            }
        }
    }
}
