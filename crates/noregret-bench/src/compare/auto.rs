//! What `auto` is made of: each of its choices against the same without it.
//!
//! The problems are those of `noregret bench peers`, but with other places of the minima and other seeds: what was chosen
//! here is judged there.

use std::io::Write;
use std::num::NonZeroUsize;

use noregret::Algorithm;
use noregret::strategy::auto;
use noregret::strategy::gp::bucb::BucbConfig;
use noregret::strategy::gp::gp_ei::GpEiConfig;
use noregret::strategy::gp::gp_ucb::GpUcbConfig;
use noregret::strategy::gp::search::trust_region::TrustRegion;
use noregret::strategy::gp::ts_rsr::TsRsrConfig;
use noregret::strategy::gp::{GpOptions, OnGp};
use noregret::surrogate::gp::kernel::Form;
use noregret::surrogate::gp::warp::Transform;
use noregret::surrogate::gp::{GpConfig, Pending};

use crate::compare::peers::contender::Contender;
use crate::compare::peers::findings;
use crate::compare::peers::run::MethodRun;
use crate::compare::peers::suite::{self, Suite};
use crate::report::Progress;
use crate::{BenchError, Options, Output};

/// Repetitions, each with a minimum in another place.
const RUNS: u32 = 5;
/// The seeds begin here, far from those of the comparison with peers.
const FIRST_SEED: u64 = 1_000;

/// More problems, run if they are named: in many dimensions, of which the comparison has two; of categories only; and pools, which peers do
/// not take.
const MORE: [&str; 14] = [
    "rosenbrock-20d",
    "styblinski-tang-20d",
    "ackley-30d",
    "griewank-50d",
    "rastrigin-50d",
    "rosenbrock-5d-categories",
    "hartmann-6d-categories",
    "griewank-8d-categories",
    "ackley-10d-categories",
    "styblinski-tang-10d-categories",
    "hartmann-6d-pool",
    "levy-5d-pool",
    "ackley-10d-pool",
    "hartmann-6d-million",
];

/// What stands for `auto` with one choice undone, or another algorithm on its model.
const VARIANTS: [&str; 16] = [
    "auto",
    "other-kernel",
    "as-they-are",
    "usual-priors",
    "noisy-pending",
    "touching",
    "everywhere",
    "only-near",
    "every-second",
    "no-finish",
    "no-bound",
    "as-in-few",
    "gp-ei",
    "ts-rsr-on-it",
    "gp-ucb-on-it",
    "bucb-on-it",
];

/// The algorithm of a variant for so many parameters.
fn variant(name: &str, dims: usize) -> Algorithm {
    let model = auto::model(auto::kernel(dims), dims);
    let other = if auto::kernel(dims) == Form::Anova { Form::Matern52 } else { Form::Anova };
    let usual_near = Some(auto::trust_region(dims));
    let near = |every| Some(TrustRegion { every, ..auto::trust_region(dims) });
    let usual = GpConfig::default();
    let ei = |model: GpConfig, trust_region| {
        let initial_points = Some(auto::design(dims, None));
        let apart = auto::APART;
        let gp = GpOptions { model, initial_points, ..GpOptions::default() };
        OnGp { own: GpEiConfig { trust_region, apart, ..GpEiConfig::default() }, gp }
    };
    let on_it = |model| GpOptions { model, ..GpOptions::default() };
    match name {
        "other-kernel" => Algorithm::GpEi(ei(auto::model(other, dims), usual_near)),
        "as-they-are" => Algorithm::GpEi(ei(GpConfig { transform: Transform::None, ..model }, usual_near)),
        "usual-priors" => Algorithm::GpEi(ei(
            GpConfig { lengthscale: usual.lengthscale, noise: usual.noise, ..model },
            usual_near,
        )),
        "noisy-pending" => Algorithm::GpEi(ei(GpConfig { pending: Pending::Noisy, ..model }, usual_near)),
        "touching" => {
            let mut config = ei(model, usual_near);
            config.own.apart = 0.0;
            Algorithm::GpEi(config)
        }
        "everywhere" => Algorithm::GpEi(ei(model, None)),
        "only-near" => Algorithm::GpEi(ei(model, near(1))),
        "every-second" => Algorithm::GpEi(ei(model, near(2))),
        "no-finish" => {
            Algorithm::GpEi(ei(model, Some(TrustRegion { finish: 1.0, ..auto::trust_region(dims) })))
        }
        "no-bound" => {
            Algorithm::GpEi(ei(model, Some(TrustRegion { elsewhere: None, ..auto::trust_region(dims) })))
        }
        "as-in-few" => {
            let mut config = ei(auto::model(auto::kernel(1), 1), Some(auto::trust_region(1)));
            config.gp.initial_points = Some((2 * dims).clamp(5, 20));
            Algorithm::GpEi(config)
        }
        "gp-ei" => Algorithm::GpEi(GpEiConfig::default().into()),
        "ts-rsr-on-it" => Algorithm::TsRsr(OnGp { own: TsRsrConfig::default(), gp: on_it(model) }),
        "gp-ucb-on-it" => Algorithm::GpUcb(OnGp { own: GpUcbConfig::default(), gp: on_it(model) }),
        "bucb-on-it" => Algorithm::Bucb(OnGp { own: BucbConfig::default(), gp: on_it(model) }),
        _ => Algorithm::default(),
    }
}

/// What `noregret bench auto --help` says after the flags.
pub const AFTER_HELP: &str = "\
Algorithms:  auto; the same with one choice undone: other-kernel (matern-52 in place of anova, and the
             other way round in many dimensions), as-they-are (values not transformed),
             usual-priors (of lengthscales and noise), noisy-pending, touching (points need not keep apart), everywhere (no trust
             region), only-near (all points in it), every-second, no-finish (towards the end no more of them than before), no-bound
             (all points by the expected improvement), as-in-few (in many dimensions what is chosen in few); gp-ei with its
             defaults; ts-rsr-on-it, gp-ucb-on-it and bucb-on-it (other algorithms on the same model)
Problems:    those of `noregret bench peers`, with other seeds (1000 is added to that of --seed); if named also rosenbrock-20d,
             styblinski-tang-20d, ackley-30d, griewank-50d, rastrigin-50d; rosenbrock-5d-categories, hartmann-6d-categories,
             griewank-8d-categories, ackley-10d-categories, styblinski-tang-10d-categories, where every parameter has four
             categories in no order; and hartmann-6d-pool, levy-5d-pool, ackley-10d-pool, where 50,000 random points are all
             there is, or a million in hartmann-6d-million

Examples:
  noregret bench auto --runs 2 --batches 5
  noregret bench auto --problems hartmann-6d-pool,levy-5d-pool --batches 20 --algorithms auto,other-kernel --try 'bbkb={\"name\":\"bbkb\"}'
  noregret bench auto --problems hartmann-6d-categories --algorithms auto --try 'forest={\"name\":\"random-forest\"}'
  noregret bench auto --evaluations 20 --batches 1,5 --algorithms auto --try 'ten={\"name\":\"auto\",\"initial_points\":10}'
  noregret bench auto --algorithms auto --try 'rough={\"name\":\"gp-ei\",\"model\":{\"kernel\":\"matern-32\"}}'";

/// The flags of this experiment.
#[derive(Clone, Debug, Default, clap::Args)]
pub struct AutoArgs {
    /// Those of all experiments.
    #[command(flatten)]
    pub options: Options,

    /// Sizes of batches, separated by commas [default: 1,5,20]
    #[arg(long, value_name = "SIZES", value_delimiter = ',')]
    pub batches: Vec<NonZeroUsize>,

    /// So many evaluations in place of 30 to 150, and batches from the first point on: what a variant takes for its design is its own affair
    #[arg(long, value_name = "N")]
    pub evaluations: Option<NonZeroUsize>,

    /// One more variant: a name and the algorithm's table as JSON; may be given several times
    #[arg(long = "try", value_name = "NAME=JSON")]
    pub tried: Vec<String>,
}

/// Runs the experiment and writes what it found.
pub fn run(args: &AutoArgs, out: &mut dyn Write) -> Result<(), BenchError> {
    let options = &args.options;
    let all = suite::problems();
    let known: Vec<&str> = all.iter().copied().chain(MORE).collect();
    let problems = if options.problems.is_empty() { all } else { options.problems_among(&known)? };
    let named = options.algorithms_among(&VARIANTS, &VARIANTS)?;
    let given = named.into_iter().map(|name| Ok((name, None)));
    let tried = args.tried.iter().map(|text| text.split_once('=').unwrap_or((text, "")));
    let tried = tried.map(|(name, table)| {
        let unreadable = |error: serde_json::Error| BenchError::Variant {
            name: name.to_owned(),
            problem: error.to_string(),
        };
        Ok((name, Some(serde_json::from_str(table).map_err(unreadable)?)))
    });
    let variants: Vec<(&str, Option<Algorithm>)> = given.chain(tried).collect::<Result<_, BenchError>>()?;
    let batches: Vec<usize> = match args.batches.as_slice() {
        [] => vec![1, 5, 20],
        asked => asked.iter().map(|batch| batch.get()).collect(),
    };
    let suite = Suite {
        problems,
        batches,
        runs: options.runs_or(RUNS),
        evaluations: args.evaluations.map(NonZeroUsize::get),
        seed: FIRST_SEED.wrapping_add(options.seed),
    };
    let mut output = Output::new(options, "auto", out)?;
    let progress = Progress::new(suite.len() * variants.len() as u64, "auto");
    for (name, algorithm) in &variants {
        for mut run in suite.runs() {
            if args.evaluations.is_some() {
                run.task.initial = run.task.batch;
            }
            let plan = MethodRun { method: name, run: &run };
            progress.message(plan.to_string());
            output.obtain(
                |record| plan.is_of(record),
                || {
                    let dims = run.task.problem.dims();
                    let algorithm = algorithm.clone().unwrap_or_else(|| variant(name, dims));
                    plan.execute(&mut Contender::ours(algorithm))
                },
            )?;
            progress.advance(1);
        }
        progress.note(&format!("auto: {name} done"));
    }
    drop(progress);
    let names: Vec<&str> = variants.iter().map(|(name, _)| *name).collect();
    findings::report(&names, &mut output)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::compare::peers::task::Task;
    use crate::report::Record;

    fn args(algorithms: &[&str], tried: &str) -> AutoArgs {
        let options = Options {
            problems: vec!["branin".into()],
            algorithms: algorithms.iter().map(|name| (*name).to_owned()).collect(),
            runs: std::num::NonZeroU32::new(1),
            ..Options::default()
        };
        AutoArgs {
            options,
            batches: vec![NonZeroUsize::new(20).unwrap()],
            evaluations: None,
            tried: vec![tried.to_owned()],
        }
    }

    /// Undone, a choice is undone: no two variants are the same, and each one runs.
    #[test]
    fn variants_differ_and_run() {
        for (i, a) in VARIANTS.iter().enumerate() {
            assert!(VARIANTS[..i].iter().all(|b| variant(a, 20) != variant(b, 20)), "{a}");
        }
        let mut out = Vec::new();
        let own = r#"rough={"name":"gp-ei","model":{"kernel":"matern-32"}}"#;
        run(&args(&["auto", "everywhere"], own), &mut out).unwrap();
        let text = String::from_utf8(out).unwrap();
        assert!(text.contains("everywhere") && text.contains("rough"), "{text}");
    }

    /// With nine evaluations one at a time, a design of nine is all there is, and a third of that is not.
    #[test]
    fn variants_may_size_their_design() {
        let mut args = args(&["auto"], r#"all={"name":"auto","initial_points":9}"#);
        args.batches = vec![NonZeroUsize::MIN];
        args.evaluations = NonZeroUsize::new(9);
        args.options.json = true;
        let mut out = Vec::new();
        run(&args, &mut out).unwrap();
        let records: Vec<Record> =
            String::from_utf8(out).unwrap().lines().map(|line| serde_json::from_str(line).unwrap()).collect();
        assert!(records.iter().all(|record| record.regret_curve.len() == 9), "one batch a point");
        assert_eq!(records[0].regret_curve[..3], records[1].regret_curve[..3], "the same design at first");
        assert_ne!(records[0].regret_curve[3..], records[1].regret_curve[3..]);
    }

    #[test]
    fn every_problem_that_may_be_named_is_there() {
        for name in MORE.into_iter().filter(|name| !name.ends_with("-million")) {
            assert!(Task::new(name, 1, None, 0).space().is_ok(), "{name}");
        }
        assert!(MORE.contains(&"hartmann-6d-million") && MORE.contains(&"hartmann-6d-pool"));
    }

    #[test]
    fn a_variant_that_is_none_is_an_error_that_names_it() {
        let error = run(&args(&["auto"], r#"odd={"name":"gp-ei","speed":1}"#), &mut Vec::new()).unwrap_err();
        assert!(error.to_string().contains("odd") && error.to_string().contains("speed"), "{error}");
    }
}
