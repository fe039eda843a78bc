"""The JSON Schema that `noregret schema` prints takes what the program takes, and refuses what it refuses."""

import json
import subprocess
from pathlib import Path
from typing import Any

import pytest
from jsonschema import Draft202012Validator


def run(binary: Path, *arguments: str) -> Any:
    return json.loads(subprocess.run([binary, *arguments], capture_output=True, check=True, text=True).stdout)


def study(algorithm: dict[str, Any]) -> dict[str, Any]:
    return {
        "study": {"name": "s", "trials": 5, "algorithm": algorithm},
        "objective": {"builtin": "branin"},
        "parameters": {"x": {"type": "float", "low": 0, "high": 1}},
    }


@pytest.fixture
def validator(binaries: Path) -> Draft202012Validator:
    return Draft202012Validator(run(binaries / "noregret", "schema"))


def test_every_algorithm_with_all_its_options(binaries: Path, validator: Draft202012Validator) -> None:
    algorithms = run(binaries / "noregret", "algorithms", "--json")
    assert len(algorithms) == 31
    for algorithm in algorithms:
        table = {"name": algorithm["name"], **algorithm["options"]}
        problems = [error.message[:200] for error in validator.iter_errors(study(table))]
        assert not problems, (algorithm["name"], problems)
        assert validator.is_valid(study({"name": algorithm["name"]})), algorithm["name"]
        assert not validator.is_valid(study({"name": algorithm["name"], "no_such_option": 1})), algorithm["name"]


def test_unknown_algorithms(validator: Draft202012Validator) -> None:
    assert not validator.is_valid(study({"name": "gp-ucd"}))
