//! Remaining regret over time: what was still to be gained, by the models of earlier moments.

use super::Study;
use super::insight::{self, RemainingRegret};
use super::recommend::{Posterior, key};
use crate::error::Error;
use crate::math::rng::Purpose;

/// Moments, by how many evaluations there are: one takes a fit of the model and 256 draws of the function.
const MOMENTS: [(usize, usize); 3] = [(300, 12), (1_000, 7), (4_000, 4)];
/// With more evaluations than in that table.
const FEWEST_MOMENTS: usize = 3;

impl Study {
    /// The remaining regret at up to 12 moments, each with the number of evaluations that had ended, failures included; the last moment
    /// is now. Empty before three values are told.
    ///
    /// Each is what [`Self::remaining_regret`] said at that moment, but that results which were corrected later are in it as corrected.
    /// Moments are at round numbers, and what was computed once is kept: a study that goes on adds to it. There are the fewer of them the
    /// more evaluations there are, so that all take some seconds at most.
    pub fn regrets(&mut self) -> Result<Vec<(usize, RemainingRegret)>, Error> {
        let (now, revision) = key(&self.history);
        self.recommender.regrets.retain(|(_, known), _| *known == revision);
        let mut regrets = Vec::new();
        for evaluations in moments(now) {
            if let Some(known) = self.recommender.regrets.get(&(evaluations, revision)) {
                regrets.push((evaluations, *known));
            } else if let Some(found) = self.regret_after(evaluations)? {
                self.recommender.regrets.insert((evaluations, revision), found);
                regrets.push((evaluations, found));
            }
        }
        Ok(regrets)
    }

    fn regret_after(&mut self, evaluations: usize) -> Result<Option<RemainingRegret>, Error> {
        if evaluations == self.history.len() {
            return self.remaining_regret();
        }
        let earlier = self.history.selected(&(0..evaluations).collect::<Vec<_>>());
        if !insight::has_enough(&earlier) {
            return Ok(None);
        }
        let rng = |item| self.seed.stream(Purpose::Reference, evaluations as u64, item);
        let posterior = Posterior::new(&earlier, &mut rng(0))?;
        Ok(Some(insight::insight(&earlier, &posterior, false, &mut rng(1))?.remaining_regret))
    }
}

/// Round numbers up to `now`, and `now` itself.
fn moments(now: usize) -> Vec<usize> {
    let most =
        MOMENTS.iter().find(|(evaluations, _)| now <= *evaluations).map_or(FEWEST_MOMENTS, |(_, most)| *most);
    let steps = (0..).flat_map(|power| [1, 2, 5].map(|digit| digit * 10_usize.saturating_pow(power)));
    let step = steps.into_iter().find(|step| now.div_ceil(*step) <= most).unwrap_or(now);
    (1..now.div_ceil(step.max(1))).map(|k| k * step).chain((now > 0).then_some(now)).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Space, Study};

    fn grow(study: &mut Study, trials: usize) {
        for trial in study.ask(trials).unwrap() {
            let x = trial.numbers();
            study.tell(trial.number, (x[0] - 0.3).powi(2) + x[1]).unwrap();
        }
    }

    /// An equivalence: what is said of a moment now is what was said then.
    #[test]
    fn the_past_is_as_it_was() {
        let space = Space::bounds(&[(0.0, 1.0); 2]).unwrap();
        let mut study = Study::builder().space(space).build().unwrap();
        assert!(study.regrets().unwrap().is_empty());
        let mut then = Vec::new();
        for _ in 0..8 {
            grow(&mut study, 5);
            then.push((study.trials().len(), study.remaining_regret().unwrap().unwrap()));
        }
        let mut anew = Study::builder().space(study.space().clone()).replay(study.events().to_vec()).unwrap();
        assert_eq!(anew.regrets().unwrap(), then, "40 evaluations have moments at multiples of 5");
        assert_eq!(study.regrets().unwrap(), then);
        // Kept, not computed again: of the moments at multiples of 5 those at multiples of 10 are asked for again.
        study.recommender.regrets.values_mut().for_each(|known| known.median = 77.0);
        grow(&mut study, 30);
        let later = study.regrets().unwrap();
        let kept = later
            .iter()
            .filter(|(_, regret)| regret.median.to_bits() == 77.0_f64.to_bits())
            .map(|(n, _)| *n)
            .collect::<Vec<_>>();
        assert_eq!(kept, [10, 20, 30, 40]);
        assert_eq!(later.iter().map(|(n, _)| *n).collect::<Vec<_>>(), [10, 20, 30, 40, 50, 60, 70]);
    }

    #[test]
    fn a_corrected_result_is_not_kept() {
        let mut study = Study::builder().space(Space::bounds(&[(0.0, 1.0); 2]).unwrap()).build().unwrap();
        grow(&mut study, 10);
        let before = study.regrets().unwrap();
        study.absorb(crate::study::Told { number: 0, value: 5.0, noise_var: None }).unwrap();
        assert_ne!(study.regrets().unwrap(), before);
    }

    #[test]
    fn moments_are_round_and_few() {
        assert_eq!(moments(0), [0; 0]);
        assert_eq!(moments(3), [1, 2, 3]);
        assert_eq!(moments(14), [2, 4, 6, 8, 10, 12, 14]);
        for now in 1..6_000 {
            let found = moments(now);
            assert!(
                found.len() <= 12 && found.last() == Some(&now) && found.is_sorted_by(|a, b| a < b),
                "{found:?}"
            );
        }
        assert!(moments(5_999).len() <= FEWEST_MOMENTS);
    }
}
