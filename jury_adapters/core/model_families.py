"""Vendor families of models, derived from their names.

A juror tends to favour answers written by its own family, so a verdict reports this combination. The family is the
vendor that trained the model, not the one that serves it: ``azure:gpt-4o`` is ``openai``.
"""

from __future__ import annotations

import re
from functools import lru_cache

from jury_adapters.vendors import VENDOR_NAMES, VENDORS

# The first word of a name that, without trailing digits, is one of these decides: "deepseek-r1-distill-qwen-7b" is
# "deepseek".
_FAMILY_BY_WORD = {
    "claude": "anthropic",
    "gpt": "openai", "chatgpt": "openai", "davinci": "openai",
    "gemini": "gemini", "gemma": "gemini", "codegemma": "gemini", "paligemma": "gemini",
    "shieldgemma": "gemini", "medgemma": "gemini", "palm": "gemini", "bison": "gemini",
    "deepseek": "deepseek",
    "mistral": "mistral", "mixtral": "mistral", "ministral": "mistral", "magistral": "mistral", "codestral": "mistral",
    "devstral": "mistral", "pixtral": "mistral",
    "qwen": "qwen", "qwq": "qwen", "qvq": "qwen", "codeqwen": "qwen",
    "llama": "meta", "codellama": "meta",
    "command": "cohere", "aya": "cohere",
    "grok": "xai",
    "phi": "microsoft", "wizardlm": "microsoft",
    "nova": "amazon", "titan": "amazon",
    "kimi": "moonshot", "moonshot": "moonshot",
    "glm": "zhipu", "chatglm": "zhipu",
    "granite": "ibm", "nemotron": "nvidia", "jamba": "ai21", "falcon": "tii", "smollm": "huggingface",
    "minimax": "minimax", "yi": "01ai", "ernie": "baidu", "hunyuan": "tencent", "olmo": "allenai",
}  # fmt: skip
# Names of vendors, which decide if the name of the model itself does not.
_FAMILY_BY_MAKER = {"meta": "meta", "cohere": "cohere", "xai": "xai"} | {
    called: vendor.family for called, name in VENDOR_NAMES.items() if (vendor := VENDORS[name]).family is not None
}
_NOT_OPENAI = re.compile(r"\bgpt-?(j|jt|neox?|4all)\b")  # models of other vendors, named after the method
_REASONING_MODEL = re.compile(r"o[1-9]")


def model_name(name: str) -> str:
    """Return a model's own name in lower case, without the vendor or the path before it.

    So a model has the same name for all vendors that serve it. A date or a version in the name is kept.

    >>> model_name("openrouter:anthropic/Claude-3-Haiku"), model_name("openai/gpt-4o"), model_name("ollama:llama3:8b")
    ('claude-3-haiku', 'gpt-4o', 'llama3:8b')
    """
    prefix, colon, rest = name.strip().lower().partition(":")
    own = rest if colon and prefix in VENDOR_NAMES else name.strip().lower()
    return own.rpartition("/")[2] or own


@lru_cache(maxsize=4096)
def family_of(model: str | None) -> str | None:
    """Return the vendor family for a model name, or None if the name does not show it.

    >>> family_of("openrouter:anthropic/claude-sonnet-4-5"), family_of("gpt-4o"), family_of("my-finetune")
    ('anthropic', 'openai', None)
    """
    words = re.findall(r"[a-z]+\d*", _NOT_OPENAI.sub("", (model or "").lower()))
    named = [(re.sub(r"\d+$", "", word), word) for word in words]
    for stem, word in named:
        if _REASONING_MODEL.fullmatch(word):
            return "openai"
        if stem in _FAMILY_BY_WORD:
            return _FAMILY_BY_WORD[stem]
    # The name of a model is better evidence than the name of a vendor.
    return next((_FAMILY_BY_MAKER[stem] for stem, _ in named if stem in _FAMILY_BY_MAKER), None)
