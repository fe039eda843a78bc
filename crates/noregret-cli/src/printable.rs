//! Text of others as people may see it on a terminal: what commands print, names, ids, reasons.
//!
//! A terminal obeys control sequences. One in the output of a command could hide a line, change the title of the window, or
//! worse. Everything that is printed for people comes through here; JSON has its own escapes.

use std::borrow::Cow;
use std::fmt::Write;

/// One line: control characters appear as `\x1b`, `\n` or `\u{9b}`, tabs as spaces. Other characters of any language stay.
pub(crate) fn line(text: &str) -> Cow<'_, str> {
    escaped(text, |c| c.is_control() || reorders(c))
}

/// The same for text of several lines, such as a message that shows a place in a file.
pub(crate) fn lines(text: &str) -> Cow<'_, str> {
    escaped(text, |c| c != '\n' && (c.is_control() || reorders(c)))
}

/// The last line that a person would see of this: progress bars overwrite themselves after a carriage return.
pub(crate) fn last_line(text: &str) -> Cow<'_, str> {
    line(text.split(['\n', '\r']).map(str::trim).rfind(|line| !line.is_empty()).unwrap_or_default())
}

/// Characters that change the order in which others are shown, or break a line.
fn reorders(c: char) -> bool {
    matches!(c, '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{2069}' | '\u{2028}' | '\u{2029}')
}

fn escaped(text: &str, must: impl Fn(char) -> bool) -> Cow<'_, str> {
    if !text.contains(&must) {
        return text.into();
    }
    let mut safe = String::with_capacity(text.len() + 16);
    for c in text.chars() {
        match c {
            c if !must(c) => safe.push(c),
            '\t' => safe.push(' '),
            '\n' | '\r' => safe.extend(c.escape_default()),
            c if c.is_ascii() => drop(write!(safe, "\\x{:02x}", u32::from(c))),
            c => safe.extend(c.escape_unicode()),
        }
    }
    safe.into()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn control_sequences_are_shown_and_not_obeyed() {
        assert_eq!(
            line("\x1b]0;owned\x07 a\tb\r\nc\0\x7f\u{9b}31m"),
            "\\x1b]0;owned\\x07 a b\\r\\nc\\x00\\x7f\\u{9b}31m"
        );
        assert_eq!(line("abc\u{202e}cba"), "abc\\u{202e}cba");
        assert_eq!(lines("a\n\x1bb"), "a\n\\x1bb");
    }

    #[test]
    fn languages_and_symbols_stay() {
        let text = "größer 学习率 α=0.1 👩‍🔬 نسبة C:\\path";
        assert!(matches!(line(text), Cow::Borrowed(same) if same == text));
    }

    #[test]
    fn of_a_progress_bar_the_last_state_is_seen() {
        assert_eq!(last_line("loading\n 10%|#\r 20%|##\r100%|####\r\n\n"), "100%|####");
        assert_eq!(last_line("Traceback\nValueError: \x1b[31mno\n"), "ValueError: \\x1b[31mno");
        assert_eq!(last_line(" \n"), "");
    }
}
