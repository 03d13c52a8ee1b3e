"""Page of an audit: findings first, then the wrong answers that were noticed, false alarms, and flips."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

from jury_adapters import __version__
from jury_adapters.audit.figures import Flips, Share, screening_notes
from jury_adapters.audit.operators.registry import OPERATORS
from jury_adapters.audit.text_report import UNASKED, unasked_notes
from jury_adapters.report.page import content_policy, file_of_page, page_template, trusted

if TYPE_CHECKING:
    from jury_adapters.audit import Audit

MOST_MISSED = 200
"""Number of missed wrong answers that the page shows."""


def audit_page(audit: Audit, unmet: Sequence[str] = ()) -> str:
    """Return the whole page. Its policy allows only the style sheet of the package; there is no script.

    Args:
        audit: the audit.
        unmet: the limits that the jury does not meet; see ``Audit.unmet``.
    """
    style = file_of_page("page.css")
    return page_template("audit_page.html").render(
        audit=audit,
        unmet=unmet,
        screening=screening_notes(audit.subjects),
        left_out=UNASKED,
        unasked=unasked_notes(audit.subjects),
        version=__version__,
        policy=content_policy(style, ""),
        style=trusted(style),
        tables=(
            (
                "noticed", "Wrong answers that got FAIL",
                "The kill rate: the share of answers with an error by construction that got FAIL.",
                _rows([(one.kills, one.kill_rate) for one in audit.subjects]),
            ),
            (
                "alarms", "Right answers that got FAIL",
                "False alarms: the share of answers that got FAIL although only their form was changed.",
                _rows([(one.false_alarms, one.false_alarm_rate) for one in audit.subjects]),
            ),
        ),
        flips=_flip_rows(audit),
        missed=audit.missed[:MOST_MISSED],
    )  # fmt: skip


def _rows(shares: Sequence[tuple[Mapping[str, Share], Share]]) -> list[tuple[str, str, list[Share | None]]]:
    """Return a row for each operator, and one for all together: its name, its description and its shares."""
    described = {one.name: one.description for one in OPERATORS}
    names = dict.fromkeys(name for one, _ in shares for name in one)
    rows = [(name, described.get(name, ""), [one.get(name) for one, _ in shares]) for name in names]
    return [*rows, ("all", "", [total for _, total in shares])]


def _flip_rows(audit: Audit) -> list[tuple[str, list[Flips | None]]]:
    names = dict.fromkeys(name for one in audit.subjects for name in one.flips)
    rows: list[tuple[str, list[Flips | None]]] = [
        (name, [one.flips.get(name) for one in audit.subjects]) for name in names
    ]
    return [*rows, ("injection", [one.injections for one in audit.subjects])]
