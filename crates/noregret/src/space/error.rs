//! Errors of spaces, of their points, and of pools.

use super::expression::ExpressionProblem;
use super::{Param, Value};

/// What is wrong with a space or with a value, and what would be right.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
#[non_exhaustive]
#[expect(missing_docs, reason = "the messages say what the variants and their fields mean")]
pub enum SpaceError {
    // Declarations.
    #[error("a space needs at least one parameter")]
    Empty,
    #[error("parameter `{name}` is declared twice")]
    DuplicateName { name: String },
    #[error(
        "{name:?} cannot name a parameter: begin with a letter or _, go on with letters, digits, _, - or ."
    )]
    InvalidName { name: String },
    #[error("parameter `{name}`: bounds must be finite, not from {low} to {high}")]
    NonFiniteBound { name: String, low: f64, high: f64 },
    #[error("parameter `{name}`: low must be below high, not low = {low}, high = {high}")]
    EmptyRange { name: String, low: Value, high: Value },
    #[error("parameter `{name}`: high - low must be a finite number, not from {low:e} to {high:e}")]
    RangeTooWide { name: String, low: f64, high: f64 },
    #[error("parameter `{name}`: a logarithmic range must begin above 0, not at low = {low}")]
    LogNotPositive { name: String, low: Value },
    #[error("parameter `{name}`: integer bounds must lie within plus or minus {max} (2^45), unlike {value}", max = Param::MAX_INT)]
    IntTooLarge { name: String, value: i64 },
    #[error("parameter `{name}` needs at least one value to choose from")]
    NoChoices { name: String },
    #[error("parameter `{name}`: {} is listed twice", quoted(choice))]
    DuplicateChoice { name: String, choice: Value },
    #[error("parameter `{name}`: a choice must be a finite number, text, true or false, not {choice}")]
    NonFiniteChoice { name: String, choice: Value },
    #[error("parameter `{name}`: {} has a NUL, which no command line can hold", quoted(choice))]
    NulChoice { name: String, choice: Value },

    // Constraints.
    #[error("constraint `{name}` is declared twice")]
    DuplicateConstraint { name: String },
    #[error("constraint `{name}`, column {column}: {problem}")]
    Constraint { name: String, column: usize, problem: ExpressionProblem },
    #[error(
        "{feasible} of {tried} points satisfy the constraints, too few to search, and `{constraint}` excludes \
         most: loosen it, or narrow the parameters to where it holds"
    )]
    Infeasible { tried: u64, feasible: u64, constraint: String },

    // Values.
    #[error("unknown parameter `{name}` (nearest known: `{nearest}`)")]
    UnknownParameter { name: String, nearest: String },
    #[error("parameter `{name}` is missing")]
    MissingParameter { name: String },
    #[error("a point has {expected} values, one for each parameter, not {found}")]
    ValueCount { found: usize, expected: usize },
    #[error("parameter `{name}` must be {expected}, not {}", quoted(value))]
    WrongType { name: String, expected: &'static str, value: Value },
    #[error("parameter `{name}` must lie between {low} and {high}, unlike {value}")]
    OutOfRange { name: String, low: Value, high: Value, value: Value },
    #[error("parameter `{name}` must be one of {}, not {}", listed(choices), quoted(value))]
    NotAChoice { name: String, choices: Vec<Value>, value: Value },

    // Pools.
    #[error("a pool needs at least one row and one feature, not {rows} rows of {dims} features")]
    EmptyPool { rows: usize, dims: usize },
    #[error("{cells} cells do not make whole rows of {dims} features")]
    RaggedPool { cells: usize, dims: usize },
    #[error("row {row}, column {column} of the pool (both from 0) must be a finite number, not {value}")]
    NonFiniteFeature { row: usize, column: usize, value: f64 },
    #[error(
        "row {row}, column {column} of the pool (both from 0) must fit a 32-bit float, up to 3.4e38, unlike {value:e}"
    )]
    FeatureTooLarge { row: usize, column: usize, value: f64 },
    #[error("a pool of {rows} rows needs as many ids, not {ids}")]
    IdCount { rows: usize, ids: usize },
    #[error("row {row} of the pool (from 0): the id {id:?} has a NUL, which no command line can hold")]
    NulId { row: usize, id: String },
    #[error("rows {first} and {second} of the pool (from 0) share the id {id:?}; ids must be unique")]
    DuplicateId { id: String, first: usize, second: usize },
    #[error("a pool of {dims} features needs as many names, not {names}")]
    NameCount { dims: usize, names: usize },
}

impl SpaceError {
    /// The parameter concerned, if it is a single one.
    pub fn parameter(&self) -> Option<&str> {
        match self {
            Self::DuplicateName { name }
            | Self::InvalidName { name }
            | Self::NonFiniteBound { name, .. }
            | Self::EmptyRange { name, .. }
            | Self::RangeTooWide { name, .. }
            | Self::LogNotPositive { name, .. }
            | Self::IntTooLarge { name, .. }
            | Self::NoChoices { name }
            | Self::DuplicateChoice { name, .. }
            | Self::NonFiniteChoice { name, .. }
            | Self::NulChoice { name, .. }
            | Self::UnknownParameter { name, .. }
            | Self::MissingParameter { name }
            | Self::WrongType { name, .. }
            | Self::OutOfRange { name, .. }
            | Self::NotAChoice { name, .. } => Some(name),
            _ => None,
        }
    }
}

/// Text in quotes, to distinguish it from numbers and from the sentence around it.
fn quoted(value: &Value) -> String {
    match value {
        Value::Text(text) => format!("{text:?}"),
        other => other.to_string(),
    }
}

/// The first few of `values`, and how many more there are.
fn listed(values: &[Value]) -> String {
    const SHOWN: usize = 12; // a line or two on a terminal
    let text = values.iter().take(SHOWN).map(quoted).collect::<Vec<_>>().join(", ");
    match values.len().saturating_sub(SHOWN) {
        0 => text,
        more => format!("{text} and {more} more"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn messages_name_the_parameter_and_what_would_be_right() {
        let error = SpaceError::NotAChoice {
            name: "act".into(),
            choices: vec!["relu".into(), "tanh".into()],
            value: "gelu".into(),
        };
        assert_eq!(error.to_string(), r#"parameter `act` must be one of "relu", "tanh", not "gelu""#);
        let error = SpaceError::NonFiniteBound { name: "x".into(), low: 0.0, high: f64::INFINITY };
        assert_eq!(error.to_string(), "parameter `x`: bounds must be finite, not from 0 to inf");
        let error = SpaceError::InvalidName { name: "a b".into() };
        assert!(error.to_string().starts_with(r#""a b" cannot name a parameter"#));
    }

    #[test]
    fn long_lists_are_cut() {
        let values: Vec<Value> = (0..20).map(Value::from).collect();
        assert!(listed(&values).ends_with("10, 11 and 8 more"));
    }

    #[test]
    fn errors_stay_small_enough_to_return() {
        assert!(size_of::<SpaceError>() <= 128, "{}", size_of::<SpaceError>());
    }
}
