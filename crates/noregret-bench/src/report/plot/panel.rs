//! What is drawn in and around panels: axes, curves, bars, captions.

use plotters::element::{Circle, Polygon};
use plotters::style::Color;
use plotters::style::text_anchor::{HPos, VPos};

use super::axis::ticks;
use super::canvas::{Canvas, Lettering, at};
use super::colours::{AXIS, DOT, GRID, INK, PAPER, STRAND, Style, style_of};
use super::layout::{BELOW, Frame, LABEL, LEFT, Layout, PANEL_TITLE, Place, SWATCH, TICK, TITLE};
use super::{Bar, PlotError, Point, Series};

/// What surrounds the panels.
pub(super) struct Captions<'a> {
    pub(super) title: &'a str,
    pub(super) y_label: &'a str,
    pub(super) labels: &'a [&'a str],
}

/// What stands for a label in the legend.
#[derive(Clone, Copy)]
pub(super) enum Mark {
    Line,
    Square,
}

impl Captions<'_> {
    pub(super) fn draw(&self, canvas: &Canvas<'_>, layout: &Layout, mark: Mark) -> Result<(), PlotError> {
        canvas.text(
            self.title,
            (LEFT, 12.0),
            &Lettering::new(TITLE).bold().anchored(HPos::Left, VPos::Top),
        )?;
        for i in (0..layout.panels).step_by(layout.columns) {
            let place = layout.place(i);
            let lettering = Lettering::new(LABEL).anchored(HPos::Center, VPos::Center).upwards();
            canvas.text(
                self.y_label,
                (place.left - LEFT + 14.0, f64::midpoint(place.top, place.bottom)),
                &lettering,
            )?;
        }
        for (label, &(x, y)) in self.labels.iter().zip(&layout.legend) {
            let style = style_of(label, self.labels);
            match mark {
                Mark::Line => canvas.line(&[(x, y), (x + SWATCH, y)], style, 2.5)?,
                Mark::Square => canvas.rectangle((x + 8.0, y - 6.0), (x + SWATCH - 2.0, y + 6.0), style)?,
            }
            let lettering = Lettering::new(LABEL).anchored(HPos::Left, VPos::Center);
            canvas.text(label, (x + SWATCH + 6.0, y), &lettering)?;
        }
        Ok(())
    }
}

impl Canvas<'_> {
    /// Grid, axis, vertical ticks and title.
    pub(super) fn panel(&self, frame: &Frame, title: &str) -> Result<(), PlotError> {
        let Place { left, right, top, .. } = frame.place;
        for (value, label) in frame.y.ticks() {
            let y = frame.y(value);
            self.rule((left, y), (right, y), GRID)?;
            let lettering = Lettering::new(TICK).anchored(HPos::Right, VPos::Center);
            self.text(&label, (left - 6.0, y), &lettering)?;
        }
        let ground = frame.y(frame.y.ground());
        self.rule((left, ground), (right, ground), AXIS)?;
        self.text(
            title,
            (left, top - 8.0),
            &Lettering::new(PANEL_TITLE).bold().anchored(HPos::Left, VPos::Bottom),
        )
    }

    pub(super) fn x_ticks(&self, frame: &Frame) -> Result<(), PlotError> {
        let bottom = frame.place.bottom;
        for (value, label) in ticks(frame.x.0, frame.x.1) {
            let x = frame.x(value);
            self.rule((x, bottom), (x, bottom + 4.0), AXIS)?;
            self.text(&label, (x, bottom + 8.0), &Lettering::new(TICK).anchored(HPos::Center, VPos::Top))?;
        }
        Ok(())
    }

    pub(super) fn x_label(&self, frame: &Frame, label: &str) -> Result<(), PlotError> {
        let Place { left, right, bottom, .. } = frame.place;
        let lettering = Lettering::new(LABEL).anchored(HPos::Center, VPos::Top);
        self.text(label, (f64::midpoint(left, right), bottom + BELOW), &lettering)
    }

    pub(super) fn band(&self, frame: &Frame, series: &Series, style: Style) -> Result<(), PlotError> {
        let points = thinned(&series.points);
        for run in points.split(|point| !(point.mean + point.sd).is_finite()).filter(|run| run.len() > 1) {
            let upper = run.iter().map(|p| (frame.x(p.x), frame.y(p.mean + p.sd)));
            let lower = run.iter().rev().map(|p| (frame.x(p.x), frame.y(p.mean - p.sd)));
            let outline: Vec<(i32, i32)> = upper.chain(lower).map(at).collect();
            self.area.draw(&Polygon::new(outline, style.colour.mix(0.12)))?;
        }
        Ok(())
    }

    pub(super) fn strand(&self, frame: &Frame, points: &[(f64, f64)]) -> Result<(), PlotError> {
        for run in points.split(|(_, y)| !y.is_finite()).filter(|run| !run.is_empty()) {
            let line: Vec<(f64, f64)> = run.iter().map(|(x, y)| (frame.x(*x), frame.y(*y))).collect();
            self.line(&line, Style { colour: STRAND, dashed: false }, 0.6)?;
        }
        Ok(())
    }

    pub(super) fn dot(&self, frame: &Frame, (x, y): (f64, f64)) -> Result<(), PlotError> {
        let (radius, _) = at((3.0, 0.0));
        self.area.draw(&Circle::new(at((frame.x(x), frame.y(y))), radius, DOT.filled()))
    }

    pub(super) fn curve(&self, frame: &Frame, series: &Series, style: Style) -> Result<(), PlotError> {
        let points = thinned(&series.points);
        for run in points.split(|point| !point.mean.is_finite()).filter(|run| !run.is_empty()) {
            let line: Vec<(f64, f64)> = run.iter().map(|p| (frame.x(p.x), frame.y(p.mean))).collect();
            self.line(&line, style, 1.8)?;
        }
        Ok(())
    }

    /// The `k`-th bar, its error bar and its height in figures of `size` pixels.
    pub(super) fn bar(
        &self,
        frame: &Frame,
        k: f64,
        bar: &Bar,
        style: Style,
        size: f64,
    ) -> Result<(), PlotError> {
        if !bar.mean.is_finite() {
            return Ok(());
        }
        let (ground, top) = (frame.y(frame.y.ground()), frame.y(bar.mean));
        self.rectangle((frame.x(k + 0.15), top), (frame.x(k + 0.85), ground), style)?;
        let middle = frame.x(k + 0.5);
        let mut highest = top;
        if bar.sd.is_finite() {
            let (upper, lower) = (frame.y(bar.mean + bar.sd), frame.y(bar.mean - bar.sd));
            // Dark on a light rim, to be seen on any colour.
            for (colour, width) in [(PAPER, 3.2), (INK, 1.2)] {
                let pen = Style { colour, dashed: false };
                self.line(&[(middle, upper), (middle, lower)], pen, width)?;
                for y in [upper, lower] {
                    self.line(&[(middle - 4.0, y), (middle + 4.0, y)], pen, width)?;
                }
            }
            highest = upper.min(top);
        }
        let lettering = Lettering::new(size).anchored(HPos::Center, VPos::Bottom);
        self.text(&bar.figures(), (middle, highest - 2.0), &lettering)
    }
}

/// At most about 400 points, more than a panel can show; always the last.
fn thinned(points: &[Point]) -> Vec<Point> {
    let every = points.len().div_ceil(400).max(1);
    let last = points.len().saturating_sub(1);
    points.iter().enumerate().filter(|(i, _)| i % every == 0 || *i == last).map(|(_, point)| *point).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn long_curves_are_thinned_and_keep_their_end() {
        let points: Vec<Point> = (0..10_001).map(|i| Point { x: f64::from(i), mean: 1.0, sd: 0.0 }).collect();
        let few = thinned(&points);
        assert!(few.len() <= 402 && (few[few.len() - 1].x - 10_000.0).abs() < 1e-9);
        assert!(thinned(&[]).is_empty());
    }
}
