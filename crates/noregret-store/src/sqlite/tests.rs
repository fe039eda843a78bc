use super::*;
use crate::Event;

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

/// Written by the program of before events of the log embedded those of the study, with every kind of event in it.
const FORMAT_1: &str = include_str!("../../tests/data/format_1.sql");

#[test]
fn a_database_of_an_older_release_goes_on_where_it_stopped() {
    use crate::{SharedStudy, SpaceDefinition};
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("old.db");
    Connection::open(&path).unwrap().execute_batch(FORMAT_1).unwrap();
    let store = std::sync::Arc::new(SqliteStore::open_existing(&path).unwrap());
    let entries = store.read("old", 0, 99).unwrap();
    assert_eq!(entries.len(), 41);
    let definition = SharedStudy::first_definition(&*store, "old", "").unwrap();
    assert_eq!(definition.trials, None);
    let SpaceDefinition::Parameters { parameters, .. } = &definition.space else { panic!() };
    let space = noregret::Space::from_params(parameters.clone(), []).unwrap();
    let mut shared = SharedStudy::resume(store.clone(), "old", definition, space).unwrap();
    let ledger = shared.ledger();
    let states: Vec<&str> = ledger.records().iter().map(|record| record.status.word()).collect();
    let expected = "complete complete failed complete failed complete complete complete running complete failed \
                    running running waiting complete failed";
    assert_eq!(states.join(" "), expected);
    let record = |number| ledger.record(number).unwrap();
    let reason = |number| match &record(number).status {
        crate::TrialStatus::Failed { reason } => reason.clone(),
        status => panic!("{status:?}"),
    };
    assert_eq!((reason(2), &*record(2).stderr), ("it ended with exit code 1".into(), "out of memory"));
    assert_eq!(record(2).retries, 1);
    assert_eq!(record(3).status, crate::TrialStatus::Complete { value: 0.25, noise_var: Some(0.01) });
    assert_eq!(record(3).attrs["epochs"], 7);
    assert_eq!(record(6).late, 1);
    assert_eq!(record(14).status, crate::TrialStatus::Complete { value: 0.7, noise_var: Some(0.04) });
    // A result without a value was a failure in two vocabularies; now both say the same.
    for number in [4, 10, 15] {
        assert_eq!(reason(number), "the value is NaN, not a finite number");
    }
    for (record, trial) in ledger.records().to_vec().iter().zip(shared.study().trials()) {
        assert_eq!(record.status.is_over(), trial.state != noregret::TrialState::Running);
    }
    let fit = &shared.diagnostics().unwrap().model.as_ref().unwrap().fit;
    assert_eq!(fit.evaluations, 10);
    // What the older release went on with; to the last bit only on its machine.
    let next = shared.study().suggest(2).unwrap();
    for (params, x) in next.iter().zip([0.999_224_475_934_170_2, 0.995_574_500_062_502_9]) {
        assert!((params.get("x").unwrap().as_f64().unwrap() - x).abs() < 1e-6, "{next:?}");
        assert_eq!(params.get("layers").unwrap().as_f64(), Some(3.0));
    }
    // Written anew, the log says the same.
    let copy = SqliteStore::open(folder.path().join("new.db")).unwrap();
    copy.append("old", 0, &entries).unwrap();
    let again: Vec<String> =
        copy.read("old", 0, 99).unwrap().iter().map(|entry| format!("{entry:?}")).collect();
    assert_eq!(again, entries.iter().map(|entry| format!("{entry:?}")).collect::<Vec<_>>());
}

/// What is said of it, and what may be done to a file while it is open; the second path is that of an older copy.
#[cfg(unix)]
type Harm<'a> = (&'a str, &'a dyn Fn(&Path, &Path));

#[cfg(unix)]
#[test]
fn a_file_that_is_not_the_one_that_was_opened_is_noticed() {
    use std::fs;
    let restore = |path: &Path, backup: &Path| assert!(fs::copy(backup, path).is_ok());
    let harms: [Harm<'_>; 7] = [
        ("deleted or moved", &|path, _| fs::remove_file(path).unwrap()),
        ("deleted or moved", &|path, _| fs::rename(path, path.with_extension("old")).unwrap()),
        ("deleted or moved", &|path, _| fs::remove_file(path.with_extension("db-wal")).unwrap()),
        ("another file", &|path, backup| {
            fs::remove_file(path).unwrap();
            restore(path, backup);
        }),
        ("older copy", &restore),
        ("truncated", &|path, _| fs::File::options().write(true).open(path).unwrap().set_len(0).unwrap()),
        ("overwritten", &|path, _| {
            // In place: `write` would be a truncation for a moment.
            use std::io::Write;
            fs::File::options().write(true).open(path).unwrap().write_all(&[b'x'; 4096]).unwrap();
        }),
    ];
    for (i, (problem, harm)) in harms.into_iter().enumerate() {
        let folder = tempfile::tempdir().unwrap();
        let (path, backup) = (folder.path().join("a.db"), folder.path().join("backup.db"));
        let store = SqliteStore::open(&path).unwrap();
        let checkpoint =
            || store.lock().query_row("PRAGMA wal_checkpoint(TRUNCATE)", [], |_| Ok(())).unwrap();
        store.append("s", 0, &[entry(0)]).unwrap();
        checkpoint();
        fs::copy(&path, &backup).unwrap();
        store.append("s", 1, &(1..100).map(entry).collect::<Vec<_>>()).unwrap();
        checkpoint();
        store.append("s", 100, &[entry(100)]).unwrap();
        harm(&path, &backup);
        let Err(error) = store.append("s", 101, &[entry(101)]) else { panic!("harm {i} was not noticed") };
        assert!(matches!(error, StoreError::Lost { .. }) && !error.is_temporary(), "harm {i}: {error}");
        assert!(error.to_string().contains(problem), "harm {i}: {error}");
    }
}

/// Writers and checkpoints of several connections are no harm.
#[test]
fn checkpoints_of_others_are_not_taken_for_harm() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("a.db");
    let threads: Vec<_> = ["a", "b", "c"]
        .into_iter()
        .map(|study| {
            let store = SqliteStore::open(&path).unwrap();
            std::thread::spawn(move || {
                for i in 0..300 {
                    store.append(study, i, &[entry(i)]).unwrap();
                    if i % 7 == 0 {
                        let passive = "PRAGMA wal_checkpoint(PASSIVE)";
                        store.lock().query_row(passive, [], |_| Ok(())).unwrap();
                    }
                }
            })
        })
        .collect();
    threads.into_iter().for_each(|thread| thread.join().unwrap());
    // Neither is a tidy user.
    let store = SqliteStore::open(&path).unwrap();
    store.append("d", 0, &[entry(0)]).unwrap();
    store
        .lock()
        .execute_batch("DELETE FROM entries WHERE study = 1; VACUUM; PRAGMA wal_checkpoint(TRUNCATE)")
        .unwrap();
    store.append("d", 1, &[entry(1)]).unwrap();
}

#[test]
fn a_log_is_read_from_a_copy_where_its_last_entries_cannot_be_brought_in() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("a ?#%.db");
    let store = SqliteStore::open(&path).unwrap();
    store.append("s", 0, &[entry(0), entry(1)]).unwrap();
    // A process that was killed leaves its write-ahead log behind.
    let (left, log) = (folder.path().join("left?.db"), folder.path().join("left?.db-wal"));
    std::fs::copy(&path, &left).unwrap();
    std::fs::copy(folder.path().join("a ?#%.db-wal"), &log).unwrap();
    let read = |path: &Path| {
        let (connection, copy) = read_only::open(path).unwrap();
        let count: i64 = connection.query_row("SELECT count(*) FROM entries", [], |row| row.get(0)).unwrap();
        (count, copy.is_some())
    };
    assert_eq!(read(&path), (2, false), "a living writer shares its memory");
    // Nobody shares memory, as if the folder could not be written: reading it in place would miss what is in the log.
    assert_eq!(read_only::open(&left).map(|(_, copy)| copy.is_some()).ok(), Some(read(&left).1));
    assert_eq!(read(&left).0, 2);
    drop(store);
    assert_eq!(read(&path), (2, false), "closed cleanly");
}

/// Changes a table behind the store's back.
fn tamper(store: &SqliteStore, sql: &str) {
    store.lock().execute(sql, []).unwrap();
}

#[test]
fn a_gap_in_the_log_is_an_error_and_not_read_over_and_over() {
    let folder = tempfile::tempdir().unwrap();
    let store = SqliteStore::open(folder.path().join("a.db")).unwrap();
    store.append("s", 0, &[entry(0), entry(1), entry(2)]).unwrap();
    tamper(&store, "DELETE FROM entries WHERE position = 2");
    let gap = store.read("s", 0, 9);
    assert!(matches!(gap, Err(StoreError::Corrupt { position: 2, .. })), "{gap:?}");
    assert_eq!(store.read("s", 2, 9).unwrap(), [entry(2)]);
}

#[test]
fn a_negative_position_is_an_error() {
    let folder = tempfile::tempdir().unwrap();
    let store = SqliteStore::open(folder.path().join("a.db")).unwrap();
    store.append("s", 0, &[entry(0)]).unwrap();
    tamper(&store, "UPDATE studies SET last = -9223372036854775808");
    assert!(store.last("s").is_err() && store.studies().is_err());
    assert!(store.append("s", 1 << 63, &[entry(1)]).is_err());
}

fn version_of(path: &Path) -> i64 {
    Connection::open(path).unwrap().pragma_query_value(None, "user_version", |row| row.get(0)).unwrap()
}

#[test]
fn an_older_database_that_cannot_be_written_to_is_read_as_it_is() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("old.db");
    Connection::open(&path).unwrap().execute_batch(FORMAT_1).unwrap();
    let flags = rusqlite::OpenFlags::SQLITE_OPEN_READ_ONLY;
    let connection = Connection::open_with_flags(&path, flags).unwrap();
    let wal = schema::prepare(&connection, &path).unwrap();
    let store = SqliteStore {
        path: path.clone(),
        connection: Mutex::new(connection),
        #[cfg(unix)]
        identity: None,
        _copy: None,
        wal,
        basis: Mutex::default(),
    };
    assert_eq!(store.read("old", 0, 99).unwrap().len(), 41);
    assert_eq!(store.read_trials("old", 3..4).unwrap().len(), 3);
    drop(store);
    assert_eq!(version_of(&path), 1);
}

#[test]
fn a_migration_that_is_cut_short_leaves_the_older_schema() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("old.db");
    let connection = Connection::open(&path).unwrap();
    connection.execute_batch(FORMAT_1).unwrap();
    let pages: i64 = connection.pragma_query_value(None, "page_count", |row| row.get(0)).unwrap();
    connection.query_row(&format!("PRAGMA max_page_count = {}", pages + 1), [], |_| Ok(())).unwrap();
    assert!(matches!(schema::prepare(&connection, &path), Err(StoreError::Write { .. })));
    drop(connection);
    assert_eq!(version_of(&path), 1);
    let store = SqliteStore::open_existing(&path).unwrap();
    assert_eq!(store.read("old", 0, 99).unwrap().len(), 41);
    drop(store);
    assert_eq!(version_of(&path), 2);
}

/// A study with `auto`, one trial at a time.
fn study_with_model(store: std::sync::Arc<SqliteStore>, trials: u64) {
    use crate::{Definition, Evaluation, HandOut, SharedStudy, SpaceDefinition};
    let space = noregret::Space::bounds(&[(0.0, 1.0); 6]).unwrap();
    let parameters = space.params().map(|(name, param)| (name.to_owned(), param.clone())).collect();
    let definition = Definition {
        version: Definition::VERSION,
        direction: noregret::Direction::Minimize,
        seed: 5,
        algorithm: noregret::Algorithm::default(),
        duplicates: noregret::Duplicates::Avoid,
        trials: None,
        space: SpaceDefinition::Parameters { parameters, constraints: [].into_iter().collect() },
        assignment: None,
    };
    let mut shared = SharedStudy::open(store, "s", &definition, space).unwrap();
    let order =
        HandOut { wanted: 1, batch: Some(1), budget: None, worker: "w".into(), lease: None, request: None };
    for _ in 0..trials {
        let trial = &shared.hand_out(&order, Timestamp(0)).unwrap()[0];
        let value = trial.numbers().iter().map(|x| (x - 0.3).powi(2)).sum();
        shared.tell(&[(trial.number, Evaluation::value(value))], None, Timestamp(0)).unwrap();
    }
}

#[test]
fn what_a_proposal_shares_with_an_earlier_one_is_written_once_and_read_every_time() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("a.db");
    study_with_model(std::sync::Arc::new(SqliteStore::open(&path).unwrap()), 60);
    let open = || SqliteStore::open(&path).unwrap();
    let entries = open().read("s", 0, 999).unwrap();
    let bodies: Vec<String> = {
        let store = open();
        let connection = store.lock();
        let mut statement = connection.prepare("SELECT body FROM entries ORDER BY position").unwrap();
        statement.query_map([], |row| row.get(0)).unwrap().collect::<Result<_, _>>().unwrap()
    };
    let mut shortened = 0;
    for (entry, body) in entries.iter().zip(&bodies) {
        let Event::Asked(proposed) = &entry.event else { continue };
        assert!(proposed.diagnostics.as_ref().is_some_and(|d| d.algorithm == "auto"), "{proposed:?}");
        if body.contains("\"since\":") {
            shortened += 1;
            let whole = serde_json::to_string(&entry.event).unwrap();
            assert!(2 * body.len() < whole.len(), "{body}\n{whole}");
        }
    }
    // The design of 12 points but for its first, and then whenever the model was not fitted anew.
    assert!(shortened >= 20, "{shortened} of 60");
    // From every position, by a store that has read nothing before: the same to the last bit.
    let text = |entries: &[Entry]| format!("{entries:?}");
    for after in 0..entries.len() {
        assert_eq!(text(&open().read("s", after as u64, 1).unwrap()), text(&entries[after..=after]));
    }
    let of_trial = open().read_trials("s", 50..51).unwrap();
    assert!(of_trial.iter().all(|entry| entries.contains(entry)) && of_trial.len() == 3);
    // The memo is what decides: a study that goes on with the log has it.
    let again = SqliteStore::open(folder.path().join("b.db")).unwrap();
    again.append("s", 0, &entries).unwrap();
    assert_eq!(text(&again.read("s", 0, 999).unwrap()), text(&entries));
}

#[test]
fn a_proposal_that_continues_nothing_says_where_it_is() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("a.db");
    study_with_model(std::sync::Arc::new(SqliteStore::open(&path).unwrap()), 30);
    let store = SqliteStore::open(&path).unwrap();
    let position: i64 = store
        .lock()
        .query_row("SELECT max(position) FROM entries WHERE body LIKE '%\"since\":%'", [], |row| row.get(0))
        .unwrap();
    let change = |since: i64| {
        let sql = "UPDATE entries SET body = json_set(body, '$.asked.since', ?1) WHERE position = ?2";
        store.lock().execute(sql, [since, position]).unwrap();
        let after = position.unsigned_abs() - 1;
        SqliteStore::open(&path).unwrap().read("s", after, 1).unwrap_err().to_string()
    };
    let gone = change(9_999);
    assert!(gone.contains("it continues entry 9999"), "{gone}");
    let other = change(1);
    assert!(other.contains("no whole proposal"), "{other}");
}
