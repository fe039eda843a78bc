//! Positions in a study file, for error messages.

use std::fmt;
use std::ops::Range;

use toml::Spanned;
use toml::de::{DeTable, DeValue};

/// A span within one line of a text.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Place {
    /// Line and column, from 1.
    pub(super) line: usize,
    pub(super) column: usize,
    text: String,
    width: usize,
}

impl Place {
    /// The place of a span of bytes; a span of several lines is cut to the first.
    pub(super) fn new(text: &str, span: Range<usize>) -> Self {
        let start = floor(text, span.start);
        let begin = text[..start].rfind('\n').map_or(0, |at| at + 1);
        let end = text[start..].find('\n').map_or(text.len(), |at| start + at);
        let stop = floor(text, span.end).clamp(start, end);
        Self {
            line: text[..begin].matches('\n').count() + 1,
            column: text[begin..start].chars().count() + 1,
            text: text[begin..end].trim_end().to_owned(),
            width: text[start..stop].chars().count().max(1),
        }
    }
}

/// The nearest boundary between characters, at or before `at`.
fn floor(text: &str, at: usize) -> usize {
    let mut at = at.min(text.len());
    while !text.is_char_boundary(at) {
        at -= 1;
    }
    at
}

impl fmt::Display for Place {
    /// Prints the line, with a mark under the span.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let number = self.line.to_string();
        let margin = " ".repeat(number.len());
        // Tabs stay tabs, so that the mark is aligned.
        let indent: String =
            self.text.chars().take(self.column - 1).map(|c| if c == '\t' { '\t' } else { ' ' }).collect();
        writeln!(f, "{margin} |")?;
        writeln!(f, "{number} | {}", self.text)?;
        write!(f, "{margin} | {indent}{}", "^".repeat(self.width))
    }
}

/// The span of the value at `path`; if it is missing, that of the nearest key or table.
pub(super) fn of_path(text: &str, path: &[&str]) -> Option<Range<usize>> {
    let table = DeTable::parse(text).ok()?;
    let mut table = table.get_ref();
    let mut found = None;
    for (depth, name) in path.iter().enumerate() {
        let Some((key, value)) = table.iter().find(|(key, _)| key.get_ref() == name) else { break };
        let is_last = depth + 1 == path.len();
        found = Some(if is_last && value.get_ref().as_table().is_none() { value.span() } else { key.span() });
        match value.get_ref().as_table() {
            Some(inner) => table = inner,
            None => break,
        }
    }
    found
}

/// The span of a key or a string `name`, within `span` if given: errors of tagged tables have no better position.
pub(super) fn of_word(text: &str, name: &str, span: Option<&Range<usize>>) -> Option<Range<usize>> {
    let table = DeTable::parse(text).ok()?;
    let mut found = Vec::new();
    collect(table.get_ref(), name, &mut found);
    let inside =
        |word: &Range<usize>| span.is_none_or(|span| span.start <= word.start && word.end <= span.end);
    found.into_iter().find(inside)
}

fn collect(table: &DeTable<'_>, name: &str, found: &mut Vec<Range<usize>>) {
    for (key, value) in table {
        if key.get_ref() == name {
            found.push(key.span());
        }
        collect_value(value, name, found);
    }
}

fn collect_value(value: &Spanned<DeValue<'_>>, name: &str, found: &mut Vec<Range<usize>>) {
    match value.get_ref() {
        DeValue::String(text) if text == name => found.push(value.span()),
        DeValue::Array(array) => array.iter().for_each(|value| collect_value(value, name, found)),
        DeValue::Table(table) => collect(table, name, found),
        _ => {}
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const TEXT: &str = "[a]\nx = 1\n\t[b]\n\t\"ü\" = { low = 2, kind = \"k\" }\n";

    #[test]
    fn a_place_is_a_line_and_a_column() {
        let span = of_path(TEXT, &["b", "ü", "low"]).unwrap();
        let place = Place::new(TEXT, span);
        assert_eq!((place.line, place.column), (4, 16));
        let expected = "  |\n4 | \t\"ü\" = { low = 2, kind = \"k\" }\n  | \t              ^";
        assert_eq!(place.to_string(), expected);
    }

    #[test]
    fn what_is_not_there_is_near_what_is() {
        assert_eq!(of_path(TEXT, &["a", "y"]), of_path(TEXT, &["a"]));
        assert_eq!(of_path(TEXT, &["c"]), None);
        assert_eq!(of_path("= broken", &["a"]), None);
        let place = Place::new(TEXT, 1000..2000);
        assert_eq!((place.line, place.width), (5, 1));
    }

    #[test]
    fn words_are_found_as_keys_and_as_values() {
        assert_eq!(&TEXT[of_word(TEXT, "kind", None).unwrap()], "kind");
        assert_eq!(&TEXT[of_word(TEXT, "k", None).unwrap()], "\"k\"");
        assert_eq!(of_word(TEXT, "x", Some(&(10..50))), None);
    }
}
