"""Puts the tables of the papers' experiments into documents, or checks that they are there: fill_documents.py [--check] NOREGRET DOCUMENT...

NOREGRET is the binary. A document says by a comment which command's output belongs into the block of text below it:

    <!-- output: noregret bench ts-rsr --setting code --records benchmarks/papers/records; parts: Simple regret, Verdict -->

With `parts` only the paragraphs of the output are taken whose first line begins with one of these words; a paragraph ends at an empty
line. Without a block below it, the comment's place is filled up to `<!-- end -->` with the output as it is (Markdown).
"""

from __future__ import annotations

import re
import shlex
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent.parent
BLOCK = re.compile(r"(<!-- output: ([^\n]*?) -->\n\n?)(?:(```text\n)(.*?)(\n```)|(.*?)(<!-- end -->))", re.DOTALL)


def output(binary: str, command: str) -> str:
    words = shlex.split(command)
    assert words[0] == "noregret", command
    ended = subprocess.run([binary, *words[1:]], cwd=ROOT, capture_output=True, text=True)
    if ended.returncode != 0:
        sys.exit(f"{command}: exit code {ended.returncode}\n{ended.stderr}")
    return ended.stdout.strip("\n")


def chosen(text: str, parts: list[str]) -> str:
    if not parts:
        return text
    paragraphs = re.split(r"\n{2,}", text)
    found = [each for each in paragraphs if any(each.startswith(part) for part in parts)]
    missing = [part for part in parts if not any(each.startswith(part) for each in found)]
    if missing:
        sys.exit(f"no paragraph begins with {missing}; there are {[each.splitlines()[0] for each in paragraphs]}")
    return "\n\n".join(found)


def filled(binary: str, document: str) -> str:
    def replacement(match: re.Match[str]) -> str:
        head, said, fence, _, end, _, last = match.groups()
        command, _, parts = said.partition("; parts: ")
        text = chosen(output(binary, command), [part.strip() for part in parts.split(",") if part.strip()])
        text = "\n".join(line.rstrip() for line in text.splitlines())
        return f"{head}{fence}{text}{end}" if fence else f"{head.rstrip()}\n{text}\n{last}"

    return BLOCK.sub(replacement, document)


def main(arguments: list[str]) -> None:
    check = "--check" in arguments
    binary, *documents = [each for each in arguments if each != "--check"]
    binary = str(Path(binary).resolve())
    stale = []
    for name in documents:
        path = Path(name)
        old = path.read_text()
        new = filled(binary, old)
        if new != old:
            stale.append(name)
            if not check:
                path.write_text(new)
    print(f"{len(documents)} documents, {len(stale)} {'out of date: ' + ', '.join(stale) if check else 'changed'}")
    if check and stale:
        sys.exit(1)


if __name__ == "__main__":
    main(sys.argv[1:])
