//! Types of parameters, and which comparisons make sense.

use super::parse::{Failure, Parser, Part};
use super::token::Comparison;
use super::{ExpressionProblem, Names, Node, Type};
use crate::space::name::nearest;
use crate::space::{Param, Value};

impl Parser<'_> {
    /// Refuses what `op` cannot compare.
    pub(super) fn check_comparison(
        &self,
        op: Comparison,
        left: &Part,
        right: &Part,
        column: usize,
    ) -> Result<(), Failure> {
        if matches!(op, Comparison::Equal | Comparison::NotEqual) {
            return self.check_equality(op.sign(), left, right, column);
        }
        [left, right].into_iter().try_for_each(Part::check_known)?;
        match [left, right].into_iter().find(|part| !self.may_be_number(part.ty)) {
            None => Ok(()),
            Some(part) => {
                let operator = op.sign().to_owned();
                let (expected, found) = (Type::Number, part.ty);
                Err((part.column, ExpressionProblem::WrongType { operator, expected, found }))
            }
        }
    }

    /// Whether something of this type can be compared by size. A cell that turns out to be none is like one with nothing in it.
    pub(super) fn may_be_number(&self, ty: Type) -> bool {
        ty == Type::Number || (ty == Type::Mixed && self.names.is_table())
    }

    /// Refuses comparisons that could never be true: of different types, or with text that is no choice.
    pub(super) fn check_equality(
        &self,
        operator: &'static str,
        left: &Part,
        right: &Part,
        column: usize,
    ) -> Result<(), Failure> {
        // A word that names no column is a text, if it is compared with a column of texts.
        let is_column =
            |part: &Part| matches!(part.node, Node::Param(_)) && matches!(part.ty, Type::Text | Type::Mixed);
        if !is_column(right) {
            left.check_known()?;
        }
        if !is_column(left) {
            right.check_known()?;
        }
        if left.ty != right.ty && left.ty != Type::Mixed && right.ty != Type::Mixed {
            let (left, right) = (left.ty, right.ty);
            return Err((column, ExpressionProblem::Incomparable { operator, left, right }));
        }
        match (&left.node, &right.node) {
            (Node::Param(i), Node::Text(text)) => self.check_choice(*i, text, right.column),
            (Node::Text(text), Node::Param(i)) => self.check_choice(*i, text, left.column),
            _ => Ok(()),
        }
    }

    fn check_choice(&self, i: usize, text: &str, column: usize) -> Result<(), Failure> {
        let Some(words) = self.names.words(i).filter(|words| !words.contains(&text)) else { return Ok(()) };
        let (name, nearest) = (self.names.name(i).to_owned(), nearest(text, words));
        Err((column, ExpressionProblem::NeverEqual { name, text: text.to_owned(), nearest }))
    }
}

impl Names<'_> {
    /// All words that the i-th name can be; `None` if it can be any.
    fn words(&self, i: usize) -> Option<Vec<&str>> {
        match self {
            Self::Params { params, .. } => {
                Some(choices(&params[i]).iter().filter_map(Value::as_str).collect())
            }
            Self::Columns(columns) => Some(columns[i].words.iter().map(String::as_str).collect())
                .filter(|words: &Vec<_>| !words.is_empty()),
        }
    }

    /// The type of the i-th name.
    pub(super) fn type_of(&self, i: usize) -> Type {
        match self {
            Self::Params { params, .. } => type_of(&params[i]),
            Self::Columns(columns) => columns[i].ty,
        }
    }
}

fn choices(param: &Param) -> &[Value] {
    match param {
        Param::Ordinal { values: choices } | Param::Categorical { choices } => choices,
        Param::Float { .. } | Param::Int { .. } | Param::Bool {} => &[],
    }
}

/// The type of a parameter in an expression.
pub(in crate::space) fn type_of(param: &Param) -> Type {
    let of_value = |value: &Value| match value {
        Value::Bool(_) => Type::Truth,
        Value::Int(_) | Value::Float(_) => Type::Number,
        Value::Text(_) => Type::Text,
    };
    match param {
        Param::Float { .. } | Param::Int { .. } => Type::Number,
        Param::Bool {} => Type::Truth,
        Param::Ordinal { values: choices } | Param::Categorical { choices } => {
            let mut types = choices.iter().map(of_value);
            let first = types.next().unwrap_or(Type::Mixed);
            if types.all(|ty| ty == first) { first } else { Type::Mixed }
        }
    }
}
