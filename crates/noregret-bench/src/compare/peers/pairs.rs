//! The first named method against each other one, on all the blocks that these two share.
//!
//! Slow methods run fewer blocks, and a comparison of two need not wait for a third: this uses what there is.
//!
//! The test is Wilcoxon's, one-sided, on the logarithms of ratios of regrets. It ranks differences by their sizes across
//! blocks, so these must be of one kind: regrets of different functions have units of their own, a ratio has none. Ranks
//! would not do: within a pair their difference is always one, which makes it a sign test, and among all methods it depends
//! on who else was run. What the choice implies: from 1e-3 to 1e-6 is as large a step as from 100 to 0.1, until the floor
//! ends it (`FLOOR`). A run that failed is infinitely worse than one that did not, and as good as another
//! that did.

use super::blocks::{Block, Runs, common};
use super::findings::{Finding, batches_of};
use super::name::ProblemName;
use crate::report::Table;
use crate::report::statistics::{holm, median, signed_rank_test};
use crate::report::table::compact;

/// One row for each method but the first.
pub(super) fn pairs(methods: &[Runs<'_>]) -> Finding {
    let mut table = Table::new(["against", "blocks", "wins", "ties", "losses", "median ratio", "p (Holm)"]);
    let (title, figures) = ("Pairs", Vec::new());
    let Some((first, others @ [_, ..])) = methods.split_first() else {
        return Finding { title, lead: String::new(), table, figures };
    };
    let ratios: Vec<Vec<f64>> = others.iter().map(|other| log_ratios(first, other, |_| true)).collect();
    // Small if the others' regrets tend to be larger, that is if the first is better.
    let p_values: Vec<f64> = ratios.iter().map(|r| signed_rank_test(r, &vec![0.0; r.len()])).collect();
    for ((other, ratios), p) in others.iter().zip(&ratios).zip(holm(&p_values)) {
        let [wins, ties, losses] = counts(ratios);
        let middle = median(ratios);
        table.row([
            other.method.to_owned(),
            ratios.len().to_string(),
            wins.to_string(),
            ties.to_string(),
            losses.to_string(),
            known(middle, |middle| compact(10_f64.powf(middle))),
            known(p, compact),
        ]);
    }
    let lead = format!(
        "{} against each other method, on all blocks that the two share. The ratio is the other's regret over that of \
         {0}: above 1 is for {0}. The p value is that of the one-sided signed-rank test on its logarithms, that {0} is no \
         better, adjusted for the number of methods.",
        first.method
    );
    Finding { title, lead, table, figures }
}

/// Wins and losses of the first method in parts of the blocks: sizes of batches, and whether the function was moved by its formula.
pub(super) fn parts(methods: &[Runs<'_>]) -> Finding {
    let sizes = batches_of(methods);
    let headings = sizes.iter().map(|size| format!("batches of {size}"));
    let (title, figures) = ("Pairs in parts", Vec::new());
    let mut table = Table::new(
        ["against".to_owned()].into_iter().chain(headings).chain(["mirrored".into(), "translated".into()]),
    );
    let Some((first, others @ [_, ..])) = methods.split_first() else {
        return Finding { title, lead: String::new(), table, figures };
    };
    for other in others {
        let cell = |wanted: &dyn Fn(&Block<'_>) -> bool| {
            let [wins, _, losses] = counts(&log_ratios(first, other, wanted));
            if wins + losses == 0 { String::new() } else { format!("{wins} / {losses}") }
        };
        let of_sizes = sizes.iter().map(|size| cell(&|block| block.1 == *size));
        let moved = [false, true]
            .map(|translated| cell(&|block| ProblemName::parse(block.0).translated == translated));
        table.row([other.method.to_owned()].into_iter().chain(of_sizes).chain(moved));
    }
    let lead = format!(
        "Wins / losses of {} on all blocks that the two share: by sizes of batches; and on functions whose minimum was moved by \
         mirroring back what leaves the box, which makes creases, or by their formula.",
        first.method
    );
    Finding { title, lead, table, figures }
}

/// How many are positive, zero and negative.
fn counts(ratios: &[f64]) -> [usize; 3] {
    let count = |wanted: fn(f64) -> bool| ratios.iter().filter(|ratio| wanted(**ratio)).count();
    [count(|ratio| ratio > 0.0), count(|ratio| ratio == 0.0), count(|ratio| ratio < 0.0)]
}

fn known(value: f64, show: impl Fn(f64) -> String) -> String {
    if value.is_nan() { String::new() } else { show(value) }
}

/// `log10(other / first)` of the regrets in each block that both have and `wanted` names.
fn log_ratios(first: &Runs<'_>, other: &Runs<'_>, wanted: impl Fn(&Block<'_>) -> bool) -> Vec<f64> {
    let ratio = |block: &Vec<f64>| {
        let both_failed = block.iter().all(|regret| regret.is_infinite());
        if both_failed { 0.0 } else { block[1].log10() - block[0].log10() }
    };
    common(&[first, other], wanted).iter().map(ratio).collect()
}

#[cfg(test)]
mod tests {
    use super::super::blocks::tests::{record, with};
    use super::*;
    use crate::report::Record;

    fn rows(all: &[Record], methods: &[&str]) -> Vec<Vec<String>> {
        let methods: Vec<Runs<'_>> = methods.iter().map(|method| Runs::of(method, all)).collect();
        pairs(&methods).table.rows().to_vec()
    }

    /// By hand: `b` is ten times worse three times, `c` shares four blocks with `a`, one of them equal, one lost.
    #[test]
    fn pairs_by_hand() {
        let mut all: Vec<Record> = Vec::new();
        for seed in 0..4 {
            all.push(record("a", "branin", seed, 0.1));
        }
        all.extend((0..3).map(|seed| record("b", "branin", seed, 1.0)));
        all.extend(
            (0..).zip([0.1, 0.01, 10.0, 1e3]).map(|(seed, regret)| record("c", "branin", seed, regret)),
        );
        let expected = [
            // One of 2^3 signs, twice by Holm.
            ["b", "3", "3", "0", "0", "10.0", "0.250"],
            // Ranks 1, 2, 3 with the smallest negative: 2 of 8 signs, as large as b's already is.
            ["c", "4", "2", "1", "1", "10.0", "0.250"],
        ];
        assert_eq!(rows(&all, &["a", "b", "c"]), expected);
        // The other way round the other side is asked.
        assert_eq!(rows(&all, &["b", "a"]), [["a", "3", "0", "0", "3", "0.100", "1.00"]]);
        assert!(rows(&all, &["a"]).is_empty() && rows(&all, &[]).is_empty());
    }

    #[test]
    fn parts_by_hand() {
        let twenty = |record: Record| Record { batch: 20, ..record };
        let all = [
            record("a", "branin", 0, 0.1),
            record("a", "branin-translated", 0, 0.1),
            twenty(record("a", "branin", 0, 0.1)),
            record("b", "branin", 0, 1.0),
            record("b", "branin-translated", 0, 0.01),
            twenty(record("b", "branin", 0, 1.0)),
            record("c", "branin", 0, 1.0),
        ];
        let methods = ["a", "b", "c"].map(|method| Runs::of(method, &all));
        let Finding { table, .. } = parts(&methods);
        assert_eq!(table.header(), ["against", "batches of 5", "batches of 20", "mirrored", "translated"]);
        assert_eq!(
            table.rows(),
            [["b", "1 / 1", "1 / 0", "2 / 0", "0 / 1"], ["c", "1 / 0", "", "1 / 0", ""]]
        );
        assert!(parts(&methods[..1]).lead.is_empty());
    }

    #[test]
    fn failures_and_zeros_have_logarithms() {
        let failed =
            |method: &str, seed| with(record(method, "branin", seed, 0.1), "problem_of_the_method", "died");
        let all = [
            record("a", "branin", 0, 0.0),
            record("b", "branin", 0, 1e-12),
            failed("a", 1),
            failed("b", 1),
            record("a", "branin", 2, 0.1),
            failed("b", 2),
        ];
        assert_eq!(rows(&all, &["a", "b"]), [["b", "3", "1", "2", "0", "1.00", "0.500"]]);
        assert_eq!(rows(&all[4..], &["a", "b"]), [["b", "1", "1", "0", "0", "inf", "0.500"]]);
    }

    #[test]
    fn without_a_common_block_there_is_no_verdict() {
        let all = [record("a", "branin", 0, 0.5), record("b", "branin", 1, 0.5)];
        assert_eq!(rows(&all, &["a", "b"]), [["b", "0", "0", "0", "0", "", ""]]);
    }
}
