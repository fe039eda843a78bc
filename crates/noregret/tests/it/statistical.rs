//! Better than chance, with fixed seeds.

use noregret::math::rng::{Purpose, Seed};
use noregret::{Algorithm, Direction, Space, Study};
use noregret_problems::{Problem, branin};
use rand_distr::{Distribution, StandardNormal};

fn mean(values: &[f64]) -> f64 {
    values.iter().sum::<f64>() / values.len() as f64
}

/// The middle value, or the mean of the two middle ones.
fn median(values: &[f64]) -> f64 {
    let mut sorted = values.to_vec();
    sorted.sort_by(f64::total_cmp);
    let n = sorted.len();
    f64::midpoint(sorted[(n - 1) / 2], sorted[n / 2])
}

/// Simple regret of 30 trials: even seeds minimize, odd ones maximize the negative.
fn regret(problem: &Problem, name: &str, seed: u64) -> f64 {
    let space = Space::bounds(&problem.bounds).unwrap();
    let (direction, sign) =
        if seed.is_multiple_of(2) { (Direction::Minimize, 1.0) } else { (Direction::Maximize, -1.0) };
    let algorithm = Algorithm::by_name(name).unwrap();
    let mut study =
        Study::builder().space(space).algorithm(algorithm).direction(direction).seed(seed).build().unwrap();
    for _ in 0..30 {
        let trial = study.ask(1).unwrap().remove(0);
        study.tell(trial.number, sign * problem.value(&trial.numbers())).unwrap();
    }
    sign * study.best_observed().unwrap().value().unwrap() - problem.minimum
}

#[test]
fn models_beat_random_search() {
    let problem = branin();
    let regrets = |name: &str| (0..10).map(|seed| regret(&problem, name, seed)).collect::<Vec<f64>>();
    let random = median(&regrets("random"));
    // Medians of 0.002 to 0.007 against 0.9: a tenth leaves room for other good algorithms and none for luck.
    for name in ["gp-ei", "gp-ucb", "gp-ts", "auto"] {
        let model = median(&regrets(name));
        assert!(model < random / 10.0, "{name}: {model}, random search: {random}");
    }
}

/// A study of 40 Sobol points of branin with noise of deviation `sd`.
fn noisy_study(problem: &Problem, sd: f64, seed: u64) -> Study {
    let space = Space::bounds(&problem.bounds).unwrap();
    let options = serde_json::json!({"initial_points": 40}).as_object().unwrap().clone();
    let algorithm = Algorithm::with_options("gp-ei", options).unwrap();
    let mut study = Study::builder().space(space).algorithm(algorithm).seed(seed).build().unwrap();
    let mut rng = Seed(seed).stream(Purpose::Noise, 0, 0);
    for trial in study.ask(40).unwrap() {
        let z: f64 = StandardNormal.sample(&mut rng);
        study.tell(trial.number, problem.value(&trial.numbers()) + sd * z).unwrap();
    }
    study
}

#[test]
fn under_noise_the_recommended_point_is_better_than_the_luckiest() {
    // Noise of deviation 20 on values from 0.4 to 300: the best of 40 values is often luck.
    let problem = branin();
    let (mut recommended, mut luckiest) = (Vec::new(), Vec::new());
    for seed in 0..20 {
        let mut study = noisy_study(&problem, 20.0, seed);
        let number = usize::try_from(study.recommended().unwrap().unwrap().number).unwrap();
        recommended.push(problem.value(&study.trials()[number].numbers()));
        luckiest.push(problem.value(&study.best_observed().unwrap().numbers()));
    }
    assert_ne!(recommended, luckiest, "the model takes all noise for truth");
    assert!(mean(&recommended) <= mean(&luckiest), "{} {}", mean(&recommended), mean(&luckiest));
}

/// A prior with its mode below the floor put the noise there, whatever the data said.
#[test]
fn noise_is_found_where_there_is_some() {
    let problem = branin();
    let fitted = |sd: f64, seed: u64| {
        let mut study = noisy_study(&problem, sd, seed);
        study.ask(1).unwrap();
        let fit = &study.diagnostics().unwrap().model.as_ref().unwrap().fit;
        // At the median, where the transformation has the slope 1 / scale.
        let unit = fit.units.sd * fit.units.warp.map_or(1.0, |warp| warp.scale);
        unit * fit.hyperparameters.noise_variance.sqrt()
    };
    // 40 values know the deviation of their noise to a factor of 2, and the absence of any to 1 % of their own (50).
    let with = median(&(0..10).map(|seed| fitted(5.0, seed)).collect::<Vec<f64>>());
    assert!((2.5..10.0).contains(&with), "{with}");
    let without = median(&(0..10).map(|seed| fitted(0.0, seed)).collect::<Vec<f64>>());
    assert!(without < 0.5, "{without}");
}
