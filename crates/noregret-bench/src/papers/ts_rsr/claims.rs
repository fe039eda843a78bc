//! What Ren & Li claim, and what our records say of it.

use super::tables::{PAPER_ALGORITHMS, ROWS, TableRow};
use crate::BenchError;
use crate::harness::Shelf;
use crate::report::claim::{Claim, Standing, Verdict};
use crate::report::table::compact;
use crate::report::{Record, Summary};

/// The algorithm of the paper.
const OURS: &str = "ts-rsr";

/// All of them; the verdicts are those of the setting `code`, whose figures the paper prints.
pub(crate) fn claims(shelf: &Shelf) -> Result<Vec<Claim>, BenchError> {
    let regrets = |setting: &str| -> Result<Summary, BenchError> {
        let mut records = shelf.records(&format!("ts-rsr-{setting}"))?;
        records.retain(|record| PAPER_ALGORITHMS.contains(&record.algorithm.as_str()));
        Ok(Summary::of(&records, |record: &Record| record.simple_regret.max(0.0)))
    };
    let (code, paper) = (regrets("code")?, regrets("paper")?);
    let mut claims: Vec<Claim> = ROWS.iter().map(|row| first_of_seven(row, &code, &paper)).collect();
    claims.push(over_all(&code, &paper));
    claims.push(level(&code));
    Ok(claims)
}

fn command(row: &TableRow) -> String {
    format!("noregret bench ts-rsr --setting code --problems {} --runs {}", row.problem, row.runs)
}

/// One row of a table: TS-RSR has the smallest regret, or the place that is printed.
fn first_of_seven(row: &TableRow, code: &Summary, paper: &Summary) -> Claim {
    let printed = row.printed_for(OURS).map_or(f64::NAN, |(mean, _)| mean);
    let before = row.printed.iter().filter(|(mean, _)| *mean < printed).count();
    let standing = Standing::of(code, row.problem, OURS);
    let other = Standing::of(paper, row.problem, OURS);
    let verdict = match &standing {
        None => Verdict::NotRun,
        Some(standing) if standing.rank <= before + 1 => Verdict::Holds,
        Some(standing) if standing.level => Verdict::InPart,
        Some(_) => Verdict::Contradicted,
    };
    let said = |name: &str, standing: &Option<Standing>| {
        standing.as_ref().map_or(String::new(), |standing| format!("{name}: {standing}"))
    };
    Claim {
        place: ["Table 1", "Table 2", "Table 3"][usize::from(row.table) - 1],
        claim: row.claim,
        verdict,
        ours: [said("code", &standing), said("paper", &other)].join("; "),
        theirs: format!("{} [{} of 7]", compact(printed), before + 1),
        command: command(row),
    }
}

/// "TS-RSR attains state-of-the-art performance": the best of seven over all functions.
fn over_all(code: &Summary, paper: &Summary) -> Claim {
    let ranks = |summary: &Summary| {
        let mut ranks: Vec<(f64, &str)> =
            PAPER_ALGORITHMS.iter().map(|name| (summary.mean_rank(name), *name)).collect();
        ranks.sort_by(|a, b| a.0.total_cmp(&b.0));
        ranks
    };
    let text = |ranks: &[(f64, &str)]| {
        let named = |(rank, name): &(f64, &str)| format!("{name} {rank:.1}");
        ranks[..3].iter().map(named).collect::<Vec<_>>().join(", ")
    };
    let (code, paper) = (ranks(code), ranks(paper));
    let firsts = [&code, &paper].iter().filter(|ranks| ranks[0].1 == OURS).count();
    Claim {
        place: "Section 6",
        claim: "over all synthetic functions TS-RSR is the best of the seven (mean rank)",
        verdict: Verdict::count(firsts, 2),
        ours: format!("code: {}; paper: {}", text(&code), text(&paper)),
        theirs: "first on 8 of 9 functions".into(),
        command: "noregret bench ts-rsr --setting code; the same with --setting paper".into(),
    }
}

/// The printed figures themselves.
fn level(code: &Summary) -> Claim {
    let mut reached = 0;
    for row in &ROWS {
        let (Some(cell), Some((printed, sd))) = (code.get(row.problem, OURS), row.printed_for(OURS)) else {
            continue;
        };
        let error = (cell.sd.powi(2) / cell.count as f64 + sd.powi(2) / f64::from(row.runs)).sqrt();
        reached += usize::from(cell.mean <= printed + 2.0 * error);
    }
    Claim {
        place: "Tables 1 to 3",
        claim: "the regrets of TS-RSR are as printed or smaller, within two standard errors",
        verdict: Verdict::count(reached, ROWS.len()),
        ours: format!("{reached} of {}", ROWS.len()),
        theirs: "9 figures".into(),
        command: "noregret bench ts-rsr --setting code".into(),
    }
}
