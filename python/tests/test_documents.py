"""What documents, docstrings and examples show runs, and as they say.

Python blocks of a document run in order, in one namespace and an empty folder, just as a reader would type them. All of it needs the
packages that the documents are about; `-k "not ray"` leaves out the slowest example.
"""

import doctest
import importlib
import os
import pkgutil
import re
import subprocess
import sys
import traceback
from pathlib import Path

import pytest

import noregret

ROOT = Path(__file__).resolve().parent.parent.parent
DOCUMENTS = [ROOT / "README.md", *sorted((ROOT / "docs").glob("*.md"))]
EXAMPLES = sorted((ROOT / "examples" / "python").glob("*.py"))
MODULES = [noregret.__name__, *(f"noregret.{module.name}" for module in pkgutil.iter_modules(noregret.__path__) if module.name != "_native")]


def python_blocks(text: str) -> list[tuple[int, str]]:
    """The number of the first line of each block, and its code."""
    found: list[tuple[int, str]] = []
    lines: list[str] | None = None
    first, is_python = 0, False
    for number, line in enumerate(text.splitlines(), 1):
        fence = re.match(r"\s*```\s*(.*)$", line)
        if fence and lines is None:
            lines, first, is_python = [], number + 1, fence.group(1).strip() == "python"
        elif fence and lines is not None:
            if is_python:
                found.append((first, "\n".join(lines) + "\n"))
            lines = None
        elif lines is not None:
            lines.append(line)
    return found


def run_blocks(name: str, blocks: list[tuple[int, str]]) -> None:
    namespace = {"__name__": "document"}
    for first, code in blocks:
        try:
            # Empty lines before it make the line numbers of a traceback those of the document.
            exec(compile("\n" * (first - 1) + code, name, "exec"), namespace)
        except Exception as error:
            at = [frame.lineno for frame in traceback.extract_tb(error.__traceback__) if frame.filename == name]
            line = at[-1] if at else getattr(error, "lineno", first)
            shown = code.splitlines()[line - first].strip() if 0 <= line - first < len(code.splitlines()) else ""
            pytest.fail(f"{name}:{line}: {shown}\n{''.join(traceback.format_exception_only(error)).strip()} (block from line {first} on)")


@pytest.mark.parametrize("path", DOCUMENTS, ids=lambda path: path.name)
def test_python_blocks_run(path: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    blocks = python_blocks(path.read_text(encoding="utf-8"))
    if path.name == "python.md":
        assert len(blocks) > 10  # they are found at all
    monkeypatch.chdir(tmp_path)
    run_blocks(str(path.relative_to(ROOT)), blocks)


@pytest.mark.parametrize("name", MODULES)
def test_doctests(name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    result = doctest.testmod(importlib.import_module(name))
    assert result.failed == 0  # doctest prints what differs


def test_public_classes_have_examples() -> None:
    finder = doctest.DocTestFinder(recurse=False)
    for thing in (noregret.Study, noregret.Pool, noregret.minimize, noregret.algorithms):
        assert any(test.examples for test in finder.find(thing)), f"{thing} has no example"


@pytest.mark.parametrize("path", EXAMPLES, ids=lambda path: path.stem)
def test_examples_run(path: Path, tmp_path: Path) -> None:
    run = subprocess.run(
        [sys.executable, "-W", "error::DeprecationWarning:__main__", str(path)],
        cwd=tmp_path, capture_output=True, text=True, timeout=300, env={**os.environ, "MPLBACKEND": "Agg"},
    )
    assert run.returncode == 0, f"{path.name} failed:\n{run.stderr[-3000:]}"
    assert run.stdout.strip(), f"{path.name} prints nothing"
    code = path.read_text(encoding="utf-8")
    assert code.startswith('"""') and f"python examples/python/{path.name}" in code, "begins by saying what it shows and how to run it"
    assert len(code.splitlines()) < 60


def test_a_failing_block_is_named_by_its_line() -> None:
    text = "# Title\n\n```python\nx = 1\n```\n\n```text\nnot code\n```\n\n```python\ny = x + 1\n\nassert y == 3\n```\n"
    blocks = python_blocks(text)
    assert blocks == [(4, "x = 1\n"), (12, "y = x + 1\n\nassert y == 3\n")]
    with pytest.raises(pytest.fail.Exception, match=r"^some\.md:14: assert y == 3\nAssertionError \(block from line 12 on\)"):
        run_blocks("some.md", blocks)
    with pytest.raises(pytest.fail.Exception, match=r"^some\.md:5: .*\nSyntaxError|^some\.md:5: x =\n"):
        run_blocks("some.md", [(4, "y = 2\nx =\n")])
