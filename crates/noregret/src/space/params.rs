//! A point in the user's own units: an ordered assignment of values to names.

use std::fmt;
use std::sync::Arc;

use serde::de::{Error as _, MapAccess, Visitor};
use serde::ser::SerializeMap;
use serde::{Deserialize, Deserializer, Serialize, Serializer};

use super::Value;

/// Values by parameter name, in the order of the space they come from; in JSON, a map.
///
/// Equality ignores the order. Built by collecting `(name, value)` pairs, where the last of equal names wins.
#[derive(Clone, Debug)]
pub struct Params {
    names: Arc<[String]>,
    values: Vec<Value>,
}

impl Params {
    /// The values of `names`, which the space shares with all its points.
    pub(super) fn with_names(names: Arc<[String]>, values: Vec<Value>) -> Self {
        debug_assert_eq!(names.len(), values.len());
        Self { names, values }
    }

    /// The value of `name`, if it has one.
    pub fn get(&self, name: &str) -> Option<&Value> {
        self.iter().find_map(|(known, value)| (known == name).then_some(value))
    }

    /// The value of `name`. Index `i` is tried first: points of one space have the same order.
    pub(super) fn get_near(&self, i: usize, name: &str) -> Option<&Value> {
        if self.names.get(i).is_some_and(|known| known == name) {
            return self.values.get(i);
        }
        self.get(name)
    }

    /// Names with their values, in order.
    pub fn iter(&self) -> impl ExactSizeIterator<Item = (&str, &Value)> {
        self.names.iter().map(String::as_str).zip(&self.values)
    }

    /// Number of parameters.
    pub fn len(&self) -> usize {
        self.values.len()
    }

    /// Whether nothing is assigned.
    pub fn is_empty(&self) -> bool {
        self.values.is_empty()
    }
}

impl PartialEq for Params {
    fn eq(&self, other: &Self) -> bool {
        // Names are distinct in both, so one inclusion and equal lengths suffice.
        let mut pairs = self.iter().enumerate();
        self.len() == other.len() && pairs.all(|(i, (name, value))| other.get_near(i, name) == Some(value))
    }
}

impl fmt::Display for Params {
    /// `lr=0.01, layers=3`
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (i, (name, value)) in self.iter().enumerate() {
            let separator = if i == 0 { "" } else { ", " };
            write!(f, "{separator}{name}={value}")?;
        }
        Ok(())
    }
}

impl<N: Into<String>, V: Into<Value>> FromIterator<(N, V)> for Params {
    fn from_iter<I: IntoIterator<Item = (N, V)>>(pairs: I) -> Self {
        let (mut names, mut values) = (Vec::<String>::new(), Vec::new());
        for (name, value) in pairs {
            let name = name.into();
            if let Some(i) = names.iter().position(|known| *known == name) {
                values[i] = value.into();
            } else {
                names.push(name);
                values.push(value.into());
            }
        }
        Self { names: names.into(), values }
    }
}

impl Serialize for Params {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut map = serializer.serialize_map(Some(self.len()))?;
        for (name, value) in self.iter() {
            map.serialize_entry(name, value)?;
        }
        map.end()
    }
}

impl<'de> Deserialize<'de> for Params {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_map(ParamsVisitor)
    }
}

/// Reads a map in its own order, and refuses a name given twice.
struct ParamsVisitor;

impl<'de> Visitor<'de> for ParamsVisitor {
    type Value = Params;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a map from parameter names to values")
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Params, A::Error> {
        let (mut names, mut values) = (Vec::new(), Vec::new());
        while let Some((name, value)) = map.next_entry::<String, Value>()? {
            if names.contains(&name) {
                return Err(A::Error::custom(format_args!("parameter `{name}` is given twice")));
            }
            names.push(name);
            values.push(value);
        }
        Ok(Params { names: names.into(), values })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn example() -> Params {
        Params::from_iter([("lr", Value::Float(0.01)), ("layers", Value::Int(3)), ("act", "relu".into())])
    }

    #[test]
    fn json_is_a_map_in_order() {
        let json = r#"{"lr":0.01,"layers":3,"act":"relu"}"#;
        assert_eq!(serde_json::to_string(&example()).unwrap(), json);
        assert_eq!(serde_json::from_str::<Params>(json).unwrap(), example());
        let twice = serde_json::from_str::<Params>(r#"{"lr":1,"lr":2}"#).unwrap_err();
        assert!(twice.to_string().contains("`lr` is given twice"));
    }

    #[test]
    fn display_and_lookup() {
        assert_eq!(example().to_string(), "lr=0.01, layers=3, act=relu");
        assert_eq!(example().get("layers"), Some(&Value::Int(3)));
        assert_eq!(example().get("layer"), None);
        assert!(Params::from_iter(Vec::<(String, Value)>::new()).is_empty());
    }

    #[test]
    fn equality_disregards_order_but_not_names() {
        assert_eq!(Params::from_iter([("a", 1), ("b", 2)]), Params::from_iter([("b", 2), ("a", 1)]));
        assert_ne!(Params::from_iter([("a", 1)]), Params::from_iter([("b", 1)]));
        assert_ne!(Params::from_iter([("a", 1)]), Params::from_iter([("a", 1), ("b", 2)]));
        assert_eq!(Params::from_iter([("a", 1), ("a", 2)]), Params::from_iter([("a", 2)]));
    }
}
