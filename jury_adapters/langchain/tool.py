"""Tool with which a model asks a jury about an answer."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Annotated, Any, Literal

from langchain_core.tools import BaseTool
from pydantic import BeforeValidator, ConfigDict, Field, PrivateAttr

from jury_adapters.core.arguments import refuse_unknown
from jury_adapters.core.budget import Budget
from jury_adapters.core.cache import StoreLike
from jury_adapters.core.case import Case
from jury_adapters.core.context import judging
from jury_adapters.core.errors import ConfigurationError
from jury_adapters.core.feedback import feedback_of
from jury_adapters.core.judge import Judge
from jury_adapters.core.judge_like import JudgeLike, judge_of
from jury_adapters.core.judgment import Judgment
from jury_adapters.core.scope import Scope
from jury_adapters.core.unmet_fields import unmet_fields
from jury_adapters.core.verdict import Verdict
from jury_adapters.langchain.jury_schemas import CaseInput
from jury_adapters.models.langchain_binding import unheard


class JuryTool(BaseTool):
    """A jury as a tool, which an agent calls to check an answer before giving it.

    The model reads one line (``PASS, score 0.83, agreement 1.00: ...``, or ``label polite: ...``). The whole verdict is
    the tool message's artifact, as plain JSON values.

    Args:
        jury: any judge, or a function of a case.
        name: the name of the tool for the model.
        description: the description that the model sees. Like ``name``, it is a keyword argument.
        store: where judgments are kept; see :class:`JuryRunnable`.
        budget: the budget for all judgments; see :class:`JuryRunnable`.

    Raises:
        ConfigurationError: every judge in the jury needs a field that the tool does not take, such as a second answer;
            the store or the budget is invalid; or a budget in dollars meets a juror whose price is unknown.

    >>> agent = create_agent(model, tools=[search, JuryTool(jury)])  # doctest: +SKIP
    """

    model_config = ConfigDict(hide_input_in_errors=True)

    name: str = "jury"
    description: str = (
        "Ask a jury of independent critics whether an answer to a question is good. Give the question, your answer and "
        "the passages it rests on. It says PASS or FAIL, and why."
    )
    args_schema: Any = CaseInput
    response_format: Literal["content", "content_and_artifact"] = "content_and_artifact"
    jury: Annotated[Judge, BeforeValidator(judge_of)] = Field(exclude=True, repr=False)
    _scope: Scope = PrivateAttr()

    # Store and budget are not fields: pydantic shows fields in its errors, and a store's URL may hold a password.
    def __init__(
        self, jury: JudgeLike, *, store: StoreLike | None = None, budget: Budget | None = None, **fields: Any
    ) -> None:
        refuse_unknown(fields, [*type(self).model_fields, "store", "budget"])
        super().__init__(jury=jury, **fields)
        if missing := unmet_fields(self.jury, Case.model_fields.keys() - CaseInput.model_fields.keys()):
            raise ConfigurationError(
                f"the judge needs {', '.join(missing)}, which the agent cannot give to this tool, so it judges no "
                "call. Take a judge of a question, an answer, contexts or a reference"
            )
        self._scope = Scope.of(self.jury, store, budget)

    def _run(
        self, question: str | None = None, answer: str | None = None, contexts: Sequence[str] = (),
        reference: str | None = None,
    ) -> tuple[str, dict[str, Any]]:  # fmt: skip
        case = Case(question=question, answer=answer, contexts=tuple(contexts), reference=reference)
        with judging(), unheard(), self._scope.applied():
            return _answered(self.jury.judge(case))

    async def _arun(
        self, question: str | None = None, answer: str | None = None, contexts: Sequence[str] = (),
        reference: str | None = None,
    ) -> tuple[str, dict[str, Any]]:  # fmt: skip
        case = Case(question=question, answer=answer, contexts=tuple(contexts), reference=reference)
        with judging(), unheard(), self._scope.applied():
            return _answered(await self.jury.ajudge(case))


def _answered(judgment: Judgment) -> tuple[str, dict[str, Any]]:
    label = [] if judgment.label is None else [judgment.label if judgment.status else f"label {judgment.label}"]
    facts = [*label, *([judgment.status.value] if judgment.status else [])]
    if judgment.score is not None:
        facts.append(f"score {judgment.score:.2f}")
    if isinstance(judgment, Verdict) and judgment.agreement is not None:
        facts.append(f"agreement {judgment.agreement:.2f}")
    return f"{', '.join(facts)}: {feedback_of(judgment) or 'no reason given'}", judgment.to_dict()
