//! What Dai et al. claim, and what our records say of it.

use super::acquisition::sd_in_gap;
use super::findings::{area, pairs, verdict};
use crate::BenchError;
use crate::harness::Shelf;
use crate::report::claim::{Claim, Verdict};
use crate::report::statistics::{mean, signed_rank_test};
use crate::report::table::compact;
use crate::report::{Record, Summary};

/// A claim of section 5.1 about Figure 1d: the variant that should be better, and the one that should be worse.
const PAIRS: [(&str, &str, &str); 6] = [
    ("STO-BNTS beats Deep Ensemble", "sto-bnts", "deep-ensemble"),
    ("batches of four beat single points (Linear)", "linear-b4", "linear"),
    ("a wider network helps Linear: 512 beats 64", "linear-w512", "linear"),
    ("a narrower network hurts Linear: 64 beats 16", "linear", "linear-w16"),
    ("a narrower network hurts STO-BNTS: 64 beats 16", "sto-bnts", "sto-bnts-w16"),
    ("GP-TS is competitive: it is not significantly worse than STO-BNTS", "sto-bnts", "gp-ts"),
];
/// Share of false alarms that is allowed.
const LEVEL: f64 = 0.05;

/// All of them; the verdicts are those of the setting `paper`.
pub(crate) fn claims(shelf: &Shelf) -> Result<Vec<Claim>, BenchError> {
    let records = shelf.records("sto-bnts-paper")?;
    let mut claims: Vec<Claim> = PAIRS.iter().map(|pair| figure_1d(*pair, &records)).collect();
    claims.push(no_zero_regret(&records));
    claims.extend(figures_1a_to_1c(&records));
    claims.push(constant_draws(shelf)?);
    let simulators = "needs a simulator or data that are not part of the program yet";
    let few = "the experiment is here (`--problems rover-20d`, `images`), but was not run often enough";
    let not_run = [
        ("Figure 2", "tuning a random forest and XGBoost, STO-BNTS is the best method", simulators),
        (
            "Figure 2",
            "tuning a random forest and XGBoost, a network too shallow or too deep is worse",
            simulators,
        ),
        ("Figure 3a", "on the lunar lander STO-BNTS and Linear are the best methods", simulators),
        ("Figure 3b", "on robot pushing STO-BNTS and Linear are the best methods", simulators),
        ("Figure 3c", "on the rover STO-BNTS and Linear are the best methods", few),
        ("Figure 3d", "on images STO-BNTS is the best method, and Linear is not", few),
        ("Figure 4", "tuning a convolutional network, STO-BNTS does as well as its rivals", simulators),
        ("Figure 5", "batches of four are better on the lunar lander", simulators),
        ("Figure 6", "on images a wider network helps Linear", few),
    ];
    claims.extend(not_run.map(|(place, claim, why)| Claim::not_run(place, claim, why)));
    Ok(claims)
}

/// By the area under the curve of regret and the signed-rank test of pairs: runs with the same seed.
fn figure_1d((claim, better, worse): (&'static str, &str, &str), records: &[Record]) -> Claim {
    let (good, bad) = pairs(records, "synthetic", (better, worse), area);
    let p = signed_rank_test(&bad, &good);
    let lower = mean(&good) < mean(&bad);
    // The claim about GP-TS is that there is no difference to speak of.
    let verdict = match (good.is_empty(), claim.starts_with("GP-TS")) {
        (true, _) => Verdict::NotRun,
        (false, true) => Verdict::test(!(lower && p < LEVEL)),
        (false, false) => verdict(&good, &bad),
    };
    Claim {
        place: "Figure 1d",
        claim,
        verdict,
        ours: format!(
            "mean regret over the iterations {} against {}, p = {} ({} pairs)",
            compact(mean(&good)),
            compact(mean(&bad)),
            compact(p),
            good.len()
        ),
        theirs: "a plot".into(),
        command: format!("noregret bench sto-bnts --problems synthetic --algorithms {better},{worse}"),
    }
}

fn no_zero_regret(records: &[Record]) -> Claim {
    let regret = Summary::of(records, |record| record.simple_regret);
    let mean = |name: &str| regret.get("synthetic", name).map_or(f64::NAN, |cell| cell.mean);
    let (own, ensemble) = (mean("sto-bnts"), mean("deep-ensemble"));
    // Regrets are in units of a function of variance 1: a hundredth is nothing that a plot shows.
    let is_zero = |regret: f64| regret < 0.01;
    let verdict = if own.is_nan() || ensemble.is_nan() {
        Verdict::NotRun
    } else {
        Verdict::test(is_zero(own) && !is_zero(ensemble))
    };
    Claim {
        place: "Figure 1d",
        claim: "Deep Ensemble fails to reach zero regret, STO-BNTS reaches it",
        verdict,
        ours: format!("at the end {} and {}", compact(ensemble), compact(own)),
        theirs: "a plot".into(),
        command: "noregret bench sto-bnts --problems synthetic --algorithms sto-bnts,deep-ensemble".into(),
    }
}

/// "More exploratory behaviours in unexplored regions": the deviation of a hundred functions where no value is known.
fn figures_1a_to_1c(records: &[Record]) -> Vec<Claim> {
    let ensemble = sd_in_gap(records, "deep-ensemble");
    let claim = |place, claim, method: &str| {
        let own = sd_in_gap(records, method);
        let run = !own.is_nan() && !ensemble.is_nan();
        Claim {
            place,
            claim,
            verdict: if run { Verdict::test(own > ensemble) } else { Verdict::NotRun },
            ours: format!("deviation in the gap {} against {}", compact(own), compact(ensemble)),
            theirs: "a plot".into(),
            command: "noregret bench sto-bnts --problems acquisition".into(),
        }
    };
    vec![
        claim(
            "Figures 1a, 1b",
            "functions of STO-BNTS explore a gap more than those of an ensemble",
            "sto-bnts",
        ),
        claim(
            "Figures 1a, 1c",
            "functions of STO-BNTS-Linear explore a gap more than those of an ensemble",
            "linear",
        ),
    ]
}

/// What the published script does, but with our training: the same first weights in every iteration for both, the ensemble without a
/// penalty.
fn constant_draws(shelf: &Shelf) -> Result<Claim, BenchError> {
    let (place, claim) = (
        "authors' code",
        "with the constant draws of the published code, STO-BNTS beats Deep Ensemble on Figure 1d, too",
    );
    let records = match shelf.records("sto-bnts-code") {
        Ok(records) => records,
        Err(BenchError::Read { .. }) => return Ok(Claim::not_run(place, claim, "the records are not kept")),
        Err(other) => return Err(other),
    };
    let (good, bad) = pairs(&records, "synthetic", ("sto-bnts", "deep-ensemble"), area);
    Ok(Claim {
        place,
        claim,
        verdict: verdict(&good, &bad),
        ours: format!(
            "mean regret over the iterations {} against {}, p = {} ({} pairs)",
            compact(mean(&good)),
            compact(mean(&bad)),
            compact(signed_rank_test(&bad, &good)),
            good.len()
        ),
        theirs: "a plot".into(),
        command:
            "noregret bench sto-bnts --setting code --problems synthetic --algorithms sto-bnts,deep-ensemble"
                .into(),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn record(problem: &str, algorithm: &str, value: f64) -> Record {
        Record {
            problem: problem.into(),
            algorithm: algorithm.into(),
            simple_regret: value,
            extra: [("sd_in_gap".to_owned(), value.into())].into(),
            ..Record::default()
        }
    }

    /// A mean without records is NaN, and a NaN is not zero regret: with STO-BNTS alone the claim held.
    #[test]
    fn a_claim_about_two_methods_needs_runs_of_both() {
        let (own, ensemble) =
            (record("synthetic", "sto-bnts", 0.001), record("synthetic", "deep-ensemble", 0.2));
        let verdict = |records: &[Record]| no_zero_regret(records).verdict;
        assert_eq!(verdict(&[own.clone(), ensemble.clone()]), Verdict::Holds);
        for missing in [vec![own], vec![ensemble], Vec::new()] {
            assert_eq!(verdict(&missing), Verdict::NotRun, "{missing:?}");
        }
        let gap = [record("acquisition", "sto-bnts", 0.3), record("acquisition", "deep-ensemble", 0.1)];
        let verdict = |records: &[Record]| figures_1a_to_1c(records)[0].verdict;
        assert_eq!(
            [verdict(&gap), verdict(&gap[..1]), verdict(&gap[1..])],
            [Verdict::Holds, Verdict::NotRun, Verdict::NotRun]
        );
    }
}
