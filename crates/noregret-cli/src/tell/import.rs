//! Old results from a CSV file: one row per result, one column per parameter.

use std::io::Write;
use std::path::Path;

use anyhow::{Context, Error};
use noregret::Space;
use noregret::study::NOISE_VARIANCES;
use noregret_store::{ExternalResult, Timestamp};

use crate::points_file::{PointColumns, needed};
use crate::target::Target;
use crate::{UsageError, say};
use noregret_files::shortened;

pub(super) fn run(
    target: &Target,
    path: &Path,
    value_column: &str,
    json: bool,
    out: &mut dyn Write,
) -> Result<(), Error> {
    let mut shared = target.open()?;
    let space = shared.study().space().clone();
    let table = read(path, &space, value_column, target.id_column())?;
    let found = table.results.len();
    let added = shared.add(&table.results, Timestamp::now())?;
    let known = found - added;
    let failed = table.results.iter().filter(|result| result.value.is_none()).count();
    if json {
        let report =
            serde_json::json!({ "added": added, "failed": failed, "known": known, "ignored": table.ignored });
        writeln!(out, "{report}")?;
    } else {
        let failed = if failed > 0 { format!(" ({failed} of {found} are failures)") } else { String::new() };
        let known = if known > 0 { format!("; {known} were known already") } else { String::new() };
        writeln!(out, "{added} results added{failed}{known}")?;
        if !table.ignored.is_empty() {
            say(&format!("columns that are no parameters: {}", table.ignored.join(", ")));
        }
    }
    Ok(())
}

/// The contents of a file.
pub(crate) struct ImportedResults {
    pub(crate) results: Vec<ExternalResult>,
    ignored: Vec<String>,
}

/// Reads results of a space. `id` is the column of a pool's ids, besides `id`.
pub(crate) fn read(
    path: &Path,
    space: &Space,
    value_column: &str,
    id: Option<&str>,
) -> Result<ImportedResults, Error> {
    let mut reader =
        csv::Reader::from_path(path).with_context(|| format!("{} cannot be read", path.display()))?;
    let header: Vec<String> = reader.headers()?.iter().map(|name| name.trim().to_owned()).collect();
    let column = |name: &str| header.iter().position(|known| known == name);
    let value = needed(value_column, &header, path)?;
    let (noise, state) = (column("noise_var"), column("state"));
    let point = PointColumns::of(space, &header, id, path)?;
    let used = |i: &usize| point.contain(*i) || [Some(value), noise, state].contains(&Some(*i));
    let ignored = (0..header.len()).filter(|i| !used(i)).map(|i| header[i].clone()).collect();
    let mut results = Vec::new();
    for record in reader.records() {
        let record = record.with_context(|| format!("{} cannot be read", path.display()))?;
        let line = record.position().map_or(0, csv::Position::line);
        let at = |problem: String| UsageError::new(format!("{}, line {line}: {problem}", path.display()));
        let cell = |i: usize| record.get(i).unwrap_or_default().trim();
        if state.is_some_and(|i| matches!(cell(i), "waiting" | "running")) {
            continue;
        }
        let number = |i: usize| match cell(i) {
            "" => Ok(None),
            text => text
                .parse::<f64>()
                .map(Some)
                .map_err(|_| at(format!("`{}`: {:?} is no number", header[i], shortened(text, 80)))),
        };
        let (row, params) = point.point(cell).map_err(at)?;
        let value = number(value)?.filter(|value| value.is_finite());
        let noise_var = noise.map(number).transpose()?.flatten();
        if let Some(variance) = noise_var.filter(|v| !NOISE_VARIANCES.contains(*v)) {
            return Err(at(format!("noise_var must be from {NOISE_VARIANCES}, not {variance}")).into());
        }
        results.push(ExternalResult { params, row, value, noise_var });
    }
    Ok(ImportedResults { results, ignored })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn parse(text: &str, space: &Space) -> Result<ImportedResults, Error> {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("old.csv");
        std::fs::write(&path, text).unwrap();
        read(&path, space, "value", None)
    }

    fn space() -> Space {
        let builder = Space::builder().float("lr", 0.0, 1.0).int("layers", 1, 8).bool("bias");
        builder.categorical("act", ["relu", "tanh"]).ordinal("width", [32, 64]).build().unwrap()
    }

    #[test]
    fn cells_take_the_types_of_the_parameters() {
        let text = "width,act,bias,layers,lr,value,noise_var,note\n64,tanh,TRUE,3,0.5,1.5,0.1,a\n32.0,relu,0,4.0,1e-1,nan,,b\n";
        let table = parse(text, &space()).unwrap();
        assert_eq!(table.ignored, ["note"]);
        let [first, second] = &table.results[..] else { panic!() };
        assert_eq!(first.params.to_string(), "lr=0.5, layers=3, bias=true, act=tanh, width=64");
        assert_eq!((first.value, first.noise_var), (Some(1.5), Some(0.1)));
        assert_eq!(second.params.to_string(), "lr=0.1, layers=4, bias=false, act=relu, width=32");
        assert_eq!((second.value, second.noise_var), (None, None));
    }

    #[test]
    fn errors_say_where() {
        let problem = |text: &str| parse(text, &space()).map(|_| ()).unwrap_err().to_string();
        let header = "lr,layers,bias,act,width,value\n";
        assert!(problem("lr,value\n0.1,2\n").contains("no column `layers`"));
        assert!(problem("lr,layers,bias,act,width,val\n").contains("no column `value` (nearest: `val`)"));
        let wrong = problem(&format!("{header}0.1,3,true,gelu,64,1\n"));
        assert!(wrong.contains("line 2") && wrong.contains("must be one of \"relu\", \"tanh\""), "{wrong}");
        assert!(problem(&format!("{header}7,3,true,relu,64,1\n")).contains("between 0.0 and 1.0"));
        assert!(problem(&format!("{header}0.1,3,true,relu,64,good\n")).contains("\"good\" is no number"));
    }

    #[test]
    fn unfinished_trials_of_an_export_are_left_out() {
        let text = "state,lr,layers,bias,act,width,value\nrunning,0.1,3,true,relu,64,\ncomplete,0.2,3,true,relu,64,1\n";
        assert_eq!(parse(text, &space()).unwrap().results.len(), 1);
    }
}
