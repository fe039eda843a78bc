//! A proposal in the log. The fit of the model is in the memo and, for users, in the diagnostics: the log keeps it once.

use noregret::strategy::diagnostics::Diagnostics;
use noregret::study::Asked;
use serde::{Deserialize, Deserializer, Serialize, Serializer, de, ser};
use serde_json::Value as Json;

/// Points were proposed: trials `first`, `first + 1`, ..., waiting for somebody to evaluate them.
#[derive(Clone, Debug, PartialEq)]
pub struct Proposed {
    /// Number of the first.
    pub first: u64,
    /// What the study itself sees.
    pub asked: Asked,
    /// How they came about.
    pub diagnostics: Option<Box<Diagnostics>>,
    /// How long that took.
    pub seconds: f64,
}

/// The same as JSON has it: without `diagnostics.model.fit`, if that is `memo.fit`. Older logs have both.
#[derive(Serialize, Deserialize)]
struct Written<A> {
    first: u64,
    #[serde(flatten)]
    asked: A,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    diagnostics: Option<Json>,
    #[serde(default)]
    seconds: f64,
}

fn model_of(diagnostics: Option<&mut Json>) -> Option<&mut serde_json::Map<String, Json>> {
    diagnostics?.get_mut("model")?.as_object_mut()
}

impl Serialize for Proposed {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let fit = self.diagnostics.as_ref().and_then(|diagnostics| Some(&diagnostics.model.as_ref()?.fit));
        let json = self.diagnostics.as_ref().map(serde_json::to_value);
        let mut diagnostics = json.transpose().map_err(ser::Error::custom)?;
        if fit == self.asked.memo.fit.as_ref()
            && let Some(model) = model_of(diagnostics.as_mut())
        {
            model.remove("fit");
        }
        let written = Written { first: self.first, asked: &self.asked, diagnostics, seconds: self.seconds };
        written.serialize(serializer)
    }
}

impl<'de> Deserialize<'de> for Proposed {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let Written { first, asked, mut diagnostics, seconds } = Written::<Asked>::deserialize(deserializer)?;
        if let (Some(model), Some(fit)) = (model_of(diagnostics.as_mut()), &asked.memo.fit)
            && !model.contains_key("fit")
        {
            model.insert("fit".into(), serde_json::to_value(fit).map_err(de::Error::custom)?);
        }
        let diagnostics = diagnostics.map(serde_json::from_value).transpose().map_err(de::Error::custom)?;
        Ok(Self { first, asked, diagnostics, seconds })
    }
}
