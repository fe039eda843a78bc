//! Points of the user's own, trials that are taken back, and the studies of a storage.

use crate::folder::Folder;

const STUDY: &str = r#"
[study]
name = "s"
algorithm = "random"
trials = 9
[objective]
command = ["sh", "evaluate.sh", "{lr}"]
[parameters]
lr = { type = "float", low = 1e-5, high = 1, log = true }
layers = { type = "int", low = 1, high = 8 }
act = { type = "categorical", choices = ["relu", "tanh"] }
"#;

fn folder() -> Folder {
    let folder = Folder::full(STUDY);
    folder.script("evaluate.sh", "echo $1");
    folder
}

#[test]
fn own_points_are_evaluated_before_others() {
    let folder = folder();
    let point = ["--point", "lr=0.25", "layers=3", "act=tanh"];
    let said = folder.call(&[&["enqueue", "study.toml"][..], &point].concat()).with(0);
    assert_eq!(said.stdout, "trial 0 waits  lr=0.25  layers=3  act=tanh\n");
    folder.write("points.csv", "act,lr,layers,note\nrelu,0.5,1,a\ntanh,0.125,8,b\n");
    let queued = folder.call(&["enqueue", "study.toml", "--from", "points.csv", "--json"]).with(0).json();
    assert_eq!(
        (queued.len(), &queued[1]["params"]["lr"], &queued[1]["state"]),
        (2, &0.125.into(), &"waiting".into())
    );
    folder.call(&["run", "study.toml"]).with(0);
    let values: Vec<f64> = folder.trials().iter().map(|trial| trial["value"].as_f64().unwrap()).collect();
    assert_eq!(
        (values.len(), &values[..3]),
        (9, &[0.25, 0.5, 0.125][..]),
        "they count as trials of the study"
    );
}

#[test]
fn a_point_that_is_none_is_refused_with_what_would_be_one() {
    let folder = folder();
    folder.write("bad.csv", "lr,layers,act\n0.5,1,relu\n0.5,9,relu\n");
    folder.write("none.csv", "lr,layers,act\n");
    for (words, why) in [
        (&["--point", "lr=0.25"][..], "`layers` has no value"),
        (&["--point", "lr=0.25", "layer=3", "act=tanh"], "no parameter `layer` (nearest: `layers`)"),
        (&["--point", "lr=0.25", "lr=0.5", "layers=3", "act=tanh"], "`lr` has two values"),
        (&["--point", "lr=7", "layers=3", "act=tanh"], "between"),
        (&["--point", "lr"], "is not NAME=VALUE"),
        (&["--from", "bad.csv"], "line 3"),
        (&["--from", "none.csv"], "has no points"),
        (&[], "--from FILE.csv"),
    ] {
        let ended = folder.call(&[&["enqueue", "study.toml"], words].concat()).with(2);
        assert!(ended.stderr.contains(why), "{words:?}: {}", ended.stderr);
    }
    assert_eq!(folder.trials().len(), 0, "all or none of a file");
}

#[test]
fn a_candidate_is_queued_by_its_name() {
    let folder = Folder::full(
        "[study]\nname = \"s\"\n[objective]\ncommand = [\"none\"]\n[pool]\nfile = \"p.csv\"\nid = \"name\"\n",
    );
    folder.write("p.csv", "name,mass\na,1\nb,2\nc,3\n");
    let queued = folder.call(&["enqueue", "study.toml", "--point", "name=b", "--json"]).with(0).json();
    assert_eq!(queued[0]["id"], "b");
    folder.write("points.csv", "name\nc\n");
    let queued = folder.call(&["enqueue", "study.toml", "--from", "points.csv", "--json"]).with(0).json();
    assert_eq!(queued[0]["id"], "c");
    let unknown = folder.call(&["enqueue", "study.toml", "--point", "id=z"]).with(2);
    assert!(unknown.stderr.contains("the pool has no \"z\""), "{}", unknown.stderr);
}

#[test]
fn what_was_handed_out_can_be_taken_back() {
    let folder = folder();
    let first = folder.call(&["ask", "study.toml", "-n", "3", "--json"]).with(0).json();
    let said = folder.call(&["release", "study.toml", "--trial", "1"]).with(0);
    assert_eq!(said.stdout, "trial 1: waits again\n");
    let again = folder.call(&["ask", "study.toml", "-n", "1", "--json"]).with(0).json();
    assert_eq!((&again[0]["number"], &again[0]["params"]), (&1.into(), &first[1]["params"]));
    folder.call(&["tell", "study.toml", "0", "0.5"]).with(0);
    for (number, why) in [("0", "not running, but complete"), ("7", "there is no trial 7")] {
        let refused = folder.call(&["release", "study.toml", "--trial", number]).with(2);
        assert!(refused.stderr.contains(why), "{}", refused.stderr);
    }
    let all = folder.call(&["release", "study.toml", "--all", "--json"]).with(0).json();
    assert_eq!(all.len(), 2);
    assert_eq!((folder.count("waiting"), folder.count("running")), (2, 0));
}

#[test]
fn a_process_that_lives_keeps_its_trials_unless_forced() {
    let folder = folder();
    folder.script("evaluate.sh", "echo $NOREGRET_TRIAL >> started\nsleep 1\necho $1");
    let child = folder.start(&["run", "study.toml", "--trials", "1"]);
    crate::signals::until("it runs", || folder.path("started").exists());
    let refused = folder.call(&["release", "study.toml", "--trial", "0"]).with(2);
    assert!(refused.stderr.contains("--force"), "{}", refused.stderr);
    assert_eq!(folder.call(&["release", "study.toml", "--all"]).with(0).stdout, "");
    folder.call(&["release", "study.toml", "--trial", "0", "--force"]).with(0);
    child.wait_with_output().unwrap();
    assert_eq!(folder.count("complete"), 1, "its result counts all the same");
}

#[test]
fn the_studies_of_a_storage_are_listed() {
    let folder = folder();
    let missing = folder.call(&["list"]).with(1);
    assert!(missing.stderr.contains("no such file"), "{}", missing.stderr);
    folder.call(&["run", "study.toml"]).with(0);
    folder.write(
        "other.toml",
        &STUDY.replace("\"s\"", "\"other\"").replace("trials = 9", "direction = \"maximize\""),
    );
    folder.call(&["ask", "other.toml", "-n", "2"]).with(0);
    folder.call(&["tell", "other.toml", "0", "3"]).with(0);
    folder.call(&["tell", "other.toml", "1", "--fail", "it broke"]).with(0);
    folder.call(&["ask", "other.toml"]).with(0);
    let listed = folder.call(&["list", "--json"]).with(0).json();
    let names: Vec<&str> = listed.iter().map(|study| study["study"].as_str().unwrap()).collect();
    assert_eq!(names, ["other", "s"]);
    let counts =
        |i: usize| ["complete", "failed", "running", "waiting"].map(|key| listed[i][key].as_u64().unwrap());
    assert_eq!((counts(0), counts(1)), ([1, 1, 1, 0], [9, 0, 0, 0]));
    assert_eq!((&listed[0]["best"], &listed[0]["trials"]), (&3.0.into(), &serde_json::Value::Null));
    let least =
        folder.trials().iter().map(|trial| trial["value"].as_f64().unwrap()).fold(f64::INFINITY, f64::min);
    assert_eq!((&listed[1]["best"], &listed[1]["trials"]), (&least.into(), &9.into()));
    let table = folder.call(&["list"]).with(0).stdout;
    assert_eq!(table.lines().count(), 4, "{table}");
}

#[test]
fn a_wrong_result_is_replaced() {
    let folder = folder();
    folder.call(&["ask", "study.toml", "-n", "3"]).with(0);
    for (number, value) in [("0", "3"), ("1", "1e-9"), ("2", "2")] {
        folder.call(&["tell", "study.toml", number, value]).with(0);
    }
    let late = folder.call(&["tell", "study.toml", "1", "5"]).with(0);
    assert!(late.stdout.contains("--replace corrects it"), "{}", late.stdout);
    assert_eq!(folder.trials()[1]["value"], 1e-9);
    folder.call(&["tell", "study.toml", "1", "5", "--replace"]).with(0);
    let same = folder.call(&["tell", "study.toml", "1", "5", "--replace", "--json"]).with(0).json();
    assert_eq!(same[0]["result"], "same");
    assert_eq!(folder.trials()[1]["value"], 5.0);
    let best = folder.call(&["best", "study.toml", "--json"]).with(0).json();
    assert_eq!(best[0]["observed"]["number"], 2, "{best:?}");
    folder.call(&["tell", "study.toml", "1", "--fail", "a bubble", "--replace"]).with(0);
    assert_eq!(folder.trials()[1]["state"], "failed");
    let running = folder.call(&["ask", "study.toml"]).with(0);
    assert!(running.stdout.starts_with("trial 3"));
    let refused = folder.call(&["tell", "study.toml", "3", "1", "--replace"]).with(2);
    assert!(refused.stderr.contains("no result to replace: tell it"), "{}", refused.stderr);
}

#[test]
fn a_paused_study_hands_out_nothing() {
    let folder = folder();
    folder.call(&["ask", "study.toml"]).with(0);
    assert_eq!(folder.call(&["pause", "study.toml"]).with(0).stdout, "study `s` is paused\n");
    let refused = folder.call(&["ask", "study.toml"]).with(1);
    assert!(refused.stderr.contains("is paused: `noregret pause --undo`"), "{}", refused.stderr);
    folder.call(&["tell", "study.toml", "0", "1"]).with(0);
    folder.call(&["pause", "study.toml", "--undo"]).with(0);
    folder.call(&["run", "study.toml"]).with(0);
    assert_eq!(folder.trials().len(), 9);
}

#[test]
fn notes_are_kept() {
    let folder = folder();
    folder.call(&["ask", "study.toml"]).with(0);
    folder.call(&["note", "study.toml", "--trial", "0", "-m", "the plate was warm"]).with(0);
    assert_eq!(folder.trials()[0]["note"], "the plate was warm");
    folder.call(&["note", "study.toml", "--trial", "0", "-m", ""]).with(0);
    assert!(folder.trials()[0].get("note").is_none());
    assert_eq!(folder.call(&["note", "study.toml", "--tag", "a", "b"]).with(0).stdout, "tags: a, b\n");
    folder.call(&["note", "study.toml", "--trial", "9", "-m", "?"]).with(2);
    folder.call(&["note", "study.toml"]).with(2);
}
