//! Flags that many commands share.

use clap::builder::FalseyValueParser;

/// `--json`
#[derive(Clone, Copy, Debug, clap::Args)]
pub(crate) struct JsonArg {
    /// Print JSON, for programs
    #[arg(long, env = "NOREGRET_JSON", value_parser = FalseyValueParser::new())]
    pub(crate) json: bool,
}
