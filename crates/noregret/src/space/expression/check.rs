//! Types of parameters, and which comparisons make sense.

use super::parse::{Failure, Parser, Part};
use super::token::Comparison;
use super::{ExpressionProblem, Node, Type};
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
        match [left, right].into_iter().find(|part| part.ty != Type::Number) {
            None => Ok(()),
            Some(part) => {
                let operator = op.sign().to_owned();
                let (expected, found) = (Type::Number, part.ty);
                Err((part.column, ExpressionProblem::WrongType { operator, expected, found }))
            }
        }
    }

    /// Refuses comparisons that could never be true: of different types, or with text that is no choice.
    pub(super) fn check_equality(
        &self,
        operator: &'static str,
        left: &Part,
        right: &Part,
        column: usize,
    ) -> Result<(), Failure> {
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
        let words = || choices(&self.params[i]).iter().filter_map(Value::as_str);
        if words().any(|word| word == text) {
            return Ok(());
        }
        let (name, nearest) = (self.names[i].clone(), nearest(text, words()));
        Err((column, ExpressionProblem::NeverEqual { name, text: text.to_owned(), nearest }))
    }
}

fn choices(param: &Param) -> &[Value] {
    match param {
        Param::Ordinal { values: choices } | Param::Categorical { choices } => choices,
        Param::Float { .. } | Param::Int { .. } | Param::Bool {} => &[],
    }
}

/// The type of a parameter in an expression.
pub(super) fn type_of(param: &Param) -> Type {
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
