//! Kernels of infinitely wide networks.

use super::*;

/// The kernels of networks, alone and times that of a category, of several depths.
fn networks() -> Vec<Kernel> {
    let mut kernels = Vec::new();
    for activation in [NtkActivation::Relu, NtkActivation::Erf] {
        for (depth, symmetric, lengthscale) in [(1, true, 0.4), (2, false, 1.0), (4, true, 1.0)] {
            let config = NtkConfig { depth, symmetric, ..NtkConfig::default() };
            let coordinates = Coordinates::new(vec![0, 1], vec![lengthscale]);
            let numbers = Factor::Network(InfiniteNetwork { activation, config, coordinates });
            let category = Factor::new(Form::Overlap, Coordinates::new(vec![2], vec![1.0]));
            kernels.push(Kernel { outputscale: 1.0, factors: vec![numbers.clone()] });
            kernels.push(Kernel { outputscale: 0.8, factors: vec![category, numbers] });
        }
    }
    kernels
}

#[test]
fn grams_of_networks_are_positive_definite() {
    let points = random_points(3, 40, &mut stream(20));
    for kernel in networks() {
        let gram = faer::Mat::from_fn(40, 40, |i, j| {
            let mut k = [0.0];
            kernel.column(&points.slice(i..i + 1), 0, &points.point(j), &mut k);
            k[0]
        });
        let largest = (0..40).map(|i| gram[(i, i)]).fold(0.0, f64::max);
        for i in 0..40 {
            assert!((gram[(i, i)] - kernel.variance(&points.point(i))).abs() < 1e-13 * largest);
            (0..i).for_each(|j| assert!((gram[(i, j)] - gram[(j, i)]).abs() < 1e-13 * largest));
        }
        let eigenvalues = gram.self_adjoint_eigenvalues(faer::Side::Lower).unwrap();
        let smallest = eigenvalues.into_iter().fold(f64::INFINITY, f64::min);
        // erf gives analytic functions, whose Gram matrix has eigenvalues below its rounding errors.
        let is_relu =
            |f: &Factor| matches!(f, Factor::Network(network) if network.activation == NtkActivation::Relu);
        let bound = if kernel.factors.iter().any(is_relu) { 1e-6 } else { -1e-12 };
        assert!(smallest > bound * largest, "{smallest:e} {kernel:?}");
    }
}

/// Five points: mean and variance by Gauss-Jordan elimination of `K + tau I`.
#[test]
fn posteriors_of_networks_are_dense_solves() {
    for kernel in networks() {
        let gp = model(kernel.clone(), 3, 5);
        let k = |a: &[f64], b: &[f64]| {
            let mut out = [0.0];
            kernel.column(&Points::from_columns(3, a), 0, b, &mut out);
            out[0]
        };
        let at = [0.35, 0.6, gp.points().point(2)[2]];
        // Columns 5 and 6 become (K + tau I)^-1 of the values and of the covariances with `at`.
        let mut rows: Vec<Vec<f64>> = (0..5)
            .map(|i| {
                let x = gp.points().point(i);
                let mut row: Vec<f64> = (0..5).map(|j| k(&x, &gp.points().point(j))).collect();
                row[i] += 1e-3;
                row.extend([objective(&x), k(&x, &at)]);
                row
            })
            .collect();
        for p in 0..5 {
            let pivot = rows[p].clone();
            for (i, row) in rows.iter_mut().enumerate().filter(|(i, _)| *i != p) {
                let times = row[p] / pivot[p];
                assert!(times.is_finite(), "{i}");
                row.iter_mut().zip(&pivot).for_each(|(r, p)| *r -= times * p);
            }
        }
        let solved = |i: usize, column: usize| rows[i][column] / rows[i][i];
        let cross: Vec<f64> = (0..5).map(|i| k(&gp.points().point(i), &at)).collect();
        let mean: f64 = (0..5).map(|i| cross[i] * solved(i, 5)).sum();
        let variance = k(&at, &at) - (0..5).map(|i| cross[i] * solved(i, 6)).sum::<f64>();
        let marginals = gp.marginals(&Points::from_columns(3, &at));
        // Conditioning is about 1e4.
        assert!((marginals.mean[0] - mean).abs() < 1e-9, "{} {mean}", marginals.mean[0]);
        assert!((marginals.variance[0] - variance).abs() < 1e-9, "{} {variance}", marginals.variance[0]);
    }
}

#[test]
fn posteriors_of_networks_have_their_gradients() {
    for kernel in networks().into_iter().filter(|kernel| kernel.factors.len() == 1) {
        let gp = model(kernel, 3, 20);
        let local = LocalGp::new(&gp, &[0.5; 3], 12).unwrap();
        // Farther than the steps of the check from every observation, where ReLU has its cusps.
        let near = |x: &[f64]| {
            (0..20).any(|i| (gp.points().point(i)[0] - x[0]).hypot(gp.points().point(i)[1] - x[1]) < 0.05)
        };
        let mut rng = stream(21);
        for _ in 0..5 {
            let x: Vec<f64> = (0..3).map(|_| rng.random_range(0.05..0.95)).collect();
            if near(&x) {
                continue;
            }
            for utility in [Utility::Mean, Utility::StandardDeviation, Utility::Ucb { beta: 2.0 }] {
                assert_gradient(&Scored { model: &gp, utility }, &x, 1e-6);
                assert_gradient(&Scored { model: &local, utility }, &x, 1e-6);
            }
        }
    }
}

/// Copies, near copies, the origin and opposite points: numbers everywhere, and the candidates follow.
#[test]
fn copies_and_corners_are_no_trouble_for_networks() {
    let columns = [
        [0.0, 0.0, 0.5],
        [0.0, 0.0, 0.5],
        [0.4, 0.7, 0.5],
        [0.4, 0.7, 0.5],
        [0.4 + 1e-16, 0.7, 0.5],
        [0.4, 0.7 + 1e-9, 0.5],
        [0.6, 0.3, 0.5],
        [1.0, 1.0, 0.5],
    ];
    let points = Points::from_columns(3, &columns.concat());
    let y = [0.0, 0.1, 1.0, 1.1, 1.0, 0.9, -1.0, 0.3];
    for mut kernel in networks() {
        for bias_sd in [0.05, 0.0] {
            for factor in &mut kernel.factors {
                if let Factor::Network(network) = factor {
                    network.config.bias_sd = bias_sd;
                }
            }
            let mut gp = Gp::new(kernel.clone(), points.clone(), &y, vec![1e-6; 8]).unwrap();
            let mut candidates = Candidates::new(&gp, points.clone());
            gp.append(&[0.4, 0.7, 0.5], 1.0, 1e-6);
            candidates.follow(&gp);
            assert!(candidates.mean().iter().chain(candidates.variance()).all(|v| v.is_finite()));
            assert!(gp.joint(&points).unwrap().draw(&mut stream(22)).iter().all(|f| f.is_finite()));
            for x in &columns {
                let (mut m, mut v) = ([0.0; 3], [0.0; 3]);
                let (mean, variance) = gp.marginal_with_gradient(x, &mut m, &mut v);
                assert!(
                    m.iter().chain(&v).chain([&mean, &variance]).all(|g| g.is_finite()),
                    "{x:?} {kernel:?}"
                );
            }
            let known = [None; 8];
            let problem = fit_problem(&kernel, &points, &y, &known);
            let mut gradient = vec![0.0; kernel.parameter_count() + 2];
            assert!(problem.log_posterior_at(&vec![0.0; gradient.len()], &mut gradient).is_finite());
            assert!(gradient.iter().all(|g| g.is_finite()), "{gradient:?}");
        }
    }
}

/// Neighbours are those most correlated, not those farthest from the origin.
#[test]
fn neighbours_in_a_network_are_near() {
    let gp = model(networks().swap_remove(2), 3, 200);
    let center = [0.1, 0.1, 0.5];
    let at = Points::from_columns(3, &center);
    let exact = gp.marginals(&at).variance[0];
    let local = LocalGp::new(&gp, &center, 40).unwrap().marginals(&at).variance[0];
    assert!(local >= exact - 1e-12 && local < 1.5 * exact, "{local} {exact}");
}

#[test]
#[should_panic(expected = "no random features")]
fn paths_of_networks_are_refused() {
    Path::draw(&model(networks().swap_remove(0), 3, 4), 64, &mut stream(23));
}
