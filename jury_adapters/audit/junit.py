"""JUnit XML of an audit, for CI servers: a test case for each limit and each subject."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from xml.sax.saxutils import quoteattr

from jury_adapters.audit.auditing import Audit
from jury_adapters.core.formatting import counted

_NOT_XML = re.compile("[^\t\n\r\u0020-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")


def junit_of(audit: Audit, unmet: Sequence[str] = ()) -> str:
    """Return the report as JUnit XML: a failure for each limit that is not met, and for each subject with findings.

    Args:
        audit: the audit.
        unmet: the limits that are not met; see :meth:`Audit.unmet`.
    """
    tests = list(_tests(audit, unmet))
    failures = sum(bool(message) for _, message in tests)
    counts = f'tests="{len(tests)}" failures="{failures}" errors="0"'
    suite = _attribute(f"audit of {audit.jury.name}")
    lines = ['<?xml version="1.0" encoding="utf-8"?>', f"<testsuites {counts}>", f"  <testsuite name={suite} {counts}>"]
    for name, message in tests:
        inner = f"<failure message={_attribute(message)}/>" if message else ""
        lines.append(f"    <testcase name={_attribute(name)} classname={suite}>{inner}</testcase>")
    return "\n".join([*lines, "  </testsuite>", "</testsuites>"]) + "\n"


def _tests(audit: Audit, unmet: Sequence[str]) -> Iterator[tuple[str, str]]:
    yield "limits", "; ".join(unmet)
    for figures in audit.subjects:
        found = [one.sentence for one in audit.findings if one.subject == figures.name]
        yield (
            f"{figures.name}: no weakness beyond chance",
            "; ".join(found) and f"{counted(len(found), 'finding')}: " + "; ".join(found),
        )


def _attribute(value: str) -> str:
    return quoteattr(_NOT_XML.sub("\ufffd", value))
