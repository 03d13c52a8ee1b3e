"""The rubrics of the critics inside a judge, as prompts that LlamaIndex can show and change.

Each rubric has three: ``<rubric>_system_prompt`` (the role of the judge), ``<rubric>_criteria`` (what is good and what
is not) and ``<rubric>_user_prompt`` (the case, with placeholders of this package such as ``{question}``). Critics with
the same rubric share its prompts, so a change applies to the whole panel. A
:class:`jury_adapters.decision.DecisionCritic` has the prompts of each of its rubrics; it sends no system prompt, so the
first of the three has no effect there.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import TypeAlias

from llama_index.core.prompts import BasePromptTemplate, PromptTemplate
from pydantic import ValidationError

from jury_adapters.core.errors import ConfigurationError, plain_repr, unknown
from jury_adapters.core.judge import Judge
from jury_adapters.critic.changed_rubrics import rubrics_in, with_changed_rubrics
from jury_adapters.critic.rubric import PLACEHOLDERS, Rubric

TemplateLike: TypeAlias = str | BasePromptTemplate

RELEVANCY = Rubric(
    name="relevancy",
    description="Is the answer in line with the question and with the contexts? What LlamaIndex calls relevancy.",
    source="LlamaIndex's RelevancyEvaluator (the same question)",
    criteria="""\
Does the answer respond to the question, and is it in line with the contexts?

YES: it addresses what was asked, and what it says is stated in the contexts or follows from them.
NO: it answers another question or evades this one, or it says something essential that the contexts contradict or do \
not contain.
UNSURE: the question, the contexts or the answer cannot be understood well enough to tell.

How to go about it:
- Decide first what the question asks for, then which passages of the contexts bear on it.
- Use the contexts alone. What you know from elsewhere counts neither for nor against the answer.
- An answer that says that the contexts do not contain the information is in line exactly when they do not.
""",
    user_prompt="Question:\n{question}\n\nContexts:\n{contexts}\n\nAnswer to judge:\n{answer}\n",
    empty_answer="NO",
)
"""Relevancy of query and response to the contexts, in one question."""

_PLACEHOLDER = re.compile(r"\{(\w+)\}")
_PARTS = ("system_prompt", "criteria", "user_prompt")


def prompts_of(judge: Judge) -> dict[str, BasePromptTemplate]:
    """Return the prompts of every rubric inside a judge, by name."""
    return {
        f"{name}_{part}": PromptTemplate(getattr(rubric, part))
        for name, rubric in _rubrics(judge).items()
        for part in _PARTS
    }


def with_prompts(judge: Judge, prompts: Mapping[str, TemplateLike]) -> Judge:
    """Return the same judge with other prompts. Judges are immutable, so the changed critics are rebuilt.

    Args:
        judge: a critic or a jury of any kind.
        prompts: texts or prompt templates, by the names of :func:`prompts_of`; prompts that are not named are kept.

    Raises:
        ConfigurationError: an unknown name, an unknown placeholder, a template of another kind, or a judge that cannot
            be copied.
    """
    rubrics = _rubrics(judge)
    changes: dict[str, dict[str, str]] = {}
    for key, template in prompts.items():
        name, part = _place(key, rubrics)
        changes.setdefault(name, {})[part] = _text(key, template)
    changed = {rubrics[name].fingerprint: _changed(rubrics[name], parts) for name, parts in changes.items()}
    return with_changed_rubrics(judge, changed)


def _rubrics(judge: Judge) -> dict[str, Rubric]:
    """Return each different rubric once, by its name; a second one of the same name has a number."""
    found: dict[str, Rubric] = {}
    seen: set[str] = set()
    for rubric in rubrics_in(judge):
        if rubric.fingerprint in seen:
            continue
        seen.add(rubric.fingerprint)
        name = base = rubric.name.replace(":", "_").replace(" ", "_")  # LlamaIndex reserves the colon
        number = 1
        while name in found:
            number += 1
            name = f"{base}-{number}"
        found[name] = rubric
    return found


def _place(key: str, rubrics: Mapping[str, Rubric]) -> tuple[str, str]:
    for part in _PARTS:
        name = key.removesuffix(f"_{part}")
        if name != key and name in rubrics:
            return name, part
    raise ConfigurationError(unknown("prompt", key, [f"{name}_{part}" for name in rubrics for part in _PARTS]))


def _text(key: str, template: object) -> str:
    """Return the text of a template, with partial values filled in and variables renamed to the package's names."""
    if isinstance(template, str):
        return template
    if not isinstance(template, PromptTemplate) or template.function_mappings:
        raise ConfigurationError(
            f"{key}: give a text or a PromptTemplate without function mappings, not {type(template).__name__}"
        )
    mapped: Mapping[str, str] = template.template_var_mappings or {}
    known = {theirs: f"{{{ours}}}" for ours, theirs in mapped.items()}
    known |= {mapped.get(name, name): str(value) for name, value in template.kwargs.items()}
    # In one pass, because two names may be swapped.
    return _PLACEHOLDER.sub(lambda found: known.get(found[1], found[0]), template.get_template())


def _changed(rubric: Rubric, parts: Mapping[str, str]) -> Rubric:
    try:
        new = rubric.model_copy(update=parts)
        # A field that was optional under the old prompt stays optional under the new one.
        shown = {PLACEHOLDERS.get(name, name) for name in rubric.user_template.names}
        spared = shown - set(rubric.requires)
        return new.model_copy(update={"requires": tuple(name for name in new.requires if name not in spared)})
    except ValidationError as error:
        said = "; ".join(details["msg"].removeprefix("Value error, ") for details in error.errors())
        raise ConfigurationError(f"rubric {plain_repr(rubric.name)}: {said}") from None
