//! A process of its own around each evaluation, on Linux: it takes care that nothing of the evaluation is left behind.
//!
//! A command may start processes that leave its process group (`setsid`, daemons). Killing the group does not reach them,
//! and nothing reaches them when noregret itself is killed. So `noregret run` starts itself again as `noregret supervise`,
//! which becomes the reaper of all that descends from it and starts the command. When the socket to `noregret run` closes,
//! for whatever reason, it kills its descendants until there are none.

#[cfg(target_os = "linux")]
mod process;
mod protocol;

use std::process::Command;

#[cfg(target_os = "linux")]
pub(crate) use process::main;
pub(crate) use protocol::{Order, Report};

/// The hidden sub-command.
pub(crate) const WORD: &str = "supervise";

/// This program, wherever it was started from; it is the same file even if another version was installed since.
#[cfg(target_os = "linux")]
const OURSELVES: &str = "/proc/self/exe";

/// The command line of a supervisor, or `None` where there is none: on other systems, and without `/proc`.
#[cfg(target_os = "linux")]
pub(crate) fn command() -> Option<Command> {
    use std::os::unix::process::CommandExt;
    let mut command = Command::new(OURSELVES);
    command.arg0("noregret").arg(WORD);
    std::path::Path::new(OURSELVES).exists().then_some(command)
}

#[cfg(not(target_os = "linux"))]
pub(crate) fn command() -> Option<Command> {
    None
}

/// Makes the kernel kill the process when the thread that started it dies. This reaches the process itself, not its children.
#[cfg(target_os = "linux")]
pub(crate) fn die_with_parent(command: &mut Command) {
    use std::os::unix::process::CommandExt;

    use rustix::process::{Signal, set_parent_process_death_signal};
    #[expect(
        unsafe_code,
        reason = "the closure only makes one system call, which is safe between fork and exec"
    )]
    unsafe {
        command.pre_exec(|| Ok(set_parent_process_death_signal(Some(Signal::KILL))?));
    }
}

#[cfg(not(target_os = "linux"))]
pub(crate) fn die_with_parent(_: &mut Command) {}
