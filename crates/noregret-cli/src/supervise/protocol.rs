//! What `noregret run` and the supervisor of an evaluation tell each other, over one socket.
//!
//! First comes an [`Order`], then [`Report`]s come back. There is no order to stop: closing the socket is one, so that dying
//! is one, too.

use std::ffi::{OsStr, OsString};
use std::io::{self, Read, Write};
use std::os::unix::ffi::{OsStrExt, OsStringExt};

/// What to run.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Order {
    /// The program and its arguments.
    pub(crate) words: Vec<OsString>,
    /// All variables that it gets.
    pub(crate) variables: Vec<(OsString, OsString)>,
}

/// What became of it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Report {
    Started,
    /// The error of the operating system.
    NotStarted(i32),
    /// The status of the command, as the operating system writes it.
    Ended(i32),
}

impl Order {
    pub(crate) fn send(&self, out: &mut impl Write) -> io::Result<()> {
        let mut bytes = Vec::new();
        put_number(&mut bytes, self.words.len())?;
        self.words.iter().try_for_each(|word| put(&mut bytes, word))?;
        put_number(&mut bytes, self.variables.len())?;
        for (name, value) in &self.variables {
            put(&mut bytes, name)?;
            put(&mut bytes, value)?;
        }
        out.write_all(&bytes)
    }

    pub(crate) fn receive(input: &mut impl Read) -> io::Result<Self> {
        let words = (0..number(input)?).map(|_| text(input)).collect::<Result<_, _>>()?;
        let variables =
            (0..number(input)?).map(|_| Ok((text(input)?, text(input)?))).collect::<io::Result<_>>()?;
        Ok(Self { words, variables })
    }
}

impl Report {
    pub(crate) fn send(self, out: &mut impl Write) -> io::Result<()> {
        let (kind, number) = match self {
            Self::Started => (0, 0),
            Self::NotStarted(error) => (1, error),
            Self::Ended(status) => (2, status),
        };
        let [a, b, c, d] = i32::to_le_bytes(number);
        out.write_all(&[kind, a, b, c, d])
    }

    pub(crate) fn receive(input: &mut impl Read) -> io::Result<Self> {
        let mut bytes = [0; 5];
        input.read_exact(&mut bytes)?;
        let [kind, a, b, c, d] = bytes;
        let number = i32::from_le_bytes([a, b, c, d]);
        match kind {
            0 => Ok(Self::Started),
            1 => Ok(Self::NotStarted(number)),
            2 => Ok(Self::Ended(number)),
            _ => Err(io::ErrorKind::InvalidData.into()),
        }
    }
}

fn put_number(bytes: &mut Vec<u8>, n: usize) -> io::Result<()> {
    let n = u32::try_from(n).map_err(|_| io::ErrorKind::InvalidInput)?;
    bytes.extend(n.to_le_bytes());
    Ok(())
}

fn put(bytes: &mut Vec<u8>, text: &OsStr) -> io::Result<()> {
    put_number(bytes, text.len())?;
    bytes.extend(text.as_bytes());
    Ok(())
}

fn number(input: &mut impl Read) -> io::Result<u32> {
    let mut bytes = [0; 4];
    input.read_exact(&mut bytes)?;
    Ok(u32::from_le_bytes(bytes))
}

fn text(input: &mut impl Read) -> io::Result<OsString> {
    let length = u64::from(number(input)?);
    let mut bytes = Vec::new();
    let read = input.take(length).read_to_end(&mut bytes)?;
    if read as u64 == length {
        Ok(OsString::from_vec(bytes))
    } else {
        Err(io::ErrorKind::UnexpectedEof.into())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_sent_is_received() {
        let odd = OsString::from_vec(vec![0xff, b'\n', b'=']);
        let words = vec!["sh".into(), OsString::new(), odd.clone()];
        let order = Order { words, variables: vec![("A".into(), odd), ("B".into(), "".into())] };
        let mut bytes = Vec::new();
        order.send(&mut bytes).unwrap();
        assert_eq!(Order::receive(&mut bytes.as_slice()).unwrap(), order);
        // noregret may die in the middle.
        for cut in 0..bytes.len() {
            assert!(Order::receive(&mut &bytes[..cut]).is_err(), "{cut}");
        }
        for report in [Report::Started, Report::NotStarted(2), Report::Ended(-9)] {
            let mut bytes = Vec::new();
            report.send(&mut bytes).unwrap();
            assert_eq!(Report::receive(&mut bytes.as_slice()).unwrap(), report);
        }
    }
}
