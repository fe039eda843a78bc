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
            -2.108_815_400_228_730_04,
            -1.732_369_516_942_535_71,
            -3.772_862_766_697_274_49,
            -1.419_662_245_404_751_39e-1,
        ],
        variance: [
            4.518_427_215_118_570_04e-1,
            1.057_379_476_897_144_95,
            1.118_061_318_643_734_26,
            4.350_162_120_881_462_26e-3,
        ],
        log_likelihood: -2.113_784_554_670_345_70e2,
    },
    Reference {
        form: Form::Matern12,
        lengthscales: [0.25, 0.5, 1.0],
        mean: [
            -4.204_356_666_287_820_68e-1,
            -1.775_332_356_833_517_76e-1,
            -3.647_767_358_861_735_98e-1,
            1.079_465_694_713_434_68,
        ],
        variance: [
            1.011_981_673_163_733_44,
            1.372_859_631_944_436_39,
            1.385_846_461_742_930_91,
            9.768_926_028_443_702_95e-3,
        ],
        log_likelihood: -2.674_438_524_113_458_73e1,
    },
    Reference {
        form: Form::Matern32,
        lengthscales: [0.25, 0.5, 1.0],
        mean: [
            -9.447_798_795_896_393_82e-1,
            -7.762_025_032_121_233_63e-1,
            -1.233_461_476_106_157_08,
            8.633_059_034_073_572_45e-1,
        ],
        variance: [
            7.672_569_951_699_453_88e-1,
            1.292_035_492_901_579_60,
            1.321_110_146_526_031_98,
            8.678_332_325_663_840_05e-3,
        ],
        log_likelihood: -5.784_292_438_061_841_32e1,
    },
    Reference {
        form: Form::Matern52,
        lengthscales: [0.25, 0.5, 1.0],
        mean: [
            -1.244_143_616_108_156_71,
            -1.380_681_474_467_283_73,
            -1.914_467_944_869_391_54,
            5.403_645_532_107_734_79e-1,
        ],
        variance: [
            6.658_325_074_335_607_05e-1,
            1.237_558_377_218_529_02,
            1.275_870_807_003_463_00,
            7.061_918_469_155_381_57e-3,
        ],
        log_likelihood: -9.883_201_578_070_254_81e1,
    },
    Reference {
        form: Form::Linear,
        lengthscales: [1.0; 3],
        mean: [1.904_967_533_689_614_36e-1, 0.0, -1.177_880_167_360_569_89e-1, -7.218_700_691_149_138_04e-2],
        variance: [
            2.372_090_590_284_647_86e-3,
            0.0,
            3.433_681_661_435_095_12e-3,
            1.395_448_834_050_405_65e-3,
        ],
        log_likelihood: -8.095_798_744_112_524_90e2,
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
