//! `noregret bench`: the experiments of the papers.

use std::io::Write;

use anyhow::Error;
use clap::Subcommand;
use noregret_bench::compare::{auto, peers};
use noregret_bench::cost::{crowd, service, speed, store};
use noregret_bench::papers::{bbkb, bbob, claims, inexact, neural_bo, sto_bnts, ts_rsr};

/// Flags of `noregret bench`.
#[derive(Debug, clap::Args)]
#[command(arg_required_else_help = true)]
pub(crate) struct BenchArgs {
    #[command(subcommand)]
    experiment: Experiment,
}

/// One variant for each module of `noregret_bench` with an experiment in it.
#[derive(Debug, Subcommand)]
enum Experiment {
    /// The choices that `auto` is made of, each against the same without it
    #[command(after_help = auto::AFTER_HELP)]
    Auto(auto::AutoArgs),
    /// Near-linear time over large sets of candidates, in adaptive batches (Calandriello et al. 2020)
    #[command(after_help = bbkb::AFTER_HELP)]
    Bbkb(bbkb::BbkbArgs),
    /// The 24 functions of COCO's suite BBOB: which share of its targets is reached (Phan-Trong et al. 2023, Figure 2)
    #[command(after_help = bbob::AFTER_HELP)]
    Bbob(bbob::BbobArgs),
    /// What the five papers claim, and what the kept records of our runs say of it
    #[command(after_help = claims::AFTER_HELP)]
    Claims(claims::ClaimsArgs),
    /// How fast are many processes on one study, and what does a trial cost them?
    #[command(after_help = crowd::AFTER_HELP)]
    Crowd(crowd::CrowdArgs),
    /// Is random grid search sufficient to maximize the acquisition function? (Kim, Liu & Chen 2025)
    #[command(after_help = inexact::AFTER_HELP)]
    Inexact(inexact::InexactArgs),
    /// A network as the model, against Gaussian processes and other networks (Phan-Trong et al. 2023, Tables 1 and 2)
    #[command(after_help = neural_bo::AFTER_HELP)]
    NeuralBo(neural_bo::NeuralBoArgs),
    /// Against BoTorch, Optuna, HEBO, SMAC3, egobox, bayesian-optimization, scikit-optimize and Nevergrad
    #[command(after_help = peers::AFTER_HELP)]
    Peers(peers::PeersArgs),
    /// How fast are many processes on one study by a server or a database, and is anything lost?
    #[command(after_help = service::AFTER_HELP)]
    Service(service::ServiceArgs),
    /// How long does a suggestion take, where does the time go, how near is that to the machine's limit?
    #[command(after_help = speed::AFTER_HELP)]
    Speed(speed::SpeedArgs),
    /// Thompson sampling by trained networks, in batches (Dai et al. 2022, Figures 1 and 3)
    #[command(after_help = sto_bnts::AFTER_HELP)]
    StoBnts(sto_bnts::StoBntsArgs),
    /// Batches by regret over uncertainty, against six rivals (Ren & Li, Tables 1 to 3)
    #[command(after_help = ts_rsr::AFTER_HELP)]
    TsRsr(ts_rsr::TsRsrArgs),
    /// What does the event log cost, in a process, for a command, and around an evaluation?
    #[command(after_help = store::AFTER_HELP)]
    Store(store::StoreArgs),
}

pub(crate) fn run(args: &BenchArgs, out: &mut dyn Write) -> Result<(), Error> {
    match &args.experiment {
        Experiment::Auto(args) => auto::run(args, out)?,
        Experiment::Bbkb(args) => bbkb::run(args, out)?,
        Experiment::Bbob(args) => bbob::run(args, out)?,
        Experiment::Claims(args) => claims::run(args, out)?,
        Experiment::Crowd(args) => crowd::run(args, out)?,
        Experiment::Inexact(args) => inexact::run(args, out)?,
        Experiment::NeuralBo(args) => neural_bo::run(args, out)?,
        Experiment::Peers(args) => peers::run(args, out)?,
        Experiment::Service(args) => service::run(args, out)?,
        Experiment::Speed(args) => speed::run(args, out)?,
        Experiment::StoBnts(args) => sto_bnts::run(args, out)?,
        Experiment::TsRsr(args) => ts_rsr::run(args, out)?,
        Experiment::Store(args) => store::run(args, out)?,
    }
    Ok(())
}
