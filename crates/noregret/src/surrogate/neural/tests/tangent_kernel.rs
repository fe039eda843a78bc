//! Tangent kernels: products of Jacobians, and the limit of infinite width.

use super::*;

#[test]
fn the_tangent_kernel_is_the_product_of_jacobians() {
    for f in fixtures(4) {
        let gram = f.network.gram((&f.trace, &f.signals), (&f.trace, &f.signals));
        let norms = f.network.squared_norms(&f.trace, &f.signals);
        let rows: Vec<Vec<f64>> = (0..4).map(|j| wide(&f.gradient(j))).collect();
        for i in 0..4 {
            for j in 0..4 {
                let product: f64 = rows[i].iter().zip(&rows[j]).map(|(a, b)| a * b).sum();
                assert!(close(f64::from(gram[(i, j)]), product), "{:?}: {i} {j}", f.config);
            }
            assert!(close(f64::from(norms[i]), f64::from(gram[(i, i)])));
        }
    }
}

#[test]
fn the_kernel_of_a_set_with_itself_is_the_same_in_panels() {
    let f = &fixtures(600)[0];
    let whole = f.network.gram((&f.trace, &f.signals), (&f.trace, &f.signals));
    let panels = f.network.gram_of_itself(&f.trace, &f.signals);
    for j in 0..600 {
        for i in 0..600 {
            assert!((whole[(i, j)] - panels[(i, j)]).abs() <= 1e-5 * (1.0 + whole[(i, j)].abs()), "{i} {j}");
        }
    }
}

#[test]
fn squares_of_gradients_are_added_up_by_layers() {
    for f in fixtures(3) {
        let mut sums = vec![0.5_f32; f.theta.len()];
        f.network.add_squared_gradients(&f.trace, &f.signals, &mut sums);
        let rows: Vec<Vec<f64>> = (0..3).map(|j| wide(&f.gradient(j))).collect();
        for (k, sum) in sums.iter().enumerate() {
            let plain: f64 = 0.5 + rows.iter().map(|g| g[k] * g[k]).sum::<f64>();
            assert!(close(f64::from(*sum), plain), "{:?}: {k}", f.config);
        }
        let inverse: Vec<f32> = sums.iter().map(|u| 1.0 / u).collect();
        for (j, norm) in f.network.weighted_squared_norms(&f.trace, &f.signals, &inverse).iter().enumerate() {
            let plain: f64 = rows[j].iter().zip(&sums).map(|(g, u)| g * g / f64::from(*u)).sum();
            assert!(close(f64::from(*norm), plain), "{:?}: {j}", f.config);
        }
    }
}

/// The tangent kernel of a finite network approaches that of an infinite one as the root of its width: sixteen times the width, a
/// quarter of the error.
#[test]
fn wide_networks_have_the_infinite_kernel() {
    const NETWORKS: u64 = 30;
    for activation in [Activation::Relu, Activation::Erf] {
        let error = |width: usize| {
            let config = NetworkConfig { width, activation, bias_sd: 0.3, ..NetworkConfig::default() };
            let network = config.network(3);
            let mut rng = Stream::seed_from_u64(2);
            let x = Mat::from_fn(3, 5, |_, _| rng.random_range(-1.0_f32..1.0));
            let exact = infinite(activation, 2, &x);
            let mut squares = 0.0;
            for seed in 0..NETWORKS {
                let theta = network.init(&mut Stream::seed_from_u64(seed));
                let mut model = AtPoints::new(&network, x.as_ref());
                model.move_to(&theta);
                model.linearize();
                let gram = model.gram();
                for i in 0..5 {
                    squares += (0..5).map(|j| (f64::from(gram[(i, j)]) - exact(i, j)).powi(2)).sum::<f64>();
                }
            }
            (squares / (25 * NETWORKS) as f64).sqrt()
        };
        let (narrow, broad) = (error(32), error(512));
        // Both are estimated from 30 networks, each to about a sixth of itself: within a factor of two of 4.
        assert!((2.0..8.0).contains(&(narrow / broad)), "{activation:?}: {narrow} {broad}");
        assert!(broad < 0.5, "{activation:?}: {broad}");
    }
}
