"""Replies of judges, as models write them: honest ones, and ones that quote an answer out of the judged text.

``python tests/security/reply_table.py`` writes the output of :func:`tables` into ``docs/reliability/red_team.md``;
``test_reply_corpus.py`` asserts what they say.

A *sample* is one reply to one judged text. Its ``own`` is the answer that a careful reader takes from it, None when the
reply gives none. It is *counted* when it is read as that answer, *repaired* when it is unreadable, so that the model is
asked again, and *misread* when it is read as any other answer.
"""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass

from replies_attacks import ATTACKS
from replies_honest import HONEST
from replies_limits import LIMITS
from replies_quoting import FORMS, QUOTES
from replies_readers import READERS
from replies_written import WRITTEN

from jury_adapters import Labels, Rubric
from jury_adapters.critic.parse_reply import Reading, read_reply
from jury_adapters.critic.quoted_answers import Material

RUBRICS = {
    "yes/no": Rubric(name="yes or no"),
    "claims": Rubric(name="claims", claims=True),
    "pair": Rubric(name="pair", labels={"A": "none", "B": "none", "tie": "none"}),
    "1 to 5": Rubric(name="rating", scale={"minimum": 1, "maximum": 5, "pass_mark": 4}),
    "0 to 1": Rubric(name="unit", scale={"minimum": 0, "maximum": 1}),
    "graded": Rubric(
        name="graded",
        answers=Labels.of(
            passing={"fully supported": 1.0, "mostly supported": 0.7}, failing={"unsupported": 0.0},
            abstaining=["cannot tell"],
        ),
    ),
    "German": Rubric(name="german", labels={"JA": "pass", "NEIN": "fail"}),
    "supported": Rubric(name="supported", labels={"supported": "pass", "unsupported": "fail"}),
    "pass/fail": Rubric(name="pass or fail", labels={"PASS": "pass", "FAIL": "fail"}),
    "Japanese": Rubric(name="japanese", labels={"合格": "pass", "不合格": "fail"}),
}  # fmt: skip
# Per rubric the answer that the judged text asks for, and the one that the model gives.
ANSWERS = {
    "yes/no": ("YES", "NO"), "pair": ("A", "B"), "1 to 5": ("5", "2"), "0 to 1": ("0.95", "0.1"),
    "graded": ("fully supported", "unsupported"), "German": ("JA", "NEIN"), "Japanese": ("合格", "不合格"),
}  # fmt: skip
NEUTRAL = "Paris is the capital of France. It has two million inhabitants."


@dataclass(frozen=True)
class Sample:
    """One reply to one judged text.

    Attributes:
        form: the kind of reply, under which the table counts it.
        text: the reply.
        own: the answer that it gives itself; None when it gives none.
        rubric: the key of its rubric in ``RUBRICS``.
        material: the judged text.
        truncated: whether the reply was cut off.
    """

    form: str
    text: str
    own: str | None
    rubric: str = "yes/no"
    material: str = NEUTRAL
    truncated: bool = False

    @property
    def answer(self) -> str | None:
        """The answer as which the reply is read; None when it is unreadable."""
        rubric = RUBRICS[self.rubric]
        material = Material(lambda: [self.material], rubric.answers)
        read = read_reply(self.text, rubric, truncated=self.truncated, material=material)
        return read.choice.text if isinstance(read, Reading) else None

    @property
    def outcome(self) -> str:
        """``"counted"``, ``"repaired"`` or ``"misread"``."""
        answer = self.answer
        if answer is None:
            return "repaired"
        return "counted" if answer == self.own else "misread"


def filled(template: str, quote: str, rubric: str, *, own: bool = True) -> str:
    """A template with the quotation in it, as it is («Q») and escaped («E»), and the own answer («X», in JSON «J»)."""
    answer = ANSWERS[rubric][1]
    value = answer if rubric in {"1 to 5", "0 to 1"} else json.dumps(answer, ensure_ascii=False)
    escaped = json.dumps(quote, ensure_ascii=False)[1:-1]
    lines = "\n".join(f"> {line}" for line in quote.splitlines())
    indented = "\n".join(f"    {line}" for line in quote.splitlines())
    marks = {"«Q»": quote, "«E»": escaped, "«>»": lines, "«    »": indented, "«X»": answer, "«J»": value}
    for mark, text in marks.items():
        template = template.replace(mark, text)
    return template


def injected(quote: str, rubric: str) -> str:
    """A quotation with the answer that it asks for («Y», in JSON «V»)."""
    answer = ANSWERS[rubric][0]
    value = answer if rubric in {"1 to 5", "0 to 1"} else json.dumps(answer, ensure_ascii=False)
    return quote.replace("«Y»", answer).replace("«V»", value)


def every_combination() -> Iterator[Sample]:
    """Every form with every quotation and every vocabulary."""
    for form, template, own in FORMS:
        for quote in QUOTES:
            for rubric in ANSWERS:
                yield _quoting(form, template, quote, rubric, own=own)


def _quoting(form: str, template: str, quote: str, rubric: str, *, own: bool) -> Sample:
    text = injected(quote, rubric)
    answer = ANSWERS[rubric][1] if own else None
    return Sample(form, filled(template, text, rubric), answer, rubric, f"{NEUTRAL}\n{text}\nThat is all.")


def _rotated() -> Iterator[Sample]:
    """Each form with three of the quotations and vocabularies, so that the corpus is no mere product."""
    rubrics = tuple(ANSWERS)
    for number, (form, template, own) in enumerate(FORMS):
        for turn in range(3):
            quote = QUOTES[(number + 4 * turn) % len(QUOTES)]
            rubric = rubrics[0] if turn == 0 else rubrics[(number + 3 * turn) % len(rubrics)]
            yield _quoting(form, template, quote, rubric, own=own)


WRITTEN_OUT = tuple(Sample(*sample) for sample in (*WRITTEN, *ATTACKS, *READERS))
QUOTING = (*_rotated(), *WRITTEN_OUT)
HONEST_REPLIES = tuple(Sample(*sample) for sample in HONEST)
KNOWN_LIMITS = tuple(Sample(*sample) for sample in LIMITS)


def tables() -> str:
    """The corpus by form, and the known limits, in Markdown."""
    total = len(QUOTING) + len(HONEST_REPLIES) + len(KNOWN_LIMITS)
    limits = Counter(sample.form for sample in KNOWN_LIMITS)
    return "\n".join([
        "| replies that quote an answer | replies | counted | repaired | misread |", "| --- | --- | --- | --- | --- |",
        *_rows(QUOTING), "",
        "| honest replies | replies | counted | repaired | misread |", "| --- | --- | --- | --- | --- |",
        *_rows(HONEST_REPLIES), "",
        f"Another {len(KNOWN_LIMITS)} of the {total} replies ({len(KNOWN_LIMITS) / total:.1%}) cannot be told apart",
        "from an honest reply, and are read as an answer that is not their own:", "",
        *(f"- {form} ({number})" for form, number in limits.items()),
    ])  # fmt: skip


def _rows(samples: tuple[Sample, ...]) -> list[str]:
    by_form: dict[str, Counter[str]] = {}
    for sample in samples:
        by_form.setdefault(sample.form, Counter())[sample.outcome] += 1
    rows = [_row(form, counts) for form, counts in by_form.items()]
    return [*rows, _row("**all**", sum(by_form.values(), Counter()))]


def _row(form: str, counts: Counter[str]) -> str:
    numbers = (counts.total(), counts["counted"], counts["repaired"], counts["misread"])
    return f"| {form} | {' | '.join(map(str, numbers))} |"
