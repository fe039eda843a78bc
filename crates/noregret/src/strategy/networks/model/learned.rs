//! One network that learns along with the study.

use rand::{Rng, SeedableRng};

use super::belief::Features;
use super::encoded_history::{EncodedHistory, Preparation};
use super::learning::{Assignment, Learning, Start};
use crate::error::Result;
use crate::math::rng::Stream;
use crate::strategy::diagnostics::Diagnostics;
use crate::strategy::memo::{Neural, Trainings};
use crate::strategy::turn::Turn;
use crate::surrogate::neural::epochs::Learner;
use crate::surrogate::neural::network::{Signals, Trace};
use crate::surrogate::neural::{Encoder, Network, NetworkConfig};

/// The settings of a learning network.
#[derive(Clone, Debug)]
pub(crate) struct LearnedConfig {
    pub(crate) network: NetworkConfig,
    pub(crate) start: Start,
    pub(crate) learning: Learning,
    pub(crate) standardize: bool,
    /// Weight of the distance to the start.
    pub(crate) ridge: f64,
    /// Evaluations that it learns from, at most.
    pub(crate) most: usize,
    /// Whether to add up the squares of gradients as they were when points were chosen, and at which parameters; for warm trainings only.
    pub(crate) accumulate: Option<Features>,
}

/// The network and its cache.
#[derive(Debug)]
pub(crate) struct Learned {
    config: LearnedConfig,
    /// Results of warm trainings: the last two, since a suggestion may be made and not recorded.
    warm: Vec<(Neural, Learner, Vec<f32>)>,
}

/// The network for one history.
pub(crate) struct LearnedNetwork {
    pub(crate) network: Network,
    pub(crate) encoder: Encoder,
    /// Initial parameters.
    pub(crate) start: Vec<f32>,
    /// Trained parameters.
    pub(crate) theta: Vec<f32>,
    pub(crate) told: EncodedHistory,
    /// The squares of the gradients of the points chosen so far, each at the parameters by which it was chosen, or at the initial ones if
    /// features are static; empty unless wanted.
    pub(crate) squares: Vec<f32>,
}

impl Learned {
    pub(crate) fn new(config: LearnedConfig) -> Self {
        Self { config, warm: Vec::new() }
    }

    /// Trains the network on the history; `None` if the turn wants no more points. The memo has the seed of its initial
    /// parameters and, for warm starts, when it was trained.
    pub(crate) fn prepare(&mut self, turn: &mut Turn<'_>) -> Result<Option<LearnedNetwork>> {
        if !turn.wants_more() {
            return Ok(None);
        }
        let history = turn.history;
        let mut neural = known_or_new(turn);
        let LearnedConfig { network, start, learning, standardize, ridge, most, accumulate } = &self.config;
        let encoder = network.encoder(history.space())?;
        let mut own = Stream::seed_from_u64(neural.seed);
        let (network, start) = start.network(network, encoder.inputs(), &mut own);
        // The ridge is the noise variance, in units of the values' variance.
        let noise = ridge.sqrt();
        let how = Preparation { standardize: *standardize, noise, most: *most, seed: neural.seed };
        let told = |n: usize, diagnostics: &mut Diagnostics| {
            EncodedHistory::new(history, n, &encoder, how, diagnostics)
        };
        let teach =
            |k: usize, told: &EncodedHistory, learner: &mut Learner, diagnostics: &mut Diagnostics| {
                let mut rng = Stream::seed_from_u64(neural.seed);
                rng.set_stream(k as u64 + 1);
                let task = Assignment { network: &network, data: &told.data, ridge: *ridge, start: &start };
                learning.teach(task, learner, &mut rng, diagnostics)
            };
        // Points chosen by the parameters `theta`: those told between two trainings. Candidates have gradients at the same parameters (Phan-Trong
        // et al. 2023, Alg. 1, ll. 3 and 7).
        let add_chosen = |theta: &[f32], chosen: std::ops::Range<usize>, squares: &mut [f32]| {
            if let Some(features) = accumulate
                && !chosen.is_empty()
            {
                let theta = if *features == Features::Static { &start[..] } else { theta };
                let x = encoder.encode(history.points(), chosen);
                let (mut trace, mut signals) = (Trace::default(), Signals::default());
                network.forward(theta, x.as_ref(), &mut trace);
                network.signals(theta, &trace, &mut signals);
                network.add_squared_gradients(&trace, &signals, squares);
            }
        };
        let mut squares = if accumulate.is_some() { vec![0.0; network.parameters()] } else { Vec::new() };
        let n = history.len();
        let now = told(n, &mut turn.diagnostics);
        let mut learner = Learner::new(start.clone());
        if learning.is_warm() {
            let mut done = 0;
            if let Some((_, known, seen)) = self.warm.iter().find(|(known, ..)| *known == neural) {
                learner = known.clone();
                squares.clone_from(seen);
                done = neural.trainings.count();
            }
            let mut unsaid = Diagnostics::default();
            let mut last = done.checked_sub(1).and_then(|k| neural.trainings.iter().nth(k));
            for (k, told_then) in neural.trainings.iter().enumerate().skip(done) {
                add_chosen(&learner.theta, last.unwrap_or(told_then)..told_then, &mut squares);
                last = Some(told_then);
                teach(k, &told(told_then, &mut unsaid), &mut learner, &mut unsaid)?;
            }
            let before = (neural.clone(), learner.clone(), squares.clone());
            if neural.trainings.last() != Some(n) {
                add_chosen(&learner.theta, last.unwrap_or(n)..n, &mut squares);
                teach(neural.trainings.count(), &now, &mut learner, &mut turn.diagnostics)?;
                neural.trainings.push(n);
            }
            self.warm = vec![before, (neural.clone(), learner.clone(), squares.clone())];
        } else {
            teach(0, &now, &mut learner, &mut turn.diagnostics)?;
        }
        turn.memo.neural = Some(neural);
        Ok(Some(LearnedNetwork { network, encoder, start, theta: learner.theta, told: now, squares }))
    }
}

/// Returns the network of the memo, or a new one if the history was corrected since.
fn known_or_new(turn: &mut Turn<'_>) -> Neural {
    let history = turn.history;
    let fresh = turn.rng.next_u64();
    let last = turn.memo.neural.take().filter(|neural| {
        neural.revision == history.revision()
            && neural.trainings.last().is_none_or(|told| told <= history.len())
    });
    last.unwrap_or(Neural { seed: fresh, revision: history.revision(), trainings: Trainings::default() })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Space;
    use crate::strategy::history::{Choice, Duplicates, History, Outcome};
    use crate::strategy::memo::Memo;
    use crate::surrogate::neural::epochs::{Epochs, Loss, Optimizer, Toward};

    #[test]
    fn squares_are_those_of_the_parameters_of_the_time() {
        squares_are_defined(Features::Dynamic);
    }

    /// They were those of the trained parameters, and candidates had gradients at others.
    #[test]
    fn squares_of_static_features_are_those_of_the_first_parameters() {
        squares_are_defined(Features::Static);
    }

    /// The definition: each point's gradient at the parameters by which it was chosen (or the first), and none of the first points'. A
    /// strategy without a cache trains again and finds the same.
    fn squares_are_defined(features: Features) {
        let config = LearnedConfig {
            network: NetworkConfig { depth: 1, width: 7, ..NetworkConfig::default() },
            start: Start::Pytorch,
            learning: Learning::Epochs(Epochs {
                method: Optimizer::Sgd,
                rate: 0.05,
                epochs: 10,
                batch: None,
                decay: 0.001,
                toward: Toward::Zero,
                warm: true,
                loss: Loss::MeanSharedDecay,
                shorten: false,
            }),
            standardize: false,
            ridge: 0.001,
            most: 100,
            accumulate: Some(features),
        };
        let mut history = History::new(Space::bounds(&[(0.0, 1.0)]).unwrap(), Duplicates::Avoid);
        let add = |history: &mut History, x: f64| {
            history
                .add(&Choice { x: vec![x], row: None }, Outcome::Value { y: 3.0 * x, noise_variance: None });
        };
        add(&mut history, 0.2);
        add(&mut history, 0.9);
        let mut kept = Learned::new(config.clone());
        let mut expected: Vec<f32> = Vec::new();
        for (round, x) in [0.5, 0.1, 0.7, 0.3].into_iter().enumerate() {
            let prepare = |learned: &mut Learned| {
                let mut rng = Stream::seed_from_u64(round as u64);
                let mut turn = Turn::begin("test", &history, None, &mut rng);
                let network = learned.prepare(&mut turn).unwrap().unwrap();
                (network, turn.memo.clone())
            };
            let (network, memo): (LearnedNetwork, Memo) = prepare(&mut kept);
            let (anew, _) = prepare(&mut Learned::new(config.clone()));
            assert_eq!((&network.theta, &network.squares), (&anew.theta, &anew.squares), "{round}");
            expected.resize(network.theta.len(), 0.0);
            assert_eq!(network.squares, expected, "{round}");
            // The next point is chosen by these parameters.
            let at = network.encoder.encode(&crate::surrogate::points::Points::from_columns(1, &[x]), 0..1);
            let (mut trace, mut signals) = (Trace::default(), Signals::default());
            assert_ne!(network.theta, network.start);
            let theta = if features == Features::Static { &network.start } else { &network.theta };
            network.network.forward(theta, at.as_ref(), &mut trace);
            network.network.signals(theta, &trace, &mut signals);
            network.network.add_squared_gradients(&trace, &signals, &mut expected);
            history.proposed([], memo);
            add(&mut history, x);
        }
        assert!(expected.iter().any(|square| *square > 0.0));
    }
}
