//! Names of parameters: which are allowed, and which was probably meant.

/// Whether `name` may name a parameter: a letter or `_`, then letters, digits, `_`, `-` and `.`.
pub(super) fn is_valid(name: &str) -> bool {
    let mut chars = name.chars();
    chars.next().is_some_and(starts_name) && chars.all(|c| continues_name(c) || c == '-')
}

/// The default name of the i-th coordinate: `x0`, `x1` and so on.
pub(super) fn numbered(i: usize) -> String {
    format!("x{i}")
}

/// Whether a name, in an expression too, may begin with `c`.
pub(super) fn starts_name(c: char) -> bool {
    c.is_alphabetic() || c == '_'
}

/// Whether a name in an expression may go on with `c`; a `-` would be a minus there.
pub(super) fn continues_name(c: char) -> bool {
    c.is_alphanumeric() || c == '_' || c == '.'
}

/// The one of `known` nearest to `name`, the first among equals; empty if none is known. A name that goes on where this
/// one stops is nearest, then edit distance decides.
pub fn nearest<'a>(name: &str, known: impl IntoIterator<Item = &'a str>) -> String {
    const WORD: usize = 3; // shorter prefixes match by accident
    let begins = |candidate: &str| name.chars().count() >= WORD && candidate.starts_with(name);
    let distance = |candidate: &&str| (!begins(candidate), edit_distance(name, candidate));
    known.into_iter().min_by_key(distance).unwrap_or_default().to_owned()
}

/// Levenshtein distance, ignoring case: the smallest number of insertions, deletions and replacements of a character.
fn edit_distance(a: &str, b: &str) -> usize {
    let b: Vec<char> = b.chars().flat_map(char::to_lowercase).collect();
    let mut row: Vec<usize> = (0..=b.len()).collect();
    for (i, ca) in a.chars().flat_map(char::to_lowercase).enumerate() {
        let mut diagonal = i;
        row[0] = i + 1;
        for (j, &cb) in b.iter().enumerate() {
            let replaced = diagonal + usize::from(ca != cb);
            diagonal = row[j + 1];
            row[j + 1] = replaced.min(row[j] + 1).min(diagonal + 1);
        }
    }
    row[b.len()]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_identifier_like() {
        for good in ["x", "_", "x0", "learning-rate", "opt.lr", "größe"] {
            assert!(is_valid(good), "{good}");
        }
        for bad in ["", "0x", "-x", ".x", "a b", "a{b}", "a\n", "a=b"] {
            assert!(!is_valid(bad), "{bad}");
        }
    }

    #[test]
    fn distances_by_hand() {
        assert_eq!(edit_distance("kitten", "sitting"), 3);
        assert_eq!(edit_distance("", "abc"), 3);
        assert_eq!(edit_distance("abc", ""), 3);
        assert_eq!(edit_distance("LR", "lr"), 0);
        assert_eq!(nearest("layer", ["lr", "layers", "act"]), "layers");
        assert_eq!(nearest("initial", ["model", "initial_points"]), "initial_points");
        assert_eq!(nearest("x", []), "");
    }
}
