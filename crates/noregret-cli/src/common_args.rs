//! Flags that many commands share.

use std::num::NonZeroUsize;

use clap::builder::FalseyValueParser;

/// `--json`
#[derive(Clone, Copy, Debug, clap::Args)]
pub(crate) struct JsonArg {
    /// Print JSON, for programs
    #[arg(long, env = "NOREGRET_JSON", value_parser = FalseyValueParser::new())]
    pub(crate) json: bool,
}

/// Evaluations at once at most: each has a thread and a process.
pub(crate) const MOST_WORKERS: usize = 10_000;

/// Parses a number from 1 to `MOST`.
pub(crate) fn count<const MOST: usize>(text: &str) -> Result<NonZeroUsize, String> {
    let parsed = text.parse().ok().filter(|n: &NonZeroUsize| n.get() <= MOST);
    parsed.ok_or_else(|| format!("it must be a whole number from 1 to {MOST}"))
}
