"""Models that do not take images: learned from the vendor's answer once, and remembered."""

from __future__ import annotations

import re

from jury_adapters.core.errors import ModelError
from jury_adapters.models.base import Prompt
from jury_adapters.models.unsupported_parameters import Capabilities


def refuse_images(known: Capabilities, prompt: Prompt, name: str) -> None:
    """Refuse a prompt with images for a model that has refused them before.

    Args:
        known: what the model accepts.
        prompt: the prompt.
        name: the model's name, for the message.

    Raises:
        ModelError: the model does not take images; nothing was sent.
    """
    if not known.images and prompt.images:
        raise _refusal(name, sent=False)


def learned_of_images(error: ModelError, known: Capabilities, prompt: Prompt, name: str) -> ModelError:
    """Return the error of a request. If it says that the model does not take images, that is remembered.

    Args:
        error: the vendor's answer.
        known: what the model accepts.
        prompt: the prompt of the request.
        name: the model's name, for the message.
    """
    if error.status not in _REFUSALS or not prompt.images or not _NO_IMAGES.search(error.message.lower()):
        return error
    known.images = False
    return _refusal(name, sent=True, status=error.status, request_id=error.request_id)


def _refusal(name: str, *, sent: bool, status: int | None = None, request_id: str | None = None) -> ModelError:
    message = f"{name} does not take images, and this case has some"
    return ModelError(message, "no_images", status=status, request_id=request_id, sent=sent)


_REFUSALS = frozenset({400, 404, 415, 422, 500, 501})
# Wordings of OpenAI, OpenRouter, Mistral, Groq, vLLM, llama.cpp and Ollama. A refusal of one image ("image format not
# supported", "image too large") is none of a model.
_NO_IMAGES = re.compile(
    r"\bimage(?:_url|s| inputs?| content| modality)? (?:is|are) (?:not (?:supported|enabled|allowed)|only supported by)"
    r"|not support(?:ed)? (?:for )?(?:image|vision|multimodal)(?:s|\b)(?! format| type| size)"
    r"|(?:support|supports) image input|not a multimodal model|at most 0 image|missing data required for image input"
    r"|n't support (?:image|vision|multimodal)(?! format| type| size)"
)
