//! Where the results of an experiment go: records to machines, tables to people, figures to a folder.

use std::fmt::Display;
use std::fs::{self, File, OpenOptions};
use std::io::{self, Write};
use std::path::{Path, PathBuf};

use crate::harness::Shelf;
use crate::report::{Page, Record, write_whole};
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
    /// Found in the file and not asked for yet; see [`Self::obtain`].
    earlier: Vec<Record>,
    /// Whether nothing may be run: `--records`.
    only_kept: bool,
    /// Runs asked for that are not among the kept records, and not yet mentioned.
    missing: usize,
    records: Vec<Record>,
}

impl<'a> Output<'a> {
    /// The output that `options` ask for; `stem` names the experiment and its setting.
    ///
    /// Records that the folder of `--out` already holds are kept, and need not be made again: see [`Self::obtain`]. The last line
    /// of a run that was interrupted may be half a record; it is cut off. With `--records` nothing is made at all.
    pub fn new(
        options: &Options,
        stem: impl Into<String>,
        out: &'a mut dyn Write,
    ) -> Result<Self, BenchError> {
        let stem = stem.into();
        let (mut file, mut earlier) = (None, Vec::new());
        if let Some(folder) = &options.out {
            fs::create_dir_all(folder).map_err(|source| at(folder, source))?;
        }
        if let Some(folder) = &options.records {
            earlier = Shelf::new(folder)?.records(&stem)?;
        } else if let Some(folder) = &options.out {
            let path = folder.join(format!("{stem}.jsonl"));
            earlier = earlier_records(&path)?;
            let appended = OpenOptions::new().create(true).append(true).open(&path);
            file = Some((path.clone(), appended.map_err(|source| at(&path, source))?));
        }
        Ok(Self {
            out,
            json: options.json,
            stem,
            folder: options.out.clone(),
            file,
            earlier,
            only_kept: options.records.is_some(),
            missing: 0,
            records: Vec::new(),
        })
    }

    /// Takes the record of a run: an earlier one for which `same` holds, or else what `make` returns. With `--records` nothing is
    /// made, and what is missing is counted. Says whether `make` was called.
    pub fn obtain(
        &mut self,
        same: impl Fn(&Record) -> bool,
        make: impl FnOnce() -> Result<Record, BenchError>,
    ) -> Result<bool, BenchError> {
        if self.reuse(same)? {
            return Ok(false);
        }
        if self.only_kept {
            self.missing += 1;
            return Ok(false);
        }
        self.record(make()?)?;
        Ok(true)
    }

    /// Takes the first earlier record for which `same` holds, if there is one; says whether there was.
    fn reuse(&mut self, same: impl Fn(&Record) -> bool) -> Result<bool, BenchError> {
        let Some(i) = self.earlier.iter().position(same) else { return Ok(false) };
        let record = self.earlier.remove(i);
        if self.json {
            record.write_line(&mut self.out)?;
        }
        self.records.push(record);
        Ok(true)
    }

    /// Takes a new record.
    fn record(&mut self, record: Record) -> Result<(), BenchError> {
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
        if self.json {
            return Ok(());
        }
        if self.missing > 0 {
            writeln!(self.out, "{} of the runs asked for are not among the records.\n", self.missing)?;
            self.missing = 0;
        }
        write!(self.out, "{text}")?;
        Ok(())
    }

    /// The experiment and its setting, as file names begin.
    pub fn stem(&self) -> &str {
        &self.stem
    }

    /// Whether figures are wanted.
    pub fn wants_figures(&self) -> bool {
        self.folder.is_some()
    }

    /// Writes a figure, if there is a folder for it.
    pub fn figure(&mut self, name: &str, svg: &str) -> Result<(), BenchError> {
        if let Some(folder) = &self.folder {
            let path = folder.join(format!("{}-{name}.svg", self.stem));
            write(&path, svg)?;
        }
        Ok(())
    }

    /// Writes the page of the results, if there is a folder for it.
    pub fn page(&mut self, page: &Page) -> Result<(), BenchError> {
        if let Some(folder) = &self.folder {
            let path = folder.join(format!("{}.html", self.stem));
            write(&path, &page.to_string())?;
        }
        Ok(())
    }

    /// Writes the results as Markdown, if there is a folder for it.
    pub fn markdown(&mut self, markdown: &str) -> Result<(), BenchError> {
        if let Some(folder) = &self.folder {
            let path = folder.join(format!("{}.md", self.stem));
            write(&path, markdown)?;
        }
        Ok(())
    }
}

/// The records of a file, none if there is no file; what follows the last end of a line is removed from it.
fn earlier_records(path: &Path) -> Result<Vec<Record>, BenchError> {
    let mut text = match fs::read_to_string(path) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(Vec::new()),
        text => text.map_err(|source| BenchError::Read { path: path.to_owned(), source })?,
    };
    let whole = text.rfind('\n').map_or(0, |end| end + 1);
    if whole < text.len() {
        text.truncate(whole);
        write(path, &text)?;
    }
    Record::read_all(text.as_bytes()).map_err(|source| BenchError::Records { path: path.to_owned(), source })
}

fn write(path: &Path, text: &str) -> Result<(), BenchError> {
    write_whole(path, |out| out.write_all(text.as_bytes())).map_err(|source| at(path, source))
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
    fn what_a_folder_holds_is_not_made_again() {
        let folder = tempfile::tempdir().unwrap();
        let options = Options { out: Some(folder.path().to_owned()), ..Options::default() };
        let named = |problem: &str| Record { problem: problem.into(), ..Record::default() };
        let go = |problems: &[&str]| {
            let mut out = Vec::new();
            let mut output = Output::new(&options, "test", &mut out).unwrap();
            let mut made = 0;
            for problem in problems {
                made += usize::from(
                    output.obtain(|record| record.problem == *problem, || Ok(named(problem))).unwrap(),
                );
            }
            assert_eq!(output.records().len(), problems.len());
            made
        };
        assert_eq!((go(&["a", "b"]), go(&["b", "c"]), go(&["c", "a", "b"])), (2, 1, 0));
        let path = folder.path().join("test.jsonl");
        let mut text = fs::read_to_string(&path).unwrap();
        text.truncate(text.len() - 9); // interrupted within the third record
        fs::write(&path, &text).unwrap();
        assert_eq!((go(&["a", "b", "c"]), go(&["a", "b", "c"])), (1, 0));
        fs::write(&path, "{\n").unwrap();
        let refused = Output::new(&options, "test", &mut Vec::new()).err();
        assert!(matches!(refused, Some(BenchError::Records { .. })), "{refused:?}");
    }

    /// Tables from kept records: nothing is run, what is missing is said, and the folder stays as it is.
    #[test]
    fn kept_records_are_read_compressed_or_not() {
        let folder = tempfile::tempdir().unwrap();
        let mut line = Vec::new();
        Record { problem: "a".into(), ..Record::default() }.write_line(&mut line).unwrap();
        let mut compressed = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::best());
        compressed.write_all(&line).unwrap();
        fs::write(folder.path().join("test.jsonl.gz"), compressed.finish().unwrap()).unwrap();
        fs::write(folder.path().join("plain.jsonl"), &line).unwrap();
        let options = Options { records: Some(folder.path().to_owned()), ..Options::default() };
        for stem in ["test", "plain"] {
            let mut out = Vec::new();
            let mut output = Output::new(&options, stem, &mut out).unwrap();
            for problem in ["a", "b"] {
                let made = output.obtain(|record| record.problem == problem, || panic!("nothing is run"));
                assert!(!made.unwrap());
            }
            assert_eq!(output.records().len(), 1);
            output.text("a table\n").unwrap();
            let text = String::from_utf8(out).unwrap();
            assert_eq!(text, "1 of the runs asked for are not among the records.\n\na table\n");
        }
        let refused = Output::new(&options, "other", &mut Vec::new()).err();
        assert!(matches!(refused, Some(BenchError::Read { .. })), "{refused:?}");
        assert_eq!(fs::read_dir(folder.path()).unwrap().count(), 2);
    }

    #[test]
    fn a_folder_gets_records_and_figures() {
        let folder = std::env::temp_dir().join(format!("noregret-output-{}", std::process::id()));
        let options = Options { out: Some(folder.clone()), ..Options::default() };
        printed(&options);
        let mut out = Vec::new();
        let mut output = Output::new(&options, "other", &mut out).unwrap();
        output.figure("regret", "<svg/>").unwrap();
        output.page(&Page::new("other")).unwrap();
        output.markdown("# other\n").unwrap();
        assert_eq!(fs::read_to_string(folder.join("test.jsonl")).unwrap().lines().count(), 1);
        assert_eq!(fs::read_to_string(folder.join("other-regret.svg")).unwrap(), "<svg/>");
        assert!(fs::read_to_string(folder.join("other.html")).unwrap().contains("<h1>other</h1>"));
        assert_eq!(fs::read_to_string(folder.join("other.md")).unwrap(), "# other\n");
        fs::remove_dir_all(folder).unwrap();
    }
}
