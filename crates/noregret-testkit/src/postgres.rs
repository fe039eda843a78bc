//! A PostgreSQL server of a test's own, in a temporary folder: never that of the machine.
#![expect(clippy::unwrap_used, reason = "for tests: whatever goes wrong should panic")]

use std::net::TcpListener;
use std::os::unix::fs::{PermissionsExt, chown};
use std::os::unix::process::CommandExt;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::{env, fs};

use tempfile::TempDir;

/// The name of its administrator.
const USER: &str = "noregret";

/// A server that listens on this machine only. It ends when this is dropped, and everything in it is gone.
pub struct PostgresServer {
    folder: TempDir,
    programs: PathBuf,
    port: u16,
    /// User and group to run as: PostgreSQL refuses to be run by root.
    runs_as: Option<(u32, u32)>,
}

impl PostgresServer {
    /// Starts a server. `None`, with a line that says so, where PostgreSQL is not installed; on continuous integration (`CI=true`) that
    /// is a failure.
    pub fn start() -> Option<Self> {
        Self::start_with(&[], &[])
    }

    /// Starts a server that encrypts: certificate and key as PEM.
    pub fn start_encrypted(certificate: &str, key: &str) -> Option<Self> {
        let settings = ["ssl = on", "ssl_cert_file = 'server.pem'", "ssl_key_file = 'server.key'"];
        Self::start_with(&settings, &[("server.pem", certificate), ("server.key", key)])
    }

    fn start_with(settings: &[&str], files: &[(&str, &str)]) -> Option<Self> {
        let Some(programs) = programs() else {
            let missing = "PostgreSQL's programs are not here: on Debian, apt-get install postgresql";
            assert!(env::var_os("CI").is_none_or(|ci| ci != "true"), "{missing}");
            #[expect(clippy::print_stderr, reason = "a test that is skipped should say so")]
            {
                eprintln!("skipped: {missing}");
            }
            return None;
        };
        let folder = tempfile::Builder::new().prefix("noregret-postgres").tempdir().unwrap();
        let runs_as = is_root().then(another_user);
        if let Some((user, group)) = runs_as {
            chown(folder.path(), Some(user), Some(group)).unwrap();
        }
        // Free now, and hardly taken by anybody in the next second.
        let port = TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap().port();
        let server = Self { folder, programs, port, runs_as };
        let data = server.data();
        let data = data.to_str().unwrap();
        server.call(
            "initdb",
            &["-D", data, "-U", USER, "-A", "trust", "-E", "UTF8", "--locale=C", "--no-sync"],
        );
        for (name, text) in files {
            let path = server.data().join(name);
            fs::write(&path, text).unwrap();
            fs::set_permissions(&path, fs::Permissions::from_mode(0o600)).unwrap();
            if let Some((user, group)) = runs_as {
                chown(&path, Some(user), Some(group)).unwrap();
            }
        }
        let own = [
            "listen_addresses = '127.0.0.1'".to_owned(),
            format!("port = {port}"),
            format!("unix_socket_directories = '{}'", server.folder.path().display()),
            // The machine does not fail in a test.
            "fsync = off".to_owned(),
        ];
        let all: Vec<String> = own.into_iter().chain(settings.iter().map(|&line| line.to_owned())).collect();
        let path = server.data().join("postgresql.conf");
        let defaults = fs::read_to_string(&path).unwrap();
        fs::write(&path, format!("{defaults}\n{}\n", all.join("\n"))).unwrap();
        server.control(&["start"]);
        Some(server)
    }

    fn data(&self) -> PathBuf {
        self.folder.path().join("data")
    }

    fn command(&self, program: &str) -> Command {
        let mut command = Command::new(self.programs.join(program));
        command.current_dir(self.folder.path()).stdin(Stdio::null());
        if let Some((user, group)) = self.runs_as {
            command.uid(user).gid(group);
        }
        command
    }

    fn call(&self, program: &str, args: &[&str]) -> String {
        let ended = self.command(program).args(args).output().unwrap();
        let said = String::from_utf8_lossy(&ended.stderr);
        assert!(ended.status.success(), "{program} {args:?}: {said}\n{}", self.log());
        String::from_utf8_lossy(&ended.stdout).into_owned()
    }

    /// What the server has written about itself.
    pub fn log(&self) -> String {
        fs::read_to_string(self.folder.path().join("log")).unwrap_or_default()
    }

    fn control(&self, args: &[&str]) {
        let (data, log) = (self.data(), self.folder.path().join("log"));
        // The server inherits what we wait for, if it is a pipe.
        let mut command = self.command("pg_ctl");
        command.args(["-w", "-s", "-D"]).arg(&data).arg("-l").arg(&log).args(args);
        let status = command.stdout(Stdio::null()).stderr(Stdio::null()).status().unwrap();
        assert!(status.success(), "pg_ctl {args:?}\n{}", self.log());
    }

    /// Stops the server and starts it again; `immediate` as if it had been killed.
    pub fn restart(&self, immediate: bool) {
        self.control(&["restart", "-m", if immediate { "immediate" } else { "fast" }]);
    }

    /// Stops the server; [`Self::start_again`] starts it.
    pub fn stop(&self) {
        self.control(&["stop", "-m", "fast"]);
    }

    /// Starts the server after it was stopped.
    pub fn start_again(&self) {
        self.control(&["start"]);
    }

    /// The port that it listens on.
    pub fn port(&self) -> u16 {
        self.port
    }

    /// The address of a new, empty database of this name.
    pub fn create_database(&self, name: &str) -> String {
        let port = self.port.to_string();
        self.call("createdb", &["-h", "127.0.0.1", "-p", &port, "-U", USER, name]);
        format!("postgresql://{USER}@127.0.0.1:{port}/{name}")
    }

    /// What a statement answers, as text.
    pub fn query(&self, database: &str, sql: &str) -> String {
        let port = self.port.to_string();
        let args = ["-h", "127.0.0.1", "-p", &port, "-U", USER, "-d", database, "-qAt", "-c", sql];
        self.call("psql", &args).trim().to_owned()
    }
}

impl Drop for PostgresServer {
    fn drop(&mut self) {
        let data = self.data();
        let mut command = self.command("pg_ctl");
        command.args(["-w", "-s", "-D"]).arg(&data).args(["stop", "-m", "immediate"]);
        let _ = command.stdout(Stdio::null()).stderr(Stdio::null()).status();
    }
}

/// Where PostgreSQL's programs are: Debian does not put them on the path.
fn programs() -> Option<PathBuf> {
    let all = ["initdb", "pg_ctl", "createdb", "psql"];
    let has_them = |folder: &PathBuf| all.iter().all(|program| folder.join(program).exists());
    let versions = fs::read_dir("/usr/lib/postgresql").into_iter().flatten().flatten();
    let mut debian: Vec<PathBuf> = versions.map(|version| version.path().join("bin")).collect();
    debian.sort();
    let path = env::var_os("PATH").unwrap_or_default();
    let named = env::var_os("NOREGRET_POSTGRES_PROGRAMS").map(PathBuf::from);
    named.into_iter().chain(env::split_paths(&path)).chain(debian.into_iter().rev()).find(has_them)
}

fn is_root() -> bool {
    // Who owns the process owns its folder in /proc.
    use std::os::unix::fs::MetadataExt;
    fs::metadata("/proc/self").is_ok_and(|metadata| metadata.uid() == 0)
}

/// User and group of somebody who is not root.
fn another_user() -> (u32, u32) {
    let users = fs::read_to_string(Path::new("/etc/passwd")).unwrap();
    let find = |name: &str| {
        let mut fields =
            users.lines().find_map(|line| line.strip_prefix(name)?.strip_prefix(':'))?.split(':');
        Some((fields.nth(1)?.parse().ok()?, fields.next()?.parse().ok()?))
    };
    find("postgres").or_else(|| find("nobody")).expect("a user that is not root")
}
