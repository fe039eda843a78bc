//! Figures as SVG: small multiples of regret curves, and of bars.
//!
//! plotters writes the SVG; lay-out, axes and ticks are ours, because its own measure text by font files, which we do
//! not want to need. Colours are those of Okabe & Ito (2008), distinct for colour-blind readers; a label has the same
//! colour in all panels, and one legend under the figure serves them all.

use super::summary::{Curve, Summary};
use super::table::{compact, compact_to};
use plotters::coord::Shift;
use plotters::element::{Circle, DashedPathElement, PathElement, Polygon, Rectangle, Text};
use plotters::prelude::{DrawingArea, DrawingAreaErrorKind, IntoDrawingArea, RGBColor, SVGBackend};
use plotters::style::text_anchor::{HPos, Pos, VPos};
use plotters::style::{Color, FontStyle, FontTransform, IntoFont, ShapeStyle};
use std::io;

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
        let figure = Figure { title: &self.title, y_label: &self.y_label, labels: &labels };
        let layout = Layout::new(self.panels.len(), figure.labels, !self.x_label.is_empty());
        layout.draw(|canvas| {
            figure.draw(canvas, &layout, Mark::Line)?;
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
        Frame { place: layout.place(i), x, y: Axis::fit(values, log_y) }
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
        let figure = Figure { title: &self.title, y_label: &self.y_label, labels: &labels };
        let layout = Layout::new(self.panels.len(), figure.labels, false);
        layout.draw(|canvas| {
            figure.draw(canvas, &layout, Mark::Square)?;
            for (i, panel) in self.panels.iter().enumerate() {
                let y = Axis::fit(panel.bars.iter().map(|bar| (bar.mean, bar.sd)), self.log_y).grounded();
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

// ---------------------------------------------------------------------------------------------------- colours

/// Okabe & Ito's colours, without their yellow, which is lost on white; black last, as it draws the eye.
const PALETTE: [RGBColor; 7] = [
    RGBColor(0, 114, 178),
    RGBColor(213, 94, 0),
    RGBColor(0, 158, 115),
    RGBColor(204, 121, 167),
    RGBColor(230, 159, 0),
    RGBColor(86, 180, 233),
    RGBColor(0, 0, 0),
];
const INK: RGBColor = RGBColor(51, 51, 51);
const AXIS: RGBColor = RGBColor(170, 170, 170);
const GRID: RGBColor = RGBColor(232, 232, 232);
const STRAND: RGBColor = RGBColor(160, 200, 225);
const DOT: RGBColor = RGBColor(200, 30, 30);
const PAPER: RGBColor = RGBColor(255, 255, 255);

/// How a label is drawn: when the colours are used up they begin again, dashed.
#[derive(Clone, Copy)]
struct Style {
    colour: RGBColor,
    dashed: bool,
}

/// Distinct labels in the order in which they are first met.
fn labels<'a>(all: impl Iterator<Item = &'a String>) -> Vec<&'a str> {
    let mut labels = Vec::new();
    for label in all {
        if !labels.contains(&label.as_str()) {
            labels.push(label.as_str());
        }
    }
    labels
}

fn style_of(label: &str, labels: &[&str]) -> Style {
    let i = labels.iter().position(|known| *known == label).unwrap_or(0);
    Style { colour: PALETTE[i % PALETTE.len()], dashed: (i / PALETTE.len()) % 2 == 1 }
}

// ---------------------------------------------------------------------------------------------------- axes

/// The vertical axis: a range, straight or logarithmic.
#[derive(Clone, Copy)]
struct Axis {
    low: f64,
    high: f64,
    log: bool,
}

impl Axis {
    /// A range that shows every mean and the upper end of every spread.
    ///
    /// The lower end of a spread is shown as far as it says something: down to 0 when all means are positive, and on
    /// a logarithmic axis down to half the smallest mean, for a spread beyond its mean has no logarithm at all.
    fn fit(values: impl Iterator<Item = (f64, f64)>, log: bool) -> Self {
        let spread = |sd: f64| if sd.is_finite() { sd } else { 0.0 };
        let shown = |mean: f64| mean.is_finite() && (mean > 0.0 || !log);
        let values: Vec<(f64, f64)> = values.filter(|&(mean, _)| shown(mean)).collect();
        let Some((low, _)) = span(values.iter().map(|&(mean, _)| mean)) else {
            return Self { low: if log { 0.1 } else { 0.0 }, high: 1.0, log };
        };
        let high = values.iter().map(|&(mean, sd)| mean + spread(sd)).fold(low, f64::max);
        if log {
            return Self { low: low / 2.0, high: high * 2.0, log };
        }
        let lowest = values.iter().map(|&(mean, sd)| mean - spread(sd)).fold(low, f64::min);
        let low = if low >= 0.0 { 0.0 } else { lowest };
        // A twentieth of air above, and a range for constants.
        let air = if high > low { 0.05 * (high - low) } else { high.abs().max(1.0) };
        Self { low: if low < 0.0 { low - air } else { low }, high: high + air, log }
    }

    /// The same, with 0 in sight on a straight axis, as bars need it.
    fn grounded(self) -> Self {
        if self.log { self } else { Self { low: self.low.min(0.0), high: self.high.max(0.0), ..self } }
    }

    /// Where bars stand.
    fn ground(self) -> f64 {
        if self.log { self.low } else { 0.0 }
    }

    /// Place of a value, 0 at the lower and 1 at the upper end; values outside stop there.
    fn share(self, y: f64) -> f64 {
        let y = y.clamp(self.low, self.high);
        if self.log {
            (y / self.low).ln() / (self.high / self.low).ln()
        } else {
            (y - self.low) / (self.high - self.low)
        }
    }

    fn ticks(self) -> Vec<(f64, String)> {
        if self.log { log_ticks(self.low, self.high) } else { ticks(self.low, self.high) }
    }
}

/// Smallest and largest of the finite values.
fn span(values: impl Iterator<Item = f64>) -> Option<(f64, f64)> {
    values.filter(|v| v.is_finite()).fold(None, |span, v| match span {
        None => Some((v, v)),
        Some((low, high)) => Some((f64::min(low, v), f64::max(high, v))),
    })
}

/// Round numbers between `low` and `high`, at most seven.
fn ticks(low: f64, high: f64) -> Vec<(f64, String)> {
    let rough = (high - low) / 6.0;
    let power = 10_f64.powf(rough.log10().floor());
    let step =
        power * [1.0, 2.0, 5.0].into_iter().find(|m| m * power >= rough * (1.0 - 1e-9)).unwrap_or(10.0);
    let label = |value: f64| {
        let largest = low.abs().max(high.abs());
        if largest >= 1e6 || step < 1e-4 {
            return compact(value);
        }
        let decimals = (0..5).find(|&d| (step * 10_f64.powi(d)).fract() < 1e-6).unwrap_or(4);
        format!("{value:.*}", usize::try_from(decimals).unwrap_or(0))
    };
    let first = (low / step - 1e-9).ceil();
    (0..10)
        .map(|k| (first + f64::from(k)) * step)
        .take_while(|value| *value <= high + 1e-9 * step)
        .map(|value| (value, label(value + 0.0)))
        .collect()
}

/// Powers of ten, thinned to at most six; in a range of less than two decades also their doubles and fivefolds.
fn log_ticks(low: f64, high: f64) -> Vec<(f64, String)> {
    #[expect(clippy::cast_possible_truncation, reason = "exponents of doubles")]
    let (first, last) = (low.log10().floor() as i32, high.log10().ceil() as i32);
    let inside = |value: &f64| (low..=high).contains(value);
    let decades: Vec<i32> = (first..=last).filter(|&e| inside(&10_f64.powi(e))).collect();
    if high / low < 100.0 {
        let values = (first..=last).flat_map(|e| [1.0, 2.0, 5.0].map(|m| m * 10_f64.powi(e)));
        return values.filter(inside).map(|value| (value, plain(value))).collect();
    }
    let every = decades.len().div_ceil(6);
    decades.into_iter().step_by(every).map(|e| (10_f64.powi(e), power_of_ten(e))).collect()
}

/// A number of one digit: `0.05`, `2`, `500`, `2e-5`.
fn plain(value: f64) -> String {
    if (1e-3..1e5).contains(&value) { format!("{}", (value * 1e4).round() / 1e4) } else { compact(value) }
}

/// `1`, `10`, and otherwise `10⁻³`.
fn power_of_ten(exponent: i32) -> String {
    const RAISED: [char; 10] = ['⁰', '¹', '²', '³', '⁴', '⁵', '⁶', '⁷', '⁸', '⁹'];
    match exponent {
        0 => "1".into(),
        1 => "10".into(),
        _ => {
            let raise = |c: char| c.to_digit(10).map_or('⁻', |digit| RAISED[digit as usize]);
            format!("10{}", exponent.to_string().chars().map(raise).collect::<String>())
        }
    }
}

// ---------------------------------------------------------------------------------------------------- lay-out

/// Sizes of text, in pixels.
const TITLE: f64 = 17.0;
const PANEL_TITLE: f64 = 13.0;
const LABEL: f64 = 12.0;
const TICK: f64 = 11.0;
/// Room outside the axes of a panel: tick labels and axis label on the left, title above, ticks below.
const LEFT: f64 = 68.0;
const RIGHT: f64 = 20.0;
const ABOVE: f64 = 30.0;
const BELOW: f64 = 26.0;
const X_LABEL: f64 = 20.0;
const LEGEND_ROW: f64 = 20.0;
const SWATCH: f64 = 22.0;

/// Where everything goes, in pixels.
struct Layout {
    columns: usize,
    panels: usize,
    /// Outer size of a panel.
    panel: (f64, f64),
    width: f64,
    height: f64,
    /// Left end and middle line of each legend entry.
    legend: Vec<(f64, f64)>,
}

/// The rectangle between the axes of a panel.
#[derive(Clone, Copy)]
struct Place {
    left: f64,
    right: f64,
    top: f64,
    bottom: f64,
}

/// A panel's rectangle and what its sides stand for.
struct Frame {
    place: Place,
    x: (f64, f64),
    y: Axis,
}

impl Frame {
    fn x(&self, x: f64) -> f64 {
        self.place.left + (x - self.x.0) / (self.x.1 - self.x.0) * (self.place.right - self.place.left)
    }

    fn y(&self, y: f64) -> f64 {
        self.place.bottom - self.y.share(y) * (self.place.bottom - self.place.top)
    }
}

impl Layout {
    fn new(panels: usize, labels: &[&str], x_label: bool) -> Self {
        let columns = match panels {
            0 | 1 => 1,
            2 | 4 => 2,
            _ => 3,
        };
        let (wide, high) = if columns == 1 { (600.0, 360.0) } else { (340.0, 240.0) };
        let rows = panels.max(1).div_ceil(columns) as f64;
        let width = wide * columns as f64;
        let top = TITLE + 22.0;
        let under = top + high * rows + if x_label { X_LABEL } else { 0.0 } + 8.0;
        let (legend, lines) = Self::legend(labels, width, under);
        let height = under + lines * LEGEND_ROW + 10.0;
        Self { columns, panels, panel: (wide, high), width, height, legend }
    }

    /// Entries side by side from the left axis on, in as many lines as they need.
    fn legend(labels: &[&str], width: f64, top: f64) -> (Vec<(f64, f64)>, f64) {
        let (mut x, mut line) = (LEFT, 0.0);
        let mut places = Vec::new();
        for label in labels {
            let entry = SWATCH + 6.0 + text_width(label, LABEL) + 18.0;
            if x > LEFT && x + entry > width {
                (x, line) = (LEFT, line + 1.0);
            }
            places.push((x, top + (line + 0.5) * LEGEND_ROW));
            x += entry;
        }
        (places, if labels.is_empty() { 0.0 } else { line + 1.0 })
    }

    fn place(&self, i: usize) -> Place {
        let (column, row) = ((i % self.columns) as f64, (i / self.columns) as f64);
        let (x, y) = (column * self.panel.0, TITLE + 22.0 + row * self.panel.1);
        Place {
            left: x + LEFT,
            right: x + self.panel.0 - RIGHT,
            top: y + ABOVE,
            bottom: y + self.panel.1 - BELOW,
        }
    }

    fn is_lowest(&self, i: usize) -> bool {
        i + self.columns >= self.panels
    }

    /// Makes the document and lets `paint` fill it.
    fn draw(&self, paint: impl FnOnce(&Canvas<'_>) -> Result<(), PlotError>) -> Result<String, PlotError> {
        let mut svg = String::new();
        let (w, h) = at((self.width, self.height));
        let size = (w.unsigned_abs(), h.unsigned_abs());
        {
            let canvas = Canvas { area: SVGBackend::with_string(&mut svg, size).into_drawing_area() };
            canvas.area.fill(&PAPER)?;
            paint(&canvas)?;
            canvas.area.present()?;
        }
        // The document is drawn on a finer grid than it is shown: see `SCALE`.
        let drawn = format!("width=\"{w}\" height=\"{h}\" viewBox");
        let shown = format!("width=\"{}\" height=\"{}\" viewBox", self.width, self.height);
        Ok(svg.replacen(&drawn, &shown, 1))
    }
}

/// About the width of a text: no font is at hand to measure it, but sans-serif fonts differ little.
fn text_width(text: &str, size: f64) -> f64 {
    let em = |c: char| match c {
        'f' | 'i' | 'j' | 'l' | 'r' | 't' | 'I' | ' ' | '-' | '.' | ',' | ':' | '(' | ')' => 0.37,
        'm' | 'w' | 'M' | 'W' | '%' => 0.9,
        c if c.is_uppercase() => 0.7,
        _ => 0.6,
    };
    size * text.chars().map(em).sum::<f64>()
}

/// What surrounds the panels.
struct Figure<'a> {
    title: &'a str,
    y_label: &'a str,
    labels: &'a [&'a str],
}

/// What stands for a label in the legend.
#[derive(Clone, Copy)]
enum Mark {
    Line,
    Square,
}

impl Figure<'_> {
    fn draw(&self, canvas: &Canvas<'_>, layout: &Layout, mark: Mark) -> Result<(), PlotError> {
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

// ---------------------------------------------------------------------------------------------------- drawing

/// The SVG backend knows whole pixels only, too coarse for a smooth curve: everything is drawn four times larger,
/// and the document says how large it is meant.
const SCALE: f64 = 4.0;

/// Pixels to the backend's grid.
fn at((x, y): (f64, f64)) -> (i32, i32) {
    #[expect(clippy::cast_possible_truncation, reason = "figures are a few thousand pixels wide")]
    let scaled = |v: f64| (v * SCALE).round() as i32;
    (scaled(x), scaled(y))
}

/// A width in pixels, on the backend's grid.
fn stroke(colour: impl Color, width: f64) -> ShapeStyle {
    colour.stroke_width(at((width, 0.0)).0.unsigned_abs())
}

/// Size, weight, direction and anchor of a text.
struct Lettering {
    size: f64,
    bold: bool,
    upwards: bool,
    anchor: Pos,
}

impl Lettering {
    fn new(size: f64) -> Self {
        Self { size, bold: false, upwards: false, anchor: Pos::new(HPos::Left, VPos::Top) }
    }

    fn bold(self) -> Self {
        Self { bold: true, ..self }
    }

    fn upwards(self) -> Self {
        Self { upwards: true, ..self }
    }

    fn anchored(self, h: HPos, v: VPos) -> Self {
        Self { anchor: Pos::new(h, v), ..self }
    }
}

struct Canvas<'a> {
    area: DrawingArea<SVGBackend<'a>, Shift>,
}

impl Canvas<'_> {
    fn text(&self, text: &str, place: (f64, f64), lettering: &Lettering) -> Result<(), PlotError> {
        // The backend divides sizes by 1.24.
        let font = ("sans-serif", lettering.size * SCALE * 1.24).into_font();
        let font = if lettering.bold { font.style(FontStyle::Bold) } else { font };
        let font = if lettering.upwards { font.transform(FontTransform::Rotate270) } else { font };
        self.area.draw(&Text::new(text, at(place), font.color(&INK).pos(lettering.anchor)))
    }

    fn line(&self, points: &[(f64, f64)], style: Style, width: f64) -> Result<(), PlotError> {
        let points: Vec<(i32, i32)> = points.iter().copied().map(at).collect();
        let pen = stroke(style.colour, width);
        if style.dashed {
            let (dash, gap) = at((5.0, 3.0));
            return self.area.draw(&DashedPathElement::new(points, dash, gap, pen));
        }
        self.area.draw(&PathElement::new(points, pen))
    }

    fn rule(&self, from: (f64, f64), to: (f64, f64), colour: RGBColor) -> Result<(), PlotError> {
        self.area.draw(&PathElement::new([at(from), at(to)], stroke(colour, 1.0)))
    }

    fn rectangle(&self, from: (f64, f64), to: (f64, f64), style: Style) -> Result<(), PlotError> {
        let corners = [at(from), at(to)];
        if style.dashed {
            self.area.draw(&Rectangle::new(corners, PAPER.filled()))?; // hides the grid
            self.area.draw(&Rectangle::new(corners, style.colour.mix(0.25).filled()))?;
            let ((left, top), (right, bottom)) = (from, to);
            let edge = [(left, bottom), (left, top), (right, top), (right, bottom), (left, bottom)];
            return self.line(&edge, Style { dashed: false, ..style }, 1.5);
        }
        self.area.draw(&Rectangle::new(corners, style.colour.filled()))
    }

    /// Grid, axis, vertical ticks and title.
    fn panel(&self, frame: &Frame, title: &str) -> Result<(), PlotError> {
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

    fn x_ticks(&self, frame: &Frame) -> Result<(), PlotError> {
        let bottom = frame.place.bottom;
        for (value, label) in ticks(frame.x.0, frame.x.1) {
            let x = frame.x(value);
            self.rule((x, bottom), (x, bottom + 4.0), AXIS)?;
            self.text(&label, (x, bottom + 8.0), &Lettering::new(TICK).anchored(HPos::Center, VPos::Top))?;
        }
        Ok(())
    }

    fn x_label(&self, frame: &Frame, label: &str) -> Result<(), PlotError> {
        let Place { left, right, bottom, .. } = frame.place;
        let lettering = Lettering::new(LABEL).anchored(HPos::Center, VPos::Top);
        self.text(label, (f64::midpoint(left, right), bottom + BELOW), &lettering)
    }

    fn band(&self, frame: &Frame, series: &Series, style: Style) -> Result<(), PlotError> {
        let points = thinned(&series.points);
        for run in points.split(|point| !(point.mean + point.sd).is_finite()).filter(|run| run.len() > 1) {
            let upper = run.iter().map(|p| (frame.x(p.x), frame.y(p.mean + p.sd)));
            let lower = run.iter().rev().map(|p| (frame.x(p.x), frame.y(p.mean - p.sd)));
            let outline: Vec<(i32, i32)> = upper.chain(lower).map(at).collect();
            self.area.draw(&Polygon::new(outline, style.colour.mix(0.12)))?;
        }
        Ok(())
    }

    fn strand(&self, frame: &Frame, points: &[(f64, f64)]) -> Result<(), PlotError> {
        for run in points.split(|(_, y)| !y.is_finite()).filter(|run| !run.is_empty()) {
            let line: Vec<(f64, f64)> = run.iter().map(|(x, y)| (frame.x(*x), frame.y(*y))).collect();
            self.line(&line, Style { colour: STRAND, dashed: false }, 0.6)?;
        }
        Ok(())
    }

    fn dot(&self, frame: &Frame, (x, y): (f64, f64)) -> Result<(), PlotError> {
        let (radius, _) = at((3.0, 0.0));
        self.area.draw(&Circle::new(at((frame.x(x), frame.y(y))), radius, DOT.filled()))
    }

    fn curve(&self, frame: &Frame, series: &Series, style: Style) -> Result<(), PlotError> {
        let points = thinned(&series.points);
        for run in points.split(|point| !point.mean.is_finite()).filter(|run| !run.is_empty()) {
            let line: Vec<(f64, f64)> = run.iter().map(|p| (frame.x(p.x), frame.y(p.mean))).collect();
            self.line(&line, style, 1.8)?;
        }
        Ok(())
    }

    /// The `k`-th bar, its error bar and its height in figures of `size` pixels.
    fn bar(&self, frame: &Frame, k: f64, bar: &Bar, style: Style, size: f64) -> Result<(), PlotError> {
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

    fn labels_of(ticks: &[(f64, String)]) -> Vec<&str> {
        ticks.iter().map(|(_, label)| label.as_str()).collect()
    }

    #[test]
    fn straight_ticks_are_round() {
        assert_eq!(labels_of(&ticks(0.0, 1.0)), ["0.0", "0.2", "0.4", "0.6", "0.8", "1.0"]);
        assert_eq!(labels_of(&ticks(0.0, 50.0)), ["0", "10", "20", "30", "40", "50"]);
        assert_eq!(labels_of(&ticks(-0.3, 1.1)), ["0.0", "0.5", "1.0"]);
        assert_eq!(labels_of(&ticks(0.0, 3e7)), ["0", "5e6", "1e7", "1.5e7", "2e7", "2.5e7", "3e7"]);
        assert_eq!(labels_of(&ticks(-4.0, 4.0)), ["-4", "-2", "0", "2", "4"]);
    }

    #[test]
    fn logarithmic_ticks_are_decades_or_their_parts() {
        assert_eq!(labels_of(&log_ticks(5e-4, 200.0)), ["10⁻³", "10⁻²", "10⁻¹", "1", "10", "10²"]);
        assert_eq!(labels_of(&log_ticks(0.04, 1.5)), ["0.05", "0.1", "0.2", "0.5", "1"]);
        assert!(log_ticks(1e-30, 1.0).len() <= 6);
    }

    #[test]
    fn axes_show_means_and_spreads() {
        let axis = Axis::fit([(1.0, 2.0), (3.0, f64::NAN), (f64::NAN, 9.0)].into_iter(), false);
        assert!(axis.low.abs() < 1e-15 && axis.high > 3.0 && axis.high < 3.5);
        let axis = Axis::fit([(0.01, 1.0), (0.0, 0.0), (-1.0, 0.0)].into_iter(), true);
        assert!((axis.low - 0.005).abs() < 1e-15 && (axis.high - 2.02).abs() < 1e-12);
        assert!(axis.share(0.0).abs() < 1e-15, "zero has no logarithm and is drawn at the foot");
        for (values, log) in
            [(vec![], true), (vec![], false), (vec![(2.0, 0.0)], false), (vec![(0.0, 0.0)], false)]
        {
            let axis = Axis::fit(values.into_iter(), log);
            assert!(axis.low < axis.high);
        }
    }

    #[test]
    fn colours_follow_labels_and_begin_again_dashed() {
        let names: Vec<String> = (0..9).map(|i| format!("a{i}")).collect();
        let labels = labels(names.iter().chain(&names));
        assert_eq!(labels.len(), 9);
        assert_eq!(style_of("a0", &labels).colour, style_of("a7", &labels).colour);
        assert!(!style_of("a0", &labels).dashed && style_of("a7", &labels).dashed);
    }

    #[test]
    fn long_curves_are_thinned_and_keep_their_end() {
        let points: Vec<Point> = (0..10_001).map(|i| Point { x: f64::from(i), mean: 1.0, sd: 0.0 }).collect();
        let few = thinned(&points);
        assert!(few.len() <= 402 && (few[few.len() - 1].x - 10_000.0).abs() < 1e-9);
        assert!(thinned(&[]).is_empty());
    }

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
