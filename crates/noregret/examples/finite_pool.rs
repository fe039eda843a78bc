//! Picks from a list of candidates instead of from ranges: `cargo run -p noregret --example finite_pool`.

use noregret::space::Ids;
use noregret::{Direction, Pool, Space, Study};

const COMPOUNDS: usize = 400;

/// Three numbers that describe a compound: mass, polarity, charge (a low-discrepancy stand-in for a real table).
fn describe(compound: usize) -> [f64; 3] {
    let spread = |step: f64| (compound as f64 * step).fract();
    [150.0 + 350.0 * spread(0.819_173), 5.0 * spread(0.671_044) - 1.0, 2.0 * spread(0.549_701) - 1.0]
}

/// The assay: activity of a compound.
fn activity([mass, polarity, charge]: [f64; 3]) -> f64 {
    10.0 - ((mass - 310.0) / 60.0).powi(2) - (polarity - 2.2).powi(2) - 3.0 * (charge - 0.3).powi(2)
}

#[expect(clippy::print_stdout, reason = "an example shows what it found")]
fn main() -> Result<(), noregret::Error> {
    let features = (0..COMPOUNDS).flat_map(describe).collect();
    let pool = Pool::new(features, 3)?
        .with_names(["mass", "polarity", "charge"].map(String::from).to_vec())?
        .with_ids((0..COMPOUNDS).map(|i| format!("NR-{i:04}")).collect::<Ids>())?;
    let space = Space::pool(pool.clone());
    let mut study = Study::builder().space(space).direction(Direction::Maximize).seed(3).build()?;

    // Five plates of eight compounds each; no compound is tested twice.
    for plate in 1..=5 {
        for trial in study.ask(8)? {
            let row = trial.row.expect("invariant: a trial of a pool has a row");
            study.tell(trial.number, activity(describe(row)))?;
        }
        if let Some((best, row)) = study.best_observed().and_then(|t| t.value().zip(t.row)) {
            println!("after plate {plate}: {} with activity {best:.3}", pool.id(row));
        }
    }

    let truth = (0..COMPOUNDS).map(|row| activity(describe(row))).fold(f64::NEG_INFINITY, f64::max);
    println!("tested {} of {COMPOUNDS}; the best of all has activity {truth:.3}", study.trials().len());
    Ok(())
}
