//! The posterior and its likelihood are scikit-learn's.
//!
//! Numbers printed by `scripts/reference/gp_sklearn.py` with scikit-learn 1.9.1 and NumPy 2.4.6.

use noregret::surrogate::Surrogate;
use noregret::surrogate::gp::kernel::{Form, Kernel};
use noregret::surrogate::gp::posterior::Gp;
use noregret::surrogate::points::Points;

const N: usize = 12;
const NOISE_VARIANCE: f64 = 1e-2;
const OUTPUTSCALE: f64 = 1.5;

/// What scikit-learn says at the four points of [`at`].
struct Reference {
    form: Form,
    lengthscales: [f64; 3],
    mean: [f64; 4],
    variance: [f64; 4],
    log_likelihood: f64,
}

const REFERENCES: [Reference; 5] = [
    Reference {
        form: Form::SquaredExponential,
        lengthscales: [0.25, 0.5, 1.0],
        mean: [
            -2.108_815_400_228_73,
            -1.732_369_516_942_535_7,
            -3.772_862_766_697_274_5,
            -0.141_966_224_540_475_14,
        ],
        variance: [
            0.451_842_721_511_857,
            1.057_379_476_897_145,
            1.118_061_318_643_734_3,
            0.004_350_162_120_881_462,
        ],
        log_likelihood: -211.378_455_467_034_57,
    },
    Reference {
        form: Form::Matern12,
        lengthscales: [0.25, 0.5, 1.0],
        mean: [
            -0.420_435_666_628_782_07,
            -0.177_533_235_683_351_78,
            -0.364_776_735_886_173_6,
            1.079_465_694_713_434_7,
        ],
        variance: [
            1.011_981_673_163_733_4,
            1.372_859_631_944_436_4,
            1.385_846_461_742_931,
            0.009_768_926_028_443_703,
        ],
        log_likelihood: -26.744_385_241_134_587,
    },
    Reference {
        form: Form::Matern32,
        lengthscales: [0.25, 0.5, 1.0],
        mean: [
            -0.944_779_879_589_639_4,
            -0.776_202_503_212_123_4,
            -1.233_461_476_106_157,
            0.863_305_903_407_357_2,
        ],
        variance: [
            0.767_256_995_169_945_4,
            1.292_035_492_901_579_6,
            1.321_110_146_526_032,
            0.008_678_332_325_663_84,
        ],
        log_likelihood: -57.842_924_380_618_41,
    },
    Reference {
        form: Form::Matern52,
        lengthscales: [0.25, 0.5, 1.0],
        mean: [
            -1.244_143_616_108_156_7,
            -1.380_681_474_467_283_7,
            -1.914_467_944_869_391_5,
            0.540_364_553_210_773_5,
        ],
        variance: [
            0.665_832_507_433_560_7,
            1.237_558_377_218_529,
            1.275_870_807_003_463,
            0.007_061_918_469_155_382,
        ],
        log_likelihood: -98.832_015_780_702_55,
    },
    Reference {
        form: Form::Linear,
        lengthscales: [1.0; 3],
        mean: [0.190_496_753_368_961_44, 0.0, -0.117_788_016_736_056_99, -0.072_187_006_911_491_38],
        variance: [0.002_372_090_590_284_648, 0.0, 0.003_433_681_661_435_095, 0.001_395_448_834_050_405_7],
        log_likelihood: -809.579_874_411_252_5,
    },
];

/// The script's observations: multiples of 1/64 and 1/8, the same bits in both programs.
fn observations() -> (Points, Vec<f64>) {
    let cell = |i: usize| ((37 * i + 11) % 64) as f64 / 64.0;
    let columns: Vec<f64> = (0..3 * N).map(cell).collect();
    let y = (0..N).map(|i| ((29 * i + 5) % 32) as f64 / 8.0 - 2.0).collect();
    (Points::from_columns(3, &columns), y)
}

/// Inside, at two corners, and at an observation.
fn at(observed: &Points) -> Points {
    let mut points = Points::from_columns(3, &[0.25, 0.5, 0.75, 0.0, 0.0, 0.0, 1.0, 1.0, 1.0]);
    points.push(&observed.point(4));
    points
}

#[test]
fn posterior_and_likelihood_are_those_of_scikit_learn() {
    for reference in REFERENCES {
        let form = reference.form;
        let (points, y) = observations();
        let kernel = Kernel::new(form, reference.lengthscales.to_vec(), 3, OUTPUTSCALE);
        let at = at(&points);
        let gp = Gp::new(kernel, points, &y, vec![NOISE_VARIANCE; N]).unwrap();
        let marginals = gp.marginals(&at);
        // Condition numbers up to 1.5 * 12 / 0.01 = 1800 times rounding, and our exp is good to a few last digits.
        for i in 0..4 {
            let (mean, variance) = (marginals.mean[i], marginals.variance[i]);
            assert!((mean - reference.mean[i]).abs() < 1e-8, "{form:?}, mean {i}: {mean}");
            assert!((variance - reference.variance[i]).abs() < 1e-8, "{form:?}, variance {i}: {variance}");
        }
        let gap = gp.log_likelihood() / reference.log_likelihood - 1.0;
        assert!(gap.abs() < 1e-8, "{form:?}, log likelihood {}", gp.log_likelihood());
    }
}
