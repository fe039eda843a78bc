"""Checks what the Markdown files say of the repository; run by `./test documents`.

1. Links to files lead to files, and links to headings to headings.
2. Paths in backquotes that begin with a folder of the repository exist (`crates/*/src` may use `*`).
3. Every code block names its language: without one it would be taken for Rust by the documentation tests.
4. In `bash` blocks, `./...` scripts, cargo examples and the subcommands of `noregret` exist.

Rust blocks are none of its business: `cargo test` compiles and runs them.
"""

import json
import re
import shlex
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
LANGUAGES = {"bash", "json", "python", "rust", "rust,no_run", "text", "toml"}
FOLDERS = ("benchmarks/", "crates/", "docs/", "examples/", "python/", "scripts/", ".ci/")
problems: list[str] = []


def complain(place: str, what: str) -> None:
    problems.append(f"{place}: {what}")


def documents() -> list[Path]:
    listed = subprocess.run(
        ["git", "ls-files", "--cached", "--others", "--exclude-standard", "*.md"],
        cwd=ROOT, check=True, capture_output=True, text=True,
    )
    return [ROOT / name for name in listed.stdout.splitlines()]


def split(text: str, place: str) -> tuple[list[tuple[int, str]], list[tuple[int, str, list[str]]]]:
    """Lines of prose with their numbers, and blocks as (number of the first line, language, lines)."""
    prose, blocks, block = [], [], None
    for number, line in enumerate(text.splitlines(), 1):
        fence = re.match(r"\s*```(.*)$", line)
        if fence and block is None:
            block = (number + 1, fence.group(1).strip(), [])
            if block[1] not in LANGUAGES:
                complain(f"{place}:{number}", f"code block of language {block[1]!r}, not one of {sorted(LANGUAGES)}")
        elif fence:
            blocks.append(block)
            block = None
        elif block is not None:
            block[2].append(line)
        else:
            prose.append((number, line))
    if block is not None:
        complain(f"{place}:{block[0]}", "code block that never ends")
    return prose, blocks


def anchors(path: Path) -> set[str]:
    """The anchors that GitHub makes of headings."""
    prose, _ = split(path.read_text(), str(path))
    found = set()
    for _, line in prose:
        if heading := re.match(r"#+\s+(.*)", line):
            words = re.sub(r"[^\w\- ]", "", heading.group(1).strip().lower())
            found.add(words.replace(" ", "-"))
    return found


def check_prose(path: Path, prose: list[tuple[int, str]]) -> None:
    for number, line in prose:
        place = f"{path.relative_to(ROOT)}:{number}"
        for target in re.findall(r"\]\(([^)\s]+)\)", line):
            if re.match(r"https?://|mailto:", target):
                continue
            name, _, anchor = target.partition("#")
            file = path.parent / name if name else path
            if not file.exists():
                complain(place, f"link to {target}, which does not exist")
            elif anchor and anchor not in anchors(file):
                complain(place, f"link to {target}, but {file.name} has no such heading")
        for code in re.findall(r"`([^`]+)`", line):
            if code.startswith(FOLDERS) and re.fullmatch(r"[\w./*-]+", code) and not list(ROOT.glob(code)):
                complain(place, f"path `{code}`, which does not exist")


def check_command(place: str, line: str, binary: Path) -> None:
    words = shlex.split(line, comments=True)
    if not words:
        return
    if words[0].startswith("./") and not (ROOT / words[0]).is_file():
        complain(place, f"{words[0]} does not exist")
    if "--example" in words:
        name = words[words.index("--example") + 1]
        if not list(ROOT.glob(f"crates/*/examples/{name}.rs")):
            complain(place, f"there is no example {name}")
    if words[:2] == ["cargo", "run"] and "--" in words and "--example" not in words:
        words = ["noregret", *words[words.index("--") + 1 :]]
    if words[0] == "noregret":
        subcommands = []
        for word in words[1:]:
            if word.startswith("-") or not re.fullmatch(r"[a-z-]+", word):
                break
            subcommands.append(word)
        # `noregret run study.toml`: what follows the command may be arguments.
        for word in words[1 + len(subcommands) :]:
            if word.startswith("examples/") and not (ROOT / word).exists():
                complain(place, f"{word} does not exist")
        if subprocess.run([binary, *subcommands[:2], "--help"], capture_output=True).returncode != 0:
            complain(place, f"`noregret {' '.join(subcommands)} --help` fails")


def main() -> int:
    metadata = subprocess.run(
        ["cargo", "metadata", "--format-version", "1", "--no-deps"],
        cwd=ROOT, check=True, capture_output=True, text=True,
    )
    binary = Path(json.loads(metadata.stdout)["target_directory"]) / "debug" / "noregret"
    files = documents()
    for path in files:
        name = str(path.relative_to(ROOT))
        prose, blocks = split(path.read_text(), name)
        check_prose(path, prose)
        for first, language, lines in blocks:
            if language == "bash":
                for offset, line in enumerate(lines):
                    check_command(f"{name}:{first + offset}", line, binary)
    for problem in problems:
        print(problem, file=sys.stderr)
    print(f"{len(files)} documents checked, {len(problems)} problems")
    return 1 if problems else 0


if __name__ == "__main__":
    sys.exit(main())
