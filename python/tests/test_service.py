"""Studies on a server: the same from Python, from HTTP and from a file; and an interface that does what its description says."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import urllib.request
from collections.abc import Iterator
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


def played(study: nr.Study) -> list[dict[str, Any]]:
    seen = []
    for _ in range(6):
        for trial in study.ask(3):
            seen.append(dict(trial.params))
            study.tell(trial, value(trial.params))
    return seen


def test_suggestions_are_the_same_from_everywhere(server: Server, tmp_path: Path) -> None:
    file = played(nr.Study(SPACE, seed=4, name="s", trials=18, storage=f"sqlite:///{tmp_path}/own.db"))
    study = nr.Study(SPACE, seed=4, name="s", trials=18, storage=server.address)
    assert played(study) == file
    assert len(study.trials) == 18 and study.best_observed is not None
    # The server thinks; this is what curl would send.
    parameters = {"x": {"type": "float", "low": 0, "high": 1}, "layers": {"type": "int", "low": 1, "high": 5}}
    server.post("", {"study": {"name": "thought", "seed": 4, "trials": 18, "batch": 3}, "objective": {"command": ["none"]}, "parameters": parameters})
    seen = []
    for _ in range(6):
        for trial in server.post("/thought/trials:ask", {"n": 3})["trials"]:
            seen.append(trial["params"])
            server.post(f"/thought/trials/{trial['number']}:tell", {"value": value(trial["params"])})
    assert seen == file


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
    words += ["--generation-deterministic", "--exclude-operation-id", "post_studies", "--header", f"Authorization: Bearer {server.token}"]
    program = Path(sys.executable).with_name("schemathesis")
    run = subprocess.run(
        [str(program), "run", f"{server.address}/api/v1/openapi.json", *words],
        capture_output=True, text=True, timeout=240, cwd=tmp_path, env={**os.environ, "NO_COLOR": "1"},
    )
    assert run.returncode == 0, run.stdout[-6000:] + run.stderr[-2000:]
