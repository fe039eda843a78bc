//! Fields with two notations. They are parsed by hand, since errors of serde's untagged enums do not say what is wrong.

use std::borrow::Cow;
use std::fmt;
use std::num::NonZeroUsize;

use noregret::Algorithm;
use noregret::study::BATCHES;
use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use serde::de::value::MapAccessDeserializer;
use serde::de::{Error, MapAccess, Visitor};
use serde::{Deserialize, Deserializer, Serialize, Serializer};

/// How many points are decided on together: a number, or "auto".
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Batch {
    /// This many.
    Points(NonZeroUsize),
    /// As many as the algorithm allows.
    Auto,
}

impl Default for Batch {
    fn default() -> Self {
        Self::Points(NonZeroUsize::MIN)
    }
}

impl Serialize for Batch {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        match self {
            Self::Points(n) => n.serialize(serializer),
            Self::Auto => "auto".serialize(serializer),
        }
    }
}

impl<'de> Deserialize<'de> for Batch {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_any(ReadBatch)
    }
}

struct ReadBatch;

impl Visitor<'_> for ReadBatch {
    type Value = Batch;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "a number of points from {BATCHES}, or \"auto\"")
    }

    fn visit_u64<E: Error>(self, n: u64) -> Result<Batch, E> {
        let points =
            usize::try_from(n).ok().filter(|n| BATCHES.contains(*n as f64)).and_then(NonZeroUsize::new);
        points.map(Batch::Points).ok_or_else(|| E::invalid_value(serde::de::Unexpected::Unsigned(n), &self))
    }

    fn visit_i64<E: Error>(self, n: i64) -> Result<Batch, E> {
        match u64::try_from(n) {
            Ok(n) => self.visit_u64(n),
            Err(_) => Err(E::invalid_value(serde::de::Unexpected::Signed(n), &self)),
        }
    }

    fn visit_str<E: Error>(self, text: &str) -> Result<Batch, E> {
        if text == "auto" {
            Ok(Batch::Auto)
        } else {
            Err(E::invalid_value(serde::de::Unexpected::Str(text), &self))
        }
    }
}

impl JsonSchema for Batch {
    fn schema_name() -> Cow<'static, str> {
        "Batch".into()
    }

    fn json_schema(_: &mut SchemaGenerator) -> Schema {
        json_schema!({ "anyOf": [{ "type": "integer", "minimum": 1, "maximum": 100_000 }, { "const": "auto" }] })
    }
}

/// An algorithm, by its name or by a table of its name and some of its options.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct AlgorithmChoice(pub Algorithm);

impl Serialize for AlgorithmChoice {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        self.0.serialize(serializer)
    }
}

impl<'de> Deserialize<'de> for AlgorithmChoice {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_any(ReadAlgorithm).map(Self)
    }
}

struct ReadAlgorithm;

impl<'de> Visitor<'de> for ReadAlgorithm {
    type Value = Algorithm;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("the name of an algorithm, or a table with its `name` and options")
    }

    fn visit_str<E: Error>(self, name: &str) -> Result<Algorithm, E> {
        Algorithm::by_name(name).map_err(E::custom)
    }

    fn visit_map<A: MapAccess<'de>>(self, map: A) -> Result<Algorithm, A::Error> {
        let mut options = serde_json::Map::deserialize(MapAccessDeserializer::new(map))?;
        let Some(name) = options.remove("name") else { return Err(A::Error::missing_field("name")) };
        let Some(name) = name.as_str() else {
            return Err(A::Error::custom(format_args!("the name of an algorithm is a word, not {name}")));
        };
        Algorithm::with_options(name, options).map_err(A::Error::custom)
    }
}

impl JsonSchema for AlgorithmChoice {
    fn schema_name() -> Cow<'static, str> {
        "AlgorithmChoice".into()
    }

    fn json_schema(generator: &mut SchemaGenerator) -> Schema {
        let names: Vec<&str> = Algorithm::all().iter().map(|algorithm| algorithm.name).collect();
        let table = generator.subschema_for::<Algorithm>();
        json_schema!({ "anyOf": [{ "enum": names }, table] })
    }
}
