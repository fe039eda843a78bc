//! Maximization of a utility on a Gaussian process, with an estimate of how exact it was.
//!
//! | space                        | where the maximum is looked for                                                   |
//! |------------------------------|-----------------------------------------------------------------------------------|
//! | parameters, solver `auto`    | candidates whose posterior is kept, the best of them polished (`candidates.rs`)    |
//! | parameters, another solver   | wherever that solver looks ([`Solver::build`])                                     |
//! | a pool                       | every row; those of a large one lazily (`large_pool.rs`)                           |

mod candidates;
pub(crate) mod draws;
mod large_pool;
pub mod trust_region;
mod utility;

use rand::SeedableRng;

use crate::acquisition::beta::BetaSchedule;
use crate::math::rng::Stream;
use crate::maximize::climb::Within;
use crate::maximize::grid::{Exhaustive, best_of};
use crate::maximize::inexact::{Estimate, Measure, REFERENCE_POINTS, estimate, eta};
use crate::maximize::solver::Solver;
use crate::maximize::{Maximize, MaximizeError, Maximum, Region};
use crate::strategy::gp::model::GpState;
use crate::strategy::turn::Turn;
use candidates::OnCandidates;
use large_pool::LargePool;
use trust_region::{TrustBox, TrustRegion};
pub use utility::CandidateUtility;

/// Flops that a reference solve's kernel block and triangular solve may cost, about a tenth of a second.
const REFERENCE_FLOPS: usize = 4_000_000_000;

/// Separates the reference's stream from the others that a fit's seed gives rise to; odd, so that rounds do not collide.
const REFERENCE: u64 = 0x5EED_0FEF_EE4C_E001;

/// The search for the points of one turn.
pub(crate) struct Search<'a> {
    solver: &'a Solver,
    /// When the maximization is compared with a reference.
    measure: Measure,
    /// The least distance between points: see [`Region`].
    apart: f64,
    /// Whether the best candidate is climbed from, as far as the solver does.
    climbs: bool,
    trust_box: Option<TrustBox>,
    large_pool: Option<LargePool<'a>>,
}

impl<'a> Search<'a> {
    pub(crate) fn new(solver: &'a Solver, measure: Measure, gp: &GpState, turn: &Turn<'a>) -> Self {
        let pool = turn.history.space().as_pool();
        let large_pool = pool.filter(|pool| pool.len() > gp.kept().len()).map(LargePool::new);
        Self { solver, measure, apart: 0.0, climbs: true, trust_box: None, large_pool }
    }

    /// Points closer than `apart` count as repeats.
    pub(crate) fn apart(self, apart: f64) -> Self {
        Self { apart, ..self }
    }

    /// The best candidate is taken as it is.
    pub(crate) fn at_candidates(self) -> Self {
        Self { climbs: false, ..self }
    }

    /// Adds a trust region, with more candidates near the best point. In a pool all rows are compared anyway.
    pub(crate) fn near_the_best(
        self,
        region: Option<TrustRegion>,
        gp: &mut GpState,
        turn: &mut Turn<'_>,
    ) -> Self {
        let region = region.filter(|_| turn.history.space().as_pool().is_none());
        Self { trust_box: region.map(|region| TrustBox::new(region, gp, turn)), ..self }
    }

    /// The schedule by which the trust region chooses the next point, if that need not stay inside.
    pub(crate) fn elsewhere(&self, turn: &Turn<'_>) -> Option<BetaSchedule> {
        self.trust_box
            .as_ref()
            .filter(|trust| !trust.holds_next(turn))
            .and_then(|trust| trust.region.elsewhere)
    }

    /// Maximizes `target`, a utility on `gp`, and records how exact that was.
    pub(crate) fn maximize(
        &mut self,
        target: &dyn CandidateUtility,
        gp: &GpState,
        turn: &mut Turn<'_>,
    ) -> Result<Maximum, MaximizeError> {
        let mut maximum = self.maximize_once(target, gp, turn)?;
        let mut measured = None;
        if turn.memo.ledger.is_due(self.measure) {
            measured = Some(self.reference(target, gp, turn, &maximum)?);
        }
        if let (Solver::AdaptiveGrid { budget, first }, Some(Estimate { best, floor, .. })) =
            (self.solver, measured)
        {
            // Grow the grid until this round fits the budget; the reference stays the same.
            while !turn.memo.ledger.within(eta(maximum.value, best, floor), *budget)
                && !turn.memo.ledger.is_exhausted()
            {
                turn.memo.ledger.enlarge(*first);
                let again = self.maximize_once(target, gp, turn)?;
                maximum.work += again.work;
                if again.value > maximum.value {
                    maximum = Maximum { work: maximum.work, ..again };
                }
            }
            measured = measured.map(|e| Estimate { eta_hat: eta(maximum.value, best, floor), ..e });
        }
        turn.memo.ledger.record(measured.map(|e| e.eta_hat));
        if let (Solver::AdaptiveGrid { budget, first }, Some(_)) = (self.solver, measured) {
            turn.memo.ledger.relax(*budget, *first);
        }
        Ok(maximum)
    }

    /// Compares a maximum with that of a stronger solver, in the trust region if the maximum had to be there.
    fn reference(
        &self,
        target: &dyn CandidateUtility,
        gp: &GpState,
        turn: &Turn<'_>,
        found: &Maximum,
    ) -> Result<Estimate, MaximizeError> {
        let n = gp.gp().len().max(1);
        let points = (REFERENCE_FLOPS / (n * n)).clamp(REFERENCE_POINTS / 8, REFERENCE_POINTS);
        // A separate stream: measuring must not change the points that follow.
        let round = turn.memo.ledger.rounds as u64 + 1;
        let mut own = Stream::seed_from_u64(gp.fit().seed ^ REFERENCE.wrapping_mul(round));
        let region = Region { apart: self.apart, ..turn.region() };
        let within = box_of_next(self.trust_box.as_ref(), turn);
        estimate(target, &region, within, (&found.x, found.value), points, &mut own)
    }

    fn maximize_once(
        &mut self,
        target: &dyn CandidateUtility,
        gp: &GpState,
        turn: &mut Turn<'_>,
    ) -> Result<Maximum, MaximizeError> {
        let ledger = turn.memo.ledger;
        let within = box_of_next(self.trust_box.as_ref(), turn);
        let (region, rng) = turn.region_and_rng();
        let region = Region { apart: self.apart, ..region };
        if region.space.as_pool().is_some() {
            return Self::best_row(&mut self.large_pool, target, gp, &region, rng);
        }
        if let Some(maximizer) = self.solver.build(ledger.rounds, region.space.dims(), ledger.grid) {
            return maximizer.maximize(target, &region, rng);
        }
        let polished = if self.climbs { self.solver.polished() } else { 0 };
        OnCandidates { target, polished, gp, region: &region }.maximize(within)
    }

    /// The best row of a pool.
    fn best_row(
        large_pool: &mut Option<LargePool<'_>>,
        target: &dyn CandidateUtility,
        gp: &GpState,
        region: &Region<'_>,
        rng: &mut Stream,
    ) -> Result<Maximum, MaximizeError> {
        let rising = target.of_marginals().filter(|utility| utility.rises_with_deviation());
        match (large_pool, rising) {
            (Some(rows), Some(utility)) => rows.best(gp.gp(), utility, region),
            (Some(_), None) => Exhaustive.maximize(target, region, rng),
            // The posterior at the rows is known.
            (None, _) => best_of(&target.values_at(gp.kept()), gp.kept().points(), region),
        }
    }
}

/// The trust region, if the next point has to stay inside.
fn box_of_next<'b>(trust_box: Option<&'b TrustBox>, turn: &Turn<'_>) -> Option<&'b Within> {
    trust_box.filter(|trust| trust.holds_next(turn)).and_then(TrustBox::within)
}
