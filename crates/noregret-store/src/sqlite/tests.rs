use super::*;

fn entry(number: u64) -> Entry {
    let event = Event::Late {
        number,
        value: Some(1.0),
        noise_var: None,
        attrs: crate::Attrs::new(),
        reason: String::new(),
    };
    Entry { time: Timestamp(number.cast_signed()), event }
}

#[test]
fn a_log_outlives_its_connection_and_is_in_wal_mode() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("a.db");
    let first = SqliteStore::open(&path).unwrap();
    assert_eq!(first.append("s", 0, &[entry(0), entry(1)]).unwrap(), 2);
    let mode: String = first.lock().pragma_query_value(None, "journal_mode", |row| row.get(0)).unwrap();
    assert_eq!(mode, "wal");
    drop(first);
    let second = SqliteStore::open_existing(&path).unwrap();
    assert_eq!(second.read("s", 0, 9).unwrap(), [entry(0), entry(1)]);
}

#[test]
fn results_are_synchronised_with_the_disk() {
    let folder = tempfile::tempdir().unwrap();
    let store = SqliteStore::open(folder.path().join("a.db")).unwrap();
    let synchronous =
        || -> i64 { store.lock().pragma_query_value(None, "synchronous", |row| row.get(0)).unwrap() };
    store.append("s", 0, &[entry(0)]).unwrap();
    assert_eq!(synchronous(), 2, "FULL");
    let lease = |worker: String| Entry {
        time: Timestamp(0),
        event: Event::Leased { number: 0, worker, until: None },
    };
    store.append("s", 1, &[lease(crate::this_worker())]).unwrap();
    assert_eq!(synchronous(), 1, "NORMAL");
    store.append("s", 2, &[lease("ask".into())]).unwrap();
    assert_eq!(synchronous(), 2, "FULL: somebody has walked away with it");
}

#[test]
fn files_that_are_not_ours_are_left_alone() {
    let folder = tempfile::tempdir().unwrap();
    let text = folder.path().join("notes.txt");
    std::fs::write(&text, "a text that is longer than the hundred bytes of a header of SQLite. ".repeat(9))
        .unwrap();
    assert!(matches!(SqliteStore::open(&text), Err(StoreError::Foreign { .. })));
    let other = folder.path().join("other.db");
    Connection::open(&other).unwrap().execute_batch("CREATE TABLE t (x)").unwrap();
    assert!(matches!(SqliteStore::open(&other), Err(StoreError::Foreign { .. })));
    let missing = folder.path().join("no/such/folder.db");
    let error = SqliteStore::open(&missing).unwrap_err().to_string();
    assert!(error.contains("the folder does not exist"), "{error}");
    assert!(matches!(
        SqliteStore::open_existing(folder.path().join("none.db")),
        Err(StoreError::Open { .. })
    ));
    assert!(!folder.path().join("none.db").exists());
}

#[test]
fn a_database_from_the_future_is_refused() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("a.db");
    SqliteStore::open(&path).unwrap().lock().pragma_update(None, "user_version", 99).unwrap();
    assert!(matches!(SqliteStore::open(&path), Err(StoreError::Newer { found: 99, .. })));
}

#[test]
fn a_full_disk_is_an_error_and_loses_nothing() {
    let folder = tempfile::tempdir().unwrap();
    let store = SqliteStore::open(folder.path().join("a.db")).unwrap();
    store.append("s", 0, &[entry(0)]).unwrap();
    let pages: i64 = store.lock().pragma_query_value(None, "page_count", |row| row.get(0)).unwrap();
    store.lock().query_row(&format!("PRAGMA max_page_count = {pages}"), [], |_| Ok(())).unwrap();
    let many: Vec<Entry> = (1..1000).map(entry).collect();
    let error = store.append("s", 1, &many).unwrap_err();
    assert!(error.is_temporary() && error.to_string().contains("the disk is full"), "{error}");
    assert_eq!(store.read("s", 0, 9).unwrap(), [entry(0)]);
    store.lock().query_row("PRAGMA max_page_count = 1000000", [], |_| Ok(())).unwrap();
    assert_eq!(store.append("s", 1, &many).unwrap(), 1000);
}

#[test]
fn an_unreadable_entry_says_where_it_is() {
    let folder = tempfile::tempdir().unwrap();
    let store = SqliteStore::open(folder.path().join("a.db")).unwrap();
    store.append("s", 0, &[entry(0), entry(1)]).unwrap();
    store.lock().execute("UPDATE entries SET body = '{' WHERE position = 2", []).unwrap();
    assert!(matches!(store.read("s", 0, 9), Err(StoreError::Corrupt { position: 2, .. })));
}

#[test]
fn many_may_open_a_new_database_at_once() {
    for _ in 0..20 {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("a.db");
        let open = || {
            let path = path.clone();
            std::thread::spawn(move || SqliteStore::open(path).map(drop))
        };
        let threads: Vec<_> = (0..6).map(|_| open()).collect();
        threads.into_iter().for_each(|thread| thread.join().unwrap().unwrap());
    }
}
