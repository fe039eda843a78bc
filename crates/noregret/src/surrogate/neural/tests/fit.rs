//! Training: all methods agree.

use super::*;

fn smooth_targets(x: &Mat<f32>) -> Vec<f32> {
    (0..x.ncols()).map(|j| (2.0 * x[(0, j)]).sin() + 0.5 * x[(1, j)]).collect()
}

fn problem(width: usize, n: usize, activation: Activation) -> (Network, Mat<f32>, Vec<f32>) {
    let config = NetworkConfig { width, activation, bias_sd: 0.3, ..NetworkConfig::default() };
    let network = config.network(3);
    let mut rng = Stream::seed_from_u64(3);
    let x = Mat::from_fn(3, n, |_, _| rng.random_range(-1.0_f32..1.0));
    let y = smooth_targets(&x);
    (network, x, y)
}

/// The three methods find the same function, and its gradient is as small as promised.
#[test]
fn all_trainings_agree() {
    let (network, x, y) = problem(32, 20, Activation::Erf);
    let start = network.init(&mut Stream::seed_from_u64(5));
    let weights = vec![1.0; 20];
    let targets = Targets { y: &y, weights: &weights, ridge: 0.05 };
    let fit = |training: Training| {
        let mut model = AtPoints::new(&network, x.as_ref());
        let fitted = training.fit(&mut model, targets, &start).unwrap();
        assert!(fitted.converged, "{training:?}: {} after {}", fitted.gradient, fitted.steps);
        model.move_to(&fitted.theta);
        (model.outputs().to_vec(), fitted.steps)
    };
    let (newton, newton_steps) = fit(Training::GaussNewton { tolerance: 1e-4, steps: 50 });
    let (descent, descent_steps) =
        fit(Training::Descent { rate: 1.0, momentum: 0.9, tolerance: 1e-3, steps: 20_000 });
    let (adam, _) = fit(Training::Adam { rate: 0.01, tolerance: 2e-3, steps: 20_000 });
    for j in 0..20 {
        // A gradient of a thousandth leaves this much along the smallest eigenvalues, which are the ridge.
        assert!((newton[j] - descent[j]).abs() < 0.05, "{j}: {} {}", newton[j], descent[j]);
        assert!((newton[j] - adam[j]).abs() < 0.05, "{j}: {} {}", newton[j], adam[j]);
    }
    assert!(4 * newton_steps < descent_steps, "{newton_steps} {descent_steps}");
}

/// The closed form is the minimum: one step, and descent comes to the same place.
#[test]
fn a_linear_model_takes_one_step() {
    let (network, x, y) = problem(32, 20, Activation::Relu);
    let mut rng = Stream::seed_from_u64(5);
    let (at, start) = (network.init(&mut rng), network.init(&mut rng));
    let weights: Vec<f32> = (0..20).map(|i| if i % 3 == 0 { 0.2 } else { 1.0 }).collect();
    let targets = Targets { y: &y, weights: &weights, ridge: 0.05 };
    let mut model = TangentModel::new(&network, x.as_ref(), &at);
    let newton = Training::default().fit(&mut model, targets, &start).unwrap();
    assert!(newton.converged && newton.steps == 1, "{newton:?}");
    let slow = Training::Descent { rate: 1.0, momentum: 0.95, tolerance: 1e-4, steps: 50_000 };
    let descent = slow.fit(&mut model, targets, &start).unwrap();
    assert!(descent.converged, "{}", descent.gradient);
    let gap = newton.theta.iter().zip(&descent.theta).map(|(a, b)| (a - b).abs()).fold(0.0, f32::max);
    assert!(gap < 0.02, "{gap}"); // of parameters of order 1, along the smallest eigenvalues
}
