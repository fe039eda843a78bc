//! Studies from beginning to end.

use std::fs;
use std::os::unix::process::ExitStatusExt;
use std::process::Command;
use std::thread;
use std::time::{Duration, Instant};

use parquet::file::reader::{FileReader, SerializedFileReader};
use parquet::record::{Field, Row};

use crate::folder::{Ended, Folder};
use crate::signals::{send, until};

const ECHO: &str = r#"["echo", "{x}"]"#;

#[test]
fn a_study_runs_resumes_and_goes_on() {
    let folder = Folder::with("trials = 6\nbatch = 2\nseed = 3", ECHO);
    let first = folder.call(&["run", "study.toml"]).with(0);
    assert!(first.stdout.contains("best observed") && first.stdout.contains("recommended"), "{first:?}");
    assert!(first.stderr.contains("[6/6]"), "{first:?}");
    assert_eq!(folder.count("complete"), 6);
    let again = folder.call(&["run", "study.toml"]).with(0);
    assert!(again.stderr.contains("is done after 6 trials"), "{again:?}");
    folder.call(&["run", "study.toml", "--trials", "9"]).with(0);
    assert_eq!(folder.count("complete"), 9);
}

#[test]
fn events_are_json_lines() {
    let folder = Folder::with("trials = 3\nalgorithm = \"sobol\"", ECHO);
    let events = folder.call(&["run", "study.toml", "--json"]).with(0).json();
    let names: Vec<&str> = events.iter().map(|event| event["event"].as_str().unwrap()).collect();
    assert_eq!((names[0], *names.last().unwrap()), ("started", "finished"));
    assert_eq!(names.iter().filter(|name| **name == "told").count(), 3);
    let told = events.iter().find(|event| event["event"] == "told").unwrap();
    assert_eq!(told["trial"]["value"], told["trial"]["params"]["x"]);
    assert_eq!(events.last().unwrap()["complete"], 3);
}

#[test]
fn commands_get_their_parameters_in_three_ways() {
    let folder = Folder::full(
        r#"
        [study]
        name = "s"
        trials = 1
        [objective]
        command = ["./evaluate", "--lr={lr}", "{act}", "{{lr}}"]
        [parameters]
        lr = { type = "float", low = 0.1, high = 0.2 }
        act = { type = "categorical", choices = ["\"; rm -rf ~ $(touch pwned) `touch pwned` *\n{lr}"] }
        "#,
    );
    folder.script(
        "evaluate",
        r#"printf '%s\n' "$#" "$1" "$2" "$3" "$NOREGRET_TRIAL" > seen; printf %s "$NOREGRET_PARAMS" > params; echo 1"#,
    );
    folder.call(&["run", "study.toml"]).with(0);
    let trial = &folder.trials()[0];
    let hostile = "\"; rm -rf ~ $(touch pwned) `touch pwned` *\n{lr}";
    assert_eq!(trial["params"]["act"], hostile);
    let expected = format!("3\n--lr={}\n{hostile}\n{{lr}}\n0\n", trial["params"]["lr"]);
    assert_eq!(fs::read_to_string(folder.path("seen")).unwrap(), expected);
    let params: serde_json::Value =
        serde_json::from_str(&fs::read_to_string(folder.path("params")).unwrap()).unwrap();
    assert_eq!(params, trial["params"]);
    assert!(!folder.path("pwned").exists());
}

#[test]
fn the_command_runs_beside_the_study_file() {
    let folder = Folder::with("trials = 1", r#"["./here.sh"]"#);
    folder.script("here.sh", "pwd > where; echo 1");
    let study = folder.path("study.toml");
    let output: Ended = Command::new(env!("CARGO_BIN_EXE_noregret"))
        .args(["run", study.to_str().unwrap()])
        .current_dir("/")
        .output()
        .unwrap()
        .into();
    output.with(0);
    assert!(folder.path("where").exists() && folder.path("noregret.db").exists());
}

#[test]
fn noise_and_attributes_arrive() {
    let folder = Folder::with(
        "trials = 1",
        r#"["echo", "{\"value\": 2.5, \"noise_var\": 0.25, \"attrs\": {\"epochs\": [1, 2]}}"]"#,
    );
    folder.call(&["run", "study.toml"]).with(0);
    let trial = &folder.trials()[0];
    assert_eq!((&trial["value"], &trial["noise_var"]), (&2.5.into(), &0.25.into()));
    assert_eq!(trial["attrs"]["epochs"], serde_json::json!([1, 2]));
}

#[test]
fn failures_are_retried_and_then_kept() {
    let folder = Folder::full(
        "[study]\nname = \"s\"\ntrials = 4\n[objective]\ncommand = [\"./flaky\"]\nretries = 2\n\
         [parameters]\nx = { type = \"float\", low = 0, high = 1 }\n",
    );
    // Trial 0 works at once, trial 1 the third time, the others never.
    folder.script(
        "flaky",
        "echo x >> tries.$NOREGRET_TRIAL\nn=$(wc -l < tries.$NOREGRET_TRIAL)\n\
         [ $NOREGRET_TRIAL = 0 ] && echo 1 && exit\n\
         [ $NOREGRET_TRIAL = 1 ] && [ $n = 3 ] && echo 2 && exit\necho no luck >&2; exit 7",
    );
    folder.call(&["run", "study.toml"]).with(0);
    let trials = folder.trials();
    let states: Vec<&str> = trials.iter().map(|trial| trial["state"].as_str().unwrap()).collect();
    assert_eq!(states, ["complete", "complete", "failed", "failed"]);
    assert_eq!([&trials[0]["attempts"], &trials[1]["attempts"], &trials[2]["attempts"]], [1, 3, 3]);
    assert_eq!(trials[3]["reason"], "it ended with exit code 7");
    assert_eq!(trials[3]["stderr"], "no luck");
}

#[test]
fn ask_and_tell_by_hand() {
    let folder = Folder::with("batch = 2", ECHO);
    let asked = folder.call(&["ask", "study.toml", "--json"]).with(0).json();
    assert_eq!(asked.len(), 2);
    assert_eq!((&asked[1]["number"], &asked[1]["state"]), (&1.into(), &"running".into()));
    let tell = |args: &[&str]| folder.call(&[&["tell", "study.toml"], args].concat());
    assert!(tell(&["0", "-1.5"]).with(0).stdout.contains("complete"));
    assert!(tell(&["0", "-1.5"]).with(0).stdout.contains("nothing new"));
    assert!(tell(&["0", "-15e-1"]).with(0).stdout.contains("nothing new"));
    assert!(
        tell(&["0", "-1.5", "--noise-var", "0.1"]).with(0).stdout.contains("not counted"),
        "the variance is new"
    );
    assert!(tell(&["0", "3"]).with(0).stdout.contains("not counted"));
    assert!(tell(&["1", "--fail", "the plate broke"]).with(0).stdout.contains("failed"));
    assert!(tell(&["1", "nan"]).with(0).stdout.contains("not counted"));
    assert!(
        tell(&["1", r#"{"value": 4, "attrs": {"a": 1}}"#, "--noise-var", "0.5"])
            .with(0)
            .stdout
            .contains("after")
    );
    assert!(tell(&["7", "1"]).with(2).stderr.contains("no trial 7"));
    assert!(tell(&["0", "good"]).with(2).stderr.contains("is no value"));
    assert!(tell(&["one", "1"]).with(2).stderr.contains("no trial number"));
    assert!(tell(&["0"]).with(2).stderr.contains("its value"));
    assert!(tell(&["0", "1", "--noise-var", "-1"]).with(2).stderr.contains("from 0 to 1e150"));
    for absurd in ["1.7e308", "1e151", "nan", "inf"] {
        assert!(tell(&["0", "1", "--noise-var", absurd]).with(2).stderr.contains("from 0 to 1e150"));
        let answer = format!(r#"{{"value": 1, "noise_var": "{absurd}"}}"#);
        assert!(tell(&["0", &answer]).with(2).stderr.contains("from 0 to 1e150"));
    }
    let trials = folder.trials();
    assert_eq!((&trials[0]["value"], &trials[1]["value"]), (&(-1.5).into(), &4.0.into()));
    assert_eq!((&trials[1]["noise_var"], &trials[1]["attrs"]["a"]), (&0.5.into(), &1.into()));
    // A look ahead registers nothing.
    let preview = folder.call(&["ask", "study.toml", "--dry-run", "--json"]).with(0);
    assert_eq!((preview.json().len(), folder.trials().len()), (2, 2));
    // By name, from anywhere.
    let url = format!("sqlite:///{}", folder.path("noregret.db").display());
    folder.call(&["ask", "--study", "s", "--storage", &url]).with(0);
    folder.call(&["tell", "--study", "s", "--storage", &url, "2", "0.5"]).with(0);
    let best = folder.call(&["best", "--study", "s", "--storage", &url, "--json"]).with(0).json();
    assert_eq!(best[0]["observed"]["number"], 0);
    assert!(best[0]["recommended"]["interval"].is_array());
}

#[test]
fn a_lease_hands_a_trial_out_again() {
    let folder = Folder::with("", ECHO);
    folder.call(&["ask", "study.toml", "--lease", "50ms"]).with(0);
    thread::sleep(Duration::from_millis(80));
    let again = folder.call(&["ask", "study.toml", "--json"]).with(0).json();
    assert_eq!((&again[0]["number"], &again[0]["attempts"]), (&0.into(), &2.into()));
    let other = folder.call(&["ask", "study.toml", "--json"]).with(0).json();
    assert_eq!(other[0]["number"], 1, "without a lease it stays with whoever asked");
}

#[test]
fn the_same_seed_and_history_give_the_same_batch() {
    let study = "trials = 14\nseed = 11\nalgorithm = \"gp-ei\"";
    let next = |folder: &Folder, threads: &str| -> Vec<String> {
        let mut command = folder.command(&["ask", "study.toml", "-n", "4", "--dry-run", "--json"]);
        let ended: Ended = command.env("RAYON_NUM_THREADS", threads).output().unwrap().into();
        ended.with(0).stdout.lines().map(str::to_owned).collect()
    };
    // All at once, and with an interruption after every few trials.
    let fresh = Folder::with(study, ECHO);
    fresh.call(&["run", "study.toml", "--workers", "1"]).with(0);
    let resumed = Folder::with(study, ECHO);
    for trials in ["3", "4", "9", "14"] {
        resumed.call(&["run", "study.toml", "--workers", "1", "--trials", trials]).with(0);
    }
    let params = |folder: &Folder| folder.trials().iter().map(|t| t["params"].clone()).collect::<Vec<_>>();
    assert_eq!(params(&fresh), params(&resumed));
    let expected = next(&fresh, "1");
    assert_eq!(expected.len(), 4);
    for (folder, threads) in [(&fresh, "8"), (&resumed, "1"), (&resumed, "8")] {
        assert_eq!(next(folder, threads), expected, "{threads} threads");
    }
}

/// The log alone decides: `run` and `ask` go by the number of trials in it, and another number is an event there.
#[test]
fn how_many_trials_there_are_to_be_is_in_the_log() {
    const STUDY: &str = "trials = 9\nbatch = 3\nseed = 5";
    let params = |trials: &[serde_json::Value]| -> Vec<serde_json::Value> {
        trials.iter().map(|trial| trial["params"].clone()).collect()
    };
    let run = Folder::with(STUDY, ECHO);
    run.call(&["run", "study.toml", "--workers", "1"]).with(0);
    let expected = params(&run.trials());
    assert_eq!(expected.len(), 9);
    let ask = Folder::with(STUDY, ECHO);
    for _ in 0..3 {
        for trial in ask.call(&["ask", "study.toml", "--json"]).with(0).json() {
            let value = trial["params"]["x"].to_string();
            ask.call(&["tell", "study.toml", &trial["number"].to_string(), &value]).with(0);
        }
    }
    assert_eq!(params(&ask.trials()), expected);
    let unknown = Folder::with("batch = 3\nseed = 5", ECHO);
    unknown.call(&["ask", "study.toml", "-n", "9"]).with(0);
    assert_ne!(params(&unknown.trials()), expected);

    let preview = |folder: &Folder| {
        params(&folder.call(&["ask", "study.toml", "-n", "3", "--dry-run", "--json"]).with(0).json())
    };
    let planned = |folder: &Folder| {
        folder.call(&["show", "study.toml", "--json"]).with(0).json()[0]["definition"]["trials"].clone()
    };
    assert_eq!(preview(&run), preview(&ask));
    let before = preview(&ask);
    run.call(&["run", "study.toml", "--workers", "1", "--trials", "60"]).with(0);
    assert_eq!(planned(&run), 60);
    let next = params(&run.trials()[9..12]);
    assert_ne!(next, before);
    // The other log hears of it by its study file. Then a file that says less changes nothing, unless it is run.
    ask.write("study.toml", &ask.read("study.toml").replace("trials = 9", "trials = 60"));
    assert_eq!(params(&ask.call(&["ask", "study.toml", "-n", "3", "--json"]).with(0).json()), next);
    assert_eq!(planned(&ask), 60);
    ask.write("study.toml", &ask.read("study.toml").replace("trials = 60", "trials = 9"));
    ask.call(&["ask", "study.toml", "-n", "1"]).with(0);
    assert_eq!(planned(&ask), 60);
    run.call(&["run", "study.toml"]).with(0);
    assert_eq!(planned(&run), 9);
}

#[test]
fn two_runs_share_one_study() {
    let folder = Folder::with(
        "trials = 40\nalgorithm = \"random\"",
        r#"["sh", "-c", "echo $NOREGRET_TRIAL >> started; sleep 0.02; echo {x}"]"#,
    );
    let children: Vec<_> = (0..2).map(|_| folder.start(&["run", "study.toml", "--workers", "3"])).collect();
    for child in children {
        Ended::from(child.wait_with_output().unwrap()).with(0);
    }
    assert_eq!((folder.trials().len(), folder.count("complete")), (40, 40));
    let started = fs::read_to_string(folder.path("started")).unwrap();
    assert_eq!(started.lines().count(), 40, "no trial was evaluated twice");
}

#[test]
fn a_first_ctrl_c_finishes_and_a_second_stops() {
    let slow = r#"["sh", "-c", "echo $$ >> started; [ -e long ] && sleep 60; sleep {x}; echo 1"]"#;
    let folder = Folder::full(&format!(
        "[study]\nname = \"s\"\ntrials = 50\nbatch = 2\n[objective]\ncommand = {slow}\n[parameters]\n\
         x = {{ type = \"float\", low = 0.3, high = 0.5 }}\n"
    ));
    let begun = || fs::read_to_string(folder.path("started")).map_or(0, |text| text.lines().count());
    let child = folder.start(&["run", "study.toml"]);
    until("two evaluations run", || begun() == 2);
    send("-INT", child.id());
    let ended = Ended::from(child.wait_with_output().unwrap()).with(130);
    assert!(ended.stderr.contains("go on with: noregret run study.toml"), "{ended:?}");
    assert_eq!((folder.trials().len(), folder.count("complete")), (2, 2), "what ran was finished");

    folder.write("long", "");
    let child = folder.start(&["run", "study.toml"]);
    until("two more run", || begun() == 4);
    let begin = Instant::now();
    send("-INT", child.id());
    thread::sleep(Duration::from_millis(50));
    send("-INT", child.id());
    Ended::from(child.wait_with_output().unwrap()).with(130);
    assert!(begin.elapsed() < Duration::from_secs(20), "at once, not after a minute");
    assert_eq!(folder.count("waiting"), 2, "what was abandoned waits for the next run");

    let child = folder.start(&["run", "study.toml", "--workers", "4"]);
    until("four more run", || begun() >= 8);
    send("-TERM", child.id());
    let ended = child.wait_with_output().unwrap();
    assert_eq!((ended.status.code(), ended.status.signal()), (Some(130), None));
    assert_eq!(folder.count("running"), 0);
}

#[test]
fn a_signal_that_is_to_be_ignored_is_ignored() {
    let folder = Folder::with("trials = 2", r#"["sh", "-c", "echo >> started; sleep 0.4; echo 1"]"#);
    let script = "trap '' HUP; exec \"$0\" run study.toml";
    let mut child = Command::new("sh")
        .args(["-c", script, env!("CARGO_BIN_EXE_noregret")])
        .current_dir(folder.root())
        .spawn()
        .unwrap();
    until("it runs", || folder.path("started").exists());
    send("-HUP", child.id());
    assert!(child.wait().unwrap().success());
    assert_eq!(folder.count("complete"), 2);
}

#[test]
fn an_automatic_batch_is_as_large_as_the_algorithm_says() {
    // One at a time for this algorithm, however many workers there are.
    let folder = Folder::with(
        "trials = 4\nbatch = \"auto\"\nalgorithm = \"gp-ei\"",
        r#"["sh", "-c", "ls running.* 2>/dev/null; touch running.$$; sleep 0.05; rm running.$$; echo 1"]"#,
    );
    folder.call(&["run", "study.toml", "--workers", "4"]).with(0);
    assert_eq!(folder.count("complete"), 4);
}

#[test]
fn old_results_are_carried_over() {
    let folder = Folder::with("trials = 3\nalgorithm = \"gp-ei\"", ECHO);
    folder.write("old.csv", "note,x,value\na,0.25,1.5\nb,0.5,nan\nc,0.75,2\n");
    let told = folder.call(&["tell", "study.toml", "--from", "old.csv"]).with(0);
    assert!(told.stdout.contains("3 results added (1 of 3 are failures)"), "{told:?}");
    assert!(told.stderr.contains("no parameters: note"), "{told:?}");
    let again = folder.call(&["tell", "study.toml", "--from", "old.csv"]).with(0);
    assert!(
        again.stdout.contains("0 results added") && again.stdout.contains("3 were known already"),
        "{again:?}"
    );
    folder.call(&["run", "study.toml"]).with(0);
    assert_eq!(
        (folder.trials().len(), folder.count("complete")),
        (6, 5),
        "old results are not counted as trials"
    );
    let csv = folder.call(&["export", "study.toml"]).with(0).stdout;
    assert!(
        csv.starts_with("number,state,x,value,noise_var,reason,attempts,asked,started,ended,seconds,attrs\n"),
        "{csv}"
    );
    folder.write("all.csv", &csv);
    folder.write(
        "other.toml",
        &fs::read_to_string(folder.path("study.toml")).unwrap().replace("\"s\"", "\"t\""),
    );
    let carried = folder.call(&["tell", "other.toml", "--from", "all.csv"]).with(0);
    assert!(carried.stdout.contains("6 results added"), "{carried:?}");
    let own = folder.call(&["tell", "study.toml", "--from", "all.csv"]).with(0);
    assert!(own.stdout.contains("0 results added"), "{own:?}");
}

/// A row of a Parquet file as JSON.
fn cells(row: &Row) -> serde_json::Map<String, serde_json::Value> {
    let value = |field: &Field| match field {
        Field::Long(x) => (*x).into(),
        Field::Double(x) => (*x).into(),
        Field::Bool(x) => (*x).into(),
        Field::Str(x) => x.as_str().into(),
        _ => serde_json::Value::Null,
    };
    row.get_column_iter().map(|(name, field)| (name.clone(), value(field))).collect()
}

#[test]
fn exports_have_all_trials() {
    let folder = Folder::full(
        "[study]\nname = \"s\"\ntrials = 5\n[objective]\ncommand = [\"echo\", \"1\"]\n[parameters]\n\
         x = { type = \"float\", low = 0, high = 1 }\nn = { type = \"int\", low = 1, high = 9 }\n\
         b = { type = \"bool\" }\nc = { type = \"categorical\", choices = [\"p\", \"q, r\"] }\n",
    );
    folder.call(&["run", "study.toml"]).with(0);
    let json = folder.call(&["export", "study.toml", "--format", "json"]).with(0).stdout;
    let json: serde_json::Value = serde_json::from_str(&json).unwrap();
    assert_eq!(json.as_array().unwrap().len(), 5);
    folder.call(&["export", "study.toml", "-o", "t.parquet"]).with(0);
    let bytes = fs::read(folder.path("t.parquet")).unwrap();
    assert!(bytes.starts_with(b"PAR1") && bytes.ends_with(b"PAR1"));
    let reader = SerializedFileReader::new(fs::File::open(folder.path("t.parquet")).unwrap()).unwrap();
    let rows: Vec<_> = reader.get_row_iter(None).unwrap().map(|row| cells(&row.unwrap())).collect();
    assert_eq!(rows.len(), 5);
    for (row, trial) in rows.iter().zip(json.as_array().unwrap()) {
        assert_eq!((&row["number"], &row["value"]), (&trial["number"], &trial["value"]));
        for name in ["x", "n", "b", "c"] {
            assert_eq!(row[name], trial["params"][name]);
        }
    }
    folder.call(&["export", "study.toml", "-o", "t.xlsx"]).with(2);
}

#[test]
fn pools_and_exhaustion() {
    let folder = Folder::full(
        "[study]\nname = \"s\"\ntrials = 10\nbatch = 2\n[objective]\ncommand = [\"echo\", \"{mass}\"]\n\
         [pool]\nfile = \"library.csv\"\nfeatures = [\"mass\", \"charge\"]\nid = \"name\"\n",
    );
    folder.write("library.csv", "name,mass,charge\na,3,0\nb,1,1\nc,2,0\n");
    let ended = folder.call(&["run", "study.toml"]).with(3);
    assert!(ended.stderr.contains("nothing left to suggest"), "{ended:?}");
    assert!(ended.stdout.contains("trial") && ended.stdout.contains("  b  "), "{ended:?}");
    let mut ids: Vec<String> = folder.trials().iter().map(|t| t["id"].as_str().unwrap().to_owned()).collect();
    ids.sort();
    assert_eq!(ids, ["a", "b", "c"]);
    folder.call(&["ask", "study.toml"]).with(3);
    folder.write("library.csv", "name,mass,charge\na,3,0\nb,1,1\nc,2,9\n");
    let changed = folder.call(&["run", "study.toml"]).with(2);
    assert!(changed.stderr.contains("the contents of the pool have changed"), "{changed:?}");
}

#[test]
fn shows_how_it_goes() {
    let folder = Folder::full("[study]\nname = \"s\"\ntrials = 12\n[objective]\nbuiltin = \"branin\"\n");
    folder.call(&["run", "study.toml"]).with(0);
    let text = folder.call(&["show", "study.toml"]).with(0).stdout;
    for part in ["12 complete", "best observed", "remaining regret", "importance", "last proposal"] {
        assert!(text.contains(part), "{part}: {text}");
    }
    let json = folder.call(&["show", "study.toml", "--json"]).with(0).json();
    assert!(json[0]["remaining_regret"]["median"].as_f64().unwrap() >= 0.0);
    let mut command = folder.command(&["best", "study.toml"]);
    let from_variable: Ended =
        command.env("NOREGRET_JSON", "1").env("NOREGRET_STUDY", "other").output().unwrap().into();
    assert!(from_variable.with(0).stdout.starts_with('{'), "a file wins over the variable");
    assert_eq!(json[0]["history"].as_array().unwrap().len(), 12);
}

#[test]
fn a_study_stops_when_little_is_left_to_gain() {
    let folder = Folder::with("trials = 200\nstop_when_regret_below = 0.05", ECHO);
    let ended = folder.call(&["run", "study.toml"]).with(0);
    assert!(ended.stderr.contains("stopping: about"), "{ended:?}");
    assert!((20..60).contains(&folder.trials().len()), "{}", folder.trials().len());
    let again = folder.call(&["run", "study.toml"]).with(0);
    assert!(again.stderr.contains("stopping: about"), "{again:?}");
}

#[test]
fn a_study_stops_when_its_time_is_over() {
    let folder = Folder::with("timeout = \"600ms\"\nbatch = 2", r#"["sh", "-c", "sleep 0.1; echo {x}"]"#);
    let begin = Instant::now();
    folder.call(&["run", "study.toml"]).with(0);
    assert!((Duration::from_millis(500)..Duration::from_secs(5)).contains(&begin.elapsed()));
    assert!(folder.count("complete") >= 2 && folder.count("running") == 0);
}

#[test]
fn points_of_a_batch_are_not_copies_of_each_other() {
    // A smooth bowl, of which the model soon knows the bottom.
    let folder = Folder::with(
        "trials = 24\nbatch = 4\nseed = 5",
        r#"["awk", "-v", "x={x}", "BEGIN { print (x - 0.3) ^ 2 }"]"#,
    );
    folder.call(&["run", "study.toml"]).with(0);
    let mut xs: Vec<f64> = folder.trials().iter().map(|t| t["params"]["x"].as_f64().unwrap()).collect();
    xs.sort_by(f64::total_cmp);
    let close = xs.windows(2).filter(|pair| pair[1] - pair[0] < 1e-6).count();
    assert!(close == 0, "{close} of 24 are copies: {xs:?}");
}

#[test]
fn a_study_in_memory_leaves_nothing_behind() {
    let folder = Folder::with("trials = 2", ECHO);
    folder.call(&["run", "study.toml", "--storage", "memory:"]).with(0);
    assert!(!folder.path("noregret.db").exists());
}

#[test]
fn help_exists_outside_the_program() {
    let folder = Folder::with("", ECHO);
    for shell in ["bash", "zsh", "fish"] {
        assert!(folder.call(&["completions", shell]).with(0).stdout.contains("noregret"));
    }
    assert!(folder.call(&["man"]).with(0).stdout.contains(".TH noregret"));
    folder.call(&["man", "--out", "man"]).with(0);
    assert!(folder.path("man/noregret-run.1").exists());
}
