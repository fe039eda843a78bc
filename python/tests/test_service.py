"""Studies on a server: the same from Python, from HTTP and from a file; and an interface that does what its description says."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
import urllib.request
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

import noregret as nr

SPACE = {"x": nr.Float(0, 1), "layers": nr.Int(1, 5)}


class Server:
    """A server process with an empty storage."""

    def __init__(self, binaries: Path, folder: Path, *studies: str) -> None:
        words = [str(binaries / "noregret"), "serve", *studies, "--bind", "127.0.0.1:0", "--json", "--rate", "100000"]
        self.process = subprocess.Popen(words, cwd=folder, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True)
        assert self.process.stdout is not None
        said = json.loads(self.process.stdout.readline())
        self.address, self.token = said["address"], said["token"]

    def post(self, path: str, body: Any) -> Any:
        return self.get(path, json.dumps(body).encode())

    def get(self, path: str, body: bytes | None = None) -> Any:
        request = urllib.request.Request(f"{self.address}/api/v1/studies{path}", body, {"Authorization": f"Bearer {self.token}"})
        with urllib.request.urlopen(request) as answer:
            return json.load(answer)


@pytest.fixture
def server(binaries: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Server]:
    server = Server(binaries, tmp_path)
    monkeypatch.setenv("NOREGRET_TOKEN", server.token)
    yield server
    server.process.terminate()
    assert server.process.wait(20) == 0


def value(params: dict[str, Any]) -> float:
    return float((params["x"] - 0.3) ** 2 + 0.1 * params["layers"])


ROUNDS, BATCH = 6, 3
TRIALS = ROUNDS * BATCH
FILE = f"""
[study]
name = "s"
seed = 4
trials = {TRIALS}
batch = {BATCH}
[objective]
command = ["none"]
[parameters]
x = {{ type = "float", low = 0, high = 1 }}
layers = {{ type = "int", low = 1, high = 5 }}
"""


class Player:
    """Asks for a batch, and tells its values."""

    def __init__(self, ask: Callable[[], list[Any]], tell: Callable[[int, float], object]) -> None:
        self.ask, self.tell = ask, tell

    def turn(self) -> list[dict[str, Any]]:
        """The points of one batch."""
        seen = []
        for trial in self.ask():
            seen.append(trial["params"])
            self.tell(trial["number"], value(trial["params"]))
        return seen


def in_python(storage: str | None, name: str = "s") -> Player:
    study = nr.Study(SPACE, seed=4, name=name, trials=TRIALS, storage=storage)
    return Player(lambda: [{"number": trial.number, "params": dict(trial.params)} for trial in study.ask(BATCH)], study.tell)


def on_the_command_line(binaries: Path, folder: Path, *study: str) -> Player:
    def call(command: str, *words: str) -> str:
        line = [str(binaries / "noregret"), command, *study, *words]
        return subprocess.run(line, cwd=folder, check=True, capture_output=True, text=True).stdout

    ask = lambda: [json.loads(line) for line in call("ask", "-n", str(BATCH), "--json").splitlines()]
    return Player(ask, lambda number, y: call("tell", str(number), repr(y)))


def by_requests(post: Callable[[str, Any], Any], name: str) -> Player:
    ask = lambda: post(f"/{name}/trials:ask", {"n": BATCH})["trials"]
    return Player(ask, lambda number, y: post(f"/{name}/trials/{number}:tell", {"value": y}))


def by_curl(server: Server, path: str, body: Any) -> Any:
    words = ["-sS", "--fail-with-body", "-X", "POST", "-H", f"Authorization: Bearer {server.token}", "-d", json.dumps(body)]
    said = subprocess.run(["curl", *words, f"{server.address}/api/v1/studies{path}"], check=True, capture_output=True, text=True)
    return json.loads(said.stdout)


def test_the_same_log_gives_the_same_suggestions_everywhere(
    server: Server, binaries: Path, tmp_path: Path, request: pytest.FixtureRequest
) -> None:
    """In memory, SQLite, PostgreSQL and on a server; from Python, from the command line and by HTTP."""

    def make(name: str) -> None:
        # As a user would with curl, and in the order of the file.
        body = FILE.replace('name = "s"', f'name = "{name}"').encode()
        headers = {"Authorization": f"Bearer {server.token}", "Content-Type": "application/toml"}
        with urllib.request.urlopen(urllib.request.Request(f"{server.address}/api/v1/studies", body, headers)) as answer:
            assert answer.status == 201

    (tmp_path / "study.toml").write_text(FILE)
    players = {
        "Python, SQLite": in_python(f"sqlite:///{tmp_path}/python.db"),
        "Python, a server": in_python(server.address),
        "command line, SQLite": on_the_command_line(binaries, tmp_path, "study.toml", "--storage", "sqlite:///line.db"),
    }
    make("line")
    players["command line, a server"] = on_the_command_line(binaries, tmp_path, "--study", "line", "--storage", server.address)
    make("requests")
    players["requests"] = by_requests(server.post, "requests")
    has_curl = shutil.which("curl") is not None
    if has_curl:
        make("curl")
        players["curl"] = by_requests(lambda path, body: by_curl(server, path, body), "curl")
    try:
        address = request.getfixturevalue("address")
        players["Python, PostgreSQL"] = in_python(address, "python")
        players["command line, PostgreSQL"] = on_the_command_line(binaries, tmp_path, "study.toml", "--storage", address)
    except pytest.skip.Exception as skipped:
        print(f"without PostgreSQL: {skipped}")
    memory = in_python(None)
    seen = [memory.turn() for _ in range(ROUNDS)]
    assert all(len(batch) == BATCH for batch in seen)
    for place, player in players.items():
        assert [player.turn() for _ in range(ROUNDS)] == seen, place
    # One log, a batch from each in turn.
    make("turns")
    requests = server.post if not has_curl else lambda path, body: by_curl(server, path, body)
    turns = [
        in_python(server.address, "turns"),
        on_the_command_line(binaries, tmp_path, "--study", "turns", "--storage", server.address),
        by_requests(requests, "turns"),
    ]
    assert [turns[k % 3].turn() for k in range(ROUNDS)] == seen


def test_minimize_and_resume(server: Server) -> None:
    found = nr.minimize(lambda p: value(p), SPACE, n_trials=8, n_jobs=2, name="m", storage=server.address, algorithm="random")
    assert found.nfev == 8
    again = nr.minimize(lambda p: value(p), SPACE, n_trials=10, name="m", storage=server.address, algorithm="random")
    assert len(again.study.trials) == 10


def test_a_pool_that_the_program_keeps(server: Server) -> None:
    pool = nr.Pool([[i / 10, (i % 3) / 3] for i in range(30)])
    study = nr.Study(pool, seed=1, name="pool", storage=server.address)
    for trial in study.ask(4):
        study.tell(trial, float(trial.number))
    assert nr.Study(pool, seed=1, name="pool", storage=server.address).trials[3].value == 3.0


def test_a_server_that_says_no(server: Server, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("NOREGRET_TOKEN", "nr_wrong")
    with pytest.raises(nr.NoRegretError, match="token is unknown"):
        nr.Study(SPACE, name="s", storage=server.address)


def test_the_interface_does_what_its_description_says(server: Server, tmp_path: Path) -> None:
    """Schemathesis makes requests of the OpenAPI document, right and wrong ones, and looks at the answers."""
    parameters = {"x": {"type": "float", "low": 0, "high": 1}}
    server.post("", {"study": {"name": "0", "algorithm": "random"}, "objective": {"command": ["none"]}, "parameters": parameters})
    checks = "not_a_server_error,status_code_conformance,content_type_conformance,response_schema_conformance,negative_data_rejection,unsupported_method,ignored_auth"
    words = ["--checks", checks, "--phases", "coverage", "--exclude-path-regex", "events|log|trials:ask", "--request-timeout", "70"]
    # Requests without a token are slowed down beyond five a second: two for each operation are sent.
    words += ["--rate-limit", "80/s"]
    words += ["--generation-deterministic", "--exclude-operation-id", "post_studies", "--header", f"Authorization: Bearer {server.token}"]
    program = Path(sys.executable).with_name("schemathesis")
    run = subprocess.run(
        [str(program), "run", f"{server.address}/api/v1/openapi.json", *words],
        capture_output=True, text=True, timeout=240, cwd=tmp_path, env={**os.environ, "NO_COLOR": "1"},
    )
    assert run.returncode == 0, run.stdout[-6000:] + run.stderr[-2000:]
