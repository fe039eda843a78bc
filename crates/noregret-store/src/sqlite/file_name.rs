//! Names of files as SQLite takes them.

use std::borrow::Cow;
use std::path::Path;

/// The same file by a name that SQLite takes for nothing else: `file:u.db?mode=memory`, `:memory:` and an empty name are
/// databases that keep nothing. They are special at the beginning of a name only, so a relative path gets another beginning.
pub(super) fn plain(path: &Path) -> Cow<'_, Path> {
    if path.is_relative() { Path::new(".").join(path).into() } else { path.into() }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_relative_name_is_never_an_address() {
        for name in ["file:u.db?mode=memory", ":memory:", "a.db", "./a.db"] {
            let plain = plain(Path::new(name));
            assert!(plain.to_str().is_some_and(|plain| plain.starts_with("./")), "{name}");
            assert_eq!(plain.file_name(), Path::new(name).file_name());
        }
        assert_eq!(plain(Path::new("/data/a.db")), Path::new("/data/a.db"));
    }
}
