//! The fuzz targets on stable Rust, for some seconds: the seeds of `fuzz/corpus` and mutations of them. `scripts/fuzz` runs the
//! real fuzzers. A crash becomes a seed there, which names it, and so a test here.

use std::fs;
use std::ops::Range;
use std::path::{Path, PathBuf};

use noregret_cli::fuzzing::{Check, TARGETS};
use proptest::prelude::*;
use proptest::sample::{Index, select};
use proptest::test_runner::{Config, RngAlgorithm, TestError, TestRng, TestRunner};

/// One change of an input.
#[derive(Clone, Debug)]
enum Mutation {
    Flip(Index, u8),
    Set(Index, u8),
    Cut(Index, Index),
    Double(Index, Index),
    /// A part of another seed.
    Splice(Index, Index, Index, Index),
    /// Instead of a number, or anywhere.
    Word(Index, &'static str),
    Number(Index, &'static str),
    /// Four bytes, as headers of binary formats have them.
    Length(Index, u32),
}

/// Numbers and letters on which readers stumble.
const WORDS: [&str; 30] = [
    "0",
    "-0",
    "-1",
    "1",
    "64",
    "65535",
    "4294967296",
    "9007199254740993",
    "9223372036854775807",
    "-9223372036854775808",
    "18446744073709551615",
    "18446744073709551616",
    "1e308",
    "-1.7e308",
    "1e309",
    "5e-324",
    "1e-155",
    "0.5",
    "NaN",
    "inf",
    "-Infinity",
    "null",
    "true",
    "\"",
    "{",
    "}",
    "[]",
    "\n",
    "\u{e4}",
    "\u{0}",
];

fn mutation() -> impl Strategy<Value = Mutation> {
    let at = any::<Index>;
    prop_oneof![
        1 => (at(), 0..8u8).prop_map(|(i, bit)| Mutation::Flip(i, bit)),
        1 => (at(), any::<u8>()).prop_map(|(i, byte)| Mutation::Set(i, byte)),
        1 => (at(), at()).prop_map(|(i, j)| Mutation::Cut(i, j)),
        1 => (at(), at()).prop_map(|(i, j)| Mutation::Double(i, j)),
        1 => (at(), at(), at(), at()).prop_map(|(i, seed, j, k)| Mutation::Splice(i, seed, j, k)),
        1 => (at(), select(&WORDS)).prop_map(|(i, word)| Mutation::Word(i, word)),
        3 => (at(), select(&WORDS)).prop_map(|(i, word)| Mutation::Number(i, word)),
        1 => (at(), select(&[0, 1, 0x7fff_ffff, 0x8000_0000, u32::MAX])).prop_map(|(i, n)| Mutation::Length(i, n)),
    ]
}

impl Mutation {
    fn apply(&self, input: &mut Vec<u8>, seeds: &[Vec<u8>]) {
        if input.is_empty() {
            return;
        }
        match self {
            Self::Flip(i, bit) => *i.get_mut(input) ^= 1 << bit,
            Self::Set(i, byte) => *i.get_mut(input) = *byte,
            Self::Cut(i, j) => drop(input.drain(span(*i, *j, input.len()))),
            Self::Double(i, j) => {
                let span = span(*i, *j, input.len());
                let copy = input[span.clone()].to_vec();
                input.splice(span.end..span.end, copy);
            }
            Self::Splice(i, seed, j, k) => {
                let other = seed.get(seeds);
                let part = if other.is_empty() { &[] } else { &other[span(*j, *k, other.len())] };
                let at = i.index(input.len());
                input.splice(at..at, part.iter().copied());
            }
            Self::Word(i, word) => {
                let at = i.index(input.len());
                input.splice(at..at, word.bytes());
            }
            Self::Number(i, word) => {
                if let Some(number) = number_after(input, i.index(input.len())) {
                    input.splice(number, word.bytes());
                }
            }
            Self::Length(i, n) => {
                let at = i.index(input.len());
                input[at..].iter_mut().zip(n.to_le_bytes()).for_each(|(to, from)| *to = from);
            }
        }
    }
}

/// From one place to another, or the other way round.
fn span(i: Index, j: Index, length: usize) -> Range<usize> {
    let (i, j) = (i.index(length), j.index(length));
    i.min(j)..i.max(j) + 1
}

/// The first number of a text from `at` on.
fn number_after(input: &[u8], at: usize) -> Option<Range<usize>> {
    let begin = at + input[at..].iter().position(u8::is_ascii_digit)?;
    let is_part = |byte: &u8| byte.is_ascii_digit() || b".e-".contains(byte);
    let length = input[begin..].iter().position(|byte| !is_part(byte)).unwrap_or(input.len() - begin);
    Some(begin..begin + length)
}

fn folder(target: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../fuzz/corpus").join(target)
}

/// The seeds of a target, by name.
fn seeds(target: &str) -> Vec<Vec<u8>> {
    let mut paths: Vec<PathBuf> =
        fs::read_dir(folder(target)).unwrap().map(|entry| entry.unwrap().path()).collect();
    paths.sort();
    paths.iter().map(|path| fs::read(path).unwrap()).collect()
}

/// Feeds a target its seeds and so many mutations of them.
fn survives(target: &str, cases: u32) {
    let check: Check = TARGETS.iter().find(|(name, _)| *name == target).unwrap().1;
    let seeds = seeds(target);
    assert!(seeds.len() >= 3, "{target} has too few seeds");
    seeds.iter().for_each(|seed| check(seed));
    let config = Config { cases, failure_persistence: None, max_shrink_time: 20_000, ..Config::default() };
    let mut runner = TestRunner::new_with_rng(config, TestRng::deterministic_rng(RngAlgorithm::ChaCha));
    let mutations = prop::collection::vec(mutation(), 1..6);
    let result = runner.run(&(any::<Index>(), mutations), |(seed, mutations)| {
        check(&mutated(&seeds, seed, &mutations));
        Ok(())
    });
    if let Err(error) = result {
        let TestError::Fail(reason, (seed, mutations)) = &error else { panic!("{error}") };
        let input = mutated(&seeds, *seed, mutations);
        panic!("{target}: {reason}\n{}", String::from_utf8_lossy(&input));
    }
}

fn mutated(seeds: &[Vec<u8>], seed: Index, mutations: &[Mutation]) -> Vec<u8> {
    let mut input = seed.get(seeds).clone();
    mutations.iter().for_each(|mutation| mutation.apply(&mut input, seeds));
    input
}

macro_rules! survive {
    ($($target:ident $cases:literal)*) => {
        $(#[test]
        fn $target() {
            survives(stringify!($target), $cases);
        })*

        #[test]
        fn every_target_has_a_test_and_a_wrapper() {
            let tested = [$(stringify!($target)),*];
            assert_eq!(tested, TARGETS.map(|(name, _)| name));
            for name in tested {
                let wrapper = folder("").join(format!("../fuzz_targets/{name}.rs"));
                assert!(wrapper.exists(), "{name}");
            }
        }
    };
}

// Inputs for about a second each.
survive! {
    algorithm 300
    answer 10000
    constraint 3000
    csv 3000
    database 300
    event_log 300
    import 3000
    npy 3000
    parquet 1000
    request 1000
    study_file 3000
}
