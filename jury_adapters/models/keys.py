"""API keys: read once, never shown, and removed from what vendors send back."""

import hashlib
import os
import re
from collections.abc import Iterable
from dataclasses import replace

from pydantic import SecretStr

from jury_adapters.core.values import ConfigurationError
from jury_adapters.models.base import Reply

_ESCAPE = re.compile(r"\\(?:u([0-9a-fA-F]{4})|/)")


class Keys:
    """Secrets of a model, which are removed from errors and replies.

    Shorter ones than 8 characters are placeholders such as ``none``, and words of replies.
    """

    def __init__(self, values: Iterable[object]) -> None:
        secrets = (SecretStr(value) if isinstance(value, str) else value for value in values)
        self._values = tuple(one for one in secrets if isinstance(one, SecretStr) and len(one) >= 8)

    def hidden_in(self, text: str) -> str:
        """Return a text without the secrets, also where they are spelt in escapes of JSON."""
        plain = _ESCAPE.sub(lambda found: chr(int(found[1], 16)) if found[1] else "/", text)
        for value in self._values:
            if (secret := value.get_secret_value()) in plain:
                text = plain = plain.replace(secret, "[key]")
        return text

    def hidden_in_reply(self, reply: Reply) -> Reply:
        """Return a reply without the secrets; one that quotes a secret loses its tokens, which would spell it out."""
        text, model, detail = map(self.hidden_in, (reply.text, reply.model, reply.detail))
        if (text, model, detail) == (reply.text, reply.model, reply.detail):
            return reply
        return replace(
            reply, text=text, model=model, detail=detail, logprobs=reply.logprobs if text == reply.text else None
        )


def secrets_of(client: object) -> list[object]:
    """Return what an SDK's client sends that may be secret: its keys, and the headers and parameters of its owner."""
    given = [*getattr(client, "_custom_headers", {}).values(), *getattr(client, "_custom_query", {}).values()]
    keys = [getattr(client, name, None) for name in ("api_key", "auth_token", "_azure_ad_token")]
    return [*keys, *(one.removeprefix("Bearer ") for one in given if isinstance(one, str))]


class Key(Keys):
    """API key of a named model.

    Args:
        given: the key; None to read it from the environment now.
        variable: the environment variable; None if the server needs no key.
        vendor: the name in messages.
        more: further secrets, which are sent with it.

    Raises:
        ConfigurationError: there is no key, or no HTTP header can hold it.

    >>> Key(SecretStr("secret-key"), None, "openai").hidden_in("wrong key: secret-key")
    'wrong key: [key]'
    """

    def __init__(
        self, given: str | SecretStr | None, variable: str | None, vendor: str, more: Iterable[object] = ()
    ) -> None:
        self._arguments = (None, variable, vendor) if given is None else None
        found = os.environ.get(variable or "", "") if given is None else given
        value = (found.get_secret_value() if isinstance(found, SecretStr) else found).strip()
        if variable is not None and not value:
            raise ConfigurationError(f"{vendor} needs a key: set the environment variable {variable}, or give api_key=")
        if not (value.isascii() and value.isprintable()):
            raise ConfigurationError(f"the key of {vendor} has a character that no HTTP header can hold")
        super().__init__([value, *more])
        self._value = SecretStr(value or "unused")  # the SDKs send no request without one

    @property
    def digest(self) -> str:
        """What differs between two keys, and shows neither."""
        return hashlib.sha256(self.reveal().encode()).hexdigest()[:16]

    def reveal(self) -> str:
        """Return the key."""
        return self._value.get_secret_value()

    def __reduce__(self) -> "tuple[type[Key], tuple[None, str | None, str]]":
        if self._arguments is None:
            raise TypeError("a model with api_key= or client= cannot be pickled: its key would be in the pickle")
        return Key, self._arguments
