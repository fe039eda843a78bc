//! How inexactly the utility was maximized, and what that adds up to.
//!
//! # Notation
//! (Kim et al. 2025, section 3.1 and App. A.2.)
//!
//! | paper      | here      | meaning                                                                            |
//! |------------|-----------|------------------------------------------------------------------------------------|
//! | `alpha_t`  | utility   | made non-negative by subtracting its smallest value over the reference points      |
//! | `alpha_t*` | `best`    | its maximum: unknown, so the best of a stronger reference solve and the chosen point |
//! | `eta_t`    | `eta_hat` | `alpha_t(x_t) / alpha_t*`, in [0, 1]                                               |
//! | `M_T`      | `m_hat`   | `sum_t (1 - eta_t)`                                                                |
//!
//! # Departures
//! `eta` depends on the shift; ours is named [`SHIFT`]. The reference is solved on a schedule, and rounds in between take
//! over the last estimate. The adaptive grid is the "adaptive inexact optimization" that section 6 leaves open: it
//! doubles when the accumulated inexactness exceeds `budget * sqrt(t)` and shrinks while it is below half of that.

use serde::{Deserialize, Serialize};

use super::climb::Climber;
use super::multi_start::{MultiStart, top};
use super::{MaximizeError, Region};
use crate::acquisition::Acquisition;
use crate::math::rng::Stream;

/// The name of the shift that makes utilities non-negative.
pub const SHIFT: &str = "minimum over the reference points";

/// Points of a full reference solve.
pub const REFERENCE_POINTS: usize = 2_048;
/// Climbs from the best of them: twice as many as the default solver's.
const REFERENCE_CLIMBS: usize = 8;
/// The adaptive grid is never smaller or larger than this.
const GRID_RANGE: (usize, usize) = (16, 1 << 20);

/// When the reference is solved.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "kebab-case")]
pub enum Measure {
    /// Never: no estimate.
    Never,
    /// On a schedule, rarer as rounds go by.
    #[default]
    Scheduled,
    /// In every round.
    Always,
}

/// The accumulated inexactness of a study so far.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Ledger {
    /// Rounds accounted for.
    pub rounds: usize,
    /// Rounds in which the reference was solved.
    pub measured: usize,
    /// The last estimate of `eta`.
    pub eta_hat: Option<f64>,
    /// The sum of `1 - eta`.
    pub m_hat: f64,
    /// The round from which on the reference is to be solved again.
    pub next: usize,
    /// The adaptive grid's size.
    pub grid: Option<usize>,
}

/// One comparison with a reference.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Estimate {
    /// The estimate of `eta`.
    pub eta_hat: f64,
    /// The largest utility known.
    pub best: f64,
    /// The smallest utility over the reference points: the shift.
    pub floor: f64,
}

/// Compares the utility `value` of a chosen point `x` with a stronger solve of the same problem: climbs from the best
/// of `points` Sobol points and from `x` itself.
pub fn estimate(
    utility: &dyn Acquisition,
    region: &Region<'_>,
    (x, value): (&[f64], f64),
    points: usize,
    rng: &mut Stream,
) -> Result<Estimate, MaximizeError> {
    // Over a pool the choice was exhaustive: there is nothing stronger.
    if region.space.as_pool().is_some() {
        return Ok(Estimate { eta_hat: 1.0, best: value, floor: value });
    }
    let grid = region.sobol(points, rng)?;
    let values = utility.values(&grid);
    let floor = values.iter().copied().filter(|v| v.is_finite()).fold(value, f64::min);
    let mut starts = grid.select(&top(&values, REFERENCE_CLIMBS));
    starts.push(x);
    let reference =
        MultiStart { starts: starts.len(), grid: 0, climber: Climber::default(), only_converged: false };
    let best = reference.climb_from(utility, region, &starts).map_or(value, |m| m.value.max(value));
    Ok(Estimate { eta_hat: eta(value, best, floor), best, floor })
}

/// `(value - floor) / (best - floor)`, 1 where the utility is flat, 0 for a utility of minus infinity beside others.
pub fn eta(value: f64, best: f64, floor: f64) -> f64 {
    if value >= best {
        return 1.0;
    }
    let range = best - floor;
    if range.is_finite() { ((value - floor) / range).clamp(0.0, 1.0) } else { 0.0 }
}

impl Ledger {
    /// Whether this round's maximization is to be compared with a reference.
    pub fn is_due(&self, measure: Measure) -> bool {
        match measure {
            Measure::Never => false,
            Measure::Scheduled => self.rounds >= self.next.max(1),
            Measure::Always => true,
        }
    }

    /// Accounts for a round; `estimate` if it was measured.
    pub fn record(&mut self, estimate: Option<f64>) {
        if let Some(eta) = estimate {
            self.eta_hat = Some(eta);
            self.measured += 1;
            // Rounds 1, 2, 4, 8, ...: the reference costs several suggestions, a logarithmic number of them little.
            self.next = 2 * self.rounds.max(1);
        }
        self.m_hat += 1.0 - self.eta_hat.unwrap_or(1.0);
        self.rounds += 1;
    }

    /// Whether a round with this estimate would keep the sum below `budget * sqrt(t)`.
    pub fn within(&self, eta: f64, budget: f64) -> bool {
        self.m_hat + 1.0 - eta <= budget * ((self.rounds + 1) as f64).sqrt()
    }

    /// The adaptive grid for the next try: twice as large if this round's solution was not good enough.
    pub fn enlarge(&mut self, first: usize) {
        self.grid = Some((2 * self.grid.unwrap_or(first)).min(GRID_RANGE.1));
    }

    /// A quarter less while less than half of the budget is used.
    pub fn relax(&mut self, budget: f64, first: usize) {
        let grid = self.grid.unwrap_or(first);
        let used = self.m_hat / (budget * (self.rounds.max(1) as f64).sqrt());
        self.grid = Some(if used < 0.5 { (grid * 3 / 4).max(GRID_RANGE.0) } else { grid });
    }

    /// Whether the adaptive grid cannot grow any more.
    pub fn is_exhausted(&self) -> bool {
        self.grid == Some(GRID_RANGE.1)
    }
}
