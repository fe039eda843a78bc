//! `noregret bench claims`: what the papers claim, and what the kept records of our runs say of it. Nothing is run.
//!
//! Each paper's folder has a `claims.rs` with a function that computes its verdicts from records; none is written by hand.

use std::io::Write;
use std::path::PathBuf;

use crate::harness::Shelf;
use crate::report::claim::{Claim, Verdict, claims_table};
use crate::{BenchError, papers};

/// What `noregret bench claims --help` says after the flags.
pub const AFTER_HELP: &str = "\
A claim that needs a number of cases (\"first on 8 of 9 functions\") holds if we find as many, and in part if we find at least half.

Examples:
  noregret bench claims
  noregret bench claims --paper ts-rsr
  noregret bench claims --markdown";

/// The papers, and what makes their claims.
type ClaimsOf = fn(&Shelf) -> Result<Vec<Claim>, BenchError>;
const PAPERS: [(&str, &str, ClaimsOf); 5] = [
    ("ts-rsr", "Ren & Li: TS-RSR", papers::ts_rsr::claims),
    ("bbkb", "Calandriello et al.: BBKB", papers::bbkb::claims),
    ("sto-bnts", "Dai et al.: STO-BNTS", papers::sto_bnts::claims),
    ("neural-bo", "Phan-Trong et al.: Neural-BO", papers::neural_bo::claims),
    ("inexact", "Kim et al.: random grids", papers::inexact::claims),
];

/// The flags of this command.
#[derive(Clone, Debug, clap::Args)]
pub struct ClaimsArgs {
    /// Where the records are
    #[arg(long, value_name = "DIR", default_value = "benchmarks/papers/records")]
    pub records: PathBuf,

    /// Only the claims of this paper: ts-rsr, bbkb, sto-bnts, neural-bo or inexact
    #[arg(long, value_name = "NAME")]
    pub paper: Option<String>,

    /// Print one JSON object a line for each claim
    #[arg(long, conflicts_with = "markdown")]
    pub json: bool,

    /// Print a table in Markdown, as in docs/reproduction.md
    #[arg(long)]
    pub markdown: bool,
}

/// Prints the claims.
pub fn run(args: &ClaimsArgs, out: &mut dyn Write) -> Result<(), BenchError> {
    let known = PAPERS.map(|(name, ..)| name);
    if let Some(name) = args.paper.as_deref().filter(|name| !known.contains(name)) {
        return Err(BenchError::UnknownName { kind: "paper", name: name.into(), known: known.to_vec() });
    }
    let shelf = Shelf::new(&args.records)?;
    let mut all = Vec::new();
    for (name, title, claims) in PAPERS {
        if args.paper.as_deref().is_none_or(|wanted| wanted == name) {
            all.extend(claims(&shelf)?.into_iter().map(|claim| (name, title, claim)));
        }
    }
    if args.json {
        for (paper, _, claim) in &all {
            let mut line = serde_json::to_value(claim).map_err(std::io::Error::from)?;
            line["paper"] = (*paper).into();
            writeln!(out, "{line}")?;
        }
        return Ok(());
    }
    if args.markdown {
        let page = |name: &str| format!("[{name}](reproduction/{name}.md)");
        let rows: Vec<(String, &Claim)> = all.iter().map(|(name, _, claim)| (page(name), claim)).collect();
        write!(
            out,
            "{}",
            claims_table(rows.iter().map(|(page, claim)| (page.as_str(), *claim))).to_markdown()
        )?;
        return Ok(());
    }
    let mut last = "";
    for (_, title, claim) in &all {
        if *title != last {
            writeln!(out, "{title}")?;
            last = title;
        }
        let Claim { place, claim, verdict, ours, theirs, command } = claim;
        writeln!(out, "  {verdict:<13}  {place}: {claim}")?;
        writeln!(out, "                 ours: {ours}")?;
        for (label, text) in [("theirs", theirs), ("command", command)] {
            if !text.is_empty() {
                writeln!(out, "                 {label}: {text}")?;
            }
        }
    }
    let count = |verdict| all.iter().filter(|(.., claim)| claim.verdict == verdict).count();
    writeln!(
        out,
        "\n{} claims: {} hold, {} hold in part, {} are contradicted, {} were not run.",
        all.len(),
        count(Verdict::Holds),
        count(Verdict::InPart),
        count(Verdict::Contradicted),
        count(Verdict::NotRun)
    )?;
    Ok(())
}
