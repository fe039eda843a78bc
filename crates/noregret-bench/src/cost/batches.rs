//! How the time of a batch grows with its size: `noregret bench ts-rsr --speed`.

use std::io::Write;
use std::time::Instant;

use noregret::math::rng::{Purpose, Seed};
use noregret::{Algorithm, Space, Study};
use noregret_problems::hartmann6;
use rand::RngExt;

use crate::report::Table;
use crate::{BenchError, Options};

/// Batches whose time is measured.
const BATCHES: [usize; 5] = [5, 10, 20, 50, 100];

/// How long a batch takes, by its size: Hartmann-6 with 500 observations, hyperparameters known, the fastest of five.
pub(crate) fn run(options: &Options, out: &mut dyn Write) -> Result<(), BenchError> {
    let problem = hartmann6();
    let space = Space::bounds(&problem.bounds)?;
    let mut study = Study::builder()
        .space(space.clone())
        .algorithm(Algorithm::by_name("ts-rsr").map_err(noregret::Error::from)?);
    study = study.seed(options.seed);
    let mut study = study.build()?;
    let mut rng = Seed(options.seed).stream(Purpose::Design, 0, 0);
    for _ in 0..500 {
        let u: Vec<f64> = (0..6).map(|_| rng.random()).collect();
        study.add(&space.decode(&u), problem.at_unit(&u), None)?;
    }
    study.ask(1)?; // fits the hyperparameters
    let mut table = Table::new(["batch", "ms", "ms a point", "exponent since the last"]);
    let mut last: Option<(usize, f64)> = None;
    let mut first = None;
    for q in BATCHES {
        let mut best = f64::INFINITY;
        for _ in 0..5 {
            let clock = Instant::now();
            study.suggest(q)?;
            best = best.min(1e3 * clock.elapsed().as_secs_f64());
        }
        let exponent = |(before, ms): (usize, f64)| (best / ms).ln() / (q as f64 / before as f64).ln();
        let since = last.map_or(String::new(), |last| format!("{:.2}", exponent(last)));
        table.row([q.to_string(), format!("{best:.1}"), format!("{:.2}", best / q as f64), since]);
        last = Some((q, best));
        first = first.or(last);
    }
    let overall = first
        .zip(last)
        .map_or(f64::NAN, |((q0, t0), (q1, t1))| (t1 / t0).ln() / (q1 as f64 / q0 as f64).ln());
    writeln!(out, "One batch of ts-rsr on Hartmann-6 with 500 observations\n{table}")?;
    writeln!(out, "time grows as q^{overall:.2} from q = {} to {}", BATCHES[0], BATCHES[4])?;
    Ok(())
}
