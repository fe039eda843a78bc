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
use noregret::maximize::inexact::{Measure, REFERENCE_POINTS, estimate, eta};
use noregret::maximize::solver::Solver;
use noregret::maximize::{Region, Taken, Work};
use noregret::strategy::gp::gp_ts::GpTsConfig;
use noregret::strategy::gp::gp_ucb::GpUcbConfig;
use noregret::strategy::gp::{GpOptions, OnGp};
use noregret::strategy::memo::Fit;
use noregret::surrogate::Surrogate;
use noregret::surrogate::gp::GpConfig;
use noregret::surrogate::gp::posterior::Gp;
use noregret::surrogate::points::Points;
use noregret::{Algorithm, Direction, Error, Space, Study};
use noregret_problems::Problem;

use super::fill::FillSums;
use super::{Setting, TestedSolver, setting};
use crate::BenchError;
use crate::report::Record;

/// Solves of the same bound of which the worst counts, the study's own included.
pub(super) const SOLVES: u16 = 5;
/// Bounds are solved again in every so many rounds, and each such round stands for as many.
const EVERY: usize = 5;

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
            && (!self.with_eta || record.extra.contains_key("m_half"))
    }

    /// Runs it.
    pub(super) fn execute(&self) -> Result<Record, BenchError> {
        let space = Space::bounds(&self.problem.bounds)?;
        let mut observer = Observer::new(&space, self);
        let mut study = Study::builder()
            .space(space.clone())
            .direction(Direction::Minimize)
            .algorithm(self.algorithm())
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
                        let grid = diagnostics.inexactness.as_ref().and_then(|found| found.grid);
                        let mut judged = observer.judge(t, &x, &model.fit, grid)?;
                        if let (true, Some(found)) = (self.draws_paths(), &diagnostics.inexactness) {
                            // The drawn function is known to the study alone, which compared its maxima itself.
                            judged.eta = found.eta_hat;
                        }
                        tally.judged.push(judged);
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

    /// Whether the acquisition function is a function drawn from the posterior.
    fn draws_paths(&self) -> bool {
        self.tested.solver == "gp-ts-theorem-8"
    }

    /// The algorithm as this run wants it.
    fn algorithm(&self) -> Algorithm {
        let (beta, gp) = (self.beta(), self.options());
        if self.draws_paths() {
            Algorithm::GpTs(OnGp { own: GpTsConfig { beta, ..GpTsConfig::default() }, gp })
        } else {
            Algorithm::GpUcb(OnGp { own: GpUcbConfig { beta }, gp })
        }
    }

    /// `beta_t` of section 5.1, or of the theorem.
    fn beta(&self) -> BetaSchedule {
        match self.tested.solver {
            "gp-ucb-theorem-7" => setting::theorem(2),
            "gp-ts-theorem-8" => setting::theorem(3),
            _ => BetaSchedule::SqrtLog,
        }
    }

    /// The side of the box: all are equal.
    fn side(&self) -> f64 {
        self.problem.bounds[0].1 - self.problem.bounds[0].0
    }

    /// The model and the solver of this run.
    fn options(&self) -> GpOptions {
        // The adaptive grid lives on measuring; that belongs to its time. A drawn function can be judged by the study alone. The
        // others are judged from outside.
        let measure = match self.tested.solver {
            "adaptive-grid" => Measure::default(),
            _ if self.draws_paths() && self.with_eta => Measure::Always,
            _ => Measure::Never,
        };
        GpOptions {
            model: setting::model(self.setting, self.side()),
            solver: setting::solver(self.setting, self.tested, self.side(), self.problem.dims()),
            measure,
            initial_points: Some(0),
        }
    }

    /// The authors maximize functions shifted to the maximum 0; this is theirs with its sign turned.
    fn regret(&self, x: &[f64]) -> f64 {
        (self.problem.value(x) - self.problem.minimum).max(0.0)
    }

    fn record(&self, tally: RunTally) -> Record {
        let rounds = self.rounds as f64;
        let mut extra = BTreeMap::from([
            ("strategy".to_owned(), self.algorithm().name().into()),
            ("design".to_owned(), self.design.into()),
            ("values".to_owned(), tally.work.values.into()),
            ("gradients".to_owned(), tally.work.gradients.into()),
            ("likelihoods".to_owned(), tally.likelihoods.into()),
        ]);
        if let Some(grid) = self.tested.grid() {
            extra.insert("grid".into(), grid.into());
        }
        if self.with_eta {
            extra.extend(tally.inexactness());
        }
        if let (true, Some(growth)) = (self.with_eta, setting::growth(self.tested, self.problem.dims())) {
            let mut rng = Seed(self.seed).stream(Purpose::Reference, self.rounds as u64, 0);
            let fill = FillSums::new(growth, self.problem.dims(), self.rounds, &mut rng);
            for (name, value) in [("fill_last", fill.last), ("fill_sum", fill.sum), ("fill_half", fill.half)]
            {
                extra.insert(name.into(), value.into());
            }
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
    judged: Vec<Judged>,
}

impl RunTally {
    /// What the judge found, by name.
    fn inexactness(&self) -> BTreeMap<String, serde_json::Value> {
        let rounds = self.judged.len();
        let sum = |last: usize| self.judged[..last].iter().map(|judged| 1.0 - judged.eta).sum::<f64>();
        let mut found = BTreeMap::from([
            ("eta_hat".to_owned(), (1.0 - sum(rounds) / rounds as f64).into()),
            ("m_hat".to_owned(), sum(rounds).into()),
            ("m_half".to_owned(), sum(rounds / 2).into()),
            ("sum_sd".to_owned(), self.judged.iter().map(|judged| judged.sd).sum::<f64>().into()),
            ("beta_last".to_owned(), self.judged.last().map_or(f64::NAN, |judged| judged.beta).into()),
        ]);
        let worst: Vec<f64> = self.judged.iter().filter_map(|judged| judged.worst).collect();
        if !worst.is_empty() {
            let mean = worst.iter().map(|eta| 1.0 - eta).sum::<f64>() / worst.len() as f64;
            found.insert(format!("m_worst_of_{SOLVES}"), (mean * rounds as f64).into());
        }
        found
    }
}

/// The judgement of one choice.
#[derive(Clone, Copy, Debug)]
struct Judged {
    /// `eta_t` as realised, estimated (section 3.1).
    eta: f64,
    /// The smallest such share among several independent solves of the same bound, in the rounds where it was solved again.
    worst: Option<f64>,
    /// `sigma_{t-1}(x_t)`, in units of the objective.
    sd: f64,
    /// `beta_t`.
    beta: f64,
}

/// Knows what the study was told, and judges its choices.
struct Observer {
    space: Space,
    model: GpConfig,
    solver: Solver,
    beta: BetaSchedule,
    /// Whether the study maximizes the bound, and not a drawn function.
    of_bounds: bool,
    seed: Seed,
    points: Points,
    values: Vec<f64>,
}

impl Observer {
    fn new(space: &Space, run: &InexactRun<'_>) -> Self {
        let GpOptions { model, solver, .. } = run.options();
        Self {
            space: space.clone(),
            model,
            solver,
            beta: run.beta(),
            of_bounds: !run.draws_paths(),
            seed: Seed(run.seed),
            points: Points::new(space.dims()),
            values: Vec::new(),
        }
    }

    fn told(&mut self, x: &[f64], regret: f64) {
        self.points.push(x);
        self.values.push(-regret);
    }

    /// Judges the point `x` chosen in round `t` by the model of this fit. `grid` is the adaptive grid's size.
    fn judge(&self, t: usize, x: &[f64], fit: &Fit, grid: Option<usize>) -> Result<Judged, BenchError> {
        let y: Vec<f64> = self.values.iter().map(|y| fit.units.standardized(*y)).collect();
        let noise = vec![fit.hyperparameters.noise_variance; y.len()];
        let kernel = self.model.fitted_kernel(self.space.kinds(), &fit.hyperparameters);
        let gp = Gp::new(kernel, self.points.clone(), &y, noise).map_err(Error::from)?;
        let dims = self.space.dims();
        let beta =
            self.beta.value(&Round { t, dims, candidates: None, information_gain: gp.information_gain() });
        let variance = gp.marginals(&Points::from_columns(dims, x)).variance[0];
        let mut judged = Judged { eta: f64::NAN, worst: None, sd: variance.sqrt() * fit.units.sd, beta };
        if self.of_bounds {
            let bound = Scored { model: &gp, utility: Utility::Ucb { beta } };
            (judged.eta, judged.worst) = self.shares(t, x, &bound, grid)?;
        }
        Ok(judged)
    }

    /// `eta` of the choice `x` (section 3.1), estimated by a stronger maximization of the same bound; and the smallest one of
    /// [`SOLVES`] independent solves, in every few rounds.
    fn shares(
        &self,
        t: usize,
        x: &[f64],
        bound: &dyn Acquisition,
        grid: Option<usize>,
    ) -> Result<(f64, Option<f64>), BenchError> {
        let none = Taken::default();
        let region = Region { space: &self.space, taken: &none, batch: &none, apart: 0.0 };
        let mut rng = self.seed.stream(Purpose::Reference, t as u64, 0);
        let value = bound.value(x);
        let found =
            estimate(bound, &region, None, (x, value), REFERENCE_POINTS, &mut rng).map_err(Error::from)?;
        let solver = self.solver.build(t, self.space.dims(), grid).filter(|_| t.is_multiple_of(EVERY));
        let Some(solver) = solver else { return Ok((found.eta_hat, None)) };
        let (mut best, mut least) = (found.best, value);
        for item in 1..SOLVES {
            let mut rng = self.seed.stream(Purpose::Reference, t as u64, item);
            let again = solver.maximize(bound, &region, &mut rng).map_err(Error::from)?.value;
            (best, least) = (best.max(again), least.min(again));
        }
        Ok((eta(value, best, found.floor), Some(eta(least, best, found.floor.min(least)))))
    }
}
