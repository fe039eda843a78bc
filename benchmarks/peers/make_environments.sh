#!/bin/sh
# Makes the Python environments of the peers: make_environments.sh FOLDER [peers|nevergrad|hebo|bbob ...]
# Without names all four are made, as FOLDER/.venv-peers and so on. About 12 GB, most of it torch's CUDA libraries; that of
# `bbob`, which `noregret bench bbob` needs, is 0.1 GB of it.
# PYTHON (3.11) and PYTHON_HEBO (3.10) name the interpreters; HEBO needs the older one, see requirements-hebo.txt.
set -eu

folder=${1:?usage: make_environments.sh FOLDER [peers|nevergrad|hebo|bbob ...]}
shift
[ $# -gt 0 ] || set -- peers nevergrad hebo bbob
here=$(cd "$(dirname "$0")" && pwd)
mkdir -p "$folder"

for name in "$@"; do
    python=${PYTHON:-python3.11}
    requirements=$here/requirements-$name.txt
    case $name in
        peers) requirements=$here/requirements.txt ;;
        nevergrad | bbob) ;;
        hebo) python=${PYTHON_HEBO:-python3.10} ;;
        *) echo "unknown environment: $name" >&2; exit 2 ;;
    esac
    "$python" -m venv "$folder/.venv-$name"
    "$folder/.venv-$name/bin/pip" install --quiet --disable-pip-version-check -r "$requirements"
    "$folder/.venv-$name/bin/pip" check
done
