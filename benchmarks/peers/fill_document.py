"""Puts the tables of a `peers.md`, which `noregret bench peers --out` writes, into a document: fill_document.py PEERS.MD DOCUMENT.

The document says where: the table after a line `<!-- peers.md: Ranks -->` becomes the one below the heading "Ranks" of `peers.md`.
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


def main(report: str, document: str) -> None:
    known, path = tables(Path(report).read_text()), Path(document)
    text = path.read_text()
    if wrong := set(title for title, _ in PLACE.findall(text)) - set(known):
        sys.exit(f"{report} has no table {sorted(wrong)}: it has {sorted(known)}")
    path.write_text(PLACE.sub(lambda m: f"<!-- peers.md: {m[1]} -->\n\n{known[m[1]]}", text))
    print(f"{document}: {len(PLACE.findall(text))} tables")


if __name__ == "__main__":
    if len(sys.argv) != 3:
        sys.exit(__doc__)
    main(sys.argv[1], sys.argv[2])
