//! Hartmann (1973): four Gaussian wells in the unit cube.
//! `f(x) = - sum_i alpha_i exp(- sum_j A_ij (x_j - P_ij)^2)`, for three, four and six dimensions.

use crate::{Problem, cube};

const ALPHA: [f64; 4] = [1.0, 1.2, 3.0, 3.2];

const A3: [[f64; 3]; 4] = [[3.0, 10.0, 30.0], [0.1, 10.0, 35.0], [3.0, 10.0, 30.0], [0.1, 10.0, 35.0]];
/// In units of 1e-4, as printed.
const P3: [[f64; 3]; 4] =
    [[3689.0, 1170.0, 2673.0], [4699.0, 4387.0, 7470.0], [1091.0, 8732.0, 5547.0], [381.0, 5743.0, 8828.0]];

const A6: [[f64; 6]; 4] = [
    [10.0, 3.0, 17.0, 3.5, 1.7, 8.0],
    [0.05, 10.0, 17.0, 0.1, 8.0, 14.0],
    [3.0, 3.5, 1.7, 10.0, 17.0, 8.0],
    [17.0, 8.0, 0.05, 10.0, 0.1, 14.0],
];
/// In units of 1e-4, as printed.
const P6: [[f64; 6]; 4] = [
    [1312.0, 1696.0, 5569.0, 124.0, 8283.0, 5886.0],
    [2329.0, 4135.0, 8307.0, 3736.0, 1004.0, 9991.0],
    [2348.0, 1451.0, 3522.0, 2883.0, 3047.0, 6650.0],
    [4047.0, 8828.0, 8732.0, 5743.0, 1091.0, 381.0],
];

/// Hartmann's function of three dimensions.
pub fn hartmann3() -> Problem {
    let minimizer = vec![0.114_588_876_655_068_96, 0.555_648_894_616_93, 0.852_546_984_686_677_4];
    Problem::new(
        "hartmann-3d",
        |x| wells(&A3, &P3, x),
        cube(3, 0.0, 1.0),
        -3.862_779_787_332_662_4,
        vec![minimizer],
    )
}

/// Hartmann's function of four dimensions: the first four columns of the six-dimensional tables.
///
/// The plain sum, with the minimum -3.72984, as in the code of Kim, Liu & Chen, "Inexact Acquisition"; not the
/// rescaled form of Picheny et al. (2013), whose minimum is -3.1345.
pub fn hartmann4() -> Problem {
    let minimizer = vec![
        0.187_395_272_973_466_7,
        0.194_151_529_302_440_73,
        0.557_917_780_062_569,
        0.264_779_624_170_397_13,
    ];
    Problem::new(
        "hartmann-4d",
        |x| wells(&A6, &P6, x),
        cube(4, 0.0, 1.0),
        -3.729_840_584_485_593,
        vec![minimizer],
    )
}

/// Hartmann's function of six dimensions.
pub fn hartmann6() -> Problem {
    let minimizer = vec![
        0.201_689_511_006_705_43,
        0.150_010_691_823_457_97,
        0.476_873_974_221_897,
        0.275_332_430_494_056_1,
        0.311_651_616_600_113_26,
        0.657_300_534_065_620_3,
    ];
    Problem::new(
        "hartmann-6d",
        |x| wells(&A6, &P6, x),
        cube(6, 0.0, 1.0),
        -3.322_368_011_415_514_7,
        vec![minimizer],
    )
}

/// Columns beyond the coordinates of `x` are left out.
fn wells<const D: usize>(a: &[[f64; D]; 4], p: &[[f64; D]; 4], x: &[f64]) -> f64 {
    let depth = |i: usize| {
        let distance: f64 =
            x.iter().zip(&a[i]).zip(&p[i]).map(|((x, a), p)| a * (x - 1e-4 * p).powi(2)).sum();
        ALPHA[i] * (-distance).exp()
    };
    -(0..4).map(depth).sum::<f64>()
}
