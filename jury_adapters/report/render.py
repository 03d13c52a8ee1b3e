"""Rendering of tables and cases: terminal, Markdown, page, notebook. It knows nothing of juries.

Cells, titles and notes are raw text, of which models and users may have written any part. Each form has one place where
text becomes harmless: the console, :func:`inert` for Markdown, and the environment of the page.
"""

import hashlib
import json
import re
from base64 import b64encode
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal, NamedTuple

from jinja2 import Environment, StrictUndefined
from rich import box, console, segment, table, text

from jury_adapters.core.files import replacement
from jury_adapters.core.text import visible
from jury_adapters.core.values import ConfigurationError

Cell = str | int | float | None
LONGEST_CELL, LONGEST_NOTE, LONGEST_TEXT = 300, 2_000, 20_000


@dataclass(frozen=True, slots=True)
class Table:
    """Table of figures.

    Attributes:
        title: the heading.
        columns: the names of the columns. One that begins with ``#`` has numbers; the sign is not shown.
        rows: the rows. Numbers are formatted by the renderers: ``1,234`` and ``0.750``. None is an empty cell.
        note: a remark below.
        picture: how the page draws it: ``bars`` of counts, one bar per row, or a ``heat`` map of shares.
        drawn: the names of the columns that are drawn: the first ones beside the head of the row.
    """

    title: str
    columns: tuple[str, ...]
    rows: tuple[tuple[Cell, ...], ...]
    note: str = ""
    picture: Literal["", "bars", "heat"] = ""
    drawn: tuple[str, ...] = ()


class Item(NamedTuple):
    """Case of a page.

    Attributes:
        name: its name.
        status: the status, by which cases are filtered and coloured.
        review: whether it needs review.
        facts: short facts beside the name, the status or the label first.
        texts: headings and texts.
        said: what was said about it: the depth, the status, a word, who says it, the text, and the points that it
            rests on, which are a mark, a name, a detail and a quotation each.
    """

    name: str
    status: str
    review: bool
    facts: tuple[str, ...]
    texts: tuple[tuple[str, str], ...]
    said: tuple[tuple[int, str, str, str, str, tuple[tuple[str, ...], ...]], ...]


def text_of(cell: Cell) -> str:
    """Return a cell as raw text."""
    if cell is None:
        return ""
    return f"{cell:,}" if isinstance(cell, int) else f"{cell:.3f}" if isinstance(cell, float) else cell


# The terminal.


class Console(console.Console):
    """Console whose texts cannot steer the terminal; without markup, emoji and highlighting.

    Args:
        **options: those of :class:`rich.console.Console`.
    """

    def __init__(self, **options: Any) -> None:
        super().__init__(markup=False, emoji=False, highlight=False, **options)

    def render(
        self, renderable: console.RenderableType, options: console.ConsoleOptions | None = None
    ) -> Iterable[segment.Segment]:
        """Render as rich does, with control and bidirectional characters made visible; rich's own codes are kept."""
        for one in super().render(renderable, options):
            yield one if one.control or one.text.isprintable() else segment.Segment(shown(one.text), one.style)


def print_tables(tables: Iterable[Table], to: Console | None = None) -> None:
    """Print tables in the terminal.

    Args:
        tables: the tables.
        to: the console; that of standard output by default.
    """
    to = to or Console()
    for one in tables:
        grid = table.Table(box=box.SIMPLE_HEAD, show_edge=False, pad_edge=False)
        for name in one.columns:
            side: Literal["left", "right"] = "right" if name.startswith("#") else "left"
            grid.add_column(text.Text(visible(name.removeprefix("#"))), justify=side, overflow="fold")
        for row in one.rows:
            grid.add_row(*(text.Text(visible(text_of(cell), LONGEST_CELL)) for cell in row))
        to.print(text.Text(visible(one.title, LONGEST_CELL), "bold"), *([grid] if one.rows else []), sep="\n")
        to.print(text.Text(visible(one.note, LONGEST_NOTE) + "\n" * bool(one.note), "dim"))


# Markdown.

# Sentences and numbers of our own. Domains, mentions, references to issues, formulas and markup do not match.
_PLAIN = re.compile(r"(?:[A-Za-z0-9 %()']|[.,;:](?=[ \d]|$)|(?<= )/(?= )|(?<![Gg][Hh])-(?!-)|\[-?[\d.]+, -?[\d.]+\])*")


def inert(text: str, longest: int = LONGEST_CELL) -> str:
    """Return text for Markdown: as it is if it is a plain sentence, else as code, in which nothing is a link or markup.

    >>> inert("7 of 10 cases"), inert("see @team | `x` www.example.org")
    ('7 of 10 cases', "`see @team ¦ 'x' www.example.org`")
    """
    line = visible(text, longest).strip()
    return line if _PLAIN.fullmatch(line) else f"`{line.replace('`', chr(39)).replace('|', '¦')}`"


# The page.


def shown(text: str) -> str:
    """Return text with its line breaks, in which hidden, control and bidirectional characters are visible."""
    lines = text.replace("\r\n", "\n").replace("\t", "    ").split("\n")
    return "\n".join(one if one.isprintable() else visible(one, len(one)) for one in lines)


def _finished(value: Any) -> Any:
    """Return a value of the template as harmless text; the template escapes it."""
    safe = not isinstance(value, str) or hasattr(value, "__html__")  # what a macro has made of such values
    more = 0 if safe else len(value) - LONGEST_TEXT
    return value if safe else shown(value[:LONGEST_TEXT]) + f"… ({more:,} more characters)" * (more > 0)


def to_html(title: str, tables: Iterable[Table], items: Iterable[Item] = (), *, whole: bool = True) -> Iterator[str]:
    """Return a page in pieces: one file without anything from elsewhere.

    Its policy allows the style and the script of the package by their hashes, and nothing else.

    Args:
        title: the heading.
        tables: the tables; the first is the headline.
        items: the cases, which are read once.
        whole: a page; else the tables alone, for a notebook.
    """
    source = Path(__file__).with_name("page.html").read_text(encoding="utf-8").replace("\r\n", "\n")
    parts = (source.split(f"<{tag}>")[1].split(f"</{tag}>")[0].encode() for tag in ("style", "script"))
    style, script = (f"'sha256-{b64encode(hashlib.sha256(part).digest()).decode()}'" for part in parts)
    policy = f"default-src 'none'; style-src {style}; script-src {script}; base-uri 'none'; form-action 'none'"
    environment = Environment(
        autoescape=True, undefined=StrictUndefined, finalize=_finished, trim_blocks=True, lstrip_blocks=True
    )
    environment.filters |= {"cell": text_of, "picture": picture}
    return environment.from_string(source).generate(
        title=title, tables=tuple(tables), items=iter(items), whole=whole, policy=policy
    )


def picture(table: Table) -> Iterator[tuple[str, list[tuple[float, float, str, str]]]]:
    """Yield the picture of each row, in a width of 100: the start, the width, the colour and the caption of its marks.

    Counts are bars one after the other, as shares of the longest row; shares are squares of one size.
    """
    heat, places = table.picture == "heat", range(1, len(table.drawn) + 1)
    rows = [[cell if isinstance(cell, int | float) else 0 for cell in row] for row in table.rows]
    longest = len(places) if heat else max((sum(row[place] for place in places) for row in rows), default=0)
    for cells, row in zip(table.rows, rows, strict=True):
        start, marks = 0.0, list[tuple[float, float, str, str]]()
        for place, name in zip(places, table.drawn, strict=True):
            width = 100 * (1 if heat else row[place]) / (longest or 1)
            own = name in ("PASS", "FAIL", "ABSTAIN", "ERROR")
            colour = f"h{round(10 * row[place])}" if heat else name if own else f"c{(place - 1) % 6}"
            marks += [(round(start, 2), round(width, 2), colour, f"{name}: {text_of(cells[place])}")] * bool(row[place])
            start += width
        yield text_of(cells[0]), marks


# Files.


@dataclass(repr=False)
class Rendering:
    """Base of what is shown in every form: tables, and the cases of a page.

    Attributes:
        title: the heading.
        found: the tables that every form shows.
        inputs: the files that it was read from, which it does not replace.
    """

    title: str
    found: tuple[Table, ...]
    inputs: tuple[Path, ...]

    def tables(self) -> tuple[Table, ...]:
        """Return the tables that every form shows."""
        return self.found

    def items(self) -> Iterable[Item]:
        """Return the cases of the page."""
        return ()

    def to_dict(self) -> dict[str, Any]:
        """Return title and tables as JSON values."""
        tables = [
            {"title": one.title, "columns": [*one.columns], "rows": [[*row] for row in one.rows], "note": one.note}
            for one in self.tables()
        ]
        return {"title": self.title, "tables": tables}

    def to_json(self) -> str:
        """Return :meth:`to_dict` as JSON."""
        return json.dumps(self.to_dict(), indent=2, allow_nan=False)

    def to_markdown(self) -> str:
        """Return the tables as Markdown, such as for a pull request."""
        lines = [f"## {inert(self.title)}", ""] if self.title else []
        for one in self.tables():
            names = [inert(name.removeprefix("#")) for name in one.columns]
            marks = ["---:" if name.startswith("#") else "---" for name in one.columns]
            cells = [[inert(text_of(cell)) for cell in row] for row in one.rows]
            grid = [*(f"| {' | '.join(row)} |" for row in (names, marks, *cells)), ""] if cells else []
            lines += [f"### {inert(one.title)}", "", *grid]
            lines += [inert(one.note, LONGEST_NOTE), ""] if one.note else []
        return "\n".join(lines)

    def to_html(self) -> str:
        """Return the page: one file, which also works without its script."""
        return "".join(to_html(self.title, self.tables(), self.items()))

    def _repr_html_(self) -> str:
        return "".join(to_html(self.title, self.tables(), whole=False))

    def __str__(self) -> str:
        plain = Console(width=120, color_system=None, force_jupyter=False, force_terminal=False)
        with plain.capture() as found:
            self.print(plain)
        return "\n".join(line.rstrip() for line in found.get().splitlines()).strip()

    def print(self, console: Console | None = None) -> None:
        """Print the tables in the terminal.

        Args:
            console: where; standard output by default.
        """
        print_tables(self.tables(), console)

    def write(self, path: str | Path) -> Path:
        """Write a file as a whole, and return its path.

        Args:
            path: it ends in ``.html``, ``.md`` or ``.json``. The file is complete or not there.

        Raises:
            ConfigurationError: it ends otherwise, cannot be written, or is an input.
        """
        forms: dict[str, Callable[[], Iterable[str]]] = {
            ".html": lambda: to_html(self.title, self.tables(), self.items()),
            ".md": lambda: [self.to_markdown()],
            ".json": lambda: [self.to_json()],
        }
        path = Path(path)
        form = forms.get(path.suffix.lower())
        if form is None:
            raise ConfigurationError(f"a report is written to a file that ends in {', '.join(forms)}; not {path}")
        if any(one.exists() and path.exists() and path.samefile(one) for one in self.inputs):
            raise ConfigurationError(f"{path} is an input, which a report does not replace; choose another file")
        try:
            with replacement(path.resolve()) as new:  # the file that a link names
                new.writelines(piece.encode() for piece in form())
        except OSError as error:
            raise ConfigurationError(f"{path} cannot be written: {error.strerror}") from None
        return path
