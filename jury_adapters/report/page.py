"""The report as one HTML file: a template escapes every value, and a content security policy restricts the page."""

from __future__ import annotations

import hashlib
from base64 import b64encode
from collections.abc import Callable, Iterable, Iterator, Sequence
from functools import partial
from importlib.resources import files
from tempfile import SpooledTemporaryFile
from typing import IO, TYPE_CHECKING
from uuid import uuid4

from jury_adapters import __version__
from jury_adapters.core.errors import ConfigurationError
from jury_adapters.core.formatting import counted, latency, money, percent, percent_span, two_decimals
from jury_adapters.core.installation import needs_extra
from jury_adapters.core.label_scores import headings
from jury_adapters.report.embedded import Embedding, shown

try:
    from jinja2 import Environment, StrictUndefined, Template
    from markupsafe import Markup

    from jury_adapters.report.plots import funnel, heat_map, histograms, rate_bar, reliability
except ModuleNotFoundError as error:
    if (error.name or "").startswith("jury_adapters"):
        raise
    raise ConfigurationError(needs_extra("the HTML report", str(error.name), "report")) from None

if TYPE_CHECKING:
    from jury_adapters.report.analysis import Analysis
    from jury_adapters.report.comparison import Comparison
    from jury_adapters.report.entries import Entry
    from jury_adapters.report.figures import Figures

_FLIPS_SHOWN = 15
_UNREAD_SHOWN = 20
_IN_MEMORY = 1 << 22  # characters of a spool before it becomes a file
_PIECE = 1 << 20
_LINE = "\n"


def page(
    entries: Iterable[Entry],
    figures: Figures,
    agreement: Callable[[], Analysis],
    *,
    title: str,
    unread: Sequence[str] = (),
    compared: Comparison | None = None,
) -> Iterator[str]:
    """Yield the whole page in pieces. The cases are read once, one by one, and spooled to temporary files.

    The policy in its head allows only the package's own script and style sheet, by their hashes: no other script, no
    event attribute, no image, no connection. Text that got past the escaping would therefore have no effect.

    Args:
        entries: the judged cases.
        figures: the numbers.
        agreement: returns the agreement of the jurors; called after the cases are read.
        title: the heading.
        unread: rows that could not be read; the first 20 are shown.
        compared: the comparison with an earlier run.
    """
    against = figures.summary.label_comparison
    embedding = Embedding({juror.path: juror.name for juror in figures.jurors}, compared, against)
    with _spool() as rows, _spool() as details:
        for position, entry in enumerate(entries):
            rows.write(f"{',' if position else ''}{embedding.row(entry)}")
            details.write(f"{_LINE if position else ''}{embedding.details(entry)}")
        mark = uuid4().hex  # no text of the page has it
        html = _without_cases(figures, agreement(), mark, title=title, unread=unread, compared=compared)
        before, between, after = html.split(mark)
        yield f"{before}["
        yield from _pieces(rows)
        yield f"]{between}"
        yield from _pieces(details)
        yield after


def _without_cases(
    figures: Figures,
    agreement: Analysis,
    mark: str,
    *,
    title: str,
    unread: Sequence[str],
    compared: Comparison | None,
) -> str:
    """Return the page with a mark for the rows and another for the details of the cases."""
    style, script = file_of_page("page.css"), file_of_page("page.js")
    against = figures.summary.label_comparison
    return page_template("page.html").render(
        title=title,
        version=__version__,
        policy=content_policy(style, script),
        style=trusted(style),
        script=trusted(script),
        rows=mark,
        details=mark,
        summary=figures.summary,
        interval=figures.summary.pass_interval,
        against=against,
        label_headings=headings(pass_fail=against.pass_fail),
        figures=figures,
        agreement=agreement,
        measured={
            title: found
            for title, found in agreement.sections.items()
            if any(estimate.value is not None for estimate in found)
        },
        unread=unread[:_UNREAD_SHOWN],
        compared=compared,
        flips_shown=_FLIPS_SHOWN,
        plots={
            "rate": rate_bar(figures), "funnel": funnel(figures), "heat": heat_map(figures),
            "scores": histograms(figures), "reliability": reliability(agreement),
        },
    )  # fmt: skip


def _spool() -> IO[str]:
    return SpooledTemporaryFile(_IN_MEMORY, "w+", encoding="ascii", newline="\n")  # safe_json writes only ASCII


def _pieces(spool: IO[str]) -> Iterator[str]:
    spool.seek(0)
    yield from iter(partial(spool.read, _PIECE), "")


def content_policy(style: str, script: str) -> str:
    """Return the content security policy of the page."""
    return (
        f"default-src 'none'; script-src '{_hash(script)}'; style-src '{_hash(style)}'; "
        "img-src data:; base-uri 'none'; form-action 'none'"
    )


def page_template(name: str) -> Template:
    """Return a template of the package, which escapes every value."""
    environment = Environment(autoescape=True, undefined=StrictUndefined, trim_blocks=True, lstrip_blocks=True)
    environment.filters |= {"percent": percent, "number": _number, "seconds": latency, "money": money}
    environment.filters |= {"text": shown, "counted": counted, "span": percent_span}
    return environment.from_string(file_of_page(name))


def file_of_page(name: str) -> str:
    """Return a file of the package with plain line ends, as an HTML parser reads them for the hash."""
    return (files(__package__) / name).read_text(encoding="utf-8").replace("\r\n", "\n")


def trusted(text: str) -> Markup:
    """Return a text of the package itself, which is not escaped."""
    return Markup(text)


def _hash(text: str) -> str:
    return "sha256-" + b64encode(hashlib.sha256(text.encode()).digest()).decode()


def _number(value: float | None) -> str:
    return f"{value:,}" if isinstance(value, int) else two_decimals(value)
