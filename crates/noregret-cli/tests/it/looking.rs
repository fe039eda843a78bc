//! `noregret dashboard` and `noregret report`: studies to be looked at.

use std::io::{BufRead, BufReader};
use std::process::{Child, Stdio};

use noregret_client::Client;
use serde_json::{Value as Json, json};

use crate::folder::{Ended, Folder};
use crate::signals::{send, until};

/// A study with eight values, one failure that writes Markdown and a tag, and a queued point.
fn studied() -> Folder {
    let folder = Folder::with("trials = 12", r#"["sh", "evaluate.sh", "{x}"]"#);
    folder.call(&["enqueue", "study.toml", "-p", "x=0.25", "-p", "x=0.5"]).with(0);
    folder.call(&["ask", "study.toml", "-n", "10", "--json"]).with(0);
    for i in 0..8 {
        folder.call(&["tell", "study.toml", &i.to_string(), &format!("0.{}", 9 - i)]).with(0);
    }
    folder.call(&["tell", "study.toml", "8", "--fail", "out | of <b>memory</b>"]).with(0);
    folder
}

/// A dashboard, ended with the test.
struct Dashboard {
    child: Child,
    /// The page's address, with the secret.
    address: String,
}

impl Dashboard {
    fn start(folder: &Folder, more: &[&str], environment: &[(&str, &str)]) -> Self {
        let args = [&["dashboard", "study.toml", "--json"][..], more].concat();
        let mut command = folder.command(&args);
        command.envs(environment.iter().copied()).stdout(Stdio::piped()).stderr(Stdio::piped());
        let mut child = command.spawn().unwrap();
        let mut line = String::new();
        BufReader::new(child.stdout.as_mut().unwrap()).read_line(&mut line).unwrap();
        let said: Json = serde_json::from_str(&line).unwrap_or_else(|_| panic!("{line:?}"));
        Self { child, address: said["address"].as_str().unwrap().to_owned() }
    }

    fn client(&self) -> Client {
        let (url, token) = self.address.split_once("/#/login?token=").unwrap();
        Client::new(url.parse().unwrap(), Some(token.to_owned()))
    }
}

impl Drop for Dashboard {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

#[test]
fn a_dashboard_shows_what_happens_and_changes_nothing() {
    let folder = studied();
    let dashboard = Dashboard::start(&folder, &["--no-open"], &[]);
    assert!(dashboard.address.starts_with("http://127.0.0.1:"), "{}", dashboard.address);
    let client = dashboard.client();
    let session: Json = client.get("/api/v1/session").unwrap();
    assert_eq!(session["role"], "read");
    let history = || client.get::<Json>("/api/v1/studies/s/views/history").unwrap();
    assert_eq!(history()["counts"]["complete"], 8);
    // Who works on the study is not kept from it, and is seen.
    folder.call(&["tell", "study.toml", "9", "0.05"]).with(0);
    assert_eq!(history()["counts"]["complete"], 9);
    let refused =
        client.post::<Json>("/api/v1/studies/s/trials/0:tell", &json!({ "value": 1.0 })).unwrap_err();
    assert_eq!(refused.problem().map(|problem| (problem.status, problem.word())), Some((403, "read-only")));
    // Without the secret there is nothing to see.
    let (url, _) = dashboard.address.split_once("/#").unwrap();
    let stranger = Client::new(url.parse().unwrap(), None);
    assert_eq!(
        stranger.get::<Json>("/api/v1/overview").unwrap_err().problem().map(|problem| problem.status),
        Some(401)
    );
}

#[test]
fn the_browser_is_led_there_by_a_file_of_ones_own() {
    use std::os::unix::fs::PermissionsExt;
    let folder = studied();
    folder.script("browser", "echo \"$1\" > opened.new; mv opened.new opened");
    let browser = folder.path("browser");
    let mut dashboard = Dashboard::start(&folder, &[], &[("BROWSER", browser.to_str().unwrap())]);
    until("the browser", || folder.path("opened").exists());
    let opened = folder.read("opened");
    // The list of processes is for everybody: it has no secret.
    assert!(!opened.contains("token"), "{opened}");
    let door = std::path::Path::new(opened.trim().strip_prefix("file://").unwrap()).to_owned();
    assert_eq!(std::fs::metadata(&door).unwrap().permissions().mode() & 0o77, 0);
    assert!(std::fs::read_to_string(&door).unwrap().contains(&dashboard.address));
    send("-INT", dashboard.child.id());
    assert_eq!(dashboard.child.wait().unwrap().code(), Some(0));
    assert!(!door.exists(), "it ends with the dashboard");
}

#[test]
fn a_report_for_a_pull_request() {
    let folder = studied();
    let text = folder.call(&["report", "study.toml", "-o", "-", "--format", "md"]).with(0).stdout;
    for part in [
        "## s\n",
        "8 of 12 trials with a value, 1 failed, 1 running",
        "| value observed | 0.2 |",
        "| `x` | ",
        "| failures | reason | last trial |",
        "| 1 | out \\| of &lt;b>memory&lt;/b> | 8 |",
    ] {
        assert!(text.contains(part), "{part:?} in {text}");
    }
    folder.call(&["report", "study.toml", "-o", "report.md"]).with(0);
    assert!(folder.read("report.md").starts_with("## s\n"));
}

#[test]
fn a_report_is_never_written_onto_a_study() {
    let folder = studied();
    for file in ["study.toml", "noregret.db"] {
        let ended: Ended = folder.call(&["report", "study.toml", "-o", file, "--format", "md"]).with(2);
        assert!(ended.stderr.contains("name another file"), "{}", ended.stderr);
    }
    assert_eq!(folder.count("complete"), 8);
    let ended = folder.call(&["report", "-o", "x.md"]).with(2);
    assert!(ended.stderr.contains("name study files"), "{}", ended.stderr);
    let ended = folder.call(&["report", "study.toml", "study.toml", "-o", "x.md"]).with(2);
    assert!(ended.stderr.contains("two studies `s`"), "{}", ended.stderr);
}

/// One file with the data inside, if this binary has the page; else it is said what to do.
#[test]
fn a_report_in_one_file() {
    let folder = studied();
    let ended = folder.call(&["report", "study.toml", "-o", "report.html"]);
    if ended.code == Some(0) {
        let page = folder.read("report.html");
        let data = page.split_once("id=\"noregret-data\">").unwrap().1.split_once("</script>").unwrap().0;
        let answers: Json = serde_json::from_str(data).unwrap();
        assert_eq!(answers["GET /api/v1/session"]["report"], true);
        assert_eq!(answers["GET /api/v1/studies/s/views/trials"]["trials"].as_array().unwrap().len(), 10);
        assert!(answers["GET /api/v1/studies/s"].get("objective").is_none());
        assert!(page.len() < 1_000_000, "{}", page.len());
    } else {
        assert!(ended.stderr.contains("npm run build"), "{}", ended.stderr);
        assert!(!folder.path("report.html").exists());
    }
}
