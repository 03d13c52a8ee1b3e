"""Check that an answer is not a refusal."""

from __future__ import annotations

from dataclasses import dataclass

from jury_adapters.core.case import Case
from jury_adapters.core.judge import Judge
from jury_adapters.core.judgment import PASS_OR_FAIL, Finding, Judgment, Status, abstain


@dataclass(frozen=True)
class RefusalCheck(Judge):
    """The answer is not a refusal in English such as "I'm sorry, but I can't help with that".

    FAIL when the answer *opens* with a refusal in the first person, or states only that the answer is not known ("I
    don't know.", "The manuals do not say.", "It is not in the manual.", "The torque is not specified.", LlamaIndex's
    "Empty Response"). What a policy or a report does not cover is an answer, and so is what any text does not say if
    the question asks for that. An answer that only mentions "I can't" somewhere, quotes a refusal, or declines one
    detail and then continues ("I can't give exact figures, but it was about 40 %") passes. Curly quotes are read as
    straight ones. It abstains on an answer in another language, which it recognises by function words and accents, or
    by the question.

    Args:
        name: the check's name in verdicts.
        allow_unknown: whether an answer may state that it is not known, for questions that the contexts cannot answer.

    >>> RefusalCheck().judge(answer="I\u2019m sorry, but I can\u2019t help with that.").status
    <Status.FAIL: 'FAIL'>
    """

    opinion_statuses = PASS_OR_FAIL
    required_fields = ("answer",)
    name: str = "RefusalCheck"
    allow_unknown: bool = False

    def __post_init__(self) -> None:
        # Their patterns would hold the event loop of the first case.
        import jury_adapters.grounding.languages
        import jury_adapters.judges.refusals  # noqa: F401

    def assess(self, case: Case) -> Judgment:
        if case.answer is None:
            return abstain("there is no answer to check")
        from jury_adapters.grounding.languages import in_other_script, is_foreign
        from jury_adapters.judges.refusals import refusal_in, unknown_in

        refusal = refusal_in(case.answer)
        unknown = "" if refusal or self.allow_unknown else unknown_in(case.answer, case.question or "")
        if not refusal and not unknown:
            if in_other_script(case.answer) or is_foreign(case.answer, case.question or ""):
                return abstain("only English refusals are known, and the answer does not read as English")
            return Judgment(Status.PASS, reasoning="does not open with a refusal in English")
        said = Finding("no refusal", False, evidence=refusal or unknown)
        reason = f"the answer refuses: {refusal!r}" if refusal else f"the answer says that it is not known: {unknown!r}"
        return Judgment(Status.FAIL, reasoning=reason, findings=(said,))
