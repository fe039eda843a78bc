//! What Calandriello et al. claim, and what our records say of it.

use crate::BenchError;
use crate::harness::Shelf;
use crate::report::claim::{Claim, Verdict};
use crate::report::table::compact;
use crate::report::{Cell, Record, Summary};

const OURS: &str = "bbkb";
const LOCAL: &str = "bbkb-local";
/// The rivals of Figures 1 and 2.
const RIVALS: [&str; 5] = ["bkb", "gp-ucb", "gp-bucb", "async-ts", "eps-greedy"];

/// All of them; the verdicts are those of the setting `ours`: radius and dictionary of the authors' code.
pub(crate) fn claims(shelf: &Shelf) -> Result<Vec<Claim>, BenchError> {
    let records = shelf.records("bbkb-ours")?;
    let ratio = Summary::of(&records, |record| record.extra_number("regret_ratio"));
    let cost = Summary::of(&records, |record| record.extra_number("ms_per_step"));
    let mut claims = Vec::new();
    for (problem, place) in [("abalone", "Figure 1, Abalone"), ("cadata", "Figure 1, Cadata")] {
        claims.push(smallest_regret(problem, place, &ratio));
    }
    for (problem, place) in [("abalone", "Figure 2, Abalone"), ("cadata", "Figure 2, Cadata")] {
        claims.push(fastest(problem, place, &cost));
    }
    claims.push(as_the_exact_model(&ratio));
    claims.push(near_linear(&records));
    claims.push(growing_batches(&records));
    let batch = Summary::of(&records, |record| record.extra_number("mean_batch"));
    claims.push(more_by_the_local_rule(
        "the local rule makes larger batches than the global one",
        "mean batch",
        &batch,
    ));
    claims.push(more_by_the_local_rule("the local rule takes more time than the global one", "time", &cost));
    claims.push(reproduced(shelf)?);
    let nas = "NAS-Bench-101 is in no package registry";
    claims.push(Claim::not_run("Figure 3", "on NAS-Bench-101 larger batches make BBKB faster in total", nas));
    claims.push(Claim::not_run("Figure 4", "on NAS-Bench-101 BBKB matches regularised evolution", nas));
    claims.push(fewer_batches(&records));
    claims.push(better_radius(&ratio));
    claims.push(robust(&ratio));
    Ok(claims)
}

fn command(problem: &str) -> String {
    format!("noregret bench bbkb --problems {problem}")
}

/// Means of the rivals that were run on a problem.
fn rivals<'a>(summary: &'a Summary, problem: &'a str) -> impl Iterator<Item = &'a Cell> {
    RIVALS.iter().filter_map(move |rival| summary.get(problem, rival))
}

fn listed<'a>(cells: impl Iterator<Item = &'a Cell>) -> String {
    cells.map(|cell| format!("{} {}", cell.algorithm, compact(cell.mean))).collect::<Vec<_>>().join(", ")
}

/// "For both datasets, BBKB achieves the smallest regret."
fn smallest_regret(problem: &str, place: &'static str, ratio: &Summary) -> Claim {
    let own = [OURS, LOCAL].iter().filter_map(|name| ratio.get(problem, name));
    let best = own.clone().map(|cell| cell.mean).fold(f64::INFINITY, f64::min);
    let beaten = rivals(ratio, problem).filter(|rival| best <= rival.mean).count();
    let of = rivals(ratio, problem).count();
    Claim {
        place,
        claim: "BBKB has the smallest cumulative regret",
        verdict: Verdict::count(beaten, of),
        ours: format!("{}; {}", listed(own), listed(rivals(ratio, problem))),
        theirs: "a plot".into(),
        command: command(problem),
    }
}

/// "… using only a fraction of the time of the baselines."
fn fastest(problem: &str, place: &'static str, cost: &Summary) -> Claim {
    let own = cost.get(problem, OURS).map_or(f64::NAN, |cell| cell.mean);
    let slower = rivals(cost, problem).filter(|rival| own < rival.mean).count();
    let of = rivals(cost, problem).count();
    Claim {
        place,
        claim: "BBKB takes a fraction of its rivals' time",
        verdict: Verdict::count(slower, of),
        ours: format!("ms a step: {OURS} {}; {}", compact(own), listed(rivals(cost, problem))),
        theirs: "a plot".into(),
        command: command(problem),
    }
}

/// GP-BUCB, with the exact model and the radius and bandwidth of BBKB.
const EXACT: &str = "gp-bucb-same";

/// Theorem 2: the regret of GP-BUCB, whose model is exact. Radius and bandwidth are the same, so that it is the model that is compared.
fn as_the_exact_model(ratio: &Summary) -> Claim {
    let problems = ["problem-g", "abalone", "cadata"];
    let near = |problem: &&str| {
        let (Some(own), Some(exact)) = (ratio.get(problem, OURS), ratio.get(problem, EXACT)) else {
            return false;
        };
        own.mean <= exact.mean + 2.0 * (own.sd.hypot(exact.sd) / (own.count as f64).sqrt())
    };
    let pairs = problems.map(|problem| {
        let mean = |name| ratio.get(problem, name).map_or(f64::NAN, |cell| cell.mean);
        format!("{problem} {:.4} and {:.4}", mean(OURS), mean(EXACT))
    });
    Claim {
        place: "Theorem 2",
        claim: "the sparse model costs no regret: BBKB does as well as GP-BUCB with the exact one",
        verdict: Verdict::count(problems.iter().filter(|problem| near(problem)).count(), problems.len()),
        ours: pairs.join(", "),
        theirs: "a proof".into(),
        command: "noregret bench bbkb --algorithms bbkb,gp-bucb-same --problems problem-g,abalone,cadata"
            .into(),
    }
}

/// The power with which time grows over the second half of a run, in which the dictionary hardly grows any more.
fn exponent(record: &Record) -> f64 {
    let curve: Vec<f64> = numbers(record, "time_curve");
    let (Some(last), Some(half)) = (curve.last(), curve.get(curve.len() / 2)) else { return f64::NAN };
    (last / half).ln() / 2.0_f64.ln()
}

fn numbers(record: &Record, key: &str) -> Vec<f64> {
    let list = record.extra.get(key).and_then(serde_json::Value::as_array);
    list.map_or(Vec::new(), |list| list.iter().filter_map(serde_json::Value::as_f64).collect())
}

fn near_linear(records: &[Record]) -> Claim {
    let own: Vec<Record> = records.iter().filter(|record| record.algorithm == OURS).cloned().collect();
    let exponents = Summary::of(&own, exponent);
    let linear = exponents.cells.iter().filter(|cell| cell.mean <= 1.1).count();
    let each = exponents.cells.iter().map(|cell| format!("{} T^{:.2}", cell.problem, cell.mean));
    Claim {
        place: "Theorem 1",
        claim: "the time of T choices grows nearly linearly in T",
        verdict: Verdict::count(linear, exponents.cells.len()),
        ours: each.collect::<Vec<_>>().join(", "),
        theirs: "a proof".into(),
        command: "noregret bench bbkb --algorithms bbkb".into(),
    }
}

/// "Both termination rules guarantee linearly increasing batch sizes."
fn growing_batches(records: &[Record]) -> Claim {
    let grow = |name: &str| {
        let own: Vec<Record> = records.iter().filter(|record| record.algorithm == name).cloned().collect();
        let ratio = Summary::of(&own, |record| {
            let curve = numbers(record, "batch_curve");
            let (first, last) = curve.split_at(curve.len() / 2);
            last.iter().sum::<f64>() / first.iter().sum::<f64>()
        });
        let grown = ratio.cells.iter().filter(|cell| cell.mean > 1.0).count();
        (grown, ratio.cells.len(), listed_problems(&ratio))
    };
    let (global, local) = (grow(OURS), grow(LOCAL));
    Claim {
        place: "Figure 3",
        claim: "batches grow with time under both rules",
        verdict: Verdict::count(global.0 + local.0, global.1 + local.1),
        ours: format!(
            "batches of the second half in multiples of the first: {OURS} {}; {LOCAL} {}",
            global.2, local.2
        ),
        theirs: "a plot, of NAS-Bench-101".into(),
        command: "noregret bench bbkb --algorithms bbkb,bbkb-local".into(),
    }
}

fn listed_problems(summary: &Summary) -> String {
    let cells = summary.cells.iter().map(|cell| format!("{} {}", cell.problem, compact(cell.mean)));
    cells.collect::<Vec<_>>().join(", ")
}

/// The local rule has more of something than the global one on every problem.
fn more_by_the_local_rule(claim: &'static str, measure: &str, of: &Summary) -> Claim {
    let pair = |problem: &String| {
        Some((problem.clone(), of.get(problem, LOCAL)?.mean / of.get(problem, OURS)?.mean))
    };
    let pairs: Vec<(String, f64)> = of.problems.iter().filter_map(pair).collect();
    let more = pairs.iter().filter(|(_, ratio)| *ratio > 1.0).count();
    let each = pairs.iter().map(|(problem, ratio)| format!("{problem} {}", compact(*ratio)));
    Claim {
        place: "Figure 3",
        claim,
        verdict: Verdict::count(more, pairs.len()),
        ours: format!("{measure} in multiples of the global rule's: {}", each.collect::<Vec<_>>().join(", ")),
        theirs: "a plot, of NAS-Bench-101".into(),
        command: "noregret bench bbkb --algorithms bbkb,bbkb-local".into(),
    }
}

/// Section 3.2: the sum of BBKB's rule is smaller than the product of GP-BUCB's, so its batches are larger.
fn fewer_batches(records: &[Record]) -> Claim {
    let batches = Summary::of(records, |record| record.extra_number("batches"));
    let pair = |problem: &String| {
        Some((problem.clone(), batches.get(problem, OURS)?.mean, batches.get(problem, EXACT)?.mean))
    };
    let pairs: Vec<(String, f64, f64)> = batches.problems.iter().filter_map(pair).collect();
    let fewer = pairs.iter().filter(|(_, own, exact)| own <= exact).count();
    let each = pairs
        .iter()
        .map(|(problem, own, exact)| format!("{problem} {} and {}", compact(*own), compact(*exact)));
    Claim {
        place: "Section 3.2",
        claim: "the rule of BBKB makes larger batches than that of GP-BUCB",
        verdict: if pairs.is_empty() { Verdict::NotRun } else { Verdict::count(fewer, pairs.len()) },
        ours: format!("batches of bbkb and {EXACT}: {}", each.collect::<Vec<_>>().join(", ")),
        theirs: "a proof".into(),
        command: "noregret bench bbkb --algorithms bbkb,gp-bucb-same --problems problem-g,abalone,cadata"
            .into(),
    }
}

/// Section 3.3: "empirically the data adaptive bound seems to lead to much better regret" than that of BKB.
fn better_radius(ratio: &Summary) -> Claim {
    let pair = |problem: &String| {
        Some((problem.clone(), ratio.get(problem, "bkb-same")?.mean, ratio.get(problem, "bkb")?.mean))
    };
    let pairs: Vec<(String, f64, f64)> = ratio.problems.iter().filter_map(pair).collect();
    let better = pairs.iter().filter(|(_, new, old)| new < old).count();
    let each = pairs.iter().map(|(problem, new, old)| format!("{problem} {new:.4} and {old:.4}"));
    Claim {
        place: "Section 3.3",
        claim: "BBKB's radius has much better regret than BKB's, both in batches of one",
        verdict: if pairs.is_empty() { Verdict::NotRun } else { Verdict::count(better, pairs.len()) },
        ours: format!("with BBKB's radius and with BKB's own: {}", each.collect::<Vec<_>>().join(", ")),
        theirs: "in words".into(),
        command: "noregret bench bbkb --algorithms bkb,bkb-same --problems problem-g,abalone,cadata".into(),
    }
}

/// Figures 5 and 6: "BBKB remains robust for a wider range of sigma." Its worst ratio over all bandwidths is the smallest.
fn robust(ratio: &Summary) -> Claim {
    const CLAIM: &str = "BBKB is robust for a wider range of bandwidths than its rivals";
    let worst = |name: &str| -> Option<f64> {
        let cells = ratio.cells.iter().filter(|cell| cell.algorithm == name && cell.problem.contains("-bw"));
        cells.map(|cell| cell.mean).reduce(f64::max)
    };
    let Some(own) = worst(OURS) else {
        return Claim::not_run(
            "Figures 5 and 6",
            CLAIM,
            "the problems abalone-bw… and cadata-bw… have not been run",
        );
    };
    let others: Vec<(&str, f64)> = RIVALS.iter().filter_map(|name| Some((*name, worst(name)?))).collect();
    let beaten = others.iter().filter(|(_, worst)| own <= *worst).count();
    let each = others.iter().map(|(name, worst)| format!("{name} {}", compact(*worst)));
    Claim {
        place: "Figures 5 and 6",
        claim: CLAIM,
        verdict: Verdict::count(beaten, others.len()),
        ours: format!("worst ratio: {OURS} {}; {}", compact(own), each.collect::<Vec<_>>().join(", ")),
        theirs: "plots".into(),
        command: "noregret bench bbkb --problems abalone-bw5,abalone-bw10,cadata-bw5,cadata-bw10".into(),
    }
}

/// The authors' program on problem G, which we ran: regret ratio and batches of both rules.
fn reproduced(shelf: &Shelf) -> Result<Claim, BenchError> {
    const AUTHORS: [(&str, f64, f64); 2] = [(OURS, 0.183, 281.0), (LOCAL, 0.236, 97.0)];
    let records = shelf.records("bbkb-code")?;
    let ratio = Summary::of(&records, |record| record.extra_number("regret_ratio"));
    let batches = Summary::of(&records, |record| record.extra_number("batches"));
    let mean =
        |summary: &Summary, name: &str| summary.get("problem-g", name).map_or(f64::NAN, |cell| cell.mean);
    let near = |a: f64, b: f64| (a / b - 1.0).abs() <= 0.05;
    let same =
        AUTHORS.iter().filter(|(name, r, b)| near(mean(&ratio, name), *r) && near(mean(&batches, name), *b));
    let ours = AUTHORS.map(|(name, ..)| {
        format!("{name} {:.4}, {} batches", mean(&ratio, name), compact(mean(&batches, name)))
    });
    let theirs = AUTHORS.map(|(name, ratio, batches)| format!("{name} {ratio}, {batches} batches"));
    Ok(Claim {
        place: "authors' code",
        claim: "regret and batches on problem G are those of the authors' program, within 5 %",
        verdict: Verdict::count(same.count(), AUTHORS.len()),
        ours: ours.join("; "),
        theirs: theirs.join("; "),
        command: "noregret bench bbkb --problems problem-g --setting code --algorithms bbkb,bbkb-local"
            .into(),
    })
}
