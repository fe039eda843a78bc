//! What an evaluation prints: the last line of stdout, which is its value, and the end of stderr. The rest is read and
//! forgotten, so that a flood of output needs little memory.

use std::io::{self, Read};
use std::os::fd::{AsFd, BorrowedFd};
use std::process::{Child, ChildStderr, ChildStdout};
use std::time::{Duration, Instant};

use rustix::event::{PollFd, PollFlags, Timespec, poll};

use super::answer::LONGEST_LINE;

/// Bytes read at a time.
const CHUNK: usize = 64 * 1024;
/// Bytes of stderr that are kept.
const STDERR: usize = 4 * 1024;

/// The pipes of a process and what was read from them.
#[derive(Debug)]
pub(super) struct Output {
    stdout: Option<ChildStdout>,
    stderr: Option<ChildStderr>,
    line: LastLine,
    end: Tail,
    chunk: Vec<u8>,
}

impl Output {
    /// Takes the pipes of a child.
    pub(super) fn of(child: &mut Child) -> Self {
        let (stdout, stderr) = (child.stdout.take(), child.stderr.take());
        let (line, end) = (LastLine::default(), Tail::default());
        Self { stdout, stderr, line, end, chunk: vec![0; CHUNK] }
    }

    /// Whether everything was read.
    pub(super) fn is_over(&self) -> bool {
        self.stdout.is_none() && self.stderr.is_none()
    }

    /// Waits up to `limit` for output, which it reads, or for `other`; returns whether `other` can be read.
    pub(super) fn step(&mut self, other: Option<BorrowedFd<'_>>, limit: Option<Duration>) -> bool {
        let limit = limit.and_then(|limit| Timespec::try_from(limit).ok());
        let pipes = [self.stdout.as_ref().map(AsFd::as_fd), self.stderr.as_ref().map(AsFd::as_fd), other];
        let mut watched: Vec<PollFd<'_>> =
            pipes.iter().flatten().map(|fd| PollFd::new(fd, PollFlags::IN)).collect();
        if poll(&mut watched, limit.as_ref()).is_err() {
            return false; // interrupted
        }
        let mut events = watched.iter().map(|fd| !fd.revents().is_empty());
        let [stdout, stderr, other] = pipes.map(|pipe| pipe.is_some() && events.next().unwrap_or(false));
        if stdout && let Some(bytes) = read(&mut self.stdout, &mut self.chunk) {
            self.line.push(bytes);
        }
        if stderr && let Some(bytes) = read(&mut self.stderr, &mut self.chunk) {
            self.end.push(bytes);
        }
        other
    }

    /// Reads for at most this time, until stdout has ended.
    pub(super) fn finish_stdout(&mut self, limit: Duration) {
        self.finish(limit, |output| output.stdout.is_none());
    }

    /// The same, until both have ended.
    pub(super) fn finish_both(&mut self, limit: Duration) {
        self.finish(limit, Self::is_over);
    }

    fn finish(&mut self, limit: Duration, is_over: impl Fn(&Self) -> bool) {
        let until = Instant::now() + limit;
        while !is_over(self) {
            let left = until.saturating_duration_since(Instant::now());
            if left.is_zero() {
                return;
            }
            self.step(None, Some(left));
        }
    }

    /// The last line of stdout that is not empty.
    pub(super) fn last_line(&self) -> &LastLine {
        &self.line
    }

    /// The end of stderr.
    pub(super) fn stderr(&self) -> String {
        self.end.text()
    }
}

/// Reads what is there; at the end of the pipe, closes it.
fn read<'a>(pipe: &mut Option<impl Read>, chunk: &'a mut [u8]) -> Option<&'a [u8]> {
    match pipe.as_mut()?.read(chunk) {
        Ok(n) if n > 0 => Some(&chunk[..n]),
        Err(error) if error.kind() == io::ErrorKind::Interrupted => None,
        _ => {
            *pipe = None;
            None
        }
    }
}

/// The last line that is not blank, whole. A carriage return ends a line, too: progress bars go back with it.
#[derive(Debug, Default)]
pub(super) struct LastLine {
    /// From its first byte that is not blank.
    bytes: Vec<u8>,
    /// Whether the line has ended; blank ones may have followed.
    ended: bool,
    /// Whether blanks at its end were not kept.
    blanks_left_out: bool,
    /// Whether it is too long to be kept.
    too_long: bool,
}

fn is_blank(byte: u8) -> bool {
    byte.is_ascii_whitespace() || byte == b'\x0b'
}

fn is_end(byte: u8) -> bool {
    matches!(byte, b'\n' | b'\r')
}

impl LastLine {
    fn push(&mut self, chunk: &[u8]) {
        // From the end: the time taken does not depend on the lines that do not count.
        let Some(last) = chunk.iter().rposition(|&byte| !is_blank(byte)) else {
            return self.push_blanks(chunk);
        };
        let begin = chunk[..last].iter().rposition(|&byte| is_end(byte)).map(|at| at + 1);
        if begin.is_some() || self.ended {
            self.bytes.clear();
            (self.ended, self.blanks_left_out, self.too_long) = (false, false, false);
        }
        let mut part = &chunk[begin.unwrap_or(0)..=last];
        if self.bytes.is_empty() && !self.too_long {
            part = part.trim_ascii_start();
        }
        if self.blanks_left_out || self.bytes.len() + part.len() > LONGEST_LINE {
            self.too_long = true;
        }
        let room = LONGEST_LINE - self.bytes.len();
        self.bytes.extend_from_slice(&part[..part.len().min(room)]);
        self.push_blanks(&chunk[last + 1..]);
    }

    fn push_blanks(&mut self, blanks: &[u8]) {
        if self.bytes.is_empty() || self.ended {
            return;
        }
        if blanks.iter().any(|&byte| is_end(byte)) {
            self.ended = true;
        } else if self.bytes.len() + blanks.len() > LONGEST_LINE {
            self.blanks_left_out = true;
        } else {
            self.bytes.extend_from_slice(blanks);
        }
    }

    /// The line, empty if there is none, or `None` if it is longer than [`LONGEST_LINE`].
    pub(super) fn text(&self) -> Option<String> {
        (!self.too_long).then(|| String::from_utf8_lossy(&self.bytes).trim().to_owned())
    }
}

/// The last bytes.
#[derive(Debug, Default)]
struct Tail {
    bytes: Vec<u8>,
}

impl Tail {
    fn push(&mut self, chunk: &[u8]) {
        self.bytes.extend_from_slice(chunk);
        if self.bytes.len() > 8 * STDERR {
            // A few bytes more, since the first character may be cut.
            self.bytes.drain(..self.bytes.len() - STDERR - 4);
        }
    }

    fn text(&self) -> String {
        let text = String::from_utf8_lossy(&self.bytes);
        let mut start = text.len().saturating_sub(STDERR);
        while !text.is_char_boundary(start) {
            start += 1;
        }
        text[start..].trim().to_owned()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The last line of a text that comes in pieces of this size.
    fn last(text: &[u8], piece: usize) -> Option<String> {
        let mut line = LastLine::default();
        text.chunks(piece).for_each(|chunk| line.push(chunk));
        assert!(line.bytes.len() <= LONGEST_LINE && line.bytes.capacity() <= 3 * LONGEST_LINE);
        line.text()
    }

    #[test]
    fn the_last_line_is_found_however_it_arrives() {
        let cases: [(&[u8], &str); 16] = [
            (b"", ""),
            (b" \n\t\r\n \n", ""),
            (b"7", "7"),
            (b"7\n", "7"),
            (b"1\n7\r\n", "7"),
            (b"1\n  7 \n\n \n\n", "7"),
            (b"1\n7\n ", "7"),
            (b"1\n\n\n7", "7"),
            (b"1 2\n{\"value\": 1}  ", "{\"value\": 1}"),
            (b"a b c", "a b c"),
            (b"7\n8 \n9x", "9x"),
            (b"10 %\r20 %\r100 %\n0.5\n", "0.5"),
            (b"10 %\r20 %\r0.5", "0.5"),
            (b"10 %\r0.5\r", "0.5"),
            (b"\xff\xfe\n7", "7"),
            (b"7\n\xff", "\u{fffd}"),
        ];
        for (text, expected) in cases {
            for piece in 1..=text.len().max(1) {
                let shown = String::from_utf8_lossy(text);
                assert_eq!(last(text, piece).as_deref(), Some(expected), "{shown:?} by {piece}");
            }
        }
    }

    #[test]
    fn lines_are_whole_up_to_a_mebibyte() {
        for piece in [1000, CHUNK, usize::MAX] {
            let longest = format!("first\n{}", "1".repeat(LONGEST_LINE));
            assert_eq!(last(longest.as_bytes(), piece).unwrap().len(), LONGEST_LINE);
            assert_eq!(last(format!("{longest}2").as_bytes(), piece), None);
            // What comes after a line that is too long counts as if it had not been there.
            assert_eq!(last(format!("{longest}2\n0.5\n").as_bytes(), piece).as_deref(), Some("0.5"));
            assert_eq!(last(format!("{longest}2\n\n\n").as_bytes(), piece), None);
        }
    }

    #[test]
    fn blanks_do_not_count() {
        let many = LONGEST_LINE + 10;
        for piece in [1000, CHUNK, usize::MAX] {
            for blank in ["\n", " ", "\t", "\r\n"] {
                let after = format!("0.5\n{}", blank.repeat(many));
                assert_eq!(last(after.as_bytes(), piece).as_deref(), Some("0.5"));
                let before = format!("1\n{}0.5\n", blank.repeat(many));
                assert_eq!(last(before.as_bytes(), piece).as_deref(), Some("0.5"));
            }
            let trailing = format!("0.5{}", " ".repeat(many));
            assert_eq!(last(trailing.as_bytes(), piece).as_deref(), Some("0.5"));
            assert_eq!(last(format!("{trailing}\n").as_bytes(), piece).as_deref(), Some("0.5"));
            assert_eq!(last(format!("{trailing}6").as_bytes(), piece), None, "these are in its middle");
        }
    }

    #[test]
    fn the_end_of_stderr_is_cut_between_characters() {
        let mut tail = Tail::default();
        for _ in 0..10_000 {
            tail.push("é€".as_bytes());
        }
        let text = tail.text();
        assert!(!text.contains('\u{fffd}') && text.ends_with("é€"), "{text}");
        assert!((STDERR - 4..=STDERR).contains(&text.len()), "{}", text.len());
    }
}
