//! Bounds on how far variances have shrunk within a batch. They decide when it ends.

use std::collections::HashMap;

use super::bounds::Pick;
use super::state::ArmsState;

/// When a batch ends.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Rule {
    /// Lemma 1.
    Global,
    /// Lemma 1 until it trips, then Lemma 3.
    GlobalLocal,
    /// The product of GP-BUCB (Desautels et al. 2014, Prop. 1), by variances of each step.
    Product,
}

/// Terms of Lemma 3 that are cached for repeated picks: 256 MB.
const REMEMBERED: usize = 1 << 25;

/// Bounds on how far the variances of a batch have shrunk.
pub(crate) struct Shrinkage<'a> {
    rule: Rule,
    threshold: f64,
    state: &'a ArmsState,
    global: f64,
    /// The product of `1 + variance` over the picks.
    pub(crate) product: f64,
    /// Lemma 3 for every arm, once Lemma 1 has tripped.
    local: Option<Vec<f64>>,
    picks: Vec<usize>,
    /// The terms of Lemma 3 by pick.
    terms: HashMap<usize, Vec<f64>>,
}

impl<'a> Shrinkage<'a> {
    /// No shrinkage yet, but for the `product` of a batch that goes on.
    pub(crate) fn new(rule: Rule, threshold: f64, state: &'a ArmsState, product: f64) -> Self {
        Self {
            rule,
            threshold,
            state,
            global: 1.0,
            product,
            local: None,
            picks: Vec::new(),
            terms: HashMap::new(),
        }
    }

    /// Records a pick. Returns whether the batch ends with it.
    pub(crate) fn ends_with(&mut self, pick: Pick) -> bool {
        let start = self.state.model().variance(pick.arm);
        self.global += start;
        self.product *= 1.0 + pick.variance;
        self.picks.push(pick.arm);
        match self.rule {
            Rule::Global => self.global > self.threshold,
            Rule::Product => self.product > self.threshold,
            Rule::GlobalLocal if self.threshold <= 1.0 => true,
            Rule::GlobalLocal => {
                if let Some(mut local) = self.local.take() {
                    self.add(pick.arm, &mut local);
                    let largest = local.iter().copied().fold(1.0, f64::max);
                    self.local = Some(local);
                    return largest > self.threshold;
                }
                if self.global > self.threshold {
                    let mut local = vec![1.0; self.state.model().arms().len()];
                    for arm in std::mem::take(&mut self.picks) {
                        self.add(arm, &mut local);
                    }
                    self.local = Some(local);
                }
                false
            }
        }
    }

    /// Adds `k^2(x, x_s) / sigma^2(x)` of one pick to all arms.
    fn add(&mut self, pick: usize, local: &mut [f64]) {
        let model = self.state.model();
        let terms = |arm: usize| {
            let mut terms = model.covariances(arm);
            for (x, term) in terms.iter_mut().enumerate() {
                let variance = model.variance(x);
                *term = if variance > 0.0 { *term * *term / variance } else { 0.0 };
            }
            terms
        };
        // Large batches pull few arms many times.
        let fresh;
        let terms = if self.terms.contains_key(&pick) || self.terms.len() * local.len() < REMEMBERED {
            &*self.terms.entry(pick).or_insert_with(|| terms(pick))
        } else {
            fresh = terms(pick);
            &fresh
        };
        local.iter_mut().zip(terms).for_each(|(local, term)| *local += term);
    }
}
