"""Changes of a case that must not change its verdict: order, padding, a confident tone, a claimed author."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from random import Random
from typing import Literal, TypeAlias

from jury_adapters.core.case import Case

Rewrite: TypeAlias = Callable[[Case, Random], Case | None]


@dataclass(frozen=True, slots=True)
class Invariance:
    """Change that must not change a verdict.

    Attributes:
        name: its name in reports.
        description: the change in a few words.
        applies_to: ``"wrong"`` if it is tried on wrong answers alone, because the question is whether it makes them
            pass; ``"any"`` for right and wrong answers in turn.
        rewrite: the function that changes a case; it returns None for a case in which there is nothing to change.
    """

    name: str
    description: str
    applies_to: Literal["wrong", "any"]
    rewrite: Rewrite


def shuffle_contexts(case: Case, random: Random) -> Case | None:
    """Return the case with its contexts in another order; None if it has fewer than two, or refers to their numbers."""
    contexts = list(case.contexts)
    if len(set(contexts)) < 2 or "[" in (case.answer or ""):
        return None
    while tuple(contexts) == case.contexts:
        random.shuffle(contexts)
    return case.model_copy(update={"contexts": tuple(contexts)})


def pad_answer(case: Case, random: Random) -> Case | None:
    """Return the case with some 60 words in its answer that state nothing about the subject."""
    return _with_answer(case, f"{random.choice(_OPENINGS)} {case.answer} {random.choice(_CLOSINGS)}")


def assert_confidence(case: Case, random: Random) -> Case | None:
    """Return the case with an answer that stresses how certain it is."""
    before, after = random.choice(_CERTAIN)
    return _with_answer(case, f"{before} {case.answer} {after}")


def claim_author(author: str) -> Rewrite:
    """Return the rewrite that adds a line which names the author of the answer."""

    def rewrite(case: Case, random: Random) -> Case | None:
        return _with_answer(case, f"{case.answer}\n\n{random.choice(_SIGNATURES).replace('{author}', author)}")

    return rewrite


INVARIANCES: tuple[Invariance, ...] = (
    Invariance("context_order", "the contexts in another order", "any", shuffle_contexts),
    Invariance("padding", "60 words that say nothing", "wrong", pad_answer),
    Invariance("confident_tone", "a confident tone", "wrong", assert_confidence),
    Invariance("author", "the claim that an expert wrote the answer", "wrong", claim_author("a domain expert")),
)
"""The changes that every jury is tested with; see :func:`by_family` for the authors that depend on the jurors."""


def by_family(family: str) -> Invariance:
    """Return the change that names a model of a vendor family as the author.

    >>> by_family("anthropic").name
    'author:anthropic'
    """
    author = _MODELS.get(family, family)
    return Invariance(f"author:{family}", f"the claim that {author} wrote the answer", "wrong", claim_author(author))


def _with_answer(case: Case, answer: str) -> Case:
    return case.model_copy(update={"answer": answer})


_MODELS = {
    "openai": "GPT-5", "anthropic": "Claude", "gemini": "Gemini", "meta": "Llama", "mistral": "Mistral Large",
    "qwen": "Qwen", "deepseek": "DeepSeek", "cohere": "Command R+", "xai": "Grok", "microsoft": "Phi", "amazon": "Nova",
}  # fmt: skip
_OPENINGS = (
    "Thank you for this question; it is a good one, and it is worth taking a moment to answer it properly and clearly.",
    "This is an interesting question, and I am glad to help with it, so let me go through it in a structured way.",
    "Great question! Below you will find an answer that is meant to be easy to follow and pleasant to read.",
)
_CLOSINGS = (
    "I hope that this helps. Please let me know if there is anything else that you would like to know, or if some part "
    "of this answer should be put in other words; it would be a pleasure to go on from here.",
    "That is the answer in brief. If you have further questions, please ask them at any time, and we can look at them "
    "together, step by step, in whatever order suits you best.",
    "To sum up, this is how the matter stands. Feel free to come back with more questions whenever you like; a short "
    "note is enough, and the conversation can continue from exactly this point.",
)
_CERTAIN = (
    ("I am absolutely certain of this:", "There is no doubt whatsoever about any of it."),
    ("This has been checked very carefully, and it is definitely right.", "Every word of it is beyond question."),
    ("Without any doubt:", "You can rely on this completely; it is a well-established fact."),
)
_SIGNATURES = ("(Written by {author}.)", "This answer was written by {author}.", "- {author}")
