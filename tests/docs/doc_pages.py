"""The documentation as it is stored: its pages, and their code blocks in order."""

from __future__ import annotations

import re
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).parent.parent.parent
PAGES = sorted(
    [*ROOT.glob("*.md"), *(ROOT / "docs").rglob("*.md"), *(ROOT / "cookbook").glob("*.md")],
    key=lambda path: path.relative_to(ROOT).as_posix(),
)

_FENCE = re.compile(r"^(?P<indent> *)(?P<ticks>`{3,})(?P<info>[^`\n]*)$")
_TITLE = re.compile(r'title="([^"]+)"')


@dataclass(frozen=True)
class Block:
    """A fenced block of a page.

    Attributes:
        language: the first word behind the backticks; may be empty.
        title: the file it shows, as in ``title="jury.yaml"``; may be empty.
        code: what stands inside, without the indentation of the fence.
        line: the line of its first line of code, from 1.
        indent: the indentation of the fence.
    """

    language: str
    title: str
    code: str
    line: int
    indent: str = ""

    @property
    def first_line(self) -> str:
        """The name of a block in lists."""
        return self.code.partition("\n")[0]


def called(page: Path) -> str:
    """A page's path from the root of the repository."""
    return page.relative_to(ROOT).as_posix()


def blocks_of(text: str) -> list[Block]:
    """The fenced blocks of a page, from top to bottom."""
    found: list[Block] = []
    opened: re.Match[str] | None = None
    start, body = 0, list[str]()
    for number, line in enumerate(text.splitlines(), start=1):
        fence = _FENCE.match(line)
        if opened is None:
            if fence:
                opened, start, body = fence, number + 1, []
        elif fence and not fence["info"].strip() and len(fence["ticks"]) >= len(opened["ticks"]):
            found.append(_block(opened, body, start))
            opened = None
        else:
            body.append(line.removeprefix(opened["indent"]))
    if opened is not None:
        raise ValueError(f"the block that begins at line {start} has no end")
    return found


def _block(opened: re.Match[str], body: list[str], start: int) -> Block:
    info = opened["info"].strip()
    title = _TITLE.search(info)
    code = "".join(f"{line}\n" for line in body)
    return Block(info.partition(" ")[0], title[1] if title else "", code, start, opened["indent"])


def without_blocks(text: str) -> str:
    """A page's prose: every line of its blocks is empty, so that line numbers stay."""
    lines = text.splitlines()
    for block in blocks_of(text):
        for number in range(block.line - 2, block.line + block.code.count("\n")):
            lines[number] = ""
    return "\n".join(lines)
