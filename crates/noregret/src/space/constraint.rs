//! Constraints: conditions on several parameters together.

use std::fmt;
use std::sync::Arc;

use super::expression::Expression;
use super::{Param, Params, SpaceError};

/// A function that returns whether a point may be evaluated.
pub(super) type Predicate = Arc<dyn Fn(&Params) -> bool + Send + Sync>;

/// A named condition, as declared: the text of an expression, or a function.
#[derive(Clone)]
pub(super) enum Declared {
    Expression(String),
    Predicate(Predicate),
}

/// A named condition on the points of one space.
#[derive(Clone)]
pub(super) struct Constraint {
    name: String,
    rule: Condition,
}

#[derive(Clone)]
enum Condition {
    Expression(Expression),
    Predicate(Predicate),
}

impl Constraint {
    /// Compiles what was declared for the given parameters.
    pub(super) fn compile(
        name: String,
        declared: Declared,
        names: &[String],
        params: &[Param],
    ) -> Result<Self, SpaceError> {
        let rule = match declared {
            Declared::Predicate(predicate) => Condition::Predicate(predicate),
            Declared::Expression(source) => match Expression::compile(&source, names, params) {
                Ok(expression) => Condition::Expression(expression),
                Err((column, problem)) => return Err(SpaceError::Constraint { name, column, problem }),
            },
        };
        Ok(Self { name, rule })
    }

    pub(super) fn name(&self) -> &str {
        &self.name
    }

    /// The text of the expression; `None` for a predicate.
    pub(super) fn expression(&self) -> Option<&str> {
        match &self.rule {
            Condition::Expression(expression) => Some(expression.source()),
            Condition::Predicate(_) => None,
        }
    }

    /// Whether it holds at `u`; the point is decoded for predicates only.
    pub(super) fn holds(&self, params: &[Param], u: &[f64], decode: impl FnOnce() -> Params) -> bool {
        match &self.rule {
            Condition::Expression(expression) => expression.holds(params, u),
            Condition::Predicate(predicate) => predicate(&decode()),
        }
    }
}

impl fmt::Debug for Constraint {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}: {}", self.name, self.expression().unwrap_or("(a function)"))
    }
}

impl fmt::Debug for Declared {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Expression(source) => f.write_str(source),
            Self::Predicate(_) => f.write_str("(a function)"),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::space::Value;

    fn compile(declared: Declared) -> Result<Constraint, SpaceError> {
        let params = [Param::Int { low: 1, high: 8, log: false }];
        Constraint::compile("small".into(), declared, &["n".to_owned()], &params)
    }

    fn holds(constraint: &Constraint, n: i64) -> bool {
        let param = Param::Int { low: 1, high: 8, log: false };
        let u = param.encode("n", &n.into()).unwrap();
        constraint.holds(&[param], &[u], || Params::from_iter([("n", n)]))
    }

    #[test]
    fn expression_and_predicate_agree() {
        let expression = compile(Declared::Expression("n <= 4".into())).unwrap();
        let predicate = compile(Declared::Predicate(Arc::new(|p: &Params| {
            p.get("n").and_then(Value::as_i64).is_some_and(|n| n <= 4)
        })))
        .unwrap();
        for n in 1..=8 {
            assert_eq!(holds(&expression, n), n <= 4);
            assert_eq!(holds(&predicate, n), n <= 4);
        }
        assert_eq!(expression.expression(), Some("n <= 4"));
        assert_eq!(predicate.expression(), None);
        assert_eq!(format!("{expression:?}, {predicate:?}"), "small: n <= 4, small: (a function)");
    }

    #[test]
    fn errors_name_constraint_and_column() {
        let error = compile(Declared::Expression("m <= 4".into())).unwrap_err();
        assert_eq!(
            error.to_string(),
            "constraint `small`, column 1: unknown parameter `m` (nearest known: `n`)"
        );
    }
}
