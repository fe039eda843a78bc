//! Kernels against their definitions.

use super::*;

/// Multiplied out: the sum over all sets of coordinates of the product on the set, weighed by the chance of the set.
#[test]
fn anova_is_the_sum_over_sets_of_coordinates() {
    let kernel = anova_kernel();
    let points = random_points(3, 40, &mut stream(19));
    let mut x = points.point(3);
    x[0] += 0.1;
    let mut column = vec![0.0; 40];
    kernel.column(&points, 0, &x, &mut column);
    let one = |form, k: usize, l: f64, c: &[f64]| {
        let mut h = [0.0];
        let factors = vec![Factor::new(form, Coordinates::new(vec![k], vec![l]))];
        let single = Kernel { outputscale: 1.0, factors };
        single.column(&Points::from_columns(3, c), 0, &x, &mut h);
        h[0]
    };
    let p = 1.0 / 1.7;
    for (i, value) in column.iter().enumerate() {
        let c = points.point(i);
        let h = [
            one(Form::Matern52, 0, 0.4, &c),
            one(Form::Matern52, 1, 0.8, &c),
            one(Form::Overlap, 2, 1.5, &c),
        ];
        let set = |chosen: u32| -> f64 {
            (0..3).map(|k| if chosen >> k & 1 == 1 { p * h[k] } else { 1.0 - p }).product()
        };
        let sum: f64 = (0..8).map(set).sum();
        assert!((value - 1.4 * sum).abs() < 1e-14, "{i}: {value} {}", 1.4 * sum);
    }
    assert!((kernel.variance(&x) - 1.4).abs() < 1e-15);
}
