//! Prints how many seconds each of thirty `ask(1)` takes, with 200 evaluations and more in six dimensions:
//! `benchmarks/python/measure.py` asks the same questions through Python, and compares.

use std::sync::Arc;
use std::time::Instant;

use noregret::{Algorithm, Direction, Duplicates, Params, Space};
use noregret_store::{
    Definition, Evaluation, ExternalResult, HandOut, MemoryStore, SharedStudy, SpaceDefinition, Timestamp,
};

const DIMS: usize = 6;

fn sphere(params: &Params) -> f64 {
    params.iter().filter_map(|(_, x)| x.as_f64()).map(|x| (x - 0.3).powi(2)).sum()
}

#[expect(clippy::print_stdout, clippy::disallowed_methods, reason = "printing times is what it is for")]
fn main() -> Result<(), noregret_store::StoreError> {
    let space = Space::bounds(&[(0.0, 1.0); DIMS]).map_err(noregret::Error::from)?;
    let parameters = space.params().map(|(name, param)| (name.to_owned(), param.clone())).collect();
    let definition = Definition {
        version: Definition::VERSION,
        direction: Direction::Minimize,
        seed: 0,
        algorithm: Algorithm::default(),
        duplicates: Duplicates::Avoid,
        trials: None,
        space: SpaceDefinition::Parameters { parameters, constraints: [].into_iter().collect() },
        assignment: None,
    };
    let mut study = SharedStudy::open(Arc::new(MemoryStore::default()), "s", &definition, space.clone())?;
    // Additive recurrences with the square roots of primes: the same points in any language.
    let roots = [2.0_f64, 3.0, 5.0, 7.0, 11.0, 13.0].map(f64::sqrt);
    let point = |i: i32| roots.map(|root| (f64::from(i) * root).fract().into()).to_vec();
    let added = |i| -> Result<ExternalResult, noregret::Error> {
        let params = space.assign(point(i))?;
        Ok(ExternalResult { value: Some(sphere(&params)), params, row: None, noise_var: None })
    };
    let results = (1..=200).map(added).collect::<Result<Vec<_>, _>>()?;
    study.add(&results, Timestamp::now())?;
    let order =
        HandOut { wanted: 1, batch: Some(1), budget: None, worker: "ask".into(), lease: None, request: None };
    for _ in 0..30 {
        let begin = Instant::now();
        let trials = study.hand_out(&order, Timestamp::now())?;
        println!("{}", begin.elapsed().as_secs_f64());
        let outcome = Evaluation::value(sphere(&trials[0].params));
        study.tell(&[(trials[0].number, outcome)], None, Timestamp::now())?;
    }
    Ok(())
}
