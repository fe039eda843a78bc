//! From tokens to a checked tree, by operator precedence (Pratt 1973), with types checked on the way up.

use super::token::{Arithmetic, Infix, Token, tokens};
use super::{Builtin, ExpressionProblem, Names, Node, Type};
use crate::space::name::nearest;

/// Deepest nesting of parentheses and prefixes; each level costs a few stack frames.
const MAX_DEPTH: usize = 64;

/// A column (from 1) and the problem there.
pub(super) type Failure = (usize, ExpressionProblem);

/// Binding powers, loose to tight.
mod power {
    pub(super) const LOOSEST: u8 = 0;
    pub(super) const OR: u8 = 1;
    pub(super) const AND: u8 = 2;
    pub(super) const COMPARE: u8 = 3;
    pub(super) const ADD: u8 = 4;
    pub(super) const MULTIPLY: u8 = 5;
    pub(super) const PREFIX: u8 = 6;
    pub(super) const POWER: u8 = 7;
}

/// Parses a whole expression, which must be true or false.
pub(super) fn parse(source: &str, names: Names<'_>) -> Result<Node, Failure> {
    let mut parser = Parser { tokens: tokens(source, names.is_table())?, at: 0, depth: 0, names };
    let whole = parser.expression(power::LOOSEST)?;
    if *parser.peek() != Token::End {
        return Err(parser.unexpected("an operator"));
    }
    whole.check_known()?;
    match whole.ty {
        Type::Truth => Ok(whole.node),
        found if parser.names.is_table() => Err((whole.column, ExpressionProblem::NotAFilter { found })),
        found => Err((whole.column, ExpressionProblem::NotATruth { found })),
    }
}

/// A part of the tree, its type, and the column where it begins.
pub(super) struct Part {
    pub(super) node: Node,
    pub(super) ty: Type,
    pub(super) column: usize,
    /// It is a word that names nothing: a text at most.
    unknown: Option<Box<ExpressionProblem>>,
}

impl Part {
    fn new(node: Node, ty: Type, column: usize) -> Self {
        Self { node, ty, column, unknown: None }
    }

    /// Refuses a word that names nothing.
    pub(super) fn check_known(&self) -> Result<(), Failure> {
        match &self.unknown {
            None => Ok(()),
            Some(problem) => Err((self.column, (**problem).clone())),
        }
    }

    /// The node, if it has the type that `operator` needs.
    fn expect(self, expected: Type, operator: &str) -> Result<Node, Failure> {
        self.check_known()?;
        if self.ty == expected {
            return Ok(self.node);
        }
        let operator = operator.to_owned();
        Err((self.column, ExpressionProblem::WrongType { operator, expected, found: self.ty }))
    }

    fn number(self, operator: &str) -> Result<Box<Node>, Failure> {
        self.expect(Type::Number, operator).map(Box::new)
    }

    fn truth(self, operator: &str) -> Result<Box<Node>, Failure> {
        self.expect(Type::Truth, operator).map(Box::new)
    }
}

pub(super) struct Parser<'a> {
    tokens: Vec<(usize, Token)>,
    at: usize,
    depth: usize,
    pub(super) names: Names<'a>,
}

impl Parser<'_> {
    fn peek(&self) -> &Token {
        &self.tokens[self.at].1
    }

    fn column(&self) -> usize {
        self.tokens[self.at].0
    }

    /// Returns the current token and advances; stays at the end.
    fn next(&mut self) -> Token {
        let token = self.peek().clone();
        self.at = (self.at + 1).min(self.tokens.len() - 1);
        token
    }

    fn accept(&mut self, token: &Token) -> bool {
        let found = self.peek() == token;
        if found {
            self.next();
        }
        found
    }

    fn require(&mut self, token: &Token, expected: &'static str) -> Result<(), Failure> {
        if self.accept(token) { Ok(()) } else { Err(self.unexpected(expected)) }
    }

    fn unexpected(&self, expected: &'static str) -> Failure {
        (self.column(), ExpressionProblem::Unexpected { found: self.peek().to_string(), expected })
    }

    /// An expression whose operators all bind at least as tightly as `min`.
    fn expression(&mut self, min: u8) -> Result<Part, Failure> {
        if self.depth == MAX_DEPTH {
            return Err((self.column(), ExpressionProblem::TooDeep { limit: MAX_DEPTH }));
        }
        self.depth += 1;
        let mut left = self.operand()?;
        loop {
            let (column, token) = (left.column, self.peek().clone());
            left = match token {
                Token::Infix(Infix::Or) if min <= power::OR => {
                    let (a, b) = self.truths(left, power::OR, "or")?;
                    Part::new(Node::Or(a, b), Type::Truth, column)
                }
                Token::Infix(Infix::And) if min <= power::AND => {
                    let (a, b) = self.truths(left, power::AND, "and")?;
                    Part::new(Node::And(a, b), Type::Truth, column)
                }
                Token::Infix(Infix::Compare(_)) if min <= power::COMPARE => self.chain(left)?,
                Token::In | Token::Not if min <= power::COMPARE => self.membership(left)?,
                Token::Infix(Infix::Arithmetic(op)) if min <= power_of(op) => self.arithmetic(left, op)?,
                _ => break,
            };
        }
        self.depth -= 1;
        Ok(left)
    }

    /// The first operand of an expression: a value, a prefix and its operand, or parentheses.
    fn operand(&mut self) -> Result<Part, Failure> {
        let column = self.column();
        match self.peek() {
            Token::Infix(Infix::Arithmetic(Arithmetic::Subtract)) => {
                self.next();
                let node = Node::Negate(self.expression(power::PREFIX)?.number("-")?);
                Ok(Part::new(node, Type::Number, column))
            }
            Token::Bang => {
                self.next();
                let node = Node::Not(self.expression(power::PREFIX)?.truth("!")?);
                Ok(Part::new(node, Type::Truth, column))
            }
            Token::Not => {
                self.next();
                let node = Node::Not(self.expression(power::COMPARE)?.truth("not")?);
                Ok(Part::new(node, Type::Truth, column))
            }
            Token::Open => {
                self.next();
                let inner = self.expression(power::LOOSEST)?;
                self.require(&Token::Close, "`)` or an operator")?;
                Ok(Part { column, ..inner })
            }
            _ => self.value(),
        }
    }

    fn value(&mut self) -> Result<Part, Failure> {
        let column = self.column();
        let part = match self.peek().clone() {
            Token::Number(x) => Part::new(Node::Number(x), Type::Number, column),
            Token::Text(text) => Part::new(Node::Text(text), Type::Text, column),
            Token::Truth(b) => Part::new(Node::Truth(b), Type::Truth, column),
            Token::Name(name) => return self.name(name),
            _ => return Err(self.unexpected("a number, a parameter, a function, text in quotes, or `(`")),
        };
        self.next();
        Ok(part)
    }

    /// A parameter, or a function if a parenthesis follows.
    fn name(&mut self, name: String) -> Result<Part, Failure> {
        let column = self.column();
        self.next();
        if *self.peek() == Token::Open {
            return self.call(&name, column);
        }
        if let Some(i) = self.names.iter().position(|known| known == name) {
            return Ok(Part::new(Node::Param(i), self.names.type_of(i), column));
        }
        let nearest = nearest(&name, self.names.iter());
        if self.names.is_table() {
            let problem = ExpressionProblem::UnknownColumn { name: name.clone(), nearest };
            let unknown = Some(Box::new(problem));
            return Ok(Part { unknown, ..Part::new(Node::Text(name), Type::Text, column) });
        }
        Err((column, ExpressionProblem::UnknownName { name, nearest }))
    }

    fn call(&mut self, name: &str, column: usize) -> Result<Part, Failure> {
        let function = Builtin::named(name).map_err(|problem| (column, problem))?;
        self.next(); // the parenthesis that made it a call
        let mut arguments = Vec::new();
        if *self.peek() != Token::Close {
            for argument in self.list()? {
                arguments.push(argument.expect(Type::Number, name)?);
            }
        }
        self.require(&Token::Close, "`,`, `)` or an operator")?;
        let (right, expected) = if function.takes_many() {
            (arguments.len() >= 2, "two or more arguments")
        } else {
            (arguments.len() == 1, "one argument")
        };
        if !right {
            let (function, found) = (name.to_owned(), arguments.len());
            return Err((column, ExpressionProblem::ArgumentCount { function, expected, found }));
        }
        Ok(Part::new(Node::Call(function, arguments), Type::Number, column))
    }

    /// One or more expressions with commas between them.
    fn list(&mut self) -> Result<Vec<Part>, Failure> {
        let mut parts = vec![self.expression(power::LOOSEST)?];
        while self.accept(&Token::Comma) {
            parts.push(self.expression(power::LOOSEST)?);
        }
        Ok(parts)
    }

    /// Both sides of a logical operator, the left one already parsed.
    fn truths(&mut self, left: Part, power: u8, operator: &str) -> Result<(Box<Node>, Box<Node>), Failure> {
        self.next();
        let left = left.truth(operator)?;
        Ok((left, self.expression(power + 1)?.truth(operator)?))
    }

    fn arithmetic(&mut self, left: Part, op: Arithmetic) -> Result<Part, Failure> {
        self.next();
        // Powers group to the right, everything else to the left.
        let min = power_of(op) + u8::from(op != Arithmetic::Power);
        let column = left.column;
        let left = left.number(op.sign())?;
        let right = self.expression(min)?.number(op.sign())?;
        Ok(Part::new(Node::Arithmetic(op, left, right), Type::Number, column))
    }

    /// `first < a <= b ...`, at the first comparison.
    fn chain(&mut self, first: Part) -> Result<Part, Failure> {
        let column = first.column;
        let mut links = Vec::new();
        let mut parts = vec![first];
        while let Token::Infix(Infix::Compare(op)) = *self.peek() {
            let sign_column = self.column();
            self.next();
            let right = self.expression(power::ADD)?;
            if let Some(left) = parts.last() {
                self.check_comparison(op, left, &right, sign_column)?;
            }
            parts.push(right);
            links.push(op);
        }
        let mut nodes = parts.into_iter().map(|part| part.node);
        let first = nodes.next().expect("invariant: begins with the first part");
        Ok(Part::new(
            Node::Chain(Box::new(first), links.into_iter().zip(nodes).collect()),
            Type::Truth,
            column,
        ))
    }

    /// `left in [...]` or `left not in [...]`, at `in` or `not`.
    fn membership(&mut self, left: Part) -> Result<Part, Failure> {
        let negated = self.accept(&Token::Not);
        self.require(&Token::In, "`in` or an operator")?;
        self.require(&Token::OpenList, "a list such as `[1, 2]`")?;
        let column = left.column;
        let mut members = Vec::new();
        for member in self.list()? {
            self.check_equality("in", &left, &member, member.column)?;
            members.push(member.node);
        }
        self.require(&Token::CloseList, "`,` or `]`")?;
        let node = Node::Member(Box::new(left.node), members);
        let node = if negated { Node::Not(Box::new(node)) } else { node };
        Ok(Part::new(node, Type::Truth, column))
    }
}

fn power_of(op: Arithmetic) -> u8 {
    match op {
        Arithmetic::Add | Arithmetic::Subtract => power::ADD,
        Arithmetic::Multiply | Arithmetic::Divide | Arithmetic::Remainder => power::MULTIPLY,
        Arithmetic::Power => power::POWER,
    }
}
