//! What Ren & Li claim, and what our records say of it.

use super::tables::{EXTRA, PAPER_ALGORITHMS, ROWS, TableRow};
use crate::BenchError;
use crate::harness::Shelf;
use crate::report::claim::{Claim, Standing, Verdict};
use crate::report::table::compact;
use crate::report::{Record, Summary};

/// The algorithm of the paper.
const OURS: &str = "ts-rsr";

/// All of them; the verdicts are those of the setting `code`, whose figures the paper prints.
pub(crate) fn claims(shelf: &Shelf) -> Result<Vec<Claim>, BenchError> {
    let all = |setting: &str| shelf.records(&format!("ts-rsr-{setting}"));
    let (in_code, in_paper) = (all("code")?, all("paper")?);
    let of_tables = |records: &[Record]| -> Vec<Record> {
        let belongs = |record: &&Record| {
            PAPER_ALGORITHMS.contains(&record.algorithm.as_str())
                && ROWS.iter().any(|row| row.problem == record.problem)
        };
        records.iter().filter(belongs).cloned().collect()
    };
    let (code_tables, paper_tables) = (of_tables(&in_code), of_tables(&in_paper));
    let regrets = |records: &[Record]| Summary::of(records, |record| record.simple_regret.max(0.0));
    let (code, paper) = (regrets(&code_tables), regrets(&paper_tables));
    let mut claims: Vec<Claim> = ROWS.iter().map(|row| first_of_seven(row, &code, &paper)).collect();
    claims.push(over_all(&code, &paper));
    claims.push(level(&code));
    claims.push(bird_for_150_rounds(&in_code));
    claims.push(diversity(&code_tables));
    claims.push(exploration(&in_paper));
    for claim in [
        "TS-RSR has the smallest regret in the tuning of a network on Boston housing",
        "TS-RSR has the smallest regret in pushing by a robot in 3-D",
        "TS-RSR has the smallest regret in pushing by a robot in 4-D",
    ] {
        claims.push(Claim::not_run("Table 4", claim, "needs simulators that are not here"));
    }
    Ok(claims)
}

fn command(row: &TableRow, code: &Summary) -> String {
    let runs = code.get(row.problem, OURS).map_or(row.runs as usize, |cell| cell.count);
    format!("noregret bench ts-rsr --setting code --problems {} --runs {runs}", row.problem)
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
        command: command(row, code),
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

/// Bird with the rounds of the authors' script: the printed figures of TS, DPP-TS and TS-RSR.
fn bird_for_150_rounds(records: &[Record]) -> Claim {
    let bird = &EXTRA[0];
    let those = records.iter().filter(|record| record.problem == bird.problem).cloned();
    let regret = Summary::of(&those.collect::<Vec<_>>(), |record| record.simple_regret.max(0.0));
    let mut found = Vec::new();
    for name in ["ts", "dpp-ts", OURS] {
        if let (Some(cell), Some((printed, _))) = (regret.get(bird.problem, name), bird.printed_for(name)) {
            found.push((name, cell.mean, cell.mean <= printed));
        }
    }
    let fitting = found.iter().filter(|(.., fits)| *fits).count();
    let figures = |(name, mean, _): &(&str, f64, bool)| format!("{name} {}", compact(*mean));
    Claim {
        place: "Table 2",
        claim: "the figures of Bird for TS, DPP-TS and TS-RSR, which we reach with the 150 rounds of the authors' script",
        verdict: if found.is_empty() { Verdict::NotRun } else { Verdict::count(fitting, found.len()) },
        ours: found.iter().map(figures).collect::<Vec<_>>().join(", "),
        theirs: "ts 3e-5, dpp-ts 4e-5, ts-rsr 7e-5".into(),
        command: "noregret bench ts-rsr --setting code --problems bird-2d-150".into(),
    }
}

/// "Our method does penalize duplicating samples": batches are spread wider than those of Thompson sampling.
fn diversity(records: &[Record]) -> Claim {
    let distance = Summary::of(records, |record| record.extra_number("smallest_distance"));
    let of = |row: &TableRow, name: &str| distance.get(row.problem, name).map_or(f64::NAN, |cell| cell.mean);
    let wider = ROWS.iter().filter(|row| of(row, OURS) > of(row, "ts")).count();
    Claim {
        place: "Section 2",
        claim: "points of a batch are farther apart than those of Thompson sampling",
        verdict: Verdict::count(wider, ROWS.len()),
        ours: format!("code: on {wider} of {} functions", ROWS.len()),
        theirs: "no figures".into(),
        command: "noregret bench ts-rsr --setting code".into(),
    }
}

/// Lemma B.2 where it can be tested.
fn exploration(records: &[Record]) -> Claim {
    let noisy = &EXTRA[1];
    let rho = |algorithm: &str| {
        let those = |record: &&Record| record.problem == noisy.problem && record.algorithm == algorithm;
        records.iter().filter(those).map(|record| record.extra_number("rho")).fold(0.0, f64::max)
    };
    let (with, without) = (rho("ts-rsr-explore"), rho(OURS));
    Claim {
        place: "App. B.1",
        claim: "after exploring until m gamma <= T_init, rho_m is at most e",
        verdict: if with > 0.0 { Verdict::test(with <= 1.0_f64.exp()) } else { Verdict::NotRun },
        ours: format!("{} (from below), without exploration {}", compact(with), compact(without)),
        theirs: "at most 2.718".into(),
        command: "noregret bench ts-rsr --problems gp-noisy-2d --algorithms ts-rsr,ts-rsr-explore".into(),
    }
}
