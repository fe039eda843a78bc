use std::time::Duration;

use super::*;

/// The example of the design, which users read first.
const EXAMPLE: &str = r#"
[study]
name = "mlp"
direction = "minimize"
trials = 60
batch = 5               # or "auto": the algorithm decides how many may run
seed = 1
algorithm = "auto"      # or a table: { name = "ts-rsr", candidates = 2000 }
duplicates = "avoid"    # or "allow", "replicate"
stop_when_regret_below = 0.001   # optional; also timeout = "8h"
timeout = "8h"
[objective]
command = ["python3", "train.py", "--lr", "{lr}", "--layers", "{layers}"]   # or builtin = "branin"
timeout = "10m"
retries = 1
[parameters]
lr     = { type = "float", low = 1e-5, high = 1e-1, log = true }
layers = { type = "int", low = 1, high = 8 }
act    = { type = "categorical", choices = ["relu", "tanh"] }
width  = { type = "ordinal", values = [32, 64, 128, 256] }
bias   = { type = "bool" }
[constraints]
budget = "layers * width <= 1024"                      # any predicate over the parameters
"#;

const SMALLEST: &str = "[study]\nname = \"b\"\n[objective]\nbuiltin = \"branin\"\n";

fn refused(text: &str) -> String {
    StudyFile::from_toml(text).unwrap_err().to_string()
}

#[test]
fn the_example_is_read() {
    let file = StudyFile::from_toml(EXAMPLE).unwrap();
    assert_eq!((file.study.name.as_str(), file.study.seed), ("mlp", 1));
    assert_eq!(file.study.trials.map(NonZeroU64::get), Some(60));
    assert_eq!(file.batch().map(NonZeroUsize::get), Some(5));
    assert_eq!(file.study.timeout, Some(Span(Duration::from_hours(8))));
    assert_eq!(file.objective.timeout, Some(Span(Duration::from_mins(10))));
    assert_eq!((file.objective.command.len(), file.objective.retries), (6, 1));
    // Neither alphabetical nor by chance.
    let names: Vec<&String> = file.parameters.keys().collect();
    assert_eq!(names, ["lr", "layers", "act", "width", "bias"]);
    let space = file.space().unwrap().unwrap();
    assert_eq!(space.names(), ["lr", "layers", "act", "width", "bias"]);
    assert_eq!(space.constraints().collect::<Vec<_>>(), [("budget", Some("layers * width <= 1024"))]);
}

#[test]
fn json_has_the_same_shape() {
    let file = StudyFile::from_toml(EXAMPLE).unwrap();
    let json = serde_json::to_string(&file).unwrap();
    let read = StudyFile::from_json(&json).unwrap();
    assert_eq!(read, file);
    assert!(read.parameters.keys().eq(file.parameters.keys()));
    let again = toml::to_string(&file).unwrap();
    assert_eq!(StudyFile::from_toml(&again).unwrap(), file);
}

#[test]
fn a_test_problem_needs_no_parameters() {
    let file = StudyFile::from_toml(SMALLEST).unwrap();
    assert_eq!(file.space().unwrap().unwrap().dims(), 2);
    assert_eq!((file.batch().map(NonZeroUsize::get), file.study.trials), (Some(1), None));
    assert_eq!(file.study.algorithm.0.name(), "auto");
}

#[test]
fn algorithms_are_names_or_tables() {
    let with =
        |algorithm: &str| SMALLEST.replace("[objective]", &format!("algorithm = {algorithm}\n[objective]"));
    let file = StudyFile::from_toml(&with(r#"{ name = "gp-ucb", initial_points = 7 }"#)).unwrap();
    let noregret::Algorithm::GpUcb(config) = file.study.algorithm.0 else { panic!("gp-ucb") };
    assert_eq!(config.gp.initial_points, Some(7));
    assert_eq!(StudyFile::from_toml(&with("\"gp-ei\"")).unwrap().study.algorithm.0.name(), "gp-ei");
    assert!(refused(&with("\"gp-ucp\"")).contains("did you mean `gp-ucb`?"));
    assert!(
        refused(&with("{ name = \"gp-ucb\", initial = 7 }"))
            .contains("unknown key `initial`; did you mean `initial_points`?")
    );
    assert!(refused(&with("{ initial_points = 7 }")).contains("missing key `name`"));
    assert!(refused(&with("7")).contains("the name of an algorithm, or a table"));
}

#[test]
fn a_batch_is_a_number_or_auto() {
    let with = |batch: &str| SMALLEST.replace("[objective]", &format!("batch = {batch}\n[objective]"));
    assert_eq!(StudyFile::from_toml(&with("\"auto\"")).unwrap().batch(), None);
    for bad in ["0", "-1", "2.5", "\"some\""] {
        let message = refused(&with(bad));
        assert!(message.contains("a number of points from 1 to 1e5, or \"auto\""), "{bad}: {message}");
    }
}

#[test]
fn pools_stand_in_place_of_parameters() {
    let pool = "[study]\nname = \"p\"\n[objective]\ncommand = [\"assay\"]\n[pool]\nfile = \"library.csv\"\n";
    let file =
        StudyFile::from_toml(&format!("{pool}features = [\"mass\", \"charge\"]\nid = \"name\"\n")).unwrap();
    assert_eq!(file.pool.as_ref().map(|pool| pool.features.len()), Some(2));
    assert!(file.space().unwrap().is_none());
    let both = format!("{pool}[parameters]\nx = {{ type = \"float\", low = 0, high = 1 }}\n");
    assert!(refused(&both).contains("either [parameters] or [pool], and has both"));
}

#[test]
fn what_cannot_be_meant_is_refused() {
    let command = SMALLEST.replace("builtin", "command = [\"true\"]\nbuiltin");
    assert!(refused(&command).contains("either `command` or `builtin`, and has both"));
    let nothing = SMALLEST.replace("builtin = \"branin\"", "");
    assert!(refused(&nothing).contains("and has neither"));
    let nowhere = SMALLEST.replace("builtin = \"branin\"", "command = [\"true\"]");
    assert!(refused(&nowhere).contains("either [parameters] or [pool], and has neither"));
    assert!(
        refused(&SMALLEST.replace("branin", "egg")).contains("unknown builtin `egg`; known are: branin,")
    );
    assert!(refused(&format!("{SMALLEST}[constraints]\nc = \"x < 1\"\n")).contains("[parameters]"));
    assert!(
        refused(&SMALLEST.replace("[objective]", "trails = 3\n[objective]"))
            .contains("unknown key `trails`; did you mean `trials`?")
    );
    assert!(refused(&SMALLEST.replace("[objective]", "timeout = \"soon\"\n[objective]")).contains("\"10m\""));
    assert!(
        refused(&SMALLEST.replace("[objective]", "stop_when_regret_below = -1\n[objective]"))
            .contains("not -1")
    );
    let reversed = EXAMPLE.replace("low = 1, high = 8", "low = 8, high = 1");
    assert!(refused(&reversed).contains("layers"));
    assert!(refused(&EXAMPLE.replace("layers * width", "layer * width")).contains("column 1"));
}

#[test]
fn the_schema_describes_every_section() {
    let schema = serde_json::to_value(schemars::schema_for!(StudyFile)).unwrap();
    for section in ["study", "objective", "parameters", "constraints", "pool"] {
        assert!(schema["properties"][section].is_object(), "{section}");
    }
    assert_eq!(schema["additionalProperties"], false);
    assert_eq!(schema["required"], serde_json::json!(["study", "objective"]));
}

/// Line, column and marked text of an error.
fn marked(text: &str) -> (usize, usize, String) {
    let message = refused(text);
    let mut place = message.split(':').skip(1).map(|part| part.trim().parse::<usize>().unwrap_or(0));
    let (line, column) = (place.next().unwrap(), place.next().unwrap());
    let width = message.lines().last().unwrap().matches('^').count();
    let marked = text.lines().nth(line.saturating_sub(1)).unwrap_or_default();
    (line, column, marked.chars().skip(column.saturating_sub(1)).take(width).collect())
}

#[test]
fn errors_point_at_their_place() {
    let cases = [
        ("trials = 60", "trails = 60", 5, "trails"),
        ("trials = 60", "trials = \"many\"", 5, "\"many\""),
        ("seed = 1", "seed = -1", 7, "-1"),
        ("direction = \"minimize\"", "direction = \"down\"", 4, "\"down\""),
        ("algorithm = \"auto\"", "algorithm = \"gp-ucp\"", 8, "\"gp-ucp\""),
        ("low = 1, high = 8", "low = 8, high = 1", 18, "8"),
        ("low = 1, high = 8", "low = 1, hihg = 8", 18, "hihg"),
        ("type = \"int\"", "type = \"itn\"", 18, "\"itn\""),
        ("layers * width", "layer * width", 23, "l"),
        ("stop_when_regret_below = 0.001", "stop_when_regret_below = -0.001", 10, "-0.001"),
        ("timeout = \"10m\"", "timeout = \"soon\"", 14, "\"soon\""),
    ];
    for (right, wrong, line, word) in cases {
        assert!(EXAMPLE.contains(right), "{right}");
        let found = marked(&EXAMPLE.replacen(right, wrong, 1));
        assert_eq!(
            (found.0, found.2.as_str()),
            (line, word),
            "{wrong}: {}",
            refused(&EXAMPLE.replacen(right, wrong, 1))
        );
    }
}

#[test]
fn broken_toml_points_at_its_place_too() {
    let (line, ..) = marked(&EXAMPLE.replacen("seed = 1", "seed = = 1", 1));
    assert_eq!(line, 7);
}

#[test]
fn an_environment_is_inherited_listed_or_set() {
    let with = |lines: &str| EXAMPLE.replace("retries = 1\n", &format!("retries = 1\n{lines}\n"));
    let file = StudyFile::from_toml(EXAMPLE).unwrap();
    assert_eq!((&file.objective.environment, file.objective.env.len()), (&Environment::Inherit, 0));
    assert_eq!(StudyFile::from_toml(&with("environment = \"inherit\"")).unwrap(), file);
    let file = StudyFile::from_toml(&with(
        "environment = [\"HOME\", \"CUDA_*\"]\nenv = { OMP_NUM_THREADS = \"1\" }",
    ))
    .unwrap();
    assert_eq!(file.objective.environment, Environment::Only(vec!["HOME".into(), "CUDA_*".into()]));
    assert_eq!(file.objective.env["OMP_NUM_THREADS"], "1");
    let again = StudyFile::from_toml(&toml::to_string(&file).unwrap()).unwrap();
    assert_eq!(again, file);
    assert_eq!(StudyFile::from_json(&serde_json::to_string(&file).unwrap()).unwrap(), file);

    for (lines, why, word) in [
        ("environment = \"none\"", "expected \"inherit\", or a list of variables to pass on", "\"none\""),
        ("environment = [\"A\", 1]", "expected a text in quotes", "1"),
        ("environment = [\"A*B\"]", "\"A*B\" has a `*` elsewhere than at its end", "\"A*B\""),
        ("environment = [\"A\", \"\"]", "\"\" names no variable", "\"\""),
        ("environment = [\"A=B\"]", "\"A=B\" is no name of a variable", "\"A=B\""),
        ("env = { A = 1 }", "expected a text in quotes", "1"),
        ("env = { \"A=B\" = \"1\" }", "\"A=B\" is no name of a variable", "\"1\""),
        ("env = { A = \"a\\u0000b\" }", "\"A\" has a value with a zero byte", "\"a\\u0000b\""),
        ("env = { NOREGRET_TRIAL = \"7\" }", "\"NOREGRET_TRIAL\" is set by noregret for each trial", "\"7\""),
    ] {
        let text = with(lines);
        assert!(refused(&text).contains(why), "{lines}: {}", refused(&text));
        let (line, _, marked) = marked(&text);
        assert_eq!((line, marked.as_str()), (16, word), "{}", refused(&text));
    }
    let builtin = refused(&SMALLEST.replace("builtin", "env = { A = \"1\" }\nbuiltin"));
    assert!(builtin.contains("`env` is about the environment of a `command`"), "{builtin}");
}

/// `batch = 1000000000` grew until it was killed; NUL in a choice or in the command was found in mid-run.
#[test]
fn numbers_out_of_their_range_and_nuls_are_refused() {
    let objective = |line: &str| SMALLEST.replace("builtin", &format!("{line}\nbuiltin"));
    let study = |line: &str| SMALLEST.replace("[objective]", &format!("{line}\n[objective]"));
    assert!(refused(&study("batch = 1000000000")).contains("from 1 to 1e5"));
    assert!(refused(&study("batch = 9223372036854775807")).contains("from 1 to 1e5"));
    assert!(refused(&study("trials = 1000000001")).contains("study.trials must be from 0 to 1e9"));
    assert!(refused(&objective("retries = 4000000000")).contains("objective.retries must be from 0 to 1000"));
    assert!(refused(&study("timeout = \"1000000000d\"")).contains("at most 10 years"));
    assert!(refused(&objective("timeout = \"11y\"")).contains("at most 10 years"));
    let algorithm = "algorithm = { name = \"gp-ei\", model = { refit_growth = nan } }";
    let message = refused(&study(algorithm));
    assert!(message.contains("expected a number"), "{message}");
    let algorithm = "algorithm = { name = \"gp-ei\", solver = { name = \"auto\", candidates = 2147483648 } }";
    assert!(refused(&study(algorithm)).contains("solver.candidates must be from 1 to 1e6, not 2147483648"));
    let command = SMALLEST.replace("builtin = \"branin\"", "command = [\"echo\", \"a\\u0000b\"]");
    let named = format!("{command}[parameters]\nc = {{ type = \"float\", low = 0, high = 1 }}\n");
    assert!(refused(&named).contains("has a NUL, which no command line can hold"));
    let command = SMALLEST.replace("builtin = \"branin\"", "command = [\"echo\", \"{c}\"]");
    let choice = "[parameters]\nc = { type = \"categorical\", choices = [\"a\", \"b\\u0000\"] }\n";
    let message = refused(&format!("{command}{choice}"));
    assert!(message.contains("parameter `c`") && message.contains("NUL"), "{message}");
}
