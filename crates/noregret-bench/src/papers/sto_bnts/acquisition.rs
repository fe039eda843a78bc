//! Figures 1a to 1c: what the methods draw, given a few values of the function with a gap between them. A method explores as far as
//! its functions differ within the gap.

use std::fmt::Write as _;

use noregret::math::cholesky::NotPositiveDefinite;
use noregret::math::rng::{Purpose, Seed, Stream};
use noregret::surrogate::neural::draw::{Draw, Sampler, TrainingData};
use noregret::surrogate::points::Points;
use noregret::{Algorithm, Space};
use rayon::prelude::*;

use super::problem::{drawn, grid};
use super::{Setting, setting};
use crate::report::claim::Verdict;
use crate::report::statistics::{mean, standard_deviation};
use crate::report::table::compact;
use crate::report::{LinePanel, LinePlot, Point, Record, Series, Table};
use crate::{BenchError, Output};

/// The methods of the figures, in their order.
const METHODS: [&str; 3] = ["deep-ensemble", "sto-bnts", "linear"];
/// Under which records are kept.
const PROBLEM: &str = "acquisition";
/// Functions drawn by each.
const COUNT: usize = 100;
/// Rows of the grid whose values are known: none in [0.2, 0.4]. The paper's are not printed.
const KNOWN: [usize; 10] = [10, 60, 110, 160, 195, 410, 500, 620, 780, 950];
const GAP: (f64, f64) = (0.2, 0.4);
/// Every so many points of the grid are drawn.
const EVERY: usize = 5;

/// What a method is asked: given values at `inputs`, draw functions on `grid`.
struct Question {
    inputs: Vec<f64>,
    values: Vec<f64>,
    grid: Vec<f64>,
    seed: u64,
}

impl Question {
    fn new(seed: u64) -> Self {
        let (all, function) = (grid(), drawn(seed));
        Self {
            inputs: KNOWN.iter().map(|&row| all[row]).collect(),
            values: KNOWN.iter().map(|&row| function[row]).collect(),
            grid: all.into_iter().step_by(EVERY).collect(),
            seed,
        }
    }
}

/// `count` acquisition functions of a method, each by its values on the grid.
fn acquisition_functions(
    setting: Setting,
    method: &str,
    question: &Question,
    count: usize,
) -> Result<Vec<Vec<f64>>, BenchError> {
    type Drawn = Result<Draw, NotPositiveDefinite>;
    let algorithm = setting::algorithm(setting, setting::variant(method), "synthetic")?;
    let (network, noise, standardize, training, perturb, beta) = match &algorithm {
        Algorithm::StoBnts(c) | Algorithm::StoBntsLinear(c) => {
            (&c.fit.network, c.fit.noise, c.fit.standardize, c.training, c.perturb, c.beta)
        }
        Algorithm::DeepEnsemble(c) => {
            (&c.fit.network, c.fit.noise, c.fit.standardize, c.training, c.perturb, 1.0)
        }
        other => {
            return Err(BenchError::NotAvailable { what: format!("drawing functions by {}", other.name()) });
        }
    };
    let encoder = network.encoder(&Space::bounds(&[(0.0, 1.0)])?).map_err(noregret::Error::from)?;
    let network = network.network(encoder.inputs());
    let n = question.inputs.len();
    let (shift, scale) =
        if standardize { (mean(&question.values), standard_deviation(&question.values)) } else { (0.0, 1.0) };
    #[expect(clippy::cast_possible_truncation, reason = "networks work with 32 bits")]
    let data = TrainingData {
        x: encoder.encode(&Points::from_columns(1, &question.inputs), 0..n),
        y: question.values.iter().map(|y| ((y - shift) / scale) as f32).collect(),
        weights: vec![1.0; n],
        noise: noise as f32,
    };
    #[expect(clippy::cast_possible_truncation, reason = "networks work with 32 bits")]
    let sampler = Sampler { network, encoder, training, beta: beta as f32, perturb };
    let grid = Points::from_columns(1, &question.grid);
    let draw = |rng: &mut Stream| -> Drawn {
        match &algorithm {
            Algorithm::StoBnts(_) => sampler.sto_bnts(&data, rng),
            Algorithm::StoBntsLinear(_) => sampler.sto_bnts_linear(&data, rng),
            Algorithm::DeepEnsemble(c) => sampler.ensemble_member(&data, c.regularize, rng),
            _ => unreachable!("the others were refused above"),
        }
    };
    (0..count)
        .into_par_iter()
        .map(|i| {
            let mut rng = Seed(question.seed).stream(Purpose::Path, i as u64, 0);
            let drawn = draw(&mut rng).map_err(noregret::Error::from)?;
            Ok(drawn.values(&grid).into_iter().map(|value| shift + scale * value).collect())
        })
        .collect()
}

pub(super) fn report(setting: Setting, seed: u64, output: &mut Output<'_>) -> Result<(), BenchError> {
    let question = Question::new(seed);
    let mut answers = Vec::new();
    for method in METHODS {
        let same = |record: &Record| {
            (record.problem.as_str(), record.algorithm.as_str(), record.seed) == (PROBLEM, method, seed)
                && record.setting == setting.name()
        };
        let mut functions = Vec::new();
        output.obtain(same, || {
            functions = acquisition_functions(setting, method, &question, COUNT)?;
            Ok(record(setting, method, seed, spread(&question, &functions)))
        })?;
        answers.push((method, functions));
    }
    let records: Vec<Record> =
        output.records().iter().filter(|record| record.problem == PROBLEM).cloned().collect();
    let mut text = format!(
        "Figures 1a to 1c. Setting {}: {COUNT} functions by each method, given {} values outside [{}, {}]\n",
        setting.name(),
        question.inputs.len(),
        GAP.0,
        GAP.1,
    );
    let _ = writeln!(text, "{}", spreads(&records));
    text += &verdict(&records);
    output.text(text)?;
    // Functions of earlier runs are not kept.
    answers.retain(|(_, functions)| !functions.is_empty());
    if output.wants_figures() && !answers.is_empty() {
        output.figure("acquisition", &figure(&question, &answers).to_svg()?)?;
    }
    Ok(())
}

fn record(setting: Setting, method: &str, seed: u64, (within, outside): (f64, f64)) -> Record {
    let extra = [("sd_in_gap".to_owned(), within.into()), ("sd_elsewhere".to_owned(), outside.into())].into();
    Record {
        experiment: "sto-bnts".into(),
        setting: setting.name().into(),
        problem: PROBLEM.into(),
        algorithm: method.into(),
        seed,
        extra,
        ..Record::default()
    }
}

/// The deviation in the gap, mean over the seeds; NaN for a method that was not asked.
pub(super) fn sd_in_gap(records: &[Record], method: &str) -> f64 {
    let of = |record: &&Record| record.problem == PROBLEM && record.algorithm == method;
    mean(&records.iter().filter(of).map(|record| record.extra_number("sd_in_gap")).collect::<Vec<_>>())
}

/// "Our STO-BNTS and STO-BNTS-Linear display more exploratory behaviours in unexplored regions (e.g. [0.2, 0.4])".
fn verdict(records: &[Record]) -> String {
    let [ensemble, sampled, linear] = METHODS.map(|method| sd_in_gap(records, method));
    let word = Verdict::count([sampled, linear].iter().filter(|sd| **sd > ensemble).count(), 2);
    format!(
        "Verdict on Figures 1a to 1c (both methods explore the gap more than the ensemble): {word}; in multiples of its deviation, sto-bnts \
         {}, linear {}.\n",
        compact(sampled / ensemble),
        compact(linear / ensemble)
    )
}

/// Mean and deviation over the functions, at every point of the grid.
fn band(grid: &[f64], functions: &[Vec<f64>]) -> Vec<Point> {
    let point = |(i, &x): (usize, &f64)| {
        let values: Vec<f64> = functions.iter().map(|function| function[i]).collect();
        Point { x, mean: mean(&values), sd: standard_deviation(&values) }
    };
    grid.iter().enumerate().map(point).collect()
}

/// How much the functions of a method differ, within the gap and elsewhere.
fn spread(question: &Question, functions: &[Vec<f64>]) -> (f64, f64) {
    let (within, outside): (Vec<Point>, Vec<Point>) =
        band(&question.grid, functions).into_iter().partition(|point| (GAP.0..=GAP.1).contains(&point.x));
    let spread = |points: &[Point]| mean(&points.iter().map(|point| point.sd).collect::<Vec<_>>());
    (spread(&within), spread(&outside))
}

fn spreads(records: &[Record]) -> Table {
    let mut table = Table::new(["method", "sd in the gap", "sd elsewhere", "ratio"]);
    for record in records {
        let (within, outside) = (record.extra_number("sd_in_gap"), record.extra_number("sd_elsewhere"));
        table.row([record.algorithm.clone(), compact(within), compact(outside), compact(within / outside)]);
    }
    table
}

fn figure(question: &Question, answers: &[(&str, Vec<Vec<f64>>)]) -> LinePlot {
    let panel = |(method, functions): &(&str, Vec<Vec<f64>>)| {
        let strand =
            |function: &Vec<f64>| question.grid.iter().copied().zip(function.iter().copied()).collect();
        LinePanel {
            title: (*method).into(),
            series: vec![Series { label: "mean ± sd".into(), points: band(&question.grid, functions) }],
            strands: functions.iter().map(strand).collect(),
            dots: question.inputs.iter().copied().zip(question.values.iter().copied()).collect(),
        }
    };
    LinePlot {
        title: "Acquisition functions (thin), and what they know (dots)".into(),
        x_label: "x".into(),
        y_label: "value".into(),
        log_y: false,
        panels: answers.iter().map(panel).collect(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Sampled functions pass near the values and differ in the gap, more than those of a deep ensemble do.
    #[test]
    fn sampled_functions_explore_the_gap() {
        let question = Question::new(3);
        let at_gap = question.grid.iter().position(|x| *x >= 0.3).unwrap();
        let spread = |method| {
            let functions = acquisition_functions(Setting::Paper, method, &question, 20).unwrap();
            let near = question.grid.iter().position(|x| *x >= question.inputs[6]).unwrap();
            for function in &functions {
                assert!((function[near] - question.values[6]).abs() < 1.0, "{method}: {}", function[near]);
            }
            standard_deviation(&functions.iter().map(|function| function[at_gap]).collect::<Vec<_>>())
        };
        let (ensemble, sampled, linear) = (spread("deep-ensemble"), spread("sto-bnts"), spread("linear"));
        assert!(sampled > ensemble && linear > ensemble, "{ensemble} {sampled} {linear}");
    }

    /// The setting `ours` draws as users get it: with the `beta` of the algorithm, which is not 1.
    #[test]
    fn draws_have_the_beta_of_the_setting() {
        let question = Question::new(3);
        let spread = |setting| {
            let functions = acquisition_functions(setting, "linear", &question, 30).unwrap();
            let at = question.grid.iter().position(|x| *x >= 0.3).unwrap();
            standard_deviation(&functions.iter().map(|function| function[at]).collect::<Vec<_>>())
        };
        let Algorithm::StoBntsLinear(users) =
            setting::algorithm(Setting::Ours, setting::variant("linear"), "synthetic").unwrap()
        else {
            panic!("it is the linear variant");
        };
        assert!(users.beta < 0.5);
        // A deviation estimated from 30 functions is exact to 13 %; the ratio would be near 1 with beta = 1 in both.
        assert!(spread(Setting::Ours) < 0.6 * spread(Setting::Paper));
    }

    #[test]
    fn figures_show_functions_and_values() {
        let question = Question::new(3);
        assert!(question.inputs.iter().all(|x| !(GAP.0..=GAP.1).contains(x)));
        // Functions that agree outside the gap.
        let within = |x: f64| if (GAP.0..=GAP.1).contains(&x) { 1.0 } else { 0.1 };
        let function = |k: u32| question.grid.iter().map(|x| f64::from(k) * within(*x)).collect();
        let answers = vec![("sto-bnts", (0..5).map(function).collect::<Vec<Vec<f64>>>())];
        let kept = [record(Setting::Paper, "sto-bnts", 3, spread(&question, &answers[0].1))];
        let text = spreads(&kept).to_string();
        assert!(text.contains("10.0"), "{text}");
        let others = [("deep-ensemble", 0.1), ("linear", 0.05)]
            .map(|(method, sd)| record(Setting::Paper, method, 3, (sd, 0.1)));
        let text = verdict(&[&kept[..], &others].concat());
        assert!(
            text.contains("holds in part; in multiples of its deviation, sto-bnts 15.8, linear 0.500"),
            "{text}"
        );
        let svg = figure(&question, &answers).to_svg().unwrap();
        assert_eq!(svg.matches("<circle").count(), KNOWN.len());
        assert!(svg.contains("sto-bnts") && svg.contains("mean ± sd"));
    }
}
