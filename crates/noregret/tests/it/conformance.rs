//! Every algorithm keeps the promises of `noregret_testkit::conformance`.

use noregret::Algorithm;
use noregret_testkit::conformance::{self, Case, Story};

/// Every algorithm on each of `cases`.
fn for_all(cases: &[Case], check: impl Fn(&Algorithm, &Case)) {
    for description in Algorithm::all() {
        let options = match description.name {
            // An eighth of the features, for a five-hundredth of the time; what is promised does not depend on it.
            "rff-ts" => serde_json::json!({"model": {"features": 128}}),
            // As many trees as make a spread, for a fiftieth of the time.
            "random-forest" => serde_json::json!({"forest": {"trees": 20}, "candidates": 1000}),
            // By default the stories would end before the first generation does.
            "reg-evolution" => serde_json::json!({"population": 6, "sample": 3}),
            // Small networks and few candidates, for a tenth of the time.
            "sto-bnts" | "sto-bnts-linear" | "deep-ensemble" | "neural-greedy" => {
                serde_json::json!({"network": {"width": 12}, "candidates": 200, "polished": 2})
            }
            "neural-ucb" | "neural-ts" | "neural-bo" => {
                serde_json::json!({"network": {"width": 12}, "candidates": 200})
            }
            "dngo" => {
                let training = serde_json::json!({"name": "epochs", "method": "adam", "rate": 0.05, "epochs": 40, "warm": true});
                serde_json::json!({"network": {"width": 12}, "candidates": 200, "training": training})
            }
            _ => serde_json::json!({}),
        };
        let options = options.as_object().unwrap().clone();
        let algorithm = Algorithm::with_options(description.name, options).unwrap();
        for case in cases {
            check(&algorithm, case);
        }
    }
}

#[test]
fn points_are_valid_and_new() {
    for_all(&Case::all(), conformance::suggests_valid_points);
}

/// Options with a life of their own: state from training to training, streams for shuffling, designs by a model.
fn variants() -> Vec<Algorithm> {
    let epochs = serde_json::json!({
        "name": "epochs", "method": "sgd", "rate": 0.05, "epochs": 5, "batch": 4, "warm": true,
    });
    let small = serde_json::json!({"width": 12});
    let all = [
        ("neural-bo", serde_json::json!({"training": epochs, "features": "dynamic", "start": "library"})),
        ("neural-ucb", serde_json::json!({"variance": "diagonal"})),
        ("sto-bnts-linear", serde_json::json!({"initial": "uncertainty", "redraw": false})),
    ];
    let build = |(name, mut options): (&str, serde_json::Value)| {
        options["network"] = small.clone();
        options["candidates"] = 200.into();
        Algorithm::with_options(name, options.as_object().unwrap().clone()).unwrap()
    };
    all.into_iter().map(build).collect()
}

#[test]
fn logs_replay_to_the_last_bit() {
    for_all(&Case::all(), conformance::replays);
    for algorithm in variants() {
        Case::few().iter().for_each(|case| conformance::replays(&algorithm, case));
    }
}

#[test]
fn threads_change_nothing() {
    for_all(&Case::few(), conformance::ignores_threads);
    for algorithm in variants() {
        Case::few().iter().for_each(|case| conformance::ignores_threads(&algorithm, case));
    }
}

fn everyone_survives(story: Story) {
    for_all(&Case::few(), |algorithm, case| conformance::survives(algorithm, case, story));
}

#[test]
fn survives_failures() {
    everyone_survives(Story::Failures);
}

#[test]
fn survives_nothing_but_failures() {
    everyone_survives(Story::OnlyFailures);
}

#[test]
fn survives_values_that_are_not_finite() {
    everyone_survives(Story::NotFinite);
}

#[test]
fn survives_constant_values() {
    everyone_survives(Story::Constant);
}

#[test]
fn survives_huge_values() {
    everyone_survives(Story::Huge);
}

#[test]
fn survives_one_giant_value() {
    everyone_survives(Story::OneGiant);
}

#[test]
fn survives_nearly_equal_values() {
    everyone_survives(Story::NearlyEqual);
}

#[test]
fn survives_trials_never_told() {
    everyone_survives(Story::LeftRunning);
}

#[test]
fn survives_known_noise_of_any_size() {
    everyone_survives(Story::KnownNoise);
}

#[test]
fn survives_one_point_told_200_times() {
    for_all(&Case::few(), conformance::survives_repeats);
}

#[test]
fn finite_spaces_are_exhausted() {
    for_all(&[Case::discrete(), Case::pool()], conformance::exhausts);
}
