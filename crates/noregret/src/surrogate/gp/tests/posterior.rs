//! The posterior: closed forms, equivalences, gradients, moments.

use super::*;

#[test]
fn one_observation_by_hand() {
    // k = 2, noise = 0.5, y = 1: mean = k(x) / 2.5, variance = 2 - k(x)^2 / 2.5.
    let kernel = Kernel::new(Form::SquaredExponential, vec![1.0], 1, 2.0);
    let gp = Gp::new(kernel, Points::from_columns(1, &[0.0]), &[1.0], vec![0.5]).unwrap();
    let k = 2.0 * (-0.5_f64 * 0.25).exp();
    let marginals = gp.marginals(&Points::from_columns(1, &[0.5]));
    assert!((marginals.mean[0] - k / 2.5).abs() < 1e-15);
    assert!((marginals.variance[0] - (2.0 - k * k / 2.5)).abs() < 1e-15);
    let expected = -0.5 / 2.5 - 0.5 * 2.5_f64.ln() - 0.5 * std::f64::consts::TAU.ln();
    assert!((gp.log_likelihood() - expected).abs() < 1e-15);
    assert!((gp.information_gain() - 0.5 * 5.0_f64.ln()).abs() < 1e-15);
}

#[test]
fn nothing_observed_is_the_prior() {
    let gp = Gp::new(smooth(2), Points::new(2), &[], vec![]).unwrap();
    let marginals = gp.marginals(&random_points(2, 5, &mut stream(2)));
    assert!(marginals.mean.iter().all(|m| *m == 0.0));
    assert!(marginals.variance.iter().all(|v| (v - 1.2).abs() < 1e-15));
}

#[test]
fn appended_observations_are_refitted_ones() {
    let whole = model(mixed_kernel(), 3, 40);
    let mut grown = Gp::new(mixed_kernel(), Points::new(3), &[], vec![]).unwrap();
    for i in 0..40 {
        let x = whole.points().point(i);
        grown.append(&x, objective(&x), 1e-3);
    }
    let at = random_points(3, 30, &mut stream(3));
    // Conditioning of K is about 4e4: twelve digits remain.
    assert_close(&whole.marginals(&at), &grown.marginals(&at), 1e-10);
    assert!((whole.log_likelihood() - grown.log_likelihood()).abs() < 1e-9);
}

#[test]
fn pending_points_lower_the_variance_and_keep_the_mean() {
    let mut gp = model(smooth(2), 2, 25);
    let at = random_points(2, 50, &mut stream(4));
    let before = gp.marginals(&at);
    let pending = [0.3, 0.4];
    gp.condition(&pending, 1e-3);
    let conditioned = gp.marginals(&at);
    // The same as having observed any value there.
    let mut observed = gp.clone();
    observed.release();
    observed.append(&pending, 7.0, 1e-3);
    for i in 0..at.len() {
        assert!((conditioned.mean[i] - before.mean[i]).abs() < 1e-12);
        assert!(conditioned.variance[i] <= before.variance[i] + 1e-12);
        assert!((conditioned.variance[i] - observed.marginals(&at).variance[i]).abs() < 1e-10);
    }
    gp.release();
    assert_close(&gp.marginals(&at), &before, 1e-15);
}

/// With all observations as neighbours the local model is the exact one; with fewer its variance is an upper bound.
#[test]
fn local_model_bounds_the_exact_one() {
    let gp = model(smooth(2), 2, 60);
    let center = [0.4, 0.6];
    let near = Points::from_columns(2, &[0.4, 0.6, 0.42, 0.58, 0.35, 0.66]);
    let exact = gp.marginals(&near);
    assert_close(&LocalGp::new(&gp, &center, 60).unwrap().marginals(&near), &exact, 1e-10);
    let local = LocalGp::new(&gp, &center, 20).unwrap().marginals(&near);
    for i in 0..near.len() {
        assert!((local.mean[i] - exact.mean[i]).abs() < 1e-12);
        assert!(local.variance[i] >= exact.variance[i] - 1e-12);
    }
}

#[test]
fn gradient_of_the_posterior_at_an_observation_is_finite() {
    let gp = model(smooth(2), 2, 10);
    let x = gp.points().point(3);
    let (mut m, mut v) = ([0.0; 2], [0.0; 2]);
    gp.marginal_with_gradient(&x, &mut m, &mut v);
    assert!(m.iter().chain(&v).all(|g| g.is_finite()));
}

#[test]
fn every_acquisition_has_its_gradient() {
    let gp = model(smooth(3), 3, 30);
    let local = LocalGp::new(&gp, &[0.5; 3], 12).unwrap();
    let mut conditioned = gp.clone();
    conditioned.condition(&[0.4; 3], 1e-6);
    let mut rng = stream(7);
    for _ in 0..10 {
        let x: Vec<f64> = (0..3).map(|_| rng.random_range(0.05..0.95)).collect();
        for utility in [
            Utility::Ucb { beta: 2.0 },
            Utility::ExpectedImprovement { best: 0.5 },
            Utility::LogExpectedImprovement { best: 0.5 },
            Utility::ProbabilityOfImprovement { best: 0.5 },
            Utility::Mean,
            Utility::StandardDeviation,
        ] {
            assert_gradient(&Scored { model: &gp, utility }, &x, 1e-6);
            assert_gradient(&Scored { model: &local, utility }, &x, 1e-6);
        }
        let path = Path::draw(&gp, 256, &mut rng);
        assert_gradient(&path, &x, 1e-6);
        let enlarged = EnlargedPath::draw(&conditioned, 256, 1.5, 0.2, &mut rng);
        assert_gradient(&enlarged, &x, 1e-5);
    }
}

#[test]
fn joint_draws_have_the_posterior_moments() {
    let gp = model(mixed_kernel(), 3, 8);
    let at = random_points(3, 5, &mut stream(9));
    let covariance = exact_covariance(&gp, &at);
    let joint = gp.joint(&at).unwrap();
    assert_moments(|item| joint.draw(&mut stream(item)), joint.mean(), |i, j| covariance[i][j], 1e-9);
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(32))]
    /// More data never raise a variance, and no variance is negative.
    #[test]
    fn variance_never_grows_with_data(columns in prop::collection::vec(0.0..1.0_f64, 2..40)) {
        let columns = &columns[..columns.len() / 2 * 2];
        let mut gp = Gp::new(smooth(2), Points::new(2), &[], vec![]).unwrap();
        let at = random_points(2, 20, &mut stream(14));
        let mut last = gp.marginals(&at).variance;
        for x in columns.chunks(2) {
            gp.append(x, objective(x), 1e-6);
            let now = gp.marginals(&at).variance;
            prop_assert!(now.iter().zip(&last).all(|(now, last)| *now >= 0.0 && *now <= last + 1e-9));
            last = now;
        }
    }
}

/// Thousands of values of a straight line: the model is next to certain everywhere, and the posterior covariance is the difference of two
/// matrices that agree in all digits but the last. Once "not positive definite", and `noregret best` ended with it.
#[test]
fn where_nothing_is_open_functions_can_be_drawn() {
    let kernel = Kernel::new(Form::Matern52, vec![40.0, 40.0], 2, 1e5);
    let points = random_points(2, 700, &mut stream(21));
    let y: Vec<f64> = (0..700).map(|i| points.point(i)[0]).collect();
    let gp = Gp::new(kernel, points, &y, vec![1e-6; 700]).unwrap();
    let at = random_points(2, 600, &mut stream(22));
    let joint = gp.joint(&at).unwrap();
    let draw = joint.draw(&mut stream(23));
    // Deviations are at most the root of the largest jitter, 1e-9 of the prior's variance, which is 0.01.
    assert!((0..600).all(|i| (draw[i] - at.point(i)[0]).abs() < 0.06), "{:?}", joint.repairs());
}
