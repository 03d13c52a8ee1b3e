"""Storage of keys that the caller gives to critics and reviewers of this API."""

from __future__ import annotations

from typing import Self

from pydantic import SecretStr


class HeldKey(SecretStr):
    """Key that is masked when shown, can be copied, and cannot be pickled."""

    def __copy__(self) -> Self:
        return self

    def __deepcopy__(self, memo: object) -> Self:
        return self

    def __reduce__(self) -> str:
        raise TypeError(
            "what was built with a literal api_key= is not pickled, so that the key cannot leak; set it in the "
            "environment and leave api_key= out"
        )


class HoldsKey:
    """Base of classes with an ``api_key``: a text assigned to it becomes a :class:`HeldKey`."""

    def __setattr__(self, name: str, value: object) -> None:
        if name == "api_key" and isinstance(value, str | SecretStr):
            value = HeldKey(value if isinstance(value, str) else value.get_secret_value())
        super().__setattr__(name, value)
