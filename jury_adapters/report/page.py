"""The report as one HTML file: a template escapes every value, and a content security policy restricts the page."""

from __future__ import annotations

import hashlib
from base64 import b64encode
from collections.abc import Sequence
from importlib.resources import files
from typing import TYPE_CHECKING

from jury_adapters import __version__
from jury_adapters.core.errors import ConfigurationError
from jury_adapters.core.formatting import counted, latency, money, percent, percent_span, two_decimals
from jury_adapters.core.installation import needs_extra
from jury_adapters.core.label_scores import headings
from jury_adapters.report.embedded import embedded, shown

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


def page(
    entries: Sequence[Entry],
    figures: Figures,
    agreement: Analysis,
    *,
    title: str,
    unread: Sequence[str] = (),
    compared: Comparison | None = None,
) -> str:
    """Return the whole page.

    The policy in its head allows only the package's own script and style sheet, by their hashes: no other script, no
    event attribute, no image, no connection. Text that got past the escaping would therefore have no effect.

    Args:
        entries: the judged cases.
        figures: the numbers.
        agreement: the agreement of the jurors.
        title: the heading.
        unread: rows that could not be read; the first 20 are shown.
        compared: the comparison with an earlier run.
    """
    style, script = file_of_page("page.css"), file_of_page("page.js")
    against = figures.summary.label_comparison
    rows, details = embedded(entries, compared, against)
    return page_template("page.html").render(
        title=title,
        version=__version__,
        policy=content_policy(style, script),
        style=trusted(style),
        script=trusted(script),
        rows=Markup(rows),  # safe_json: none of its characters can end the element
        details=Markup(details),  # likewise
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
