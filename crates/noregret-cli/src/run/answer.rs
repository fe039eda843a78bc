//! The output of an evaluation: its last line that is not empty, a number or a JSON object.

use noregret::study::NOISE_VARIANCES;
use noregret_store::{Attrs, can_be_kept};

/// The longest last line that is read: far more than any number needs, and enough for attributes.
pub(crate) const LONGEST_LINE: usize = 1 << 20;

/// A value, with its noise variance and attributes.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Answer {
    pub(crate) value: f64,
    pub(crate) noise_var: Option<f64>,
    pub(crate) attrs: Attrs,
}

/// Why a longer line is no value. Half of a line would be another number.
pub(crate) fn too_long() -> String {
    format!("the last line of stdout is longer than {} MiB", LONGEST_LINE >> 20)
}

/// Parses the end of the output; the error says why it has no value.
pub(crate) fn parse(stdout: &str) -> Result<Answer, String> {
    let Some(line) = stdout.lines().map(str::trim).rfind(|line| !line.is_empty()) else {
        return Err("it printed nothing; the last line of stdout must be the value".into());
    };
    let answer = if line.starts_with('{') { object(line)? } else { number(line)? };
    if !answer.value.is_finite() {
        return Err(format!("the value is {}, not a finite number", answer.value));
    }
    match answer.noise_var {
        Some(variance) if !NOISE_VARIANCES.contains(variance) => {
            Err(format!("noise_var must be from {NOISE_VARIANCES}, not {variance}"))
        }
        _ => Ok(answer),
    }
}

fn number(line: &str) -> Result<Answer, String> {
    let wrong = || {
        format!(
            "the last line of stdout must be a number or a JSON object with `value`, not {}",
            shortened(line)
        )
    };
    let value = line.parse().map_err(|_| wrong())?;
    Ok(Answer { value, noise_var: None, attrs: Attrs::new() })
}

fn object(line: &str) -> Result<Answer, String> {
    let mut map: Attrs = serde_json::from_str(line)
        .map_err(|error| format!("the last line of stdout is no JSON ({error}): {}", shortened(line)))?;
    let mut float = |key: &str| match map.remove(key) {
        None | Some(serde_json::Value::Null) => Ok(None),
        Some(serde_json::Value::Number(number)) => Ok(number.as_f64()),
        // Python's json writes NaN and Infinity, which serde rejects; some scripts write them as strings.
        Some(serde_json::Value::String(text)) if text.parse::<f64>().is_ok() => Ok(text.parse().ok()),
        Some(other) => Err(format!("`{key}` must be a number, not {other}")),
    };
    let value = float("value")?.ok_or_else(|| format!("no `value` in {}", shortened(line)))?;
    let noise_var = float("noise_var")?;
    let attrs = match map.remove("attrs") {
        None | Some(serde_json::Value::Null) => Attrs::new(),
        Some(serde_json::Value::Object(attrs)) => attrs,
        Some(other) => return Err(format!("`attrs` must be an object, not {other}")),
    };
    if !can_be_kept(&attrs) {
        return Err(format!("`attrs` are nested too deep: {}", shortened(line)));
    }
    match map.keys().next() {
        Some(key) => Err(format!("unknown key `{key}`; put it into `attrs`: {}", shortened(line))),
        None => Ok(Answer { value, noise_var, attrs }),
    }
}

/// The beginning of a line, in quotes.
fn shortened(line: &str) -> String {
    const SHOWN: usize = 80;
    format!("{:?}", noregret_files::shortened(line, SHOWN))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_and_objects() {
        let plain = |value| Ok(Answer { value, noise_var: None, attrs: Attrs::new() });
        assert_eq!(parse("epoch 1\n 0.25 \n\n"), plain(0.25));
        assert_eq!(parse("-1e-3"), plain(-1e-3));
        let full = parse(r#"{"value": 0.31, "noise_var": 0.01, "attrs": {"loss": [1, 2]}}"#).unwrap();
        assert_eq!((full.value, full.noise_var), (0.31, Some(0.01)));
        assert_eq!(full.attrs["loss"], serde_json::json!([1, 2]));
        assert_eq!(parse(r#"{"value": 3, "noise_var": null}"#), plain(3.0));
    }

    #[test]
    fn what_is_no_value_says_why() {
        let problem = |text: &str| parse(text).unwrap_err();
        assert!(problem(" \n\n").contains("printed nothing"));
        assert!(problem("nan").contains("the value is NaN"));
        assert!(problem("inf").contains("inf"));
        assert!(problem("done!").contains("\"done!\""));
        assert!(problem("{\"value\": NaN}").contains("no JSON"));
        assert!(problem("{\"value\": \"NaN\"}").contains("the value is NaN"));
        assert!(problem("{\"valu\": 1}").contains("no `value`"));
        assert!(problem("{\"value\": 1, \"loss\": 2}").contains("`loss`; put it into `attrs`"));
        assert!(problem("{\"value\": 1, \"noise_var\": -1}").contains("noise_var"));
        assert!(problem("{\"value\": 1, \"noise_var\": 1.7e308}").contains("from 0 to 1e150"));
        assert!(problem("{\"value\": [1]}").contains("`value` must be a number"));
        assert!(problem(&"x".repeat(1000)).len() < 200);
    }
}
