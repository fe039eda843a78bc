//! One network that learns along with the study.

use rand::{Rng, SeedableRng};

use super::encoded_history::{EncodedHistory, Preparation};
use super::learning::{Assignment, Learning, Start};
use crate::error::Result;
use crate::math::rng::Stream;
use crate::strategy::diagnostics::Diagnostics;
use crate::strategy::memo::{Neural, Trainings};
use crate::strategy::turn::Turn;
use crate::surrogate::neural::epochs::Learner;
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
}

/// The network and its cache.
#[derive(Debug)]
pub(crate) struct Learned {
    config: LearnedConfig,
    /// Results of warm trainings: the last two, since a suggestion may be made and not recorded.
    warm: Vec<(Neural, Learner)>,
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
        let LearnedConfig { network, start, learning, standardize, ridge, most } = &self.config;
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
        let n = history.len();
        let now = told(n, &mut turn.diagnostics);
        let mut learner = Learner::new(start.clone());
        if learning.is_warm() {
            let mut done = 0;
            if let Some((_, known)) = self.warm.iter().find(|(known, _)| *known == neural) {
                learner = known.clone();
                done = neural.trainings.count();
            }
            let mut unsaid = Diagnostics::default();
            for (k, told_then) in neural.trainings.iter().enumerate().skip(done) {
                teach(k, &told(told_then, &mut unsaid), &mut learner, &mut unsaid)?;
            }
            let before = (neural.clone(), learner.clone());
            if neural.trainings.last() != Some(n) {
                teach(neural.trainings.count(), &now, &mut learner, &mut turn.diagnostics)?;
                neural.trainings.push(n);
            }
            self.warm = vec![before, (neural.clone(), learner.clone())];
        } else {
            teach(0, &now, &mut learner, &mut turn.diagnostics)?;
        }
        turn.memo.neural = Some(neural);
        Ok(Some(LearnedNetwork { network, encoder, start, theta: learner.theta, told: now }))
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
