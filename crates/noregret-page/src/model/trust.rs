//! Whether the model can be trusted: what it is, how well it predicts, and how the study is.

use noregret::Study;
use noregret::space::Kind;
use noregret::strategy::diagnostics::Diagnostics;
use noregret::study::{Fitted, Importance};
use noregret_client::views::{LeftOut, ModelCard, Trust};
use noregret_store::Ledger;

use super::health::{self, Known};

/// Left-out predictions that are shown.
const SHOWN: usize = 2_000;
/// Half-widths of intervals of 50, 90 and 95 % in deviations.
const HALF_WIDTHS: [f64; 3] = [0.674_489_750_196_082, 1.644_853_626_951_472, 1.959_963_984_540_054];

/// The state of the study in sentences, its model, and how well the model predicts values that it has not seen. `diagnostics` are those of
/// the last proposal.
pub fn trust(
    study: &mut Study,
    ledger: &Ledger,
    diagnostics: Option<&Diagnostics>,
) -> Result<Trust, noregret::Error> {
    let fitted = study.fitted()?;
    let importance = study.importance()?;
    let left_out = study.left_out()?.map(left_out);
    let recommended = study.recommended()?;
    let regret = study.remaining_regret()?;
    let model = fitted.as_ref().map(|fitted| card(study, fitted, importance.as_ref()));
    let known = Known {
        study,
        ledger,
        diagnostics,
        model: model.as_ref(),
        importance: importance.as_ref(),
        left_out: left_out.as_ref(),
        recommended: recommended.as_ref(),
        regret: regret.as_ref(),
    };
    Ok(Trust { health: health::remarks(&known), model, left_out: left_out.map(thinned) })
}

/// Predictions with what they add up to.
fn left_out(found: noregret::study::LeftOut) -> LeftOut {
    let n = found.value.len().max(1) as f64;
    let within = |half_width: f64| {
        let inside = |i: &usize| (found.value[*i] - found.mean[*i]).abs() <= half_width * found.sd[*i];
        (0..found.value.len()).filter(inside).count() as f64 / n
    };
    let [half, most, nearly_all] = HALF_WIDTHS.map(within);
    let mean = found.value.iter().map(|y| y / n).sum::<f64>();
    let variance: f64 = found.value.iter().map(|y| (y - mean).powi(2)).sum();
    let errors: f64 = found.value.iter().zip(&found.mean).map(|(y, m)| (y - m).powi(2)).sum();
    let explained = if variance > 0.0 { 1.0 - errors / variance } else { 0.0 };
    LeftOut {
        number: found.number,
        value: found.value,
        mean: found.mean,
        sd: found.sd,
        coverage: (half, most, nearly_all),
        explained,
    }
}

/// As many of the predictions as are shown; coverage and share explained stay those of all.
fn thinned(all: LeftOut) -> LeftOut {
    let n = all.number.len();
    if n <= SHOWN {
        return all;
    }
    let some = |column: &[f64]| (0..SHOWN).map(|i| column[i * n / SHOWN]).collect();
    let number = (0..SHOWN).map(|i| all.number[i * n / SHOWN]).collect();
    LeftOut { number, value: some(&all.value), mean: some(&all.mean), sd: some(&all.sd), ..all }
}

/// The model in words and numbers.
fn card(study: &Study, fitted: &Fitted, importance: Option<&Importance>) -> ModelCard {
    let names = study.space().names();
    let is_category = |name: &str| {
        let dim = names.iter().position(|known| known == name);
        dim.is_some_and(|dim| matches!(study.space().kinds()[dim], Kind::Category(_)))
    };
    let in_words = |(name, lengthscale): &(String, f64)| {
        let meaning = if is_category(name) { of_choices(*lengthscale) } else { of_numbers(*lengthscale) };
        (name.clone(), *lengthscale, meaning.to_owned())
    };
    ModelCard {
        evaluations: fitted.evaluations as u64,
        of: fitted.of as u64,
        noise_sd: fitted.noise_sd,
        // What the values vary by is known better than what they might have varied by.
        signal_sd: importance.map_or(fitted.signal_sd, |importance| importance.deviation.median),
        lengthscales: fitted.lengthscales.iter().map(in_words).collect(),
    }
}

/// What a length scale means. Over one length scale a Matérn 5/2 function keeps half of its correlation (0.52), over three of them 0.03: a
/// range of so many length scales has about as many independent stretches, and one of a third of it is nearly a parabola.
fn of_numbers(lengthscale: f64) -> &'static str {
    match lengthscale {
        l if l < 0.05 => {
            "values change many times along its range: the model knows little between evaluations"
        }
        l if l < 0.2 => "values rise and fall several times along its range",
        l if l < 0.6 => "values rise and fall once or twice along its range",
        l if l < 2.0 => "values bend gently along its range",
        l if l < 6.0 => "values change nearly evenly along its range, if at all",
        _ => "values hardly change along its range, or quite evenly",
    }
}

/// The correlation of the values at two choices is `exp(-1 / l)`: 0.2 at 0.6, 0.6 at 2, 0.9 at 10.
fn of_choices(lengthscale: f64) -> &'static str {
    match lengthscale {
        l if l < 0.6 => "what is found for one choice says little about another",
        l if l < 2.0 => "choices have something in common",
        l if l < 10.0 => "choices are much alike",
        _ => "choices hardly differ",
    }
}

#[cfg(test)]
mod tests {
    use noregret::{Params, Space};

    use super::*;

    /// A bowl with its minimum at 0.3 in both coordinates, and numbers that look random added to it.
    fn study(n: u32, noise: f64) -> Study {
        let mut study = Study::builder().space(Space::bounds(&[(0.0, 1.0); 3]).unwrap()).build().unwrap();
        for i in 0..n {
            let u = |k: f64| (f64::from(i + 1) * k).fract();
            let x = [u(0.819_172_513), u(0.671_043_607), u(0.549_700_478)];
            let params = [("x0", x[0]), ("x1", x[1]), ("x2", x[2])];
            let wobble = (12.9898 * f64::from(i)).sin() * 43_758.545;
            let value = (x[0] - 0.3).powi(2) + (x[1] - 0.3).powi(2) + noise * (wobble - wobble.floor() - 0.5);
            study.add(&Params::from_iter(params), value, None).unwrap();
        }
        study
    }

    #[test]
    fn a_smooth_function_is_trusted() {
        let mut study = study(60, 0.0);
        let view = trust(&mut study, &Ledger::default(), None).unwrap();
        let model = view.model.unwrap();
        assert_eq!((model.evaluations, model.of, model.lengthscales.len()), (60, 60, 3));
        // Two parabolas on [-0.3, 0.7]: the variance of each is 1/180 + 0.4^2 / 12.
        assert!((model.signal_sd - 0.195).abs() < 0.03 && model.noise_sd < 0.01, "{model:?}");
        let left_out = view.left_out.unwrap();
        assert!(left_out.explained > 0.95 && left_out.coverage.1 > 0.8, "{left_out:?}");
        let (half, most, nearly_all) = left_out.coverage;
        assert!(half <= most && most <= nearly_all);
        assert_eq!(view.health.last().unwrap().level, "good", "{:?}", view.health);
        assert!(view.health.iter().all(|remark| remark.level != "warning"), "{:?}", view.health);
    }

    #[test]
    fn noise_alone_is_not_trusted() {
        let mut study = study(60, 20.0);
        let view = trust(&mut study, &Ledger::default(), None).unwrap();
        assert_eq!(view.health[0].level, "warning", "{:?}", view.health);
        assert!(view.health.iter().all(|remark| remark.level != "good"), "{:?}", view.health);
        assert!(view.left_out.unwrap().explained < 0.2);
    }

    #[test]
    fn of_nothing_it_says_that_there_is_nothing() {
        for n in [0, 1, 2] {
            let view = trust(&mut study(n, 0.0), &Ledger::default(), None).unwrap();
            assert_eq!((view.health.len(), view.left_out.is_none(), view.model.is_some()), (1, true, n > 0));
        }
    }

    #[test]
    fn of_many_predictions_some_are_shown() {
        let all = LeftOut {
            number: (0..5_000).collect(),
            value: vec![1.0; 5_000],
            mean: vec![1.0; 5_000],
            sd: vec![1.0; 5_000],
            coverage: (0.5, 0.9, 0.95),
            explained: 0.7,
        };
        let some = thinned(all);
        assert_eq!(
            (some.number.len(), some.value.len(), some.mean.len(), some.sd.len()),
            (2_000, 2_000, 2_000, 2_000)
        );
        assert!(some.number.is_sorted_by(|a, b| a < b) && some.coverage == (0.5, 0.9, 0.95));
    }
}
