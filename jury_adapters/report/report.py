"""Report, the figures and the most contested cases of a batch, in Python."""

from collections.abc import Iterable, Iterator
from dataclasses import asdict
from pathlib import Path
from typing import Any

from jury_adapters.core.judgment import Judgment, Status
from jury_adapters.core.results import Result
from jury_adapters.report.counting import name_of, reasons_of, word_of
from jury_adapters.report.render import Item, Rendering
from jury_adapters.report.summary import REASONS, Summary, rate_of, votes_of
from jury_adapters.stats.votes import Results, case_of, results_of

_MARKS = {True: "good", False: "bad", None: "open"}


class Report(Rendering):
    """Report of results: ``print`` shows it in the terminal, a notebook shows its tables, and it writes files.

    Args:
        results: the path of a results file, or results, judgments, or pairs of a case and its judgment, which are read
            once and not kept.
        title: the heading; by default the name of the file.
        pass_labels: the human labels that mean PASS; see :meth:`Votes.of`.

    Attributes:
        summary: the counts.

    Raises:
        InputError: there is no such file, a line of it is no result, or a human label cannot be read.

    >>> from jury_adapters import Ensemble
    >>> jury = Ensemble({"short": lambda case: len(case.answer) < 9, "polite": lambda case: "!" not in case.answer})
    >>> report = Report(jury.judge_pairs([{"answer": "Yes."}, {"answer": "No!"}]))
    >>> print(report.tables()[0].title)
    2 cases, 2 decided: 50.0 % pass (95 % interval 9.5 to 90.5)
    """

    def __init__(self, results: Results, *, title: str = "", pass_labels: Iterable[Any] = ()) -> None:
        paths = (Path(results),) if isinstance(results, str | Path) else ()
        self.summary = Summary(pass_labels=pass_labels)
        for result in results_of(results):
            self.summary.add(result)
        super().__init__(title or "".join(path.name for path in paths), self.summary.tables(), paths)

    def items(self) -> Iterator[Item]:
        """Yield the most contested cases."""
        return map(item_of, self.summary.contested)

    def to_dict(self) -> dict[str, Any]:
        """Return the figures as JSON values: counts, the pass rate with its interval, and all tables."""
        summary, rate = self.summary, rate_of(self.summary, votes_of(self.summary))
        return {
            "cases": summary.cases,
            "statuses": {status.value: summary.statuses[status] for status in Status},
            "failed_by_errors": summary.failed_by_errors,
            "pass_rate": None if rate is None else asdict(rate),
            "share_passed": summary.share_passed,
            "usage": {**summary.usage, "cost_complete": not summary.usage["unknown"]},
            **super().to_dict(),
        }


def item_of(result: Result) -> Item:
    """Return a result as a case of a page."""
    judgment, case = result.judgment, case_of(result)
    texts = [
        *((one.role, one.content) for one in case.messages),
        ("question", case.question),
        *(("step", "\n".join(filter(None, (one.text, one.tool, one.output, one.error)))) for one in case.steps),
        ("answer", case.answer),
        *((f"answer {number}", text) for number, text in enumerate(case.candidates, start=1)),
        *((f"context {number}", text) for number, text in enumerate(case.contexts, start=1)),
        ("reference", case.reference),
        *((f"image of the {one.part}", one.url or one.media_type) for one in case.images),
        ("error of the application", case.error),
    ]
    return Item(
        name=name_of(result),
        status=judgment.status.value,
        review=bool(reasons_of(judgment)),
        facts=(
            word_of(judgment),
            *(() if result.human_label is None else (f"human label {result.human_label}",)),
            *(REASONS[reason] for reason in reasons_of(judgment)),
        ),
        texts=tuple((name, text) for name, text in texts if text),
        said=tuple(_said(judgment)),
    )


def _said(one: Judgment, depth: int = 0) -> Iterator[tuple[Any, ...]]:
    """Yield what was said: the verdict, and the judgments inside it."""
    numbers = (f"{name} {value:.2f}" for name in ("score", "confidence") if (value := getattr(one, name)) is not None)
    who = ", ".join(filter(None, dict.fromkeys((one.tier and f"tier {one.tier}", one.critic, one.model, *numbers))))
    yield (
        depth,
        one.status.value,
        one.label or one.status.value,
        who,
        "\n".join(filter(None, (one.error, one.reasoning, one.why))),
        tuple((_MARKS[found.passed], found.name, found.detail, found.evidence) for found in one.findings),
    )
    for inside in one.judgments:
        yield from _said(inside, depth + 1)
