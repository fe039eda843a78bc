//! The binary `noregret`; everything is in the library beside it.

use std::process::ExitCode;

fn main() -> ExitCode {
    noregret_cli::main()
}
