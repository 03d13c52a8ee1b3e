"""Results of small juries for the tests of reports, made by real juries."""

from collections.abc import Iterable, Iterator
from html.parser import HTMLParser
from typing import Any

from jury_adapters import Case, Ensemble, Judgment, Status, Usage
from jury_adapters.core.results import Result
from jury_adapters.testing import ScriptedJudge

WORDS = {"P": "PASS", "F": "FAIL", "A": "ABSTAIN", "E": "ERROR"}


def said(letter: str, **details: Any) -> Judgment:
    """Return the judgment that a letter stands for; another letter is a label."""
    if letter not in WORDS:
        return Judgment(status=Status.LABEL, label=letter, **details)
    text = {"A": {"reasoning": "cannot say"}, "E": {"error": "ModelError: down"}}.get(letter, {})
    return Judgment(status=WORDS[letter], **text, **details)


def panel(votes: str, names: Iterable[str] = "abc", **options: Any) -> Judgment:
    """Return the verdict of an ensemble whose jurors say so."""
    paid = Usage(calls=1, input_tokens=10, output_tokens=2, cost_usd=0.01)
    given = {name: said(letter, usage=paid) for name, letter in zip(names, votes, strict=False)}
    labels = sorted({*votes} - {*WORDS})
    jury = Ensemble({name: ScriptedJudge([one], labels=labels) for name, one in given.items()}, name="panel", **options)
    return jury.judge(question="?")


def results(
    rows: Iterable[tuple[str, str, Any]], *, groups: Iterable[str | None] = (), jury: str = "j", **options: Any
) -> Iterator[Result]:
    """Yield results of rows of an id, votes and a human label."""
    given = list(groups)
    for place, (name, votes, label) in enumerate(rows):
        case = Case(id=name, question=f"question {name}", answer=f"answer {name}")
        group = given[place] if given else None
        yield Result(
            jury=jury, case=case, judgment=panel(votes, **options).but(case_id=name), human_label=label, group=group
        )


def rows_of(report: Any, title: str) -> list[tuple[Any, ...]]:
    """Return the rows of the table with this title; none if there is no such table."""
    return next((list(one.rows) for one in report.tables() if one.title == title), [])


class Page(HTMLParser):
    """Reader of a page: its tags, its attributes, its texts by tag, and the rows of its tables."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.tags: list[str] = [""]
        self.attributes: dict[str, set[str]] = {}
        self.texts: dict[str, list[str]] = {}
        self.rows: list[list[str]] = []
        self.feed(text)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.append(tag)
        self.texts.setdefault(tag, []).append("")
        for name, value in attrs:
            self.attributes.setdefault(name, set()).add(value or "")
        if tag in ("tr", "td", "th"):
            self.rows += [[]] if tag == "tr" else []
            self.rows[-1] += [] if tag == "tr" else [""]

    def handle_endtag(self, tag: str) -> None:
        self.tags.append("")

    def handle_data(self, data: str) -> None:
        if self.tags[-1] in ("td", "th"):
            self.rows[-1][-1] += data.strip("\n")
        self.texts.setdefault(self.tags[-1], [""])[-1] += data
