//! How long one suggestion takes after so many evaluations, beside the peers: `--sizes`.
//!
//! Every method is told the same random points of Hartmann-6 and their values, then asked for one point at a time, each told
//! before the next. The first question is not counted for it pays for imports and for a model from nothing; it has a column of its own.

use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::io::Write;

use noregret::Params;
use noregret::math::rng::{Purpose, Seed};

use super::PeersArgs;
use super::contender::{Contender, point_of};
use super::task::Task;
use crate::report::statistics::median;
use crate::report::table::compact;
use crate::report::{Progress, Record, Table};
use crate::{BenchError, Output};

/// Compared unless others are asked for: ours, and the peers with a Gaussian process behind them that people use most.
pub(super) const METHODS: [&str; 4] = ["auto", "botorch-qlognei", "optuna-gp", "egobox-egor"];
const PROBLEM: &str = "hartmann-6d";
/// Points that a method may choose itself; a Latin hypercube of a single point never returns from egobox 1.0.0.
const DESIGN: usize = 5;
/// Questions that are timed: from the one number to the other, as long as they fit into the time.
const QUESTIONS: (usize, usize) = (3, 20);
const SECONDS: f64 = 10.0;
/// After so many no other question follows, however few there were: some peers think for minutes.
const MOST_SECONDS: f64 = 60.0;

/// Times all methods at all sizes. Each peer gets a process of its own for each size, so that its memory is that size's; ours share that of the
/// benchmark.
pub(super) fn run(
    args: &PeersArgs,
    methods: &[&'static str],
    threads: usize,
    out: &mut dyn Write,
) -> Result<(), BenchError> {
    let options = &args.options;
    let mut output = Output::new(options, "peers-timing", out)?;
    let runs = options.runs_or(1);
    let total = args.sizes.len() * methods.len() * runs as usize;
    let progress = Progress::new(total as u64, "peers");
    // Methods take turns, so that a slow minute of the machine does not meet one of them alone.
    for &n in &args.sizes {
        for run in 0..runs {
            for method in methods {
                progress.message(format!("{method} after {n} evaluations, run {run}"));
                let same = |r: &Record| {
                    (r.algorithm.as_str(), r.evaluations, r.seed) == (method, n.get(), options.seed_of(run))
                };
                output.obtain(same, || {
                    let mut contender = Contender::new(method, args, threads)?;
                    time(&mut contender, method, n.get(), run, options.seed_of(run))
                })?;
                progress.advance(1);
            }
        }
    }
    drop(progress);
    let records = output.records().to_vec();
    let sizes: Vec<usize> = args.sizes.iter().map(|n| n.get()).collect();
    output.text(report(methods, &sizes, threads, &records))
}

/// One method after `n` evaluations.
fn time(
    contender: &mut Contender,
    method: &str,
    n: usize,
    run: u32,
    seed: u64,
) -> Result<Record, BenchError> {
    let mut task = Task::new(PROBLEM, 1, Some(n + QUESTIONS.1 + 1), seed);
    task.initial = DESIGN.min(n);
    contender.start(&task, seed)?;
    // Most libraries insist on a design of their own.
    let value =
        |points: &[super::task::PointJson]| -> Vec<f64> { points.iter().map(|x| task.value(x)).collect() };
    let (design, _) = contender.ask(task.initial)?;
    contender.tell(&design, &value(&design))?;
    let space = task.space()?;
    let mut rng = Seed(seed).stream(Purpose::Experiment, n as u64, 1);
    let points: Result<Vec<Params>, _> =
        (task.initial..n).map(|_| Ok(space.decode(&space.sample(&mut rng)?))).collect();
    let points = points.map_err(|error: noregret::space::SpaceError| noregret::Error::from(error))?;
    let values: Vec<f64> = points.iter().map(|params| task.value(&point_of(params))).collect();
    contender.add(&points, &values)?;
    let (mut seconds, mut first) = (Vec::new(), f64::NAN);
    while contender.problem.is_none() && another(&seconds) {
        let (asked, asking) = contender.ask(1)?;
        let telling = contender.tell(&asked, &value(&asked))?;
        if first.is_nan() {
            first = asking;
        } else {
            seconds.push(asking + telling);
        }
    }
    let mut extra = BTreeMap::from([("first_seconds".to_owned(), first.into())]);
    extra.insert("median_seconds".into(), median(&seconds).into());
    if let Some(peak) = contender.peak_mb() {
        extra.insert("peak_mb".into(), peak.into());
    }
    if let Some(version) = contender.version() {
        extra.insert("version".into(), version.into());
    }
    if let Some(problem) = &contender.problem {
        extra.insert("problem_of_the_method".into(), problem.clone().into());
    }
    let thinking: f64 = seconds.iter().sum();
    Ok(Record {
        experiment: "peers-timing".into(),
        problem: PROBLEM.into(),
        algorithm: method.into(),
        run,
        seed,
        batch: 1,
        rounds: seconds.len(),
        evaluations: n,
        seconds_thinking: thinking,
        seconds_per_point: thinking / seconds.len() as f64,
        extra,
        ..Record::default()
    })
}

/// Whether another question is worth its time after these.
fn another(seconds: &[f64]) -> bool {
    let spent: f64 = seconds.iter().sum();
    match seconds.len() {
        0 => true,
        few if few < QUESTIONS.0 => spent < MOST_SECONDS,
        some => some < QUESTIONS.1 && spent < SECONDS,
    }
}

/// A row for each size and method, against the first method.
fn report(methods: &[&str], sizes: &[usize], threads: usize, records: &[Record]) -> String {
    let mut table = Table::new([
        "evaluations",
        "method",
        "questions",
        "seconds",
        "times the first",
        "first question",
        "peak MB",
    ]);
    let mut failures = String::new();
    for &n in sizes {
        let mut ours = f64::NAN;
        for (i, method) in methods.iter().enumerate() {
            let of = || records.iter().filter(|r| r.algorithm == *method && r.evaluations == n);
            let least = |number: &dyn Fn(&Record) -> f64| of().map(number).fold(f64::NAN, f64::min);
            let field = |record: &Record, name: &str| record.extra.get(name)?.as_f64();
            let seconds = least(&|r| r.seconds_per_point);
            if i == 0 {
                ours = seconds;
            }
            table.row([
                n.to_string(),
                (*method).to_owned(),
                of().map(|r| r.rounds).min().map_or_else(String::new, |n| n.to_string()),
                compact(seconds),
                compact(seconds / ours),
                compact(least(&|r| field(r, "first_seconds").unwrap_or(f64::NAN))),
                compact(least(&|r| field(r, "peak_mb").unwrap_or(f64::NAN))),
            ]);
            for record in of() {
                if let Some(what) = record.extra.get("problem_of_the_method").and_then(|what| what.as_str()) {
                    let _ = writeln!(failures, "{method} after {n} evaluations: {what}");
                }
            }
        }
    }
    format!(
        "One suggestion after so many evaluations of {PROBLEM}, {threads} threads for each. Seconds are the mean over \
         questions in a row after the first one, refits included; of several runs the fastest.\n{table}{failures}"
    )
}

#[cfg(test)]
mod tests {
    use std::num::NonZeroUsize;

    use super::*;
    use crate::Options;

    #[test]
    fn our_own_algorithms_are_timed_and_not_timed_again() {
        let folder = tempfile::tempdir().unwrap();
        let options = Options { out: Some(folder.path().to_owned()), ..Options::default() };
        let sizes = [12, 30].into_iter().filter_map(NonZeroUsize::new).collect();
        let mut args = PeersArgs { options, sizes, ..PeersArgs::default() };
        let mut go = |records| {
            args.options.records = records;
            let mut out = Vec::new();
            run(&args, &["gp-ei", "random"], 1, &mut out).unwrap();
            String::from_utf8(out).unwrap()
        };
        let text = go(None);
        assert_eq!(text.matches("gp-ei").count(), 2, "{text}");
        let lines = std::fs::read_to_string(folder.path().join("peers-timing.jsonl")).unwrap();
        let records = Record::read_all(lines.as_bytes()).unwrap();
        assert_eq!(records.len(), 4);
        for record in &records {
            assert!(record.seconds_per_point > 0.0 && record.rounds >= QUESTIONS.0, "{record:?}");
        }
        assert_eq!(text, go(Some(folder.path().to_owned())));
    }

    #[test]
    fn slow_methods_are_asked_less_often() {
        assert!(another(&[]) && another(&[30.0]) && another(&[0.1; 19]));
        assert!(!another(&[800.0]) && !another(&[4.0; 3]) && !another(&[0.1; 20]));
    }
}
