//! `noregret algorithms`: the list of algorithms.

use std::io::Write;

use anyhow::Error;
use noregret::Algorithm;
use noregret_bench::report::Table;

use crate::common_args::JsonArg;

/// Flags of `noregret algorithms`.
#[derive(Debug, clap::Args)]
#[command(after_help = AFTER_HELP)]
pub(crate) struct AlgorithmsArgs {
    #[command(flatten)]
    json: JsonArg,
}

const AFTER_HELP: &str = "\
Examples:
  noregret algorithms
  noregret algorithms --json | jq '.[] | select(.name == \"gp-ucb\") | .options'

In a study file: algorithm = \"gp-ucb\", or with options algorithm = { name = \"gp-ucb\", initial_points = 10 }.";

pub(crate) fn run(args: &AlgorithmsArgs, out: &mut dyn Write) -> Result<(), Error> {
    let all = Algorithm::all();
    if args.json.json {
        serde_json::to_writer_pretty(&mut *out, &all)?;
        writeln!(out)?;
    } else {
        let mut table = Table::new(["name", "purpose", "paper"]);
        for algorithm in all {
            table.row([algorithm.name, algorithm.purpose, algorithm.paper]);
        }
        write!(out, "{table}")?;
    }
    Ok(())
}
