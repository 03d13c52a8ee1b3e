"""``Settings.llm`` as the model of evaluators that were given none."""

from __future__ import annotations

import sys
from typing import Any

from llama_index.core import Settings
from llama_index.core.llms import MockLLM

from jury_adapters.core.errors import ConfigurationError


def configured_llm() -> object | None:
    """Return ``Settings.llm`` if it was set; None if it was not, or is disabled.

    The property itself must not be read first: if it is unset, it creates an OpenAI model, or fails without that
    package, and evaluation would use a vendor that was not named. Only the private attribute shows the difference. If a
    later release renames it, no model is assumed, and one must be named. ``Settings.llm = None`` sets a plain MockLLM,
    which echoes its prompt: the model is then disabled, and must not judge.

    Raises:
        ConfigurationError: it is LlamaIndex's default model, which an engine sets there if nothing is set.
    """
    if getattr(Settings, "_llm", None) is None or type(Settings.llm) is MockLLM:
        return None
    llm = Settings.llm
    if _is_default(llm):
        raise ConfigurationError(
            f"no judge was named, and Settings.llm is LlamaIndex's default, {getattr(llm, 'model', 'OpenAI')}, which "
            "engines set there themselves. Give llm=Settings.llm to ask it, llm= or llms=[...] for other models, or "
            "jury= for a judge without a model, such as jury=grounding_screen()"
        )
    return llm


def _is_default(llm: Any) -> bool:
    """Return whether an LLM equals the ``OpenAI()`` that LlamaIndex makes; a user's own may be equal to it, too."""
    made_by = getattr(sys.modules.get("llama_index.llms.openai"), "OpenAI", None)
    if made_by is None or type(llm) is not made_by:
        return False
    fresh = made_by()
    names = type(llm).model_fields.keys() - {"callback_manager"}
    pairs = [(getattr(llm, name), getattr(fresh, name)) for name in names]
    return all(ours == theirs or callable(ours) for ours, theirs in pairs)
