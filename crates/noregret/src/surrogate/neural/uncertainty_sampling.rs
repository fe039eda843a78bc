//! Points chosen one after another where the posterior variance of the tangent kernel is largest: the initial stage of
//! Dai et al. 2022, eq. (4) and App. B, in its dual form.
//!
//! Variances depend on places, not on values, so that a whole design can be chosen at once. It is a Cholesky factorisation of the
//! kernel of all points in which the pivots are first the points that are known, then the most uncertain candidates.

use faer::{Mat, MatRef};

use super::network::{Network, Signals, Trace};

/// The indices of `count` candidates (columns of `candidates`), most uncertain first, given the columns of `known`; `noise` is the
/// variance of an observation. Ties go to the lowest index.
pub fn most_uncertain(
    network: &Network,
    theta: &[f32],
    known: MatRef<'_, f32>,
    candidates: MatRef<'_, f32>,
    count: usize,
    noise: f64,
) -> Vec<usize> {
    let (m, n) = (known.ncols(), candidates.ncols());
    let pass = |x: MatRef<'_, f32>| {
        let (mut trace, mut signals) = (Trace::default(), Signals::default());
        network.forward(theta, x, &mut trace);
        network.signals(theta, &trace, &mut signals);
        (trace, signals)
    };
    let all =
        Mat::from_fn(
            candidates.nrows(),
            m + n,
            |i, j| {
                if j < m { known[(i, j)] } else { candidates[(i, j - m)] }
            },
        );
    let (trace, signals) = pass(all.as_ref());
    let mut variance: Vec<f64> = network.squared_norms(&trace, &signals).into_iter().map(f64::from).collect();
    let mut columns: Vec<Vec<f64>> = Vec::with_capacity(m + count);
    let mut chosen = Vec::with_capacity(count);
    for step in 0..m + count.min(n) {
        let pivot = if step < m {
            step
        } else {
            let free = (m..m + n).filter(|j| !chosen.contains(&(j - m)));
            let best = free.reduce(|a, b| if variance[b] > variance[a] { b } else { a });
            let best = best.expect("invariant: fewer are chosen than there are");
            chosen.push(best - m);
            best
        };
        let own = pass(all.as_ref().subcols(pivot, 1));
        let kernel = network.gram((&trace, &signals), (&own.0, &own.1));
        let scale = 1.0 / (variance[pivot] + noise).sqrt();
        let mut column: Vec<f64> = kernel.col_as_slice(0).iter().map(|k| f64::from(*k)).collect();
        for before in &columns {
            let weight = before[pivot];
            column.iter_mut().zip(before).for_each(|(c, b)| *c -= weight * b);
        }
        for (c, v) in column.iter_mut().zip(&mut variance) {
            *c *= scale;
            *v = (*v - *c * *c).max(0.0);
        }
        columns.push(column);
    }
    chosen
}
