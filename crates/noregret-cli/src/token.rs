//! `noregret token`: who may use a server.

use std::io::Write;
use std::path::{Path, PathBuf};

use anyhow::Error;
use noregret_files::study_file::Span;
use noregret_server::{NewToken, Role, TokenFile, TokenRecord};
use noregret_store::{StorageUrl, Timestamp, rfc3339};
use serde_json::json;

use crate::common_args::JsonArg;
use crate::printable;

/// The name of the file with tokens, beside the storage.
const FILE: &str = "noregret-tokens.json";

/// Flags of `noregret token`.
#[derive(Debug, clap::Args)]
#[command(after_help = AFTER_HELP)]
pub(crate) struct TokenArgs {
    #[command(subcommand)]
    action: Action,
}

const AFTER_HELP: &str = "\
Roles: read (look at studies), work (also ask for trials and tell results), admin (also make and change studies).

Examples:
  noregret token create --role work --name cluster           prints the token, once
  noregret token create --role read --study mlp --expires 30d
  noregret token list
  noregret token revoke 1f2e3d4c

Tokens are kept as digests in noregret-tokens.json beside the storage. A running server notices changes at once.";

#[derive(Debug, clap::Subcommand)]
enum Action {
    /// Make a token and print it
    Create(CreateArgs),
    /// List tokens, without their secrets
    List(ListArgs),
    /// Make a token worthless
    Revoke(RevokeArgs),
}

#[derive(Debug, clap::Args)]
struct CreateArgs {
    /// What it allows: read, work or admin
    #[arg(long, value_name = "ROLE")]
    role: Role,
    /// What it is for, in your words
    #[arg(long, value_name = "TEXT", default_value = "")]
    name: String,
    /// Only for this study; may be given several times [default: for all]
    #[arg(long = "study", value_name = "NAME")]
    studies: Vec<String>,
    /// Only for so long, such as 30d [default: until it is revoked]
    #[arg(long, value_name = "TIME", value_parser = Span::parse)]
    expires: Option<Span>,
    #[command(flatten)]
    place: TokenPlace,
    #[command(flatten)]
    json: JsonArg,
}

#[derive(Debug, clap::Args)]
struct ListArgs {
    #[command(flatten)]
    place: TokenPlace,
    #[command(flatten)]
    json: JsonArg,
}

#[derive(Debug, clap::Args)]
struct RevokeArgs {
    /// The first part of the token, as `list` shows it
    #[arg(value_name = "ID")]
    id: String,
    #[command(flatten)]
    place: TokenPlace,
}

/// Where tokens are kept.
#[derive(Debug, clap::Args)]
pub(crate) struct TokenPlace {
    /// The file with tokens [default: noregret-tokens.json beside the storage]
    #[arg(long, value_name = "FILE", env = "NOREGRET_TOKENS")]
    tokens: Option<PathBuf>,
    /// The storage that the server uses [default: noregret.db]
    #[arg(long, value_name = "URL", env = "NOREGRET_STORAGE", hide_env_values = true)]
    pub(crate) storage: Option<StorageUrl>,
}

impl TokenPlace {
    /// The file, beside `storage` unless it is named.
    pub(crate) fn file(&self, storage: Option<&StorageUrl>) -> TokenFile {
        let beside = || match storage {
            Some(StorageUrl::Sqlite(path)) => path.with_file_name(FILE),
            _ => Path::new(FILE).to_owned(),
        };
        TokenFile::new(self.tokens.clone().unwrap_or_else(beside))
    }

    fn own(&self) -> TokenFile {
        self.file(self.storage.as_ref())
    }
}

pub(crate) fn run(args: &TokenArgs, out: &mut dyn Write) -> Result<(), Error> {
    match &args.action {
        Action::Create(args) => create(args, out),
        Action::List(args) => list(args, out),
        Action::Revoke(args) => {
            let file = args.place.own();
            let record = file.revoke(&args.id)?;
            writeln!(out, "token {} is worth nothing from now on", record.id)?;
            Ok(())
        }
    }
}

fn create(args: &CreateArgs, out: &mut dyn Write) -> Result<(), Error> {
    let file = args.place.own();
    let new = NewToken {
        name: args.name.clone(),
        role: args.role,
        studies: args.studies.clone(),
        lasts: args.expires.map(|span| span.0),
    };
    let (token, record) = file.create(new, Timestamp::now())?;
    if args.json.json {
        let mut shown = json(&record);
        shown["token"] = token.into();
        writeln!(out, "{shown}")?;
    } else {
        writeln!(out, "{token}")?;
        let role = record.role;
        crate::say(&format!(
            "it may {role}; its digest is in {}, and it is shown this once: export NOREGRET_TOKEN=…",
            file.path().display()
        ));
    }
    Ok(())
}

fn list(args: &ListArgs, out: &mut dyn Write) -> Result<(), Error> {
    let records = args.place.own().read()?;
    for record in &records {
        if args.json.json {
            writeln!(out, "{}", json(record))?;
            continue;
        }
        let studies =
            if record.studies.is_empty() { "all studies".into() } else { record.studies.join(", ") };
        let ends = match record.expires {
            Some(expires) if record.has_expired(Timestamp::now()) => format!("expired {}", rfc3339(expires)),
            Some(expires) => format!("until {}", rfc3339(expires)),
            None => "until revoked".into(),
        };
        let line = format!("{}  {:5}  {studies}  {ends}  {}", record.id, record.role.word(), record.name);
        writeln!(out, "{}", printable::line(line.trim_end()))?;
    }
    if records.is_empty() && !args.json.json {
        crate::say("no tokens: `noregret token create --role work` makes one");
    }
    Ok(())
}

fn json(record: &TokenRecord) -> serde_json::Value {
    json!({
        "id": record.id, "role": record.role.word(), "name": record.name, "studies": record.studies,
        "created": rfc3339(record.created), "expires": record.expires.map(rfc3339),
    })
}
