//! One network that learns along with the study: its parameters, and how unsure it is of a point.
//!
//! # Notation
//! (Phan-Trong et al. 2023, Algorithms 1 and 2.)
//!
//! | paper                        | here                    | meaning                                                    |
//! |------------------------------|-------------------------|------------------------------------------------------------|
//! | `h(x; theta) = sqrt(m) W_L phi(... W_1 x)` | the network | with `W_l = v_l / sqrt(m)` and a homogeneous `phi` this is `v_L phi(... v_1 x) / sqrt(m)`, `v` of scale 1 |
//! | `theta_0`                    | `start`                 | parameters at first                                        |
//! | `g(x; theta) / sqrt(m)`      |                         | the gradient by `v`                                        |
//! | `m lambda \|theta - theta_0\|^2` | `ridge`             | `lambda \|v - v_0\|^2`                                     |
//! | `eta`                        | `rate`                  | `eta m` for `v`, and `eta sqrt(m)` with Adam               |

use rand::{Rng, RngExt, SeedableRng};
use rayon::prelude::*;
use serde::{Deserialize, Serialize};

use super::diagnostics::Diagnostics;
use super::history::History;
use super::memo::{Memo, Neural, Trainings};
use super::neural::Told;
use crate::error::Error;
use crate::math::rng::Stream;
use crate::maximize::{MaximizeError, Maximum, Region, Work};
use crate::surrogate::neural::draw::TrainingData;
use crate::surrogate::neural::epochs::{Epochs, Learner};
use crate::surrogate::neural::model::AtPoints;
use crate::surrogate::neural::network::{Signals, Trace};
use crate::surrogate::neural::posterior::{Uncertainty, Variance};
use crate::surrogate::neural::regression::Targets;
use crate::surrogate::neural::{Encoder, Network, NetworkConfig, Training};
use crate::surrogate::points::Points;

/// Variances computed before the bounds are looked at again.
const CHUNK: usize = 1_024;
/// Rows of a pool that are looked at together.
const BLOCK: usize = 1 << 16;

/// Where parameters begin, and the scale of each layer.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "kebab-case")]
pub enum Start {
    /// Normal, with the network's own `weight_sd` and `bias_sd`.
    #[default]
    Scaled,
    /// Weights `N(0, 1/m)`, no biases (Phan-Trong et al. 2023, section 7).
    Printed,
    /// Weights `N(0, 2/m)`, the last layer 0, no biases (section 4): only the last layer has gradients at first.
    ZeroLast,
    /// Hidden weights `N(0, 1/m)`, the rest uniform as the authors' library has it (their code).
    Library,
}

/// How the network learns.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(tag = "name", rename_all = "kebab-case")]
pub enum Learning {
    /// To the minimum of `sum (y - h)^2 + lambda |theta - theta_0|^2`, by Gauss-Newton steps in the dual.
    GaussNewton {
        /// Stop when the gradient has shrunk to this share of what it was at the start.
        #[serde(default = "tolerance")]
        tolerance: f64,
        /// ... or after this many steps.
        #[serde(default = "steps")]
        steps: usize,
    },
    /// A number of passes by SGD or Adam.
    Epochs(Epochs),
}

/// What is to be learnt.
#[derive(Clone, Copy)]
pub(crate) struct Lesson<'a> {
    pub(crate) network: &'a Network,
    pub(crate) data: &'a TrainingData,
    /// Weight of the distance to the start.
    pub(crate) ridge: f64,
    /// Where the learner began.
    pub(crate) start: &'a [f32],
}

fn tolerance() -> f64 {
    1e-3
}

fn steps() -> usize {
    60
}

impl Default for Learning {
    fn default() -> Self {
        Self::GaussNewton { tolerance: tolerance(), steps: steps() }
    }
}

impl Learning {
    /// Whether its numbers can be meant.
    pub fn is_valid(&self) -> bool {
        match *self {
            Self::GaussNewton { tolerance, steps } => Training::GaussNewton { tolerance, steps }.is_valid(),
            Self::Epochs(epochs) => epochs.is_valid(),
        }
    }

    fn is_warm(&self) -> bool {
        matches!(self, Self::Epochs(Epochs { warm: true, .. }))
    }

    /// Teaches `learner`.
    pub(crate) fn teach(
        &self,
        lesson: Lesson<'_>,
        learner: &mut Learner,
        rng: &mut Stream,
        diagnostics: &mut Diagnostics,
    ) -> Result<(), Error> {
        let Lesson { network, data, ridge, start } = lesson;
        match *self {
            Self::GaussNewton { tolerance, steps } => {
                let mut model = AtPoints::new(network, data.x.as_ref());
                #[expect(clippy::cast_possible_truncation, reason = "networks work with 32 bits")]
                let targets = Targets { y: &data.y, weights: &data.weights, ridge: ridge as f32 };
                let fitted = Training::GaussNewton { tolerance, steps }.fit(&mut model, targets, start)?;
                diagnostics.counters.insert("training_steps".into(), fitted.steps as f64);
                diagnostics.counters.insert("gradient_left".into(), fitted.gradient);
                if fitted.jitter > 0.0 {
                    diagnostics.counters.insert("jitter".into(), fitted.jitter);
                }
                *learner = Learner::new(fitted.theta);
            }
            Self::Epochs(epochs) => {
                let shortened = epochs.run(network, data, start, learner, rng);
                if shortened < 1.0 {
                    diagnostics.counters.insert("rate_shortened_to".into(), shortened);
                }
            }
        }
        if learner.theta.iter().any(|t| !t.is_finite()) {
            diagnostics.notes.push("training diverged: the network is used as it was at first".into());
            *learner = Learner::new(start.to_vec());
        }
        Ok(())
    }
}

impl Start {
    /// The network with its first parameters.
    pub(crate) fn network(
        self,
        config: &NetworkConfig,
        inputs: usize,
        rng: &mut Stream,
    ) -> (Network, Vec<f32>) {
        let hidden = 1.0 / (config.width as f32).sqrt();
        let last = config.depth;
        let network = match self {
            Self::Scaled => config.network(inputs),
            Self::Printed => config.network_with(inputs, |l, _| (if l == 0 { 1.0 } else { hidden }, 0.0)),
            Self::ZeroLast => config.network_with(inputs, |l, _| {
                let two = if l == last { 1.0 } else { 2.0_f32.sqrt() };
                (two * if l == 0 { 1.0 } else { hidden }, 0.0)
            }),
            Self::Library => config.network_with(inputs, |l, _| (if l == 0 { 1.0 } else { hidden }, 1.0)),
        };
        let mut theta = network.init(rng);
        match self {
            Self::ZeroLast => theta[network.last_layer()].fill(0.0),
            Self::Library => {
                let mut uniform = |range: std::ops::Range<usize>, bound: f32| {
                    theta[range].iter_mut().for_each(|t| *t = rng.random_range(-bound..=bound));
                };
                // b = v / sqrt(m) is uniform within 1 / sqrt(fan in), which is m but for the first layer.
                let first = (config.width as f32 / inputs as f32).sqrt();
                for (l, biases) in network.biases().enumerate() {
                    uniform(biases, if l == 0 { first } else { 1.0 });
                }
                uniform(network.last_layer(), 1.0);
            }
            Self::Scaled | Self::Printed => {}
        }
        (network, theta)
    }
}

/// The settings of a learning network.
#[derive(Clone, Debug)]
pub(crate) struct LearnedConfig {
    pub(crate) network: NetworkConfig,
    pub(crate) start: Start,
    pub(crate) learning: Learning,
    pub(crate) standardize: bool,
    /// Weight of the distance to the start.
    pub(crate) ridge: f64,
}

/// The network and its cache.
#[derive(Debug)]
pub(crate) struct Learned {
    config: LearnedConfig,
    /// Where warm trainings have led: the last two, since a suggestion may be made and not recorded.
    warm: Vec<(Neural, Learner)>,
}

/// The network for one history.
pub(crate) struct State {
    pub(crate) network: Network,
    pub(crate) encoder: Encoder,
    /// Parameters at first.
    pub(crate) start: Vec<f32>,
    /// Parameters now.
    pub(crate) theta: Vec<f32>,
    pub(crate) told: Told,
}

impl Learned {
    pub(crate) fn new(config: LearnedConfig) -> Self {
        Self { config, warm: Vec::new() }
    }

    /// Teaches the network all that was told. The memo has the seed of its first parameters, and when it was taught if it goes on
    /// from there.
    pub(crate) fn prepare(
        &mut self,
        history: &History,
        memo: &mut Memo,
        diagnostics: &mut Diagnostics,
        rng: &mut Stream,
    ) -> Result<State, Error> {
        let n = history.len();
        let fresh = rng.next_u64();
        let last = memo.neural.take().filter(|neural| {
            neural.revision == history.revision() && neural.trainings.last().is_none_or(|told| told <= n)
        });
        let mut neural = last.unwrap_or(Neural {
            seed: fresh,
            revision: history.revision(),
            trainings: Trainings::default(),
        });
        let LearnedConfig { network, start, learning, standardize, ridge } = &self.config;
        let encoder = network.encoder(history.space())?;
        let mut own = Stream::seed_from_u64(neural.seed);
        let (network, start) = start.network(network, encoder.inputs(), &mut own);
        // Noise is a share of the values' deviation whose square is the ridge.
        let noise = ridge.sqrt();
        let told = |n: usize, diagnostics: &mut Diagnostics| {
            Told::new(history, n, &encoder, *standardize, noise, neural.seed, diagnostics)
        };
        let teach = |k: usize, told: &Told, learner: &mut Learner, diagnostics: &mut Diagnostics| {
            let mut rng = Stream::seed_from_u64(neural.seed);
            rng.set_stream(k as u64 + 1);
            let lesson = Lesson { network: &network, data: &told.data, ridge: *ridge, start: &start };
            learning.teach(lesson, learner, &mut rng, diagnostics)
        };
        let now = told(n, diagnostics);
        let mut learner = Learner::new(start.clone());
        if learning.is_warm() {
            let known = self.warm.iter().position(|(known, _)| *known == neural);
            let mut done = 0;
            if let Some(known) = known {
                learner = self.warm[known].1.clone();
                done = neural.trainings.count();
            }
            let mut unsaid = Diagnostics::default();
            for (k, told_then) in neural.trainings.iter().enumerate().skip(done) {
                teach(k, &told(told_then, &mut unsaid), &mut learner, &mut unsaid)?;
            }
            let before = (neural.clone(), learner.clone());
            if neural.trainings.last() != Some(n) {
                teach(neural.trainings.count(), &now, &mut learner, diagnostics)?;
                neural.trainings.push(n);
            }
            self.warm = vec![before, (neural.clone(), learner.clone())];
        } else {
            teach(0, &now, &mut learner, diagnostics)?;
        }
        memo.neural = Some(neural);
        Ok(State { network, encoder, start, theta: learner.theta, told: now })
    }
}

/// Whose gradients are the features.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "kebab-case")]
pub enum Features {
    /// Those of the network as it began (Phan-Trong et al. 2023).
    Static,
    /// Those of the network as it is (Zhou et al. 2020; Zhang et al. 2021; the code of the former).
    Dynamic,
}

/// Mean and deviation of a learned network.
pub(crate) struct Belief<'a> {
    state: &'a State,
    features: &'a [f32],
    uncertainty: Uncertainty,
    /// Added to the diagonal to factor the kernel.
    pub(crate) jitter: f64,
}

impl State {
    /// Conditioned on what was told, on what is running, and on `more`.
    pub(crate) fn belief(
        &self,
        features: Features,
        variance: Variance,
        lambda: f64,
        more: &Points,
    ) -> Result<Belief<'_>, Error> {
        let features = match features {
            Features::Static => &self.start[..],
            Features::Dynamic => &self.theta[..],
        };
        let more = self.encoder.encode(more, 0..more.len());
        let x = super::neural::joined(&self.told.data.x, &more);
        let (mut trace, mut signals) = (Trace::default(), Signals::default());
        self.network.forward(features, x.as_ref(), &mut trace);
        self.network.signals(features, &trace, &mut signals);
        // What runs will be as noisy as usual.
        let mut weights = self.told.data.weights.clone();
        weights.resize(x.ncols(), 1.0);
        let (uncertainty, jitter) =
            Uncertainty::new(variance, &self.network, trace, signals, &weights, lambda)?;
        Ok(Belief { state: self, features, uncertainty, jitter })
    }
}

/// What is known of candidates before their variances are.
pub(crate) struct Outlook {
    mean: Vec<f64>,
    /// Deviations without any data, which no data make larger.
    largest_sd: Vec<f64>,
}

impl Belief<'_> {
    fn panels<T: Send>(
        &self,
        points: &Points,
        each: impl Fn(std::ops::Range<usize>, &mut Trace, &mut Signals) -> Vec<T> + Sync,
    ) -> Vec<T> {
        let panel = self.state.network.panel();
        let panels: Vec<Vec<T>> = (0..points.len().div_ceil(panel))
            .into_par_iter()
            .map_init(
                || (Trace::default(), Signals::default()),
                |(trace, signals), i| each(i * panel..((i + 1) * panel).min(points.len()), trace, signals),
            )
            .collect();
        panels.into_iter().flatten().collect()
    }

    /// Means, and bounds of the deviations.
    pub(crate) fn outlook(&self, points: &Points) -> Outlook {
        let State { network, encoder, theta, .. } = self.state;
        let pairs = self.panels(points, |range, trace, signals| {
            let x = encoder.encode(points, range);
            network.forward(theta, x.as_ref(), trace);
            let means: Vec<f64> = trace.output().iter().map(|h| f64::from(*h)).collect();
            if *theta != self.features {
                network.forward(self.features, x.as_ref(), trace);
            }
            network.signals(self.features, trace, signals);
            let norms = network.squared_norms(trace, signals);
            means.into_iter().zip(norms.into_iter().map(|v| f64::from(v).sqrt())).collect()
        });
        let (mean, largest_sd) = pairs.into_iter().unzip();
        Outlook { mean, largest_sd }
    }

    /// Deviations.
    pub(crate) fn deviations(&self, points: &Points) -> Vec<f64> {
        let State { network, encoder, .. } = self.state;
        self.panels(points, |range, trace, signals| {
            let x = encoder.encode(points, range);
            network.forward(self.features, x.as_ref(), trace);
            network.signals(self.features, trace, signals);
            let variances = self.uncertainty.variances(network, trace, signals);
            variances.into_iter().map(|v| f64::from(v).sqrt()).collect()
        })
    }

    /// `mean + nu deviation` at some points.
    pub(crate) fn bounds(&self, points: &Points, nu: f64) -> Vec<f64> {
        let means = self.outlook(points).mean;
        means.into_iter().zip(self.deviations(points)).map(|(mean, sd)| mean + nu * sd).collect()
    }

    /// The largest `mean + weight deviation` among the candidates that `is_free`, if it exceeds `best`, without computing the deviations of those that
    /// cannot be it: they are taken by their bounds, until no bound exceeds the best. Also counts deviations computed.
    fn best(
        &self,
        select: impl Fn(&[usize]) -> Points,
        outlook: &Outlook,
        weights: &[f64],
        is_free: impl Fn(usize) -> bool,
        mut best: f64,
    ) -> (Option<(f64, usize)>, usize) {
        let bound = |i: usize| outlook.mean[i] + weights[i].max(0.0) * outlook.largest_sd[i];
        // What is no number cannot be the best.
        let mut order: Vec<usize> =
            (0..outlook.mean.len()).filter(|i| !bound(*i).is_nan() && is_free(*i)).collect();
        order.sort_by(|&a, &b| bound(b).total_cmp(&bound(a)).then(a.cmp(&b)));
        let (mut found, mut computed) = (None, 0);
        for chunk in order.chunks(CHUNK) {
            if !(bound(chunk[0]) > best) {
                break;
            }
            computed += chunk.len();
            for (&i, sd) in chunk.iter().zip(self.deviations(&select(chunk))) {
                let value = outlook.mean[i] + weights[i] * sd;
                if value.is_finite() && value > best {
                    best = value;
                    found = Some((value, i));
                }
            }
        }
        (found, computed)
    }
}

/// Where to look: candidates, or the rows of a pool, block by block, with what does not change from point to point of a batch.
pub(crate) struct Field {
    /// The candidates; of a pool, rows are encoded as they are needed.
    points: Option<Points>,
    outlooks: Vec<Outlook>,
}

impl Field {
    pub(crate) fn new(
        belief: &Belief<'_>,
        region: &Region<'_>,
        candidates: impl FnOnce() -> Result<Points, MaximizeError>,
    ) -> Result<Self, MaximizeError> {
        let Some(pool) = region.space.as_pool() else {
            let points = candidates()?;
            return Ok(Self { outlooks: vec![belief.outlook(&points)], points: Some(points) });
        };
        let outlook = |begin: usize| {
            let rows = begin..(begin + BLOCK).min(pool.len());
            belief.outlook(&Points::from_columns(pool.dims(), &pool.encoded(rows)))
        };
        Ok(Self { points: None, outlooks: (0..pool.len()).step_by(BLOCK).map(outlook).collect() })
    }

    /// The best point by `mean + weight deviation`; `weight` is called once for each, in order.
    pub(crate) fn best(
        &self,
        belief: &Belief<'_>,
        region: &Region<'_>,
        mut weight: impl FnMut() -> f64,
    ) -> Result<(Maximum, usize), MaximizeError> {
        let pool = region.space.as_pool();
        let point = |i: usize| match (&self.points, pool) {
            (Some(points), _) => points.point(i),
            (None, Some(pool)) => pool.point(i),
            (None, None) => Vec::new(),
        };
        let is_free = |i: usize| match pool {
            Some(_) => !region.is_taken(&[], Some(i)), // rows are known by number
            None => !region.is_taken(&point(i), None),
        };
        let (mut best, mut computed, mut first): (Option<(f64, usize)>, usize, usize) = (None, 0, 0);
        for outlook in &self.outlooks {
            let weights: Vec<f64> = (0..outlook.mean.len()).map(|_| weight()).collect();
            let select = |chunk: &[usize]| {
                let mut points = Points::new(region.space.dims());
                chunk.iter().for_each(|i| points.push(&point(first + i)));
                points
            };
            let least = best.map_or(f64::NEG_INFINITY, |(value, _)| value);
            let (found, more) = belief.best(select, outlook, &weights, |i| is_free(first + i), least);
            computed += more;
            best = found.map(|(value, i)| (value, first + i)).or(best);
            first += outlook.mean.len();
        }
        let work = Work { values: first, gradients: 0 };
        match best {
            Some((value, i)) => Ok((Maximum { x: point(i), row: pool.map(|_| i), value, work }, computed)),
            None if (0..first).any(is_free) => Err(MaximizeError::NotFinite { tried: first }),
            None => Err(MaximizeError::NothingLeft { tried: first }),
        }
    }
}
