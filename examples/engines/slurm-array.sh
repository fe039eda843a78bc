#!/usr/bin/env bash
# Workers for a study of `noregret serve`, as a Slurm array: ten at a time, each for two hours at most.
#
#   export NOREGRET_TOKEN=...
#   sbatch examples/engines/slurm-array.sh http://login1:7377 two-moons
#
# Options of sbatch before the name of this file override those below. A worker that ends, whether its time is up or it was preempted, makes room
# for the next element of the array; that is why there are more elements than run at a time. When the study is done, those left end at once.

#SBATCH --job-name=noregret
#SBATCH --array=1-100%10
#SBATCH --time=02:00:00
#SBATCH --cpus-per-task=4
#SBATCH --output=noregret-%A_%a.log
# After a failure of the node, `scontrol requeue` or a preemption, the element starts again, and its log goes on.
#SBATCH --requeue
#SBATCH --open-mode=append
# A minute before the end (or two, Slurm is not exact) the worker gets SIGTERM and gives its trials back. B: the signal goes to this script alone, hence `exec`.
#SBATCH --signal=B:TERM@60

set -euo pipefail
server="${1:?usage: sbatch slurm-array.sh URL STUDY}"
study="${2:?usage: sbatch slurm-array.sh URL STUDY}"

exec noregret worker "$server" --study "$study" --workers 1
