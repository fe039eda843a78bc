//! Covariance functions: products of one-factor kernels on groups of coordinates, with lengthscales by coordinate.
//!
//! Every factor first adds up one number per pair of points, its *statistic*, and then maps it:
//!
//! | form                | statistic `s`                 | `h(s)`, `r = sqrt(s)`                          |
//! |---------------------|-------------------------------|------------------------------------------------|
//! | squared exponential | `sum_k ((x_k - c_k) / l_k)^2` | `exp(-s / 2)`                                  |
//! | Matérn 1/2          | the same                      | `exp(-r)`                                      |
//! | Matérn 3/2          | the same                      | `(1 + sqrt(3) r) exp(-sqrt(3) r)`              |
//! | Matérn 5/2          | the same                      | `(1 + sqrt(5) r + 5 s / 3) exp(-sqrt(5) r)`    |
//! | linear              | `sum_k x_k c_k / l_k^2`       | `s`                                            |
//! | overlap             | `sum_k [x_k != c_k] / l_k`    | `exp(-s)`                                      |
//! | anova               | one for each coordinate: `anova.rs` | `prod_k (1 - p + p h_k)`                 |
//! | infinite networks   | three of them: `network.rs`   | the recursion over the layers in `ntk.rs`      |
//!
//! (Rasmussen & Williams 2006, section 4.2; the overlap kernel is the exponential of a weighted Hamming distance.)
//! `k(x, c) = outputscale * product of h_f(s_f)`. Gradients follow the same split: `dk/ds_f`, then `ds_f/dx_k` and
//! `ds_f/dlog l_k = -p * (k-th term of s_f)` with `p = 2` for squared lengthscales and 1 for the overlap.

use pulp::{Arch, Simd, WithSimd};
use serde::{Deserialize, Serialize};

use super::anova::Anova;
use super::network::{self, Network};
use super::ntk::{Activation, NtkConfig};
use crate::math::vector::{self, exp_one, fma};
use crate::surrogate::points::Points;

/// Points handled at a time: their statistics stay in registers from the first coordinate to the covariance.
pub(super) const LANES: usize = 16;

/// The shape of a one-factor kernel.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "kebab-case")]
pub enum Form {
    /// Infinitely smooth: the Gaussian, or RBF, kernel.
    SquaredExponential,
    /// Continuous but nowhere differentiable (Ornstein-Uhlenbeck).
    #[serde(rename = "matern-12")]
    Matern12,
    /// Once differentiable.
    #[serde(rename = "matern-32")]
    Matern32,
    /// Twice differentiable: the usual choice.
    #[serde(rename = "matern-52")]
    Matern52,
    /// Effects of single coordinates, of pairs, triples and so on, each as much as the values call for; of the smoothness of Matérn 5/2.
    Anova,
    /// Straight planes through the origin.
    Linear,
    /// For categories: all differences are equally large.
    Overlap,
    /// The neural tangent kernel of an infinitely wide ReLU network: a cusp, like Matérn 1/2, and not stationary.
    NtkRelu,
    /// The same for the activation erf: infinitely smooth.
    NtkErf,
}

impl Form {
    /// The activation, if this is the kernel of a network.
    pub fn activation(self) -> Option<Activation> {
        match self {
            Form::NtkRelu => Some(Activation::Relu),
            Form::NtkErf => Some(Activation::Erf),
            _ => None,
        }
    }

    /// Power of the lengthscale in a term of the statistic.
    pub(crate) fn power(self) -> f64 {
        if self == Form::Overlap { 1.0 } else { 2.0 }
    }

    /// Whether the covariance depends on the difference of two points only.
    pub fn is_stationary(self) -> bool {
        self != Form::Linear && self.activation().is_none()
    }

    /// `h(s)` and `dh/ds` at one statistic.
    #[inline(always)]
    pub(super) fn value_and_slope<S: Simd>(self, s: f64) -> (f64, f64) {
        match self {
            Form::SquaredExponential => {
                let e = exp_one::<S>(-0.5 * s);
                (e, -0.5 * e)
            }
            Form::Matern12 => {
                let r = s.sqrt();
                let e = exp_one::<S>(-r);
                // dh/ds = -exp(-r) / (2 r) has a pole at r = 0, where the kernel has its cusp: 0 is the mean of its
                // one-sided slopes.
                (e, if r > 0.0 { -0.5 * e / r } else { 0.0 })
            }
            Form::Matern32 => {
                let r = (3.0 * s).sqrt();
                let e = exp_one::<S>(-r);
                ((1.0 + r) * e, -1.5 * e)
            }
            Form::Matern52 => {
                let r = (5.0 * s).sqrt();
                let e = exp_one::<S>(-r);
                ((1.0 + r + (5.0 / 3.0) * s) * e, (-5.0 / 6.0) * (1.0 + r) * e)
            }
            Form::Linear => (s, 1.0),
            Form::Anova | Form::NtkRelu | Form::NtkErf => {
                unreachable!("these have several statistics and loops of their own")
            }
            Form::Overlap => {
                let e = exp_one::<S>(-s);
                (e, -e)
            }
        }
    }
}

/// One kernel on a group of coordinates.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Factor {
    /// Its shape.
    pub form: Form,
    /// The coordinates it looks at.
    pub dims: Vec<usize>,
    /// One lengthscale per coordinate of `dims`, or a single one shared by all. For [`Form::Anova`] one each, and the odds against
    /// a coordinate's part in a term after them.
    pub lengthscales: Vec<f64>,
    /// How many of the last coordinates are categories; of [`Form::Anova`] only.
    #[serde(default)]
    pub categories: usize,
    /// The network, for the kernels of one.
    #[serde(default)]
    pub ntk: NtkConfig,
}

impl Factor {
    /// A factor on the coordinates `dims`; of the kernels of networks, that of the default network.
    pub fn new(form: Form, dims: Vec<usize>, lengthscales: Vec<f64>) -> Self {
        Self { form, dims, lengthscales, categories: 0, ntk: NtkConfig::default() }
    }

    /// Numbers of a pair of points that the covariance is a function of; for [`Form::Anova`], the odds are one of them.
    fn statistic_count(&self) -> usize {
        match self.form {
            Form::Anova => self.dims.len() + 1,
            Form::NtkRelu | Form::NtkErf => network::STATISTICS,
            _ => 1,
        }
    }

    pub(crate) fn lengthscale(&self, i: usize) -> f64 {
        if self.lengthscales.len() == 1 { self.lengthscales[0] } else { self.lengthscales[i] }
    }

    /// Statistics of `x` and the points `first .. first + LANES` (beyond the last point: of `x` and itself).
    #[inline(always)]
    fn statistics<S: Simd>(&self, form: Form, points: &Points, first: usize, x: &[f64]) -> [f64; LANES] {
        let mut s = [0.0; LANES];
        for (i, &k) in self.dims.iter().enumerate() {
            let (c, inverse) = (x[k], 1.0 / self.lengthscale(i));
            let rest = &points.coordinate(k)[first..];
            let block = rest.first_chunk::<LANES>().copied().unwrap_or_else(|| {
                let mut padded = [c; LANES];
                padded[..rest.len()].copy_from_slice(rest);
                padded
            });
            match form {
                Form::Linear => {
                    let weight = c * inverse * inverse;
                    for l in 0..LANES {
                        s[l] = fma::<S>(block[l], weight, s[l]);
                    }
                }
                Form::Overlap => {
                    for l in 0..LANES {
                        #[expect(clippy::float_cmp, reason = "categories are encoded exactly")]
                        let differs = block[l] != c;
                        s[l] += if differs { inverse } else { 0.0 };
                    }
                }
                _ => {
                    for l in 0..LANES {
                        let difference = (block[l] - c) * inverse;
                        s[l] = fma::<S>(difference, difference, s[l]);
                    }
                }
            }
        }
        s
    }
}

/// A product of factors times the output scale.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Kernel {
    /// Variance of the prior (for stationary factors).
    pub outputscale: f64,
    /// The factors; every one multiplies the others.
    pub factors: Vec<Factor>,
}

/// The covariances of one point with many, and their derivatives by each factor's statistic. Reused as scratch.
#[derive(Clone, Debug, Default)]
pub struct Slopes {
    /// `k(points[i], x)`.
    pub value: Vec<f64>,
    /// `dk/ds`, one array per statistic, factor after factor.
    pub by_statistic: Vec<Vec<f64>>,
}

impl Slopes {
    /// Each factor with the slopes by its statistics.
    fn of_factors<'a>(&'a self, kernel: &'a Kernel) -> impl Iterator<Item = (&'a Factor, &'a [Vec<f64>])> {
        let mut rest = self.by_statistic.as_slice();
        kernel.factors.iter().map(move |factor| {
            let own;
            (own, rest) = rest.split_at(factor.statistic_count());
            (factor, own)
        })
    }
}

/// Calls `$body` with `$form` bound to a constant, so that each shape is a vector loop of its own.
macro_rules! for_each_form {
    ($form:expr, $name:ident => $body:expr) => {
        match $form {
            Form::SquaredExponential => {
                const $name: Form = Form::SquaredExponential;
                $body
            }
            Form::Matern12 => {
                const $name: Form = Form::Matern12;
                $body
            }
            Form::Matern32 => {
                const $name: Form = Form::Matern32;
                $body
            }
            Form::Matern52 => {
                const $name: Form = Form::Matern52;
                $body
            }
            Form::Linear => {
                const $name: Form = Form::Linear;
                $body
            }
            Form::Overlap => {
                const $name: Form = Form::Overlap;
                $body
            }
            Form::Anova | Form::NtkRelu | Form::NtkErf => {
                unreachable!("these have several statistics and loops of their own")
            }
        }
    };
}

impl Kernel {
    /// A single factor on all `dims` coordinates.
    pub fn new(form: Form, lengthscales: Vec<f64>, dims: usize, outputscale: f64) -> Self {
        Self { outputscale, factors: vec![Factor::new(form, (0..dims).collect(), lengthscales)] }
    }

    /// Whether the variance of the prior is the same everywhere.
    pub fn is_stationary(&self) -> bool {
        self.factors.iter().all(|f| f.form.is_stationary())
    }

    /// `k(x, x)`.
    pub fn variance(&self, x: &[f64]) -> f64 {
        let varying = self.factors.iter().filter_map(|f| match f.form {
            Form::Linear => {
                Some(f.dims.iter().enumerate().map(|(i, &k)| (x[k] / f.lengthscale(i)).powi(2)).sum::<f64>())
            }
            _ => Network::of(f).map(|network| network.variance_and_slope(x).0),
        });
        self.outputscale * varying.product::<f64>()
    }

    /// Adds the gradient of `k(x, x)` by `x` to `gradient`, times `scale`.
    pub fn add_variance_gradient(&self, x: &[f64], scale: f64, gradient: &mut [f64]) {
        let variance = self.variance(x);
        for factor in self.factors.iter().filter(|f| f.form == Form::Linear) {
            let own: f64 =
                factor.dims.iter().enumerate().map(|(i, &k)| (x[k] / factor.lengthscale(i)).powi(2)).sum();
            if own > 0.0 {
                for (i, &k) in factor.dims.iter().enumerate() {
                    gradient[k] += scale * variance / own * 2.0 * x[k] / factor.lengthscale(i).powi(2);
                }
            }
        }
        for network in self.factors.iter().filter_map(Network::of) {
            let (own, slope) = network.variance_and_slope(x);
            if own > 0.0 {
                network.add_norm_gradient(x, scale * variance / own * slope, gradient);
            }
        }
    }

    /// `out[i] = k(points[from + i], x)`.
    pub fn column(&self, points: &Points, from: usize, x: &[f64], out: &mut [f64]) {
        out.fill(self.outputscale);
        for factor in &self.factors {
            match (Network::of(factor), Anova::of(factor)) {
                (Some(network), _) => network.column(points, from, x, out),
                (_, Some(anova)) => anova.column(points, from, x, out),
                (None, None) => Arch::new().dispatch(Column { factor, points, from, x, out }),
            }
        }
    }

    /// The column of `x` and all points from `from` on, with the derivatives that gradients are made of.
    pub fn column_with_slopes(&self, points: &Points, from: usize, x: &[f64], out: &mut Slopes) {
        let n = points.len() - from;
        out.value.clear();
        out.value.resize(n, self.outputscale);
        let statistics = self.factors.iter().map(Factor::statistic_count);
        out.by_statistic.resize_with(statistics.sum(), Vec::new);
        for slopes in &mut out.by_statistic {
            slopes.clear();
            slopes.resize(n, self.outputscale);
        }
        let Slopes { value, by_statistic } = out;
        let mut first = 0;
        for factor in &self.factors {
            let (before, rest) = by_statistic.split_at_mut(first);
            let (own, after) = rest.split_at_mut(factor.statistic_count());
            first += own.len();
            if let Some(network) = Network::of(factor) {
                let others = before.iter_mut().chain(after).chain([&mut *value]);
                network.column_with_slopes(points, from, x, own, others);
                continue;
            }
            if let Some(anova) = Anova::of(factor) {
                let others = before.iter_mut().chain(after).chain([&mut *value]);
                anova.column_with_slopes(points, from, x, own, others);
                continue;
            }
            Arch::new().dispatch(ColumnWithSlopes {
                factor,
                points,
                from,
                x,
                value,
                own: &mut own[0],
                before,
                after,
            });
        }
    }

    /// Adds `scale * d/dx sum_i weights[i] k(points[i], x)` to `gradient`; `slopes` is the column of `x`.
    ///
    /// For a stationary factor with `t_i = weights_i dk/ds`: `2 / l_k^2 * (x_k sum_i t_i - sum_i t_i points_ik)`, dot
    /// products only.
    pub fn add_input_gradient(
        &self,
        points: &Points,
        x: &[f64],
        slopes: &Slopes,
        weights: &[f64],
        scale: f64,
        gradient: &mut [f64],
    ) {
        let mut t = vec![0.0; weights.len()];
        for (factor, slopes) in slopes.of_factors(self) {
            if factor.form == Form::Overlap {
                continue;
            }
            if let Some(network) = Network::of(factor) {
                network.add_input_gradient(points, x, slopes, weights, scale, gradient);
                continue;
            }
            if let Some(anova) = Anova::of(factor) {
                anova.add_input_gradient(points, x, slopes, weights, scale, gradient);
                continue;
            }
            for ((t, w), slope) in t.iter_mut().zip(weights).zip(&slopes[0]) {
                *t = w * slope;
            }
            let total: f64 = if factor.form == Form::Linear { 0.0 } else { t.iter().sum() };
            for (i, &k) in factor.dims.iter().enumerate() {
                let moment = vector::dot(&t, &points.coordinate(k)[..t.len()]);
                let inverse = factor.lengthscale(i).powi(-2);
                gradient[k] += scale
                    * inverse
                    * if factor.form == Form::Linear { moment } else { 2.0 * (x[k] * total - moment) };
            }
        }
    }

    /// Number of free lengthscales over all factors.
    pub fn lengthscale_count(&self) -> usize {
        self.factors.iter().map(|f| f.lengthscales.len()).sum()
    }

    /// Which of the lengthscales are none, but the odds of a [`Form::Anova`].
    pub(crate) fn is_odds(&self) -> impl Iterator<Item = bool> {
        self.factors.iter().flat_map(|f| {
            let last = f.lengthscales.len() - 1;
            (0..=last).map(move |i| f.form == Form::Anova && i == last)
        })
    }

    /// All lengthscales, factor after factor.
    pub fn lengthscales(&self) -> impl Iterator<Item = f64> {
        self.factors.iter().flat_map(|f| f.lengthscales.iter().copied())
    }

    /// Replaces all lengthscales, in the order of [`Self::lengthscales`].
    pub fn set_lengthscales(&mut self, values: impl IntoIterator<Item = f64>) {
        let slots = self.factors.iter_mut().flat_map(|f| &mut f.lengthscales);
        slots.zip(values).for_each(|(slot, value)| *slot = value);
    }

    /// Adds, for points `j ..` and point `j`, `sum_i weights[i] * dk(points[j + i], points[j]) / dlog l` to
    /// `gradient` (one element per lengthscale); `slopes` is the column of point `j` from `j` on.
    pub(crate) fn add_log_lengthscale_gradient(
        &self,
        points: &Points,
        j: usize,
        slopes: &Slopes,
        weights: &[f64],
        t: &mut Vec<f64>,
        gradient: &mut [f64],
    ) {
        let mut slot = 0;
        for (factor, slopes) in slopes.of_factors(self) {
            let place = |i: usize| slot + if factor.lengthscales.len() == 1 { 0 } else { i };
            if let Some(network) = Network::of(factor) {
                for (i, sum) in network.log_lengthscale_gradient(points, j, slopes, weights) {
                    gradient[place(i)] += sum;
                }
                slot += factor.lengthscales.len();
                continue;
            }
            if let Some(anova) = Anova::of(factor) {
                for (i, sum) in anova.log_lengthscale_gradient(points, j, slopes, weights) {
                    gradient[slot + i] += sum;
                }
                slot += factor.lengthscales.len();
                continue;
            }
            t.clear();
            t.extend(weights.iter().zip(&slopes[0]).map(|(w, s)| w * s));
            for (i, &k) in factor.dims.iter().enumerate() {
                let coordinate = &points.coordinate(k)[j..];
                let c = coordinate[0];
                let l = factor.lengthscale(i);
                let sum = match factor.form {
                    Form::Linear => c * vector::dot(t, coordinate) / (l * l),
                    #[expect(clippy::float_cmp, reason = "categories are encoded exactly")]
                    Form::Overlap => {
                        t.iter().zip(coordinate).filter(|(_, x)| **x != c).map(|(t, _)| t).sum::<f64>() / l
                    }
                    _ => vector::weighted_squares(t, coordinate, c) / (l * l),
                };
                gradient[place(i)] -= factor.form.power() * sum;
            }
            slot += factor.lengthscales.len();
        }
    }
}

/// Multiplies `out` by one factor's part of the column of `x`.
struct Column<'a> {
    factor: &'a Factor,
    points: &'a Points,
    from: usize,
    x: &'a [f64],
    out: &'a mut [f64],
}

impl WithSimd for Column<'_> {
    type Output = ();

    #[inline(always)]
    fn with_simd<S: Simd>(self, _: S) {
        let Self { factor, points, from, x, out } = self;
        for_each_form!(factor.form, FORM => for (b, out) in out.chunks_mut(LANES).enumerate() {
            let mut h = factor.statistics::<S>(FORM, points, from + b * LANES, x);
            for h in &mut h {
                *h = FORM.value_and_slope::<S>(*h).0;
            }
            multiply(out, &h);
        });
    }
}

/// Multiplies values and slopes by one factor's part of the column of `x`; `own` is that factor's slope.
struct ColumnWithSlopes<'a> {
    factor: &'a Factor,
    points: &'a Points,
    from: usize,
    x: &'a [f64],
    value: &'a mut [f64],
    own: &'a mut [f64],
    before: &'a mut [Vec<f64>],
    after: &'a mut [Vec<f64>],
}

impl WithSimd for ColumnWithSlopes<'_> {
    type Output = ();

    #[inline(always)]
    fn with_simd<S: Simd>(self, _: S) {
        let Self { factor, points, from, x, value, own, before, after } = self;
        let n = value.len();
        for_each_form!(factor.form, FORM => for start in (0..n).step_by(LANES) {
            let block = start..(start + LANES).min(n);
            let (mut h, mut slope) = ([0.0; LANES], factor.statistics::<S>(FORM, points, from + start, x));
            for l in 0..LANES {
                (h[l], slope[l]) = FORM.value_and_slope::<S>(slope[l]);
            }
            multiply(&mut own[block.clone()], &slope);
            multiply(&mut value[block.clone()], &h);
            for other in before.iter_mut().chain(after.iter_mut()) {
                multiply(&mut other[block.clone()], &h);
            }
        });
    }
}

#[inline(always)]
fn multiply(out: &mut [f64], by: &[f64; LANES]) {
    if let Some(out) = out.first_chunk_mut::<LANES>() {
        for l in 0..LANES {
            out[l] *= by[l];
        }
    } else {
        out.iter_mut().zip(by).for_each(|(out, by)| *out *= by);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
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
    const FORMS: [Form; 6] = [
        Form::SquaredExponential,
        Form::Matern12,
        Form::Matern32,
        Form::Matern52,
        Form::Linear,
        Form::Overlap,
    ];

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
        let smooth = Factor::new(Form::Matern52, vec![0, 2], vec![0.3, 0.5]);
        let category = Factor::new(Form::Overlap, vec![1], vec![2.0]);
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
            let ntk = NtkConfig { symmetric, ..NtkConfig::default() };
            // For `anova` the odds after the lengthscales; the others leave the last number alone.
            let kernel = Kernel { outputscale: 1.3, factors: vec![
                Factor { ntk, ..Factor::new(form, vec![0, 2], vec![0.4, 0.7, 0.6]) },
                Factor::new(Form::SquaredExponential, vec![1], vec![0.5]),
            ]};
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
            let factor = Factor { ntk: config, ..Factor::new(Form::NtkRelu, vec![0, 2], vec![0.5, 2.0]) };
            let kernel = Kernel { outputscale: 0.7, factors: vec![factor] };
            let ntk = super::super::ntk::Ntk::new(Activation::Relu, &config, 2);
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
}
