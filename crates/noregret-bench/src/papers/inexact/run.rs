//! One run: a study of the library is asked and told, and an observer of our own judges its choices.
//!
//! The inexactness of every choice is estimated outside the study, on a copy of its model and with a stream of its own, so
//! that neither the choices nor their time depend on it.

use std::collections::BTreeMap;
use std::time::Instant;

use noregret::acquisition::beta::{BetaSchedule, Round};
use noregret::acquisition::utility::Utility;
use noregret::acquisition::{Acquisition, Scored};
use noregret::math::rng::{Purpose, Seed};
use noregret::math::sobol;
use noregret::maximize::inexact::{Measure, REFERENCE_POINTS, estimate};
use noregret::maximize::{Region, Taken, Work};
use noregret::strategy::gp::gp_ucb::GpUcbConfig;
use noregret::strategy::gp::{GpOptions, OnGp};
use noregret::strategy::memo::Fit;
use noregret::surrogate::gp::GpConfig;
use noregret::surrogate::gp::posterior::Gp;
use noregret::surrogate::points::Points;
use noregret::{Algorithm, Direction, Error, Space, Study};
use noregret_problems::Problem;

use super::{Setting, TestedSolver, setting};
use crate::BenchError;
use crate::report::Record;

/// All that determines a run.
#[derive(Clone, Copy, Debug)]
pub(super) struct InexactRun<'a> {
    pub(super) problem: &'a Problem,
    pub(super) initial: usize,
    pub(super) rounds: usize,
    pub(super) setting: Setting,
    pub(super) tested: TestedSolver,
    /// `large` or `small`.
    pub(super) design: &'static str,
    pub(super) run: u32,
    pub(super) seed: u64,
    pub(super) with_eta: bool,
}

impl InexactRun<'_> {
    /// Whether a record is that of this plan, made earlier.
    pub(super) fn is_of(&self, record: &Record) -> bool {
        let text = |key: &str| record.extra.get(key).and_then(serde_json::Value::as_str);
        record.problem == self.problem.name
            && record.algorithm == self.tested.solver
            && (text("grid"), text("design")) == (self.tested.grid(), Some(self.design))
            && (record.seed, record.run) == (self.seed, self.run)
            && (record.rounds, record.evaluations) == (self.rounds, self.initial + self.rounds)
            && (!self.with_eta || record.extra.contains_key("m_hat"))
    }

    /// Runs it.
    pub(super) fn execute(&self) -> Result<Record, BenchError> {
        let config = self.config();
        let space = Space::bounds(&self.problem.bounds)?;
        let mut observer = Observer::new(&space, config.gp.model.clone(), config.own.beta, self.seed);
        let mut study = Study::builder()
            .space(space.clone())
            .direction(Direction::Minimize)
            .algorithm(Algorithm::GpUcb(config))
            .duplicates(setting::duplicates(self.setting))
            .seed(self.seed)
            .build()?;

        let mut tally = RunTally { regret_curve: vec![0.0], best: f64::INFINITY, ..RunTally::default() };
        // The same for all solvers: it depends on the seed alone.
        let mut rng = Seed(self.seed).stream(Purpose::Design, 0, 0);
        for u in sobol::points(space.dims(), self.initial, &mut rng).chunks(space.dims()) {
            let params = space.decode(u);
            let regret = self.regret(&params.iter().filter_map(|(_, v)| v.as_f64()).collect::<Vec<_>>());
            study.add(&params, regret, None)?;
            observer.told(&space.encode(&params)?, regret);
            tally.best = tally.best.min(regret);
        }
        for t in 0..self.rounds {
            let clock = Instant::now();
            let trial = study.ask(1)?.swap_remove(0);
            tally.seconds += clock.elapsed().as_secs_f64();
            let x = space.encode(&trial.params)?;
            if let Some(diagnostics) = study.diagnostics() {
                tally.work += diagnostics.work;
                if let Some(model) = &diagnostics.model {
                    tally.likelihoods += if model.refitted { model.fit.likelihoods } else { 0 };
                    if self.with_eta {
                        tally.eta.push(observer.eta(t, &x, &model.fit)?);
                    }
                }
            }
            let regret = self.regret(&trial.numbers());
            study.tell(trial.number, regret)?;
            observer.told(&x, regret);
            tally.best = tally.best.min(regret);
            tally.regret_curve.push(tally.regret_curve[t] + regret);
        }
        Ok(self.record(tally))
    }

    /// GP-UCB as this run wants it.
    fn config(&self) -> OnGp<GpUcbConfig> {
        let (low, high) = self.problem.bounds[0];
        let side = high - low;
        let TestedSolver { solver, fixed_grid } = self.tested;
        OnGp {
            own: GpUcbConfig { beta: BetaSchedule::SqrtLog },
            gp: GpOptions {
                model: setting::model(self.setting, side),
                solver: setting::solver(self.setting, solver, side, fixed_grid == Some(true)),
                // The adaptive grid lives on measuring; that belongs to its time. The others are judged from outside.
                measure: if solver == "adaptive-grid" { Measure::default() } else { Measure::Never },
                initial_points: Some(0),
            },
        }
    }

    /// The authors maximize functions shifted to the maximum 0; this is theirs with its sign turned.
    fn regret(&self, x: &[f64]) -> f64 {
        (self.problem.value(x) - self.problem.minimum).max(0.0)
    }

    fn record(&self, tally: RunTally) -> Record {
        let rounds = self.rounds as f64;
        let mut extra = BTreeMap::from([
            ("strategy".to_owned(), "gp-ucb".into()),
            ("design".to_owned(), self.design.into()),
            ("values".to_owned(), tally.work.values.into()),
            ("gradients".to_owned(), tally.work.gradients.into()),
            ("likelihoods".to_owned(), tally.likelihoods.into()),
        ]);
        if let Some(grid) = self.tested.grid() {
            extra.insert("grid".into(), grid.into());
        }
        if self.with_eta {
            let m_hat: f64 = tally.eta.iter().map(|eta| 1.0 - eta).sum();
            extra.insert("eta_hat".into(), (1.0 - m_hat / rounds).into());
            extra.insert("m_hat".into(), m_hat.into());
        }
        Record {
            experiment: "inexact".into(),
            setting: self.setting.name().into(),
            problem: self.problem.name.clone(),
            // The experiment compares solvers of one strategy: they are its algorithms.
            algorithm: self.tested.solver.into(),
            run: self.run,
            seed: self.seed,
            batch: 1,
            rounds: self.rounds,
            evaluations: self.initial + self.rounds,
            simple_regret: tally.best,
            cumulative_regret: tally.regret_curve[self.rounds],
            regret_curve: tally.regret_curve,
            seconds_thinking: tally.seconds,
            seconds_per_point: tally.seconds / rounds,
            extra,
        }
    }
}

/// What adds up during a run.
#[derive(Debug, Default)]
struct RunTally {
    regret_curve: Vec<f64>,
    best: f64,
    seconds: f64,
    work: Work,
    likelihoods: usize,
    eta: Vec<f64>,
}

/// Knows what the study was told, and judges its choices.
struct Observer {
    space: Space,
    model: GpConfig,
    beta: BetaSchedule,
    seed: Seed,
    points: Points,
    values: Vec<f64>,
}

impl Observer {
    fn new(space: &Space, model: GpConfig, beta: BetaSchedule, seed: u64) -> Self {
        let points = Points::new(space.dims());
        Self { space: space.clone(), model, beta, seed: Seed(seed), points, values: Vec::new() }
    }

    fn told(&mut self, x: &[f64], regret: f64) {
        self.points.push(x);
        self.values.push(-regret);
    }

    /// `eta` of the point chosen in round `t` by the model of this fit (paper, section 3.1), estimated by a stronger
    /// maximization of the same bound.
    fn eta(&self, t: usize, x: &[f64], fit: &Fit) -> Result<f64, BenchError> {
        let hyperparameters = &fit.hyperparameters;
        let mut kernel = self.model.kernel_for(self.space.kinds());
        kernel.set_parameters(hyperparameters.kernel_parameters.iter().copied());
        kernel.outputscale = hyperparameters.outputscale;
        let y: Vec<f64> = self.values.iter().map(|y| fit.units.standardized(*y)).collect();
        let noise = vec![hyperparameters.noise_variance; y.len()];
        let gp = Gp::new(kernel, self.points.clone(), &y, noise).map_err(Error::from)?;
        let round =
            Round { t, dims: self.space.dims(), candidates: None, information_gain: gp.information_gain() };
        let bound = Scored { model: &gp, utility: Utility::Ucb { beta: self.beta.value(&round) } };
        let none = Taken::default();
        let region = Region { space: &self.space, taken: &none, batch: &none, apart: 0.0 };
        let mut rng = self.seed.stream(Purpose::Reference, t as u64, 0);
        let chosen = (x, bound.value(x));
        let found = estimate(&bound, &region, chosen, REFERENCE_POINTS, &mut rng).map_err(Error::from)?;
        Ok(found.eta_hat)
    }
}
