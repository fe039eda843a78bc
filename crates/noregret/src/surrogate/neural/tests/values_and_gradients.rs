//! Values and gradients of the network against the plain twin.

use super::*;

#[test]
fn values_are_those_of_the_plain_network() {
    for f in fixtures(7) {
        for j in 0..7 {
            let (ours, plain) =
                (f64::from(f.trace.output()[j]), plain(&f.config, &wide(&f.theta), &f.point(j)));
            assert!(close(ours, plain), "{:?}: {ours} {plain}", f.config);
        }
    }
}

#[test]
fn gradients_by_parameters_are_difference_quotients() {
    for f in fixtures(3) {
        for j in 0..3 {
            let x = f.point(j);
            let ours = wide(&f.gradient(j));
            let gap =
                gradient_gap(|t| plain(&f.config, t, &x), |_, g| g.copy_from_slice(&ours), &wide(&f.theta));
            // Kinks lie within the differences of a ReLU now and then: there the quotient is no derivative.
            let tolerance = if f.config.activation == Activation::Relu { 0.2 } else { 2e-5 };
            assert!(gap < tolerance, "{:?}: {gap}", f.config);
        }
    }
}

#[test]
fn derivatives_along_a_direction_are_products_with_the_gradient() {
    for f in fixtures(4) {
        let direction = f.network.init(&mut Stream::seed_from_u64(9));
        let along = f.network.push_forward(&f.trace, &f.signals, &direction, &mut Mat::new());
        for (j, along) in along.iter().enumerate() {
            let product: f64 = wide(&f.gradient(j)).iter().zip(&wide(&direction)).map(|(g, d)| g * d).sum();
            assert!(close(f64::from(*along), product), "{:?}: {along} {product}", f.config);
        }
    }
}

#[test]
fn gradients_by_inputs_are_difference_quotients() {
    const STEP: f64 = 1e-4;
    for f in fixtures(3).into_iter().filter(|f| !f.network.is_convolutional()) {
        let (theta, direction) = (wide(&f.theta), f.network.init(&mut Stream::seed_from_u64(9)));
        let along = wide(&direction);
        // The derivative along the direction, as a difference in 64 bits.
        let tangent = |x: &[f64]| {
            let at = |s: f64| {
                let moved: Vec<f64> = theta.iter().zip(&along).map(|(t, d)| t + s * d).collect();
                plain(&f.config, &moved, x)
            };
            (at(STEP) - at(-STEP)) / (2.0 * STEP)
        };
        let by_value = f.network.input_gradients(&f.theta, &f.signals, 3);
        let (values, by_tangent) =
            f.network.push_forward_with_input_gradients(&f.theta, &direction, &f.trace, &f.signals);
        let kinked = f.config.activation == Activation::Relu;
        for j in 0..3 {
            let x = f.point(j);
            let ours = wide(by_value.col_as_slice(j));
            let gap = gradient_gap(|x| plain(&f.config, &theta, x), |_, g| g.copy_from_slice(&ours), &x);
            assert!(gap < if kinked { 0.3 } else { 2e-5 }, "{:?}: {gap}", f.config);
            assert!((f64::from(values[j]) - tangent(&x)).abs() < 1e-3 * (1.0 + tangent(&x).abs()));
            if !kinked {
                let ours = wide(by_tangent.col_as_slice(j));
                // Differences of differences: an error of STEP^2 and of 1e-16 / STEP, over the steps of the outer ones.
                let gap = gradient_gap(tangent, |_, g| g.copy_from_slice(&ours), &x);
                assert!(gap < 1e-4, "{:?}: {gap}", f.config);
            }
        }
    }
}

/// Near no kink the linearised network of ReLUs is smooth: its gradient by small differences.
#[test]
fn gradients_of_linearised_relus_are_right_between_kinks() {
    const STEP: f32 = 1e-3;
    let f = &fixtures(3)[2];
    assert_eq!(f.config.activation, Activation::Relu);
    let direction = f.network.init(&mut Stream::seed_from_u64(9));
    let (_, ours) = f.network.push_forward_with_input_gradients(&f.theta, &direction, &f.trace, &f.signals);
    let (_, by_value) = (0, f.network.input_gradients(&f.theta, &f.signals, 3));
    // The derivative along the direction of the input gradient is the input gradient of the derivative.
    let moved = |s: f32| {
        let theta: Vec<f32> = f.theta.iter().zip(&direction).map(|(t, d)| t + s * d).collect();
        let (mut trace, mut signals) = (Trace::default(), Signals::default());
        f.network.forward(&theta, f.x.as_ref(), &mut trace);
        f.network.signals(&theta, &trace, &mut signals);
        f.network.input_gradients(&theta, &signals, 3)
    };
    let (above, below) = (moved(STEP), moved(-STEP));
    for j in 0..3 {
        for i in 0..3 {
            let quotient = (above[(i, j)] - below[(i, j)]) / (2.0 * STEP);
            let size = 1.0 + by_value[(i, j)].abs() + quotient.abs();
            assert!((quotient - ours[(i, j)]).abs() < 1e-2 * size, "{i} {j}: {quotient} {}", ours[(i, j)]);
        }
    }
}
