"""Puts the tables of a `peers.md`, which `noregret bench peers --out` writes, into documents: fill_document.py PEERS.MD DOCUMENT...

A document says where: the table after a line `<!-- peers.md: Ranks -->` becomes the one below the heading "Ranks" of `peers.md`.
"""

from __future__ import annotations

import re
import sys
from pathlib import Path

PLACE = re.compile(r"<!-- peers\.md: (.+) -->\n\n((?:\|.*\n)*)")


def tables(report: str) -> dict[str, str]:
    """The first table below each heading."""
    found = {}
    for section in report.split("\n## ")[1:]:
        if table := re.search(r"(?:^\|.*\n?)+", section, re.MULTILINE):
            found[section.splitlines()[0]] = table.group().rstrip("\n") + "\n"
    return found


def main(report: str, documents: list[str]) -> None:
    known = tables(Path(report).read_text())
    texts = {Path(document): Path(document).read_text() for document in documents}
    wanted = {title for text in texts.values() for title, _ in PLACE.findall(text)}
    if wrong := wanted - set(known):
        sys.exit(f"{report} has no table {sorted(wrong)}: it has {sorted(known)}")
    for path, text in texts.items():
        path.write_text(PLACE.sub(lambda m: f"<!-- peers.md: {m[1]} -->\n\n{known[m[1]]}", text))
        print(f"{path}: {len(PLACE.findall(text))} tables")


if __name__ == "__main__":
    if len(sys.argv) < 3:
        sys.exit(__doc__)
    main(sys.argv[1], sys.argv[2:])
