"""What people said of cases, and whether a judgment agrees with it."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping
from dataclasses import dataclass

from jury_adapters.core.case import Case
from jury_adapters.core.errors import ConfigurationError
from jury_adapters.core.judge import CaseLike
from jury_adapters.core.judgment import Judgment, Status
from jury_adapters.core.verdict import Verdict

_STATUSES = {"PASS": Status.PASS, "FAIL": Status.FAIL}


def gold_of(labelled: Iterable[CaseLike | tuple[CaseLike, str | bool]]) -> tuple[list[Case], list[str]]:
    """The labelled cases, and what people said of each; cases without a label are left out.

    Args:
        labelled: cases with ``metadata["gold"]``, rows with a column ``gold``, or pairs ``(case, gold)``. True and
            False are PASS and FAIL.
    """
    cases: list[Case] = []
    truths: list[str] = []
    for entry in labelled:
        given, gold = entry if isinstance(entry, tuple) else (entry, None)
        case = Case.from_row(given) if isinstance(given, Mapping) else Case.of(given, {})
        said: object = case.metadata.get("gold") if gold is None else gold
        if said is None:
            continue
        cases.append(case)
        truths.append(("PASS" if said else "FAIL") if isinstance(said, bool) else str(said))
    return cases, truths


@dataclass(frozen=True, slots=True)
class Truths:
    """Which labels mean PASS and which FAIL.

    Attributes:
        meaning: by label; labels that are not in it have no such meaning.
        only: whether labels outside ``meaning`` mean FAIL, because somebody listed those that mean PASS.
    """

    meaning: Mapping[str, Status]
    only: bool

    @classmethod
    def of(cls, judgments: Iterable[Judgment], pass_labels: Collection[str]) -> Truths:
        """Learn it from the list of PASS labels, or from jurors whose judgments have both a label and a status."""
        if isinstance(pass_labels, str):
            raise ConfigurationError(f"pass_labels is a list of labels: [{pass_labels!r}]")
        if pass_labels:
            return cls({**_STATUSES, **dict.fromkeys(pass_labels, Status.PASS)}, only=True)
        seen: dict[str, set[Status]] = {}
        for judgment in _opened(judgments):
            if judgment.label is not None and judgment.status in (Status.PASS, Status.FAIL):
                seen.setdefault(judgment.label, set()).add(judgment.status)
        learned = {label: next(iter(statuses)) for label, statuses in seen.items() if len(statuses) == 1}
        return cls({**learned, **_STATUSES}, only=False)

    def status_of(self, truth: str) -> Status | None:
        """PASS or FAIL, or None for a label that has neither meaning."""
        return self.meaning.get(truth, Status.FAIL if self.only else None)

    def agrees(self, judgment: Judgment, truth: str) -> bool:
        """Whether the judgment says what people said; False when it says nothing.

        Raises:
            ConfigurationError: the two cannot be compared.
        """
        if not judgment.valid:
            return False
        if judgment.status is None or judgment.label == truth:
            return judgment.label == truth
        status = self.status_of(truth)
        if status is not None:
            return judgment.status is status
        if judgment.label is not None:
            return False
        raise ConfigurationError(
            f"people said {truth!r}, and the jury says {judgment.status}: say which labels mean PASS, "
            f"as in pass_labels=[{truth!r}]"
        )


def _opened(judgments: Iterable[Judgment]) -> Iterator[Judgment]:
    for judgment in judgments:
        yield judgment
        if isinstance(judgment, Verdict):
            yield from judgment.jurors()
