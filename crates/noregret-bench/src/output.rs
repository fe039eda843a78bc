//! Where the results of an experiment go: records to machines, tables to people, figures to a folder.

use std::fmt::Display;
use std::fs::{self, File};
use std::io::Write;
use std::path::{Path, PathBuf};

use crate::report::Record;
use crate::{BenchError, Options};

/// Takes the results of one experiment.
///
/// Records come one by one, as runs end. With `--json` they are all that is printed; otherwise what [`Self::text`] is
/// given is printed instead. With `--out` records and figures also go to files whose names begin with the stem.
pub struct Output<'a> {
    out: &'a mut dyn Write,
    json: bool,
    stem: String,
    folder: Option<PathBuf>,
    file: Option<(PathBuf, File)>,
    records: Vec<Record>,
}

impl<'a> Output<'a> {
    /// The output that `options` ask for; `stem` names the experiment and its setting.
    pub fn new(
        options: &Options,
        stem: impl Into<String>,
        out: &'a mut dyn Write,
    ) -> Result<Self, BenchError> {
        let stem = stem.into();
        let mut file = None;
        if let Some(folder) = &options.out {
            fs::create_dir_all(folder).map_err(|source| at(folder, source))?;
            let path = folder.join(format!("{stem}.jsonl"));
            let created = File::create(&path).map_err(|source| at(&path, source))?;
            file = Some((path, created));
        }
        Ok(Self { out, json: options.json, stem, folder: options.out.clone(), file, records: Vec::new() })
    }

    /// Takes the record of a run.
    pub fn record(&mut self, record: Record) -> Result<(), BenchError> {
        if self.json {
            record.write_line(&mut self.out)?;
            self.out.flush()?;
        }
        if let Some((path, file)) = &mut self.file {
            record.write_line(file).map_err(|source| at(path, source))?;
        }
        self.records.push(record);
        Ok(())
    }

    /// The records so far.
    pub fn records(&self) -> &[Record] {
        &self.records
    }

    /// Prints something for people.
    pub fn text(&mut self, text: impl Display) -> Result<(), BenchError> {
        if !self.json {
            write!(self.out, "{text}")?;
        }
        Ok(())
    }

    /// Whether figures are wanted.
    pub fn wants_figures(&self) -> bool {
        self.folder.is_some()
    }

    /// Writes a figure, if there is a folder for it.
    pub fn figure(&mut self, name: &str, svg: &str) -> Result<(), BenchError> {
        if let Some(folder) = &self.folder {
            let path = folder.join(format!("{}-{name}.svg", self.stem));
            fs::write(&path, svg).map_err(|source| at(&path, source))?;
        }
        Ok(())
    }
}

fn at(path: &Path, source: std::io::Error) -> BenchError {
    BenchError::File { path: path.to_owned(), source }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn printed(options: &Options) -> String {
        let mut out = Vec::new();
        let mut output = Output::new(options, "test", &mut out).unwrap();
        output.record(Record { problem: "branin".into(), ..Record::default() }).unwrap();
        output.text("a table\n").unwrap();
        assert_eq!(output.records().len(), 1);
        String::from_utf8(out).unwrap()
    }

    #[test]
    fn people_get_tables_and_machines_get_records() {
        assert_eq!(printed(&Options::default()), "a table\n");
        let json = printed(&Options { json: true, ..Options::default() });
        assert!(json.starts_with("{\"experiment\"") && json.lines().count() == 1, "{json}");
    }

    #[test]
    fn a_folder_gets_records_and_figures() {
        let folder = std::env::temp_dir().join(format!("noregret-output-{}", std::process::id()));
        let options = Options { out: Some(folder.clone()), ..Options::default() };
        printed(&options);
        let mut out = Vec::new();
        Output::new(&options, "other", &mut out).unwrap().figure("regret", "<svg/>").unwrap();
        assert_eq!(fs::read_to_string(folder.join("test.jsonl")).unwrap().lines().count(), 1);
        assert_eq!(fs::read_to_string(folder.join("other-regret.svg")).unwrap(), "<svg/>");
        fs::remove_dir_all(folder).unwrap();
    }
}
