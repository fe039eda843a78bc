//! Declaring a space, one parameter at a time.

use std::sync::Arc;

use super::constraint::{Constraint, Declared};
use super::sample::check_feasible;
use super::{Domain, Inner, Param, Params, Space, SpaceError, Value, name};

/// Collects parameters and constraints; nothing is checked before [`build`](Self::build).
#[derive(Clone, Debug, Default)]
#[must_use = "call `build` to get the space"]
pub struct SpaceBuilder {
    params: Vec<(String, Param)>,
    constraints: Vec<(String, Declared)>,
}

impl SpaceBuilder {
    /// Adds a parameter.
    pub fn param(mut self, name: impl Into<String>, param: Param) -> Self {
        self.params.push((name.into(), param));
        self
    }

    /// Adds a real number from `low` to `high`.
    pub fn float(self, name: impl Into<String>, low: f64, high: f64) -> Self {
        self.param(name, Param::Float { low, high, log: false })
    }

    /// Adds a real number from `low` to `high` whose ratios matter, such as a learning rate.
    pub fn log_float(self, name: impl Into<String>, low: f64, high: f64) -> Self {
        self.param(name, Param::Float { low, high, log: true })
    }

    /// Adds a whole number from `low` to `high`.
    pub fn int(self, name: impl Into<String>, low: i64, high: i64) -> Self {
        self.param(name, Param::Int { low, high, log: false })
    }

    /// Adds a whole number from `low` to `high` whose ratios matter, such as a batch size.
    pub fn log_int(self, name: impl Into<String>, low: i64, high: i64) -> Self {
        self.param(name, Param::Int { low, high, log: true })
    }

    /// Adds a choice between values whose order means something.
    pub fn ordinal<V: Into<Value>>(
        self,
        name: impl Into<String>,
        values: impl IntoIterator<Item = V>,
    ) -> Self {
        self.param(name, Param::Ordinal { values: values.into_iter().map(Into::into).collect() })
    }

    /// Adds a choice between values without an order.
    pub fn categorical<V: Into<Value>>(
        self,
        name: impl Into<String>,
        choices: impl IntoIterator<Item = V>,
    ) -> Self {
        self.param(name, Param::Categorical { choices: choices.into_iter().map(Into::into).collect() })
    }

    /// Adds a choice between true and false.
    pub fn bool(self, name: impl Into<String>) -> Self {
        self.param(name, Param::Bool {})
    }

    /// Adds a condition written as text, such as `layers * width <= 1024`.
    pub fn constraint(mut self, name: impl Into<String>, expression: impl Into<String>) -> Self {
        self.constraints.push((name.into(), Declared::Expression(expression.into())));
        self
    }

    /// Adds a condition as a function, which must always return the same for the same point.
    pub fn predicate(
        mut self,
        name: impl Into<String>,
        predicate: impl Fn(&Params) -> bool + Send + Sync + 'static,
    ) -> Self {
        self.constraints.push((name.into(), Declared::Predicate(Arc::new(predicate))));
        self
    }

    /// Checks everything, including that the constraints leave enough of the space feasible.
    pub fn build(self) -> Result<Space, SpaceError> {
        if self.params.is_empty() {
            return Err(SpaceError::Empty);
        }
        for (i, (name, param)) in self.params.iter().enumerate() {
            if !name::is_valid(name) {
                return Err(SpaceError::InvalidName { name: name.clone() });
            }
            if self.params[..i].iter().any(|(earlier, _)| earlier == name) {
                return Err(SpaceError::DuplicateName { name: name.clone() });
            }
            param.check(name)?;
        }
        let (names, params): (Vec<String>, Vec<Param>) = self.params.into_iter().unzip();
        let mut constraints: Vec<Constraint> = Vec::with_capacity(self.constraints.len());
        for (name, declared) in self.constraints {
            if constraints.iter().any(|earlier| earlier.name() == name) {
                return Err(SpaceError::DuplicateConstraint { name });
            }
            constraints.push(Constraint::compile(name, declared, &names, &params)?);
        }
        let kinds = params.iter().map(Param::kind).collect();
        let domain = Domain::Params { params, constraints };
        let space = Space { inner: Arc::new(Inner { names: names.into(), kinds, domain }) };
        check_feasible(&space)?;
        Ok(space)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::space::Kind;

    #[test]
    fn every_kind_in_order() {
        let space = Space::builder()
            .float("x", 0.0, 1.0)
            .log_float("lr", 1e-5, 1e-1)
            .int("layers", 1, 8)
            .log_int("batch", 1, 1024)
            .categorical("act", ["relu", "tanh"])
            .ordinal("width", [32, 64, 128])
            .bool("bias")
            .constraint("budget", "layers * width <= 512")
            .predicate("no bias", |p: &Params| p.get("bias") == Some(&Value::Bool(false)))
            .build()
            .unwrap();
        assert_eq!(space.names(), ["x", "lr", "layers", "batch", "act", "width", "bias"]);
        let (c, l, k) = (Kind::Continuous, Kind::Levels, Kind::Category);
        assert_eq!(space.kinds(), [c, c, l(8), l(1024), k(2), l(3), k(2)]);
        let constraints: Vec<_> = space.constraints().collect();
        assert_eq!(constraints, [("budget", Some("layers * width <= 512")), ("no bias", None)]);
    }

    #[test]
    fn bad_declarations_are_refused() {
        let error = |builder: SpaceBuilder| builder.build().unwrap_err();
        let b = Space::builder;
        assert_eq!(error(b()), SpaceError::Empty);
        assert_eq!(error(b().bool("x").bool("x")), SpaceError::DuplicateName { name: "x".into() });
        assert_eq!(error(b().bool("a b")), SpaceError::InvalidName { name: "a b".into() });
        assert!(matches!(error(b().float("x", 2.0, 1.0)), SpaceError::EmptyRange { .. }));
        assert!(matches!(error(b().categorical("c", ["a", "a"])), SpaceError::DuplicateChoice { .. }));
        assert!(matches!(error(b().ordinal("c", Vec::<Value>::new())), SpaceError::NoChoices { .. }));
        let twice = b().bool("x").constraint("c", "x").constraint("c", "not x");
        assert_eq!(error(twice), SpaceError::DuplicateConstraint { name: "c".into() });
        let wrong = error(b().bool("x").constraint("c", "not (y)"));
        assert!(matches!(wrong, SpaceError::Constraint { column: 6, .. }), "{wrong}");
    }
}
