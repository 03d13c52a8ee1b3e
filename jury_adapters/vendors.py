"""Table of the vendors of language models: one row per vendor, from which everything about the vendor is derived.

It is the source for names and addresses of models, keys and their redaction, prices, model families, spans,
``jury doctor``, ``jury show models`` and the documentation. It depends on no other module, because the core redacts
keys and uses families.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Literal, TypeAlias

ListPrice: TypeAlias = tuple[float, float] | tuple[float, float, float]
"""US dollars per million tokens of input, of output, and, if it differs, of cached input."""


@dataclass(frozen=True, slots=True)
class Vendor:
    """Address and protocol of a vendor's models, and other facts about the vendor.

    Attributes:
        base_url: the server. ``{}`` is replaced by the value of ``url_variable``, which must then be set.
        key_variable: the environment variable that holds the key; None for a self-hosted server, which accepts any key
            and costs nothing per token.
        token_parameter: the server's name for the limit on output tokens.
        sdk: the SDK for the server's protocol.
        url_variable: the environment variable that overrides ``base_url``, or completes it.
        family: the family of the models that the vendor has trained itself; None if it only serves models of others.
        also_called: further names of the vendor: in model names, in names of classes and in messages of frameworks.
        provider_name: the name in OpenTelemetry's conventions, if it is different.
        prices: list prices by the name of the model.
    """

    base_url: str
    key_variable: str | None
    token_parameter: str = "max_tokens"
    sdk: Literal["openai", "anthropic"] = "openai"
    url_variable: str | None = None
    family: str | None = None
    also_called: tuple[str, ...] = ()
    provider_name: str | None = None
    prices: Mapping[str, ListPrice] = field(default_factory=dict)


PRICES_AS_OF = "2025-10"

VENDORS: dict[str, Vendor] = {
    "openai": Vendor(
        "https://api.openai.com/v1",
        "OPENAI_API_KEY",
        "max_completion_tokens",
        url_variable="OPENAI_BASE_URL",
        family="openai",
        prices={
            "gpt-4o": (2.50, 10.00, 1.25),
            "gpt-4o-mini": (0.15, 0.60, 0.075),
            "gpt-4.1": (2.00, 8.00, 0.50),
            "gpt-4.1-mini": (0.40, 1.60, 0.10),
            "gpt-4.1-nano": (0.10, 0.40, 0.025),
            "gpt-5": (1.25, 10.00, 0.125),
            "gpt-5-mini": (0.25, 2.00, 0.025),
            "gpt-5-nano": (0.05, 0.40, 0.005),
            "o3": (2.00, 8.00, 0.50),
            "o4-mini": (1.10, 4.40, 0.275),
        },
    ),
    "anthropic": Vendor(
        "https://api.anthropic.com",
        "ANTHROPIC_API_KEY",
        sdk="anthropic",
        url_variable="ANTHROPIC_BASE_URL",
        family="anthropic",
        prices={
            "claude-opus-4-1": (15.00, 75.00, 1.50),
            "claude-opus-4": (15.00, 75.00, 1.50),
            "claude-sonnet-4-5": (3.00, 15.00, 0.30),
            "claude-haiku-4-5": (1.00, 5.00, 0.10),
            "claude-sonnet-4": (3.00, 15.00, 0.30),
            "claude-3-5-haiku": (0.80, 4.00, 0.08),
        },
    ),
    "azure": Vendor(
        "{}/openai/v1/",
        "AZURE_OPENAI_API_KEY",
        "max_completion_tokens",
        url_variable="AZURE_OPENAI_ENDPOINT",
        provider_name="azure.ai.openai",
    ),
    "deepseek": Vendor("https://api.deepseek.com", "DEEPSEEK_API_KEY", family="deepseek"),
    "gemini": Vendor(
        "https://generativelanguage.googleapis.com/v1beta/openai/",
        "GEMINI_API_KEY",
        family="gemini",
        also_called=("google", "google_genai", "google_vertexai"),
        provider_name="gcp.gemini",
        prices={
            "gemini-2.5-pro": (1.25, 10.00, 0.31),
            "gemini-2.5-flash": (0.30, 2.50, 0.075),
            "gemini-2.5-flash-lite": (0.10, 0.40, 0.025),
        },
    ),
    "groq": Vendor("https://api.groq.com/openai/v1", "GROQ_API_KEY"),
    "mistral": Vendor(
        "https://api.mistral.ai/v1",
        "MISTRAL_API_KEY",
        family="mistral",
        also_called=("mistralai",),
        provider_name="mistral_ai",
        prices={"mistral-small": (0.10, 0.30), "mistral-large": (2.00, 6.00)},
    ),
    "openrouter": Vendor("https://openrouter.ai/api/v1", "OPENROUTER_API_KEY"),
    "together": Vendor("https://api.together.xyz/v1", "TOGETHER_API_KEY"),
    "ollama": Vendor("http://localhost:11434/v1", None),
    "vllm": Vendor("http://localhost:8000/v1", None),
    "llama.cpp": Vendor("http://localhost:8080/v1", None, also_called=("llamacpp",)),
}

VENDOR_NAMES: Mapping[str, str] = {
    called: name for name, vendor in VENDORS.items() for called in (name, *vendor.also_called)
}
"""Vendors by all of their names."""
