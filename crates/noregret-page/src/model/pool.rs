//! Candidates of a pool on a plane: which were tried, and what the model expects of the others.

use std::collections::{BTreeMap, BTreeSet};

use noregret::surrogate::points::Points;
use noregret::{Pool, Study, Trial};
use noregret_client::views::PoolPlane;

use super::plane::{Plane, spread};

/// Candidates that are shown.
const SHOWN: usize = 3_000;
/// Of them those that were chosen, the last ones.
const CHOSEN: usize = 1_000;

/// The two principal components of the pool's features, and what is known of candidates there; `None` if the space is not a pool.
pub fn pool(study: &mut Study) -> Result<Option<PoolPlane>, noregret::Error> {
    let space = study.space().clone();
    let Some(pool) = space.as_pool() else { return Ok(None) };
    let last = last_trials(study);
    let rows = shown(pool, &last);
    let plane = Plane::of(pool.features(), pool.dims());
    let places: Vec<[f64; 2]> = rows.iter().map(|&row| plane.place(features(pool, row))).collect();
    let mut points = Points::new(pool.dims());
    rows.iter().for_each(|&row| points.push(&pool.point(row)));
    let mean = study.means_at(&points)?;
    let trial = |row: &usize| last.get(row).and_then(|number| study.trial(*number).ok());
    Ok(Some(PoolPlane {
        rows: pool.len() as u64,
        chosen: last.len() as u64,
        explained: (plane.explained[0], plane.explained[1]),
        row: rows.iter().map(|&row| row as u64).collect(),
        id: rows.iter().map(|&row| pool.id(row).into_owned()).collect(),
        x: places.iter().map(|place| place[0]).collect(),
        y: places.iter().map(|place| place[1]).collect(),
        mean,
        number: rows.iter().map(|row| last.get(row).copied()).collect(),
        value: rows.iter().map(|row| trial(row).and_then(Trial::value)).collect(),
    }))
}

fn features(pool: &Pool, row: usize) -> &[f32] {
    &pool.features()[row * pool.dims()..(row + 1) * pool.dims()]
}

/// The last trial of each row that was chosen.
fn last_trials(study: &Study) -> BTreeMap<usize, u64> {
    study.trials().iter().filter_map(|trial| Some((trial.row?, trial.number))).collect()
}

/// Rows to show, in their order.
fn shown(pool: &Pool, last: &BTreeMap<usize, u64>) -> Vec<usize> {
    let mut chosen: Vec<(u64, usize)> = last.iter().map(|(row, number)| (*number, *row)).collect();
    chosen.sort_unstable_by(|a, b| b.cmp(a));
    let mut rows: BTreeSet<usize> = chosen.into_iter().take(CHOSEN).map(|(_, row)| row).collect();
    rows.extend(spread(pool.len(), SHOWN - rows.len()));
    rows.into_iter().collect()
}

#[cfg(test)]
mod tests {
    use noregret::{Space, Study};

    use super::*;

    #[test]
    fn a_plate_is_shown_with_what_was_tried() {
        // Ten by ten wells: a position along each side, and one feature that repeats the first.
        let features: Vec<f64> =
            (0..100).flat_map(|i| [f64::from(i / 10), f64::from(i % 10), f64::from(i / 10) * 3.0]).collect();
        let ids: Vec<String> = (0..100).map(|i| format!("w{i}")).collect();
        let table = noregret::Pool::new(features, 3).unwrap().with_ids(ids).unwrap();
        let mut study = Study::builder().space(Space::pool(table)).build().unwrap();
        let before = pool(&mut study).unwrap().unwrap();
        assert_eq!((before.rows, before.chosen, before.mean), (100, 0, None));
        for row in [3, 50, 97, 12] {
            study.add_row(row, row as f64, None).unwrap();
        }
        study.add_row(50, f64::NAN, None).unwrap();
        let view = pool(&mut study).unwrap().unwrap();
        assert_eq!((view.rows, view.chosen, view.row.len(), view.id[97].as_str()), (100, 4, 100, "w97"));
        assert_eq!((view.number[3], view.number[50], view.number[4]), (Some(0), Some(4), None));
        assert_eq!(
            (view.value[97], view.value[50], view.value[4]),
            (Some(97.0), None, None),
            "the last one failed"
        );
        assert_eq!(view.mean.as_ref().map(Vec::len), Some(100));
        // Two features of three go along one axis, the third has the other.
        assert!(
            (view.explained.0 - 2.0 / 3.0).abs() < 1e-6 && (view.explained.1 - 1.0 / 3.0).abs() < 1e-6,
            "{view:?}"
        );
        let gap = (view.x[10] - view.x[0]).abs();
        // The axes are steady to an angle of 1e-5.
        assert!(
            gap > 0.1 && (view.x[1] - view.x[0]).abs() < 1e-4,
            "a column has the same place on the first axis"
        );
    }

    #[test]
    fn a_space_of_parameters_has_no_plane() {
        let mut study = Study::builder().space(Space::bounds(&[(0.0, 1.0)]).unwrap()).build().unwrap();
        assert!(pool(&mut study).unwrap().is_none());
    }

    #[test]
    fn of_a_large_pool_a_part_is_shown_and_all_that_was_chosen_lately() {
        let table = noregret::Pool::from_f32((0..20_000_u16).map(f32::from).collect(), 1).unwrap();
        let mut study = Study::builder().space(Space::pool(table)).build().unwrap();
        for row in 0..5 {
            study.add_row(19_000 + row, row as f64, None).unwrap();
        }
        let view = pool(&mut study).unwrap().unwrap();
        assert!(view.row.len() > 2_980 && view.row.len() <= SHOWN, "{}", view.row.len());
        assert!((19_000..19_005).all(|row| view.row.contains(&row)));
    }
}
