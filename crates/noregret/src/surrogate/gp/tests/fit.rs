//! The fit of hyperparameters: gradients and known answers.

use super::*;

/// Of a sum of functions of one coordinate each, few values tell all: what a product kernel cannot see between them.
#[test]
fn fit_finds_that_a_sum_is_a_sum() {
    let (d, n) = (6, 60);
    let points = random_points(d, n, &mut stream(20));
    let sum = |x: &[f64]| x.iter().enumerate().map(|(k, x)| (6.0 * x + k as f64).sin()).sum::<f64>() / 1.7;
    let product = |x: &[f64]| 4.0 * x[..3].iter().map(|x| (6.0 * x).sin()).product::<f64>();
    let chance = |f: &dyn Fn(&[f64]) -> f64| {
        let y: Vec<f64> = (0..n).map(|i| f(&points.point(i))).collect();
        let kernel = Kernel::new(Form::Anova, vec![1.0; d], d, 1.0);
        let known = vec![None; n];
        let problem = fit_problem(&kernel, &points, &y, &known);
        let start =
            Hyperparameters { kernel_parameters: vec![1.0; d + 1], outputscale: 1.0, noise_variance: 1e-2 };
        let fitted = problem.fit(&start, Effort { evaluations: 100, tolerance: 1e-4 }).hyperparameters;
        1.0 / (1.0 + fitted.kernel_parameters[d])
    };
    let (of_sum, of_product) = (chance(&sum), chance(&product));
    // Six coordinates in a term with this chance each: below one together, and several.
    assert!(of_sum < 1.0 / 6.0 && of_product > 0.3, "{of_sum} {of_product}");
}

#[test]
fn fit_finds_the_scale_of_a_smooth_function() {
    let kernel = smooth(2);
    let points = random_points(2, 40, &mut stream(15));
    let y: Vec<f64> = (0..40).map(|i| objective(&points.point(i))).collect();
    let known = vec![None; 40];
    let problem = fit_problem(&kernel, &points, &y, &known);
    let start = Hyperparameters { kernel_parameters: vec![0.5; 2], outputscale: 1.0, noise_variance: 1e-2 };
    let fitted = problem.fit(&start, Effort { evaluations: 100, tolerance: 1e-4 });
    // The sine of period 1.26 varies faster than the parabola.
    let l = &fitted.hyperparameters.kernel_parameters;
    assert!(l[0] < l[1], "{l:?}");
    assert!(fitted.hyperparameters.noise_variance < 1e-3);
    let again = problem.fit(&fitted.hyperparameters, Effort { evaluations: 100, tolerance: 1e-4 });
    assert!(again.evaluations <= 3, "a warm start at the optimum stays there: {}", again.evaluations);
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(32))]
    #[test]
    fn likelihood_gradient_is_the_difference_quotient(
        form in prop::sample::select(&[Form::Anova, Form::SquaredExponential, Form::Matern12, Form::Matern32, Form::Matern52, Form::Linear, Form::NtkRelu, Form::NtkErf][..]),
        symmetric in any::<bool>(),
        t in prop::collection::vec(-1.0..1.0_f64, 6),
        isotropic in any::<bool>(),
    ) {
        let mut kernel = if form == Form::Anova { anova_kernel() } else { mixed_kernel() };
        if form != Form::Anova {
            let lengthscales = if isotropic { vec![0.4] } else { vec![0.4, 0.8] };
            kernel.factors[0] = Factor::new(form, Coordinates::new(vec![0, 1], lengthscales));
        }
        if let Factor::Network(network) = &mut kernel.factors[0] {
            network.config.symmetric = symmetric;
        }
        let points = {
            let mut points = random_points(2, 12, &mut stream(13));
            let mut mixed = Points::new(3);
            for i in 0..12 {
                let mut x = points.point(i);
                x.push([0.25, 0.75][i % 2]);
                mixed.push(&x);
            }
            points.truncate(0);
            mixed
        };
        let y: Vec<f64> = (0..12).map(|i| objective(&points.point(i))).collect();
        let known: Vec<Option<f64>> = (0..12).map(|i| (i % 4 == 0).then_some(0.01)).collect();
        let problem = fit_problem(&kernel, &points, &y, &known);
        let t = &t[..kernel.parameter_count() + 2];
        let gap = gradient_gap(
            |t| problem.log_posterior_at(t, &mut vec![0.0; t.len()]),
            |t, g| { problem.log_posterior_at(t, g); },
            t,
        );
        prop_assert!(gap < 1e-5, "{gap:e}");
    }
}
