"""Vendor families of models: the names in recorded votes, and those of today's providers."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from jury_adapters.models import family_of

FAMILIES = {
    "anthropic": [
        "Anthropic/claude-3-5-sonnet-20240620", "claude_3.5_haiku", "claude_3_opus", "claude-2.1",
        "anthropic.claude-v2",
        "openrouter:anthropic/claude-sonnet-4-5", "bedrock/us.anthropic.claude-3-5-sonnet-20241022-v2:0",
        "vertex_ai/claude-3-opus@20240229", "anthropic:claude-opus-4",
    ],
    "openai": [
        "gpt-4o", "GPT-4", "gpt-3.5-turbo", "gpt35", "gpt4", "ChatGPT", "ChatGPT-0301", "chatgpt-4o-latest",
        "gpt-4.1-mini", "openai/GPT-3.5-Turbo", "azure:gpt-4o", "azure/gpt-4o", "o1-preview", "openai:o3-mini",
        "o4-mini", "openrouter:openai/o3",
        "gpt-oss-120b", "text-davinci-003", "ft:gpt-3.5-turbo:org::id", "openai/some-new-name",
    ],
    "gemini": [
        "gemini-1.5-flash", "gemini-2.5-pro", "google/gemini-1.5-flash-001", "models/gemini-2.0-flash", "PaLM2",
        "vertex_ai/gemini-1.5-pro-002", "google/gemma-2-9b-it", "codegemma:7b", "chat-bison",
    ],
    "meta": [
        "LLaMA2", "meta-llama/Meta-Llama-3.1-8B-Instruct", "us.meta.llama3-1-70b-instruct-v1:0", "ollama:llama3.2:1b",
        "groq/llama-3.3-70b-versatile", "Codellama", "meta-llama/Llama-Guard-3-8B",
    ],
    "mistral": [
        "mistralai/Mistral-7B-Instruct-v0.3", "mistralai/Mixtral-8x7B-Instruct-v0.1", "codestral-latest",
        "open-mixtral-8x22b", "ministral-8b", "mistral.mistral-large-2407-v1:0",
    ],
    "qwen": [
        "Qwen/Qwen2.5-7B-Instruct", "qwen-coder-plus", "ollama/qwen2.5-coder:7b", "codeqwen1.5", "hf.co/Qwen/QwQ-32B",
    ],
    "deepseek": [
        "deepseek-chat", "deepseek:deepseek-reasoner", "deepseek-ai/DeepSeek-R1-Distill-Llama-70B",
        "deepseek-r1-distill-qwen-7b",
    ],
    "cohere": ["cohere/command-r-08-2024", "command-r-plus"],
    "tii": ["Falcon", "tiiuae/falcon-40b"],
    "xai": ["x-ai/grok-2", "grok-beta"],
    "microsoft": ["microsoft/Phi-3-mini-4k-instruct", "phi3:mini"],
    "amazon": ["amazon.nova-pro-v1:0", "titan-text-express"],
    "moonshot": ["moonshotai/Kimi-K2"],
    "zhipu": ["zai-org/GLM-4.5"],
}  # fmt: skip
NOBODYS = [
    None, "", "my-finetune", "pandalm-7b", "hhem-2.1-english", "true-nli-t5-xxl", "trueteacher-11b", "FactCC", "QAGS",
    "Rouge L", "BertScore P Art", "newbing", "bart", "gpt-neo-2.7b", "EleutherAI/gpt-j-6b", "gpt4all-j", "r1",
    "judge-1",
]  # fmt: skip


@pytest.mark.parametrize(("model", "family"), [(model, family) for family in FAMILIES for model in FAMILIES[family]])
def test_a_model_belongs_to_the_family_that_trained_it(model, family):
    assert family_of(model) == family
    assert family_of(model.upper()) == family


@pytest.mark.parametrize("model", NOBODYS)
def test_a_name_that_does_not_tell_has_no_family(model):
    assert family_of(model) is None


@given(st.text())
def test_any_name_is_answered(name):
    family = family_of(name)
    assert family is None or family.isalnum()
