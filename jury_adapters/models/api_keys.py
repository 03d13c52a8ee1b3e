"""API keys, which are read from the environment when needed, and never shown, pickled or logged."""

from __future__ import annotations

import hashlib
import os
from collections.abc import Iterable
from functools import cached_property
from typing import Any

from pydantic import SecretStr

from jury_adapters.core.errors import ConfigurationError
from jury_adapters.core.secrets import without_keys
from jury_adapters.models.base import Reply
from jury_adapters.models.redaction import Secrets


class Key:
    """API key of a vendor, from an environment variable or given literally.

    A key in the environment is read when a client is made. A pickled model contains the variable's name, never the key.

    Args:
        literal: the key itself.
        variable: the environment variable that contains the key.
        vendor: the vendor's name in messages.
        origin: the source of the literal key in messages.

    Raises:
        ConfigurationError: the key cannot be sent; see :func:`check_key`.
    """

    def __init__(
        self,
        literal: str | SecretStr | None,
        variable: str | None,
        vendor: str,
        *,
        origin: str = "api_key=",
    ) -> None:
        self._literal = SecretStr(literal) if isinstance(literal, str) else literal
        self._variable = variable
        self._vendor = vendor
        self._secrets = Secrets()
        if self._literal is not None:
            check_key(self._literal.get_secret_value(), origin)
            self.also_hide([self._literal.get_secret_value()])

    def reveal(self) -> str:
        """Return the key, for the SDK only.

        Raises:
            ConfigurationError: there is no key, or it cannot be sent; the message names the variable to set.
        """
        if self._literal is not None:
            return self._literal.get_secret_value()
        if self._variable is None:
            return "none"  # local servers accept any key, and the SDKs require one
        found = os.environ.get(self._variable)
        if not found:
            raise ConfigurationError(
                f"no key for {self._vendor}: set the environment variable {self._variable}, or give api_key="
            )
        check_key(found, f"the environment variable {self._variable}")
        self.also_hide([found])
        return found

    @property
    def absent(self) -> bool:
        """Whether there is no key: none was given, and none is read from the environment."""
        return self._literal is None and self._variable is None

    @cached_property
    def identity(self) -> str:
        """Hash that tells keys apart without showing them. It is kept in memory only."""
        return hashlib.sha256(self.reveal().encode()).hexdigest()[:12]

    def forget(self) -> None:
        """Discard the identity, so that the key is read again at its next use. The variable may have changed."""
        self.__dict__.pop("identity", None)

    def hidden_in(self, text: str) -> str:
        """Return the text with every key that was used, and every text that looks like a key, redacted."""
        return without_keys(self._secrets.hidden_in(text))

    def redacted(self, text: str) -> str:
        """Return a text of a reply with every key that was used redacted."""
        return self._secrets.redacted(text)

    def redacted_reply(self, reply: Reply) -> Reply:
        """Return a reply with every key that was used redacted."""
        return self._secrets.redacted_reply(reply)

    def redact_in(self, value: Any) -> None:
        """Redact every key that was used in the texts of a parsed JSON object or array, in place."""
        self._secrets.redact_in(value)

    def also_hide(self, secrets: Iterable[str]) -> None:
        """Redact further secrets, which are sent along with the key."""
        self._secrets.add(secrets)

    def also_hide_sent(self, secrets: Iterable[str]) -> None:
        """Redact secrets that were sent with a request and may differ in the next one."""
        self._secrets.add_sent(secrets)

    def __repr__(self) -> str:
        return f"Key({'given' if self._literal else self._variable})"

    def __reduce__(self) -> tuple[type[Key], tuple[None, str | None, str]]:
        if self._literal is not None:
            raise TypeError(
                f"a critic built with a literal api_key is not pickled, so that the key cannot leak; set it in the "
                f"environment{f' ({self._variable})' if self._variable else ''} and leave api_key= out"
            )
        return (Key, (None, self._variable, self._vendor))


def check_key(key: str, origin: str) -> None:
    """Check that a key can be sent in a header.

    Args:
        key: the key, which no message repeats.
        origin: the source of the key, for the message.

    Raises:
        ConfigurationError: the key has a line break, a character outside printable ASCII, or blanks at an end.
    """
    if key.isascii() and key.isprintable() and key == key.strip():
        return
    if "\n" in key or "\r" in key:
        fault = "a line break, perhaps from the file it was read from"
    elif not key.isascii():
        fault = "a character outside ASCII"
    else:
        fault = "a blank at its end or start" if key.isprintable() else "a control character"
    raise ConfigurationError(f"the API key in {origin} contains {fault}; a key is printable ASCII on one line")
