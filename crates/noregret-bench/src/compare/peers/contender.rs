//! Whoever answers questions: our own study, or a peer in a process of its own.

use std::collections::VecDeque;
use std::path::PathBuf;
use std::time::Instant;

use noregret::{Algorithm, Params, Study};
use serde_json::{Value as Json, json};

use super::PeersArgs;
use super::task::{PointJson, Task};
use crate::BenchError;
use crate::harness::adapter::{Adapter, Script};
use crate::report::peak_memory_mb;

/// A peer, and how its adapter is called.
pub(super) struct Peer {
    pub(super) method: &'static str,
    environment: &'static str,
    adapter: &'static str,
    argument: Option<&'static str>,
}

const fn peer(method: &'static str, adapter: &'static str) -> Peer {
    Peer { method, environment: "peers", adapter, argument: None }
}

/// All of them.
pub(super) const PEERS: [Peer; 9] = [
    peer("botorch-qlognei", "botorch_peer.py"),
    Peer { argument: Some("gp"), ..peer("optuna-gp", "optuna_peer.py") },
    Peer { argument: Some("tpe"), ..peer("optuna-tpe", "optuna_peer.py") },
    Peer { environment: "hebo", ..peer("hebo", "hebo_peer.py") },
    peer("smac-blackbox", "smac_peer.py"),
    peer("egobox-egor", "egobox_peer.py"),
    peer("bayesopt-ucb", "bayesopt_peer.py"),
    peer("skopt-gp", "skopt_peer.py"),
    Peer { environment: "nevergrad", ..peer("nevergrad-ngopt", "nevergrad_peer.py") },
];

/// Names of all methods, ours first.
pub(super) fn names() -> Vec<&'static str> {
    let ours = Algorithm::all().into_iter().map(|algorithm| algorithm.name);
    ours.chain(PEERS.iter().map(|peer| peer.method)).collect()
}

/// Those that are compared unless others are asked for.
pub(super) fn default_names() -> Vec<&'static str> {
    ["auto"].into_iter().chain(PEERS.iter().map(|peer| peer.method)).chain(["random"]).collect()
}

/// One method, for many runs.
pub(crate) struct Contender {
    method: Method,
    environments: Option<PathBuf>,
    adapters: PathBuf,
    threads: usize,
    /// That many threads for our own algorithms.
    pool: Option<rayon::ThreadPool>,
    /// The study of the run, and the numbers of its running trials with their points.
    study: Option<Study>,
    running: VecDeque<(u64, PointJson)>,
    /// The peer's version, once its adapter has told it.
    version: Option<String>,
    /// Failures of the adapter in this run.
    pub(crate) problem: Option<String>,
}

/// Ours, or a peer with its process once that runs.
enum Method {
    Ours(Box<Algorithm>),
    Peer(&'static Peer, Option<Adapter>),
}

impl Contender {
    /// A peer, or one of our algorithms as it is.
    pub(super) fn new(method: &'static str, args: &PeersArgs, threads: usize) -> Result<Self, BenchError> {
        let peer = PEERS.iter().find(|peer| peer.method == method);
        let method = match peer {
            Some(peer) => Method::Peer(peer, None),
            None => Method::Ours(Box::new(Algorithm::by_name(method).map_err(noregret::Error::from)?)),
        };
        let mut contender = Self::bare(method);
        contender.environments.clone_from(&args.environments);
        contender.adapters.clone_from(&args.adapters);
        contender.threads = threads;
        // Where no pool can be made, our algorithms run on as many threads as the machine has.
        contender.pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().ok();
        Ok(contender)
    }

    /// One of our algorithms with options of its own.
    pub(crate) fn ours(algorithm: Algorithm) -> Self {
        Self::bare(Method::Ours(Box::new(algorithm)))
    }

    fn bare(method: Method) -> Self {
        Self {
            method,
            environments: None,
            adapters: PathBuf::new(),
            threads: 1,
            pool: None,
            study: None,
            running: VecDeque::new(),
            version: None,
            problem: None,
        }
    }

    /// Begins a run.
    pub(crate) fn start(&mut self, task: &Task, seed: u64) -> Result<(), BenchError> {
        self.problem = None;
        if let Method::Ours(algorithm) = &self.method {
            let builder = Study::builder().space(task.space()?).algorithm((**algorithm).clone()).seed(seed);
            self.study = Some(builder.trials(task.evaluations).build()?);
            self.running.clear();
            return Ok(());
        }
        self.launch()?;
        let question = json!({
            "cmd": "start", "seed": seed, "batch": task.batch, "budget": task.evaluations, "initial": task.initial,
            "space": task.space_json(),
        });
        let answer = self.converse(&question);
        if let Some(version) = answer["version"].as_str() {
            self.version = Some(version.to_owned());
        }
        Ok(())
    }

    /// The next points, and the seconds that finding them took.
    pub(crate) fn ask(&mut self, n: usize) -> Result<(Vec<PointJson>, f64), BenchError> {
        if let Some(study) = &mut self.study {
            let begin = Instant::now();
            let trials = match &self.pool {
                Some(pool) => pool.install(|| study.ask(n))?,
                None => study.ask(n)?,
            };
            let seconds = begin.elapsed().as_secs_f64();
            self.running = trials.iter().map(|trial| (trial.number, point_of(&trial.params))).collect();
            return Ok((self.running.iter().map(|(_, point)| point.clone()).collect(), seconds));
        }
        let answer = self.converse(&json!({"cmd": "ask", "n": n}));
        let points = answer["points"].as_array().into_iter().flatten();
        let points = points.filter_map(|point| point.as_object().cloned()).collect();
        Ok((points, seconds_of(&answer)))
    }

    /// Tells the values of the points just asked for; returns the seconds that took.
    pub(crate) fn tell(&mut self, points: &[PointJson], values: &[f64]) -> Result<f64, BenchError> {
        if let Some(study) = &mut self.study {
            let begin = Instant::now();
            for ((number, _), value) in self.running.drain(..).zip(values) {
                study.tell(number, *value)?;
            }
            return Ok(begin.elapsed().as_secs_f64());
        }
        let answer = self.converse(&json!({"cmd": "tell", "points": points, "values": values}));
        Ok(seconds_of(&answer))
    }

    /// Tells values of points that nobody asked for.
    pub(super) fn add(&mut self, points: &[Params], values: &[f64]) -> Result<(), BenchError> {
        if let Some(study) = &mut self.study {
            for (params, value) in points.iter().zip(values) {
                study.add(params, *value, None)?;
            }
            return Ok(());
        }
        let points: Vec<PointJson> = points.iter().map(point_of).collect();
        self.converse(&json!({"cmd": "tell", "points": points, "values": values}));
        Ok(())
    }

    /// The most memory that the method's process has needed until now.
    pub(crate) fn peak_mb(&self) -> Option<f64> {
        match &self.method {
            Method::Peer(_, process) => peak_memory_mb(Some(process.as_ref()?.id())),
            Method::Ours(_) => peak_memory_mb(None),
        }
    }

    /// The version of the library behind the method, where it is known.
    pub(crate) fn version(&self) -> Option<&str> {
        match &self.method {
            Method::Peer(..) => self.version.as_deref(),
            Method::Ours(_) => Some(env!("CARGO_PKG_VERSION")), // of the workspace, which the library shares
        }
    }

    /// Ends its process, if it has one.
    pub(crate) fn stop(&mut self) {
        if let Method::Peer(_, process) = &mut self.method {
            *process = None;
        }
    }

    fn launch(&mut self) -> Result<(), BenchError> {
        let Method::Peer(peer, process @ None) = &mut self.method else { return Ok(()) };
        let script = Script { environment: peer.environment, name: peer.adapter, argument: peer.argument };
        *process = Some(Adapter::start(&script, self.environments.as_deref(), &self.adapters, self.threads)?);
        Ok(())
    }

    /// A question and its answer. What the adapter cannot do is a problem of this run; one that has died is started again for the next.
    fn converse(&mut self, question: &Json) -> Json {
        let Method::Peer(_, Some(process)) = &mut self.method else { return Json::Null };
        let answer = process.converse(question).unwrap_or_else(|error| {
            self.stop();
            json!({"error": error.to_string()})
        });
        if let Some(problem) = answer["error"].as_str() {
            self.problem = Some(problem.to_owned());
        }
        answer
    }
}

/// A point as adapters know it.
pub(super) fn point_of(params: &Params) -> PointJson {
    match serde_json::to_value(params) {
        Ok(Json::Object(point)) => point,
        _ => unreachable!("invariant: parameters are a map"),
    }
}

fn seconds_of(answer: &Json) -> f64 {
    answer["seconds"].as_f64().unwrap_or(0.0)
}
