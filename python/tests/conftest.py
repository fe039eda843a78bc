"""What the tests share."""

import os
from pathlib import Path

import pytest


@pytest.fixture
def binaries() -> Path:
    """Where `cargo build` has put the command line tool and the Rust examples; `./test` says."""
    folder = os.environ.get("NOREGRET_BINARIES")
    if folder is None:
        pytest.skip("NOREGRET_BINARIES is not set: run `./test python`, or point it at target/debug")
    return Path(folder).resolve()
