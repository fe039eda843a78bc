//! From one dictionary and data set to the next by thin products: the three changes of `mod.rs`, in this order.

use std::collections::HashSet;

use faer::Mat;

use super::panel::Change;
use super::small::{factor, reduction, solve, solve_rows, solve_square, times, weighted};
use super::{Nystrom, Pulls, PullsByArm, appended, for_each_panel, negligible};
use crate::math::cholesky::{Cholesky, NotPositiveDefinite};
use crate::math::vector;
use crate::surrogate::gp::kernel::Kernel;
use crate::surrogate::points::Points;

/// What new atoms mean for every arm.
struct Insertion {
    /// Their embeddings by the others, one a column.
    z_new: Mat<f64>,
    /// `V^-1 v`.
    g: Mat<f64>,
    /// Factor of their residual covariance.
    innovation: Cholesky,
    /// Factor of the Schur complement of V.
    schur: Cholesky,
}

impl Nystrom {
    /// Goes on to this data and dictionary: by thin products if little changes, else by [`Self::rebuild`], and says whether
    /// it was that.
    pub fn advance(&mut self, data: &PullsByArm, dictionary: &[usize]) -> Result<bool, NotPositiveDefinite> {
        let m = self.components();
        let (before, after): (HashSet<usize>, HashSet<usize>) =
            (self.dictionary.iter().copied().collect(), dictionary.iter().copied().collect());
        let removed: Vec<usize> = self.dictionary.iter().copied().filter(|a| !after.contains(a)).collect();
        let mut added: Vec<usize> = dictionary.iter().copied().filter(|a| !before.contains(a)).collect();
        let (counts, grown) = self.count(data);
        let cost = grown.as_ref().map_or(usize::MAX, |g| g.len() + 4 * removed.len() + 3 * added.len());
        // Thin products run at about half the speed of solves with many right-hand sides.
        let few = grown.filter(|_| m > 0 && cost.saturating_mul(2) <= m);
        let Some(grown) = few else { return self.rebuild(data, dictionary).map(|()| true) };
        self.counts = counts;
        let (b, r) = (grown.len(), removed.len());
        let n = self.pull(&grown)?;
        let (turn, back) = self.remove(&removed)?;
        let mut thin = Mat::zeros(m, b + 3 * r);
        thin.submatrix_mut(0, 0, m, b).copy_from(&n);
        thin.submatrix_mut(0, b, m, 3 * r).copy_from(&turn);
        let kept = m - r;
        let Insertion { z_new, g, innovation, schur } = self.insert(&mut added)?;
        self.v_factor = factor(&self.v)?;
        let mut weights = self.mean_weights(data)?;
        let a = added.len();
        let grow = Mat::from_fn(kept, 2 * a + 1, |i, j| match j {
            j if j < a => z_new[(i, j)],
            j if j < 2 * a => g[(i, j - a)],
            _ => weights[i],
        });
        weights.drain(..kept);
        let atoms = self.arms.select(&added);

        let width = thin.ncols() + r + 2 * a;
        let change = Change { m, thin, b, r, back, atoms, grow, weights, innovation, schur };
        let (kernel, arms) = (&self.kernel, &self.arms);
        for_each_panel(&mut self.panels, m, |panel, scratch| panel.follow(kernel, arms, &change, scratch));
        self.work.advances += 1;
        self.work.flops += (self.arms.len() * m * (2 * width + 2)) as f64;
        Ok(false)
    }

    /// Adds pulls, given by place and number, to V. Returns `N`, by which `z^T V^-1 z` falls.
    fn pull(&mut self, grown: &[(usize, usize)]) -> Result<Mat<f64>, NotPositiveDefinite> {
        let pulls = Mat::from_fn(self.components(), grown.len(), |i, j| {
            let (place, more) = grown[j];
            (more as f64).sqrt() * self.z_pulled[(place, i)]
        });
        let n = reduction(&self.v_factor, &pulls, true)?;
        self.v += times(pulls.as_ref(), pulls.transpose());
        Ok(n)
    }

    /// Removes atoms from V and from the pulled arms. Returns `[N2 | H | Y T]` and the leading part of `Y^T`.
    fn remove(&mut self, removed: &[usize]) -> Result<(Mat<f64>, Mat<f64>), NotPositiveDefinite> {
        let (m, r) = (self.components(), removed.len());
        let kept = m - r;
        if r == 0 {
            return Ok((Mat::zeros(m, 0), Mat::zeros(0, kept)));
        }
        let (y, t) = self.reflectors(removed);
        let last = Mat::from_fn(m, r, |i, j| f64::from(u8::from(i == kept + j)));
        let yt = times(y.as_ref(), t.as_ref());
        let h = &last - times(yt.as_ref(), times(y.transpose(), last.as_ref()).as_ref());
        let mut turned = Mat::zeros(m, 3 * r);
        turned.submatrix_mut(0, 0, m, r).copy_from(&reduction(&factor(&self.v)?, &h, false)?);
        turned.submatrix_mut(0, r, m, r).copy_from(&h);
        turned.submatrix_mut(0, 2 * r, m, r).copy_from(&yt);
        let turn = |matrix: &Mat<f64>| {
            let along = times(matrix.as_ref(), yt.as_ref());
            matrix - times(along.as_ref(), y.transpose())
        };
        self.v = turn(&turn(&self.v).transpose().to_owned()).submatrix(0, 0, kept, kept).to_owned();
        self.z_pulled = turn(&self.z_pulled).subcols(0, kept).to_owned();
        self.dictionary.retain(|atom| !removed.contains(atom));
        Ok((turned, y.transpose().subcols(0, kept).to_owned()))
    }

    /// Adds atoms to V and to the pulled arms; those that are spanned already are left out of `added`.
    fn insert(&mut self, added: &mut Vec<usize>) -> Result<Insertion, NotPositiveDefinite> {
        let m = self.components();
        if added.is_empty() {
            let (z_new, g) = (Mat::zeros(m, 0), Mat::zeros(m, 0));
            return Ok(Insertion { z_new, g, innovation: Cholesky::empty(), schur: Cholesky::empty() });
        }
        let innovation = self.innovations(added);
        let a = added.len();
        let atoms = self.arms.select(added);
        let places: Vec<usize> = added.iter().map(|atom| self.place[atom]).collect();
        let z_new = Mat::from_fn(m, a, |i, j| self.z_pulled[(places[j], i)]);
        let mut fresh = times(self.z_pulled.as_ref(), z_new.as_ref());
        let pulled = self.arms.select(&self.pulled);
        let mut column = vec![0.0; pulled.len()];
        for j in 0..a {
            self.kernel.column(&pulled, 0, &atoms.point(j), &mut column);
            for (i, k) in column.iter().enumerate() {
                fresh[(i, j)] = k - fresh[(i, j)];
            }
        }
        solve_rows(&innovation, &mut fresh);
        let counted = weighted(fresh.as_ref(), &self.counts);
        let cross = times(self.z_pulled.transpose(), counted.as_ref()); // v
        let corner = times(fresh.transpose(), counted.as_ref());
        let g = solve(&factor(&self.v)?, &cross);
        let predicted = times(cross.transpose(), g.as_ref());
        let ridge = |i, j| if i == j { self.lambda } else { 0.0 };
        let schur = Cholesky::factor(a, |j, rows| {
            for (i, out) in (j..).zip(rows) {
                *out = corner[(i, j)] - predicted[(i, j)] + ridge(i, j);
            }
        })?;
        self.v = Mat::from_fn(m + a, m + a, |i, j| match (i < m, j < m) {
            (true, true) => self.v[(i, j)],
            (true, false) => cross[(i, j - m)],
            (false, true) => cross[(j, i - m)],
            (false, false) => corner[(i - m, j - m)] + ridge(i, j),
        });
        self.z_pulled = Mat::from_fn(self.pulled.len(), m + a, |i, j| {
            if j < m { self.z_pulled[(i, j)] } else { fresh[(i, j - m)] }
        });
        self.dictionary.extend(&*added);
        Ok(Insertion { z_new, g, innovation, schur })
    }

    /// Counts of all pulled arms, new ones registered, and where they grew; `None` if any shrank.
    fn count(&mut self, data: &PullsByArm) -> (Vec<usize>, Option<Vec<(usize, usize)>>) {
        let from = self.pulled.len();
        for arm in data.keys() {
            if !self.place.contains_key(arm) {
                self.place.insert(*arm, self.pulled.len());
                self.pulled.push(*arm);
            }
        }
        self.counts.resize(self.pulled.len(), 0);
        let m = self.components();
        let mut z = Mat::zeros(self.pulled.len(), m);
        z.submatrix_mut(0, 0, from, m).copy_from(&self.z_pulled);
        self.gather(from, &mut z);
        self.z_pulled = z;
        let counts: Vec<usize> =
            self.pulled.iter().map(|arm| data.get(arm).map_or(0, Pulls::count)).collect();
        let changes = self.counts.iter().zip(&counts).enumerate();
        let grown = changes
            .filter(|(_, (before, now))| before != now)
            .map(|(i, (before, now))| now.checked_sub(*before).map(|more| (i, more)))
            .collect();
        (counts, grown)
    }

    /// Reflectors `Y` and `T` such that `I - Y T Y^T` turns the span of the removed atoms' dual vectors into the last
    /// coordinates.
    fn reflectors(&self, removed: &[usize]) -> (Mat<f64>, Mat<f64>) {
        let m = self.components();
        let places: Vec<usize> = self.dictionary.iter().map(|atom| self.place[atom]).collect();
        let e = Mat::from_fn(m, m, |i, j| self.z_pulled[(places[i], j)]);
        let unit =
            Mat::from_fn(m, removed.len(), |i, j| f64::from(u8::from(self.dictionary[i] == removed[j])));
        let mut d = solve_square(e, unit);
        let r = removed.len();
        let (mut y, mut t) = (Mat::<f64>::zeros(m, r), Mat::<f64>::zeros(r, r));
        for k in 0..r {
            // Column k to coordinate m - 1 - k, which no later reflection touches.
            let last = m - 1 - k;
            let norm = (0..=last).map(|i| d[(i, k)].powi(2)).sum::<f64>().sqrt();
            let sign = if d[(last, k)] > 0.0 { 1.0 } else { -1.0 };
            let mut h: Vec<f64> = (0..m).map(|i| if i <= last { d[(i, k)] } else { 0.0 }).collect();
            h[last] += sign * norm;
            let tau = 2.0 / vector::dot(&h, &h).max(f64::MIN_POSITIVE);
            for j in k..r {
                let along = tau * (0..=last).map(|i| h[i] * d[(i, j)]).sum::<f64>();
                (0..=last).for_each(|i| d[(i, j)] -= along * h[i]);
            }
            // (I - Y T Y^T)(I - tau h h^T): the new column of T is -tau T Y^T h.
            let overlap: Vec<f64> = (0..k).map(|j| (0..m).map(|i| y[(i, j)] * h[i]).sum()).collect();
            for i in 0..k {
                t[(i, k)] = -tau * (i..k).map(|j| t[(i, j)] * overlap[j]).sum::<f64>();
            }
            t[(k, k)] = tau;
            (0..m).for_each(|i| y[(i, k)] = h[i]);
        }
        (y, t)
    }

    /// Leaves out of `added` what is spanned already and factors the residual covariance of the rest.
    fn innovations(&self, added: &mut Vec<usize>) -> Cholesky {
        let points = self.arms.select(added);
        let (mut kept, mut factor) = (Vec::<usize>::new(), Cholesky::empty());
        let z = |arm: usize| self.z_pulled.row(self.place[&arm]);
        for (i, arm) in added.iter().enumerate() {
            let x = points.point(i);
            let own = z(*arm);
            let mut row: Vec<f64> = kept
                .iter()
                .map(|j| covariance(&self.kernel, &points.point(*j), &x) - own * z(added[*j]).transpose())
                .collect();
            let prior = self.kernel.variance(&x);
            let diagonal = prior - own * own.transpose();
            if appended(&mut factor, &mut row, diagonal, negligible(prior, self.lambda)) {
                kept.push(i);
            }
        }
        *added = kept.into_iter().map(|i| added[i]).collect();
        factor
    }
}

pub(super) fn covariance(kernel: &Kernel, a: &[f64], b: &[f64]) -> f64 {
    let mut out = [0.0];
    let mut points = Points::new(a.len());
    points.push(a);
    kernel.column(&points, 0, b, &mut out);
    out[0]
}
