//! Where everything goes, in pixels.

use super::axis::ValueAxis;

/// Sizes of text, in pixels.
pub(super) const TITLE: f64 = 17.0;
pub(super) const PANEL_TITLE: f64 = 13.0;
pub(super) const LABEL: f64 = 12.0;
pub(super) const TICK: f64 = 11.0;
/// Room outside the axes of a panel: tick labels and axis label on the left, title above, ticks below.
pub(super) const LEFT: f64 = 68.0;
const RIGHT: f64 = 20.0;
const ABOVE: f64 = 30.0;
pub(super) const BELOW: f64 = 26.0;
const X_LABEL: f64 = 20.0;
const LEGEND_ROW: f64 = 20.0;
pub(super) const SWATCH: f64 = 22.0;

/// Where everything goes, in pixels.
pub(super) struct Layout {
    pub(super) columns: usize,
    pub(super) panels: usize,
    /// Outer size of a panel.
    panel: (f64, f64),
    pub(super) width: f64,
    pub(super) height: f64,
    /// Left end and middle line of each legend entry.
    pub(super) legend: Vec<(f64, f64)>,
}

/// The rectangle between the axes of a panel.
#[derive(Clone, Copy)]
pub(super) struct Place {
    pub(super) left: f64,
    pub(super) right: f64,
    pub(super) top: f64,
    pub(super) bottom: f64,
}

/// A panel's rectangle and what its sides stand for.
pub(super) struct Frame {
    pub(super) place: Place,
    pub(super) x: (f64, f64),
    pub(super) y: ValueAxis,
}

impl Frame {
    pub(super) fn x(&self, x: f64) -> f64 {
        self.place.left + (x - self.x.0) / (self.x.1 - self.x.0) * (self.place.right - self.place.left)
    }

    pub(super) fn y(&self, y: f64) -> f64 {
        self.place.bottom - self.y.share(y) * (self.place.bottom - self.place.top)
    }
}

impl Layout {
    pub(super) fn new(panels: usize, labels: &[&str], x_label: bool) -> Self {
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

    pub(super) fn place(&self, i: usize) -> Place {
        let (column, row) = ((i % self.columns) as f64, (i / self.columns) as f64);
        let (x, y) = (column * self.panel.0, TITLE + 22.0 + row * self.panel.1);
        Place {
            left: x + LEFT,
            right: x + self.panel.0 - RIGHT,
            top: y + ABOVE,
            bottom: y + self.panel.1 - BELOW,
        }
    }

    pub(super) fn is_lowest(&self, i: usize) -> bool {
        i + self.columns >= self.panels
    }
}

/// About the width of a text: no font is at hand to measure it, but sans-serif fonts differ little.
pub(super) fn text_width(text: &str, size: f64) -> f64 {
    let em = |c: char| match c {
        'f' | 'i' | 'j' | 'l' | 'r' | 't' | 'I' | ' ' | '-' | '.' | ',' | ':' | '(' | ')' => 0.37,
        'm' | 'w' | 'M' | 'W' | '%' => 0.9,
        c if c.is_uppercase() => 0.7,
        _ => 0.6,
    };
    size * text.chars().map(em).sum::<f64>()
}
