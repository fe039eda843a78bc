//! Where it is good: what the model expects along one or two parameters.
//!
//! Nothing is interpolated: the model is asked at every place. Its answer takes time, so places are fewer than asked for if the model has
//! many evaluations: deviations at 48 x 48 places take about a second at 2,000 evaluations, and of more than that (4,000 at most) 25 x 25
//! are asked for. Axes say which values they have.

use noregret::study::affordable_points;
use noregret::surrogate::points::Points;
use noregret::{Params, Space, Study, Trial, TrialState, Value};
use noregret_client::views::{MapOf, SurfaceMap};

use super::ViewError;
use super::axis::{Along, MOST};

/// Evaluated points that are shown, and how many of them are the best; the others are spread over all trials.
const SHOWN: usize = 2_000;
const BEST: usize = 500;
/// Resolutions that can be asked for.
const RESOLUTION: (usize, usize) = (2, MOST);
/// The lowest one to which the cost of the model may reduce them.
const COARSEST: usize = 8;

/// What a map shows, in coordinates.
struct Plan {
    x: Along,
    y: Option<Along>,
    /// All coordinates of the point at which the others are fixed.
    base: Vec<f64>,
    /// Coordinates that are averaged over.
    averaged: Vec<bool>,
    /// Names of those at a value.
    fixed: Vec<String>,
}

/// Maps the model; `None` before the first value is told.
///
/// Averages are over all values of a parameter, whether the constraints allow them or not, and over the rows of a pool; their deviations
/// are those of the averages.
pub fn map(study: &mut Study, of: &MapOf) -> Result<Option<SurfaceMap>, ViewError> {
    let space = study.space().clone();
    let (x, y) = check(&space, of)?;
    let (Some(recommended), Some(fitted)) = (study.recommended()?, study.fitted()?) else { return Ok(None) };
    let best = point_of(&space, study.trial(recommended.number)?)?;
    let plan = plan(&space, of, (x, y), &best, fitted.evaluations)?;
    let points = plan.points();
    let is_averaged = plan.averaged.contains(&true);
    let predicted = if is_averaged {
        study.predict_averages(&points, &plan.averaged)?
    } else {
        study.predict_at(&points)?
    };
    let Some(predicted) = predicted else { return Ok(None) };
    let infeasible = if is_averaged { Vec::new() } else { infeasible(&space, &points) };
    let on_axes = |x: &[f64]| (x[plan.x.dim], plan.y.as_ref().map_or(0.0, |y| x[y.dim]));
    let (at_x, at_y) = on_axes(&best);
    let places = |trial: &Trial| point_of(&space, trial).ok().map(|x| on_axes(&x));
    let evaluated = shown(study).into_iter().filter_map(|trial| {
        let (x, y) = places(trial)?;
        Some((trial.number, x, y, trial.value()?))
    });
    let pending = study.trials().iter().filter(|trial| trial.state == TrialState::Running);
    let pending = pending.filter_map(|trial| places(trial).map(|(x, y)| (trial.number, x, y)));
    let all = space.decode(&plan.base);
    let is_fixed = |name: &str| plan.fixed.iter().any(|fixed| fixed == name);
    Ok(Some(SurfaceMap {
        x: plan.x.named(&space, &plan.base),
        y: plan.y.as_ref().map(|y| y.named(&space, &plan.base)),
        fixed: all
            .iter()
            .filter(|(name, _)| is_fixed(name))
            .map(|(name, value)| (name, value.clone()))
            .collect(),
        mean: predicted.mean,
        sd: predicted.sd,
        infeasible,
        evaluated: evaluated.collect(),
        pending: pending.collect(),
        recommended: Some((recommended.number, at_x, at_y)),
    }))
}

/// The coordinates of the axes, if the wish makes sense in this space.
fn check(space: &Space, of: &MapOf) -> Result<(usize, Option<usize>), ViewError> {
    if !(RESOLUTION.0..=RESOLUTION.1).contains(&of.resolution) {
        return Err(ViewError::Resolution { found: of.resolution, range: RESOLUTION });
    }
    if of.others != "best" && of.others != "average" {
        return Err(ViewError::Others { found: of.others.clone() });
    }
    let x = coordinate(space, &of.x)?;
    let y = of.y.as_deref().map(|name| coordinate(space, name)).transpose()?;
    if y == Some(x) {
        return Err(ViewError::SameAxes { name: of.x.clone() });
    }
    for name in of.fixed.keys() {
        let dim = coordinate(space, name)?;
        if dim == x || y == Some(dim) {
            return Err(ViewError::FixedAxis { name: name.clone() });
        }
    }
    Ok((x, y))
}

/// The coordinate of a parameter.
fn coordinate(space: &Space, name: &str) -> Result<usize, ViewError> {
    let known = space.names();
    known.iter().position(|known| known == name).ok_or_else(|| {
        let nearest = Some(noregret::space::nearest(name, known.iter().map(String::as_str)));
        let nearest = nearest.filter(|nearest| !nearest.is_empty());
        ViewError::UnknownParameter { name: name.into(), nearest, known: known.to_vec() }
    })
}

fn plan(
    space: &Space,
    of: &MapOf,
    (x, y): (usize, Option<usize>),
    best: &[f64],
    evaluations: usize,
) -> Result<Plan, ViewError> {
    let base = with_values(space, best, of)?;
    let is_axis = |dim: usize| dim == x || y == Some(dim);
    let is_given = |dim: usize| of.fixed.contains_key(&space.names()[dim]);
    let averages = of.others == "average";
    let averaged: Vec<bool> =
        (0..space.dims()).map(|dim| averages && !is_axis(dim) && !is_given(dim)).collect();
    let fixed = (0..space.dims()).filter(|&dim| !is_axis(dim) && !averaged[dim]);
    let fixed = fixed.map(|dim| space.names()[dim].clone()).collect();
    let mut resolution = of.resolution;
    let (x, y) = loop {
        let along = |dim| Along::new(space, dim, resolution);
        let (x, y) = (along(x), y.map(along));
        let places = x.places.len() * y.as_ref().map_or(1, |y| y.places.len());
        let can_be_less = x.is_continuous(space) || y.as_ref().is_some_and(|y| y.is_continuous(space));
        if places <= affordable_points(evaluations) || resolution <= COARSEST || !can_be_less {
            break (x, y);
        }
        resolution -= 1;
    };
    Ok(Plan { x, y, base, averaged, fixed })
}

/// The point with the values that the wish gives.
fn with_values(space: &Space, best: &[f64], of: &MapOf) -> Result<Vec<f64>, ViewError> {
    if of.fixed.is_empty() {
        return Ok(best.to_vec());
    }
    let at_best = space.decode(best);
    let value =
        |(name, value): (&str, &Value)| (name.to_owned(), of.fixed.get(name).unwrap_or(value).clone());
    let given = space.encode(&at_best.iter().map(value).collect::<Params>())?;
    // Only the given ones: the others keep their coordinates to the last bit.
    let one = |dim: usize| if of.fixed.contains_key(&space.names()[dim]) { given[dim] } else { best[dim] };
    Ok((0..space.dims()).map(one).collect())
}

impl Plan {
    /// All places, row by row from the lowest `y`.
    fn points(&self) -> Points {
        let mut points = Points::new(self.base.len());
        let mut x = self.base.clone();
        let rows = self
            .y
            .as_ref()
            .map_or(vec![None], |y| y.places.iter().map(|place| Some((y.dim, *place))).collect());
        for row in rows {
            if let Some((dim, place)) = row {
                x[dim] = place;
            }
            for place in &self.x.places {
                x[self.x.dim] = *place;
                points.push(&x);
            }
        }
        points
    }
}

/// Places of the points at which a constraint does not hold.
fn infeasible(space: &Space, points: &Points) -> Vec<u32> {
    if !space.is_constrained() {
        return Vec::new();
    }
    (0..)
        .zip(0..points.len())
        .filter(|(_, i)| !space.is_feasible(&points.point(*i)))
        .map(|(place, _)| place)
        .collect()
}

/// The point of a trial.
pub(super) fn point_of(space: &Space, trial: &Trial) -> Result<Vec<f64>, noregret::SpaceError> {
    match (space.as_pool(), trial.row) {
        (Some(pool), Some(row)) if row < pool.len() => Ok(pool.point(row)),
        _ => space.encode(&trial.params),
    }
}

/// Trials with a value: all, or the best and some of the others, by number.
fn shown(study: &Study) -> Vec<&Trial> {
    let mut trials: Vec<&Trial> = study.trials().iter().filter(|trial| trial.value().is_some()).collect();
    if trials.len() <= SHOWN {
        return trials;
    }
    let sign = if study.direction() == noregret::Direction::Minimize { 1.0 } else { -1.0 };
    let score = |trial: &Trial| sign * trial.value().unwrap_or(f64::INFINITY);
    trials.sort_by(|a, b| score(a).total_cmp(&score(b)));
    let others = trials.split_off(BEST);
    let mut others: Vec<&Trial> = others.into_iter().collect();
    others.sort_by_key(|trial| trial.number);
    let some = SHOWN - BEST;
    trials.extend((0..some).map(|i| others[i * others.len() / some]));
    trials.sort_by_key(|trial| trial.number);
    trials
}

#[cfg(test)]
mod tests {
    use noregret::Direction;

    use super::*;

    /// `(x - 0.3)^2 + 2 y`, more with `c = b`; ten of its forty values with `x + y > 1.5` are left out by the constraint.
    fn study(direction: Direction) -> Study {
        let space = Space::builder()
            .float("x", 0.0, 1.0)
            .float("y", 0.0, 1.0)
            .categorical("c", ["a", "b"])
            .constraint("corner", "x + y <= 1.5")
            .build()
            .unwrap();
        let mut study = Study::builder().space(space).direction(direction).build().unwrap();
        let sign = if direction == Direction::Minimize { 1.0 } else { -1.0 };
        for i in 0..40_u32 {
            let (x, y) = (f64::from(i % 8) / 7.0, f64::from(i / 8) / 8.0);
            let c = if i % 3 == 0 { "b" } else { "a" };
            let params = [("x", Value::from(x)), ("y", Value::from(y)), ("c", Value::from(c))];
            let value = (x - 0.3).powi(2) + 2.0 * y + if c == "b" { 1.0 } else { 0.0 };
            study.add(&Params::from_iter(params), sign * value, None).unwrap();
        }
        study
    }

    fn of(x: &str, y: Option<&str>) -> MapOf {
        let json = serde_json::json!({ "x": x, "y": y, "resolution": 9 });
        serde_json::from_value(json).unwrap()
    }

    #[test]
    fn a_map_shows_the_function() {
        for direction in [Direction::Minimize, Direction::Maximize] {
            let sign = if direction == Direction::Minimize { 1.0 } else { -1.0 };
            let view = map(&mut study(direction), &of("x", Some("y"))).unwrap().unwrap();
            let y = view.y.as_ref().unwrap();
            assert_eq!((view.x.values.len(), y.values.len(), view.mean.len(), view.sd.len()), (9, 9, 81, 81));
            for (row, y) in y.values.iter().enumerate() {
                for (column, x) in view.x.values.iter().enumerate() {
                    let (x, y) = (x.as_f64().unwrap(), y.as_f64().unwrap());
                    let truth = (x - 0.3).powi(2) + 2.0 * y;
                    // Smooth and without noise; where nothing was tried (y above 0.5) the model says how unsure it is.
                    let (mean, sd) = (view.mean[row * 9 + column], view.sd[row * 9 + column]);
                    assert!(
                        (sign * mean - truth).abs() < 0.02 + 4.0 * sd,
                        "{x} {y}: {mean} ± {sd}, not {truth}"
                    );
                    let place = u32::try_from(row * 9 + column).unwrap();
                    assert_eq!(view.infeasible.contains(&place), x + y > 1.5, "{x} {y}");
                }
            }
            assert_eq!(view.evaluated.len(), 40);
            let (number, x, y, value) = view.evaluated[9];
            assert!(
                (number, sign * value > 0.0) == (9, true)
                    && (x - 1.0 / 7.0).abs() < 1e-9
                    && (y - 0.125).abs() < 1e-9
            );
            let (best, x, y) = view.recommended.unwrap();
            assert!(best < 8 && (x - 2.0 / 7.0).abs() < 1e-9 && y == 0.0, "{:?}", view.recommended);
            assert_eq!(view.fixed.get("c"), Some(&Value::from("a")));
            assert_eq!(view.fixed.len(), 1);
        }
    }

    #[test]
    fn others_are_averaged_or_at_given_values() {
        let mut study = study(Direction::Minimize);
        let at_best = map(&mut study, &of("x", None)).unwrap().unwrap();
        let average = map(&mut study, &MapOf { others: "average".into(), ..of("x", None) }).unwrap().unwrap();
        assert!(average.fixed.is_empty() && average.infeasible.is_empty() && average.y.is_none());
        // The averages of 2 y and of the category: 1 and 1/2. Half of the y are beyond what was tried.
        for i in 0..9 {
            let more = average.mean[i] - at_best.mean[i];
            assert!((more - 1.5).abs() < 0.2, "{i}: {more}");
        }
        let fixed = [("c".to_owned(), Value::from("b"))].into_iter().collect();
        let wish = MapOf { others: "average".into(), fixed, ..of("x", None) };
        let given = map(&mut study, &wish).unwrap().unwrap();
        assert_eq!(given.fixed.get("c"), Some(&Value::from("b")));
        assert!(
            (0..9).all(|i| (given.mean[i] - average.mean[i] - 0.5).abs() < 0.1),
            "{:?} {:?}",
            given.mean,
            average.mean
        );
        let fixed = [("y".to_owned(), Value::from(0.5))].into_iter().collect();
        let higher = map(&mut study, &MapOf { fixed, ..of("x", Some("c")) }).unwrap().unwrap();
        let values = &higher.y.as_ref().unwrap().values;
        assert_eq!(*values, [Value::from("a"), Value::from("b")]);
        assert!((0..9).all(|i| (higher.mean[i] - at_best.mean[i] - 1.0).abs() < 0.1), "{:?}", higher.mean);
    }

    #[test]
    fn wishes_that_make_no_sense_are_explained() {
        let mut study = study(Direction::Minimize);
        let mut error = |of: MapOf| {
            let error = map(&mut study, &of).unwrap_err();
            assert!(error.is_of_the_request());
            error.to_string()
        };
        assert_eq!(error(of("xx", None)), "there is no parameter `xx` (did you mean `x`?)");
        assert_eq!(
            error(of("x", Some("x"))),
            "both axes are `x`: choose two different parameters, or leave out `y` for a curve"
        );
        assert_eq!(
            error(MapOf { resolution: 1, ..of("x", None) }),
            "`resolution` must be from 2 to 200, not 1"
        );
        assert_eq!(
            error(MapOf { resolution: 201, ..of("x", None) }),
            "`resolution` must be from 2 to 200, not 201"
        );
        let fixed = |name: &str, value: Value| [(name.to_owned(), value)].into_iter().collect();
        assert_eq!(
            error(MapOf { fixed: fixed("x", 0.5.into()), ..of("x", None) }),
            "`x` is along an axis: it cannot be fixed at a value as well"
        );
        assert!(error(MapOf { fixed: fixed("y", 7.0.into()), ..of("x", None) }).contains('y'));
        assert!(error(MapOf { fixed: fixed("z", 7.0.into()), ..of("x", None) }).contains("`z`"));
        assert!(error(MapOf { others: "mean".into(), ..of("x", None) }).contains("`average`"));
    }

    #[test]
    fn what_runs_is_shown_and_nothing_is_made_of_nothing() {
        let mut study = study(Direction::Minimize);
        let point = [("x", Value::from(0.25)), ("y", Value::from(0.75)), ("c", Value::from("a"))];
        let number = study.enqueue(&Params::from_iter(point)).unwrap().number;
        assert_eq!(map(&mut study, &of("y", Some("x"))).unwrap().unwrap().pending, [(number, 0.75, 0.25)]);
        let mut empty = Study::builder().space(study.space().clone()).build().unwrap();
        assert!(map(&mut empty, &of("x", None)).unwrap().is_none());
    }

    #[test]
    fn features_of_a_pool_are_axes() {
        let features: Vec<f64> = (0..40).flat_map(|i| [f64::from(i), f64::from(i * 7 % 40)]).collect();
        let mut study =
            Study::builder().space(Space::pool(noregret::Pool::new(features, 2).unwrap())).build().unwrap();
        for row in (0..40).step_by(3) {
            study.add_row(row, (row as f64 - 20.0).powi(2), None).unwrap();
        }
        for others in ["best", "average"] {
            let wish = MapOf { others: others.into(), ..of("x0", None) };
            let view = map(&mut study, &wish).unwrap().unwrap();
            assert_eq!((view.x.kind.as_str(), view.x.values.len()), ("feature", 9));
            assert!(view.x.values[8].as_f64() == Some(39.0) && view.mean[4] < view.mean[0], "{view:?}");
        }
    }

    /// The cost is bounded by fewer places, never by fewer choices.
    #[test]
    fn large_models_are_asked_at_fewer_places() {
        let space = Space::builder().float("x", 0.0, 1.0).int("n", 1, 1_000).bool("b").build().unwrap();
        let wish = |x: &str, y: &str| serde_json::from_value(serde_json::json!({"x": x, "y": y})).unwrap();
        let places = |x: &str, y: &str, evaluations| {
            let of: MapOf = wish(x, y);
            let axes = check(&space, &of).unwrap();
            let plan = plan(&space, &of, axes, &[0.5; 3], evaluations).unwrap();
            (plan.x.places.len(), plan.y.unwrap().places.len())
        };
        assert_eq!(places("x", "n", 500), (48, 48));
        assert_eq!(places("x", "n", 4_000), (25, 25));
        assert_eq!(places("x", "b", 4_000), (48, 2));
    }

    #[test]
    fn of_many_trials_the_best_and_some_others_are_shown() {
        let mut study = Study::builder().space(Space::bounds(&[(0.0, 1.0)]).unwrap()).build().unwrap();
        for i in 0..5_000_u32 {
            study
                .add(&Params::from_iter([("x0", f64::from(i) / 5_000.0)]), f64::from(i * 7 % 5_000), None)
                .unwrap();
        }
        let trials = shown(&study);
        assert!(trials.len() == SHOWN && trials.is_sorted_by_key(|trial| trial.number));
        let best = trials.iter().filter(|trial| trial.value().unwrap() < 500.0).count();
        assert!(best >= BEST && trials[SHOWN - 1].number > 4_900, "{best}");
    }
}
