//! What strategies with a network share: the data as it takes them, the initial design, and the search for the best point.

use std::num::NonZeroUsize;

use faer::Mat;
use rand::{Rng, SeedableRng};
use serde::{Deserialize, Serialize};

use super::Proposal;
use super::algorithm::AlgorithmError;
use super::choose::Batch;
use super::diagnostics::Diagnostics;
use super::history::{Choice, History};
use super::initial;
use super::memo::{Memo, Units};
use super::model::{Dataset, mean_and_sd};
use crate::acquisition::Acquisition;
use crate::error::Error;
use crate::math::rng::Stream;
use crate::maximize::climb::Climber;
use crate::maximize::grid::{Exhaustive, best_of};
use crate::maximize::multi_start::{MultiStart, top};
use crate::maximize::{Maximize, MaximizeError, Maximum, Region, Work};
use crate::surrogate::neural::draw::TrainingData;
use crate::surrogate::neural::uncertainty_sampling::most_uncertain;
use crate::surrogate::neural::{Encoder, NetworkConfig};
use crate::surrogate::points::Points;

/// Beyond this many evaluations a network is fitted to half as many of them: fits take the cube.
pub(crate) const MAX_POINTS: usize = 8_000;
/// How many of the best evaluations have candidates around them ...
const CENTERS: usize = 3;
/// ... and this many in all.
const AROUND: usize = 600;
/// Rounds of candidates around the best one, where there is no gradient to climb on ...
const ZOOMS: usize = 4;
/// ... and how many in each.
const ZOOMED: usize = 250;
/// Candidates of which the most uncertain become the initial design.
const UNCERTAIN: usize = 2_000;
/// Values beyond this are no longer told apart: 32 bits, squared.
const LARGEST: f64 = 1e15;

/// Where the first points come from.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "kebab-case")]
pub enum Initial {
    /// Scrambled Sobol points, or random rows of a pool.
    #[default]
    Sobol,
    /// Wherever the tangent kernel is most uncertain (Dai et al. 2022, eq. (4)).
    Uncertainty,
}

/// Settings shared by these strategies.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Course<'a> {
    /// The algorithm's name.
    pub(crate) name: &'static str,
    /// The network, for the initial design.
    pub(crate) network: &'a NetworkConfig,
    /// Deviation of the noise, for the same.
    pub(crate) noise: f64,
    /// Where the first points come from ...
    pub(crate) initial: Initial,
    /// ... and how many they are.
    pub(crate) initial_points: Option<usize>,
}

/// A proposal in the making.
pub(crate) struct Progress<'a> {
    pub(crate) history: &'a History,
    pub(crate) memo: Memo,
    pub(crate) batch: Batch<'a>,
    pub(crate) diagnostics: Diagnostics,
    /// Points left to choose by the model.
    pub(crate) left: usize,
}

impl Course<'_> {
    /// Checks the number of candidates.
    pub(crate) fn check_candidates(count: usize) -> Result<(), Error> {
        Self::check("candidates", count as f64, "from 1 to 10 million", (1..=10_000_000).contains(&count))
    }

    /// Checks the range of an option.
    pub(crate) fn check(
        option: &'static str,
        value: f64,
        range: &'static str,
        is_fine: bool,
    ) -> Result<(), Error> {
        if is_fine { Ok(()) } else { Err(AlgorithmError::OutOfRange { option, range, value }.into()) }
    }

    /// The initial design's share of the points asked for.
    pub(crate) fn begin<'a>(
        &self,
        history: &'a History,
        q: Option<NonZeroUsize>,
        rng: &mut Stream,
    ) -> Result<Progress<'a>, Error> {
        // A network that does not fit the space is refused before anything is evaluated.
        self.network.encoder(history.space())?;
        let q = q.map_or(1, NonZeroUsize::get);
        let mut memo = history.memo().clone();
        let mut batch = Batch::new(history);
        let wanted = self.initial_points.unwrap_or_else(|| initial::default_size(history.space().dims()));
        let missing = wanted.saturating_sub(history.len() + history.pending().len());
        let design = if history.values().next().is_none() { q } else { q.min(missing) };
        match self.initial {
            Initial::Sobol => initial::fill(&mut batch, history, design, &mut memo, rng)?,
            Initial::Uncertainty => self.uncertain(&mut batch, history, design, rng)?,
        }
        let diagnostics =
            Diagnostics { algorithm: self.name.into(), design_points: design, ..Diagnostics::default() };
        Ok(Progress { history, memo, batch, diagnostics, left: q - design })
    }

    /// Points where the tangent kernel of a fresh network is most uncertain, given what was told (lately) or is running.
    fn uncertain(
        &self,
        batch: &mut Batch<'_>,
        history: &History,
        count: usize,
        rng: &mut Stream,
    ) -> Result<(), Error> {
        if count == 0 {
            return Ok(());
        }
        let encoder = self.network.encoder(history.space())?;
        let network = self.network.network(encoder.inputs());
        let theta = network.init(rng);
        let told = history.points();
        let mut known = told.slice(told.len().saturating_sub(UNCERTAIN)..told.len());
        history.pending().for_each(|choice| known.push(&choice.x));
        let known = encoder.encode(&known, 0..known.len());
        let mut choices = Vec::new();
        let mut points = Points::new(history.space().dims());
        for _ in 0..UNCERTAIN {
            let choice = match history.space().as_pool() {
                Some(pool) => {
                    let row = usize::try_from(rng.next_u64() % pool.len() as u64).unwrap_or(0);
                    Choice { x: pool.point(row), row: Some(row) }
                }
                None => Choice { x: history.space().sample(rng)?, row: None },
            };
            if !batch.is_taken(&choice) && !choices.contains(&choice) {
                points.push(&choice.x);
                choices.push(choice);
            }
        }
        let x = encoder.encode(&points, 0..points.len());
        let noise = self.noise * self.noise;
        for i in most_uncertain(&network, &theta, known.as_ref(), x.as_ref(), count, noise) {
            batch.push(choices[i].clone(), rng)?;
        }
        while batch.choices.len() < count {
            let choice = batch.random(rng)?;
            batch.push(choice, rng)?;
        }
        Ok(())
    }
}

/// What a network is fitted to, and what its values mean.
pub(crate) struct Told {
    pub(crate) data: TrainingData,
    /// The same points in the unit cube.
    pub(crate) points: Points,
}

impl Told {
    /// All evaluations, or a subset of them if they are too many. Failures stand with the worst value.
    #[expect(clippy::cast_possible_truncation, reason = "networks work with 32 bits")]
    pub(crate) fn new(
        history: &History,
        evaluations: usize,
        encoder: &Encoder,
        standardize: bool,
        noise: f64,
        seed: u64,
        diagnostics: &mut Diagnostics,
    ) -> Self {
        let data = Dataset::new(MAX_POINTS, history, evaluations, seed);
        if let Some(told) = data.subset_of {
            diagnostics.notes.push(format!(
                "the network is fitted to {} of {told} evaluations: all of them would be too slow",
                data.values.len()
            ));
        }
        let (mean, sd) = if standardize { mean_and_sd(&data.values) } else { (0.0, 1.0) };
        let data = data.standardized(&Units { warp: None, mean, sd });
        let usual = noise * noise;
        // Noise that is known counts in place of the usual one; not so little of it that 32 bits would not do.
        let weight =
            |known: &Option<f64>| known.map_or(1.0, |v| (usual / v.max(1e-6)).clamp(1e-12, 1e4) as f32);
        let far = data.values.iter().filter(|y| y.abs() > LARGEST).count();
        if far > 0 {
            diagnostics.notes.push(format!(
                "{far} values beyond {LARGEST:e} count as that much: standardize = true would tell them apart"
            ));
        }
        Self {
            data: TrainingData {
                x: encoder.encode(&data.points, 0..data.points.len()),
                y: data.values.iter().map(|y| y.clamp(-LARGEST, LARGEST) as f32).collect(),
                weights: data.known_noise.iter().map(weight).collect(),
                noise: noise as f32,
            },
            points: data.points,
        }
    }

    /// The points with the best values.
    pub(crate) fn centers(&self) -> Vec<Vec<f64>> {
        let y: Vec<f64> = self.data.y.iter().map(|y| f64::from(*y)).collect();
        top(&y, CENTERS).into_iter().map(|i| self.points.point(i)).collect()
    }
}

impl Progress<'_> {
    /// Adds the point that `find` finds, or a random one if the candidates are used up but the space may not be.
    pub(crate) fn push(
        &mut self,
        found: Result<Maximum, MaximizeError>,
        rng: &mut Stream,
    ) -> Result<&Choice, Error> {
        let maximum = match found {
            Ok(maximum) => maximum,
            Err(MaximizeError::NothingLeft { .. }) => {
                self.diagnostics.duplicates_avoided += 1;
                let choice = self.batch.random(rng)?;
                Maximum { x: choice.x, row: choice.row, value: f64::NAN, work: Work::default() }
            }
            Err(error) => return Err(error.into()),
        };
        self.diagnostics.work += maximum.work;
        Ok(self.batch.push(Choice { x: maximum.x, row: maximum.row }, rng)?)
    }

    /// Where the next point may be.
    pub(crate) fn region(&self) -> Region<'_> {
        self.history.region(&self.batch.taken)
    }

    /// The proposal.
    pub(crate) fn end(mut self) -> Proposal {
        self.diagnostics.duplicates_avoided += self.batch.duplicates_avoided;
        Proposal { choices: self.batch.choices, memo: self.memo, diagnostics: self.diagnostics }
    }
}

/// A set of candidates: uniform ones, and some around the best evaluations.
pub(crate) fn candidates(
    region: &Region<'_>,
    count: usize,
    centers: &[Vec<f64>],
    rng: &mut Stream,
) -> Result<Points, MaximizeError> {
    let mut points = region.sobol(count, rng)?;
    for center in centers {
        let around = region.around(center, AROUND / CENTERS, rng);
        (0..around.len()).for_each(|i| points.push(&around.point(i)));
    }
    Ok(points)
}

/// The maximum of a function: over a pool by looking at every row; elsewhere the best of candidates, from the first `polished` of
/// which it is climbed. Without gradients, candidates close in on the best one.
pub(crate) fn maximize(
    target: &dyn Acquisition,
    region: &Region<'_>,
    count: usize,
    polished: usize,
    differentiable: bool,
    centers: &[Vec<f64>],
    rng: &mut Stream,
) -> Result<Maximum, MaximizeError> {
    if region.space.as_pool().is_some() {
        return Exhaustive.maximize(target, region, rng);
    }
    let points = candidates(region, count, centers, rng)?;
    let values = target.values(&points);
    if polished == 0 {
        return best_of(&values, &points, region);
    }
    if !differentiable {
        return close_in(|points| target.values(points), &values, &points, region, rng);
    }
    let starts = points.select(&top(&values, polished));
    let climbs =
        MultiStart { starts: starts.len(), grid: 0, climber: Climber::default(), only_converged: false };
    let mut best = match climbs.climb_from(target, region, &starts) {
        Ok(best) => best,
        Err(MaximizeError::NothingLeft { .. }) => best_of(&values, &points, region)?,
        Err(error) => return Err(error),
    };
    best.work.values += values.len();
    Ok(best)
}

/// From the best of `points` on: candidates around the best one so far, a few times.
pub(crate) fn close_in(
    mut score: impl FnMut(&Points) -> Vec<f64>,
    values: &[f64],
    points: &Points,
    region: &Region<'_>,
    rng: &mut Stream,
) -> Result<Maximum, MaximizeError> {
    let mut best = best_of(values, points, region)?;
    for _ in 0..ZOOMS {
        let around = region.around(&best.x, ZOOMED, rng);
        if around.is_empty() {
            break;
        }
        if let Ok(next) = best_of(&score(&around), &around, region) {
            best.work += next.work;
            if next.value > best.value {
                best = Maximum { work: best.work, ..next };
            }
        }
    }
    Ok(best)
}

/// A stream of its own for each member, whatever runs beside it.
pub(crate) fn streams(count: usize, rng: &mut Stream) -> Vec<Stream> {
    (0..count).map(|_| Stream::seed_from_u64(rng.next_u64())).collect()
}

/// Columns of one matrix after those of another.
pub(crate) fn joined(left: &Mat<f32>, right: &Mat<f32>) -> Mat<f32> {
    let n = left.ncols();
    let at = |i, j| if j < n { left[(i, j)] } else { right[(i, j - n)] };
    Mat::from_fn(right.nrows(), n + right.ncols(), at)
}
