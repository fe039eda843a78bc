//! `noregret tell`: records results from outside.

pub(crate) mod import;

use std::collections::VecDeque;
use std::io::Write;
use std::path::PathBuf;

use anyhow::Error;
use noregret::study::NOISE_VARIANCES;
use noregret_store::{Attrs, Evaluation, SharedStudy, StorageUrl, Timestamp, Verdict, tell_one};

use crate::UsageError;
use crate::common_args::JsonArg;
use crate::run::parse_answer;
use crate::target::{StudyArgs, Target};

/// Flags of `noregret tell`.
#[derive(Debug, clap::Args)]
#[command(after_help = AFTER_HELP, override_usage = USAGE)]
pub(crate) struct TellArgs {
    /// The study file, unless --study names the study
    #[arg(value_name = "STUDY")]
    first: Option<String>,
    /// The trial's number
    #[arg(value_name = "NUMBER", allow_hyphen_values = true)]
    second: Option<String>,
    /// Its value: a number, or `{"value": 0.31, "noise_var": 0.01, "attrs": {...}}`
    #[arg(value_name = "VALUE", allow_hyphen_values = true)]
    third: Option<String>,
    /// Name of a study in the storage, where no file is given
    #[arg(long, value_name = "NAME", env = "NOREGRET_STUDY")]
    study: Option<String>,
    /// Where studies are kept [default: noregret.db beside the study file]
    #[arg(long, value_name = "URL", env = "NOREGRET_STORAGE", hide_env_values = true)]
    storage: Option<StorageUrl>,
    /// Variance of the value's noise
    #[arg(long, value_name = "VARIANCE", allow_negative_numbers = true)]
    noise_var: Option<f64>,
    /// The trial has failed, for this reason
    #[arg(long, value_name = "REASON", conflicts_with_all = ["noise_var", "from"])]
    fail: Option<String>,
    /// The result that the trial has was wrong: this one takes its place
    #[arg(long, conflicts_with = "from")]
    replace: bool,
    /// Add results from elsewhere: a CSV file with a column for each parameter and one called `value`
    #[arg(long, value_name = "FILE", conflicts_with = "noise_var")]
    from: Option<PathBuf>,
    /// The column of --from with the values
    #[arg(long, value_name = "NAME", default_value = "value", requires = "from")]
    value_column: String,
    #[command(flatten)]
    json: JsonArg,
}

const USAGE: &str = "noregret tell STUDY NUMBER VALUE [--noise-var VARIANCE]
       noregret tell STUDY NUMBER VALUE --replace
       noregret tell STUDY NUMBER --fail REASON
       noregret tell STUDY --from FILE.csv";

const AFTER_HELP: &str = "\
Examples:
  noregret tell study.toml 12 0.31                        trial 12 has the value 0.31
  noregret tell study.toml 12 0.31 --noise-var 0.01
  noregret tell study.toml 12 0.13 --replace              no, it has 0.13
  noregret tell study.toml 13 --fail \"the plate broke\"
  noregret tell study.toml --from old.csv                 begin with what is known already
  noregret tell --study mlp --storage sqlite:///noregret.db 12 0.31

Telling the same twice changes nothing. Another value for a trial that has one is recorded, and not counted, unless
--replace says that the one it has was wrong: then everything is from now on as if it had been told right.";

pub(crate) fn run(args: &TellArgs, out: &mut dyn Write) -> Result<(), Error> {
    let mut words: VecDeque<&String> =
        [&args.first, &args.second, &args.third].into_iter().flatten().collect();
    let expected = match (&args.from, &args.fail) {
        (Some(_), _) => 0,
        (None, Some(_)) => 1,
        (None, None) => 2,
    };
    // A file comes before the other arguments; without one, --study (or its variable) names the study.
    let with_file = words.len() > expected || args.study.is_none();
    let file = if with_file { words.pop_front().map(PathBuf::from) } else { None };
    let study = StudyArgs { file, study: args.study.clone(), storage: args.storage.clone() };
    let target = study.locate()?;
    if let Some(path) = &args.from {
        if !words.is_empty() {
            return Err(UsageError::new("--from takes no trial number and no value").into());
        }
        return import::run(&target, path, &args.value_column, args.json.json, out);
    }
    let (number, value) = match (&*words.make_contiguous(), &args.fail) {
        ([number], Some(_)) => (*number, None),
        ([number, value], None) => (*number, Some(*value)),
        (_, Some(_)) => {
            return Err(UsageError::new("say which trial has failed: its number, and no value").into());
        }
        _ => return Err(UsageError::new("say which trial it is and its value, such as: 12 0.31").into()),
    };
    let number: u64 = number
        .parse()
        .map_err(|_| UsageError::new(format!("{number:?} is no trial number: they count 0, 1, 2, ...")))?;
    let outcome = match (value, &args.fail) {
        (Some(value), _) => outcome(value, args.noise_var)?,
        (None, reason) => {
            let reason = reason.clone().unwrap_or_default();
            Evaluation::Failure { reason, stderr: String::new(), seconds: None }
        }
    };
    let verdict =
        if args.replace { replace(&target, number, &outcome)? } else { tell(&target, number, &outcome)? };
    if args.json.json {
        writeln!(out, "{}", serde_json::json!({ "number": number, "result": verdict.word() }))?;
    } else {
        writeln!(out, "trial {number}: {}", sentence(verdict))?;
    }
    Ok(())
}

fn outcome(text: &str, noise_var: Option<f64>) -> Result<Evaluation, UsageError> {
    if let Some(variance) = noise_var.filter(|v| !NOISE_VARIANCES.contains(*v)) {
        let problem = format!("--noise-var must be from {NOISE_VARIANCES}, not {variance}");
        return Err(UsageError::new(problem));
    }
    if let Ok(value) = text.trim().parse::<f64>() {
        return Ok(Evaluation::Value { value, noise_var, attrs: Attrs::new(), seconds: None });
    }
    let answer =
        parse_answer(text).map_err(|problem| UsageError::new(format!("{text:?} is no value: {problem}")))?;
    let noise_var = noise_var.or(answer.noise_var);
    Ok(Evaluation::Value { value: answer.value, noise_var, attrs: answer.attrs, seconds: None })
}

fn tell(target: &Target, number: u64, outcome: &Evaluation) -> Result<Verdict, Error> {
    let store = target.store()?;
    SharedStudy::first_definition(&*store, &target.name, &target.url.to_string())?; // or there is no such study
    let verdict = tell_one(&*store, &target.name, number, outcome, Timestamp::now())?;
    verdict.ok_or_else(|| {
        let problem = format!("there is no trial {number} in study `{}`: ask for one first", target.name);
        UsageError::new(problem).into()
    })
}

/// Corrects a result. A replaced value keeps the trial's attributes.
fn replace(target: &Target, number: u64, outcome: &Evaluation) -> Result<Verdict, Error> {
    let mut shared = target.open_existing()?;
    let (value, noise_var, reason) = match outcome {
        Evaluation::Value { value, noise_var, .. } => (*value, *noise_var, ""),
        Evaluation::Failure { reason, .. } | Evaluation::Retry { reason, .. } => {
            (f64::NAN, None, reason.as_str())
        }
    };
    Ok(shared.replace(number, value, noise_var, reason, Timestamp::now())?)
}

fn sentence(verdict: Verdict) -> &'static str {
    match verdict {
        Verdict::Complete => "complete",
        Verdict::AfterFailure => "complete, after it had failed",
        Verdict::Failed | Verdict::Retried => "failed",
        Verdict::Same => "nothing new",
        Verdict::Late => {
            "it has another result already; this one is recorded and not counted (--replace corrects it)"
        }
    }
}
