//! `noregret dashboard`: studies in the browser, on this machine, to be looked at.

use std::io::Write;
use std::net::{Ipv4Addr, SocketAddr};
use std::num::NonZeroUsize;
use std::path::Path;
use std::process::{Command, Stdio};
use std::sync::Arc;
use std::sync::mpsc;
use std::thread;

use anyhow::{Context, Error};
use noregret_server::{App, NewToken, Options, Role, TokenFile, listen};
use noregret_store::{SpaceDefinition, Timestamp};
use serde_json::json;
use tempfile::{NamedTempFile, TempDir};

use crate::common_args::JsonArg;
use crate::gallery::Gallery;
use crate::say;
use crate::signals;
use crate::target::StudiesArgs;

/// Requests of the page a second, and guesses of others.
const RATE: f64 = 5_000.0;
const GUESSES: f64 = 5.0;

/// Flags of `noregret dashboard`.
#[derive(Debug, clap::Args)]
#[command(after_help = AFTER_HELP)]
pub(crate) struct DashboardArgs {
    #[command(flatten)]
    studies: StudiesArgs,
    /// The port to listen at, on this machine [default: any that is free]
    #[arg(long, value_name = "PORT", default_value_t = 0, hide_default_value = true)]
    port: u16,
    /// Only print the address; do not open it in a browser
    #[arg(long)]
    no_open: bool,
    #[command(flatten)]
    json: JsonArg,
}

const AFTER_HELP: &str = "\
Examples:
  noregret dashboard study.toml                       a study, while it runs or afterwards
  noregret dashboard a.toml b.toml                    several, side by side
  noregret dashboard --storage sqlite:///noregret.db  all of a storage

It only reads: the studies and whoever works on them notice nothing. The address has a secret in it, so that other users
of this machine cannot look; BROWSER names another browser. To let others look, or to change something from the page,
see `noregret serve`. Ctrl-C ends it.";

pub(crate) fn run(args: &DashboardArgs, out: &mut dyn Write) -> Result<(), Error> {
    let mut pools = Vec::new();
    let mut studies = Vec::new();
    for target in args.studies.locate()? {
        let store = target.store_to_read()?;
        let (definition, _) = target.defined(&*store)?;
        if let SpaceDefinition::Pool { file, .. } = &definition.space {
            pools.extend(Path::new(file).parent().map(Path::to_owned));
        }
        studies.push((target.name, store));
    }
    let names: Vec<String> = studies.iter().map(|(name, _)| name.clone()).collect();
    let new = NewToken { name: "dashboard".into(), role: Role::Read, studies: Vec::new(), lasts: None };
    let (token, record) = new.make(Timestamp::now());
    let folder = TempDir::with_prefix("noregret-")?;
    let options = Options {
        // Nobody else has one.
        tokens: TokenFile::new(folder.path().join("tokens.json")),
        session_token: Some(record),
        pools,
        base_path: String::new(),
        thinkers: NonZeroUsize::MIN,
        rate: RATE,
        guesses: GUESSES,
        read_only: true,
        only: Vec::new(),
    };
    let (sender, stops) = mpsc::channel();
    signals::listen(move |stop| {
        let _ = sender.send(stop);
    })?;
    let app = Arc::new(App::new(Arc::new(Gallery::new(studies)), options));
    let listening = listen(app, SocketAddr::from((Ipv4Addr::LOCALHOST, args.port)), None)?;
    let page = page_address(&format!("http://{}", listening.address), &token);
    if args.json.json {
        writeln!(out, "{}", json!({ "address": page, "studies": names }))?;
        out.flush()?;
    } else {
        say(&format!("the dashboard is at {page}"));
        say("it only reads; Ctrl-C ends it");
    }
    if !noregret_page::bundle::is_built() {
        say("note: this noregret was built without the page; the page says how to build it");
    }
    // Whoever reads the list of processes must not see the secret: the browser gets a file that leads there.
    let door = door(&folder, &page)?;
    if !args.no_open
        && let Err(error) = open(door.path())
    {
        say(&format!("note: no browser could be started ({error:#}): open the address yourself"));
    }
    let _ = stops.recv();
    listening.stop();
    Ok(())
}

/// The address of the page for who has this token. What follows the `#` is not sent to any server.
pub(crate) fn page_address(address: &str, token: &str) -> String {
    format!("{address}/#/login?token={token}")
}

/// A file that leads to the address, and that only its owner can read.
fn door(folder: &TempDir, address: &str) -> Result<NamedTempFile, Error> {
    let mut file =
        tempfile::Builder::new().prefix("dashboard-").suffix(".html").tempfile_in(folder.path())?;
    write!(
        file,
        "<!doctype html><meta charset=\"utf-8\"><title>noregret</title>\n\
         <meta http-equiv=\"refresh\" content=\"0;url={address}\"><a href=\"{address}\">The dashboard</a>\n"
    )?;
    file.flush()?;
    Ok(file)
}

/// Opens a file in the browser: the one that BROWSER names, else the one of the system. Nothing passes through a shell.
#[expect(clippy::disallowed_methods, reason = "BROWSER is for programs such as this one")]
fn open(path: &Path) -> Result<(), Error> {
    let address = format!("file://{}", path.display());
    let named = std::env::var("BROWSER").ok().filter(|browser| !browser.trim().is_empty());
    let system = if cfg!(target_os = "macos") { "open" } else { "xdg-open" };
    let words = named.unwrap_or_else(|| system.to_owned());
    // Several, as some have it, are tried in turn.
    let mut failure = None;
    for browser in words.split(':') {
        let mut words: Vec<String> = browser.split_whitespace().map(str::to_owned).collect();
        if words.iter().any(|word| word.contains("%s")) {
            words = words.iter().map(|word| word.replace("%s", &address)).collect();
        } else {
            words.push(address.clone());
        }
        let [program, arguments @ ..] = words.as_slice() else { continue };
        if arguments.is_empty() {
            continue;
        }
        let started = Command::new(program)
            .args(arguments)
            .stdin(Stdio::null())
            .stdout(Stdio::null())
            .stderr(Stdio::null())
            .spawn()
            .with_context(|| program.clone());
        match started {
            Ok(mut child) => {
                // It may stay for as long as the browser is open.
                thread::spawn(move || child.wait());
                return Ok(());
            }
            Err(error) => failure = Some(error),
        }
    }
    Err(failure.unwrap_or_else(|| Error::msg("there is none")))
}
