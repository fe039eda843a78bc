//! Colours, and which label has which.

use plotters::prelude::RGBColor;

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
pub(super) const INK: RGBColor = RGBColor(51, 51, 51);
pub(super) const AXIS: RGBColor = RGBColor(170, 170, 170);
pub(super) const GRID: RGBColor = RGBColor(232, 232, 232);
pub(super) const STRAND: RGBColor = RGBColor(160, 200, 225);
pub(super) const DOT: RGBColor = RGBColor(200, 30, 30);
pub(super) const PAPER: RGBColor = RGBColor(255, 255, 255);

/// How a label is drawn: when the colours are used up they begin again, dashed.
#[derive(Clone, Copy)]
pub(super) struct Style {
    pub(super) colour: RGBColor,
    pub(super) dashed: bool,
}

/// Distinct labels in the order in which they are first met.
pub(super) fn labels<'a>(all: impl Iterator<Item = &'a String>) -> Vec<&'a str> {
    let mut labels = Vec::new();
    for label in all {
        if !labels.contains(&label.as_str()) {
            labels.push(label.as_str());
        }
    }
    labels
}

pub(super) fn style_of(label: &str, labels: &[&str]) -> Style {
    let i = labels.iter().position(|known| *known == label).unwrap_or(0);
    Style { colour: PALETTE[i % PALETTE.len()], dashed: (i / PALETTE.len()) % 2 == 1 }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn colours_follow_labels_and_begin_again_dashed() {
        let names: Vec<String> = (0..9).map(|i| format!("a{i}")).collect();
        let labels = labels(names.iter().chain(&names));
        assert_eq!(labels.len(), 9);
        assert_eq!(style_of("a0", &labels).colour, style_of("a7", &labels).colour);
        assert!(!style_of("a0", &labels).dashed && style_of("a7", &labels).dashed);
    }
}
