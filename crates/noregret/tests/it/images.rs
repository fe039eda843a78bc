//! Pools of images through a convolution: from the pixels to the last image.

use noregret::{Algorithm, Direction, Error, Pool, Space, Study};

const SIDE: usize = 6;
const IMAGES: usize = 30;
/// Every algorithm with a network.
const ALGORITHMS: [&str; 8] = [
    "sto-bnts",
    "sto-bnts-linear",
    "deep-ensemble",
    "neural-ucb",
    "neural-ts",
    "neural-bo",
    "neural-greedy",
    "dngo",
];

/// Images with a bright spot at one of the inner pixels; the border never changes.
fn space() -> Space {
    let pixel = |i: usize, k: usize| {
        let (row, column) = (k / SIDE, k % SIDE);
        let inside = row > 0 && column > 0 && row < SIDE - 1 && column < SIDE - 1;
        let spot = (row * 4 + column + i).is_multiple_of(16);
        if inside && spot {
            255.0
        } else if inside {
            (i * 7 + k) as f64 % 60.0
        } else {
            0.0
        }
    };
    let pixels = (0..IMAGES).flat_map(|i| (0..SIDE * SIDE).map(move |k| pixel(i, k))).collect();
    Space::pool(Pool::new(pixels, SIDE * SIDE).unwrap())
}

fn study(name: &str, height: usize, pool: &str) -> Study {
    let options = serde_json::json!({
        "network": {"depth": 2, "width": 6, "image": {"height": height, "width": SIDE, "pool": pool}},
        "initial_points": 4,
    });
    let algorithm = Algorithm::with_options(name, options.as_object().unwrap().clone()).unwrap();
    Study::builder()
        .space(space())
        .direction(Direction::Maximize)
        .algorithm(algorithm)
        .seed(1)
        .build()
        .unwrap()
}

#[test]
fn every_network_sees_images_to_the_last() {
    for name in ALGORITHMS {
        let mut study = study(name, SIDE, if name == "neural-ts" { "average" } else { "max" });
        let mut asked = 0;
        while asked < IMAGES {
            for trial in study.ask(3).unwrap_or_else(|e| panic!("{name}: {e}")) {
                // The brightness of one quarter.
                let pixels = trial.numbers();
                let value = [7, 8, 13, 14].iter().map(|&k| pixels[k]).sum::<f64>();
                study.tell(trial.number, value).unwrap();
                asked += 1;
            }
        }
        assert!(study.ask(1).unwrap_err().is_exhausted(), "{name}");
    }
}

#[test]
fn images_of_another_size_are_refused_before_anything_is_evaluated() {
    for name in ALGORITHMS {
        let error = study(name, SIDE + 1, "max").ask(1).unwrap_err();
        assert!(matches!(error, Error::Network(_)), "{name}: {error}");
        assert!(error.to_string().contains("42 pixels, but the space has 36"), "{error}");
    }
}
