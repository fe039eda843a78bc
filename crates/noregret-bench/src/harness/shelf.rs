//! A folder of kept records: one file per experiment and setting, as lines of JSON, compressed or not.

use std::fs::File;
use std::io::{self, BufReader, Read};
use std::path::{Path, PathBuf};

use flate2::read::GzDecoder;

use crate::BenchError;
use crate::report::Record;

/// Where records are kept.
pub struct Shelf {
    folder: PathBuf,
}

impl Shelf {
    /// The records of a folder.
    pub fn new(folder: &Path) -> Result<Self, BenchError> {
        if !folder.is_dir() {
            let source = io::Error::from(io::ErrorKind::NotFound);
            return Err(BenchError::Read { path: folder.to_owned(), source });
        }
        Ok(Self { folder: folder.to_owned() })
    }

    /// The records of an experiment in one setting; an error if there is no file of them.
    pub fn records(&self, stem: &str) -> Result<Vec<Record>, BenchError> {
        let plain = self.folder.join(format!("{stem}.jsonl"));
        let path = if plain.exists() { plain } else { self.folder.join(format!("{stem}.jsonl.gz")) };
        let file = File::open(&path).map_err(|source| BenchError::Read { path: path.clone(), source })?;
        let compressed = path.extension().is_some_and(|end| end == "gz");
        let text: Box<dyn Read> = if compressed { Box::new(GzDecoder::new(file)) } else { Box::new(file) };
        Record::read_all(BufReader::new(text)).map_err(|source| BenchError::Records { path, source })
    }
}
