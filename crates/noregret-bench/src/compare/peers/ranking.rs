//! Mean ranks over the blocks that all methods have, and whether they differ by more than chance.
//!
//! # Notation
//! | here        | meaning                                                                                             |
//! |-------------|-----------------------------------------------------------------------------------------------------|
//! | `k`, `n`    | methods, blocks                                                                                     |
//! | mean rank   | over blocks, of the regret within the block: 1 is best, equal ones share their mean rank            |
//! | `CD`        | Nemenyi's critical difference of mean ranks at 5 %, `q sqrt(k (k + 1) / (6 n))` (Demsar 2006, section 3.2.2) |
//!
//! Blocks of one function are not independent of each other: what the tests say holds for these functions, with minima in
//! other places, and is not evidence about functions at large.

use super::blocks::{Runs, common};
use super::findings::{Figure, Finding};
use crate::report::statistics::{friedman_test, mean, ranks};
use crate::report::table::compact;
use crate::report::{RankAxis, Table};

/// `q` of Nemenyi's test at 5 % for 2, 3, ... methods (Demsar 2006, Table 5a; from 11 on by the same studentised range).
const Q: [f64; 11] = [1.960, 2.343, 2.569, 2.728, 2.850, 2.949, 3.031, 3.102, 3.164, 3.219, 3.268];

/// A table from the best to the last, and the picture.
pub(super) fn ranking(methods: &[Runs<'_>]) -> Finding {
    let title = "Ranks";
    let k = methods.len();
    let all: Vec<&Runs<'_>> = methods.iter().collect();
    let blocks = common(&all, |_| true);
    if blocks.is_empty() || k < 2 {
        let lead =
            "There are no blocks that all methods have run, or not two methods: nothing to rank.".to_owned();
        return Finding { title, lead, table: Table::default(), figures: Vec::new() };
    }
    let ranked: Vec<Vec<f64>> = blocks.iter().map(|block| ranks(block)).collect();
    let mean_ranks = mean_ranks(&blocks);
    let difference = critical_difference(k, blocks.len());
    let mut order: Vec<usize> = (0..k).collect();
    order.sort_by(|&a, &b| mean_ranks[a].total_cmp(&mean_ranks[b]));
    let mut table = Table::new(["method", "mean rank", "best in", "last in"]);
    for j in order {
        let times = |rank: f64| ranked.iter().filter(|row| (row[j] - rank).abs() < 0.25).count().to_string();
        table.row([
            methods[j].method.to_owned(),
            format!("{:.2}", mean_ranks[j]),
            times(1.0),
            times(k as f64),
        ]);
    }
    let lead = format!(
        "Ranks within the {} blocks that all {k} methods have (a block: one function, batch size and seed). That all are \
         alike: p = {} (Friedman's test, the F of Iman & Davenport). Mean ranks differ from the critical difference on, {} \
         (Nemenyi, 5 %). Blocks of one function resemble each other: this is about these functions, not about all.",
        blocks.len(),
        compact(friedman_test(&blocks)),
        difference.map_or("unknown for so many methods".into(), |cd| format!("{cd:.2}")),
    );
    let named = methods.iter().map(|runs| runs.method.to_owned()).zip(mean_ranks).collect();
    let axis = RankAxis { methods: named, critical_difference: difference };
    Finding { title, lead, table, figures: vec![Figure::Ranks(axis)] }
}

/// Mean rank of each method; a row of `blocks` has a regret for each.
pub(super) fn mean_ranks(blocks: &[Vec<f64>]) -> Vec<f64> {
    let ranked: Vec<Vec<f64>> = blocks.iter().map(|block| ranks(block)).collect();
    let of = |j: usize| mean(&ranked.iter().map(|row| row[j]).collect::<Vec<f64>>());
    (0..blocks.first().map_or(0, Vec::len)).map(of).collect()
}

fn critical_difference(k: usize, n: usize) -> Option<f64> {
    let q = Q.get(k.checked_sub(2)?)?;
    Some(q * (k as f64 * (k as f64 + 1.0) / (6.0 * n as f64)).sqrt())
}

#[cfg(test)]
mod tests {
    use super::super::blocks::tests::record;
    use super::*;
    use crate::report::Record;

    /// Demsar 2006, section 3.2.2: four classifiers on 14 data sets have a critical difference of 1.25.
    #[test]
    fn the_example_of_demsar() {
        assert!((critical_difference(4, 14).unwrap() - 1.25).abs() < 0.005);
        assert!(critical_difference(13, 14).is_none() && critical_difference(1, 14).is_none());
    }

    /// By hand: ranks (1, 2, 3), (1, 2.5, 2.5), (2, 1, 3), and a block that one method lacks.
    #[test]
    fn ranks_by_hand() {
        let regrets = [("a", [0.1, 1.0, 5.0]), ("b", [0.2, 3.0, 4.0]), ("c", [0.3, 3.0, 6.0])];
        let mut all: Vec<Record> = Vec::new();
        for (method, regrets) in regrets {
            all.extend((0..).zip(regrets).map(|(seed, regret)| record(method, "branin", seed, regret)));
        }
        all.push(record("a", "levy-5d", 0, 9.0));
        all.push(record("b", "levy-5d", 0, 1.0));
        let methods = ["c", "a", "b"].map(|method| Runs::of(method, &all));
        let found = ranking(&methods);
        let expected = [["a", "1.33", "2", "0"], ["b", "1.83", "1", "0"], ["c", "2.83", "0", "2"]];
        assert_eq!(found.table.rows(), expected);
        assert!(found.lead.contains("the 3 blocks that all 3 methods have"), "{}", found.lead);
        // T_1 = 2 (2^2 + 0.5^2 + 2.5^2) / (41.5 - 36) = 42/11, T_2 = 2 T_1 / (6 - T_1) = 3.5; p = (1 + T_2 / 2)^-2.
        assert!(found.lead.contains("p = 0.132"), "{}", found.lead);
        let [Figure::Ranks(axis)] = &found.figures[..] else { panic!("the picture") };
        assert!((axis.critical_difference.unwrap() - 2.343 * (2.0_f64 / 3.0).sqrt()).abs() < 1e-12);
        assert_eq!(axis.methods[0].0, "c");
    }

    #[test]
    fn nothing_in_common_is_said() {
        let all = [record("a", "branin", 0, 1.0), record("b", "branin", 1, 1.0)];
        let found = ranking(&["a", "b"].map(|method| Runs::of(method, &all)));
        assert!(
            found.lead.contains("nothing to rank")
                && found.figures.is_empty()
                && found.table.rows().is_empty()
        );
    }
}
