//! `noregret best`: the best observed trial and the recommended one.

use std::io::Write;

use anyhow::Error;

use crate::common_args::JsonArg;
use crate::summary;
use crate::target::StudyArgs;

/// Flags of `noregret best`.
#[derive(Debug, clap::Args)]
#[command(after_help = AFTER_HELP)]
pub(crate) struct BestArgs {
    #[command(flatten)]
    study: StudyArgs,
    #[command(flatten)]
    json: JsonArg,
}

const AFTER_HELP: &str = "\
Examples:
  noregret best study.toml
  noregret best study.toml --json | jq .recommended.params

`best observed` has the best value told, which with noise is the luckiest one. `recommended` has the best mean under the
model, with a 95 % interval for its value without noise: with noise, use this one.";

pub(crate) fn run(args: &BestArgs, out: &mut dyn Write) -> Result<(), Error> {
    let mut shared = args.study.locate()?.open_to_read()?;
    let recommended = shared.study().recommended()?;
    let regret = shared.study().remaining_regret()?;
    let best = summary::best(&mut shared, recommended.as_ref()).with_regret(regret);
    if args.json.json {
        writeln!(out, "{}", best.to_json())?;
    } else {
        write!(out, "{best}")?;
    }
    Ok(())
}
