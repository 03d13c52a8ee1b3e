"""Rubrics with numeric ratings, for the questions that LlamaIndex's own evaluators answer with a number."""

from __future__ import annotations

from typing import Final

from jury_adapters.critic.answers import Scale
from jury_adapters.critic.rubric import Rubric

_GRADES = """
1: it has nothing to do with the question, or is empty.
2: it is about the question, and wrong in what matters most.
3: it is partly right: it leaves out something the question asks for, or contains a mistake.
4: it is right in substance, with a small fault that does not mislead.
5: it is fully right and answers all that was asked.
Ratings between these are allowed.
"""
_SOURCE = "LlamaIndex's CorrectnessEvaluator (the same scale)"


def graded_correctness(pass_mark: float = 4.0) -> tuple[Rubric, Rubric]:
    """Return two rubrics that rate correctness from 1 to 5: with a reference, and by the model's own knowledge.

    Args:
        pass_mark: the lowest rating that passes.
    """
    answers = Scale(minimum=1, maximum=5, pass_mark=pass_mark, integer=False)
    by_reference = Rubric(
        name="correctness_graded",
        description="How correct is the answer, compared with a reference answer? A rating from 1 to 5.",
        source=_SOURCE,
        criteria="How correct is the answer, measured by the reference?\n"
        + _GRADES
        + "The reference is right, even where you would have answered otherwise. Compare the substance; wording, "
        "order, language and format do not matter unless the question asks for them. Further true detail is fine; "
        "detail that contradicts the reference is not.\n",
        user_prompt="Question:\n{question}\n\nReference:\n{reference}\n\nAnswer to judge:\n{answer}\n",
        answers=answers,
        requires=("answer", "reference"),
        empty_answer="1",
    )
    by_knowledge = Rubric(
        name="correctness_graded_without_reference",
        description="How correct is the answer, as far as the model knows? A rating from 1 to 5.",
        source=_SOURCE,
        criteria="How correct is the answer?\n"
        + _GRADES
        + "Judge what the answer says, not how confident it sounds.\n",
        user_prompt="Question:\n{question}\n\nAnswer to judge:\n{answer}\n",
        answers=answers,
        empty_answer="1",
    )
    return by_reference, by_knowledge


GRADED_CONTEXT_RELEVANCE: Final = Rubric(
    name="context_relevance_graded",
    description="How much of what the question needs do the contexts contain? A rating from 0 to 4.",
    source="LlamaIndex's ContextRelevancyEvaluator (the same two questions)",
    criteria="""\
How relevant are the contexts to the question? Give up to 2 points for each of these two:

1. The contexts match the subject matter of the question.
2. The contexts alone are enough for a full answer to the question.

Partial points are allowed. Do not fill gaps from your own knowledge, and do not judge whether the contexts are true.
Contexts without use beside one that holds the answer cost no points.
""",
    user_prompt="Question:\n{question}\n\nContexts:\n{contexts}\n",
    answers=Scale(minimum=0, maximum=4, pass_mark=3, integer=False),
)
"""Rubric with the two questions on relevance that LlamaIndex's own evaluator asks, for up to 2 points each."""
