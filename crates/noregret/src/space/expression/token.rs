//! The tokens of an expression.

use super::ExpressionProblem;
use crate::space::name::{continues_name, starts_name};

/// Longest expression: bounds the depth of the tree, and with it every recursion over it.
const MAX_TOKENS: usize = 1000;

/// One token.
#[derive(Clone, Debug, PartialEq)]
pub(super) enum Token {
    Number(f64),
    Text(String),
    Name(String),
    Truth(bool),
    Infix(Infix),
    /// `not`, looser than comparisons.
    Not,
    /// `!`, tighter than everything but powers.
    Bang,
    In,
    Open,
    Close,
    OpenList,
    CloseList,
    Comma,
    End,
}

/// An operator between two operands.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Infix {
    Or,
    And,
    Compare(Comparison),
    Arithmetic(Arithmetic),
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Comparison {
    Less,
    LessEqual,
    Greater,
    GreaterEqual,
    Equal,
    NotEqual,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Arithmetic {
    Add,
    Subtract,
    Multiply,
    Divide,
    Remainder,
    Power,
}

impl Comparison {
    pub(super) fn sign(self) -> &'static str {
        match self {
            Self::Less => "<",
            Self::LessEqual => "<=",
            Self::Greater => ">",
            Self::GreaterEqual => ">=",
            Self::Equal => "==",
            Self::NotEqual => "!=",
        }
    }
}

impl Arithmetic {
    pub(super) fn sign(self) -> &'static str {
        match self {
            Self::Add => "+",
            Self::Subtract => "-",
            Self::Multiply => "*",
            Self::Divide => "/",
            Self::Remainder => "%",
            Self::Power => "^",
        }
    }
}

impl std::fmt::Display for Token {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::Number(x) => write!(f, "`{x}`"),
            Self::Text(text) => write!(f, "{text:?}"),
            Self::Name(name) => write!(f, "`{name}`"),
            Self::Truth(b) => write!(f, "`{b}`"),
            Self::Infix(Infix::Or) => f.write_str("`or`"),
            Self::Infix(Infix::And) => f.write_str("`and`"),
            Self::Infix(Infix::Compare(op)) => write!(f, "`{}`", op.sign()),
            Self::Infix(Infix::Arithmetic(op)) => write!(f, "`{}`", op.sign()),
            Self::Not => f.write_str("`not`"),
            Self::Bang => f.write_str("`!`"),
            Self::In => f.write_str("`in`"),
            Self::Open => f.write_str("`(`"),
            Self::Close => f.write_str("`)`"),
            Self::OpenList => f.write_str("`[`"),
            Self::CloseList => f.write_str("`]`"),
            Self::Comma => f.write_str("`,`"),
            Self::End => f.write_str("the end"),
        }
    }
}

/// Splits `source` into tokens with their columns (from 1), closed by [`Token::End`]. `single`: whether `=` will do for `==`.
pub(super) fn tokens(source: &str, single: bool) -> Result<Vec<(usize, Token)>, (usize, ExpressionProblem)> {
    let chars: Vec<char> = source.chars().collect();
    let mut tokens = Vec::new();
    let mut at = 0;
    while let Some(&c) = chars.get(at) {
        if c.is_whitespace() {
            at += 1;
            continue;
        }
        if tokens.len() == MAX_TOKENS {
            return Err((at + 1, ExpressionProblem::TooLong { limit: MAX_TOKENS }));
        }
        let (token, length) = match token(&chars[at..]) {
            Err(ExpressionProblem::SingleEquals) if single => {
                (Token::Infix(Infix::Compare(Comparison::Equal)), 1)
            }
            found => found.map_err(|problem| (at + 1, problem))?,
        };
        tokens.push((at + 1, token));
        at += length;
    }
    tokens.push((at + 1, Token::End));
    Ok(tokens)
}

/// The token `rest` begins with, and its length; `rest` is not empty.
fn token(rest: &[char]) -> Result<(Token, usize), ExpressionProblem> {
    let (first, second) = (rest[0], rest.get(1).copied());
    match first {
        '"' | '\'' => quoted(rest).map(|(text, length)| (Token::Text(text), length)),
        '`' => quoted(rest).map(|(name, length)| (Token::Name(name), length)),
        '.' if second.is_some_and(|c| c.is_ascii_digit()) => number(rest),
        '0'..='9' => number(rest),
        _ if starts_name(first) => Ok(word(rest)),
        _ => sign(first, second),
    }
}

fn quoted(rest: &[char]) -> Result<(String, usize), ExpressionProblem> {
    let quote = rest[0];
    let length = rest[1..].iter().position(|&c| c == quote).ok_or(ExpressionProblem::Unclosed { quote })?;
    Ok((rest[1..=length].iter().collect(), length + 2))
}

fn number(rest: &[char]) -> Result<(Token, usize), ExpressionProblem> {
    // Everything that could belong to a number; the standard parser decides whether it is one.
    let mut length = 0;
    while let Some(&c) = rest.get(length) {
        let signed_exponent = matches!(c, '+' | '-') && length > 0 && matches!(rest[length - 1], 'e' | 'E');
        if !(continues_name(c) || signed_exponent) {
            break;
        }
        length += 1;
    }
    let text: String = rest[..length].iter().collect();
    match text.parse::<f64>() {
        Ok(x) if x.is_finite() => Ok((Token::Number(x), length)),
        _ => Err(ExpressionProblem::BadNumber { text }),
    }
}

fn word(rest: &[char]) -> (Token, usize) {
    let length = rest.iter().position(|&c| !continues_name(c)).unwrap_or(rest.len());
    let name: String = rest[..length].iter().collect();
    let token = match name.as_str() {
        "and" => Token::Infix(Infix::And),
        "or" => Token::Infix(Infix::Or),
        "not" => Token::Not,
        "in" => Token::In,
        "true" | "True" => Token::Truth(true),
        "false" | "False" => Token::Truth(false),
        _ => Token::Name(name),
    };
    (token, length)
}

fn sign(first: char, second: Option<char>) -> Result<(Token, usize), ExpressionProblem> {
    let compare = |comparison| Token::Infix(Infix::Compare(comparison));
    let arithmetic = |arithmetic| Token::Infix(Infix::Arithmetic(arithmetic));
    Ok(match (first, second) {
        ('<', Some('=')) => (compare(Comparison::LessEqual), 2),
        ('>', Some('=')) => (compare(Comparison::GreaterEqual), 2),
        ('=', Some('=')) => (compare(Comparison::Equal), 2),
        ('!', Some('=')) => (compare(Comparison::NotEqual), 2),
        ('&', Some('&')) => (Token::Infix(Infix::And), 2),
        ('|', Some('|')) => (Token::Infix(Infix::Or), 2),
        ('*', Some('*')) => (arithmetic(Arithmetic::Power), 2),
        ('<', _) => (compare(Comparison::Less), 1),
        ('>', _) => (compare(Comparison::Greater), 1),
        ('!', _) => (Token::Bang, 1),
        ('+', _) => (arithmetic(Arithmetic::Add), 1),
        ('-', _) => (arithmetic(Arithmetic::Subtract), 1),
        ('*', _) => (arithmetic(Arithmetic::Multiply), 1),
        ('/', _) => (arithmetic(Arithmetic::Divide), 1),
        ('%', _) => (arithmetic(Arithmetic::Remainder), 1),
        ('^', _) => (arithmetic(Arithmetic::Power), 1),
        ('(', _) => (Token::Open, 1),
        (')', _) => (Token::Close, 1),
        ('[', _) => (Token::OpenList, 1),
        (']', _) => (Token::CloseList, 1),
        (',', _) => (Token::Comma, 1),
        ('=', _) => return Err(ExpressionProblem::SingleEquals),
        (found, _) => return Err(ExpressionProblem::UnexpectedCharacter { found }),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn one(source: &str) -> Token {
        let found = tokens(source, false).unwrap();
        assert_eq!(found.len(), 2, "{found:?}");
        found[0].1.clone()
    }

    #[test]
    fn numbers_words_and_text() {
        assert_eq!(one("1.5e-3"), Token::Number(1.5e-3));
        assert_eq!(one(" .5"), Token::Number(0.5));
        assert_eq!(one("2E+2"), Token::Number(200.0));
        assert_eq!(one("opt.lr"), Token::Name("opt.lr".into()));
        assert_eq!(one("`learning-rate`"), Token::Name("learning-rate".into()));
        assert_eq!(one("'a \"b\"'"), Token::Text("a \"b\"".into()));
        assert_eq!(one("''"), Token::Text(String::new()));
        assert_eq!(one("True"), Token::Truth(true));
    }

    #[test]
    fn columns_count_characters_from_one() {
        let columns: Vec<usize> =
            tokens("ä <= -1", false).unwrap().into_iter().map(|(column, _)| column).collect();
        assert_eq!(columns, [1, 3, 6, 7, 8]);
    }

    #[test]
    fn what_is_no_token_is_told() {
        let problem = |source: &str| tokens(source, false).unwrap_err();
        assert_eq!(problem("x = 1"), (3, ExpressionProblem::SingleEquals));
        assert_eq!(problem("x & y"), (3, ExpressionProblem::UnexpectedCharacter { found: '&' }));
        assert_eq!(problem("'ab"), (1, ExpressionProblem::Unclosed { quote: '\'' }));
        assert_eq!(problem("2x"), (1, ExpressionProblem::BadNumber { text: "2x".into() }));
        assert_eq!(problem("1e999"), (1, ExpressionProblem::BadNumber { text: "1e999".into() }));
        assert_eq!(problem("1.2.3").0, 1);
        assert!(matches!(problem(&"-".repeat(1001)), (1001, ExpressionProblem::TooLong { .. })));
    }
}
