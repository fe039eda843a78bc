//! Filters of tables, in the language of the constraints.
//!
//! Names are those of columns, which may be parameters or anything else. As people write: `=` will do for `==`, and a word that names no column
//! is a text where it is compared with a column of texts, as in `state = failed and lr < 1e-3`. A comparison with a cell that is empty is
//! never true.

use super::evaluate::{Place, Scalar, evaluate};
use super::{ExpressionProblem, Names, Node, Type, parse};
use crate::space::expression::check::type_of;
use crate::space::{Param, Value};

/// A column that filters may name.
#[derive(Clone, Debug, PartialEq)]
pub struct Column {
    /// Its name.
    pub name: String,
    /// What is in its cells; [`Type::Mixed`] for anything.
    pub ty: Type,
    /// All texts that there may be in it; none, if there may be any.
    pub words: Vec<String>,
}

impl Column {
    /// A column.
    pub fn new(name: impl Into<String>, ty: Type) -> Self {
        Self { name: name.into(), ty, words: Vec::new() }
    }

    /// A column with the values of a parameter.
    pub fn of_param(name: impl Into<String>, param: &Param) -> Self {
        let choices = match param {
            Param::Ordinal { values: choices } | Param::Categorical { choices } => choices.as_slice(),
            _ => &[],
        };
        let words = choices.iter().filter_map(|value| Some(value.as_str()?.to_owned())).collect();
        Self { name: name.into(), ty: type_of(param), words }
    }
}

/// What is in a cell.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Cell<'a> {
    /// A number.
    Number(f64),
    /// A text.
    Text(&'a str),
    /// True or false.
    Truth(bool),
    /// Nothing.
    Empty,
}

impl<'a> From<&'a Value> for Cell<'a> {
    fn from(value: &'a Value) -> Self {
        match value {
            Value::Bool(b) => Self::Truth(*b),
            Value::Int(i) => Self::Number(*i as f64),
            Value::Float(x) => Self::Number(*x),
            Value::Text(text) => Self::Text(text),
        }
    }
}

impl<'a> From<Cell<'a>> for Scalar<'a> {
    fn from(cell: Cell<'a>) -> Self {
        match cell {
            Cell::Number(x) => Self::Number(x),
            Cell::Text(text) => Self::Text(text),
            Cell::Truth(b) => Self::Truth(b),
            Cell::Empty => Self::Undefined,
        }
    }
}

/// What is wrong with a filter.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
#[error("column {column} of the filter: {problem}")]
pub struct FilterError {
    /// Where, in characters from 1.
    pub column: usize,
    /// What.
    pub problem: ExpressionProblem,
}

/// A condition on the rows of a table.
#[derive(Clone, Debug)]
pub struct Filter {
    root: Node,
    used: Vec<bool>,
}

impl Filter {
    /// Parses and checks a filter. Of columns with the same name the first counts.
    pub fn compile(source: &str, columns: &[Column]) -> Result<Self, FilterError> {
        let parsed = parse::parse(source, Names::Columns(columns));
        let root = parsed.map_err(|(column, problem)| FilterError { column, problem })?;
        let mut used = vec![false; columns.len()];
        mark(&root, &mut used);
        Ok(Self { root, used })
    }

    /// Whether it names the i-th column.
    pub fn uses(&self, i: usize) -> bool {
        self.used.get(i).copied().unwrap_or(false)
    }

    /// Whether a row fits, by what is in its cells.
    pub fn holds<'a>(&'a self, cell: impl Fn(usize) -> Cell<'a>) -> bool {
        evaluate(&self.root, &Row(cell)) == Scalar::Truth(true)
    }
}

/// A row of a table.
struct Row<F>(F);

impl<'a, F: Fn(usize) -> Cell<'a>> Place<'a> for Row<F> {
    fn value(&self, i: usize) -> Scalar<'a> {
        (self.0)(i).into()
    }
}

fn mark(node: &Node, used: &mut [bool]) {
    match node {
        Node::Param(i) => used[*i] = true,
        Node::Number(_) | Node::Text(_) | Node::Truth(_) => {}
        Node::Negate(x) | Node::Not(x) => mark(x, used),
        Node::And(a, b) | Node::Or(a, b) | Node::Arithmetic(_, a, b) => {
            mark(a, used);
            mark(b, used);
        }
        Node::Chain(first, links) => {
            mark(first, used);
            links.iter().for_each(|(_, node)| mark(node, used));
        }
        Node::Member(x, members) => {
            mark(x, used);
            members.iter().for_each(|node| mark(node, used));
        }
        Node::Call(_, arguments) => arguments.iter().for_each(|node| mark(node, used)),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn columns() -> Vec<Column> {
        let act = Param::Categorical { choices: vec!["relu".into(), "tanh".into()] };
        vec![
            Column::of_param("lr", &Param::Float { low: 1e-5, high: 1.0, log: true }),
            Column::of_param("act", &act),
            Column::of_param("bias", &Param::Bool {}),
            Column::new("number", Type::Number),
            Column {
                words: ["waiting", "running", "complete", "failed"].map(str::to_owned).to_vec(),
                ..Column::new("state", Type::Text)
            },
            Column::new("value", Type::Number),
            Column::new("worker", Type::Text),
            Column::new("note", Type::Mixed),
        ]
    }

    /// Whether trial 7 fits, which failed with lr = 1e-4, act = tanh, bias = true, on gpu1, and has the number 3 as its note.
    fn holds(source: &str) -> bool {
        let columns = columns();
        let filter = Filter::compile(source, &columns).unwrap_or_else(|error| panic!("{source}: {error}"));
        filter.holds(|i| match columns[i].name.as_str() {
            "lr" => Cell::Number(1e-4),
            "act" => Cell::Text("tanh"),
            "bias" => Cell::Truth(true),
            "number" => Cell::Number(7.0),
            "state" => Cell::Text("failed"),
            "worker" => Cell::Text("gpu1"),
            "note" => Cell::Number(3.0),
            _ => Cell::Empty,
        })
    }

    #[test]
    fn rows_that_fit() {
        for source in [
            "state = failed and lr < 1e-3",
            "state == 'failed'",
            "state != complete and failed == state",
            "state in [failed, running] and state not in [complete]",
            "worker = gpu1 or worker = gpu2",
            "act = tanh and bias",
            "number >= 7 and number % 2 = 1",
            "not bias or 0 < lr <= 1e-4",
            "note = 3 and note > 2",
            "note != auto",
        ] {
            assert!(holds(source), "{source}");
        }
    }

    #[test]
    fn rows_that_do_not() {
        for source in ["state = complete", "worker = 'gpu2'", "lr > 1e-3", "note = auto", "note < 3"] {
            assert!(!holds(source), "{source}");
        }
    }

    /// A value that is not there is neither small nor large, nor another.
    #[test]
    fn what_is_not_there_fits_nothing() {
        for source in
            ["value < 1", "value >= 1", "value = 1", "value != 1", "not value < 1", "value in [1, 2]"]
        {
            assert!(!holds(source), "{source}");
        }
        assert!(holds("value < 1 or state = failed"));
        assert!(!holds("abs(value) < 1 or value + 1 > 0"));
    }

    #[test]
    fn mistakes_are_told_with_their_column() {
        let message = |source: &str| Filter::compile(source, &columns()).unwrap_err().to_string();
        for (source, expected) in [
            ("stat = failed", "column 1 of the filter: there is no column `stat` (nearest known: `state`)"),
            ("valeu < 3", "column 1 of the filter: there is no column `valeu` (nearest known: `value`)"),
            ("1 < valeu", "column 5 of the filter: there is no column `valeu` (nearest known: `value`)"),
            (
                "number = seven",
                "column 10 of the filter: there is no column `seven` (nearest known: `state`)",
            ),
            ("foo = bar", "column 1 of the filter: there is no column `foo` (nearest known: `lr`)"),
            ("foo = 'bar'", "column 1 of the filter: there is no column `foo` (nearest known: `lr`)"),
            ("failed", "column 1 of the filter: there is no column `failed` (nearest known: `value`)"),
            ("not failed", "column 5 of the filter: there is no column `failed` (nearest known: `value`)"),
            (
                "failed and bias",
                "column 1 of the filter: there is no column `failed` (nearest known: `value`)",
            ),
            (
                "state = faild",
                "column 9 of the filter: parameter `state` is never \"faild\" (nearest choice: \"failed\")",
            ),
            (
                "state",
                "column 1 of the filter: a filter must be true or false, such as `value < 1`, not text",
            ),
            (
                "state < failed",
                "column 9 of the filter: there is no column `failed` (nearest known: `value`)",
            ),
            ("state < 3", "column 1 of the filter: `<` needs a number here, not text"),
            (
                "lr = ",
                "column 6 of the filter: expected a number, a parameter, a function, text in quotes, or `(`, not the end",
            ),
        ] {
            assert_eq!(message(source), expected, "{source}");
        }
    }

    #[test]
    fn what_is_used_is_known() {
        let filter = Filter::compile("state = failed and lr < 1", &columns()).unwrap();
        let used: Vec<usize> = (0..9).filter(|i| filter.uses(*i)).collect();
        assert_eq!(used, [0, 4]);
    }
}
