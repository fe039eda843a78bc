//! Suggestions of a fixed seed, to the last bit: a change of the code that changes them does so on purpose, says so in the
//! changelog under "Results", and records them anew. One line a case, so that a diff names what changed.
//!
//! Bits depend on the width of SIMD registers and on the mathematical library, so they are compared on machines of the kind
//! that recorded them (the first line of the file) and nowhere else.

use std::fmt::Write as _;

use noregret::strategy::history::Duplicates;
use noregret::{Algorithm, Pool, Space, Study, Trial};
use rayon::prelude::*;
use serde_json::{Value, json};

/// The kind of machine that recorded the values.
const MACHINE: &str = "x86_64-linux-gnu avx512f";
const RECORDED: &str = include_str!("value_stability.txt");
const ROUNDS: usize = 12;

fn is_the_machine() -> bool {
    #[cfg(all(target_arch = "x86_64", target_os = "linux", target_env = "gnu"))]
    return std::arch::is_x86_feature_detected!("avx512f");
    #[cfg(not(all(target_arch = "x86_64", target_os = "linux", target_env = "gnu")))]
    false
}

/// A study to be played, by a name that says what it is.
struct Case {
    name: String,
    algorithm: Algorithm,
    space: Space,
    duplicates: Duplicates,
    /// Points a round; `None` leaves it to the algorithm.
    q: Option<usize>,
    /// Trials in all, as far as the algorithm knows.
    trials: Option<usize>,
}

fn space(name: &str) -> Space {
    let pool = |rows: usize| {
        let feature = |i: usize| (i as f64 * 0.618_034 + (i % 7) as f64 * 0.131) % 1.0;
        Space::pool(Pool::new((0..3 * rows).map(feature).collect(), 3).unwrap())
    };
    match name {
        "box" => Space::builder().float("x", -1.0, 2.0).log_float("lr", 1e-5, 1e-1).float("z", 0.0, 1.0),
        "mixed" => Space::builder()
            .float("x", 0.0, 1.0)
            .int("n", 1, 9)
            .categorical("c", ["a", "b", "d"])
            .bool("flag")
            .ordinal("width", [32, 64, 128, 256]),
        "constrained" => Space::builder()
            .float("x", 0.0, 1.0)
            .float("y", 0.0, 1.0)
            .int("n", 1, 6)
            .constraint("sum", "x + y <= 1.2")
            .constraint("product", "x * n <= 4"),
        "pool" => return pool(300),
        "large-pool" => return pool(21_000),
        _ => panic!("no space {name}"),
    }
    .build()
    .unwrap()
}

/// Options that make an algorithm small enough for a test; what stays the same does not depend on them.
fn small(algorithm: &str) -> Value {
    match algorithm {
        "rff-ts" => json!({"model": {"features": 128}}),
        "random-forest" => json!({"forest": {"trees": 20}, "candidates": 400}),
        "reg-evolution" => json!({"population": 6, "sample": 3}),
        "sto-bnts" | "sto-bnts-linear" | "deep-ensemble" | "neural-greedy" => {
            json!({"network": {"width": 12}, "candidates": 200, "polished": 2})
        }
        "neural-ucb" | "neural-ts" | "neural-bo" => json!({"network": {"width": 12}, "candidates": 200}),
        "dngo" => json!({
            "network": {"width": 12}, "candidates": 200,
            "training": {"name": "epochs", "method": "adam", "rate": 0.05, "epochs": 20, "warm": true},
        }),
        _ => json!({}),
    }
}

/// Branches of the algorithms that no default takes, each on the spaces where it makes a difference.
fn variants() -> Vec<(&'static str, &'static str, Value, &'static [&'static str])> {
    let sgd = json!({"name": "epochs", "method": "sgd", "rate": 0.05, "epochs": 5, "batch": 4, "warm": true});
    let published = json!({
        "name": "epochs", "method": "sgd", "rate": 0.01, "epochs": 10, "decay": 0.001, "loss": "mean-shared-decay", "toward": "zero",
        "warm": true, "shorten": false,
    });
    let near = json!({"every": 2, "finish": 0.5, "elsewhere": {"name": "sqrt-log"}});
    let mut all: Vec<(&str, &str, Value, &[&str])> = vec![
        ("random-grid", "gp-ucb", json!({"solver": {"name": "random-grid"}}), &["box", "mixed"]),
        ("sobol-grid", "gp-ei", json!({"solver": {"name": "sobol-grid", "size": 128}}), &["box"]),
        ("adaptive", "gp-ucb", json!({"solver": {"name": "adaptive-grid", "budget": 0.02}}), &["box"]),
        ("lbfgsb", "gp-ucb", json!({"solver": {"name": "lbfgsb", "starts": 3, "grid": 50}}), &["mixed"]),
        ("nelder-mead", "gp-ei", json!({"solver": {"name": "nelder-mead", "starts": 2}}), &["box"]),
        ("cg", "gp-ts", json!({"solver": {"name": "cg", "starts": 2}}), &["constrained"]),
        ("unpolished", "gp-ei", json!({"solver": {"name": "auto", "polished": 0}}), &["box", "mixed"]),
        ("enlarged", "gp-ts", json!({"accuracy": 0.9}), &["box", "pool"]),
        ("trust-region", "gp-ei", json!({"trust_region": near, "apart": 1e-3}), &["box", "mixed"]),
        ("probability", "gp-ei", json!({"improvement": "probability"}), &["box", "pool"]),
        ("whole-space", "ucb-pe", json!({"region": false}), &["box"]),
        ("monte-carlo", "qei", json!({"method": "monte-carlo", "fantasies": 8}), &["box", "pool"]),
        ("explore", "ts-rsr", json!({"explore": 0.5}), &["box", "pool"]),
        ("refine", "ts-rsr", json!({"refine": {"steps": 5, "rate": 0.01}}), &["box"]),
        ("erf", "ntk-ts", json!({"model": {"kernel": "ntk-erf"}}), &["box", "mixed"]),
        ("warped", "gp-ei", json!({"model": {"transform": "yeo-johnson"}}), &["box"]),
        ("subset", "gp-ei", json!({"model": {"max_points": 20}}), &["box"]),
        ("parallel", "bbkb", json!({"parallel": 6, "radius": "paper"}), &["pool"]),
        ("fresh-coins", "bbkb", json!({"sparse": {"coins": "fresh", "inclusion": "paper"}}), &["box"]),
        ("sampled", "gp-bucb", json!({"exact": false}), &["pool"]),
        ("authors", "bbkb-local", json!({"local_rule": "code", "first_gain": "code"}), &["pool"]),
        ("theorems", "bbkb", json!({"qbar_schedule": "theorem-1", "first_gain": "printed"}), &["pool"]),
        ("printed", "bkb", json!({"radius": "bkb-paper"}), &["pool"]),
        (
            "library",
            "neural-bo",
            json!({"training": sgd, "features": "dynamic", "start": "library"}),
            &["box", "pool"],
        ),
        ("diagonal", "neural-ucb", json!({"variance": "diagonal"}), &["mixed"]),
        (
            "published",
            "neural-ts",
            json!({"training": published, "variance": "accumulated", "start": "pytorch"}),
            &["box", "pool"],
        ),
        ("constant", "deep-ensemble", json!({"redraw": false, "regularize": false}), &["box"]),
        ("uncertainty", "sto-bnts-linear", json!({"initial": "uncertainty", "redraw": false}), &["box"]),
        (
            "descent",
            "sto-bnts",
            json!({"training": {"name": "descent", "steps": 20}, "perturb": false}),
            &["box"],
        ),
        ("total", "random-forest", json!({"forest": {"variance": "total"}}), &["mixed"]),
    ];
    for kernel in ["squared-exponential", "matern-12", "matern-32", "anova", "linear", "ntk-relu"] {
        all.push((kernel, "gp-ucb", json!({"model": {"kernel": kernel}}), &["box", "mixed"]));
    }
    all
}

fn with_options(name: &str, more: &Value) -> Algorithm {
    let mut options = small(name).as_object().unwrap().clone();
    options.extend(more.as_object().unwrap().clone());
    Algorithm::with_options(name, options).unwrap()
}

fn cases() -> Vec<Case> {
    let mut cases = Vec::new();
    let mut add = |name: String, algorithm: &Algorithm, on: &str, duplicates, q, trials| {
        let (algorithm, space) = (algorithm.clone(), space(on));
        cases.push(Case { name, algorithm, space, duplicates, q, trials });
    };
    for description in Algorithm::all() {
        let name = description.name;
        let algorithm = with_options(name, &json!({}));
        for on in ["box", "mixed", "constrained", "pool"] {
            for q in [1, 4] {
                add(format!("{name} {on} q={q}"), &algorithm, on, Duplicates::Avoid, Some(q), None);
            }
        }
        add(format!("{name} pool replicate"), &algorithm, "pool", Duplicates::Replicate, Some(4), None);
        add(format!("{name} box q=none"), &algorithm, "box", Duplicates::Avoid, None, None);
    }
    for (variant, name, options, spaces) in variants() {
        for on in spaces {
            let algorithm = with_options(name, &options);
            add(format!("{name} {variant} {on}"), &algorithm, on, Duplicates::Avoid, Some(3), None);
        }
    }
    for name in ["gp-ei", "gp-ts", "ts-rsr", "sp", "bbkb"] {
        let algorithm = with_options(name, &json!({}));
        add(format!("{name} large-pool"), &algorithm, "large-pool", Duplicates::Avoid, Some(3), None);
    }
    let auto = Algorithm::by_name("auto").unwrap();
    for on in ["box", "mixed", "pool"] {
        add(format!("auto {on} budget=30"), &auto, on, Duplicates::Avoid, Some(3), Some(30));
    }
    cases
}

/// A smooth function of the point with a kink.
fn value(study: &Study, trial: &Trial) -> f64 {
    let x = study.space().encode(&trial.params).unwrap();
    x.iter().enumerate().map(|(k, x)| (x - 0.3 - 0.1 * k as f64).powi(2) + 0.1 * (9.0 * x).sin().abs()).sum()
}

/// Plays a dozen rounds: some trials fail, some are told two rounds late, one gets its value after it was given up.
/// The hash (FNV-1a) is of all suggested points, bit by bit.
fn play(case: &Case) -> u64 {
    let mut hash = 0xcbf2_9ce4_8422_2325_u64;
    let mut add = |bits: u64| {
        for byte in bits.to_le_bytes() {
            hash = (hash ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3);
        }
    };
    let builder = Study::builder().space(case.space.clone()).algorithm(case.algorithm.clone());
    let builder = builder.seed(17).duplicates(case.duplicates).trials(case.trials);
    let mut study = builder.build().unwrap();
    let mut late: Vec<Vec<Trial>> = vec![Vec::new(); ROUNDS + 2];
    for round in 0..ROUNDS {
        let trials = match case.q {
            Some(q) => study.ask(q).unwrap(),
            None => study.ask_batch().unwrap(),
        };
        for trial in &trials {
            add(trial.row.map_or(u64::MAX, |row| row as u64));
            let x = study.space().encode(&trial.params).unwrap();
            x.iter().for_each(|x| add(x.to_bits()));
        }
        let told_late = std::mem::take(&mut late[round]);
        for trial in trials {
            match trial.number % 7 {
                3 => drop(study.fail(trial.number, "it broke").unwrap()),
                5 => late[round + 2].push(trial),
                n => {
                    let noise = (n == 6).then_some(1e-3);
                    let y = value(&study, &trial);
                    study.tell_with_noise(trial.number, y, noise).unwrap();
                }
            }
        }
        for trial in told_late {
            study.tell(trial.number, value(&study, &trial)).unwrap();
        }
        if round == ROUNDS / 2 {
            let given_up = study.trial(3).unwrap().clone();
            study.tell(3, value(&study, &given_up)).unwrap();
        }
    }
    hash
}

#[test]
fn suggestions_of_a_fixed_seed_stay_the_same() {
    if !is_the_machine() {
        eprintln!("skipped: the values were recorded on {MACHINE}");
        return;
    }
    let mut found = format!("# {MACHINE}\n");
    let hashes: Vec<(String, u64)> =
        cases().into_par_iter().map(|case| (case.name.clone(), play(&case))).collect();
    for (name, hash) in hashes {
        writeln!(found, "{hash:016x} {name}").unwrap();
    }
    if found == RECORDED {
        return;
    }
    let path = std::path::Path::new(env!("CARGO_TARGET_TMPDIR")).join("value_stability.txt");
    std::fs::write(&path, &found).unwrap();
    let changed: Vec<&str> = found.lines().filter(|line| !RECORDED.lines().any(|old| old == *line)).collect();
    panic!(
        "{} cases suggest other points, or are new; if that is meant, say so in CHANGELOG.md under \"Results\" and copy {} over \
         crates/noregret/tests/it/value_stability.txt:\n{}",
        changed.len(),
        path.display(),
        changed.join("\n")
    );
}
