//! The report for a person.

use std::fmt::Write as _;

use super::SpeedReport;
use crate::report::Table;

impl SpeedReport {
    /// The tables for a person.
    pub fn to_text(&self) -> String {
        let mut text = String::new();
        let _ = writeln!(
            text,
            "One suggestion of {} on Hartmann-6 ({} threads)\n{}",
            self.algorithm,
            self.threads,
            self.suggestions()
        );
        let _ = writeln!(
            text,
            "Parts on one thread, 1,000 candidates (in brackets: share of the core's {:.1} GFLOP/s)\n{}",
            self.peak_gflops,
            self.parts()
        );
        let _ = writeln!(text, "Fitting on a subsample\n{}", self.subsamples());
        let steps: Vec<String> = self.append_steps.iter().map(|e| format!("{e:.2}")).collect();
        let _ = writeln!(
            text,
            "appending an observation: O(n^{:.2}); between neighbouring sizes {}",
            self.append_exponent,
            steps.join(", ")
        );
        if let Some(memory) = self.peak_memory_mb {
            let _ = writeln!(text, "peak memory: {memory:.0} MB");
        }
        text
    }

    fn suggestions(&self) -> Table {
        let mut table = Table::new([
            "n",
            "cold ms",
            "warm ms",
            "warm mean ms",
            "refits",
            "likelihoods",
            "utilities",
            "gradients",
        ]);
        for s in &self.suggestions {
            table.row([
                s.n.to_string(),
                format!("{:.1}", s.cold_ms),
                format!("{:.1}", s.warm_median_ms),
                format!("{:.1}", s.warm_mean_ms),
                s.refits.to_string(),
                s.likelihoods.to_string(),
                s.utilities.to_string(),
                s.gradients.to_string(),
            ]);
        }
        table
    }

    fn parts(&self) -> Table {
        let share = |gflops: f64| format!("{gflops:.1} ({:.0} %)", 100.0 * gflops / self.peak_gflops);
        let mut table = Table::new([
            "n",
            "kernel ms",
            "Gelem/s",
            "Cholesky ms",
            "GFLOP/s",
            "solve ms",
            "GFLOP/s",
            "append ms",
            "follow ms",
            "gradient us",
            "local us",
        ]);
        for p in &self.parts {
            table.row([
                p.n.to_string(),
                format!("{:.2}", p.kernel_block_ms),
                format!("{:.2}", p.kernel_gelems),
                format!("{:.2}", p.cholesky_ms),
                share(p.cholesky_gflops),
                format!("{:.2}", p.solve_ms),
                share(p.solve_gflops),
                format!("{:.3}", p.append_ms),
                format!("{:.2}", p.follow_ms),
                format!("{:.0}", p.gradient_us),
                p.local_gradient_us.map_or("-".into(), |us| format!("{us:.0}")),
            ]);
        }
        table
    }

    fn subsamples(&self) -> Table {
        let mut table =
            Table::new(["n", "fitted on", "nats lost an observation", "time of a full fit saved"]);
        for s in &self.subsample {
            table.row([
                s.n.to_string(),
                s.points.to_string(),
                format!("{:.4}", s.nats_lost),
                format!("{:.0} %", 100.0 * (1.0 - s.time_ratio)),
            ]);
        }
        table
    }
}
