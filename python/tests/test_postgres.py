"""Studies in PostgreSQL, on a server of the tests' own."""

from __future__ import annotations

import multiprocessing
import pickle
from pathlib import Path

import pytest

import noregret as nr


def _opened(address: str, name: str) -> nr.Study:
    return nr.Study({"x": nr.Float(0, 1)}, storage=address, name=name, seed=3)


def test_a_study_is_shared_and_goes_on(address: str, tmp_path: Path) -> None:
    one, other = _opened(address, "shared"), _opened(address, "shared")
    twin = nr.Study({"x": nr.Float(0, 1)}, storage=f"sqlite:///{tmp_path}/twin.db", name="shared", seed=3)
    for _ in range(6):
        for study in (one, twin):
            for trial in study.ask(2):
                study.tell(trial, (trial.params["x"] - 0.3) ** 2)
    assert [t.value for t in other.trials] == [t.value for t in one.trials] == [t.value for t in twin.trials]
    assert (other.suggest(3) == twin.suggest(3)).all()
    assert nr.Study.load("shared", address).direction == "minimize"
    copy = pickle.loads(pickle.dumps(one))
    copy.tell(copy.ask(1)[0], 1.0)
    assert len(other.trials) == 13


def _in_a_fork(study: nr.Study, queue: multiprocessing.Queue[int]) -> None:
    trial = study.ask(1)[0]
    study.tell(trial, 0.5)
    queue.put(trial.number)


def test_forked_children_have_connections_of_their_own(address: str) -> None:
    study = _opened(address, "forked")
    study.tell(study.ask(1)[0], 1.0)
    context = multiprocessing.get_context("fork")
    queue = context.Queue()
    children = [context.Process(target=_in_a_fork, args=(study, queue)) for _ in range(3)]
    for child in children:
        child.start()
    assert sorted(queue.get(timeout=60) for _ in children) == [1, 2, 3]
    for child in children:
        child.join(60)
        assert child.exitcode == 0
    study.tell(study.ask(1)[0], 2.0)
    assert [t.value for t in study.trials] == [1.0, 0.5, 0.5, 0.5, 2.0]


def test_errors_name_the_place_and_not_the_password(address: str) -> None:
    with pytest.raises(nr.errors.StorageError, match="createdb") as caught:
        _opened(address.replace("/studies", "/nowhere"), "s")
    assert "secret" not in str(caught.value)
    with pytest.raises(nr.errors.NoSuchStudy):
        nr.Study.load("unknown", address)
