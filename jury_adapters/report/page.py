"""The report as one HTML file: a template escapes every value, and a content security policy restricts the page."""

from __future__ import annotations

import hashlib
from base64 import b64encode
from collections.abc import Iterator, Sequence
from importlib.resources import files
from typing import TYPE_CHECKING
from uuid import uuid4

from jury_adapters import __version__
from jury_adapters.core.errors import ConfigurationError
from jury_adapters.core.formatting import counted, latency, money, percent, percent_span, two_decimals
from jury_adapters.core.installation import needs_extra
from jury_adapters.core.label_scores import headings
from jury_adapters.core.usage import Usage
from jury_adapters.report.embedded import shown
from jury_adapters.report.human_rate import corrected_rate, human_rate
from jury_adapters.report.model_calls import uncounted_votes
from jury_adapters.report.stopped_runs import describe_missing, missing_cases

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
    from jury_adapters.report.figures import Figures
    from jury_adapters.report.spooled_cases import SpooledCases

_FLIPS_SHOWN = 15
_UNREAD_SHOWN = 20


def page(
    cases: SpooledCases,
    figures: Figures,
    agreement: Analysis,
    *,
    title: str,
    unread: Sequence[str] = (),
    compared: Comparison | None = None,
) -> Iterator[str]:
    """Yield the whole page in pieces.

    The policy in its head allows only the package's own script and style sheet, by their hashes: no other script, no
    event attribute, no image, no connection. Text that got past the escaping would therefore have no effect.

    Args:
        cases: all cases of the run.
        figures: the numbers.
        agreement: the agreement of the jurors.
        title: the heading.
        unread: rows that could not be read; the first 20 are shown.
        compared: the comparison with an earlier run.
    """
    names = {juror.path: juror.name for juror in figures.jurors}
    reading = figures.summary.label_comparison.reading()
    mark = uuid4().hex  # no text of the page has it
    html = _without_cases(figures, agreement, mark, title=title, unread=unread, compared=compared)
    before, between, after = html.split(mark)
    yield before
    yield from cases.rows(names, reading)
    yield between
    yield from cases.details(names, reading)
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
    summary = figures.summary
    missing = missing_cases(summary.cases, summary.planned, summary.decision)
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
        uncounted=uncounted_votes(figures.summary),
        against=against,
        human_rate=human_rate(against),
        corrected=corrected_rate(agreement),
        label_headings=headings(pass_fail=against.pass_fail),
        figures=figures,
        agreement=agreement,
        measured={
            title: found
            for title, found in agreement.sections.items()
            if any(estimate.value is not None for estimate in found)
        },
        unread=unread[:_UNREAD_SHOWN],
        incomplete=describe_missing(summary.cases, missing),
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
    environment.filters |= {"percent": percent, "number": _number, "seconds": latency, "cost": _cost}
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


def _cost(usage: Usage) -> str:
    """Return the known cost; ``unknown`` if nothing is known of it."""
    return money(usage.cost_usd) if usage.cost_usd or usage.cost_complete else "unknown"


def _number(value: float | None) -> str:
    return f"{value:,}" if isinstance(value, int) else two_decimals(value)
