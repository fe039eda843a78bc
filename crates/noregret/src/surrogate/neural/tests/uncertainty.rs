//! Variances, and the sampling by them.

use super::*;

/// The dual variance is the one with the p x p inverse, and its diagonal form that with the diagonal.
#[test]
fn variances_are_those_of_the_matrix_in_the_parameters() {
    use posterior::Variance::{Accumulated, Diagonal, Exact};
    const LAMBDA: f64 = 0.3;
    for f in fixtures(6) {
        let p = f.theta.len();
        let rows: Vec<Vec<f64>> = (0..6).map(|j| wide(&f.gradient(j))).collect();
        // U = lambda I + sum over the first four points, inverted by solving for each gradient.
        let u = |i: usize, j: usize| {
            let own: f64 = rows[..4].iter().map(|g| g[i] * g[j]).sum();
            own + if i == j { LAMBDA } else { 0.0 }
        };
        let factor = crate::math::cholesky::Cholesky::factor(p, |j, out| {
            out.iter_mut().enumerate().for_each(|(i, out)| *out = u(j + i, j));
        })
        .unwrap();
        let seen = f.x.as_ref().subcols(0, 4);
        let (mut trace, mut signals) = (Trace::default(), Signals::default());
        f.network.forward(&f.theta, seen, &mut trace);
        f.network.signals(&f.theta, &trace, &mut signals);
        for variance in [Exact, Diagonal, Accumulated] {
            let (uncertainty, _) = posterior::Uncertainty::new(
                variance,
                &f.network,
                trace.clone(),
                signals.clone(),
                &[1.0; 4],
                LAMBDA,
            )
            .unwrap();
            let uncertainty = if variance == Accumulated {
                // Three of them as a sum of squares, the last as one more point.
                let mut squares = vec![0.0; p];
                for (j, gradient) in rows[..3].iter().enumerate() {
                    assert_eq!(gradient.len(), p, "{j}");
                    squares.iter_mut().zip(&f.gradient(j)).for_each(|(s, g)| *s += g * g);
                }
                let (mut trace, mut signals) = (Trace::default(), Signals::default());
                f.network.forward(&f.theta, f.x.as_ref().subcols(3, 1), &mut trace);
                f.network.signals(&f.theta, &trace, &mut signals);
                posterior::Uncertainty::from_squares(&f.network, squares, (&trace, &signals), LAMBDA)
            } else {
                uncertainty
            };
            let ours = uncertainty.variances(&f.network, &f.trace, &f.signals);
            for (j, ours) in ours.iter().enumerate() {
                let plain = match variance {
                    Exact => {
                        let mut solved = rows[j].clone();
                        factor.solve(&mut solved);
                        LAMBDA * rows[j].iter().zip(&solved).map(|(g, s)| g * s).sum::<f64>()
                    }
                    Diagonal | Accumulated => {
                        LAMBDA * rows[j].iter().enumerate().map(|(i, g)| g * g / u(i, i)).sum::<f64>()
                    }
                };
                // A difference of kernels of this size, each with seven digits.
                let size: f64 = rows[j].iter().map(|g| g * g).sum();
                assert!(
                    (f64::from(*ours) - plain).abs() < 1e-5 * (1.0 + size),
                    "{:?} {variance:?}: {ours} {plain}",
                    f.config
                );
            }
        }
    }
}

/// Greedy choices by the definition: each time the variance of every candidate, from scratch.
#[test]
fn uncertainty_sampling_takes_the_largest_variance() {
    let f = &fixtures(14)[0];
    let (known, candidates) = (f.x.as_ref().subcols(0, 3), f.x.as_ref().subcols(3, 11));
    let noise = 0.2;
    let ours = uncertainty_sampling::most_uncertain(&f.network, &f.theta, known, candidates, 4, noise);
    let kernel = f.network.gram((&f.trace, &f.signals), (&f.trace, &f.signals));
    let mut given: Vec<usize> = vec![0, 1, 2];
    for place in ours {
        let variance = |j: usize| {
            let factor = crate::math::cholesky::Cholesky::factor(given.len(), |c, out| {
                for (i, out) in out.iter_mut().enumerate() {
                    *out = f64::from(kernel[(given[c + i], given[c])]) + if i == 0 { noise } else { 0.0 };
                }
            })
            .unwrap();
            let mut k: Vec<f64> = given.iter().map(|&i| f64::from(kernel[(i, j)])).collect();
            let before = k.clone();
            factor.solve(&mut k);
            f64::from(kernel[(j, j)]) - k.iter().zip(&before).map(|(a, b)| a * b).sum::<f64>()
        };
        let best =
            (3..14).filter(|j| !given.contains(j)).max_by(|a, b| variance(*a).total_cmp(&variance(*b)));
        assert_eq!(best, Some(place + 3));
        given.push(place + 3);
    }
}
