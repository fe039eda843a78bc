//! `noregret serve`: studies over HTTP.

use std::io::Write;
use std::net::SocketAddr;
use std::num::NonZeroUsize;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::mpsc;
use std::thread;

use anyhow::{Context, Error};
use noregret_files::{Allowed, StudyFile, define};
use noregret_server::{App, NewToken, Options, Role, TlsFiles, assignment, listen};
use noregret_store::{SharedStudy, SpaceDefinition, StorageUrl, Store, Timestamp};
use serde_json::json;

use crate::common_args::{JsonArg, count};
use crate::dashboard::page_address;
use crate::signals;
use crate::target::quoted;
use crate::token::TokenPlace;
use crate::{UsageError, say};

/// Requests without a valid token of one address a second.
const GUESSES: f64 = 5.0;

/// Flags of `noregret serve`.
#[derive(Debug, clap::Args)]
#[command(after_help = AFTER_HELP)]
pub(crate) struct ServeArgs {
    /// Study files: these studies are made, or go on with what the files say
    #[arg(value_name = "STUDY")]
    files: Vec<PathBuf>,
    /// Where to listen
    #[arg(long, value_name = "ADDRESS", default_value = "127.0.0.1:7377", env = "NOREGRET_BIND")]
    bind: SocketAddr,
    #[command(flatten)]
    place: TokenPlace,
    /// What comes before /api, behind a proxy
    #[arg(long, value_name = "PATH", default_value = "", value_parser = base_path)]
    base_path: String,
    /// The certificate, as PEM: then it is HTTPS
    #[arg(long, value_name = "FILE", requires = "tls_key")]
    tls_cert: Option<PathBuf>,
    /// Its key, as PEM
    #[arg(long, value_name = "FILE", requires = "tls_cert")]
    tls_key: Option<PathBuf>,
    /// A folder with tables of candidates that studies made over HTTP may use; may be given several times
    #[arg(long = "pools", value_name = "FOLDER")]
    pools: Vec<PathBuf>,
    /// Studies that are thought about at once [default: one for each two processors]
    #[arg(long, value_name = "N", value_parser = count::<1_000>)]
    thinkers: Option<NonZeroUsize>,
    /// Requests a second that one token may make in the long run
    #[arg(long, value_name = "N", default_value_t = 5_000.0, value_parser = rate)]
    rate: f64,
    /// What to log: error, warn, info (every request) or debug
    #[arg(long, value_name = "LEVEL", default_value = "warn", env = "NOREGRET_LOG")]
    log: tracing::Level,
    /// Log as JSON, one object a line
    #[arg(long)]
    log_json: bool,
    #[command(flatten)]
    json: JsonArg,
}

const AFTER_HELP: &str = "\
Examples:
  noregret serve study.toml                          on this machine: it prints the command for a worker
  noregret token create --role work                  a token for others
  noregret serve --bind 0.0.0.0:7377 --storage postgresql://user@host/database
  noregret serve --tls-cert cert.pem --tls-key key.pem --bind 0.0.0.0:7377

Without tokens it listens on this machine only, and makes one that ends with the server. Ctrl-C ends it: requests that are
under way are answered first, and nothing that was answered is ever lost.";

fn base_path(text: &str) -> Result<String, String> {
    let is_plain = |c: char| c.is_ascii_alphanumeric() || "-_./~".contains(c);
    if text.is_empty() || (text.starts_with('/') && text.chars().all(is_plain)) {
        Ok(text.to_owned())
    } else {
        Err("it begins with a slash, as in /noregret".into())
    }
}

fn rate(text: &str) -> Result<f64, String> {
    text.parse().ok().filter(|rate| (1.0..=1e9).contains(rate)).ok_or_else(|| "from 1 to 1e9".into())
}

pub(crate) fn run(args: &ServeArgs, out: &mut dyn Write) -> Result<(), Error> {
    log_to_stderr(args);
    let beside = args.files.first().and_then(|path| path.parent()).unwrap_or(Path::new(""));
    let url = args.place.storage.clone().unwrap_or_else(|| StorageUrl::Sqlite(beside.join("noregret.db")));
    if matches!(url, StorageUrl::Http(_)) {
        return Err(UsageError::new("a server needs a storage of its own: a file, or PostgreSQL").into());
    }
    let tokens = args.place.file(Some(&url));
    let has_tokens = !tokens.read()?.is_empty();
    if !has_tokens && !args.bind.ip().is_loopback() {
        let problem = format!(
            "at {} others can reach it, and there are no tokens in {}: `noregret token create --role work` makes one",
            args.bind,
            tokens.path().display()
        );
        return Err(UsageError::new(problem).into());
    }
    let store = url.open()?;
    let mut pools = args.pools.clone();
    let mut names = Vec::new();
    for path in &args.files {
        names.push(open_study(&store, path, &mut pools)?);
    }
    let session = (!has_tokens).then(|| {
        let new = NewToken { name: "session".into(), role: Role::Admin, studies: Vec::new(), lasts: None };
        new.make(Timestamp::now())
    });
    let (token, session_token) = session.map_or((None, None), |(token, record)| (Some(token), Some(record)));
    let options = Options {
        tokens,
        session_token,
        pools,
        base_path: args.base_path.clone(),
        thinkers: args.thinkers.unwrap_or_else(|| {
            let cores = thread::available_parallelism().map_or(1, NonZeroUsize::get);
            NonZeroUsize::new(cores.div_ceil(2)).unwrap_or(NonZeroUsize::MIN)
        }),
        rate: args.rate,
        guesses: GUESSES,
        read_only: false,
        only: Vec::new(),
    };
    let tls = args.tls_cert.as_ref().zip(args.tls_key.as_ref());
    let tls = tls.map(|(certificate, key)| TlsFiles { certificate: certificate.clone(), key: key.clone() });
    let (sender, stops) = mpsc::channel();
    signals::listen(move |stop| {
        let _ = sender.send(stop);
    })?;
    let listening = listen(Arc::new(App::new(store, options)), args.bind, tls.as_ref())?;
    let scheme = if tls.is_some() { "https" } else { "http" };
    let address = format!("{scheme}://{}{}", listening.address, args.base_path);
    if args.json.json {
        writeln!(out, "{}", json!({ "address": address, "token": token, "studies": names }))?;
        out.flush()?;
    } else {
        say(&format!("noregret serves {url} at {address}"));
        let port = listening.address.port();
        let others = format!("{scheme}://HOST:{port}{}", args.base_path);
        let others = Some(others).filter(|_| listening.address.ip().is_unspecified());
        let folder = args.files.first().map(|_| std::path::absolute(beside.join("."))).transpose()?;
        match token.as_deref() {
            Some(token) => say(&format!("to look at them in a browser: {}", page_address(&address, token))),
            None => say(&format!("to look at them in a browser: {address}/ (it asks for a token)")),
        }
        invite(&Invitation {
            address: others.as_deref().unwrap_or(&address),
            token: token.as_deref(),
            study: names.first().map(String::as_str),
            folder: folder.as_deref(),
            is_local: listening.address.ip().is_loopback(),
        });
    }
    if tls.is_none() && !args.bind.ip().is_loopback() {
        say(
            "note: without --tls-cert, tokens and results can be read on the way: put it behind a proxy that encrypts",
        );
    }
    let _ = stops.recv();
    say("stopping: requests under way are answered first");
    listening.stop();
    Ok(())
}

/// What a worker needs.
struct Invitation<'a> {
    address: &'a str,
    /// The one that ends with the server.
    token: Option<&'a str>,
    study: Option<&'a str>,
    /// Where the command of the study is, on this machine.
    folder: Option<&'a Path>,
    /// Whether it is for this machine only.
    is_local: bool,
}

/// Prints the command of a worker, which works from every folder.
fn invite(to: &Invitation<'_>) {
    say(if to.is_local {
        "to evaluate trials, in another terminal:"
    } else {
        "to evaluate trials, on any machine that reaches this one, with its own copy of the folder:"
    });
    let token = to.token.unwrap_or("nr_...");
    let study = to.study.map_or("NAME".to_owned(), quoted);
    let folder = to
        .folder
        .map_or(String::new(), |folder| format!(" --folder {}", quoted(&folder.display().to_string())));
    say(&format!("  NOREGRET_TOKEN={token} noregret worker {} --study {study}{folder}", to.address));
    if to.token.is_some() {
        say("this token ends with the server; `noregret token create` makes lasting ones");
    }
    say("Ctrl-C ends it");
}

/// Makes the study of a file, or goes on with it, and tells workers what to do; returns its name.
fn open_study(store: &Arc<dyn Store>, path: &Path, pools: &mut Vec<PathBuf>) -> Result<String, Error> {
    let file = StudyFile::read(path)?;
    let folder = path.parent().filter(|folder| !folder.as_os_str().is_empty()).unwrap_or(Path::new("."));
    let (mut definition, space) = define(&file, folder, Allowed::Any)?;
    definition.assignment = Some(Box::new(assignment(&file)));
    if let SpaceDefinition::Pool { file, .. } = &definition.space {
        pools.extend(Path::new(file).parent().map(Path::to_owned));
    }
    let name = file.study.name.clone();
    SharedStudy::open(Arc::clone(store), &name, &definition, space)
        .with_context(|| format!("study `{name}` of {}", path.display()))?;
    Ok(name)
}

fn log_to_stderr(args: &ServeArgs) {
    let builder = tracing_subscriber::fmt().with_max_level(args.log).with_writer(std::io::stderr);
    // Somebody else may have set one up already, in tests.
    let _ = if args.log_json { builder.json().try_init() } else { builder.with_ansi(false).try_init() };
}
