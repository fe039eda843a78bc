//! What every algorithm promises, checked through a study. Tests call each function for every `Algorithm` and [`Case`].
//!
//! | function                  | promise                                                                          |
//! |---------------------------|----------------------------------------------------------------------------------|
//! | [`suggests_valid_points`] | in bounds, feasible, finite, and never a point that was told, failed or is running |
//! | [`replays`]               | the log alone gives the same next suggestions, bit by bit                        |
//! | [`ignores_threads`]       | so does any number of threads                                                    |
//! | [`survives`]              | failures, NaN, constant, huge and nearly equal values, points never told         |
//! | [`survives_repeats`]      | one point told 200 times                                                         |
//! | [`exhausts`]              | a finite space is suggested to its last point, then `Error::is_exhausted`        |
//!
//! In all of them nothing told gets lost. A broken promise is a panic that names algorithm, case and trial.

use std::collections::BTreeSet;

use noregret::study::{Asked, Event};
use noregret::{Algorithm, Param, Params, Pool, Space, Study, Trial, TrialState, Value};

/// A space to try algorithms on.
#[derive(Clone, Debug)]
pub struct Case {
    /// What is special about it.
    pub name: &'static str,
    /// The space.
    pub space: Space,
}

impl Case {
    /// Two floats.
    pub fn planar() -> Self {
        let space = Space::bounds(&[(-5.0, 10.0), (0.0, 15.0)]);
        Self { name: "two floats", space: valid(space) }
    }

    /// Six floats.
    pub fn six_floats() -> Self {
        Self { name: "six floats", space: valid(Space::bounds(&[(-1.0, 1.0); 6])) }
    }

    /// One parameter of every kind.
    pub fn mixed() -> Self {
        let space = Space::builder()
            .log_float("lr", 1e-5, 1e-1)
            .float("momentum", 0.0, 0.99)
            .int("layers", 1, 8)
            .log_int("batch", 1, 1024)
            .ordinal("width", [32, 64, 128, 256])
            .categorical("act", ["relu", "tanh", "gelu"])
            .bool("bias");
        Self { name: "every kind", space: valid(space.build()) }
    }

    /// 24 points, none of them between others.
    pub fn discrete() -> Self {
        let space = Space::builder().int("n", 1, 4).categorical("c", ["a", "b", "d"]).bool("b");
        Self { name: "24 discrete points", space: valid(space.build()) }
    }

    /// Floats and an integer under two constraints, which leave about a quarter of the box.
    pub fn constrained() -> Self {
        let space = Space::builder()
            .float("x", 0.0, 1.0)
            .float("y", 0.0, 1.0)
            .int("n", 1, 4)
            .constraint("sum", "x + y <= 0.8")
            .constraint("product", "n * x <= 2");
        Self { name: "constrained", space: valid(space.build()) }
    }

    /// A pool of 60 rows, three features each.
    pub fn pool() -> Self {
        // Multiples of the golden ratio and its like: spread evenly, no two rows alike.
        let feature = |i: usize| (i as f64 * [0.618_034, 0.754_878, 0.569_840][i % 3]).fract() * 10.0 - 2.0;
        let pool = Pool::new((0..180).map(feature).collect(), 3);
        Self { name: "pool of 60 rows", space: Space::pool(valid(pool)) }
    }

    /// All of them.
    pub fn all() -> Vec<Self> {
        vec![
            Self::planar(),
            Self::six_floats(),
            Self::mixed(),
            Self::discrete(),
            Self::constrained(),
            Self::pool(),
        ]
    }

    /// One of each character: continuous, mixed, finite.
    pub fn few() -> Vec<Self> {
        vec![Self::planar(), Self::mixed(), Self::pool()]
    }

    /// A smooth objective of order one with its minimum inside, in terms of the unit cube.
    ///
    /// # Panics
    /// When `params` are none of the space.
    pub fn value(&self, params: &Params) -> f64 {
        let u = valid(self.space.encode(params));
        let bowl = |(k, u): (usize, &f64)| {
            let from = u - 0.35 - 0.05 * k as f64;
            from * from + 0.05 * (9.0 * u).sin()
        };
        u.iter().enumerate().map(bowl).sum()
    }
}

fn valid<T, E: std::fmt::Debug>(result: Result<T, E>) -> T {
    result.expect("invariant: the suite's own spaces and calls are valid")
}

/// How an evaluation ends.
#[derive(Clone, Copy, Debug, PartialEq)]
enum Ending {
    Value(f64),
    Noisy(f64, f64),
    Failed,
    /// It is still running when the story is over.
    Left,
}

/// What may happen to a study that is nobody's dream.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Story {
    /// Every third trial fails.
    Failures,
    /// All trials fail.
    OnlyFailures,
    /// NaN and infinities among the values.
    NotFinite,
    /// All values are 0.1, which is no binary fraction: their mean is not quite 0.1.
    Constant,
    /// Values alternate between plus and minus 1e300.
    Huge,
    /// Ordinary values, and late among them one of 1e300.
    OneGiant,
    /// Values differ in their last binary digit only.
    NearlyEqual,
    /// Two of three trials are never told.
    LeftRunning,
    /// Every other value comes with the variance of its noise, from none to the largest that is accepted.
    KnownNoise,
}

impl Story {
    /// All of them.
    pub const ALL: [Self; 9] = [
        Self::Failures,
        Self::OnlyFailures,
        Self::NotFinite,
        Self::Constant,
        Self::Huge,
        Self::OneGiant,
        Self::NearlyEqual,
        Self::LeftRunning,
        Self::KnownNoise,
    ];

    /// How the `i`-th trial ends, whose honest value would be `value`.
    fn ending(self, i: usize, value: f64) -> Ending {
        match self {
            Self::Failures if i % 3 == 1 => Ending::Failed,
            Self::OnlyFailures => Ending::Failed,
            Self::NotFinite if i.is_multiple_of(2) => {
                Ending::Value([f64::NAN, f64::INFINITY, f64::NEG_INFINITY][i / 2 % 3])
            }
            Self::Constant => Ending::Value(0.1),
            Self::Huge => Ending::Value(if i.is_multiple_of(2) { 1e300 } else { -1e300 }),
            // The 19th of 20: by then a model is fitted to the ordinary ones and not yet due for another fit.
            Self::OneGiant if i == 18 => Ending::Value(1e300),
            Self::NearlyEqual => Ending::Value(1.0 + i as f64 * f64::EPSILON),
            Self::LeftRunning if !i.is_multiple_of(3) => Ending::Left,
            Self::KnownNoise if i.is_multiple_of(2) => {
                Ending::Noisy(value, [0.0, 1e-300, 1e-3, 1.0, 1e150][i / 2 % 5])
            }
            _ => Ending::Value(value),
        }
    }
}

/// A study whose every proposal is checked as it is made.
struct Watched<'a> {
    study: Study,
    case: &'a Case,
    label: String,
    /// Every point so far, as text that reads back exactly; a row of a pool by its number.
    seen: BTreeSet<String>,
    /// What each trial must be.
    states: Vec<TrialState>,
}

impl<'a> Watched<'a> {
    fn new(algorithm: &Algorithm, case: &'a Case) -> Self {
        let label = format!("{} on {}", algorithm.name(), case.name);
        let study = revive(algorithm, case, Vec::new());
        Self { study, case, label, seen: BTreeSet::new(), states: Vec::new() }
    }

    fn ask(&mut self, n: usize) -> Vec<Trial> {
        let asked = self.study.ask(n);
        let trials = asked.unwrap_or_else(|e| panic!("{}: trial {}: {e}", self.label, self.states.len()));
        assert_eq!(trials.len(), n, "{}: {n} points asked for", self.label);
        self.check(&trials);
        trials
    }

    /// Checks what was handed out last.
    fn check(&mut self, trials: &[Trial]) {
        let label = &self.label;
        let space = &self.case.space;
        let Some(Event::Asked(Asked { choices, .. })) = self.study.events().last() else {
            panic!("{label}: the last event is not the question");
        };
        assert_eq!(choices.len(), trials.len(), "{label}: as many trials as choices");
        for (trial, choice) in trials.iter().zip(choices) {
            let label = format!("{label}: trial {} at {}", trial.number, trial.params);
            assert_eq!(trial.number, self.states.len() as u64, "{label}: numbers go on");
            assert_eq!(trial.state, TrialState::Running, "{label}");
            assert!(
                choice.x.iter().all(|u| (0.0..=1.0).contains(u)),
                "{label}: outside the cube {:?}",
                choice.x
            );
            if let Some(pool) = space.as_pool() {
                let row = trial.row.unwrap_or_else(|| panic!("{label}: a point of a pool without a row"));
                assert!(row < pool.len(), "{label}: row {row} of {}", pool.len());
                assert_eq!(trial.params, pool.params(row), "{label}: the features of row {row}");
            } else {
                assert_eq!(trial.row, None, "{label}: a row without a pool");
                assert_eq!(trial.params, space.decode(&choice.x), "{label}: what the choice decodes to");
                let mut snapped = choice.x.clone();
                space.snap(&mut snapped);
                assert_eq!(snapped, choice.x, "{label}: not a point of the space");
                assert_eq!(space.violated(&choice.x), None, "{label}: infeasible");
            }
            for (name, param) in space.params() {
                let value = trial.params.get(name).unwrap_or_else(|| panic!("{label}: `{name}` is missing"));
                assert!(admits(param, value), "{label}: `{name}` is out of bounds");
            }
            assert!(self.seen.insert(identity(trial)), "{label}: a repeat");
            self.states.push(TrialState::Running);
        }
    }

    fn end(&mut self, trial: &Trial, ending: Ending) {
        let number = trial.number;
        let tell = |study: &mut Study, value, noise| {
            valid(study.tell_with_noise(number, value, noise));
            if f64::is_finite(value) {
                TrialState::Complete { value, noise_var: noise }
            } else {
                TrialState::Failed { reason: format!("the value is {value}, not a finite number") }
            }
        };
        let state = match ending {
            Ending::Value(value) => tell(&mut self.study, value, None),
            Ending::Noisy(value, noise) => tell(&mut self.study, value, Some(noise)),
            Ending::Failed => {
                valid(self.study.fail(number, "as the story has it"));
                TrialState::Failed { reason: "as the story has it".into() }
            }
            Ending::Left => return,
        };
        self.states[usize::try_from(number).expect("invariant: trials fit into memory")] = state;
    }

    fn tell(&mut self, trial: &Trial) {
        self.end(trial, Ending::Value(self.case.value(&trial.params)));
    }

    /// Nothing was lost on the way, and the study can name a point to use.
    fn close(mut self) {
        let label = self.label;
        let states: Vec<TrialState> = self.study.trials().iter().map(|t| t.state.clone()).collect();
        assert_eq!(states, self.states, "{label}: what became of the trials");
        let any = states.iter().any(|s| matches!(s, TrialState::Complete { .. }));
        let recommended = self.study.recommended().unwrap_or_else(|e| panic!("{label}: recommended: {e}"));
        assert_eq!(recommended.is_some(), any, "{label}: a recommendation if there is a value");
        if let Some(found) = recommended {
            assert!(found.observed.is_some_and(f64::is_finite), "{label}: {found:?}");
            assert!(found.interval.0 <= found.mean && found.mean <= found.interval.1, "{label}: {found:?}");
        }
    }
}

/// The study in which `events` have happened.
fn revive(algorithm: &Algorithm, case: &Case, events: Vec<Event>) -> Study {
    valid(Study::builder().space(case.space.clone()).algorithm(algorithm.clone()).seed(7).replay(events))
}

fn identity(trial: &Trial) -> String {
    trial.row.map_or_else(|| trial.params.to_string(), |row| format!("row {row}"))
}

fn admits(param: &Param, value: &Value) -> bool {
    match (param, value) {
        (Param::Float { low, high, .. }, Value::Float(v)) => low <= v && v <= high,
        (Param::Int { low, high, .. }, Value::Int(v)) => low <= v && v <= high,
        (Param::Ordinal { values: choices } | Param::Categorical { choices }, v) => choices.contains(v),
        (Param::Bool {}, Value::Bool(_)) => true,
        _ => false,
    }
}

/// Batches of several sizes, with trials running and failed meanwhile: all points are valid and none comes twice.
///
/// # Panics
/// If the algorithm breaks the promise.
pub fn suggests_valid_points(algorithm: &Algorithm, case: &Case) {
    let mut watched = Watched::new(algorithm, case);
    let mut running = Vec::new();
    for (i, n) in [1, 3, 1, 4, 1, 1, 5, 1].into_iter().enumerate() {
        running.extend(watched.ask(n));
        // All but the last two are told, newest first.
        while running.len() > 2 {
            let trial = running.remove(running.len() - 3);
            if i % 4 == 2 { watched.end(&trial, Ending::Failed) } else { watched.tell(&trial) }
        }
    }
    watched.close();
}

/// After every few steps, a study revived from the log proposes what the running one does, to the last bit, and leaves
/// the same behind for the proposals after that. Looking ahead by `suggest` changes nothing.
///
/// # Panics
/// If the algorithm breaks the promise.
pub fn replays(algorithm: &Algorithm, case: &Case) {
    let mut watched = Watched::new(algorithm, case);
    let mut running = Vec::new();
    // The large batch makes a running model grow past what a revived one needs; it must not matter.
    for (step, n) in [1, 4, 1, 1, 1, 7, 1, 1, 2, 1].into_iter().enumerate() {
        let mut revived = revive(algorithm, case, watched.study.events().to_vec());
        if step % 3 == 1 {
            let ahead = valid(watched.study.suggest(n));
            assert_eq!(ahead, valid(revived.suggest(n)), "{}: step {step}, looking ahead", watched.label);
        }
        let asked = watched.ask(n);
        assert_eq!(asked, valid(revived.ask(n)), "{}: step {step}, revived", watched.label);
        assert_eq!(watched.study.events().last(), revived.events().last(), "{}: step {step}", watched.label);
        running.extend(asked);
        // Out of order, and one in five fails; two or three stay running.
        while running.len() > 2 + step % 2 {
            let trial = running.remove((7 * step) % running.len());
            if trial.number % 5 == 3 { watched.end(&trial, Ending::Failed) } else { watched.tell(&trial) }
        }
        if step == 6 {
            // A result that came after its trial was given up.
            let failed = watched.study.trials().iter().find(|t| matches!(t.state, TrialState::Failed { .. }));
            if let Some(late) = failed.cloned() {
                watched.tell(&late);
            }
        }
    }
    watched.close();
}

/// One and four threads make the same log.
///
/// # Panics
/// If the algorithm breaks the promise.
pub fn ignores_threads(algorithm: &Algorithm, case: &Case) {
    let run = || {
        let mut watched = Watched::new(algorithm, case);
        for n in [6, 1, 2, 1] {
            for trial in watched.ask(n) {
                watched.tell(&trial);
            }
        }
        watched.study.events().to_vec()
    };
    let on =
        |threads: usize| valid(rayon::ThreadPoolBuilder::new().num_threads(threads).build()).install(run);
    assert_eq!(on(1), on(4), "{} on {}: the logs of 1 and of 4 threads", algorithm.name(), case.name);
}

/// Twenty trials of a `story`: every proposal is valid, and nothing told gets lost.
///
/// # Panics
/// If the algorithm breaks the promise.
pub fn survives(algorithm: &Algorithm, case: &Case, story: Story) {
    let mut watched = Watched::new(algorithm, case);
    watched.label = format!("{}, {story:?}", watched.label);
    // One by one at the end, where the model is: 10 + 2 + 8 trials.
    for n in [10, 2, 1, 1, 1, 1, 1, 1, 1, 1] {
        for trial in watched.ask(n) {
            let i = usize::try_from(trial.number).expect("invariant: trials fit into memory");
            let value = case.value(&trial.params);
            watched.end(&trial, story.ending(i, value));
        }
    }
    watched.ask(2);
    watched.close();
}

/// The same point told 200 times, with different values.
///
/// # Panics
/// If the algorithm breaks the promise.
pub fn survives_repeats(algorithm: &Algorithm, case: &Case) {
    let mut watched = Watched::new(algorithm, case);
    let first = watched.ask(1).remove(0);
    watched.tell(&first);
    for i in 0..199 {
        let value = 1.0 + 1e-3 * f64::from(i);
        valid(match first.row {
            Some(row) => watched.study.add_row(row, value, None),
            None => watched.study.add(&first.params, value, None),
        });
        watched.states.push(TrialState::Complete { value, noise_var: None });
    }
    for n in [1, 2] {
        for trial in watched.ask(n) {
            watched.tell(&trial);
        }
    }
    watched.close();
}

/// A finite space is suggested to its last point and then is exhausted, in batches that do not divide it.
///
/// # Panics
/// If the algorithm breaks the promise, or if the space is not finite.
pub fn exhausts(algorithm: &Algorithm, case: &Case) {
    const BATCH: usize = 7;
    let mut watched = Watched::new(algorithm, case);
    let label = watched.label.clone();
    let feasible = case.space.points().map(Iterator::count);
    let all = case.space.as_pool().map(Pool::len).or(feasible).expect("a finite space");
    while watched.states.len() < all {
        let n = BATCH.min(all - watched.states.len());
        // More is asked for than is left: what is left is handed out.
        let trials = watched.study.ask(BATCH).unwrap_or_else(|e| panic!("{label}: {n} are left, but {e}"));
        assert_eq!(trials.len(), n, "{label}: points left");
        watched.check(&trials);
        for trial in &trials {
            if trial.number % 4 == 3 { watched.end(trial, Ending::Failed) } else { watched.tell(trial) }
        }
    }
    for n in [1, BATCH] {
        let error = watched.study.ask(n).expect_err("nothing is left");
        assert!(error.is_exhausted(), "{label}: {error}");
    }
    watched.close();
}
