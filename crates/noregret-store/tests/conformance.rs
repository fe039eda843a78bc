//! Every store passes the same suite.

use std::cell::Cell;
use std::sync::Arc;

use noregret_store::{MemoryStore, SqliteStore};
use noregret_testkit::store::conforms;

#[test]
fn memory() {
    conforms(&|| Arc::new(MemoryStore::default()));
}

#[test]
fn sqlite() {
    let folder = tempfile::tempdir().unwrap();
    let count = Cell::new(0);
    conforms(&|| {
        count.set(count.get() + 1);
        Arc::new(SqliteStore::open(folder.path().join(format!("{}.db", count.get()))).unwrap())
    });
}
