//! Random spaces, random histories: what holds for all of them.

use noregret::{Algorithm, Param, Space, Study, TrialState, Value};
use proptest::prelude::*;

/// What a user may do next.
#[derive(Clone, Debug)]
enum Step {
    Ask(usize),
    /// Tells the running trial of this place, modulo their number.
    Tell(usize, f64, Option<f64>),
    Fail(usize),
    /// Adds a result at a point of the cube.
    Add(Vec<f64>, f64),
    /// Makes a trial of a point of the cube.
    Enqueue(Vec<f64>),
    Recommend,
}

fn param() -> impl Strategy<Value = Param> {
    prop_oneof![
        (-100.0..100.0_f64, 1e-3..1e3_f64).prop_map(|(low, width)| Param::Float {
            low,
            high: low + width,
            log: false
        }),
        (-9.0..3.0_f64, 0.1..6.0_f64).prop_map(|(low, decades)| {
            let low = 10.0_f64.powf(low);
            Param::Float { low, high: low * 10.0_f64.powf(decades), log: true }
        }),
        (-50..50_i64, 0..100_i64).prop_map(|(low, width)| Param::Int { low, high: low + width, log: false }),
        (1..50_i64, 0..1000_i64).prop_map(|(low, width)| Param::Int { low, high: low + width, log: true }),
        (1..6_u32).prop_map(|k| Param::Ordinal { values: (0..k).map(|i| Value::from(i * i)).collect() }),
        (1..5_u32)
            .prop_map(|k| Param::Categorical { choices: (0..k).map(|i| format!("c{i}").into()).collect() }),
        Just(Param::Bool {}),
    ]
}

fn value() -> impl Strategy<Value = f64> {
    prop_oneof![
        8 => -10.0..10.0_f64,
        1 => prop::sample::select(vec![f64::NAN, f64::INFINITY, 1e300, -1e300, 0.0, 1e-300]),
    ]
}

fn step() -> impl Strategy<Value = Step> {
    let noise = prop_oneof![3 => Just(None), 1 => (0.0..2.0_f64).prop_map(Some)];
    prop_oneof![
        4 => (1..4_usize).prop_map(Step::Ask),
        6 => (any::<usize>(), value(), noise).prop_map(|(i, y, noise)| Step::Tell(i, y, noise)),
        1 => any::<usize>().prop_map(Step::Fail),
        3 => (prop::collection::vec(0.0..1.0_f64, 4), value()).prop_map(|(u, y)| Step::Add(u, y)),
        1 => prop::collection::vec(0.0..1.0_f64, 4).prop_map(Step::Enqueue),
        1 => Just(Step::Recommend),
    ]
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

/// A study and what it must remember.
struct Checked {
    study: Study,
    states: Vec<TrialState>,
}

impl Checked {
    fn take(&mut self, step: Step) -> Result<(), TestCaseError> {
        let running: Vec<usize> =
            (0..self.states.len()).filter(|&i| self.states[i] == TrialState::Running).collect();
        let one = |place: usize| (!running.is_empty()).then(|| running[place % running.len()]);
        match step {
            Step::Ask(n) => self.ask(n)?,
            Step::Tell(place, value, noise_var) => {
                if let Some(i) = one(place) {
                    self.study.tell_with_noise(i as u64, value, noise_var).unwrap();
                    self.states[i] = state(value, noise_var);
                }
            }
            Step::Fail(place) => {
                if let Some(i) = one(place) {
                    self.study.fail(i as u64, "crashed").unwrap();
                    self.states[i] = TrialState::Failed { reason: "crashed".into() };
                }
            }
            Step::Add(u, value) => {
                let params = self.study.space().decode(&u[..self.study.space().dims()]);
                self.study.add(&params, value, None).unwrap();
                self.states.push(state(value, None));
            }
            Step::Enqueue(u) => {
                let params = self.study.space().decode(&u[..self.study.space().dims()]);
                prop_assert_eq!(self.study.enqueue(&params).unwrap().params, params);
                self.states.push(TrialState::Running);
            }
            Step::Recommend => {
                let any = self.states.iter().any(|s| matches!(s, TrialState::Complete { .. }));
                prop_assert_eq!(self.study.recommended().unwrap().is_some(), any);
            }
        }
        let states: Vec<_> = self.study.trials().iter().map(|t| t.state.clone()).collect();
        prop_assert_eq!(&states, &self.states);
        Ok(())
    }

    fn ask(&mut self, n: usize) -> Result<(), TestCaseError> {
        let trials = match self.study.ask(n) {
            Ok(trials) => trials,
            Err(error) => {
                prop_assert!(error.is_exhausted() && self.study.space().cardinality().is_some(), "{}", error);
                return Ok(());
            }
        };
        prop_assert!(trials.len() == n || self.study.space().cardinality().is_some());
        let told = &self.study.trials()[..self.states.len()];
        for (i, trial) in trials.iter().enumerate() {
            for (name, param) in self.study.space().params() {
                prop_assert!(admits(param, trial.params.get(name).unwrap()), "{}", trial.params);
            }
            let repeated = told.iter().chain(&trials[..i]).any(|earlier| earlier.params == trial.params);
            prop_assert!(!repeated, "{} again", trial.params);
            self.states.push(TrialState::Running);
        }
        Ok(())
    }
}

fn state(value: f64, noise_var: Option<f64>) -> TrialState {
    if value.is_finite() {
        TrialState::Complete { value, noise_var }
    } else {
        TrialState::Failed { reason: format!("the value is {value}, not a finite number") }
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 48, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn no_history_breaks_a_study(
        params in prop::collection::vec(param(), 1..5),
        steps in prop::collection::vec(step(), 1..24),
        algorithm in prop::sample::select(Algorithm::all()),
        seed in any::<u64>(),
    ) {
        let named = params.into_iter().enumerate().map(|(i, param)| (format!("p{i}"), param));
        let space = Space::from_params(named, []).unwrap();
        let algorithm = Algorithm::by_name(algorithm.name).unwrap();
        let builder = Study::builder().space(space).algorithm(algorithm).seed(seed);
        let mut checked = Checked { study: builder.clone().build().unwrap(), states: Vec::new() };
        for step in steps {
            checked.take(step)?;
        }
        let mut revived = builder.replay(checked.study.events().to_vec()).unwrap();
        prop_assert_eq!(revived.suggest(1).ok(), checked.study.suggest(1).ok());
    }
}
