//! The space as a whole: examples, and properties over random spaces.

use proptest::prelude::*;

use super::*;
use crate::math::rng::{Purpose, Seed};

fn mlp() -> Space {
    Space::builder()
        .log_float("lr", 1e-5, 1e-1)
        .int("layers", 1, 8)
        .categorical("act", ["relu", "tanh"])
        .ordinal("width", [32, 64, 128, 256])
        .bool("bias")
        .constraint("budget", "layers * width <= 1024")
        .build()
        .unwrap()
}

fn values(pairs: [(&str, Value); 5]) -> Params {
    Params::from_iter(pairs)
}

fn example() -> [(&'static str, Value); 5] {
    [
        ("lr", 1e-3.into()),
        ("layers", 4.into()),
        ("act", "relu".into()),
        ("width", 64.into()),
        ("bias", true.into()),
    ]
}

#[test]
fn a_point_by_hand() {
    let space = mlp();
    let u = space.encode(&values(example())).unwrap();
    assert!((u[0] - 0.5).abs() < 1e-12);
    assert_eq!(u[1..], [3.5 / 8.0, 0.25, 0.375, 0.75]);
    assert_eq!(space.decode(&[1.0; 5]).to_string(), "lr=0.1, layers=8, act=tanh, width=256, bias=true");
    assert_eq!(space.decode(&[0.0; 5]).to_string(), "lr=1e-5, layers=1, act=relu, width=32, bias=false");
    assert_eq!(space.decode(&[f64::NAN; 5]).get("layers"), Some(&Value::Int(5)));
    assert_eq!(space.cardinality(), None);
}

#[test]
fn wrong_points_are_told_apart() {
    let space = mlp();
    let message = |change: (usize, &'static str, Value)| {
        let mut pairs = example();
        pairs[change.0] = (change.1, change.2);
        space.encode(&values(pairs)).unwrap_err().to_string()
    };
    assert_eq!(message((1, "layer", 3.into())), "unknown parameter `layer` (nearest known: `layers`)");
    assert_eq!(message((1, "lr", 0.01.into())), "parameter `layers` is missing");
    let extra: Params = example().into_iter().chain([("depth", Value::Int(1))]).collect();
    assert!(
        matches!(space.encode(&extra), Err(SpaceError::UnknownParameter { name, .. }) if name == "depth")
    );
    let reversed: Params = example().into_iter().rev().collect();
    assert_eq!(space.encode(&reversed), space.encode(&values(example())));
    assert_eq!(
        message((2, "act", "gelu".into())),
        r#"parameter `act` must be one of "relu", "tanh", not "gelu""#
    );
}

#[test]
fn constraints_decide_feasibility() {
    let space = mlp();
    assert!(space.is_constrained());
    let mut pairs = example();
    assert!(space.is_feasible(&space.encode(&values(pairs.clone())).unwrap()));
    pairs[1].1 = 8.into();
    pairs[3].1 = 256.into();
    let u = space.encode(&values(pairs)).unwrap();
    assert_eq!(space.violated(&u), Some("budget"));
}

#[test]
fn declared_spaces_and_study_files_agree() {
    let declared = mlp();
    let params = declared.params().map(|(name, param)| (name.to_owned(), param.clone()));
    let constraints = declared
        .constraints()
        .filter_map(|(name, expression)| Some((name.to_owned(), expression?.to_owned())));
    let again = Space::from_params(params, constraints).unwrap();
    assert_eq!(format!("{declared:?}"), format!("{again:?}"));
}

#[test]
fn bounds_are_numbered() {
    let space = Space::bounds(&[(-5.0, 10.0), (0.0, 15.0)]).unwrap();
    assert_eq!(space.decode(&[0.0, 1.0]).to_string(), "x0=-5.0, x1=15.0");
    assert!(!space.is_constrained());
    assert_eq!(Space::bounds(&[]).unwrap_err(), SpaceError::Empty);
    assert_eq!((space.level_of(0, 0.7), space.coordinate_of_level(0, 3)), (0, 0.5));
}

#[test]
fn cardinality_counts_or_gives_up() {
    let discrete = Space::builder().int("n", 1, 8).bool("b").build().unwrap();
    assert_eq!(discrete.cardinality(), Some(16));
    let huge =
        (0..2).fold(Space::builder(), |b, i| b.int(format!("n{i}"), 0, Param::MAX_INT)).build().unwrap();
    assert_eq!(huge.cardinality(), None);
}

#[test]
fn pool_spaces_scale_and_never_snap_to_a_grid() {
    let pool = Pool::new(vec![0.0, 1.0, 10.0, 3.0], 2).unwrap();
    let space = Space::pool(pool);
    assert_eq!((space.dims(), space.cardinality()), (2, Some(2)));
    assert_eq!(space.kinds(), [Kind::Continuous; 2]);
    assert!(space.is_feasible(&[0.2, 0.2]));
    assert_eq!(space.decode(&[0.5, 1.0]).to_string(), "x0=5.0, x1=3.0");
    let row = space.as_pool().unwrap().params(1);
    assert_eq!(space.encode(&row), Ok(vec![1.0, 1.0]));
    assert!(space.points().is_none());
    assert_eq!(space.params().len(), 0);
    let mut u = [f64::NAN, 2.0];
    space.snap(&mut u);
    assert_eq!(u[..], [0.5, 1.0]);
}

#[test]
fn clones_share() {
    fn thread_safe<T: Send + Sync>(_: &T) {}
    let space = mlp();
    assert!(Arc::ptr_eq(&space.inner, &space.clone().inner));
    thread_safe(&space);
}

fn any_param() -> impl Strategy<Value = Param> {
    let max = Param::MAX_INT;
    prop_oneof![
        (-1e6..1e6_f64, 1e-3..1e6_f64).prop_map(|(low, width)| Param::Float {
            low,
            high: low + width,
            log: false
        }),
        (-300.0..299.0_f64, 1e-3..1.0_f64, -300.0..300.0_f64).prop_map(|(low, gap, high)| Param::Float {
            low: 10_f64.powf(low),
            high: 10_f64.powf(high.max(low + gap)),
            log: true,
        }),
        (-max..=max, -max..=max).prop_map(|(a, b)| Param::Int { low: a.min(b), high: a.max(b), log: false }),
        (-20..20_i64, 0..20_i64).prop_map(|(low, n)| Param::Int { low, high: low + n, log: false }),
        (0..45_u32, 0..45_u32, 0..1000_i64).prop_map(|(a, b, offset)| Param::Int {
            low: 1 << a.min(b),
            high: ((1 << a.max(b)) + offset).min(Param::MAX_INT),
            log: true,
        }),
        (1..40_i64).prop_map(|n| Param::Ordinal { values: (0..n).map(Value::Int).collect() }),
        (1..40_i64)
            .prop_map(|n| Param::Categorical { choices: (0..n).map(|i| i.to_string().into()).collect() }),
        Just(Param::Bool {}),
    ]
}

fn any_space() -> impl Strategy<Value = Space> {
    prop::collection::vec(any_param(), 1..6).prop_map(|params| {
        let named = params.into_iter().enumerate().map(|(i, param)| (format!("p{i}"), param));
        Space::from_params(named, []).unwrap()
    })
}

/// Points of the cube, its edges included, and some that are none.
fn any_coordinate() -> impl Strategy<Value = f64> {
    prop_oneof![8 => 0.0..=1.0_f64, 1 => Just(0.0), 1 => Just(1.0), 1 => any::<f64>()]
}

fn any_space_and_point() -> impl Strategy<Value = (Space, Vec<f64>)> {
    any_space().prop_flat_map(|space| {
        let dims = space.dims();
        (Just(space), prop::collection::vec(any_coordinate(), dims))
    })
}

proptest! {
    #[test]
    fn decoded_values_encode_and_decode_to_themselves((space, u) in any_space_and_point()) {
        let params = space.decode(&u);
        let again = space.decode(&space.encode(&params).unwrap());
        for ((name, param), (_, value)) in space.params().zip(params.iter()) {
            let back = again.get(name).unwrap();
            match (param, value, back) {
                (Param::Float { low, high, log }, Value::Float(v), Value::Float(w)) => {
                    prop_assert!(low <= v && v <= high);
                    // Relative to the value where ratios matter, else to the largest that the range holds.
                    let scale = if *log { v.abs() } else { low.abs().max(high.abs()) };
                    prop_assert!((v - w).abs() <= 1e-12 * scale, "{v} {w}");
                }
                (Param::Int { low, high, .. }, Value::Int(v), _) => {
                    prop_assert!(low <= v && v <= high);
                    prop_assert_eq!(value, back);
                }
                _ => prop_assert_eq!(value, back),
            }
        }
    }

    #[test]
    fn snapping_twice_is_snapping_once((space, mut u) in any_space_and_point()) {
        let before = space.decode(&u);
        space.snap(&mut u);
        let once = u.clone();
        space.snap(&mut u);
        prop_assert_eq!(&u, &once);
        prop_assert!(u.iter().all(|u| (0.0..=1.0).contains(u)));
        prop_assert_eq!(space.decode(&u), before.clone());
        let encoded = space.encode(&before).unwrap();
        for (dim, kind) in space.kinds().iter().enumerate() {
            if *kind != Kind::Continuous {
                prop_assert_eq!(encoded[dim].to_bits(), u[dim].to_bits());
            }
        }
    }

    #[test]
    fn levels_have_coordinates_and_back((space, u) in any_space_and_point(), share in 0.0..1.0_f64) {
        for (dim, kind) in space.kinds().iter().enumerate() {
            let Some(levels) = kind.levels() else { continue };
            let middle = Param::Int { low: 0, high: i64::try_from(levels - 1).unwrap(), log: false }.level_of(share);
            for level in [0, middle, levels - 1, space.level_of(dim, u[dim])] {
                prop_assert!(level < levels);
                prop_assert_eq!(space.level_of(dim, space.coordinate_of_level(dim, level)), level);
            }
        }
    }

    #[test]
    fn json_carries_points_exactly((space, u) in any_space_and_point()) {
        let discrete = space.kinds().iter().all(|kind| *kind != Kind::Continuous);
        let params = space.decode(&u);
        let read: Params = serde_json::from_str(&serde_json::to_string(&params).unwrap()).unwrap();
        prop_assert!(space.encode(&read).is_ok());
        if discrete {
            prop_assert_eq!(read, params);
        }
    }

    #[test]
    fn samples_stay_put_when_snapped(space in any_space(), seed in any::<u64>()) {
        let mut rng = Seed(seed).stream(Purpose::Experiment, 0, 0);
        let mut u = space.sample(&mut rng).unwrap();
        let drawn = u.clone();
        space.snap(&mut u);
        prop_assert_eq!(u, drawn);
    }
}
