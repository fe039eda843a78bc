//! Pure exploration: the point of the largest deviation. A test of how little a new algorithm takes; no product.
//!
//! # Notation
//! `sigma_t(x)` is the deviation given what was told, what runs and the batch so far.

use std::num::NonZeroUsize;

use serde::{Deserialize, Serialize};

use crate::acquisition::utility::Utility;
use crate::error::Result;
use crate::math::rng::Stream;
use crate::strategy::gp::{GpStrategy, OwnOptions};
use crate::strategy::history::History;
use crate::strategy::turn::Turn;
use crate::strategy::{Proposal, Strategy};

/// Settings: none of its own.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub(crate) struct PureExplorationConfig {}

impl OwnOptions for PureExplorationConfig {
    const NAME: &'static str = "pure-exploration";
}

impl Strategy for GpStrategy<PureExplorationConfig> {
    fn propose(&mut self, history: &History, q: Option<NonZeroUsize>, rng: &mut Stream) -> Result<Proposal> {
        let mut turn = Turn::open(self.name, history, q, self.gp.initial_points, rng)?;
        let Some(gp) = self.model.prepare(&mut turn)? else { return turn.finish() };
        let mut search = self.gp.search(gp, &turn);
        while turn.wants_more() {
            let found = search.maximize(&gp.scored(Utility::StandardDeviation), gp, &mut turn);
            gp.condition(turn.push(found)?);
        }
        turn.finish()
    }
}

/// Three rows are told at one end of a line of 50: the other end is the least known, then the middle.
#[test]
fn it_goes_where_nothing_is_known() {
    use crate::strategy::history::{Choice, Duplicates};
    use crate::strategy::testing::{stream, value};
    let space = crate::Space::pool(crate::Pool::new((0..50).map(f64::from).collect(), 1).unwrap());
    let mut history = History::new(space.clone(), Duplicates::Avoid);
    for row in 0..5 {
        let x = space.as_pool().unwrap().point(row);
        history.add(&Choice { x, row: Some(row) }, value(row as f64));
    }
    let mut strategy = GpStrategy::new(PureExplorationConfig {}.into()).unwrap();
    let proposal = strategy.propose(&history, NonZeroUsize::new(2), &mut stream(0, 0)).unwrap();
    let rows: Vec<usize> = proposal.choices.iter().filter_map(|choice| choice.row).collect();
    assert!(rows[0] == 49 && (20..40).contains(&rows[1]), "{rows:?}");
}
