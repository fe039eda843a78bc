//! Every algorithm keeps the promises of `noregret_testkit::conformance`.

use noregret::Algorithm;
use noregret_testkit::conformance::{self, Case, Story};

fn for_each_algorithm(check: impl Fn(&Algorithm)) {
    for description in Algorithm::all() {
        check(&Algorithm::by_name(description.name).unwrap());
    }
}

#[test]
fn points_are_valid_and_new() {
    for_each_algorithm(|algorithm| {
        Case::all().iter().for_each(|case| conformance::suggests_valid_points(algorithm, case));
    });
}

#[test]
fn logs_replay_to_the_last_bit() {
    for_each_algorithm(|algorithm| Case::all().iter().for_each(|case| conformance::replays(algorithm, case)));
}

#[test]
fn threads_change_nothing() {
    for_each_algorithm(|algorithm| {
        Case::few().iter().for_each(|case| conformance::ignores_threads(algorithm, case));
    });
}

fn everyone_survives(story: Story) {
    for_each_algorithm(|algorithm| {
        Case::few().iter().for_each(|case| conformance::survives(algorithm, case, story));
    });
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
    for_each_algorithm(|algorithm| {
        Case::few().iter().for_each(|case| conformance::survives_repeats(algorithm, case));
    });
}

#[test]
fn finite_spaces_are_exhausted() {
    for_each_algorithm(|algorithm| {
        [Case::discrete(), Case::pool()].iter().for_each(|case| conformance::exhausts(algorithm, case));
    });
}
