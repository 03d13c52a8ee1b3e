"""Models: the port through which critics reach language models, and what stands behind it."""

from jury_adapters.models.base import ChatModel, ModelError, Options, Prompt, Reply, Token, Turn
from jury_adapters.models.names import model_of, open_model
from jury_adapters.models.objects import FunctionModel
from jury_adapters.models.prices import set_price

__all__ = [
    "ChatModel",
    "FunctionModel",
    "ModelError",
    "Options",
    "Prompt",
    "Reply",
    "Token",
    "Turn",
    "model_of",
    "open_model",
    "set_price",
]
