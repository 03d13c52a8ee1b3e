"""Table of the vendors that a model's name may begin with."""

from dataclasses import dataclass
from typing import Literal


@dataclass(frozen=True, slots=True)
class Vendor:
    """Address and protocol of a vendor's models.

    Attributes:
        address: the server. ``{}`` stands for the value of ``address_variable``, which must then be set.
        key_variable: the environment variable with the key; None for a server of one's own, which needs no key and
            costs nothing per token on this machine.
        token_limit: the server's name for the limit on output tokens.
        sdk: the SDK of the server's protocol.
        address_variable: the environment variable that replaces or completes the address.
        states_cost: whether ``usage.cost`` of an answer is its cost in US dollars.
    """

    address: str
    key_variable: str | None
    token_limit: str = "max_tokens"
    sdk: Literal["openai", "anthropic"] = "openai"
    address_variable: str = ""
    states_cost: bool = False


VENDORS: dict[str, Vendor] = {
    "openai": Vendor(
        "https://api.openai.com/v1", "OPENAI_API_KEY", "max_completion_tokens", address_variable="OPENAI_BASE_URL"
    ),
    "anthropic": Vendor(
        "https://api.anthropic.com", "ANTHROPIC_API_KEY", sdk="anthropic", address_variable="ANTHROPIC_BASE_URL"
    ),
    "azure": Vendor(
        "{}/openai/v1", "AZURE_OPENAI_API_KEY", "max_completion_tokens", address_variable="AZURE_OPENAI_ENDPOINT"
    ),
    "deepseek": Vendor("https://api.deepseek.com", "DEEPSEEK_API_KEY"),
    "gemini": Vendor("https://generativelanguage.googleapis.com/v1beta/openai", "GEMINI_API_KEY"),
    "groq": Vendor("https://api.groq.com/openai/v1", "GROQ_API_KEY"),
    "mistral": Vendor("https://api.mistral.ai/v1", "MISTRAL_API_KEY"),
    "openrouter": Vendor("https://openrouter.ai/api/v1", "OPENROUTER_API_KEY", states_cost=True),
    "together": Vendor("https://api.together.xyz/v1", "TOGETHER_API_KEY"),
    "ollama": Vendor("http://localhost:11434/v1", None),
    "vllm": Vendor("http://localhost:8000/v1", None),
    "llama.cpp": Vendor("http://localhost:8080/v1", None),
}
