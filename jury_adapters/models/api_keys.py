"""API keys that are read from the environment when they are needed, and never shown, pickled or logged."""

from __future__ import annotations

import hashlib
import os
from functools import cached_property

from pydantic import SecretStr

from jury_adapters.core.errors import ConfigurationError
from jury_adapters.core.secrets import without_keys


class Key:
    """A vendor's API key: from an environment variable, or given literally.

    The key itself is read when a client is made. A pickled model carries the variable's name and never the key.
    """

    def __init__(self, literal: str | SecretStr | None, variable: str | None, vendor: str) -> None:
        self._literal = SecretStr(literal) if isinstance(literal, str) else literal
        self._variable = variable
        self._vendor = vendor
        self._used: set[str] = set()

    def reveal(self) -> str:
        """The key, for the SDK only.

        Raises:
            ConfigurationError: there is none; the message names the variable to set.
        """
        if self._literal is not None:
            return self._literal.get_secret_value()
        if self._variable is None:
            return "none"  # local servers take any key, and the SDKs insist on one
        found = os.environ.get(self._variable)
        if not found:
            raise ConfigurationError(
                f"no key for {self._vendor}: set the environment variable {self._variable}, or give api_key="
            )
        self._used.add(found)
        return found

    @property
    def absent(self) -> bool:
        """Whether there is no key: none was given, and none is read from the environment."""
        return self._literal is None and self._variable is None

    @cached_property
    def identity(self) -> str:
        """Tells keys apart without showing them; in memory only."""
        return hashlib.sha256(self.reveal().encode()).hexdigest()[:12]

    def forget(self) -> None:
        """Read the key anew at its next use; the variable may hold another one by now."""
        self.__dict__.pop("identity", None)

    def hidden_in(self, text: str) -> str:
        """Return the text with every key that was used, and whatever looks like a key, redacted."""
        known = {self._literal.get_secret_value()} if self._literal else self._used
        for key in known:
            if len(key) > 3:  # a shorter one would redact plain words
                text = text.replace(key, "[key]")
        return without_keys(text)

    def __repr__(self) -> str:
        return f"Key({'given' if self._literal else self._variable})"

    def __reduce__(self) -> tuple[type[Key], tuple[None, str | None, str]]:
        if self._literal is not None:
            raise TypeError(
                f"a critic built with a literal api_key is not pickled, so that the key cannot leak; set it in the "
                f"environment{f' ({self._variable})' if self._variable else ''} and leave api_key= out"
            )
        return (Key, (None, self._variable, self._vendor))
