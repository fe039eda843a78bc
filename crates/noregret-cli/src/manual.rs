//! `noregret completions` and `noregret man`: shell completions and manual pages.

use std::fs;
use std::io::{self, Write};
use std::path::{Path, PathBuf};

use anyhow::{Context, Error};
use clap_complete::Shell;
use noregret_bench::report::write_whole;

/// Flags of `noregret completions`.
#[derive(Debug, clap::Args)]
#[command(after_help = COMPLETIONS_HELP)]
pub(crate) struct CompletionsArgs {
    /// The shell
    shell: Shell,
}

const COMPLETIONS_HELP: &str = "\
Examples:
  noregret completions bash > ~/.local/share/bash-completion/completions/noregret
  noregret completions zsh > ~/.zfunc/_noregret
  noregret completions fish > ~/.config/fish/completions/noregret.fish";

/// Flags of `noregret man`.
#[derive(Debug, clap::Args)]
#[command(after_help = MAN_HELP)]
pub(crate) struct ManArgs {
    /// Write noregret.1, noregret-run.1, ... into this folder
    #[arg(long, value_name = "DIR")]
    out: Option<PathBuf>,
}

const MAN_HELP: &str = "\
Examples:
  noregret man | man -l -
  noregret man --out ~/.local/share/man/man1";

pub(crate) fn completions(
    args: &CompletionsArgs,
    mut command: clap::Command,
    out: &mut dyn Write,
) -> Result<(), Error> {
    let mut script = Vec::new();
    clap_complete::generate(args.shell, &mut command, "noregret", &mut script);
    out.write_all(&script)?;
    Ok(())
}

pub(crate) fn man(args: &ManArgs, command: clap::Command, out: &mut dyn Write) -> Result<(), Error> {
    if let Some(folder) = &args.out {
        let failed = || format!("manual pages cannot be written to {}", folder.display());
        fs::create_dir_all(folder).with_context(failed)?;
        let mut command = command.disable_help_subcommand(true);
        command.build();
        return pages(command, folder).with_context(failed);
    }
    clap_mangen::Man::new(command).render(&mut &mut *out)?;
    Ok(())
}

/// Writes the page of a command and of all its sub-commands.
fn pages(command: clap::Command, folder: &Path) -> io::Result<()> {
    for command in command.get_subcommands().filter(|command| !command.is_hide_set()).cloned() {
        pages(command, folder)?;
    }
    let page = clap_mangen::Man::new(command);
    write_whole(&folder.join(page.get_filename()), |out| page.render(&mut &mut *out))
}
