//! `noregret enqueue`: points of the user's own, to be evaluated next.

use std::io::Write;
use std::path::PathBuf;

use anyhow::Error;
use noregret::space::nearest;
use noregret::{Params, Space};
use noregret_store::Timestamp;

use crate::UsageError;
use crate::common_args::JsonArg;
use crate::points_file;
use crate::printable;
use crate::summary;
use crate::target::{StudyArgs, Target};

/// Flags of `noregret enqueue`.
#[derive(Debug, clap::Args)]
#[command(after_help = AFTER_HELP)]
pub(crate) struct EnqueueArgs {
    #[command(flatten)]
    study: StudyArgs,
    /// The point: a value for every parameter, or `id=NAME` of a candidate
    #[arg(long = "point", short = 'p', value_name = "NAME=VALUE", num_args = 1.., conflicts_with = "from")]
    point: Vec<String>,
    /// Several points: a CSV file with a column for each parameter, or one called `id` for candidates
    #[arg(long, value_name = "FILE")]
    from: Option<PathBuf>,
    #[command(flatten)]
    json: JsonArg,
}

const AFTER_HELP: &str = "\
Examples:
  noregret enqueue study.toml --point lr=0.01 layers=3 act=relu
  noregret enqueue study.toml --from points.csv           several, as `noregret export` writes them
  noregret enqueue study.toml --point id=compound-17      a candidate of a pool

`run` and `ask` hand these out before they think of new ones. They count as trials of the study.";

pub(crate) fn run(args: &EnqueueArgs, out: &mut dyn Write) -> Result<(), Error> {
    let target = args.study.locate()?;
    let mut shared = target.open()?;
    let space = shared.study().space().clone();
    let points = points(args, &target, &space)?;
    let queued = shared.enqueue(&points, Timestamp::now())?;
    for trial in queued {
        let Some(record) = shared.ledger().record(trial.number) else { continue };
        if args.json.json {
            serde_json::to_writer(&mut *out, &record.described(&space))?;
            writeln!(out)?;
        } else {
            let id = record.id(&space).map_or(String::new(), |id| format!("{}  ", printable::line(&id)));
            writeln!(out, "trial {} waits  {id}{}", trial.number, summary::params(&trial.params))?;
        }
    }
    Ok(())
}

fn points(args: &EnqueueArgs, target: &Target, space: &Space) -> Result<Vec<Params>, Error> {
    if let Some(path) = &args.from {
        let points = points_file::read(path, space, target.id_column())?;
        if points.is_empty() {
            return Err(UsageError::new(format!("{} has no points", path.display())).into());
        }
        return Ok(points);
    }
    if args.point.is_empty() {
        let problem = "say which point: --point NAME=VALUE for every parameter, or --from FILE.csv";
        return Err(UsageError::new(problem).into());
    }
    let mut pairs = Vec::new();
    for word in &args.point {
        let pair = word.split_once('=');
        pairs.push(pair.ok_or_else(|| UsageError::new(format!("{word:?} is not NAME=VALUE")))?);
    }
    let names = space.names();
    if let (Some(pool), [(key, id)]) = (space.as_pool(), &pairs[..])
        && (*key == "id" || target.id_column() == Some(*key))
        && !names.iter().any(|name| name == key)
    {
        let row = pool.row_of_id(id).ok_or_else(|| UsageError::new(format!("the pool has no {id:?}")))?;
        return Ok(vec![pool.params(row)]);
    }
    if let Some((name, _)) = pairs.iter().find(|(name, _)| !names.iter().any(|known| known == name)) {
        let near = nearest(name, names.iter().map(String::as_str));
        return Err(UsageError::new(format!("there is no parameter `{name}` (nearest: `{near}`)")).into());
    }
    let mut cells = Vec::new();
    for name in names {
        let mut given = pairs.iter().filter(|(known, _)| known == name);
        let Some((_, text)) = given.next() else {
            return Err(UsageError::new(format!("parameter `{name}` has no value")).into());
        };
        if given.next().is_some() {
            return Err(UsageError::new(format!("parameter `{name}` has two values")).into());
        }
        cells.push(*text);
    }
    Ok(vec![points_file::params(space, |i| cells[i])])
}
