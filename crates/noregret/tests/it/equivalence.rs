//! Two ways to the same answer.

use noregret::study::StudyBuilder;
use noregret::{Algorithm, Direction, Params, Space, Study};
use noregret_problems::branin;
use noregret_testkit::conformance::Case;

const MODELS: [&str; 4] = ["gp-ei", "gp-ucb", "gp-ts", "rff-ts"];

fn builder(space: Space, algorithm: &str) -> StudyBuilder {
    Study::builder().space(space).algorithm(Algorithm::by_name(algorithm).unwrap()).seed(5)
}

/// Tells values of branin, as `transform` shows them, and returns all points.
fn course(builder: StudyBuilder, transform: impl Fn(f64) -> f64) -> Vec<Params> {
    let problem = branin();
    let mut study = builder.build().unwrap();
    for n in [6, 1, 2, 1, 1] {
        for trial in study.ask(n).unwrap() {
            study.tell(trial.number, transform(problem.value(&trial.numbers()))).unwrap();
        }
    }
    study.trials().iter().map(|t| t.params.clone()).collect()
}

#[test]
fn maximizing_the_negative_is_minimizing() {
    let space = Space::bounds(&branin().bounds).unwrap();
    for name in MODELS {
        let down = course(builder(space.clone(), name), |y| y);
        let up = course(builder(space.clone(), name).direction(Direction::Maximize), |y| -y);
        assert_eq!(down, up, "{name}");
    }
}

#[test]
fn powers_of_two_scale_values_without_a_trace() {
    // Standardised, the values have the same bits.
    let space = Space::bounds(&branin().bounds).unwrap();
    for name in MODELS {
        let plain = course(builder(space.clone(), name), |y| y);
        for factor in [2.0_f64.powi(-40), 2.0_f64.powi(60)] {
            assert_eq!(plain, course(builder(space.clone(), name), |y| factor * y), "{name}, {factor}");
        }
    }
}

#[test]
fn a_shift_of_exact_values_leaves_no_trace() {
    // Eight multiples of 1/64: mean and differences are exact, whatever whole number is added.
    let space = Space::bounds(&branin().bounds).unwrap();
    for name in MODELS {
        let next = |shift: f64| {
            let mut study = builder(space.clone(), name).build().unwrap();
            for (i, trial) in study.ask(8).unwrap().into_iter().enumerate() {
                study.tell(trial.number, (37 * i % 64) as f64 / 64.0 + shift).unwrap();
            }
            study.ask(2).unwrap()
        };
        assert_eq!(next(0.0), next(1000.0), "{name}");
        assert_eq!(next(0.0), next(-(2.0_f64.powi(30))), "{name}");
    }
}

#[test]
fn any_shift_and_scale_lead_to_nearly_the_same_point() {
    // Rounding of the standardised values, 1e-13, passes through a fit that stops at 1e-6 of the likelihood and a climb
    // that stops at 1e-7 of the utility: 1e-3 of the cube is far from any other local maximum.
    let problem = branin();
    let space = Space::bounds(&problem.bounds).unwrap();
    for name in ["gp-ei", "gp-ucb"] {
        let next = |scale: f64, shift: f64| {
            let mut study = builder(space.clone(), name).build().unwrap();
            for trial in study.ask(10).unwrap() {
                study.tell(trial.number, scale * problem.value(&trial.numbers()) + shift).unwrap();
            }
            problem.unit(&study.ask(1).unwrap()[0].numbers())
        };
        let plain = next(1.0, 0.0);
        for (scale, shift) in [(3.0, 0.7), (1e-3, 12.3), (777.7, -1e5)] {
            let other = next(scale, shift);
            let gap = plain.iter().zip(&other).map(|(a, b)| (a - b).abs()).fold(0.0, f64::max);
            assert!(gap < 1e-3, "{name}: {plain:?} and {other:?} by {scale} y + {shift}");
        }
    }
}

/// One question for four rows of a pool, or four questions in a row: each point of a batch is to the next one what a
/// running trial is, a condition on the variance. Rows are scored exhaustively, so the answers are the same.
///
/// Thompson sampling has no such law: a later question draws its functions from another stream.
#[test]
fn a_batch_of_rows_is_as_many_questions() {
    let case = Case::pool();
    for name in ["gp-ei", "gp-ucb"] {
        let begin = || {
            let mut study = builder(case.space.clone(), name).build().unwrap();
            for trial in study.ask(8).unwrap() {
                study.tell(trial.number, case.value(&trial.params)).unwrap();
            }
            study
        };
        let at_once: Vec<_> = begin().ask(4).unwrap().into_iter().map(|t| t.row).collect();
        let mut study = begin();
        let in_turn: Vec<_> = (0..4).map(|_| study.ask(1).unwrap()[0].row).collect();
        assert_eq!(at_once, in_turn, "{name}");
    }
}

/// In a continuous space the utilities of the second point are the same functions, but climbs start from other random
/// candidates: the same maximum is found, up to where climbs stop.
#[test]
fn a_batch_of_two_is_two_questions_up_to_the_solver() {
    let problem = branin();
    for name in ["gp-ei", "gp-ucb"] {
        let begin = || {
            let mut study = builder(Space::bounds(&problem.bounds).unwrap(), name).build().unwrap();
            for trial in study.ask(8).unwrap() {
                study.tell(trial.number, problem.value(&trial.numbers())).unwrap();
            }
            study
        };
        let at_once = begin().ask(2).unwrap();
        let mut study = begin();
        let first = study.ask(1).unwrap().remove(0);
        let second = study.ask(1).unwrap().remove(0);
        assert_eq!(first, at_once[0], "{name}: the first point sees the same stream");
        let (a, b) = (problem.unit(&second.numbers()), problem.unit(&at_once[1].numbers()));
        let gap = a.iter().zip(&b).map(|(a, b)| (a - b).abs()).fold(0.0, f64::max);
        assert!(gap < 1e-3, "{name}: {a:?} and {b:?}");
    }
}

/// Comparing a maximization with a reference is looking, not touching: the points of a batch after it stay the same.
#[test]
fn measuring_does_not_change_what_is_suggested() {
    let space = Space::bounds(&branin().bounds).unwrap();
    let points = |measure: &str| {
        let options = serde_json::json!({ "measure": measure });
        let algorithm = Algorithm::with_options("gp-ts", options.as_object().unwrap().clone()).unwrap();
        course(Study::builder().space(space.clone()).algorithm(algorithm).seed(5), |y| y)
    };
    assert_eq!(points("never"), points("always"));
}
