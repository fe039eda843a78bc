//! Lines, rectangles and text on an SVG document.

use plotters::coord::Shift;
use plotters::element::{DashedPathElement, PathElement, Rectangle, Text};
use plotters::prelude::{DrawingArea, IntoDrawingArea, RGBColor, SVGBackend};
use plotters::style::text_anchor::{HPos, Pos, VPos};
use plotters::style::{Color, FontStyle, FontTransform, IntoFont, ShapeStyle};

use super::PlotError;
use super::colours::{INK, PAPER, Style};
use super::layout::Layout;

/// The SVG backend knows whole pixels only, too coarse for a smooth curve: everything is drawn four times larger,
/// and the document says how large it is meant.
const SCALE: f64 = 4.0;

/// Pixels to the backend's grid.
pub(super) fn at((x, y): (f64, f64)) -> (i32, i32) {
    #[expect(clippy::cast_possible_truncation, reason = "figures are a few thousand pixels wide")]
    let scaled = |v: f64| (v * SCALE).round() as i32;
    (scaled(x), scaled(y))
}

/// A width in pixels, on the backend's grid.
fn stroke(colour: impl Color, width: f64) -> ShapeStyle {
    colour.stroke_width(at((width, 0.0)).0.unsigned_abs())
}

/// Size, weight, direction and anchor of a text.
pub(super) struct Lettering {
    size: f64,
    bold: bool,
    upwards: bool,
    anchor: Pos,
}

impl Lettering {
    pub(super) fn new(size: f64) -> Self {
        Self { size, bold: false, upwards: false, anchor: Pos::new(HPos::Left, VPos::Top) }
    }

    pub(super) fn bold(self) -> Self {
        Self { bold: true, ..self }
    }

    pub(super) fn upwards(self) -> Self {
        Self { upwards: true, ..self }
    }

    pub(super) fn anchored(self, h: HPos, v: VPos) -> Self {
        Self { anchor: Pos::new(h, v), ..self }
    }
}

/// Makes the document of a layout and lets `paint` fill it.
pub(super) fn document(
    layout: &Layout,
    paint: impl FnOnce(&Canvas<'_>) -> Result<(), PlotError>,
) -> Result<String, PlotError> {
    let mut svg = String::new();
    let (w, h) = at((layout.width, layout.height));
    let size = (w.unsigned_abs(), h.unsigned_abs());
    {
        let canvas = Canvas { area: SVGBackend::with_string(&mut svg, size).into_drawing_area() };
        canvas.area.fill(&PAPER)?;
        paint(&canvas)?;
        canvas.area.present()?;
    }
    // The document is drawn on a finer grid than it is shown: see `SCALE`.
    let drawn = format!("width=\"{w}\" height=\"{h}\" viewBox");
    let shown = format!("width=\"{}\" height=\"{}\" viewBox", layout.width, layout.height);
    Ok(svg.replacen(&drawn, &shown, 1))
}

pub(super) struct Canvas<'a> {
    pub(super) area: DrawingArea<SVGBackend<'a>, Shift>,
}

impl Canvas<'_> {
    pub(super) fn text(&self, text: &str, place: (f64, f64), lettering: &Lettering) -> Result<(), PlotError> {
        // The backend divides sizes by 1.24.
        let font = ("sans-serif", lettering.size * SCALE * 1.24).into_font();
        let font = if lettering.bold { font.style(FontStyle::Bold) } else { font };
        let font = if lettering.upwards { font.transform(FontTransform::Rotate270) } else { font };
        self.area.draw(&Text::new(text, at(place), font.color(&INK).pos(lettering.anchor)))
    }

    pub(super) fn line(&self, points: &[(f64, f64)], style: Style, width: f64) -> Result<(), PlotError> {
        let points: Vec<(i32, i32)> = points.iter().copied().map(at).collect();
        let pen = stroke(style.colour, width);
        if style.dashed {
            let (dash, gap) = at((5.0, 3.0));
            return self.area.draw(&DashedPathElement::new(points, dash, gap, pen));
        }
        self.area.draw(&PathElement::new(points, pen))
    }

    pub(super) fn rule(&self, from: (f64, f64), to: (f64, f64), colour: RGBColor) -> Result<(), PlotError> {
        self.area.draw(&PathElement::new([at(from), at(to)], stroke(colour, 1.0)))
    }

    pub(super) fn rectangle(&self, from: (f64, f64), to: (f64, f64), style: Style) -> Result<(), PlotError> {
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
}
