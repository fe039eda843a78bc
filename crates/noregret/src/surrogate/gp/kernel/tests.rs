use super::infinite_network::InfiniteNetwork;
use super::ntk::{Ntk, NtkActivation, NtkConfig};
use super::*;
use crate::math::vector;
use noregret_testkit::gradient_gap;
use proptest::prelude::*;

/// The last two have a cusp.
const NUMERIC: [Form; 8] = [
    Form::SquaredExponential,
    Form::Matern32,
    Form::Matern52,
    Form::Anova,
    Form::Linear,
    Form::NtkErf,
    Form::Matern12,
    Form::NtkRelu,
];
const FORMS: [Form; 6] =
    [Form::SquaredExponential, Form::Matern12, Form::Matern32, Form::Matern52, Form::Linear, Form::Overlap];

fn value(kernel: &Kernel, a: &[f64], b: &[f64]) -> f64 {
    let mut out = [0.0];
    kernel.column(&Points::from_columns(a.len(), a), 0, b, &mut out);
    out[0]
}

#[test]
fn closed_forms_at_one_distance() {
    // |a - b| / l = 0.5 in each of two coordinates: s = 0.5, r = sqrt(0.5).
    let (a, b) = ([0.1, 0.2], [0.2, 0.4]);
    let r = 0.5_f64.sqrt();
    let expected = [
        (-0.25_f64).exp(),
        (-r).exp(),
        (1.0 + 3.0_f64.sqrt() * r) * (-3.0_f64.sqrt() * r).exp(),
        (1.0 + 5.0_f64.sqrt() * r + 5.0 / 6.0) * (-5.0_f64.sqrt() * r).exp(),
        0.1 * 0.2 / 0.04 + 0.2 * 0.4 / 0.16,
        (-1.0 / 0.2 - 1.0 / 0.4_f64).exp(),
    ];
    for (form, expected) in FORMS.into_iter().zip(expected) {
        let kernel = Kernel::new(form, vec![0.2, 0.4], 2, 1.7);
        assert!((value(&kernel, &a, &b) - 1.7 * expected).abs() < 1e-14, "{form:?}");
    }
}

#[test]
fn product_of_factors_multiplies() {
    let smooth = Factor::new(Form::Matern52, Coordinates::new(vec![0, 2], vec![0.3, 0.5]));
    let category = Factor::new(Form::Overlap, Coordinates::new(vec![1], vec![2.0]));
    let one = |f: &Factor| Kernel { outputscale: 1.0, factors: vec![f.clone()] };
    let both = Kernel { outputscale: 3.0, factors: vec![smooth.clone(), category.clone()] };
    let (a, b) = ([0.1, 0.25, 0.9], [0.3, 0.75, 0.4]);
    let product = 3.0 * value(&one(&smooth), &a, &b) * value(&one(&category), &a, &b);
    assert!((value(&both, &a, &b) - product).abs() < 1e-15);
}

#[test]
fn shared_lengthscale_is_equal_ones() {
    let shared = Kernel::new(Form::Matern32, vec![0.3], 3, 1.0);
    let apart = Kernel::new(Form::Matern32, vec![0.3; 3], 3, 1.0);
    let (a, b) = ([0.1, 0.5, 0.9], [0.3, 0.7, 0.4]);
    assert!((value(&shared, &a, &b) - value(&apart, &a, &b)).abs() < 1e-16);
}

proptest! {
    #[test]
    fn input_gradient_is_the_difference_quotient(
        form in prop::sample::select(&NUMERIC[..]),
        symmetric in any::<bool>(),
        columns in prop::collection::vec(0.0..1.0_f64, 3 * 7),
        x in prop::collection::vec(0.02..0.98_f64, 3),
        weights in prop::collection::vec(-1.0..1.0_f64, 7),
    ) {
        // A second factor, so that the product rule is checked too.
        let mut first = Factor::new(form, Coordinates::new(vec![0, 2], vec![0.4, 0.7]));
        match &mut first {
            Factor::Network(network) => network.config.symmetric = symmetric,
            Factor::Anova(anova) => anova.odds = 0.6,
            _ => {}
        }
        let second = Factor::new(Form::SquaredExponential, Coordinates::new(vec![1], vec![0.5]));
        let kernel = Kernel { outputscale: 1.3, factors: vec![first, second] };
        let points = Points::from_columns(3, &columns);
        // A cusp has no gradient: keep away from it.
        prop_assume!(!NUMERIC[6..].contains(&form) || columns.chunks(3).all(|p| (p[0] - x[0]).hypot(p[2] - x[2]) > 0.05));
        let f = |x: &[f64]| {
            let mut k = vec![0.0; 7];
            kernel.column(&points, 0, x, &mut k);
            vector::dot(&k, &weights) - 0.5 * kernel.variance(x)
        };
        let g = |x: &[f64], out: &mut [f64]| {
            let mut slopes = Slopes::default();
            kernel.column_with_slopes(&points, 0, x, &mut slopes);
            out.fill(0.0);
            kernel.add_input_gradient(&points, x, &slopes, &weights, 1.0, out);
            kernel.add_variance_gradient(x, -0.5, out);
        };
        prop_assert!(gradient_gap(f, g, &x) < 1e-6);
    }
}

/// The factor of a network against the kernel itself, at inputs made by hand; one block of points and a rest.
#[test]
fn columns_of_networks_are_their_kernels() {
    let columns: Vec<f64> = (0..3 * 21).map(|i| f64::from(i) * 0.618 % 1.0).collect();
    let points = Points::from_columns(3, &columns);
    let x = [0.3, 0.9, 0.1];
    for (symmetric, input) in [(false, (|x| x) as fn(f64) -> f64), (true, |x| 2.0 * x - 1.0)] {
        let config = NtkConfig { depth: 3, symmetric, ..NtkConfig::default() };
        let coordinates = Coordinates::new(vec![0, 2], vec![0.5, 2.0]);
        let network = InfiniteNetwork { activation: NtkActivation::Relu, config, coordinates };
        let kernel = Kernel { outputscale: 0.7, factors: vec![Factor::Network(network)] };
        let ntk = Ntk::new(NtkActivation::Relu, &config, 2);
        let inputs = |x: &[f64]| [input(x[0]) / 0.5, input(x[2]) / 2.0];
        let square = |a: [f64; 2], b: [f64; 2]| (a[0] - b[0]).powi(2) + (a[1] - b[1]).powi(2);
        let mut column = vec![0.0; 19];
        kernel.column(&points, 2, &x, &mut column);
        for (i, value) in column.iter().enumerate() {
            let (a, b) = (inputs(&x), inputs(&points.point(i + 2)));
            let expected = 0.7 * ntk.value(square(a, [0.0; 2]), square(b, [0.0; 2]), square(a, b));
            assert!((value - expected).abs() < 1e-13, "{i}: {value} {expected}");
        }
        let own = ntk.value(square(inputs(&x), [0.0; 2]), square(inputs(&x), [0.0; 2]), 0.0);
        assert!((kernel.variance(&x) - 0.7 * own).abs() < 1e-13);
    }
}
