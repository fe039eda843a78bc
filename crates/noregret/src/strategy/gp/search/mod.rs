//! The common course of the strategies that ask a Gaussian process: initial design, then point after point, each the
//! maximum of a utility on the model conditioned on the points before it.

pub mod draws;
pub mod large_pool;
pub mod trust_region;

use std::num::NonZeroUsize;

use rand::SeedableRng;

use crate::acquisition::beta::{BetaSchedule, Round};
use crate::error::Error;
use crate::math::rng::Stream;
use crate::maximize::climb::{Climber, Within};
use crate::maximize::grid::best_of;
use crate::maximize::inexact::{Estimate, Ledger, Measure, REFERENCE_POINTS, estimate, eta};
use crate::maximize::multi_start::{MultiStart, top};
use crate::maximize::solver::Solver;
use crate::maximize::{MaximizeError, Maximum, Region, Work};
use crate::space::Space;
use crate::strategy::Proposal;
use crate::strategy::diagnostics::{Diagnostics, Inexactness};
use crate::strategy::gp::model::{GpModel, OnModel, State};
use crate::strategy::gp::search::large_pool::LargePool;
use crate::strategy::gp::search::trust_region::TrustRegion;
use crate::strategy::history::{Choice, History};
use crate::strategy::turn::batch::Batch;
use crate::strategy::turn::opening;
use crate::surrogate::gp::candidates::Candidates;

/// Flops that a reference solve's kernel block and triangular solve may cost, about a tenth of a second.
const REFERENCE_FLOPS: usize = 4_000_000_000;

/// Separates the reference's stream from the others that a fit's seed gives rise to; odd, so that rounds do not collide.
const REFERENCE: u64 = 0x5EED_0FEF_EE4C_E001;

/// Settings shared by these strategies.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Course<'a> {
    /// The algorithm's name.
    pub(crate) name: &'static str,
    /// How utilities are maximized.
    pub(crate) solver: &'a Solver,
    /// When that is compared with a reference.
    pub(crate) measure: Measure,
    /// Points before the model is asked.
    pub(crate) initial_points: Option<usize>,
    /// Whether to stay near the best point.
    pub(crate) trust_region: Option<TrustRegion>,
    /// How far points keep apart: see [`Region`].
    pub(crate) apart: f64,
}

impl<'a> Course<'a> {
    pub(crate) fn new(
        name: &'static str,
        solver: &'a Solver,
        measure: Measure,
        initial_points: Option<usize>,
    ) -> Self {
        Self { name, solver, measure, initial_points, trust_region: None, apart: 0.0 }
    }
}

/// Maximizes one utility; handed to the strategy for each point of a batch.
pub(crate) type Solve<'a> = dyn FnMut(&dyn OnModel, &mut Stream) -> Result<Maximum, MaximizeError> + 'a;

/// What a strategy knows when it makes a utility.
pub(crate) struct Situation<'a> {
    /// The model.
    pub(crate) state: &'a State,
    /// Points that the model has chosen before this one.
    pub(crate) t: usize,
    /// Points of this batch that it has chosen before this one.
    pub(crate) i: usize,
    /// How the trust region wants points chosen that need not stay inside, if this is one.
    pub(crate) elsewhere: Option<BetaSchedule>,
}

impl Situation<'_> {
    /// What schedules of confidence weights go by.
    pub(crate) fn round(&self, space: &Space) -> Round {
        Round {
            t: self.t,
            dims: space.dims(),
            candidates: space.cardinality().and_then(|c| usize::try_from(c).ok()),
            information_gain: self.state.gp().information_gain(),
        }
    }
}

/// Where one point is looked for.
#[derive(Clone, Copy)]
struct Place<'a> {
    state: &'a State,
    /// The trust region, if it is this point's turn to stay inside.
    within: Option<&'a Within>,
    region: &'a Region<'a>,
}

/// Runs the course: `pick` makes the utility of one point and calls the solver on it.
pub(crate) fn propose(
    course: Course<'_>,
    model: &mut GpModel,
    history: &History,
    q: Option<NonZeroUsize>,
    rng: &mut Stream,
    mut pick: impl FnMut(&Situation<'_>, &mut Solve<'_>, &mut Stream) -> Result<Maximum, MaximizeError>,
) -> Result<Proposal, Error> {
    let nothing = |_: &mut State, _: usize, _: &mut Diagnostics, _: &mut Stream| Ok(());
    propose_with(course, model, history, q, rng, nothing, |situation, (), solve, rng| {
        pick(situation, solve, rng)
    })
}

/// The same, with something prepared for all points that the model chooses, whose number `prepare` is told.
pub(crate) fn propose_with<T>(
    course: Course<'_>,
    model: &mut GpModel,
    history: &History,
    q: Option<NonZeroUsize>,
    rng: &mut Stream,
    prepare: impl FnOnce(&mut State, usize, &mut Diagnostics, &mut Stream) -> Result<T, Error>,
    mut pick: impl FnMut(&Situation<'_>, &mut T, &mut Solve<'_>, &mut Stream) -> Result<Maximum, MaximizeError>,
) -> Result<Proposal, Error> {
    let q = q.map_or(1, NonZeroUsize::get);
    let mut memo = history.memo().clone();
    let mut batch = Batch::new(history);
    let mut diagnostics = Diagnostics { algorithm: course.name.into(), ..Diagnostics::default() };

    let wanted = course.initial_points.unwrap_or_else(|| opening::default_size(history.space().dims()));
    let missing = wanted.saturating_sub(history.len() + history.pending().len());
    let design = if history.values().next().is_none() { q } else { q.min(missing) };
    opening::fill(&mut batch, history, design, &mut memo, rng)?;
    diagnostics.design_points = design;

    if design < q {
        let candidates = if let Solver::Auto { candidates, .. } = course.solver { *candidates } else { 0 };
        let mut ledger = memo.ledger;
        let (state, model_diagnostics) = model.prepare(history, &mut memo, candidates, rng)?;
        for choice in &batch.choices {
            state.condition(choice);
        }
        // The rows of a pool are all looked at anyway.
        let trust_region = course.trust_region.filter(|_| history.space().as_pool().is_none());
        let first = ledger.rounds;
        let is_inside =
            |i: usize| trust_region.is_some_and(|region| region.is_due(first + i, design + i, history));
        let needed = (0..q - design).any(is_inside);
        let within = trust_region.filter(|_| needed).map(|region| {
            let (within, candidates) = region.around(history, state, rng);
            state.add_fresh(&candidates);
            within
        });
        let mut prepared = prepare(state, q - design, &mut diagnostics, rng)?;
        let mut large_pool =
            history.space().as_pool().filter(|pool| pool.len() > state.kept().len()).map(LargePool::new);
        for i in 0..q - design {
            let within = within.as_ref().filter(|_| is_inside(i));
            let elsewhere = trust_region.filter(|_| within.is_none()).and_then(|region| region.elsewhere);
            let situation = Situation { state, t: ledger.rounds, i, elsewhere };
            let mut solve = |target: &dyn OnModel, rng: &mut Stream| {
                let region = Region { apart: course.apart, ..history.region(&batch.taken) };
                let place = Place { state, within, region: &region };
                solve(target, &course, place, &mut large_pool, &mut ledger, rng)
            };
            let maximum = match pick(&situation, &mut prepared, &mut solve, rng) {
                Ok(maximum) => maximum,
                // The candidates are used up, but the space may not be.
                Err(MaximizeError::NothingLeft { .. }) => {
                    diagnostics.duplicates_avoided += 1;
                    let choice = batch.random(rng)?;
                    Maximum { x: choice.x, row: choice.row, value: f64::NAN, work: Work::default() }
                }
                Err(error) => return Err(error.into()),
            };
            diagnostics.work += maximum.work;
            let choice = batch.push(Choice { x: maximum.x, row: maximum.row }, rng)?.clone();
            state.condition(&choice);
        }
        if let Some(told) = model_diagnostics.subset_of {
            diagnostics.notes.push(format!(
                "the model uses {} of {told} evaluations: an exact Gaussian process on all of them would be too slow",
                model_diagnostics.points
            ));
        }
        diagnostics.inexactness = Inexactness::of(&ledger);
        diagnostics.model = Some(model_diagnostics);
        memo.ledger = ledger;
    }
    diagnostics.duplicates_avoided += batch.duplicates_avoided;
    Ok(Proposal { choices: batch.choices, memo, diagnostics })
}

/// Maximizes `target` by the course's solver and accounts for its inexactness.
fn solve(
    target: &dyn OnModel,
    course: &Course<'_>,
    place: Place<'_>,
    large_pool: &mut Option<LargePool<'_>>,
    ledger: &mut Ledger,
    rng: &mut Stream,
) -> Result<Maximum, MaximizeError> {
    let Place { state, region, .. } = place;
    let mut maximum = solve_once(target, course.solver, place, large_pool, ledger, rng)?;
    let mut measured = None;
    if ledger.is_due(course.measure) {
        let n = state.gp().len().max(1);
        let points = (REFERENCE_FLOPS / (n * n)).clamp(REFERENCE_POINTS / 8, REFERENCE_POINTS);
        // A stream of its own: measuring must not change the points that follow.
        let mut own =
            Stream::seed_from_u64(state.fit().seed ^ REFERENCE.wrapping_mul(ledger.rounds as u64 + 1));
        measured = Some(estimate(target, region, (&maximum.x, maximum.value), points, &mut own)?);
    }
    if let (Solver::AdaptiveGrid { budget, first }, Some(Estimate { best, floor, .. })) =
        (course.solver, measured)
    {
        // Grow the grid until this round fits the budget; the reference stays the same.
        while !ledger.within(eta(maximum.value, best, floor), *budget) && !ledger.is_exhausted() {
            ledger.enlarge(*first);
            let again = solve_once(target, course.solver, place, large_pool, ledger, rng)?;
            maximum.work += again.work;
            if again.value > maximum.value {
                maximum = Maximum { work: maximum.work, ..again };
            }
        }
        measured = measured.map(|e| Estimate { eta_hat: eta(maximum.value, best, floor), ..e });
    }
    ledger.record(measured.map(|e| e.eta_hat));
    if let Solver::AdaptiveGrid { budget, first } = course.solver {
        ledger.relax(*budget, *first);
    }
    Ok(maximum)
}

fn solve_once(
    target: &dyn OnModel,
    solver: &Solver,
    Place { state, within, region }: Place<'_>,
    large_pool: &mut Option<LargePool<'_>>,
    ledger: &Ledger,
    rng: &mut Stream,
) -> Result<Maximum, MaximizeError> {
    let pool = region.space.as_pool();
    let rising = target.utility().filter(|utility| utility.rises_with_deviation());
    if let (Some(rows), Some(utility)) = (large_pool, rising) {
        return rows.best(state.gp(), utility, region);
    }
    match solver {
        // The rows' posterior is at hand.
        _ if pool.is_some_and(|pool| pool.len() == state.kept().len()) => {
            best_of(&target.values_at(state.kept()), state.kept().points(), region)
        }
        Solver::Auto { polished, .. } if pool.is_none() => {
            let found = on_candidates(target, *polished, within, state, region);
            // A small box may hold no level of whole numbers but those that were tried: then look everywhere.
            if found.is_err() && within.is_some() {
                return on_candidates(target, *polished, None, state, region);
            }
            found
        }
        _ => solver
            .build(ledger.rounds, region.space.dims(), ledger.grid, pool.is_some())
            .maximize(target, region, rng),
    }
}

/// The best of the kept and of the fresh candidates, as it is.
fn best_candidate(
    kept: &[f64],
    fresh: &[f64],
    state: &State,
    region: &Region<'_>,
) -> Result<Maximum, MaximizeError> {
    let of_kept = best_of(kept, state.kept().points(), region);
    match (of_kept, best_of(fresh, state.fresh().points(), region)) {
        (Ok(a), Ok(b)) => {
            let mut work = a.work;
            work += b.work;
            Ok(Maximum { work, ..if b.value > a.value { b } else { a } })
        }
        (Ok(one), Err(_)) | (Err(_), Ok(one)) => Ok(one),
        (Err(error), Err(_)) => Err(error),
    }
}

/// Polishes the most promising of the kept and of the fresh candidates.
fn on_candidates(
    target: &dyn OnModel,
    polished: usize,
    within: Option<&Within>,
    state: &State,
    region: &Region<'_>,
) -> Result<Maximum, MaximizeError> {
    let values_at = |candidates: &Candidates| {
        let mut values = target.values_at(candidates);
        if let Some(within) = within {
            for (i, value) in values.iter_mut().enumerate() {
                if !within.contains(&candidates.points().point(i)) {
                    *value = f64::NAN;
                }
            }
        }
        values
    };
    let (kept, fresh) = (values_at(state.kept()), values_at(state.fresh()));
    if polished == 0 {
        return best_candidate(&kept, &fresh, state, region);
    }
    let mut starts = state.kept().points().select(&top(&kept, polished.max(1)));
    for i in top(&fresh, polished.div_ceil(2).max(1)) {
        starts.push(&state.fresh().points().point(i));
    }
    let climbs = MultiStart {
        starts: starts.len(),
        grid: 0,
        climber: Climber { within: within.cloned(), ..Climber::default() },
        only_converged: false,
    };
    let mut best = match climbs.climb_from(target, region, &starts) {
        Ok(best) => best,
        // All of these were tried before: take the best of the rest.
        Err(MaximizeError::NothingLeft { .. }) => best_candidate(&kept, &fresh, state, region)?,
        Err(error) => return Err(error),
    };
    best.work.values += kept.len() + fresh.len();
    Ok(best)
}
