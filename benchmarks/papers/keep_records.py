"""Adds runs of the papers' experiments to `records/`: keep_records.py FOLDER [FOLDER ...], each filled by `noregret bench ... --out FOLDER`.

One compressed file an experiment and setting, sorted, numbers to five digits, so that `noregret bench EXPERIMENT --records
benchmarks/papers/records` makes its tables again in seconds. A run that is there already is replaced by the new one; curves of more
than MAX_CURVE points keep evenly spaced ones, the first and the last among them.
"""

from __future__ import annotations

import gzip
import json
import sys
from pathlib import Path

FOLDER = Path(__file__).parent / "records"
# Longest curve that is kept; `regret_curve` is kept whole, since its length says how many rounds there were.
MAX_CURVE = 50


def rounded(value: object) -> object:
    if isinstance(value, list):
        return [rounded(each) for each in value]
    return float(f"{value:.5g}") if isinstance(value, float) else value


def shortened(name: str, value: object) -> object:
    if name == "regret_curve" or not isinstance(value, list) or len(value) <= MAX_CURVE:
        return value
    last = len(value) - 1
    return [value[round(i * last / (MAX_CURVE - 1))] for i in range(MAX_CURVE)]


def key(record: dict[str, object]) -> str:
    """All that distinguishes runs: what is text or a whole number, but for counts of work."""
    names = ("problem", "algorithm", "grid", "design", "arms", "batch", "evaluations", "seed", "run")
    return json.dumps([str(record.get(name)).zfill(12) for name in names])


def lines(text: str) -> list[dict[str, object]]:
    # Without its end a line is still being written.
    return [json.loads(line) for line in text.splitlines(keepends=True) if line.endswith("\n")]


def main(folders: list[str]) -> None:
    FOLDER.mkdir(exist_ok=True)
    for file in sorted(path for folder in folders for path in Path(folder).glob("*.jsonl")):
        path = FOLDER / f"{file.name}.gz"
        old = lines(gzip.decompress(path.read_bytes()).decode()) if path.exists() else []
        kept = {key(record): record for record in old}
        for record in lines(file.read_text()):
            kept[key(record)] = {name: rounded(shortened(name, value)) for name, value in record.items()}
        text = "".join(json.dumps(kept[each], separators=(",", ":")) + "\n" for each in sorted(kept))
        # The time 0 makes equal records equal bytes.
        path.write_bytes(gzip.compress(text.encode(), 9, mtime=0))
        print(f"{path.name}: {len(kept)} runs, {path.stat().st_size // 1024} kB")


if __name__ == "__main__":
    main(sys.argv[1:])
