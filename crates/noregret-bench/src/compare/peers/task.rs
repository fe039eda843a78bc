//! What is to be minimised, in terms that every contender understands.

use noregret::math::rng::{Purpose, Seed, Stream};
use noregret::{Param, Pool, Space, SpaceError, Value};
use noregret_problems::Problem;
use rand::RngExt;
use serde_json::{Map, Value as Json, json};

use super::name::{Domain, ProblemName};
use crate::report::statistics::standard_deviation;

/// A point: values by name.
pub(crate) type PointJson = Map<String, Json>;

/// Noise of `-noisy` problems, as a share of the deviation of values at random points.
const NOISE: f64 = 0.1;
/// Uniform points by which that is estimated.
const PROBES: usize = 1_000;
/// Whole numbers and categories of `-mixed` and `-categories` problems.
const LEVELS: u32 = 9;
const CHOICES: usize = 4;
/// One coordinate of a problem.
enum Coordinate {
    Float,
    /// `LEVELS` whole numbers, evenly over the range.
    Int,
    /// `CHOICES` categories, each at a place of its own, in no order.
    Category(Vec<f64>),
}

/// A problem, its noise, and how much of it may be evaluated.
pub(crate) struct Task {
    pub(crate) name: String,
    pub(crate) problem: Problem,
    pub(crate) noise: f64,
    pub(crate) batch: usize,
    pub(crate) evaluations: usize,
    /// Size of the initial design.
    pub(crate) initial: usize,
    /// The lowest value there is; of `-mixed` problems that of the function, which their points need not reach.
    pub(crate) minimum: f64,
    axes: Vec<Coordinate>,
    /// The only points, if they are so many.
    pool: Option<Pool>,
}

impl Task {
    /// The problem of this name, which must be one of the experiment's, with its minimum at a place of the seed's.
    pub(crate) fn new(name: &str, batch: usize, evaluations: Option<usize>, seed: u64) -> Self {
        let said = ProblemName::parse(name);
        let problem =
            Problem::by_name(said.function).expect("invariant: all of these are known, see the test");
        let problem = if said.translated { problem.translated(seed) } else { problem.shifted(seed) };
        let dims = problem.dims();
        let mut rng = Seed(seed).stream(Purpose::Experiment, 0, 0);
        let mut probe = || {
            let u: Vec<f64> = (0..dims).map(|_| rng.random()).collect();
            problem.at_unit(&u)
        };
        let values: Vec<f64> = (0..PROBES).map(|_| probe()).collect();
        let noise = if said.noisy { NOISE * standard_deviation(&values) } else { 0.0 };
        let (mixed, only_categories) = (said.domain == Domain::Mixed, said.domain == Domain::Categories);
        let mut axis = |i: usize| {
            if only_categories || mixed && i % 3 == 2 {
                Coordinate::Category((0..CHOICES).map(|_| rng.random()).collect())
            } else if mixed && i % 3 == 1 {
                Coordinate::Int
            } else {
                Coordinate::Float
            }
        };
        let axes: Vec<Coordinate> = (0..dims).map(&mut axis).collect();
        let initial = (2 * dims).clamp(5, 20).max(batch);
        let usual = match dims {
            ..=2 => 30,
            3..=6 => 60,
            7..=20 => 100,
            _ => 150,
        };
        let evaluations = evaluations.unwrap_or_else(|| usual.max(initial + 4 * batch));
        let initial = initial.min(evaluations);
        let pool = match said.domain {
            Domain::Pool { rows } => Some(pool(&problem, rows, &mut rng)),
            _ => None,
        };
        let minimum = match &pool {
            Some(pool) => lowest_row(&problem, pool),
            None if only_categories => lowest_combination(&problem, &axes),
            None => problem.minimum,
        };
        Self { name: name.into(), problem, noise, batch, evaluations, initial, minimum, axes, pool }
    }

    /// Parameters for our own study.
    pub(crate) fn space(&self) -> Result<Space, SpaceError> {
        if let Some(pool) = &self.pool {
            return Ok(Space::pool(pool.clone()));
        }
        let param = |(i, axis): (usize, &Coordinate)| {
            let (low, high) = self.problem.bounds[i];
            let param = match axis {
                Coordinate::Float => Param::Float { low, high, log: false },
                Coordinate::Int => Param::Int { low: 0, high: i64::from(LEVELS) - 1, log: false },
                Coordinate::Category(places) => Param::Categorical {
                    choices: (0..places.len()).map(|c| Value::from(category(c))).collect(),
                },
            };
            (name(i), param)
        };
        Space::from_params(self.axes.iter().enumerate().map(param), [])
    }

    /// Parameters for adapters.
    pub(crate) fn space_json(&self) -> Json {
        let parameter = |(i, axis): (usize, &Coordinate)| {
            let (low, high) = self.problem.bounds[i];
            match axis {
                Coordinate::Float => {
                    json!({"name": name(i), "type": "float", "low": low, "high": high, "log": false})
                }
                Coordinate::Int => {
                    json!({"name": name(i), "type": "int", "low": 0, "high": LEVELS - 1, "log": false})
                }
                Coordinate::Category(places) => {
                    let choices: Vec<String> = (0..places.len()).map(category).collect();
                    json!({"name": name(i), "type": "categorical", "choices": choices})
                }
            }
        };
        self.axes.iter().enumerate().map(parameter).collect()
    }

    /// Whether every coordinate may be any number of its range.
    pub(crate) fn is_continuous(&self) -> bool {
        self.pool.is_none() && self.axes.iter().all(|axis| matches!(axis, Coordinate::Float))
    }

    /// The value at a point, without noise; NaN if it is none.
    pub(crate) fn value(&self, point: &PointJson) -> f64 {
        let x = self.coordinates(point);
        if x.iter().any(|x| x.is_nan()) { f64::NAN } else { self.problem.value(&x) }
    }

    /// Where a point lies in the problem's box; NaN for what it does not say.
    pub(crate) fn coordinates(&self, point: &PointJson) -> Vec<f64> {
        let coordinate = |(i, axis): (usize, &Coordinate)| {
            let (low, high) = self.problem.bounds[i];
            let value = point.get(&name(i));
            let number = value.and_then(Json::as_f64).unwrap_or(f64::NAN);
            match axis {
                Coordinate::Float => number,
                Coordinate::Int => low + (high - low) * number / f64::from(LEVELS - 1),
                Coordinate::Category(places) => {
                    let chosen = (0..places.len()).find(|&c| value == Some(&Json::from(category(c))));
                    chosen.map_or(f64::NAN, |c| low + (high - low) * places[c])
                }
            }
        };
        self.axes.iter().enumerate().map(coordinate).collect()
    }
}

/// Random points of a problem's box.
fn pool(problem: &Problem, rows: usize, rng: &mut Stream) -> Pool {
    let place = |i: usize| {
        let (low, high) = problem.bounds[i % problem.dims()];
        low + (high - low) * rng.random::<f64>()
    };
    let features = (0..rows * problem.dims()).map(place).collect();
    let names = (0..problem.dims()).map(name).collect();
    let pool = Pool::new(features, problem.dims()).and_then(|pool| pool.with_names(names));
    pool.expect("invariant: numbers of a box, and a name for each column")
}

fn lowest_row(problem: &Problem, pool: &Pool) -> f64 {
    let value = |row| {
        let x: Vec<f64> = pool.params(row).iter().filter_map(|(_, x)| x.as_f64()).collect();
        problem.value(&x)
    };
    (0..pool.len()).map(value).fold(f64::INFINITY, f64::min)
}

/// The lowest value among all combinations of categories, counted through: at most a million in ten dimensions.
fn lowest_combination(problem: &Problem, axes: &[Coordinate]) -> f64 {
    let mut u = vec![0.0; axes.len()];
    let mut value = |mut combination: usize| {
        for (u, axis) in u.iter_mut().zip(axes) {
            if let Coordinate::Category(places) = axis {
                *u = places[combination % places.len()];
                combination /= places.len();
            }
        }
        problem.at_unit(&u)
    };
    (0..axes.iter().map(|_| CHOICES).product()).map(&mut value).fold(f64::INFINITY, f64::min)
}

fn name(i: usize) -> String {
    format!("x{i}")
}

fn category(c: usize) -> String {
    format!("c{c}")
}

#[cfg(test)]
mod tests {
    use super::super::name::POOL;
    use super::super::suite::problems;
    use super::*;

    #[test]
    fn our_space_and_that_of_adapters_are_the_same() {
        for problem in problems() {
            let task = Task::new(problem, 5, None, 3);
            let space = task.space().unwrap();
            let json = task.space_json();
            assert_eq!(json.as_array().unwrap().len(), space.dims(), "{problem}");
            let mut rng = Seed(1).stream(Purpose::Experiment, 0, 0);
            for _ in 0..20 {
                let params = space.decode(&space.sample(&mut rng).unwrap());
                let Json::Object(point) = serde_json::to_value(&params).unwrap() else { panic!() };
                assert!(task.value(&point) >= task.problem.minimum - 1e-9, "{problem} at {params}");
            }
            assert!(task.value(&PointJson::new()).is_nan());
            let said = ProblemName::parse(problem);
            assert_eq!((task.noise > 0.0, task.is_continuous()), (said.noisy, said.domain == Domain::Box));
        }
    }

    /// Where only some points are left, the best of them is what can be found.
    #[test]
    fn the_best_row_of_a_pool_has_no_regret() {
        let task = Task::new("hartmann-6d-pool", 20, None, 3);
        let space = task.space().unwrap();
        let pool = space.as_pool().unwrap();
        let point = |row| match serde_json::to_value(pool.params(row)).unwrap() {
            Json::Object(point) => point,
            _ => panic!(),
        };
        let best = (0..pool.len()).map(|row| task.value(&point(row))).fold(f64::INFINITY, f64::min);
        assert_eq!((pool.len(), best.to_bits(), task.is_continuous()), (POOL, task.minimum.to_bits(), false));
        assert!(task.minimum > task.problem.minimum);
    }

    #[test]
    fn the_best_combination_has_no_regret() {
        let task = Task::new("rosenbrock-5d-categories", 5, None, 3);
        let point = |mut combination: usize| {
            let choice = |i| {
                let c = combination % CHOICES;
                combination /= CHOICES;
                (name(i), Json::from(category(c)))
            };
            (0..5).map(choice).collect::<PointJson>()
        };
        let best = (0..CHOICES.pow(5)).map(|c| task.value(&point(c))).fold(f64::INFINITY, f64::min);
        // Two ways to the same coordinates, which may round differently.
        assert!((best / task.minimum - 1.0).abs() < 1e-9, "{best} {}", task.minimum);
        assert!(best > task.problem.minimum && !task.is_continuous());
    }

    #[test]
    fn beyond_their_box_these_functions_are_not_lower() {
        let mut rng = Seed(1).stream(Purpose::Experiment, 0, 0);
        for name in problems().into_iter().filter(|name| ProblemName::parse(name).translated) {
            for seed in 0..20 {
                let problem = Task::new(name, 1, None, seed).problem;
                for _ in 0..200 {
                    let u: Vec<f64> = (0..problem.dims()).map(|_| rng.random()).collect();
                    assert!(problem.at_unit(&u) >= problem.minimum - 1e-9, "{name}, seed {seed}, {u:?}");
                }
            }
        }
    }

    #[test]
    fn minima_are_elsewhere_in_every_run() {
        let at = |seed| Task::new("ackley-10d", 1, None, seed).problem.minimizers[0].clone();
        assert_ne!(at(0), at(1));
        assert_eq!(at(1), at(1));
    }

    #[test]
    fn there_is_room_for_batches_after_the_design() {
        for batch in [1, 5, 20] {
            for problem in problems() {
                let task = Task::new(problem, batch, None, 0);
                assert!(task.evaluations >= task.initial + 4 * batch, "{problem}");
            }
        }
    }
}
