"""Identities of model objects that were made elsewhere: address and settings, without secrets.

A store must not return the answer of one model for another. So all visible properties of an object count, except
for secrets and for settings that change how a call is made but not what is answered (:data:`_ABOUT_THE_CALL`).
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping, Set
from dataclasses import dataclass, fields, is_dataclass
from enum import Enum
from functools import partial
from os import PathLike, fspath
from typing import Any, Final

from pydantic import BaseModel, SecretBytes, SecretStr

from jury_adapters.core.secrets import without_keys
from jury_adapters.core.values import JsonValue
from jury_adapters.models.addresses import client_address, plain_address, refuse_user_information
from jury_adapters.models.api_keys import check_key
from jury_adapters.models.credentials import secrets_in_client, secrets_in_headers, secrets_in_query
from jury_adapters.models.wrapped import model_name


@dataclass(frozen=True, slots=True)
class ObjectIdentity:
    """Identity of a model object: equal for equal objects, in this process and in any other.

    Attributes:
        address: the server that the object asks; "" if it is unknown.
        settings: the object's class and settings, as JSON values without secrets.
        known: whether the object names its model or its server; objects that name neither cannot be told apart.
    """

    address: str = ""
    settings: JsonValue = None
    known: bool = False


def identity_of_object(model: object) -> ObjectIdentity:
    """Return the identity of one model object, such as a ``ChatOpenAI`` or a LlamaIndex ``OpenAILike``."""
    address = _address_of(model)
    settings = {
        name: value for name, value in _own_settings(model) if not (_is_address(name) and address and value == address)
    }
    known = bool(address) or model_name(model) != type(model).__name__
    return ObjectIdentity(address, [_qualified(type(model)), settings], known)


def secrets_of_object(model: object) -> Iterator[str]:
    """Yield the keys of a model object, and the secrets in its headers, query parameters and clients.

    Raises:
        ConfigurationError: a key cannot be sent in a header, or an address contains user information.
    """
    kind = type(model).__name__
    for name, value in _declared(model):
        if isinstance(value, Mapping):
            yield from secrets_in_query(value) if "query" in _words(name) else secrets_in_headers(value)
        elif _is_api_key(name, value):
            key = value.get_secret_value() if isinstance(value, SecretStr) else value
            check_key(key, f"{name} of {kind}")
            yield key
        elif _is_address(name) and isinstance(value, str):
            refuse_user_information(value, f"{name} of {kind}")
    for _, client in _held_clients(model):
        yield from secrets_in_client(client)


def settings_of_client(client: object) -> JsonValue:
    """Return the headers and query parameters that were given to an SDK client, without secrets.

    A gateway may choose the model by them.
    """
    found = {name: plain_setting(getattr(client, name, None)) for name in ("_custom_headers", "_custom_query")}
    return {name: value for name, value in found.items() if value} or None


def plain_setting(value: object, depth: int = 0) -> Any:
    """Return a setting as a JSON value that is equal in every process.

    Secrets are left out: secret types, texts under names such as ``api_key``, and texts that look like keys. A function
    or class is represented by its qualified name, any other object by its class.
    """
    if depth > _DEEPEST:
        return "..."
    if value is None or isinstance(value, bool | int | float):
        return value.value if isinstance(value, Enum) else value
    if isinstance(value, str):
        return (plain_address(value) if _URL.fullmatch(value) else "") or without_keys(str(value))
    if isinstance(value, Enum):
        return plain_setting(value.value, depth + 1)
    if isinstance(value, SecretStr | SecretBytes | bytes | bytearray):
        return None
    if isinstance(value, PathLike):
        return str(fspath(value))
    return _plain_structure(value, depth)


def _plain_structure(value: object, depth: int) -> Any:
    if isinstance(value, Mapping):
        return _plain_items(((str(name), item) for name, item in value.items()), depth)
    if isinstance(value, list | tuple):
        return [plain_setting(item, depth + 1) for item in value]
    if isinstance(value, Set):
        return sorted((plain_setting(item, depth + 1) for item in value), key=repr)
    if isinstance(value, partial):
        parts = (value.func, value.args, value.keywords)
        return ["partial", *(plain_setting(part, depth + 1) for part in parts)]
    if isinstance(value, BaseModel):
        held = ((name, getattr(value, name, None)) for name in type(value).model_fields)
        return [_qualified(type(value)), _plain_items(held, depth)]
    if is_dataclass(value) and not isinstance(value, type):
        held = ((field.name, getattr(value, field.name, None)) for field in fields(value))
        return [_qualified(type(value)), _plain_items(held, depth)]
    return _qualified(value if isinstance(value, type | Callable) else type(value))


def _plain_items(items: Iterator[tuple[str, object]], depth: int) -> dict[str, Any]:
    plain = {name: plain_setting(item, depth + 1) for name, item in items if not _is_secret(name, item)}
    return {name: item for name, item in plain.items() if item is not None}


def _own_settings(model: object) -> Iterator[tuple[str, Any]]:
    """Yield the settings of the object itself. Settings that are off by default and not changed are left out.

    So a new optional setting in a later version of a framework does not invalidate a store.
    """
    fields = getattr(type(model), "model_fields", None) or {}
    for name, value in _declared(model):
        if _is_secret(name, value) or name in _ABOUT_THE_CALL or _words(name) & _WORDS_ABOUT_THE_CALL:
            continue
        plain = plain_setting(value)
        left_off = plain is None or plain in ([], {}) or (plain is False and fields[name].default is False)
        if not left_off:
            yield name, plain


def _declared(model: object) -> Iterator[tuple[str, Any]]:
    """Yield the declared settings of an object, with their values."""
    declared = getattr(type(model), "model_fields", None)
    for name in declared if isinstance(declared, Mapping) else ():
        yield name, getattr(model, name, None)


def _address_of(model: object) -> str:
    """Return the object's own address, unless its SDK client sends elsewhere."""
    declared = getattr(type(model), "model_fields", None) or {}
    named = [plain_address(getattr(model, name, None)) for name in declared if _is_address(name)]
    own = [address for address in named if address]
    used = next((address for client in _clients_in(model) if (address := client_address(client))), "")
    # Some clients are made late, and add the deployment to the path, which is one of the settings anyway.
    within = (address for address in own if used == address or used.startswith(f"{address}/"))
    return next(within, used) if used else next(iter(own), "")


def _clients_in(model: object) -> Iterator[object]:
    """Yield the clients of vendors inside the object, asynchronous ones first. HTTP clients are left out."""
    held = {name: client for name, client in _held_clients(model) if "http" not in name}
    for name in sorted(held, key=lambda name: ("async" not in name and "aclient" not in name, name)):
        yield held[name]


def _held_clients(model: object) -> Iterator[tuple[str, object]]:
    held: dict[str, object] = {**getattr(model, "__dict__", {}), **(getattr(model, "__pydantic_private__", None) or {})}
    for name, value in held.items():
        if "client" in name and value is not None:
            yield name, value


def _is_address(name: str) -> bool:
    return bool(_words(name) & _ADDRESS_WORDS)


def _is_secret(name: str, value: object) -> bool:
    """Return whether a value is secret by its name. Numbers are not: ``max_token=5`` is a setting."""
    return not isinstance(value, bool | int | float) and bool(_words(name) & _SECRET_WORDS)


def _is_api_key(name: str, value: object) -> bool:
    """Return whether a value is a key. A text is one only by its name, because ``eos_token`` is not secret."""
    named = "apikey" in _words(name) or _words(name) >= {"api", "key"}
    return isinstance(value, SecretStr) or (isinstance(value, str) and named)


def _words(name: str) -> frozenset[str]:
    """Return the words of a name such as ``openaiApiKey``, ``X-Api-Key`` or ``api_key``."""
    return frozenset(word.lower() for word in _WORD.findall(name))


def _qualified(thing: object) -> str:
    name = getattr(thing, "__qualname__", None) or type(thing).__qualname__
    return f"{getattr(thing, '__module__', '')}.{name}"


_DEEPEST: Final = 12
_WORD = re.compile(r"[A-Z]+(?![a-z])|[A-Z]?[a-z0-9]+")
_URL = re.compile(r"[A-Za-z][\w+.-]*://\S+")
_SECRET_WORDS = frozenset({
    "key", "keys", "apikey", "token", "jwt", "secret", "secrets", "password", "passwords", "passwd", "pwd",
    "credential", "credentials", "auth", "authorization", "authentication", "bearer", "cookie", "cookies", "signature",
})  # fmt: skip
_ADDRESS_WORDS = frozenset({"url", "uri", "base", "endpoint", "host", "server"})
_WORDS_ABOUT_THE_CALL = frozenset({
    "client", "callback", "callbacks", "cache", "retries", "timeout", "proxy", "organization", "socket",
})  # fmt: skip
_ABOUT_THE_CALL = frozenset({
    "name", "tags", "metadata", "verbose", "custom_get_token_ids", "rate_limiter", "disable_streaming", "streaming",
    "stream_usage", "output_version", "profile", "include_response_headers",
})  # fmt: skip
