"""JUnit XML of an audit: a test case for the limits, for each subject, and for each operator without a place."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from jury_adapters.audit.auditing import Audit
from jury_adapters.core.formatting import counted
from jury_adapters.core.xml_text import xml_attribute


def junit_of(audit: Audit, unmet: Sequence[str] = ()) -> str:
    """Return the report as JUnit XML: a failure for each limit that is not met, and for each subject with findings.

    An operator that could change no answer of the cases is a skipped test case.

    Args:
        audit: the audit.
        unmet: the limits that are not met; see :meth:`Audit.unmet`.
    """
    tests = list(_tests(audit, unmet))
    skipped = [*audit.unplaced.errors, *audit.unplaced.forms]
    failures = sum(bool(message) for _, message in tests)
    counts = f'tests="{len(tests) + len(skipped)}" failures="{failures}" errors="0" skipped="{len(skipped)}"'
    suite = xml_attribute(f"audit of {audit.jury.name}")
    lines = ['<?xml version="1.0" encoding="utf-8"?>', f"<testsuites {counts}>", f"  <testsuite name={suite} {counts}>"]
    for name, message in tests:
        inner = f"<failure message={xml_attribute(message)}/>" if message else ""
        lines.append(f"    <testcase name={xml_attribute(name)} classname={suite}>{inner}</testcase>")
    for name in skipped:
        inner = f"<skipped message={xml_attribute(_NO_PLACE)}/>"
        lines.append(f"    <testcase name={xml_attribute(name)} classname={suite}>{inner}</testcase>")
    return "\n".join([*lines, "  </testsuite>", "</testsuites>"]) + "\n"


def _tests(audit: Audit, unmet: Sequence[str]) -> Iterator[tuple[str, str]]:
    yield "limits", "; ".join(unmet)
    for figures in audit.subjects:
        found = [one.sentence for one in audit.findings if one.subject == figures.name]
        yield (
            f"{figures.name}: no weakness beyond chance",
            "; ".join(found) and f"{counted(len(found), 'finding')}: " + "; ".join(found),
        )


_NO_PLACE = "no answer of the cases could be changed in this way, so nothing is known of it"
