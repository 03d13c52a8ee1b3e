"""Fingerprints of models: the part of a store's key that identifies the model and its parameters."""

from __future__ import annotations

import hashlib
import json

from jury_adapters.core.errors import ConfigurationError
from jury_adapters.core.values import JsonValue
from jury_adapters.models.addresses import address_of
from jury_adapters.models.base import Named


def fingerprint_of(model: Named, *parameters: JsonValue, name: str = "") -> str:
    """Return a short hash of a model and the parameters with which it is asked; equal in every process.

    It covers the model's name, its effective address and, for a model object, its settings. API keys are not part of
    it, so a store remains valid for a new key.

    Args:
        model: the model, without its limits.
        *parameters: everything else that affects the answer.
        name: the name given by the user; it is part of the hash for a model that has no identity of its own.
    """
    named = None if has_identity(model) else name
    return digest([model.name, address_of(model), getattr(model, "answer_settings", None), named, parameters])


def has_identity(model: Named) -> bool:
    """Return whether the model can be told from others by its name, address and settings.

    This is false for a bare function, and for a framework's object that has neither a model's name nor an address.
    """
    return getattr(model, "has_identity", True) is not False


def check_identity(model: Named, name: str) -> None:
    """Check that a store can tell this model from others.

    Args:
        model: the model, without its limits.
        name: the name that the user gave to the judge that asks it; "" if there is none.

    Raises:
        ConfigurationError: the store cannot; the message says what to write.
    """
    if name or has_identity(model):
        return
    raise ConfigurationError(
        f"a store cannot tell the model {model.name!r} from others, because it has neither a model's name nor an "
        "address. Give the critic a name: Critic(model, ..., name='name'). A function can also be named itself: "
        "FunctionModel(function, name='name')"
    )


def digest(content: object) -> str:
    """Return a short hash of JSON values."""
    return hashlib.sha256(json.dumps(content, sort_keys=True).encode()).hexdigest()[:16]
