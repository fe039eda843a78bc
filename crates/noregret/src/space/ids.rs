//! Names of the rows of a pool, concatenated in one string: a million of them take little more than their bytes.

use std::hash::{DefaultHasher, Hash, Hasher};

use super::SpaceError;

/// A list of names, row by row.
#[derive(Clone, Debug, Default)]
pub struct Ids {
    text: String,
    /// Where the name of each row ends, and the next one begins.
    ends: Vec<usize>,
}

impl Ids {
    /// No names yet.
    pub fn new() -> Self {
        Self::default()
    }

    /// Names the next row.
    pub fn push(&mut self, id: &str) {
        self.text.push_str(id);
        self.ends.push(self.text.len());
    }

    /// Number of names.
    pub fn len(&self) -> usize {
        self.ends.len()
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.ends.is_empty()
    }

    /// The name of `row`.
    ///
    /// # Panics
    /// If there is no such row.
    pub fn get(&self, row: usize) -> &str {
        let begin = if row == 0 { 0 } else { self.ends[row - 1] };
        &self.text[begin..self.ends[row]]
    }
}

impl<S: AsRef<str>> FromIterator<S> for Ids {
    fn from_iter<I: IntoIterator<Item = S>>(iter: I) -> Self {
        let mut ids = Self::new();
        iter.into_iter().for_each(|id| ids.push(id.as_ref()));
        ids
    }
}

impl From<Vec<String>> for Ids {
    fn from(ids: Vec<String>) -> Self {
        ids.iter().collect()
    }
}

/// Unique names with an index for lookup.
#[derive(Debug)]
pub(super) struct UniqueIds {
    ids: Ids,
    /// Rows in the order of the hashes of their names, which sort much faster than the names.
    by_hash: Vec<usize>,
}

impl UniqueIds {
    /// The name of `row`.
    pub(super) fn get(&self, row: usize) -> &str {
        self.ids.get(row)
    }

    /// The row called `id`, if there is one.
    pub(super) fn row_of(&self, id: &str) -> Option<usize> {
        let wanted = hash(id);
        let begin = self.by_hash.partition_point(|&row| hash(self.get(row)) < wanted);
        let with_hash = self.by_hash[begin..].iter().take_while(|&&row| hash(self.get(row)) == wanted);
        with_hash.copied().find(|&row| self.get(row) == id)
    }
}

impl TryFrom<Ids> for UniqueIds {
    type Error = SpaceError;

    fn try_from(mut ids: Ids) -> Result<Self, SpaceError> {
        if ids.text.contains('\0')
            && let Some(row) = (0..ids.len()).find(|&row| ids.get(row).contains('\0'))
        {
            return Err(SpaceError::NulId { row, id: ids.get(row).to_owned() });
        }
        ids.text.shrink_to_fit();
        ids.ends.shrink_to_fit();
        let mut by_hash: Vec<usize> = (0..ids.len()).collect();
        by_hash.sort_by_cached_key(|&row| hash(ids.get(row))); // stable: equal names in the order of their rows
        let mut twins: Option<(usize, usize)> = None; // the later row first: we report the pair met first
        for same_hash in by_hash.chunk_by(|&a, &b| hash(ids.get(a)) == hash(ids.get(b))) {
            for (i, &second) in same_hash.iter().enumerate() {
                let first = same_hash[..i].iter().find(|&&row| ids.get(row) == ids.get(second));
                if let Some(&first) = first
                    && twins.is_none_or(|(earliest, _)| second < earliest)
                {
                    twins = Some((second, first));
                }
            }
        }
        match twins {
            Some((second, first)) => {
                Err(SpaceError::DuplicateId { id: ids.get(first).to_owned(), first, second })
            }
            None => Ok(Self { ids, by_hash }),
        }
    }
}

fn hash(id: &str) -> u64 {
    let mut hasher = DefaultHasher::new();
    id.hash(&mut hasher);
    hasher.finish()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_name_finds_its_row() {
        let ids: Ids =
            (0..1000).map(|i| format!("candidate {}", i * 7919 % 1000)).chain([String::new()]).collect();
        assert_eq!(
            (ids.len(), ids.get(0), ids.get(1), ids.get(1000)),
            (1001, "candidate 0", "candidate 919", "")
        );
        let unique = UniqueIds::try_from(ids.clone()).unwrap();
        assert!((0..ids.len()).all(|row| unique.row_of(ids.get(row)) == Some(row)));
        assert_eq!((unique.row_of("candidate 1000"), unique.row_of("candidate")), (None, None));
    }

    #[test]
    fn the_first_repetition_is_reported() {
        let ids: Ids = ["d", "a", "b", "a", "b", "c", "a"].into_iter().collect();
        let error = UniqueIds::try_from(ids).unwrap_err();
        assert_eq!(error, SpaceError::DuplicateId { id: "a".into(), first: 1, second: 3 });
    }
}
