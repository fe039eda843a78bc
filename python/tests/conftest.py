"""What the tests share."""

from __future__ import annotations

import glob
import os
import pwd
import shutil
import socket
import subprocess
import tempfile
from collections.abc import Iterator
from pathlib import Path

import pytest


@pytest.fixture
def binaries() -> Path:
    """Where `cargo build` has put the command line tool and the Rust examples; `./test` says."""
    folder = os.environ.get("NOREGRET_BINARIES")
    if folder is None:
        pytest.skip("NOREGRET_BINARIES is not set: run `./test python`, or point it at target/debug")
    return Path(folder).resolve()


def _programs() -> str | None:
    named = os.environ.get("NOREGRET_POSTGRES_PROGRAMS")
    folders = [named, *os.environ["PATH"].split(os.pathsep), *sorted(glob.glob("/usr/lib/postgresql/*/bin"), reverse=True)]
    has_all = lambda folder: all(os.path.exists(os.path.join(folder, name)) for name in ("initdb", "pg_ctl", "createdb"))
    return next((folder for folder in folders if folder and has_all(folder)), None)


@pytest.fixture(scope="module")
def address() -> Iterator[str]:
    """The address of an empty database, on a PostgreSQL server of the module's own."""
    programs = _programs()
    if programs is None:
        assert os.environ.get("CI") != "true", "PostgreSQL is missing: on Debian, apt-get install postgresql"
        pytest.skip("PostgreSQL is not installed")
    folder = Path(tempfile.mkdtemp(prefix="noregret-postgres"))
    user: dict[str, int] = {}
    if os.getuid() == 0:  # PostgreSQL refuses to be run by root
        known = {entry.pw_name: entry for entry in pwd.getpwall()}
        other = known.get("postgres") or known["nobody"]
        user = {"user": other.pw_uid, "group": other.pw_gid}
        os.chown(folder, other.pw_uid, other.pw_gid)
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]

    def call(program: str, *args: str) -> None:
        subprocess.run([f"{programs}/{program}", *args], check=True, cwd=folder, stdout=subprocess.DEVNULL, **user)

    data = str(folder / "data")
    call("initdb", "-D", data, "-U", "ann", "-A", "trust", "-E", "UTF8", "--locale=C", "--no-sync")
    settings = f"-c port={port} -c listen_addresses=127.0.0.1 -c unix_socket_directories={folder} -c fsync=off"
    call("pg_ctl", "-w", "-s", "-D", data, "-l", str(folder / "log"), "-o", settings, "start")
    try:
        call("createdb", "-h", "127.0.0.1", "-p", str(port), "-U", "ann", "studies")
        yield f"postgresql://ann:secret@127.0.0.1:{port}/studies"
    finally:
        call("pg_ctl", "-w", "-s", "-D", data, "stop", "-m", "immediate")
        shutil.rmtree(folder)
