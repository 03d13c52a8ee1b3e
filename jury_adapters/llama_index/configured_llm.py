"""``Settings.llm`` as the model of evaluators that were given none."""

from __future__ import annotations

import logging
import sys
from typing import Any

from llama_index.core import Settings
from llama_index.core.llms import MockLLM

from jury_adapters.core.errors import ConfigurationError

_log = logging.getLogger(__name__)
_WARNED: set[str] = set()


def configured_llm() -> object | None:
    """Return ``Settings.llm`` if it was set; None if it was not, or is disabled.

    The property itself must not be read first: if it is unset, it creates an OpenAI model, or fails without that
    package, and evaluation would use a vendor that was not named. Only the private attribute shows the difference. If a
    later release renames it, no model is assumed, and one must be named. A plain MockLLM, which repeats its prompt,
    must not judge: ``Settings.llm = None``, which disables the model, sets one, and so does LlamaIndex itself in its
    tests. A user's own cannot be distinguished from these.

    Raises:
        ConfigurationError: it is LlamaIndex's default model, which an engine sets there if nothing is set.
    """
    if getattr(Settings, "_llm", None) is None or is_mock():
        return None
    llm = Settings.llm
    if _is_default(llm):
        raise ConfigurationError(
            f"no judge was named, and Settings.llm is LlamaIndex's default, {getattr(llm, 'model', 'OpenAI')}, which "
            "engines set there themselves. Give llm=Settings.llm to ask it, llm= or llms=[...] for other models, or "
            "jury= for a judge without a model, such as jury=grounding_screen()"
        )
    return llm


def is_mock() -> bool:
    """Return whether ``Settings.llm`` is a plain MockLLM; subclasses may answer."""
    return type(getattr(Settings, "_llm", None)) is MockLLM


def warn_of_mock(evaluator: str, judge: str) -> None:
    """Log once for each evaluator that it judges without a model, because ``Settings.llm`` is a MockLLM.

    Args:
        evaluator: the name of the class.
        judge: the name of the judge that judges instead.
    """
    if is_mock() and evaluator not in _WARNED:
        _WARNED.add(evaluator)
        _log.warning(
            "%s was given no judge, and Settings.llm is a MockLLM, which only repeats its prompt: %s judges, without a "
            "model. jury= names a judge, and llm= a model",
            evaluator,
            judge,
        )


def _is_default(llm: Any) -> bool:
    """Return whether an LLM equals the ``OpenAI()`` that LlamaIndex makes; a user's own may be equal to it, too."""
    made_by = getattr(sys.modules.get("llama_index.llms.openai"), "OpenAI", None)
    if made_by is None or type(llm) is not made_by:
        return False
    fresh = made_by()
    names = type(llm).model_fields.keys() - {"callback_manager"}
    pairs = [(getattr(llm, name), getattr(fresh, name)) for name in names]
    return all(ours == theirs or callable(ours) for ours, theirs in pairs)
