"""Checks that imports follow the table "Arrows" of ARCHITECTURE.md; run by `./test arrows`.

Rows are folders of crates/noregret/src, or crates. For a folder, every path `crate::…` outside of tests counts, and every
`super::` that leaves the row's folder; for a crate, its `[dependencies]`.
"""

import re
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
LIBRARY = ROOT / "crates/noregret/src"


def table() -> dict[str, list[str]]:
    """The rows: folder or crate, and what it may import."""
    text = (ROOT / "ARCHITECTURE.md").read_text()
    section = text.split("\n## Arrows\n")[1].split("\n## ")[0]
    rows = re.findall(r"^\| `([^`]+)` \|(.*)\|$", section, re.MULTILINE)
    return {name: re.findall(r"`([^`]+)`", allowed) for name, allowed in rows}


def module(path: Path) -> list[str]:
    """The module that a file is."""
    parts = list(path.relative_to(LIBRARY).with_suffix("").parts)
    return parts[:-1] if parts[-1] == "mod" else parts


def product_code(path: Path) -> str:
    """A file without its comments and its tests."""
    text = path.read_text()
    text = re.sub(r"//[^\n]*", "", text)
    text = re.sub(r"#\[cfg\(test\)\]\s*(pub(\(\w+\))? )?mod \w+;", "", text)
    return re.split(r"#\[cfg\((?:test|doctest)\)\]\s*mod \w+ \{", text)[0]


def is_test(path: Path) -> bool:
    """Whether a file is compiled for tests only: its parent says so."""
    for folder in [path, *path.parents]:
        if folder == LIBRARY:
            return False
        parent = folder.parent / "mod.rs" if folder.parent != LIBRARY else LIBRARY / "lib.rs"
        name = folder.stem
        declared = re.compile(rf"#\[cfg\(test\)\]\s*(pub(\(\w+\))? )?mod {name};")
        if parent.exists() and parent != folder and declared.search(parent.read_text()):
            return True
    return False


def braces(text: str) -> list[list[str]]:
    """The paths of a use tree, for instance `a::{b, c::{d, e}}`."""
    head, found, rest = re.match(r"((?:\w+(?:::)?)*)(\{?)(.*)", text.strip(), re.DOTALL).groups()
    path = [part for part in head.split("::") if part]
    if not found:
        return [path]
    depth, piece, pieces = 1, "", []
    for letter in rest:
        depth += {"{": 1, "}": -1}.get(letter, 0)
        if depth == 0:
            break
        if letter == "," and depth == 1:
            pieces.append(piece)
            piece = ""
        else:
            piece += letter
    pieces.append(piece)
    return [path + inner for piece in pieces if piece.strip() for inner in braces(piece)]


def imports(path: Path) -> list[list[str]]:
    """The modules of ours that a file names, from the root."""
    text, here = product_code(path), module(path)
    found = []
    for use in re.findall(r"\b(?:crate|super)::[\w:]+(?:\{[^;]*)?", text):
        for tree in braces(use.rstrip(": \n")):
            target, at = tree, []
            if target[0] == "super":
                at = here
                while target and target[0] == "super":
                    at, target = at[:-1], target[1:]
            else:
                target = target[1:]
            full = at + target
            if full:
                found.append(full)
    return found


def contract() -> set[str]:
    """The modules directly in `strategy/`."""
    return {path.stem for path in (LIBRARY / "strategy").glob("*.rs")} - {"mod"}


def row_of(name: str, rows: dict[str, list[str]]) -> str | None:
    """The longest row that a module fits."""
    return max((row for row in rows if name == row or name.startswith(row + "/")), key=len, default=None)


def allows(rows: dict[str, list[str]], row: str, target: list[str]) -> bool:
    name = "/".join(target)
    if row_of(name, rows) == row:
        return True
    for entry in rows[row]:
        if entry == "strategy/*":
            # Items of strategy/mod.rs are named in capitals.
            if target[0] == "strategy" and (len(target) == 1 or target[1] in contract() or not target[1].islower()):
                return True
        elif name == entry or name.startswith(entry + "/"):
            return True
    return False


def main() -> int:
    rows = table()
    problems = []
    files = [path for path in sorted(LIBRARY.rglob("*.rs")) if path != LIBRARY / "lib.rs" and not is_test(path)]
    for path in files:
        row = row_of("/".join(module(path)), rows)
        if row is None:
            problems.append(f"{path.relative_to(ROOT)}: no row of the table fits")
            continue
        for target in imports(path):
            if target[0] in rows and not allows(rows, row, target):
                problems.append(f"{path.relative_to(ROOT)}: `{row}` may not import `{'/'.join(target)}`")
    crates = sorted((ROOT / "crates").glob("*/Cargo.toml"))
    for manifest in crates:
        crate = manifest.parent.name
        if crate not in rows:
            problems.append(f"{crate}: no row of the table fits")
            continue
        section = re.search(r"^\[dependencies\]$(.*?)(?=^\[|\Z)", manifest.read_text(), re.MULTILINE | re.DOTALL)
        ours = re.findall(r"^(noregret[\w-]*)", section[1] if section else "", re.MULTILINE)
        problems += [f"{crate} may not depend on {name}" for name in ours if name not in rows[crate]]
    for problem in problems:
        print(problem, file=sys.stderr)
    print(f"{len(files)} files and {len(crates)} crates, {len(problems)} imports against the arrows")
    return 1 if problems else 0


if __name__ == "__main__":
    sys.exit(main())
