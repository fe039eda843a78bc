//! Figures as SVG: small multiples of regret curves, and of bars.
//!
//! plotters writes the SVG; lay-out, axes and ticks are ours, because its own measure text by font files, which we do
//! not want to need. Colours are those of Okabe & Ito (2008), distinct for colour-blind readers; a label has the same
//! colour in all panels, and one legend under the figure serves them all.

mod axis;
mod canvas;
mod colours;
mod layout;
mod panel;

use std::io;

use plotters::prelude::DrawingAreaErrorKind;

use self::axis::{ValueAxis, span};
use self::canvas::document;
use self::colours::{labels, style_of};
use self::layout::{Frame, Layout, TICK, text_width};
use self::panel::{Captions, Mark};
use super::summary::{Curve, Summary};
use super::table::compact_to;

/// What plotters may complain of.
pub type PlotError = DrawingAreaErrorKind<io::Error>;

/// One panel of curves for each problem.
#[derive(Clone, Debug, Default)]
pub struct LinePlot {
    /// Heading of the figure.
    pub title: String,
    /// Under the lowest panels.
    pub x_label: String,
    /// Beside the leftmost panels.
    pub y_label: String,
    /// Whether values are drawn by their logarithm; those not positive are then drawn at the foot of the axis.
    pub log_y: bool,
    /// The panels, row by row.
    pub panels: Vec<LinePanel>,
}

/// Curves on common axes.
#[derive(Clone, Debug, Default)]
pub struct LinePanel {
    /// Heading of the panel.
    pub title: String,
    /// The curves.
    pub series: Vec<Series>,
    /// Thin lines behind them, in one pale colour and without a place in the legend.
    pub strands: Vec<Vec<(f64, f64)>>,
    /// Dots above them, likewise.
    pub dots: Vec<(f64, f64)>,
}

/// A mean line with a band of one standard deviation to both sides.
#[derive(Clone, Debug, Default)]
pub struct Series {
    /// Name in the legend.
    pub label: String,
    /// From left to right. A mean that is not finite interrupts the line.
    pub points: Vec<Point>,
}

/// A point of a curve.
#[derive(Clone, Copy, Debug, Default)]
pub struct Point {
    /// Place on the horizontal axis.
    pub x: f64,
    /// Height of the line.
    pub mean: f64,
    /// Half the height of the band; NaN for none.
    pub sd: f64,
}

/// One panel of bars for each problem.
#[derive(Clone, Debug, Default)]
pub struct BarPlot {
    /// Heading of the figure.
    pub title: String,
    /// Beside the leftmost panels.
    pub y_label: String,
    /// Whether heights are logarithms; bars then begin at the foot of the axis, which has no meaning.
    pub log_y: bool,
    /// The panels, row by row.
    pub panels: Vec<BarPanel>,
}

/// Bars on a common axis.
#[derive(Clone, Debug, Default)]
pub struct BarPanel {
    /// Heading of the panel.
    pub title: String,
    /// The bars, from left to right.
    pub bars: Vec<Bar>,
}

/// A bar with an error bar of one standard deviation to both sides.
#[derive(Clone, Debug, Default)]
pub struct Bar {
    /// Name in the legend.
    pub label: String,
    /// Height of the bar.
    pub mean: f64,
    /// Half the length of the error bar; NaN for none.
    pub sd: f64,
}

impl LinePlot {
    /// One panel for each problem, one curve for each algorithm, steps counted from 0.
    pub fn panels_of(curves: &[Curve]) -> Vec<LinePanel> {
        let mut panels: Vec<LinePanel> = Vec::new();
        for curve in curves {
            let means = curve.mean.iter().zip(&curve.sd).enumerate();
            let points = means.map(|(step, (&mean, &sd))| Point { x: step as f64, mean, sd }).collect();
            let series = Series { label: curve.algorithm.clone(), points };
            match panels.iter_mut().find(|panel| panel.title == curve.problem) {
                Some(panel) => panel.series.push(series),
                None => panels.push(LinePanel {
                    title: curve.problem.clone(),
                    series: vec![series],
                    ..LinePanel::default()
                }),
            }
        }
        panels
    }

    /// The figure as an SVG document.
    pub fn to_svg(&self) -> Result<String, PlotError> {
        let labels = labels(self.panels.iter().flat_map(|panel| &panel.series).map(|series| &series.label));
        let captions = Captions { title: &self.title, y_label: &self.y_label, labels: &labels };
        let layout = Layout::new(self.panels.len(), captions.labels, !self.x_label.is_empty());
        document(&layout, |canvas| {
            captions.draw(canvas, &layout, Mark::Line)?;
            for (i, panel) in self.panels.iter().enumerate() {
                let frame = panel.frame(&layout, i, self.log_y);
                canvas.panel(&frame, &panel.title)?;
                canvas.x_ticks(&frame)?;
                if layout.is_lowest(i) {
                    canvas.x_label(&frame, &self.x_label)?;
                }
                for strand in &panel.strands {
                    canvas.strand(&frame, strand)?;
                }
                // Bands first, so that they never cover a line.
                for series in &panel.series {
                    canvas.band(&frame, series, style_of(&series.label, &labels))?;
                }
                for series in &panel.series {
                    canvas.curve(&frame, series, style_of(&series.label, &labels))?;
                }
                for &dot in &panel.dots {
                    canvas.dot(&frame, dot)?;
                }
            }
            Ok(())
        })
    }
}

impl LinePanel {
    fn frame(&self, layout: &Layout, i: usize, log_y: bool) -> Frame {
        let points = || self.series.iter().flat_map(|series| &series.points);
        let others = || self.strands.iter().flatten().chain(&self.dots);
        let x = span(points().map(|point| point.x).chain(others().map(|(x, _)| *x))).unwrap_or((0.0, 1.0));
        let x = if x.0 < x.1 { x } else { (x.0 - 0.5, x.0 + 0.5) };
        let values =
            points().map(|point| (point.mean, point.sd)).chain(others().map(|(_, y)| (*y, f64::NAN)));
        Frame { place: layout.place(i), x, y: ValueAxis::fit(values, log_y) }
    }
}

impl BarPlot {
    /// One panel for each problem, one bar for each algorithm.
    pub fn panels_of(summary: &Summary) -> Vec<BarPanel> {
        let bars = |problem: &String| {
            let cells = summary.problem(problem);
            cells.map(|cell| Bar { label: cell.algorithm.clone(), mean: cell.mean, sd: cell.sd }).collect()
        };
        summary
            .problems
            .iter()
            .map(|problem| BarPanel { title: problem.clone(), bars: bars(problem) })
            .collect()
    }

    /// The figure as an SVG document.
    pub fn to_svg(&self) -> Result<String, PlotError> {
        let labels = labels(self.panels.iter().flat_map(|panel| &panel.bars).map(|bar| &bar.label));
        let captions = Captions { title: &self.title, y_label: &self.y_label, labels: &labels };
        let layout = Layout::new(self.panels.len(), captions.labels, false);
        document(&layout, |canvas| {
            captions.draw(canvas, &layout, Mark::Square)?;
            for (i, panel) in self.panels.iter().enumerate() {
                let y =
                    ValueAxis::fit(panel.bars.iter().map(|bar| (bar.mean, bar.sd)), self.log_y).grounded();
                let frame = Frame { place: layout.place(i), x: (0.0, panel.bars.len().max(1) as f64), y };
                canvas.panel(&frame, &panel.title)?;
                let size = panel.figure_size(frame.x(1.0) - frame.x(0.0));
                for (k, bar) in panel.bars.iter().enumerate() {
                    canvas.bar(&frame, k as f64, bar, style_of(&bar.label, &labels), size)?;
                }
            }
            Ok(())
        })
    }
}

impl BarPanel {
    /// The size at which the figures of all bars fit into `room`, with some air; none so small as to be unreadable.
    fn figure_size(&self, room: f64) -> f64 {
        let widest = self.bars.iter().map(|bar| text_width(&bar.figures(), 1.0)).fold(1.0, f64::max);
        (0.9 * room / widest).clamp(7.0, TICK)
    }
}

impl Bar {
    /// Two digits are enough beside an axis.
    fn figures(&self) -> String {
        compact_to(2, self.mean)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn figures_hold_what_they_should() {
        let point = |x: u32| Point { x: f64::from(x), mean: 10.0 / f64::from(x + 1), sd: 1.0 };
        let series = |label: &str| Series { label: label.into(), points: (0..20).map(point).collect() };
        let panel = |title: &str| LinePanel {
            title: title.into(),
            series: vec![series("ts-rsr"), series("a<b & c")],
            strands: vec![vec![(0.0, 1.0), (5.0, f64::NAN), (6.0, 2.0), (7.0, 3.0)]],
            dots: vec![(3.0, 1.0), (4.0, 2.0)],
        };
        let plot = LinePlot {
            title: "Simple regret".into(),
            x_label: "round".into(),
            y_label: "regret".into(),
            log_y: true,
            panels: vec![panel("branin"), panel("levy-5d")],
        };
        let svg = plot.to_svg().unwrap();
        assert!(svg.starts_with("<svg width=\"680\" "), "{}", &svg[..60]);
        let lines = |text: &str| svg.lines().filter(|line| line.trim() == text).count();
        // Labels once for the figure, titles once a panel, the axes' names below and beside the outer panels.
        for (text, times) in
            [("ts-rsr", 1), ("a&lt;b &amp; c", 1), ("branin", 1), ("round", 2), ("regret", 1)]
        {
            assert_eq!(lines(text), times, "{text}");
        }
        assert_eq!((svg.matches("<polygon").count(), svg.matches("<circle").count()), (4, 4));
    }

    #[test]
    fn empty_and_failed_figures_are_still_figures() {
        assert!(LinePlot::default().to_svg().unwrap().ends_with("</svg>\n"));
        let bars = vec![Bar { label: "failed".into(), mean: f64::NAN, sd: f64::NAN }];
        let plot =
            BarPlot { panels: vec![BarPanel { title: "p".into(), bars }], log_y: true, ..BarPlot::default() };
        assert!(plot.to_svg().unwrap().contains("failed"));
    }
}
