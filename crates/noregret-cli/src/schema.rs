//! `noregret schema`: the JSON Schema of the study file.

use std::io::Write;

use anyhow::Error;

use noregret_files::StudyFile;

pub(crate) const AFTER_HELP: &str = "\
Example:
  noregret schema > study.schema.json

Editors complete and check a TOML study file whose first line is
  #:schema ./study.schema.json";

pub(crate) fn run(out: &mut dyn Write) -> Result<(), Error> {
    serde_json::to_writer_pretty(&mut *out, &schemars::schema_for!(StudyFile))?;
    writeln!(out)?;
    Ok(())
}
