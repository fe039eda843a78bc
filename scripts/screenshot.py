"""Makes a picture of noregret at work: runs commands in a terminal of its own and draws what stood there as SVG.

    python3 scripts/screenshot.py docs/images/run.svg --pause 2.0 -- target/release/noregret run examples/python-training/study.toml

draws the terminal two seconds after the start, and again at the end. Needs nothing but the standard library.
"""

import argparse
import fcntl
import html
import os
import pty
import re
import select
import struct
import sys
import termios
import time

COLUMNS, ROWS = 134, 40
COLORS = {32: "#3fb950", 33: "#d29922", 36: "#39c5cf", 31: "#f85149", 2: "#6e7681"}
ESCAPE = re.compile(r"\x1b\[([0-9;?]*)([A-Za-z])")


class Screen:
    """The few things that progress bars do: move up, return, clear, color."""

    def __init__(self):
        self.lines, self.x, self.y, self.style, self.rest = [[]], 0, 0, None, ""

    def feed(self, text):
        text, i = self.rest + text, 0
        self.rest = ""
        while i < len(text):
            c = text[i]
            if c == "\x1b":
                match = ESCAPE.match(text, i)
                if not match:
                    self.rest = text[i:]
                    return
                self.escape(match.group(1), match.group(2))
                i = match.end()
                continue
            if c == "\r":
                self.x = 0
            elif c == "\n":
                self.y += 1
                while len(self.lines) <= self.y:
                    self.lines.append([])
            else:
                line = self.lines[self.y]
                line.extend([(" ", None)] * (self.x + 1 - len(line)))
                line[self.x] = (c, self.style)
                self.x += 1
            i += 1

    def escape(self, arguments, kind):
        n = int(arguments) if arguments.isdigit() else 1
        if kind == "K":
            keep = 0 if arguments == "2" else self.x
            self.lines[self.y] = self.lines[self.y][:keep]
        elif kind == "J":
            self.lines[self.y] = self.lines[self.y][: self.x]
            del self.lines[self.y + 1 :]
        elif kind == "A":
            self.y = max(0, self.y - n)
        elif kind == "G":
            self.x = n - 1
        elif kind == "m":
            codes = [int(code) for code in arguments.split(";") if code] or [0]
            self.style = next((COLORS[code] for code in codes if code in COLORS), None)

    def copy(self):
        lines = [list(line) for line in self.lines]
        while lines and not lines[-1]:
            lines.pop()
        return lines


def play(command, pause):
    """What stood on the terminal after `pause` seconds, and in the end."""
    child, terminal = pty.fork()
    if child == 0:
        os.environ["TERM"] = "xterm-256color"
        os.execvp(command[0], command)
    fcntl.ioctl(terminal, termios.TIOCSWINSZ, struct.pack("HHHH", ROWS, COLUMNS, 0, 0))
    screen, begin, middle = Screen(), time.monotonic(), None
    while True:
        if middle is None and time.monotonic() - begin > pause:
            middle = screen.copy()
        if not select.select([terminal], [], [], 0.05)[0]:
            continue
        try:
            data = os.read(terminal, 65536)
        except OSError:
            break
        if not data:
            break
        screen.feed(data.decode("utf-8", "replace"))
    os.waitpid(child, 0)
    return middle, screen.copy()


def draw(blocks):
    lines = []
    for block in blocks:
        lines += block + [[]]
    lines.pop()
    width, height = 8.4, 19
    out = [
        f'<svg xmlns="http://www.w3.org/2000/svg" xml:space="preserve" viewBox="0 0 {COLUMNS * width + 32:.0f} {len(lines) * height + 32}" '
        'font-family="ui-monospace, SFMono-Regular, Menlo, DejaVu Sans Mono, monospace" font-size="14">',
        '<rect width="100%" height="100%" rx="8" fill="#0d1117"/>',
    ]
    for row, line in enumerate(lines):
        spans, x = [], 0
        while x < len(line):
            end = x
            while end < len(line) and line[end][1] == line[x][1]:
                end += 1
            text = html.escape("".join(c for c, _ in line[x:end])).replace(" ", "\u00a0")
            spans.append(f'<tspan x="{16 + x * width:.1f}" fill="{line[x][1] or "#e6edf3"}">{text}</tspan>')
            x = end
        if spans:
            out.append(f'<text y="{30 + row * height}">{"".join(spans)}</text>')
    return "\n".join(out + ["</svg>\n"])


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("picture")
    parser.add_argument("--pause", type=float, default=1.0)
    parser.add_argument("--name", default="noregret", help="what the program is called in the picture")
    parser.add_argument("command", nargs="+")
    args = parser.parse_args()
    middle, end = play(args.command, args.pause)
    prompt = [(c, "#3fb950" if c == "$" else None) for c in "$ " + " ".join([args.name] + args.command[1:])]
    blocks = [[prompt] + middle] if middle else []
    last = next((i for i, line in enumerate(end) if "".join(c for c, _ in line).startswith("best observed")), 0)
    blocks.append(end[last:] if middle else [prompt] + end)
    os.makedirs(os.path.dirname(args.picture) or ".", exist_ok=True)
    with open(args.picture, "w", encoding="utf-8") as picture:
        picture.write(draw(blocks))
    print(f"{args.picture} written", file=sys.stderr)


main()
