#!/usr/bin/env bash
# A real Slurm of one node, for tests: munged, slurmctld and slurmd on this machine's loopback, with everything they write (configuration, keys,
# sockets, state, logs) in one folder. It never touches a Slurm that the machine may have.
#
#   eval "$(scripts/one_node_slurm.sh start DIR)"     starts it, and prints `export SLURM_CONF=...` once the node is idle
#   sbatch --wrap hostname
#   scripts/one_node_slurm.sh stop DIR                cancels its jobs, and ends what it started and nothing else
#
# Needs root, and Debian's packages slurm-wlm and munge (tested with Slurm 22.05). Jobs are root's.
#
# The node claims NOREGRET_SLURM_CPUS processors (4 unless set), more than there may be, so that small jobs run at the same time. Two partitions:
# `main`, the default, and `urgent`, whose jobs preempt those of `main`: these get the signal of their --signal, five seconds, then SIGTERM, and
# are requeued. Jobs over their time limit, or cancelled, get SIGTERM, and SIGKILL five seconds later. A requeued job starts again after six
# seconds. There is no accounting, so `sacct` fails.
set -euo pipefail

say() { printf 'one_node_slurm: %s\n' "$*" >&2; }
die() {
    say "$@"
    exit 1
}

usage() { die "usage: one_node_slurm.sh start|stop DIR"; }

# The process of this name that was started for this folder, if it lives: numbers of processes are used again.
alive() { # NAME
    local pid
    pid="$(cat "$DIR/$1.pid" 2>/dev/null)" || return 1
    { tr "\0" " " <"/proc/$pid/cmdline"; } 2>/dev/null | grep -qF -- "$DIR/" && echo "$pid"
}

# Runs a daemon in the foreground, but in a session of its own: what it starts, and Ctrl-C in this one, are not each other's business.
daemon() { # NAME COMMAND...
    local name="$1"
    shift
    setsid "$@" </dev/null >>"$DIR/log/$name.out" 2>&1 &
    echo $! >"$DIR/$name.pid"
}

# Ends a daemon, gently and then not.
end() { # NAME
    local pid
    pid="$(alive "$1")" || return 0
    kill -TERM "$pid" 2>/dev/null || return 0
    for _ in $(seq 50); do
        alive "$1" >/dev/null || return 0
        sleep 0.1
    done
    kill -KILL "$pid" 2>/dev/null || true
}

# The steps of jobs that are still there: they have the folder's configuration in their environment.
steps() {
    local process
    for process in /proc/[0-9]*; do
        [ "$(readlink "$process/exe" 2>/dev/null)" != "$(readlink -f "$(command -v slurmstepd || echo /usr/sbin/slurmstepd)")" ] && continue
        { tr "\0" "\n" <"$process/environ"; } 2>/dev/null | grep -qxF "SLURM_CONF=$DIR/slurm.conf" && basename "$process"
    done
    return 0
}

configuration() { # CONTROLLER-PORT NODE-PORT
    cat <<END
ClusterName=noregret
SlurmctldHost=$NODE(127.0.0.1)
SlurmctldPort=$1
SlurmdPort=$2
CommunicationParameters=NoCtldInAddrAny,NoInAddrAny
SlurmUser=root
SlurmdUser=root
AuthType=auth/munge
AuthInfo=socket=$DIR/munge/socket,cred_expire=5
CredType=cred/munge
StateSaveLocation=$DIR/state
SlurmdSpoolDir=$DIR/spool
SlurmctldPidFile=$DIR/state/slurmctld.pid
SlurmdPidFile=$DIR/spool/slurmd.pid
SlurmctldLogFile=$DIR/log/slurmctld.log
SlurmdLogFile=$DIR/log/slurmd.log
PlugStackConfig=$DIR/plugstack.conf
MailProg=/bin/true
ProctrackType=proctrack/linuxproc
TaskPlugin=task/none
JobAcctGatherType=jobacct_gather/none
AccountingStorageType=accounting_storage/none
SwitchType=switch/none
MpiDefault=none
SelectType=select/cons_tres
SelectTypeParameters=CR_Core
SlurmdParameters=config_overrides
SchedulerType=sched/backfill
SchedulerParameters=sched_interval=1,bf_interval=1,batch_sched_delay=0
PreemptType=preempt/partition_prio
PreemptMode=REQUEUE
SlurmctldParameters=preempt_send_user_signal
JobRequeue=1
OverTimeLimit=0
KillWait=5
MinJobAge=300
ReturnToService=2
NodeName=$NODE NodeAddr=127.0.0.1 CPUs=${NOREGRET_SLURM_CPUS:-4} RealMemory=$(awk '/MemTotal/ { print int($2 / 1024) }' /proc/meminfo) State=UNKNOWN
PartitionName=main Nodes=$NODE Default=YES MaxTime=INFINITE State=UP PriorityTier=1 GraceTime=5
PartitionName=urgent Nodes=$NODE MaxTime=INFINITE State=UP PriorityTier=10 PreemptMode=OFF
END
}

start() {
    local program ports
    [ "$(id -u)" = 0 ] || die "only root can start Slurm"
    for program in munged mungekey slurmctld slurmd sinfo scontrol python3; do
        command -v "$program" >/dev/null || die "$program is missing: on Debian, apt-get install slurm-wlm munge"
    done
    [ ! -e "$DIR/slurm.conf" ] || die "$DIR has been used already: stop it and remove the folder first"
    [ ${#DIR} -le 80 ] || die "$DIR is too long for the name of a socket"
    mkdir -p "$DIR"/{munge,state,spool,log}
    chmod 755 "$DIR" "$DIR/munge"

    ports="$(python3 -c '
import socket
taken = [socket.socket(), socket.socket()]
for s in taken:
    s.bind(("127.0.0.1", 0))
print(*(s.getsockname()[1] for s in taken))')"
    # shellcheck disable=SC2086 # two of them
    configuration $ports >"$DIR/slurm.conf"
    : >"$DIR/plugstack.conf"
    : >"$DIR/cgroup.conf"

    trap 'give_up' ERR
    mungekey --create --keyfile="$DIR/munge/key"
    # --force: it would refuse sockets and logs below folders that others may not enter, such as root's own.
    daemon munged munged --foreground --force --num-threads=1 --key-file="$DIR/munge/key" --socket="$DIR/munge/socket" \
        --pid-file="$DIR/munge/pid" --log-file="$DIR/log/munged.log" --seed-file="$DIR/munge/seed"
    wait_for munged "its socket" test -S "$DIR/munge/socket"
    daemon slurmctld slurmctld -D -f "$DIR/slurm.conf"
    wait_for slurmctld "an answer" scontrol ping
    daemon slurmd slurmd -D -f "$DIR/slurm.conf" -N "$NODE"
    wait_for slurmd "an idle node" is_idle
    trap - ERR
    printf 'export SLURM_CONF=%q\n' "$DIR/slurm.conf"
}

is_idle() { [ "$(sinfo --noheader --nodes "$NODE" --partition main --format %T)" = idle ]; }

# Waits up to 30 seconds for a daemon to do what it should.
wait_for() { # NAME WHAT COMMAND...
    local name="$1" what="$2"
    shift 2
    for _ in $(seq 150); do
        "$@" >/dev/null 2>&1 && return
        kill -0 "$(cat "$DIR/$name.pid")" 2>/dev/null || break
        sleep 0.2
    done
    say "$name gives no sign of $what"
    return 1
}

give_up() {
    trap - ERR
    tail -n 15 "$DIR"/log/* >&2 || true
    stop || true
    die "Slurm could not be started; its logs are in $DIR/log"
}

stop() {
    [ -e "$DIR/slurm.conf" ] || die "nothing was started in $DIR"
    local jobs
    if alive slurmctld >/dev/null && alive slurmd >/dev/null; then
        for _ in $(seq 30); do
            jobs="$(squeue --noheader --format %A 2>/dev/null)" || break
            [ -n "$jobs" ] || break
            # shellcheck disable=SC2086 # many of them
            scancel --quiet $jobs || true
            sleep 0.3
        done
    fi
    end slurmd
    end slurmctld
    for pid in $(steps); do kill -KILL "$pid" 2>/dev/null || true; done
    end munged
    rm -f "$DIR"/{munged,slurmctld,slurmd}.pid
}

[ $# = 2 ] && [ -n "$2" ] || usage
DIR="$(realpath -m -- "$2")"
NODE="$(hostname -s)"
PATH="$PATH:/usr/sbin:/sbin"
unset "${!SLURM_@}" 2>/dev/null || true # this process may itself be a job of another Slurm
export SLURM_CONF="$DIR/slurm.conf"
case "$1" in
start) start ;;
stop) stop ;;
*) usage ;;
esac
