//! Constraints written as text: a small language over the parameters, checked once and evaluated often.
//!
//! ```text
//! layers * width <= 1024 and (act in ["relu", 'tanh'] or not bias) and 0 < lr < ln(decay) ^ 2
//! ```
//!
//! From loose to tight: `or` `||`; `and` `&&`; `not`; comparisons, also chained, and `in [...]`, `not in [...]`;
//! `+ -`; `* / %`; unary `-` and `!`; `^` or `**`. Functions are those of [`Builtin`]; `%` takes the sign of its
//! divisor, as in Python. A name with a `-` in it, or one like `in`, is written in backquotes.
//!
//! Numbers are floats. A comparison with an undefined one (`sqrt(-1) < 2`) is neither true nor false, whatever `not`
//! is put before it, and an expression that is not true is not satisfied.

mod check;
mod evaluate;
mod filter;
mod parse;
mod token;

use super::Param;
use super::name::nearest;
use evaluate::{At, Scalar, evaluate};
pub use filter::{Cell, Column, Filter, FilterError};
use token::{Arithmetic, Comparison};

/// A checked expression, true or false at every point of the space it was compiled for.
#[derive(Clone, Debug)]
pub(super) struct Expression {
    source: String,
    root: Node,
}

impl Expression {
    /// Parses and checks `source`, or returns the column (from 1) and the problem there.
    pub(super) fn compile(
        source: &str,
        names: &[String],
        params: &[Param],
    ) -> Result<Self, (usize, ExpressionProblem)> {
        Ok(Self { source: source.to_owned(), root: parse::parse(source, Names::Params { names, params })? })
    }

    /// Whether the expression is true at the point `u` of the unit cube.
    pub(super) fn holds(&self, params: &[Param], u: &[f64]) -> bool {
        evaluate(&self.root, &At { params, u }) == Scalar::Truth(true)
    }

    /// The text it was compiled from.
    pub(super) fn source(&self) -> &str {
        &self.source
    }
}

/// What the names in an expression are.
#[derive(Clone, Copy)]
enum Names<'a> {
    /// Parameters of a space.
    Params { names: &'a [String], params: &'a [Param] },
    /// Columns of a table.
    Columns(&'a [Column]),
}

impl Names<'_> {
    /// Whether they are columns of a table: people who filter one may write `=`, and words without quotes.
    fn is_table(&self) -> bool {
        matches!(self, Self::Columns(_))
    }

    fn name(&self, i: usize) -> &str {
        match self {
            Self::Params { names, .. } => &names[i],
            Self::Columns(columns) => &columns[i].name,
        }
    }

    fn iter(&self) -> impl Iterator<Item = &str> {
        let n = match self {
            Self::Params { names, .. } => names.len(),
            Self::Columns(columns) => columns.len(),
        };
        (0..n).map(|i| self.name(i))
    }
}

/// A node of a checked expression; parameters are referred to by their index.
#[derive(Clone, Debug, PartialEq)]
enum Node {
    Number(f64),
    Text(String),
    Truth(bool),
    Param(usize),
    Negate(Box<Node>),
    Not(Box<Node>),
    And(Box<Node>, Box<Node>),
    Or(Box<Node>, Box<Node>),
    Arithmetic(Arithmetic, Box<Node>, Box<Node>),
    /// `a < b <= c`: true if every link is.
    Chain(Box<Node>, Vec<(Comparison, Node)>),
    Member(Box<Node>, Vec<Node>),
    Call(Builtin, Vec<Node>),
}

/// The type of a part of an expression.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Type {
    /// A number.
    Number,
    /// Text.
    Text,
    /// True or false.
    Truth,
    /// A parameter whose values are not all of one type.
    Mixed,
}

impl std::fmt::Display for Type {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(match self {
            Self::Number => "a number",
            Self::Text => "text",
            Self::Truth => "true or false",
            Self::Mixed => "a choice of mixed types",
        })
    }
}

/// The functions an expression may call.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Builtin {
    Min,
    Max,
    Abs,
    Sqrt,
    Exp,
    Ln,
    Log10,
    Floor,
    Ceil,
    Round,
}

impl Builtin {
    const ALL: [(&'static str, Self); 10] = [
        ("min", Self::Min),
        ("max", Self::Max),
        ("abs", Self::Abs),
        ("sqrt", Self::Sqrt),
        ("exp", Self::Exp),
        ("ln", Self::Ln),
        ("log10", Self::Log10),
        ("floor", Self::Floor),
        ("ceil", Self::Ceil),
        ("round", Self::Round),
    ];

    fn named(name: &str) -> Result<Self, ExpressionProblem> {
        let known = Self::ALL.into_iter().find_map(|(known, function)| (known == name).then_some(function));
        known.ok_or_else(|| ExpressionProblem::UnknownFunction {
            name: name.to_owned(),
            nearest: nearest(name, Self::ALL.map(|(known, _)| known)),
        })
    }

    /// Whether it takes two or more arguments rather than one.
    fn takes_many(self) -> bool {
        matches!(self, Self::Min | Self::Max)
    }
}

/// The problem at some column of an expression.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
#[non_exhaustive]
#[expect(missing_docs, reason = "the messages say what the variants and their fields mean")]
pub enum ExpressionProblem {
    #[error("unexpected character {found:?}")]
    UnexpectedCharacter { found: char },
    #[error("equality is written ==")]
    SingleEquals,
    #[error("this {quote} is never closed")]
    Unclosed { quote: char },
    #[error("`{text}` is not a finite number")]
    BadNumber { text: String },
    #[error("expected {expected}, not {found}")]
    Unexpected { found: String, expected: &'static str },
    #[error("unknown parameter `{name}` (nearest known: `{nearest}`)")]
    UnknownName { name: String, nearest: String },
    #[error("there is no column `{name}` (nearest known: `{nearest}`)")]
    UnknownColumn { name: String, nearest: String },
    #[error("unknown function `{name}` (nearest known: `{nearest}`)")]
    UnknownFunction { name: String, nearest: String },
    #[error("`{function}` takes {expected}, not {found}")]
    ArgumentCount { function: String, expected: &'static str, found: usize },
    #[error("`{operator}` needs {expected} here, not {found}")]
    WrongType { operator: String, expected: Type, found: Type },
    #[error("`{operator}` cannot compare {left} with {right}")]
    Incomparable { operator: &'static str, left: Type, right: Type },
    #[error("parameter `{name}` is never {text:?} (nearest choice: {nearest:?})")]
    NeverEqual { name: String, text: String, nearest: String },
    #[error("a constraint must be true or false, such as `x <= 1`, not {found}")]
    NotATruth { found: Type },
    #[error("a filter must be true or false, such as `value < 1`, not {found}")]
    NotAFilter { found: Type },
    #[error("the expression goes on for more than {limit} words and signs")]
    TooLong { limit: usize },
    #[error("the expression is nested more than {limit} deep")]
    TooDeep { limit: usize },
}

#[cfg(test)]
mod tests;
