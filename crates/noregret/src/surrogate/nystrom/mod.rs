//! A Gaussian process in the span of a few points, the dictionary, over a finite set of arms.
//! Calandriello et al. 2020, "Near-linear time Gaussian process optimization with adaptive batching and resparsification"
//! (BBKB), eqs. (1) to (3). Variances are divided by `lambda`, in this module and in the strategies that use it only.
//!
//! # Notation
//! | paper              | here         | shape | meaning                                                              |
//! |--------------------|--------------|-------|----------------------------------------------------------------------|
//! | `S`                | `dictionary` | m     | inducing points, some of the arms that were pulled                   |
//! | `z(x)`             | `z`          | m     | embedding: `z(x) . z(x') = k_S(x)^T K_S^-1 k_S(x')`                  |
//! | `V_t`              | `v`          | m x m | `sum z z^T + lambda I` over all pulls                                |
//! | `mu(x)`            | mean         | A     | `z^T V^-1 Z^T y`, eq. (1)                                            |
//! | `sigma^2(x)`       | variance     | A     | `(k(x, x) - z . z) / lambda + z^T V^-1 z`, eqs. (2) and (3)          |
//!
//! # How it is kept up to date
//! Any square root of `K_S^-1` will do for the embedding, so any rotation of it will too. [`Nystrom::rebuild`] takes
//! `z = L_S^-1 k_S`, at `2 A m^2` flops for the embeddings and the variances. [`Nystrom::advance`] goes from one dictionary
//! and data set to the next by thin products, `O(A m)` for each pull, atom dropped and atom added:
//!
//! - *Pulls* `B = [sqrt(c) z_a]`: `V^-1` loses `N N^T` with `N = V^-1 B C^-T`, `C C^T = I + B^T V^-1 B`.
//! - *Dropping atoms.* What the others do not span are the dual vectors `d_j` with `d_j . z(s_i) = [i = j]`. Reflections
//!   `I - Y T Y^T` turn them into the last coordinates, which are cut off. With `H` those directions, `|H^T z|^2` goes to the
//!   residual, and `z^T V^-1 z` loses `|C^-1 H^T V^-1 z|^2`, `C C^T = H^T V^-1 H`: the inverse of a leading block.
//! - *Adding atoms.* New components are what the old ones leave over, `L^-1 (k(x, s) - z(x) . z(s))`; `z^T V^-1 z` gains the
//!   square of what `V^-1` cannot predict of them, over the Schur complement.
//!
//! Rounding adds up: strategies rebuild now and then.
//!
//! # Departures
//! - Atoms that the others span up to 1e-10 of their variance are left out, in place of a pseudo-inverse.
//! - Pulls that are still running count in the variance and not in the mean.

pub mod arms;
mod panel;
mod small;
#[cfg(test)]
mod tests;

use std::collections::{BTreeMap, HashSet};

use faer::{Mat, MatRef};
use rayon::prelude::*;

use crate::math::cholesky::{Cholesky, NotPositiveDefinite};
use crate::math::vector;
use crate::surrogate::gp::kernel::Kernel;
use crate::surrogate::points::Points;
use arms::Arms;
use panel::{Change, PANEL, Panel, Scratch};
use small::{factor, gram, reduction, solve, solve_rows, solve_square, times, weighted};

/// Atoms whose residual variance is below this share of their variance add nothing but rounding errors.
const SPANNED: f64 = 1e-10;

/// Numbers in all embeddings below which waking threads costs more than they save.
const LITTLE: usize = 1_000_000;

/// The pulls of one arm.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Pulls {
    /// Results told.
    pub told: usize,
    /// Still running.
    pub running: usize,
    /// Sum of the results told.
    pub sum: f64,
}

impl Pulls {
    /// All pulls.
    pub fn count(&self) -> usize {
        self.told + self.running
    }
}

/// Pulls by arm.
pub type Data = BTreeMap<usize, Pulls>;

/// How much was computed so far.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct WorkDone {
    /// Flops of the products and solves over all arms.
    pub flops: f64,
    /// Full rebuilds.
    pub rebuilds: usize,
    /// Incremental changes.
    pub advances: usize,
}

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

/// The model.
#[derive(Clone, Debug)]
pub struct Nystrom {
    kernel: Kernel,
    lambda: f64,
    arms: Arms,
    panels: Vec<Panel>,
    /// Arms with pulls, in the order of their first, and the embedding of each (a row).
    pulled: Vec<usize>,
    place: BTreeMap<usize, usize>,
    counts: Vec<usize>,
    z_pulled: Mat<f64>,
    dictionary: Vec<usize>,
    v: Mat<f64>,
    v_factor: Cholesky,
    /// How much was computed so far.
    pub work: WorkDone,
}

impl Nystrom {
    /// A model without pulls.
    pub fn new(kernel: Kernel, lambda: f64, arms: Arms) -> Self {
        let starts = (0..arms.len()).step_by(PANEL);
        let mut panels: Vec<Panel> =
            starts.map(|first| Panel::new(first, PANEL.min(arms.len() - first))).collect();
        let nothing = Points::new(0);
        let empty = Cholesky::empty();
        panels.par_iter_mut().for_each(|panel| {
            panel.embed(&kernel, &arms, &nothing, &empty);
        });
        Self {
            kernel,
            lambda,
            arms,
            panels,
            pulled: Vec::new(),
            place: BTreeMap::new(),
            counts: Vec::new(),
            z_pulled: Mat::zeros(0, 0),
            dictionary: Vec::new(),
            v: Mat::zeros(0, 0),
            v_factor: Cholesky::empty(),
            work: WorkDone::default(),
        }
    }

    /// The arms.
    pub fn arms(&self) -> &Arms {
        &self.arms
    }

    /// The prior.
    pub fn kernel(&self) -> &Kernel {
        &self.kernel
    }

    /// The ridge, also the noise variance of the model.
    pub fn lambda(&self) -> f64 {
        self.lambda
    }

    /// The dictionary: arms.
    pub fn dictionary(&self) -> &[usize] {
        &self.dictionary
    }

    /// Components of the embedding.
    pub fn components(&self) -> usize {
        self.v.nrows()
    }

    fn at(&self, arm: usize) -> (&Panel, usize) {
        (&self.panels[arm / PANEL], arm % PANEL)
    }

    /// The posterior mean of an arm, eq. (1).
    pub fn mean(&self, arm: usize) -> f64 {
        let (panel, i) = self.at(arm);
        panel.mean[i]
    }

    /// Variance that the dictionary does not explain, over `lambda`: it stays as it is within a batch.
    pub fn residual(&self, arm: usize) -> f64 {
        let (panel, i) = self.at(arm);
        panel.residual[i].max(0.0) / self.lambda
    }

    /// `z^T V^-1 z`: the part of the variance that pulls reduce.
    pub fn projected(&self, arm: usize) -> f64 {
        let (panel, i) = self.at(arm);
        panel.projected[i].max(0.0)
    }

    /// The variance of an arm over `lambda`, eq. (3).
    pub fn variance(&self, arm: usize) -> f64 {
        self.residual(arm) + self.projected(arm)
    }

    /// Whether the dictionary explains an arm up to rounding.
    pub fn is_spanned(&self, arm: usize) -> bool {
        let (panel, i) = self.at(arm);
        panel.residual[i] <= SPANNED * self.kernel.variance(&self.arms.point(arm))
    }

    /// The embedding of an arm.
    pub fn embedding(&self, arm: usize) -> Vec<f64> {
        let (panel, i) = self.at(arm);
        let mut z = vec![0.0; self.components()];
        panel.copy_embedding(i, &mut z);
        z
    }

    /// `V` itself.
    pub fn v(&self) -> &Mat<f64> {
        &self.v
    }

    /// The factor of `V`.
    pub fn v_factor(&self) -> &Cholesky {
        &self.v_factor
    }

    /// `score(arm, mean, variance)` of all arms, in order.
    pub fn scores(&self, score: impl Fn(usize, f64, f64) -> f64 + Sync) -> Vec<f64> {
        let mut scores = vec![0.0; self.arms.len()];
        scores.par_chunks_mut(PANEL).zip(&self.panels).enumerate().for_each(|(p, (out, panel))| {
            for (i, out) in out.iter_mut().enumerate() {
                let variance = panel.residual[i].max(0.0) / self.lambda + panel.projected[i].max(0.0);
                *out = score(p * PANEL + i, panel.mean[i], variance);
            }
        });
        scores
    }

    /// The posterior covariance over `lambda` of one arm with every arm, eq. (2).
    pub fn covariances(&self, arm: usize) -> Vec<f64> {
        let x = self.arms.point(arm);
        let z = self.embedding(arm);
        let mut t = z.clone();
        self.v_factor.solve(&mut t);
        let right = Mat::from_fn(z.len(), 1, |i, _| t[i] - z[i] / self.lambda);
        let mut covariances = vec![0.0; self.arms.len()];
        covariances.par_chunks_mut(PANEL).zip(&self.panels).for_each_init(Vec::new, |prior, (out, panel)| {
            prior.resize(out.len(), 0.0);
            panel.prior_column(&self.kernel, &self.arms, &x, prior);
            panel.inner(right.as_ref(), out);
            out.iter_mut().zip(&*prior).for_each(|(c, k)| *c += k / self.lambda);
        });
        covariances
    }

    /// Inner products of every arm's embedding with the columns of `right` (m x q), arm by arm: A x q, row-major.
    pub fn inner_products(&self, right: MatRef<'_, f64>) -> Vec<f64> {
        let q = right.ncols();
        let mut out = vec![0.0; self.arms.len() * q];
        out.par_chunks_mut(PANEL * q.max(1)).zip(&self.panels).for_each(|(out, panel)| {
            let rows = panel.mean.len();
            let mut columns = vec![0.0; rows * q];
            panel.inner(right, &mut columns);
            for i in 0..rows {
                for j in 0..q {
                    out[i * q + j] = columns[j * rows + i];
                }
            }
        });
        out
    }

    /// Forgets everything and embeds all arms by this dictionary, of arms with pulls.
    pub fn rebuild(&mut self, data: &Data, dictionary: &[usize]) -> Result<(), NotPositiveDefinite> {
        let (dictionary, l_s) = independent(&self.kernel, &self.arms, dictionary);
        let atoms = self.arms.select(&dictionary);
        let m = dictionary.len();
        let (kernel, arms) = (&self.kernel, &self.arms);
        for_each_panel(&mut self.panels, m, |panel, _| panel.embed(kernel, arms, &atoms, &l_s));
        self.dictionary = dictionary;
        self.pulled = data.keys().copied().collect();
        self.place = self.pulled.iter().enumerate().map(|(i, arm)| (*arm, i)).collect();
        self.counts = data.values().map(Pulls::count).collect();
        let mut z = Mat::zeros(self.pulled.len(), m);
        self.gather(0, &mut z);
        self.z_pulled = z;
        self.v = gram(self.z_pulled.as_ref(), &self.counts);
        for i in 0..m {
            self.v[(i, i)] += self.lambda;
        }
        self.v_factor = factor(&self.v)?;
        let v_factor = &self.v_factor;
        for_each_panel(&mut self.panels, m, |panel, scratch| panel.project(v_factor, scratch));
        self.predict(data)?;
        self.work.rebuilds += 1;
        self.work.flops += (self.arms.len() * m * (2 * m + 2)) as f64;
        Ok(())
    }

    /// Copies the embeddings of the pulled arms from `from` on into the rows of `z`.
    fn gather(&self, from: usize, z: &mut Mat<f64>) {
        let mut row = vec![0.0; z.ncols()];
        for i in from..self.pulled.len() {
            let (panel, at) = self.at(self.pulled[i]);
            panel.copy_embedding(at, &mut row);
            for (j, value) in row.iter().enumerate() {
                z[(i, j)] = *value;
            }
        }
    }

    /// Goes on to this data and dictionary: by thin products if little changes, else by [`Self::rebuild`], and says whether
    /// it was that.
    pub fn advance(&mut self, data: &Data, dictionary: &[usize]) -> Result<bool, NotPositiveDefinite> {
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
    fn count(&mut self, data: &Data) -> (Vec<usize>, Option<Vec<(usize, usize)>>) {
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

    /// The weights of the mean, and the mean of every arm.
    fn predict(&mut self, data: &Data) -> Result<(), NotPositiveDefinite> {
        let weights = self.mean_weights(data)?;
        let weights = Mat::from_fn(weights.len(), 1, |i, _| weights[i]);
        for_each_panel(&mut self.panels, weights.nrows(), |panel, _| panel.predict(weights.as_ref()));
        Ok(())
    }

    /// `V^-1 Z^T y`, by the pulls that were told.
    pub fn mean_weights(&self, data: &Data) -> Result<Vec<f64>, NotPositiveDefinite> {
        let m = self.components();
        let sums: Vec<f64> = self.pulled.iter().map(|arm| data.get(arm).map_or(0.0, |p| p.sum)).collect();
        let mut w: Vec<f64> = (0..m).map(|j| vector::dot(self.z_pulled.col_as_slice(j), &sums)).collect();
        if data.values().all(|pulls| pulls.running == 0) {
            self.v_factor.solve(&mut w);
        } else {
            let told: Vec<usize> = self.pulled.iter().map(|a| data.get(a).map_or(0, |p| p.told)).collect();
            let mut v = gram(self.z_pulled.as_ref(), &told);
            for i in 0..m {
                v[(i, i)] += self.lambda;
            }
            factor(&v)?.solve(&mut w);
        }
        Ok(w)
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
            if appended(&mut factor, &mut row, diagonal, prior) {
                kept.push(i);
            }
        }
        *added = kept.into_iter().map(|i| added[i]).collect();
        factor
    }
}

/// Runs over all panels, of `m` components each.
fn for_each_panel(panels: &mut [Panel], m: usize, each: impl Fn(&mut Panel, &mut Scratch) + Sync) {
    if panels.len() * PANEL * m < LITTLE {
        let mut scratch = Scratch::default();
        panels.iter_mut().for_each(|panel| each(panel, &mut scratch));
    } else {
        panels.par_iter_mut().for_each_init(Scratch::default, |scratch, panel| each(panel, scratch));
    }
}

fn covariance(kernel: &Kernel, a: &[f64], b: &[f64]) -> f64 {
    let mut out = [0.0];
    let mut points = Points::new(a.len());
    points.push(a);
    kernel.column(&points, 0, b, &mut out);
    out[0]
}

/// Appends a row unless it is spanned by those before.
fn appended(factor: &mut Cholesky, row: &mut [f64], diagonal: f64, prior: f64) -> bool {
    let mut solved = row.to_vec();
    factor.solve_lower(&mut solved);
    let pivot = diagonal - vector::dot(&solved, &solved);
    let independent = pivot > SPANNED * prior;
    if independent {
        factor.append(row, diagonal);
    }
    independent
}

/// The arms among `wanted` that the ones before them do not span, and the factor of their covariance.
fn independent(kernel: &Kernel, arms: &Arms, wanted: &[usize]) -> (Vec<usize>, Cholesky) {
    let points = arms.select(wanted);
    let whole = Cholesky::factor(wanted.len(), |j, rows| kernel.column(&points, j, &points.point(j), rows));
    // Most often there are none, and the factorisation in blocks is much faster.
    if let Ok(whole) = whole
        && whole.repairs().jitter == 0.0
        && (0..wanted.len()).all(|j| whole.diagonal(j).powi(2) > SPANNED * kernel.variance(&points.point(j)))
    {
        return (wanted.to_vec(), whole);
    }
    let (mut kept, mut factor) = (Vec::new(), Cholesky::empty());
    let mut so_far = Points::new(points.dims());
    let mut row = Vec::new();
    for (i, arm) in wanted.iter().enumerate() {
        let x = points.point(i);
        row.resize(so_far.len(), 0.0);
        kernel.column(&so_far, 0, &x, &mut row);
        let prior = kernel.variance(&x);
        if appended(&mut factor, &mut row, prior, prior) {
            so_far.push(&x);
            kept.push(*arm);
        }
    }
    (kept, factor)
}
