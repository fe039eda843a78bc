//! Points in a CSV file: a row for each, a column for each parameter, or one with the names of candidates.

use std::path::Path;

use anyhow::{Context, Error};
use noregret::space::nearest;
use noregret::{Param, Params, Pool, Space, Value};

use crate::UsageError;
use crate::export::parameter_column;

/// Where in a row the point is.
pub(crate) enum PointColumns<'a> {
    /// The name of a candidate.
    Id(&'a Pool, usize),
    /// Its parameters, in the order of the space.
    Parameters(&'a Space, Vec<usize>),
}

impl<'a> PointColumns<'a> {
    /// Finds the columns. `id` is that of a pool's names, besides `id`.
    pub(crate) fn of(
        space: &'a Space,
        header: &[String],
        id: Option<&str>,
        path: &Path,
    ) -> Result<Self, UsageError> {
        let column = |name: &str| header.iter().position(|known| known == name);
        if let Some(pool) = space.as_pool()
            && let Some(i) = id.and_then(column).or_else(|| column("id"))
        {
            return Ok(Self::Id(pool, i));
        }
        let columns = space.names().iter().map(|name| needed(&column_of(name, header), header, path));
        Ok(Self::Parameters(space, columns.collect::<Result<_, _>>()?))
    }

    /// Whether column `i` is part of the point.
    pub(crate) fn contain(&self, i: usize) -> bool {
        match self {
            Self::Id(_, column) => *column == i,
            Self::Parameters(_, columns) => columns.contains(&i),
        }
    }

    /// The point of a row, with its row in the pool if it is named; or what is wrong with it.
    pub(crate) fn point<'b>(
        &self,
        cell: impl Fn(usize) -> &'b str,
    ) -> Result<(Option<usize>, Params), String> {
        match self {
            Self::Id(pool, i) => {
                let row =
                    pool.row_of_id(cell(*i)).ok_or_else(|| format!("the pool has no {:?}", cell(*i)))?;
                Ok((Some(row), pool.params(row)))
            }
            Self::Parameters(space, columns) => {
                let point = params(space, |i| cell(columns[i]));
                space.encode(&point).map_err(|error| error.to_string())?;
                Ok((None, point))
            }
        }
    }
}

/// Reads all points of a file.
pub(crate) fn read(path: &Path, space: &Space, id: Option<&str>) -> Result<Vec<Params>, Error> {
    let unreadable = || format!("{} cannot be read", path.display());
    let mut reader = csv::Reader::from_path(path).with_context(unreadable)?;
    let header: Vec<String> = reader.headers()?.iter().map(|name| name.trim().to_owned()).collect();
    let columns = PointColumns::of(space, &header, id, path)?;
    let mut points = Vec::new();
    for record in reader.records() {
        let record = record.with_context(unreadable)?;
        let line = record.position().map_or(0, csv::Position::line);
        let point = columns.point(|i| record.get(i).unwrap_or_default().trim());
        let at = |problem| UsageError::new(format!("{}, line {line}: {problem}", path.display()));
        points.push(point.map_err(at)?.1);
    }
    Ok(points)
}

/// The column of this name; an error that names the nearest if there is none.
pub(crate) fn needed(name: &str, header: &[String], path: &Path) -> Result<usize, UsageError> {
    header.iter().position(|known| known == name).ok_or_else(|| {
        let near = nearest(name, header.iter().map(String::as_str));
        UsageError::new(format!("{} has no column `{name}` (nearest: `{near}`)", path.display()))
    })
}

/// The column of a parameter: its name, or the name that an export gave it.
fn column_of(name: &str, header: &[String]) -> String {
    let other = parameter_column(name);
    if header.contains(&other) { other } else { name.to_owned() }
}

/// A point from texts, one for each parameter in the order of the space.
pub(crate) fn params<'a>(space: &Space, text: impl Fn(usize) -> &'a str) -> Params {
    if space.as_pool().is_some() {
        let number = |text: &str| text.parse().map_or_else(|_| Value::from(text), Value::Float);
        return space.names().iter().enumerate().map(|(i, name)| (name.clone(), number(text(i)))).collect();
    }
    let pairs = space.params().enumerate();
    pairs.map(|(i, (name, param))| (name.to_owned(), value_of(param, text(i)))).collect()
}

/// Parses a cell as a value of the parameter's type. An invalid cell stays text, for the error message of the space.
fn value_of(param: &Param, text: &str) -> Value {
    let parsed = match param {
        Param::Float { .. } => text.parse().ok().map(Value::Float),
        Param::Int { .. } => {
            let whole = || text.parse::<f64>().ok().map(Value::Float).and_then(|value| value.as_i64());
            text.parse().ok().or_else(whole).map(Value::Int)
        }
        Param::Ordinal { values: choices } | Param::Categorical { choices } => {
            let number: Option<f64> = text.parse().ok();
            let same = |choice: &&Value| {
                choice.to_string() == text || (number.is_some() && choice.as_f64() == number)
            };
            choices.iter().find(same).cloned()
        }
        Param::Bool {} => match text.to_ascii_lowercase().as_str() {
            "true" | "1" => Some(true.into()),
            "false" | "0" => Some(false.into()),
            _ => None,
        },
    };
    parsed.unwrap_or_else(|| text.into())
}
