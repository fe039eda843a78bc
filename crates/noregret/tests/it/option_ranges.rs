//! Every number of every algorithm's options has a range, and the schema, the documentation and the check agree on it. The options are
//! found in the schema, so that a new one is tested as soon as it is there.

use std::sync::mpsc;
use std::time::Duration;

use noregret::math::range::{OutOfRange, Range};
use noregret::strategy::algorithm::AlgorithmError;
use noregret::surrogate::gp::GpConfigError;
use noregret::surrogate::neural::NetworkError;
use noregret::{Algorithm, Error, Space, Study};
use serde_json::{Map, Value, json};

/// Stands for the number in question in the options of a case.
const NUMBER: &str = "<number>";

/// One number among the options of an algorithm.
struct Case {
    algorithm: String,
    /// Its name, with those of the tables around it.
    path: String,
    /// The options, with [`NUMBER`] in its place.
    options: Value,
    is_integer: bool,
    range: Range,
    documentation: String,
}

impl Case {
    fn with(&self, number: &Value) -> Result<Algorithm, AlgorithmError> {
        let mut options = self.options.clone();
        replace(&mut options, number);
        for (option, value) in quick(&self.algorithm) {
            if let Some(options) = options.as_object_mut() {
                options.entry(option).or_insert(value);
            }
        }
        let Value::Object(options) = options else { panic!("{options}") };
        Algorithm::with_options(&self.algorithm, options)
    }
}

/// Options with which a proposal is quick.
fn quick(algorithm: &str) -> Map<String, Value> {
    let options = match algorithm {
        "rff-ts" => json!({"model": {"features": 64}}),
        "random-forest" => json!({"forest": {"trees": 10}, "candidates": 100}),
        "sto-bnts" | "sto-bnts-linear" | "deep-ensemble" | "neural-greedy" | "neural-ucb" | "neural-ts"
        | "neural-bo" | "dngo" => {
            json!({"network": {"width": 6}, "candidates": 50})
        }
        "gp-ucb" | "gp-ts" | "gp-ei" | "ts-rsr" | "bucb" | "ucb-pe" | "sp" | "ts" | "ntk-ts" | "qei"
        | "dpp-ts" => {
            json!({"solver": {"name": "auto", "candidates": 100}})
        }
        "bbkb" | "bbkb-local" | "bkb" | "gp-bucb" | "async-ts" | "eps-greedy" => {
            json!({"sparse": {"arms": 200}})
        }
        _ => json!({}),
    };
    let Value::Object(options) = options else { panic!("{options}") };
    options
}

fn replace(options: &mut Value, number: &Value) {
    match options {
        Value::String(text) if text == NUMBER => *options = number.clone(),
        Value::Array(items) => items.iter_mut().for_each(|item| replace(item, number)),
        Value::Object(entries) => entries.values_mut().for_each(|value| replace(value, number)),
        _ => {}
    }
}

/// All numbers of all algorithms.
fn cases() -> Vec<Case> {
    let schema = serde_json::to_value(schemars::schema_for!(Algorithm)).unwrap();
    let reader = Reader { definitions: &schema["$defs"] };
    let branches = schema["oneOf"].as_array().unwrap();
    assert_eq!(branches.len(), Algorithm::all().len());
    let of_branch = |branch| {
        reader.numbers(branch).into_iter().map(|mut found| {
            let options = found.options.as_object_mut().unwrap();
            let Some(Value::String(algorithm)) = options.remove("name") else { panic!("a name") };
            found.algorithm = algorithm;
            found
        })
    };
    branches.iter().flat_map(of_branch).collect()
}

/// Reads a JSON Schema.
struct Reader<'a> {
    definitions: &'a Value,
}

impl<'a> Reader<'a> {
    /// What a reference refers to.
    fn resolved(&self, node: &'a Value) -> &'a Value {
        match node["$ref"].as_str() {
            Some(path) => self.resolved(&self.definitions[path.rsplit('/').next().unwrap()]),
            None => node,
        }
    }

    fn branches(node: &'a Value) -> impl Iterator<Item = &'a Value> {
        ["oneOf", "anyOf", "allOf"].iter().flat_map(|key| node[*key].as_array().into_iter().flatten())
    }

    fn has_type(node: &Value, name: &str) -> bool {
        node["type"] == name || node["type"].as_array().is_some_and(|types| types.contains(&name.into()))
    }

    /// All numbers below this node.
    fn numbers(&self, node: &'a Value) -> Vec<Case> {
        let node = self.resolved(node);
        let is_integer = Self::has_type(node, "integer");
        if is_integer || Self::has_type(node, "number") {
            let bound = |key: &str| node[key].as_f64().unwrap_or(f64::NAN);
            return vec![Case {
                algorithm: String::new(),
                path: String::new(),
                options: NUMBER.into(),
                is_integer,
                range: Range::new(bound("minimum"), bound("maximum")),
                documentation: node["description"].as_str().unwrap_or_default().into(),
            }];
        }
        let mut found: Vec<Case> = Self::branches(node).flat_map(|branch| self.numbers(branch)).collect();
        for case in self.numbers_of_items(node) {
            found.push(case);
        }
        for (name, property) in node["properties"].as_object().into_iter().flatten() {
            for mut case in self.numbers(property) {
                let mut table = self.required(node);
                table.insert(name.clone(), case.options);
                case.options = table.into();
                case.path = if case.path.is_empty() { name.clone() } else { format!("{name}.{}", case.path) };
                found.push(case);
            }
        }
        found
    }

    fn numbers_of_items(&self, node: &'a Value) -> Vec<Case> {
        if !node["items"].is_object() {
            return Vec::new();
        }
        let mut found = self.numbers(&node["items"]);
        for case in &mut found {
            case.options = json!([case.options]);
            case.documentation = node["description"].as_str().unwrap_or_default().into();
        }
        found
    }

    /// Examples of what a table must have.
    fn required(&self, node: &'a Value) -> Map<String, Value> {
        let names = node["required"].as_array().into_iter().flatten().filter_map(Value::as_str);
        names.map(|name| (name.to_owned(), self.example(&node["properties"][name]))).collect()
    }

    fn example(&self, node: &'a Value) -> Value {
        let node = self.resolved(node);
        let given = [&node["const"], &node["default"], &node["enum"][0]];
        if let Some(given) = given.into_iter().find(|given| !given.is_null()) {
            return given.clone();
        }
        if Self::has_type(node, "integer") {
            return json!(1_u64.max(node["minimum"].as_u64().unwrap_or(0)));
        }
        if Self::has_type(node, "number") {
            return json!(1.0_f64.min(node["maximum"].as_f64().unwrap_or(1.0)));
        }
        match Self::branches(node).next() {
            Some(branch) => self.example(branch),
            None => self.required(node).into(),
        }
    }
}

/// The range that an option missed, if that is the error.
fn missed(error: &Error) -> Option<&OutOfRange> {
    match error {
        Error::OutOfRange(missed)
        | Error::GpConfig(GpConfigError::OutOfRange(missed))
        | Error::Network(NetworkError::OutOfRange(missed)) => Some(missed),
        _ => None,
    }
}

/// An end of the range of a count.
#[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "counts, far below 2^53")]
fn whole(end: f64) -> u64 {
    end as u64
}

/// A study with a few values, and two points more.
fn propose(algorithm: Algorithm) -> Result<(), Error> {
    let space = Space::builder().float("x", 0.0, 1.0).int("n", 1, 9).categorical("c", ["a", "b"]).build()?;
    let mut study = Study::builder().space(space).algorithm(algorithm).build()?;
    for trial in study.ask(6)? {
        let x = trial.numbers();
        study.tell(trial.number, (x[0] - 0.3).powi(2) + 0.1 * x[1])?;
    }
    study.ask(2).map(|_| ())
}

/// Proposes in a thread of its own. One that takes longer than this hangs: most take milliseconds, also on a busy machine.
fn propose_in_time(case: &Case, number: &Value, algorithm: Algorithm) {
    let (sender, receiver) = mpsc::channel();
    std::thread::spawn(move || sender.send(propose(algorithm)));
    let what = format!("{}: {} = {number}", case.algorithm, case.path);
    match receiver.recv_timeout(Duration::from_mins(10)) {
        Ok(result) => drop(result),
        Err(mpsc::RecvTimeoutError::Timeout) => panic!("{what} does not end"),
        Err(mpsc::RecvTimeoutError::Disconnected) => panic!("{what} panics"),
    }
}

#[test]
fn every_number_has_a_range_in_schema_and_documentation() {
    let cases = cases();
    assert!(cases.len() > 500, "the schema was not understood: {} numbers", cases.len());
    for Case { algorithm, path, range, documentation, .. } in &cases {
        assert!(range.least < range.most, "{algorithm}: {path} has no range");
        let stated = format!("rom {range}");
        assert!(
            documentation.contains(&stated),
            "{algorithm}: {path}: `f{stated}` is missing: {documentation}"
        );
    }
}

/// 2^31 candidates aborted the process, 2^53 panicked, 2^31 steps never ended.
#[test]
fn numbers_beyond_their_range_are_refused() {
    for case in cases() {
        let Case { algorithm, path, range, is_integer, .. } = &case;
        let far = [json!(1_u64 << 31), json!(1_u64 << 53), json!(1_u64 << 63), json!(-1), json!(1e308)];
        let next = if *is_integer {
            json!(whole(range.most) + 1)
        } else {
            json!(if range.most > 0.0 { range.most * 1.001 } else { range.most * 0.999 })
        };
        for number in far.iter().chain([&next]) {
            let inside = number.as_f64().is_some_and(|number| range.contains(number));
            match case.with(number) {
                Err(error) => assert!(
                    !inside && error.to_string().contains(algorithm),
                    "{algorithm}: {path} = {number}: {error}"
                ),
                Ok(built) => match built.build() {
                    Ok(_) => assert!(inside, "{algorithm}: {path} = {number} is out of {range}, and taken"),
                    Err(error) => match missed(&error) {
                        Some(missed) => {
                            assert!(!inside, "{algorithm}: {path} = {number} is inside {range}: {error}");
                            assert_eq!(missed.range, *range, "{algorithm}: {path}: {error}");
                            // The kind of a prior is not in the name of its numbers.
                            let plain = path.replace(".log-normal", "").replace(".log", "");
                            assert_eq!(missed.option, plain, "{algorithm}: {error}");
                        }
                        None => assert!(inside, "{algorithm}: {path} = {number}: {error}"),
                    },
                },
            }
        }
    }
}

/// Numbers at the ends of their ranges, and counts at the lower ones: upper ends of counts may take long.
#[test]
fn numbers_at_the_ends_of_their_ranges_propose() {
    for case in cases() {
        let Case { algorithm, path, range, is_integer, .. } = &case;
        // One algorithm on every model stands for the others that have it.
        let is_shared =
            path.starts_with("model.") || path.starts_with("solver.") || path.starts_with("sparse.");
        if is_shared
            && !["gp-ei", "gp-ts", "rff-ts", "ntk-ts", "bbkb", "async-ts"].contains(&algorithm.as_str())
        {
            continue;
        }
        let ends = if *is_integer {
            vec![json!(whole(range.least))]
        } else {
            vec![json!(range.least), json!(range.most)]
        };
        for number in ends {
            let built =
                case.with(&number).unwrap_or_else(|error| panic!("{algorithm}: {path} = {number}: {error}"));
            match built.build() {
                Ok(_) => propose_in_time(&case, &number, built),
                Err(error) => assert!(missed(&error).is_none(), "{algorithm}: {path} = {number}: {error}"),
            }
        }
    }
}

#[test]
fn products_that_need_too_much_memory_are_refused() {
    let build = |name: &str, options: Value| {
        let Value::Object(options) = options else { panic!("{options}") };
        Algorithm::with_options(name, options).unwrap().build().map(|_| ())
    };
    let error = build("gp-ei", json!({"solver": {"name": "auto", "candidates": 1_000_000}})).unwrap_err();
    assert!(matches!(error, Error::Memory(_)), "{error}");
    let message = error.to_string();
    for words in ["solver.candidates (1000000)", "model.max_points (8000)", "64 GB", "8 GB are allowed"] {
        assert!(message.contains(words), "{message}");
    }
    let few = json!({"solver": {"name": "auto", "candidates": 1_000_000}, "model": {"max_points": 500}});
    assert_eq!(build("gp-ei", few), Ok(()));
    let arms = json!({"sparse": {"arms": 1_000_000, "max_atoms": 20_000}});
    assert!(build("bbkb", arms).unwrap_err().to_string().contains("sparse.max_atoms (20000)"));

    // How many parameters there are is known when a study is built.
    let wide = Space::bounds(&vec![(0.0, 1.0); 2_000]).unwrap();
    let Value::Object(options) = json!({"candidates": 1_000_000}) else { panic!() };
    let algorithm = Algorithm::with_options("random-forest", options).unwrap();
    let error = Study::builder().space(wide).algorithm(algorithm).build().unwrap_err();
    assert!(error.to_string().contains("candidates (1000000) times parameters (2000)"), "{error}");
}
