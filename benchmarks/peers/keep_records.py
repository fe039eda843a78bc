"""Adds runs of slow peers to `records/`: keep_records.py FILE [FILE ...], each a peers.jsonl of `noregret bench peers --out`.

One file a method, sorted, numbers to five digits; of a run that is there twice the kept one stays. Only the seeds of docs/benchmarks.md are
kept, and no methods that take seconds.
"""

from __future__ import annotations

import json
import sys
from pathlib import Path

FOLDER = Path(__file__).parent / "records"
METHODS = ("bayesopt-ucb", "botorch-qlognei", "egobox-egor", "hebo", "optuna-gp", "skopt-gp", "smac-blackbox")
FIRST_SEED, RUNS = 100, 4


def rounded(value: object) -> object:
    if isinstance(value, list):
        return [rounded(each) for each in value]
    return float(f"{value:.5g}") if isinstance(value, float) else value


def key(record: dict[str, object]) -> tuple[object, ...]:
    return record["seed"], record["batch"], record["problem"], record["evaluations"]


def runs(path: Path) -> list[dict[str, object]]:
    # Without its end a line is still being written.
    lines = path.read_text().splitlines(keepends=True)
    return [json.loads(line) for line in lines if line.endswith("\n")]


def main(files: list[str]) -> None:
    fresh = [record for file in files for record in runs(Path(file))]
    for method in METHODS:
        path = FOLDER / f"{method}.jsonl"
        kept = {key(record): record for record in (runs(path) if path.exists() else [])}
        for record in fresh:
            number = record["seed"] - FIRST_SEED
            if record["algorithm"] == method and number in range(RUNS):
                kept.setdefault(key(record), {name: rounded(value) for name, value in record.items()} | {"run": number})
        lines = [json.dumps(kept[each], separators=(",", ":")) + "\n" for each in sorted(kept)]
        path.write_text("".join(lines))
        print(f"{method}: {len(lines)}")


if __name__ == "__main__":
    main(sys.argv[1:])
