//! The command line of the objective: parameters replace placeholders, without a shell.

use noregret::space::nearest;
use noregret::{Space, Trial};

/// A command line with placeholders for parameters.
#[derive(Clone, Debug)]
pub(crate) struct Template {
    words: Vec<Vec<Piece>>,
}

#[derive(Clone, Debug, PartialEq)]
enum Piece {
    Text(String),
    /// The value of a parameter.
    Value(String),
    /// The name of a candidate.
    Id,
}

/// A placeholder that names no parameter.
#[derive(Debug, thiserror::Error)]
#[error(
    "[objective] command: `{{{name}}}` in {word:?} names no parameter (nearest: `{nearest}`); write `{{{{{name}}}}}` \
     if it is meant as it stands"
)]
pub(crate) struct UnknownPlace {
    pub(crate) name: String,
    pub(crate) word: String,
    pub(crate) nearest: String,
}

impl Template {
    /// Parses the words of a command. `id` is the column of a pool's ids; its name is a placeholder besides `id`.
    pub(crate) fn of_space(words: &[String], space: &Space, id: Option<&str>) -> Result<Self, UnknownPlace> {
        Self::parse(words, space.names(), space.as_pool().is_some(), id)
    }

    /// The same by the names of the parameters.
    pub(crate) fn parse(
        words: &[String],
        names: &[String],
        is_pool: bool,
        id: Option<&str>,
    ) -> Result<Self, UnknownPlace> {
        let is_id = |name: &str| is_pool && (name == "id" || Some(name) == id);
        let piece = |name: &str, word: &str| {
            if is_id(name) {
                Ok(Piece::Id)
            } else {
                let nearest = nearest(name, names.iter().map(String::as_str));
                Err(UnknownPlace { name: name.into(), word: word.into(), nearest })
            }
        };
        let parse = |word: &String| -> Result<Vec<Piece>, UnknownPlace> {
            let mut pieces = Vec::new();
            let mut text = String::new();
            let mut rest = word.as_str();
            while let Some(at) = rest.find('{') {
                text.push_str(&rest[..at]);
                rest = &rest[at..];
                // A name of the space, which in a pool may be any text.
                let known = |name: &&String| {
                    rest[1..].strip_prefix(name.as_str()).is_some_and(|r| r.starts_with('}'))
                };
                if let Some(name) = names.iter().find(known) {
                    if !text.is_empty() {
                        pieces.push(Piece::Text(std::mem::take(&mut text)));
                    }
                    pieces.push(Piece::Value(name.clone()));
                    rest = &rest[name.len() + 2..];
                } else if let Some(name) = named(rest, "{{", "}}") {
                    text.push_str(&rest[1..name.len() + 3]);
                    rest = &rest[name.len() + 4..];
                } else if let Some(name) = named(rest, "{", "}") {
                    if !text.is_empty() {
                        pieces.push(Piece::Text(std::mem::take(&mut text)));
                    }
                    pieces.push(piece(name, word)?);
                    rest = &rest[name.len() + 2..];
                } else {
                    text.push('{');
                    rest = &rest[1..];
                }
            }
            text.push_str(rest);
            if !text.is_empty() || pieces.is_empty() {
                pieces.push(Piece::Text(text));
            }
            Ok(pieces)
        };
        Ok(Self { words: words.iter().map(parse).collect::<Result<_, _>>()? })
    }

    /// Returns the words for one trial.
    pub(crate) fn fill(&self, trial: &Trial, id: Option<&str>) -> Vec<String> {
        let text = |piece: &Piece| match piece {
            Piece::Text(text) => text.clone(),
            Piece::Value(name) => trial.params.get(name).map(ToString::to_string).unwrap_or_default(),
            Piece::Id => id.unwrap_or_default().to_owned(),
        };
        self.words.iter().map(|pieces| pieces.iter().map(text).collect()).collect()
    }
}

/// The name between `open` and `close` at the beginning of `text`, if it could be a parameter's.
fn named<'a>(text: &'a str, open: &str, close: &str) -> Option<&'a str> {
    let (name, _) = text.strip_prefix(open)?.split_once(close)?;
    let begins = name.starts_with(|c: char| c.is_alphabetic() || c == '_');
    (begins && name.chars().all(|c| c.is_alphanumeric() || "_-.".contains(c))).then_some(name)
}

#[cfg(test)]
mod tests {
    use super::*;
    use noregret::{Params, Pool, TrialState};

    fn fill(words: &[&str], params: &[(&str, &str)]) -> Vec<String> {
        let mut space = Space::builder();
        for (name, value) in params {
            space = space.categorical(*name, [*value]);
        }
        let words: Vec<String> = words.iter().map(|&w| w.to_owned()).collect();
        let template = Template::of_space(&words, &space.build().unwrap(), None).unwrap();
        let params: Params = params.iter().copied().collect();
        template.fill(&Trial { number: 0, params, row: None, state: TrialState::Running }, None)
    }

    #[test]
    fn values_arrive_as_they_are_each_in_one_word() {
        let hostile = "\"; rm -rf ~ $(id) `id` {lr} %s \n'";
        assert_eq!(
            fill(&["p", "{act}", "--a={act}{act}"], &[("act", hostile)]),
            ["p".to_owned(), hostile.to_owned(), format!("--a={hostile}{hostile}")]
        );
    }

    #[test]
    fn other_braces_stay() {
        let words = ["{\"a\": {\"b\": 1}}", "{}", "{ x }", "{{x}}", "a{", "", "$0{1}"];
        let expected = ["{\"a\": {\"b\": 1}}", "{}", "{ x }", "{x}", "a{", "", "$0{1}"];
        assert_eq!(fill(&words, &[("x", "1")]), expected);
    }

    #[test]
    fn unknown_places_are_errors() {
        let space = Space::builder().float("lr", 0.0, 1.0).build().unwrap();
        let error = Template::of_space(&["{lrr}".to_owned()], &space, None).unwrap_err().to_string();
        assert!(error.contains("nearest: `lr`") && error.contains("{{lrr}}"), "{error}");
    }

    #[test]
    fn candidates_have_ids() {
        let pool = Pool::new(vec![1.0, 2.0], 1).unwrap().with_names(vec!["log P".into()]).unwrap();
        let space = Space::pool(pool);
        let template = Template::of_space(&["{id}/{name}/{log P}".to_owned()], &space, Some("name")).unwrap();
        let params = Params::from_iter([("log P", 2.0)]);
        let trial = Trial { number: 0, params, row: Some(1), state: TrialState::Running };
        assert_eq!(template.fill(&trial, Some("aspirin")), ["aspirin/aspirin/2.0"]);
    }
}
