//! Durations with units: "8h", "1h 30m", "500ms".

use std::borrow::Cow;
use std::time::Duration;

use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use serde::de::Error as _;
use serde::{Deserialize, Deserializer, Serialize, Serializer};

/// Longer than any run, and short enough to be added to any moment.
const LONGEST: Duration = Duration::from_hours(10 * 366 * 24);

/// A time span, in files a number with its unit.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Span(pub Duration);

impl Span {
    /// Parses a duration with its unit.
    pub fn parse(text: &str) -> Result<Self, String> {
        let span = humantime::parse_duration(text)
            .map_err(|_| format!("`{text}` is no time: write it like \"30s\", \"10m\" or \"8h\""))?;
        if span.is_zero() {
            return Err(format!("`{text}`: a time must be longer than 0"));
        }
        if span > LONGEST {
            return Err(format!("`{text}`: a time must be at most 10 years"));
        }
        Ok(Self(span))
    }
}

impl Serialize for Span {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(&humantime::format_duration(self.0))
    }
}

impl<'de> Deserialize<'de> for Span {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        Self::parse(&String::deserialize(deserializer)?).map_err(D::Error::custom)
    }
}

impl JsonSchema for Span {
    fn schema_name() -> Cow<'static, str> {
        "Span".into()
    }

    fn json_schema(_: &mut SchemaGenerator) -> Schema {
        json_schema!({
            "type": "string",
            "description": "A time with its unit: \"500ms\", \"30s\", \"10m\", \"1h 30m\", \"8h\", \"2d\". At most 10 years.",
            "pattern": "^\\s*([0-9]+\\s*[A-Za-z]+\\s*)+$"
        })
    }
}
