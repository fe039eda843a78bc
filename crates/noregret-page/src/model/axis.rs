//! A parameter along an axis of a map.

use noregret::space::Kind;
use noregret::{Param, Space};
use noregret_client::views::Axis;

/// The most values along an axis, also of parameters that have more.
pub(super) const MOST: usize = 200;

/// One coordinate of the space and the places along it.
#[derive(Debug)]
pub(super) struct Along {
    /// The coordinate.
    pub(super) dim: usize,
    /// Places from 0 to 1, ascending.
    pub(super) places: Vec<f64>,
}

impl Along {
    /// `resolution` places on a coordinate, or all its levels if they are fewer; all levels of choices, up to [`MOST`].
    pub(super) fn new(space: &Space, dim: usize, resolution: usize) -> Self {
        let levels = space.kinds()[dim].levels();
        let is_int = matches!(param(space, dim), Some(Param::Int { .. }));
        let places = match (levels, levels.and_then(|levels| usize::try_from(levels).ok())) {
            (None, _) => evenly(resolution),
            (_, Some(levels)) if levels <= if is_int { resolution } else { MOST } => {
                (0..levels as u64).map(|level| space.coordinate_of_level(dim, level)).collect()
            }
            // Spread over the range as it is scaled, so along a logarithmic one by ratios.
            _ => {
                let snapped = evenly(resolution);
                let level = |place: &f64| space.coordinate_of_level(dim, space.level_of(dim, *place));
                let mut places: Vec<f64> = snapped.iter().map(level).collect();
                places.dedup();
                places
            }
        };
        Self { dim, places }
    }

    /// Whether a lower resolution would have fewer places.
    pub(super) fn is_continuous(&self, space: &Space) -> bool {
        matches!(space.kinds()[self.dim], Kind::Continuous)
            || matches!(param(space, self.dim), Some(Param::Int { .. }))
    }

    /// The axis with its values. `at` is any point of the space.
    pub(super) fn named(&self, space: &Space, at: &[f64]) -> Axis {
        let name = &space.names()[self.dim];
        let value = |place: &f64| {
            let mut x = at.to_vec();
            x[self.dim] = *place;
            space.decode(&x).get(name).cloned()
        };
        let (kind, log) = match param(space, self.dim) {
            None => ("feature", false),
            Some(Param::Float { log, .. }) => ("float", *log),
            Some(Param::Int { log, .. }) => ("int", *log),
            Some(Param::Ordinal { .. }) => ("ordinal", false),
            Some(Param::Categorical { .. }) => ("categorical", false),
            Some(Param::Bool {}) => ("bool", false),
        };
        let values = self.places.iter().filter_map(value).collect();
        Axis { name: name.clone(), kind: kind.into(), log, values, places: self.places.clone() }
    }
}

/// The parameter of a coordinate; `None` in a pool.
pub(super) fn param(space: &Space, dim: usize) -> Option<&Param> {
    space.params().nth(dim).map(|(_, param)| param)
}

fn evenly(count: usize) -> Vec<f64> {
    (0..count).map(|i| i as f64 / (count.max(2) - 1) as f64).collect()
}

#[cfg(test)]
mod tests {
    use noregret::Value;

    use super::*;

    #[test]
    fn every_kind_of_parameter_has_its_values() {
        let space = Space::builder()
            .param("lr", Param::Float { low: 1e-4, high: 1.0, log: true })
            .int("few", 1, 5)
            .param("many", Param::Int { low: 1, high: 10_000, log: true })
            .categorical("c", ["p", "q", "r"])
            .bool("b")
            .build()
            .unwrap();
        let at = [0.5; 5];
        let axis = |dim: usize| Along::new(&space, dim, 9).named(&space, &at);
        let lr = axis(0);
        assert_eq!((lr.kind.as_str(), lr.log, lr.values.len()), ("float", true, 9));
        let middle = lr.values[4].as_f64().unwrap();
        assert!((middle - 1e-2).abs() < 1e-12 && lr.values[0] == Value::from(1e-4), "{lr:?}");
        let few = axis(1);
        assert_eq!(few.values, [1, 2, 3, 4, 5].map(Value::from));
        let many = axis(2);
        assert_eq!((many.kind.as_str(), many.log, many.values.len()), ("int", true, 9));
        assert_eq!((&many.values[0], &many.values[8]), (&Value::from(1), &Value::from(10_000)));
        assert_eq!(axis(3).values, ["p", "q", "r"].map(Value::from));
        assert_eq!(
            (axis(4).kind.as_str(), axis(4).values),
            ("bool", vec![Value::from(false), Value::from(true)])
        );
        // Places are where the values are.
        for dim in 0..5 {
            let axis = axis(dim);
            assert!(
                axis.places.is_sorted_by(|a, b| a < b) && axis.places.len() == axis.values.len(),
                "{axis:?}"
            );
        }
        // A coarse axis of an integer with few values has no value twice.
        assert_eq!(Along::new(&space, 1, 3).named(&space, &at).values, [1, 3, 5].map(Value::from));
    }
}
