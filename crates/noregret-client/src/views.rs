//! What people look at: the answers behind the views of the page and of reports.
//!
//! Long series are columns: the arrays of a struct have the same length unless their description says otherwise. Times in columns are
//! seconds since [`History::begun`]. Where nothing is known yet (too few results), the answer is null.

use std::collections::BTreeMap;

use noregret::{Direction, Params};
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value as Json};

use crate::api::{Counts, Trial};

/// All studies, as cards.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Overview {
    /// One a study, by name.
    pub studies: Vec<StudyCard>,
    /// The server's clock.
    pub time: String,
}

/// A study among others.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct StudyCard {
    /// Its name.
    pub name: String,
    /// Why no more can be said of it, for instance because its candidates are elsewhere.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub problem: Option<String>,
    /// Whether it was put away.
    pub archived: bool,
    /// Whether it hands out nothing for now.
    pub paused: bool,
    /// Words by which studies are grouped, such as the same setting with another seed.
    pub tags: Vec<String>,
    /// Whether small or large values are good.
    pub direction: Direction,
    /// The name of its algorithm.
    pub algorithm: String,
    /// Trials by state.
    pub counts: Counts,
    /// Trials that there are to be in all.
    pub trials: Option<u64>,
    /// Whether all its trials are done.
    pub done: bool,
    /// The best value observed.
    pub best: Option<f64>,
    /// The best value so far, at no more than 40 moments, from first to last.
    pub spark: Vec<f64>,
    /// Who evaluates something at the moment.
    pub workers: Vec<String>,
    /// When something last happened.
    pub last: Option<String>,
    /// The last position of its log.
    pub position: u64,
}

/// Values over time, thinned for a plot.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct History {
    /// The position of the log up to which this goes: follow the events from here.
    pub position: u64,
    /// When the study began.
    pub begun: Option<String>,
    /// Trials in all, by state.
    pub counts: Counts,
    /// Trials that there are to be.
    pub planned: Option<u64>,
    /// Whether only some of the trials that have ended are here: then those that matter (best so far, first, last, extremes) and some
    /// of the others.
    pub thinned: bool,
    /// Numbers of trials that have ended, in the order in which they did.
    pub number: Vec<u64>,
    /// Their place among all that have ended, from 0.
    pub place: Vec<u64>,
    /// Their values; null if they failed.
    pub value: Vec<Option<f64>>,
    /// When they ended.
    pub ended: Vec<f64>,
    /// Places, times and values at which the best so far changed; always complete.
    pub best: Vec<(u64, f64, f64)>,
    /// Trials that run, with the time at which they were handed out, and their workers.
    pub running: Vec<(u64, f64, String)>,
}

/// What could still be gained, at some moments of the study.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Regret {
    /// How many trials had ended.
    pub place: Vec<u64>,
    /// The median, by the model of that moment.
    pub median: Vec<f64>,
    /// The lower end of a 90 % interval.
    pub low: Vec<f64>,
    /// Its upper end.
    pub high: Vec<f64>,
}

/// A part of the trials, filtered and sorted.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Table {
    /// The position of the log up to which this goes.
    pub position: u64,
    /// Trials of the study.
    pub total: u64,
    /// Trials that fit the filter.
    pub matching: u64,
    /// The first of `trials` among those that match, from 0.
    pub from: u64,
    /// The trials, without stderr.
    pub trials: Vec<Trial>,
    /// All names of attributes in the study, for columns.
    pub attrs: Vec<String>,
}

/// The life of a trial, and why its point was chosen.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Story {
    /// The trial.
    pub trial: Trial,
    /// What happened to it, in order.
    pub timeline: Vec<Step>,
    /// Why it was chosen.
    pub why: Why,
}

/// Something that happened to a trial.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Step {
    /// When.
    pub time: String,
    /// What: `asked`, `enqueued`, `added`, `leased`, `released`, `lost`, `retried`, `told`, `failed`, `late`, `replaced` or `noted`.
    pub what: String,
    /// By whom, if that is known.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub worker: Option<String>,
    /// More about it: a reason, a value, a note.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub detail: String,
}

/// Why a point was chosen.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Why {
    /// All of it in a sentence or two.
    pub summary: String,
    /// `design` (first points, before there was a model), `exploration`, `refinement`, `balance` (some of both), `queued` (by a person) or
    /// `added` (a result from elsewhere).
    pub kind: String,
    /// The algorithm.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub algorithm: Option<String>,
    /// What the model of that moment expected there.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub mean: Option<f64>,
    /// Its standard deviation there.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub sd: Option<f64>,
    /// The best mean of an evaluated point at that moment.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub best_mean: Option<f64>,
    /// Expected improvement on that mean, in the units of the values.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub expected_improvement: Option<f64>,
    /// The evaluated point that is nearest in the model's own distance: number, and the correlation of the two values, from 0 to 1.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub nearest: Option<(u64, f64)>,
    /// How exactly the acquisition function was maximized in that round: 1 is exactly.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub eta_hat: Option<f64>,
    /// Points proposed together with it, itself included.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub batch: Option<u64>,
    /// What the proposal says of itself, in words.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub notes: Vec<String>,
}

/// What a map is to show.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct MapOf {
    /// The parameter to the right.
    pub x: String,
    /// The parameter upwards; without one it is a curve.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub y: Option<String>,
    /// The other parameters: `best` (as at the recommended point) or `average` (over all their values).
    #[serde(default = "at_the_best")]
    pub others: String,
    /// Values for some of the other parameters, which take precedence.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    #[cfg_attr(feature = "schema", schemars(with = "BTreeMap<String, noregret::Value>"))]
    pub fixed: BTreeMap<String, noregret::Value>,
    /// Points along each axis, for parameters with more values: from 2 to 200.
    #[serde(default = "resolution")]
    #[cfg_attr(feature = "schema", schemars(range(min = 2, max = 200)))]
    pub resolution: usize,
}

fn at_the_best() -> String {
    "best".into()
}

fn resolution() -> usize {
    48
}

/// What the model expects along one or two parameters.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct SurfaceMap {
    /// To the right.
    pub x: Axis,
    /// Upwards.
    pub y: Option<Axis>,
    /// What the other parameters are fixed at; empty where they are averaged over.
    #[cfg_attr(feature = "schema", schemars(with = "BTreeMap<String, noregret::Value>"))]
    pub fixed: Params,
    /// Means, row by row from the lowest `y`.
    pub mean: Vec<f64>,
    /// Standard deviations: of the value at the point, or of the average.
    pub sd: Vec<f64>,
    /// Places that the constraints rule out, as places of `mean`; only where others are fixed.
    pub infeasible: Vec<u32>,
    /// Trials with a value: number, place on `x` and on `y` (from 0 to 1), value. At most 2,000: the best, and some of the others.
    pub evaluated: Vec<(u64, f64, f64, f64)>,
    /// Trials that wait or run: number, place on `x` and on `y`.
    pub pending: Vec<(u64, f64, f64)>,
    /// Where the recommended point is.
    pub recommended: Option<(u64, f64, f64)>,
}

/// A parameter along an axis.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Axis {
    /// Its name.
    pub name: String,
    /// `float`, `int`, `ordinal`, `categorical`, `bool`, or `feature` of a pool.
    pub kind: String,
    /// Whether places are logarithmic in the values.
    pub log: bool,
    /// The values at which the model was asked.
    #[cfg_attr(feature = "schema", schemars(with = "Vec<noregret::Value>"))]
    pub values: Vec<noregret::Value>,
    /// Their places, from 0 to 1.
    pub places: Vec<f64>,
}

/// What matters.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Importance {
    /// Evaluations behind it.
    pub evaluations: u64,
    /// One a parameter, the most important (in total) first.
    pub parameters: Vec<ImportanceOf>,
    /// The share of variation that single parameters leave to interactions.
    pub interactions: f64,
}

/// How much a parameter matters.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct ImportanceOf {
    /// Its name.
    pub name: String,
    /// The share of the objective's variation that it explains on its own.
    pub first: Share,
    /// The same together with all its interactions.
    pub total: Share,
}

/// A share with its 90 % interval, over what the model holds possible.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Share {
    /// The median.
    pub share: f64,
    /// The lower end.
    pub low: f64,
    /// The upper end.
    pub high: f64,
}

/// Whether the model can be trusted.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Trust {
    /// How the study is, in sentences, the most urgent first.
    pub health: Vec<Remark>,
    /// The model, if there is one.
    pub model: Option<ModelCard>,
    /// Predictions of each value by a model of all the others.
    pub left_out: Option<LeftOut>,
}

/// A sentence about the study.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Remark {
    /// `good`, `note` or `warning`.
    pub level: String,
    /// The sentence, with what to do about it.
    pub text: String,
}

/// The model in words and numbers.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct ModelCard {
    /// Evaluations that it has.
    pub evaluations: u64,
    /// Evaluations with a value in all.
    pub of: u64,
    /// Standard deviation of a single value's noise, by the fit.
    pub noise_sd: f64,
    /// Standard deviation of the values over the space, without noise.
    pub signal_sd: f64,
    /// One a parameter: its name, its length scale as a share of its range, and what that means.
    pub lengthscales: Vec<(String, f64, String)>,
}

/// Leave-one-out predictions.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct LeftOut {
    /// Trials: at most 2,000.
    pub number: Vec<u64>,
    /// What was observed.
    pub value: Vec<f64>,
    /// What a model of the others expects.
    pub mean: Vec<f64>,
    /// Standard deviation of that, noise included.
    pub sd: Vec<f64>,
    /// The share of values inside their 50 %, 90 % and 95 % intervals.
    pub coverage: (f64, f64, f64),
    /// The share of the values' variance that the predictions explain; negative if they are worse than the mean.
    pub explained: f64,
}

/// Who did what, and when.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Workers {
    /// The position of the log up to which this goes.
    pub position: u64,
    /// When the study began.
    pub begun: Option<String>,
    /// Now, in seconds since then.
    pub now: f64,
    /// One each, the latest first.
    pub workers: Vec<Worker>,
    /// The last evaluations, at most 3,000, in the order in which they began.
    pub spans: Vec<Span>,
    /// Whether there were more.
    pub thinned: bool,
    /// Seconds in all: of evaluations, and of thinking.
    pub evaluation_seconds: f64,
    /// Of thinking.
    pub thinking_seconds: f64,
}

/// Who evaluates.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Worker {
    /// The name.
    pub name: String,
    /// Its machine, if its name says so.
    pub host: Option<String>,
    /// Trials that it has.
    pub running: u64,
    /// Evaluations that gave a value.
    pub complete: u64,
    /// Evaluations that failed, retries included.
    pub failed: u64,
    /// Trials that it gave back or lost.
    pub lost: u64,
    /// When it was first seen.
    pub first: f64,
    /// When it was last seen.
    pub last: f64,
    /// Seconds with something to evaluate, from first to last; evaluations at the same time count once.
    pub busy: f64,
}

/// One evaluation, or an attempt at one.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Span {
    /// The trial.
    pub number: u64,
    /// Place of the worker among the workers.
    pub worker: u32,
    /// When it began.
    pub begin: f64,
    /// When it ended; null while it runs.
    pub end: Option<f64>,
    /// `running`, `complete`, `failed`, `retried`, `released` or `lost`.
    pub outcome: String,
}

/// Candidates on a plane.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct PoolPlane {
    /// Candidates in all.
    pub rows: u64,
    /// Candidates that were chosen at least once.
    pub chosen: u64,
    /// The shares of the features' variance that the two axes have.
    pub explained: (f64, f64),
    /// Candidates: at most 3,000, all that were chosen (up to 1,000) and random ones.
    pub row: Vec<u64>,
    /// Their names.
    pub id: Vec<String>,
    /// To the right.
    pub x: Vec<f64>,
    /// Upwards.
    pub y: Vec<f64>,
    /// What the model expects; null if there is none.
    pub mean: Option<Vec<f64>>,
    /// The trial that chose it last; null if none did.
    pub number: Vec<Option<u64>>,
    /// Its value, if it has one.
    pub value: Vec<Option<f64>>,
}

/// A note on a trial or on the study, and tags of the study; at least one of them.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[cfg_attr(feature = "schema", schemars(extend("minProperties" = 1)))]
#[serde(deny_unknown_fields)]
pub struct Annotate {
    /// The note, which takes the place of an earlier one; empty to take it away.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[cfg_attr(feature = "schema", schemars(length(max = 10_000)))]
    pub note: Option<String>,
    /// The study's tags, in place of those that it had; not for trials.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[cfg_attr(feature = "schema", schemars(length(max = 50), inner(length(min = 1, max = 100))))]
    pub tags: Option<Vec<String>>,
}

/// Hand out nothing for now, or go on.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct Pause {
    /// Whether to hand out nothing.
    pub paused: bool,
}

/// A corrected result.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct Replace {
    /// The value; null if the evaluation turns out to have failed.
    #[serde(deserialize_with = "Option::deserialize")]
    pub value: Option<f64>,
    /// Variance of its noise.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub noise_var: Option<f64>,
    /// Why.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    #[cfg_attr(feature = "schema", schemars(length(max = 10_000)))]
    pub reason: String,
}

/// A token, to be exchanged for a cookie.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct Login {
    /// The token.
    pub token: String,
}

/// Who is looking, and at what.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Session {
    /// `read`, `work` or `admin`; `read` where nothing can be changed.
    pub role: String,
    /// The version of noregret.
    pub version: String,
    /// Whether this is a report: nothing is live, and only what is in it can be shown.
    #[serde(default)]
    pub report: bool,
    /// When a report was made.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub made: Option<String>,
    /// Other things that a page may need to know.
    #[serde(default, skip_serializing_if = "Map::is_empty")]
    pub more: Map<String, Json>,
}
