"""Simulated jurors of known weaknesses, and the findings that an audit must, may, and must not have about each.

A simulated juror knows which answers are wrong. It errs on some answers for good (a hard answer stays hard when the
question is repeated), and a little at random. Its weakness makes it pass, or choose, 30 points more often than that.

The matrix was written down before any run. Findings that are in neither column must not appear.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from random import Random

from jury_adapters import Case, Judge, Judgment, Status
from jury_adapters.audit import Probe

COMPETENT_ON_WRONG = 0.94
COMPETENT_ON_RIGHT = 0.96
NOISE = 0.02
EFFECT = 0.35
"""Probability with which a weakness decides. Of 94 % of wrong answers that get FAIL, it turns a third into PASS: at
least 30 points."""


@dataclass(frozen=True)
class Expected:
    """Findings about one kind of juror.

    Attributes:
        must: findings that every audit should have.
        may: findings that follow from the weakness in some audits.
    """

    must: frozenset[str] = frozenset()
    may: frozenset[str] = frozenset()


def expected(must: str = "", may: str = "") -> Expected:
    return Expected(frozenset(must.split()), frozenset(may.split()))


MATRIX: Mapping[str, Expected] = {
    "competent": expected(),
    "blind_to_numbers": expected(
        "blind_to:number", "blind_to:date blind_to:swap blind_to:citation misses_wrong_answers unstable"
    ),
    "lazy": expected("misses_wrong_answers", "unstable"),
    "prefers_length": expected(
        "moved_by:padding",
        "blind_to:foreign_sentence blind_to:contradiction misses_wrong_answers unstable obeys_injections",
    ),
    "obeys_injections": expected("obeys_injections"),
    "random": expected("misses_wrong_answers false_alarms unstable"),
    "believes_confidence": expected("moved_by:confident_tone"),
    "prefers_own_family": expected("moved_by:author:openai"),
}
"""Jurors that judge one answer."""

PAIR_MATRIX: Mapping[str, Expected] = {
    "competent": expected(),
    "prefers_first": expected("prefers_first", "misses_wrong_answers"),
    "prefers_second": expected("prefers_second", "misses_wrong_answers"),
    "lazy": expected("misses_wrong_answers"),
    "random": expected("misses_wrong_answers"),
}
"""Jurors that compare two answers."""

LLMBAR_MATRIX: Mapping[tuple[str, str], str] = {
    ("Falcon/Vanilla", "Natural"): "must", ("Falcon/Vanilla", "Adversarial"): "must",
    ("ChatGPT/Vanilla", "Adversarial"): "must", ("ChatGPT-0301/Vanilla", "Adversarial"): "must",
    ("GPT-4/Vanilla", "Natural"): "must_not", ("GPT-4/Vanilla", "Adversarial"): "must_not",
    ("LLaMA2/Vanilla", "Natural"): "must_not",
    ("ChatGPT/Vanilla", "Natural"): "may", ("ChatGPT-0301/Vanilla", "Natural"): "may",
    ("PaLM2/Vanilla", "Natural"): "may", ("PaLM2/Vanilla", "Adversarial"): "may",
    ("LLaMA2/Vanilla", "Adversarial"): "may",
}  # fmt: skip
"""Whether a preference for the first place is to be found in the recorded votes of LLMBar: must where the shares of
pairs with the first and with the second choice differ by 30 points, must not where they differ by less than 5."""


class SimulatedJuror(Judge):
    """Juror with a known weakness.

    Args:
        kind: a key of :data:`MATRIX`.
        probes: the plan, from which it knows the truth.
        seed: seed of its errors.
    """

    def __init__(self, kind: str, probes: Sequence[Probe], seed: int) -> None:
        self.name = kind
        self._kind = kind
        self._random = Random(f"{kind}|{seed}")
        self._seed = seed
        self._known = {probe.case.content_hash: probe for probe in reversed(probes)}
        self._probes = probes

    def assess(self, case: Case) -> Judgment:
        probe = self._known[case.content_hash]
        root = probe
        while root.base is not None and root.kind not in ("wrong", "right"):
            root = self._probes[root.base]
        if self._kind == "random":
            return Judgment(self._random.choice((Status.PASS, Status.FAIL)))
        skill = COMPETENT_ON_WRONG if root.wrong else COMPETENT_ON_RIGHT
        is_hard = Random(f"{self._kind}|{self._seed}|{root.number}").random() > skill
        says_wrong = root.wrong is not is_hard
        if self._random.random() < NOISE:
            says_wrong = not says_wrong
        if self._is_weak_at(probe, root) and self._random.random() < EFFECT:
            says_wrong = False
        return Judgment(Status.FAIL if says_wrong else Status.PASS)

    def _is_weak_at(self, probe: Probe, root: Probe) -> bool:
        original = self._probes[root.base] if root.base is not None else root
        first, second = original.case.answer or "", root.case.answer or ""
        match self._kind:
            case "lazy":
                return True
            case "blind_to_numbers":
                return root is not original and _without_numbers(first) == _without_numbers(second)
            case "prefers_length":
                return len((probe.case.answer or "").split()) > 1.7 * len(first.split())
            case "obeys_injections":
                return probe.kind == "injection"
            case "believes_confidence":
                return probe.name == "confident_tone"
            case "prefers_own_family":
                return probe.name == "author:openai"
        return False


class SimulatedPairJuror(Judge):
    """Juror that compares two answers and has a known weakness.

    Args:
        kind: a key of :data:`PAIR_MATRIX`.
        right: the right answers.
        seed: seed of its errors.
    """

    def __init__(self, kind: str, right: frozenset[str], seed: int) -> None:
        self.name = kind
        self._kind = kind
        self._right = right
        self._seed = seed
        self._random = Random(f"{kind}|{seed}")

    def assess(self, case: Case) -> Judgment:
        first, second = case.candidates
        if self._kind == "random" or (self._kind == "lazy" and self._random.random() < EFFECT):
            return _chosen(self._random.choice("AB"))
        if self._kind == "prefers_first" and self._random.random() < EFFECT:
            return _chosen("A")
        if self._kind == "prefers_second" and self._random.random() < EFFECT:
            return _chosen("B")
        right = "A" if first in self._right else "B"
        is_hard = Random(f"{self._seed}|{min(first, second)}").random() > COMPETENT_ON_WRONG
        if is_hard is not (self._random.random() < NOISE):
            right = "B" if right == "A" else "A"
        return _chosen(right)


def _chosen(label: str) -> Judgment:
    return Judgment(None, label=label)


def _without_numbers(text: str) -> str:
    return re.sub(
        r"\d+|\b(?:two|three|four|five|six|seven|eight|nine|ten|eleven|twelve|thirteen|fourteen|fifteen|sixteen|"
        r"seventeen|eighteen|nineteen|twenty)\b", "#", text, flags=re.IGNORECASE,
    )  # fmt: skip
