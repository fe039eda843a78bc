//! The value of a checked expression at a point of the unit cube, without allocating.

use super::token::{Arithmetic, Comparison};
use super::{Builtin, Node};
use crate::space::encode::float_at;
use crate::space::{Param, Value};

/// What a name stands for at the place in question.
pub(super) trait Place<'a> {
    /// The value of the i-th name.
    fn value(&self, i: usize) -> Scalar<'a>;
}

/// A point of the unit cube.
pub(super) struct At<'a> {
    pub(super) params: &'a [Param],
    pub(super) u: &'a [f64],
}

impl<'a> Place<'a> for At<'a> {
    fn value(&self, i: usize) -> Scalar<'a> {
        parameter(&self.params[i], self.u[i])
    }
}

/// The value of a node at a place.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) enum Scalar<'a> {
    Number(f64),
    Text(&'a str),
    Truth(bool),
    /// The result of comparing with NaN; a cell with nothing in it.
    Undefined,
}

impl Scalar<'_> {
    /// The number; the type check excludes everything else where one is needed.
    fn number(self) -> f64 {
        if let Self::Number(x) = self { x } else { f64::NAN }
    }

    fn truth(self) -> Option<bool> {
        if let Self::Truth(b) = self { Some(b) } else { None }
    }
}

impl<'a> From<&'a Value> for Scalar<'a> {
    fn from(value: &'a Value) -> Self {
        match value {
            Value::Bool(b) => Self::Truth(*b),
            Value::Int(i) => Self::Number(*i as f64),
            Value::Float(x) => Self::Number(*x),
            Value::Text(text) => Self::Text(text),
        }
    }
}

impl From<Option<bool>> for Scalar<'_> {
    fn from(truth: Option<bool>) -> Self {
        truth.map_or(Self::Undefined, Self::Truth)
    }
}

/// Evaluates `node` at a place.
pub(super) fn evaluate<'a>(node: &'a Node, place: &impl Place<'a>) -> Scalar<'a> {
    let number = |node: &'a Node| evaluate(node, place).number();
    let truth = |node: &'a Node| evaluate(node, place).truth();
    match node {
        Node::Number(x) => Scalar::Number(*x),
        Node::Text(text) => Scalar::Text(text),
        Node::Truth(b) => Scalar::Truth(*b),
        Node::Param(i) => place.value(*i),
        Node::Negate(x) => Scalar::Number(-number(x)),
        Node::Arithmetic(op, a, b) => Scalar::Number(calculate(*op, number(a), number(b))),
        Node::Call(function, arguments) => Scalar::Number(call(*function, arguments.iter().map(number))),
        Node::Not(x) => truth(x).map(|x| !x).into(),
        Node::And(a, b) => all([a, b].into_iter().map(|x| truth(x))).into(),
        Node::Or(a, b) => any([a, b].into_iter().map(|x| truth(x))).into(),
        Node::Member(x, members) => {
            let x = evaluate(x, place);
            any(members.iter().map(|member| compare(Comparison::Equal, x, evaluate(member, place)))).into()
        }
        Node::Chain(first, links) => {
            let mut left = evaluate(first, place);
            all(links.iter().map(|(op, right)| {
                let right = evaluate(right, place);
                compare(*op, std::mem::replace(&mut left, right), right)
            }))
            .into()
        }
    }
}

fn parameter(param: &Param, u: f64) -> Scalar<'_> {
    match param {
        Param::Float { low, high, log } => Scalar::Number(float_at(*low, *high, *log, u)),
        Param::Int { low, .. } => Scalar::Number(low.saturating_add_unsigned(param.level_of(u)) as f64),
        Param::Ordinal { values: choices } | Param::Categorical { choices } => {
            Scalar::from(&choices[param.index_of(u)])
        }
        Param::Bool {} => Scalar::Truth(param.level_of(u) == 1),
    }
}

/// Conjunction in three-valued logic: false if any part is, else undefined if any part is (Kleene).
fn all(parts: impl Iterator<Item = Option<bool>>) -> Option<bool> {
    let mut whole = Some(true);
    for part in parts {
        match part {
            Some(true) => {}
            Some(false) => return Some(false),
            None => whole = None,
        }
    }
    whole
}

/// Disjunction, the mirror image of [`all`].
fn any(parts: impl Iterator<Item = Option<bool>>) -> Option<bool> {
    all(parts.map(|part| part.map(|x| !x))).map(|none| !none)
}

/// `a op b`; undefined if either is. Values of different types are unequal.
fn compare(op: Comparison, a: Scalar<'_>, b: Scalar<'_>) -> Option<bool> {
    if let (Scalar::Number(a), Scalar::Number(b)) = (a, b) {
        let order = a.partial_cmp(&b)?;
        return Some(match op {
            Comparison::Less => order.is_lt(),
            Comparison::LessEqual => order.is_le(),
            Comparison::Greater => order.is_gt(),
            Comparison::GreaterEqual => order.is_ge(),
            Comparison::Equal => order.is_eq(),
            Comparison::NotEqual => order.is_ne(),
        });
    }
    let undefined = |x| match x {
        Scalar::Undefined => true,
        Scalar::Number(x) => x.is_nan(),
        Scalar::Text(_) | Scalar::Truth(_) => false,
    };
    match op {
        _ if undefined(a) || undefined(b) => None,
        Comparison::Equal => Some(a == b),
        Comparison::NotEqual => Some(a != b),
        _ => None,
    }
}

fn calculate(op: Arithmetic, a: f64, b: f64) -> f64 {
    match op {
        Arithmetic::Add => a + b,
        Arithmetic::Subtract => a - b,
        Arithmetic::Multiply => a * b,
        Arithmetic::Divide => a / b,
        Arithmetic::Remainder => {
            let remainder = a % b;
            if remainder != 0.0 && (remainder < 0.0) != (b < 0.0) { remainder + b } else { remainder }
        }
        Arithmetic::Power => a.powf(b),
    }
}

/// Applies `function`; one undefined argument makes the result undefined.
fn call(function: Builtin, mut arguments: impl Iterator<Item = f64>) -> f64 {
    let first = arguments.next().unwrap_or(f64::NAN);
    // `f64::min` and `max` would ignore NaN.
    let fold = |pick: fn(f64, f64) -> f64| {
        arguments.fold(first, |a, b| if a.is_nan() || b.is_nan() { f64::NAN } else { pick(a, b) })
    };
    match function {
        Builtin::Min => fold(f64::min),
        Builtin::Max => fold(f64::max),
        Builtin::Abs => first.abs(),
        Builtin::Sqrt => first.sqrt(),
        Builtin::Exp => first.exp(),
        Builtin::Ln => first.ln(),
        Builtin::Log10 => first.log10(),
        Builtin::Floor => first.floor(),
        Builtin::Ceil => first.ceil(),
        Builtin::Round => first.round(),
    }
}
