//! Sample paths: gradients and moments.

use super::*;

#[test]
fn mixed_and_linear_paths_have_their_gradients() {
    let mut rng = stream(8);
    let mut kernel = mixed_kernel();
    kernel.factors.push(Factor::new(Form::Linear, Coordinates::new(vec![3], vec![0.7])));
    let gp = model(kernel, 4, 25);
    let path = Path::draw(&gp, 128, &mut rng);
    let x = [0.3, 0.7, 0.5, 0.4];
    let continuous = |y: &[f64]| [y[0], y[1], x[2], y[2]];
    let gap = gradient_gap(
        |y| path.value(&continuous(y)),
        |y, g| {
            let mut full = [0.0; 4];
            path.value_and_gradient(&continuous(y), &mut full);
            g.copy_from_slice(&[full[0], full[1], full[3]]);
        },
        &[x[0], x[1], x[3]],
    );
    assert!(gap < 1e-6, "{gap:e}");
}

#[test]
fn pathwise_draws_have_the_posterior_moments() {
    let forms = [Form::SquaredExponential, Form::Matern12, Form::Matern32, Form::Matern52];
    let mut kernels = vec![anova_kernel()];
    for form in forms {
        let mut kernel = mixed_kernel();
        kernel.factors[0] = Factor::new(form, Coordinates::new(vec![0, 1], vec![0.4, 0.8]));
        kernels.push(kernel);
    }
    for kernel in kernels {
        let gp = model(kernel, 3, 8);
        // Two of the points share the category of an observation, the others have their own.
        let mut at = random_points(3, 4, &mut stream(9));
        at.push(&[0.5, 0.5, gp.points().point(0)[2]]);
        at.push(&[0.2, 0.9, gp.points().point(0)[2]]);
        let covariance = exact_covariance(&gp, &at);
        let mean = gp.marginals(&at).mean;
        // Frequencies are fresh in every path, so the covariance is exact in expectation; a path of few features is
        // not Gaussian, though, and its products spread more: 256 features add a few per cent, covered by `extra`.
        assert_moments(
            |item| Path::draw(&gp, 256, &mut stream(item)).values(&at),
            &mean,
            |i, j| covariance[i][j],
            0.01,
        );
    }
}

#[test]
fn paths_agree_with_themselves_at_candidates() {
    let gp = model(mixed_kernel(), 3, 30);
    let at = random_points(3, 40, &mut stream(10));
    let candidates = Candidates::new(&gp, at.clone());
    let path = Path::draw(&gp, 128, &mut stream(12));
    for (a, b) in path.values(&at).iter().zip(path.values_at(&candidates)) {
        assert!((a - b).abs() < 1e-9);
    }
}

/// Bayesian linear regression on features: without data the prior, with precise data an interpolant, and its own gradient.
#[test]
fn feature_paths_are_draws_of_the_regression() {
    let empty = Gp::new(mixed_kernel(), Points::new(3), &[], vec![]).unwrap();
    let at = random_points(3, 4, &mut stream(16));
    let covariance = exact_covariance(&empty, &at);
    let draw = |item| FeaturePath::draw(&empty, &[], 128, &mut stream(item)).unwrap().values(&at);
    // 128 features are not quite Gaussian: see `pathwise_draws_have_the_posterior_moments`.
    assert_moments(draw, &[0.0; 4], |i, j| covariance[i][j], 0.02);

    let points = random_points(2, 20, &mut stream(17));
    let y: Vec<f64> = (0..20).map(|i| objective(&points.point(i))).collect();
    let gp = Gp::new(smooth(2), points.clone(), &y, vec![1e-6; 20]).unwrap();
    let path = FeaturePath::draw(&gp, &y, 512, &mut stream(18)).unwrap();
    // The posterior deviation at a point observed with noise variance 1e-6 is at most 1e-3, and so is its mean's error.
    assert!(path.values(&points).iter().zip(&y).all(|(f, y)| (f - y).abs() < 6e-3));
    let gap = gradient_gap(
        |x| path.values(&Points::from_columns(2, x))[0],
        |x, g| {
            path.value_and_gradient(x, g);
        },
        &[0.3, 0.6],
    );
    assert!(gap < 1e-6, "{gap:e}");
}

/// Theorem 4: the deviation of the enlarged path is `beta sigma + margin`, with `sigma` given the data: neither the points of
/// a batch nor those that run change its law.
#[test]
fn enlarged_paths_have_the_enlarged_deviation_given_the_data() {
    let mut gp = model(smooth(2), 2, 10);
    // The first is far from the data, the second is where a point of the batch is going to be, the third is an observed one.
    let observed = gp.points().point(4);
    let at = Points::from_columns(2, &[0.5, 0.9, 0.98, 0.03, observed[0], observed[1]]);
    let exact = gp.marginals(&at);
    let sd: Vec<f64> = exact.variance.iter().map(|variance| 2.0 * variance.sqrt() + 0.3).collect();
    gp.condition(&[0.98, 0.03], 1e-6);
    assert!(gp.marginals(&at).variance[1] < 1e-5 && exact.variance[1] > 0.01, "the batch matters there");
    for i in 0..3 {
        let point = at.slice(i..i + 1);
        let by_value = |item| EnlargedPath::draw(&gp, 256, 2.0, 0.3, &mut stream(item)).values(&point);
        // 256 features are not quite Gaussian: see `pathwise_draws_have_the_posterior_moments`.
        assert_moments(by_value, &exact.mean[i..=i], |_, _| sd[i] * sd[i], 0.01);
    }
    let candidates = Candidates::new(&gp, at.clone());
    let path = EnlargedPath::draw(&gp, 256, 2.0, 0.3, &mut stream(1));
    for (a, b) in path.values(&at).iter().zip(path.values_at(&candidates)) {
        assert!((a - b).abs() < 1e-9, "{a}, {b}");
    }
}

/// Scaled to variance 1 everywhere, also where the prior's varies; and with its gradient.
#[test]
fn unit_paths_have_variance_one() {
    let mut kernel = mixed_kernel();
    kernel.factors.push(Factor::new(Form::Linear, Coordinates::new(vec![3], vec![0.7])));
    let at = random_points(4, 3, &mut stream(19));
    let correlation = |i: usize, j: usize| {
        let mut k = [0.0];
        kernel.column(&at.slice(i..i + 1), 0, &at.point(j), &mut k);
        k[0] / (kernel.variance(&at.point(i)) * kernel.variance(&at.point(j))).sqrt()
    };
    let draw = |item| UnitPath::draw(&kernel, 4, 256, &mut stream(item)).values(&at);
    // 256 features are not quite Gaussian: see `pathwise_draws_have_the_posterior_moments`.
    assert_moments(draw, &[0.0; 3], correlation, 0.01);
    let path = UnitPath::draw(&kernel, 4, 128, &mut stream(20));
    let category = at.point(0)[2];
    let gap = gradient_gap(
        |y| path.values(&Points::from_columns(4, &[y[0], y[1], category, y[2]]))[0],
        |y, g| {
            let mut full = [0.0; 4];
            path.value_and_gradient(&[y[0], y[1], category, y[2]], &mut full);
            g.copy_from_slice(&[full[0], full[1], full[3]]);
        },
        &[0.3, 0.6, 0.4],
    );
    assert!(gap < 1e-6, "{gap:e}");
}
