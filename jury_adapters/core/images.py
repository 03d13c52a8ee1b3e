"""Images of a case: sources, limits and digests."""

from __future__ import annotations

import base64 as base64_codec
import binascii
import hashlib
import os
import re
import stat
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Final, Literal, TypeAlias, get_args

from jury_adapters.core.errors import ConfigurationError, plain_repr, unknown
from jury_adapters.core.image_headers import read_header
from jury_adapters.core.values import clean_text

ImageRole: TypeAlias = Literal["question", "answer", "context"]
IMAGE_ROLES: Final = get_args(ImageRole)
MAX_IMAGE_BYTES: Final = 20 * 2**20
"""Largest image, in bytes. Vendors may accept less: Anthropic, for example, 5 MB."""
MAX_IMAGE_PIXELS: Final = 64_000_000
"""Largest image, in pixels: 8,000 x 8,000."""


@dataclass(frozen=True, slots=True)
class Image:
    """Image that belongs to the question, the answer or the contexts of a case.

    Give exactly one of ``url``, ``base64`` and ``path``. A file is read at once, and only as far as the limits
    allow; its type and size are read from its header, and the image is not decoded. An image at an address is never
    fetched by this package. The vendor fetches it.

    Args:
        url: an ``http`` or ``https`` address, which the vendor fetches; or a ``data:`` URL.
        base64: the content of an image file, in Base64.
        path: an image file. The content is read at once, and the path is not kept in records.
        mime_type: the type, such as ``"image/png"``; by default that of the file's header.
        role: the field to which the image belongs: ``"question"``, ``"answer"`` or ``"context"``. A critic sees the
            image if its rubric shows that field.
        digest: the digest of an image whose content is missing, such as one from a record. A critic abstains on
            it. It is computed if there is content.
        problem: the reason why a reader of rows or messages could not use an image. A critic abstains on it.

    Attributes:
        width: in pixels; 0 if it is unknown.
        height: in pixels; 0 if it is unknown.

    Raises:
        ConfigurationError: none or several sources are given, the file cannot be read or is no PNG, JPEG, GIF or WebP
            image, a limit is exceeded (:data:`MAX_IMAGE_BYTES`, :data:`MAX_IMAGE_PIXELS`), or the type is not that of
            the header.

    >>> Image(base64="R0lGODlhAwACAAAAADs=", role="question").mime_type
    'image/gif'
    """

    url: str | None = None
    base64: str | None = field(default=None, repr=False)
    path: str | os.PathLike[str] | None = field(default=None, repr=False, compare=False)
    mime_type: str | None = None
    role: ImageRole = "context"
    digest: str = ""
    problem: str = ""
    width: int = field(default=0, init=False, repr=False, compare=False)
    height: int = field(default=0, init=False, repr=False, compare=False)

    def __post_init__(self) -> None:
        given = [name for name in ("url", "base64", "path") if getattr(self, name) is not None]
        given += [name for name in ("digest", "problem") if getattr(self, name) and not given]
        if self.role not in IMAGE_ROLES:
            raise ConfigurationError(unknown("role of an image", self.role, IMAGE_ROLES))
        if len(given) != 1:
            named = " and ".join(given) or "none"
            raise ConfigurationError(f"an image has one source, url=, base64= or path=; {named} given")
        for name in ("url", "base64", "mime_type", "digest", "problem"):
            value = getattr(self, name)
            if value is not None and not isinstance(value, str):
                raise ConfigurationError(f"Image.{name} is text, not {type(value).__name__}")
        if not isinstance(self.path, str | os.PathLike | None):
            raise ConfigurationError(f"Image.path is the path of a file, not {plain_repr(self.path)}")
        if self.mime_type is not None:
            self._set(mime_type=self.mime_type.strip().lower() or None)  # the case does not matter
        if self.url is not None:
            self._set(url=clean_text(self.url).strip())
            embedded = _DATA_URL.match(self.url)
            if embedded is None:
                _check_address(self.url)
                return
            self._set(url=None, base64=self.url[embedded.end() :], mime_type=self.mime_type or embedded[1].lower())
        if self.path is not None:
            self._hold(_read_file(self.path))
        elif self.base64 is not None:
            self._hold(_decoded(self.base64))
        elif self.problem:
            self._set(problem=clean_text(self.problem))
        elif not _DIGEST.fullmatch(self.digest):
            raise ConfigurationError("the digest of an image is 'sha256:' and 64 hexadecimal digits")

    @property
    def field(self) -> str:
        """The field of the case to which the image belongs."""
        return "contexts" if self.role == "context" else self.role

    @property
    def is_at_hand(self) -> bool:
        """Whether the image can be sent. One that was read from a record has only a digest."""
        return self.base64 is not None or self.url is not None

    @property
    def data_url(self) -> str:
        """The image as a ``data:`` URL, or its address."""
        return f"data:{self.mime_type};base64,{self.base64}" if self.base64 is not None else self.url or ""

    def _hold(self, data: bytes) -> None:
        """Keep the content of a file, after checking it."""
        if len(data) > MAX_IMAGE_BYTES:
            raise ConfigurationError(_TOO_LARGE)
        header = read_header(data)
        if header.width * header.height > MAX_IMAGE_PIXELS:
            raise ConfigurationError(
                f"the image has {header.width:,} x {header.height:,} pixels; at most {MAX_IMAGE_PIXELS:,} are allowed"
            )
        if self.mime_type is not None and _OTHER_NAMES.get(self.mime_type, self.mime_type) != header.mime_type:
            raise ConfigurationError(
                f"the image is {header.mime_type} by its header, and not {plain_repr(self.mime_type)}"
            )
        self._set(
            base64=base64_codec.b64encode(data).decode(), path=None, mime_type=header.mime_type, width=header.width,
            height=header.height, digest=f"sha256:{hashlib.sha256(data).hexdigest()}",
        )  # fmt: skip

    def _set(self, **values: object) -> None:
        for name, value in values.items():
            object.__setattr__(self, name, value)


def image_from(value: object) -> Image:
    """Return the image of a value in ``Case(attachments=[...])``: an :class:`Image`, or a mapping of its arguments.

    Raises:
        ConfigurationError: the value is something else, or no valid image.
    """
    if isinstance(value, Image):
        return value
    if not isinstance(value, Mapping):
        raise ConfigurationError(f"an attachment is an Image or a mapping of its fields, not {type(value).__name__}")
    for name in value:
        if name not in _ARGUMENTS:
            raise ConfigurationError(unknown("field of an image", name, _ARGUMENTS))
    return Image(**value)


def record_of(image: Image) -> dict[str, Any]:
    """Return what records keep of an image: its digest or address, without content and path."""
    source = next({name: value} for name in ("digest", "url", "problem") if (value := getattr(image, name)))
    return {**source, **({"mime_type": image.mime_type} if image.mime_type else {}), "role": image.role}


def _check_address(url: str) -> None:
    scheme = url.partition(":")[0].lower()
    if scheme not in ("http", "https") or not _ADDRESS.fullmatch(url):
        raise ConfigurationError(
            "the url of an image is an http or https address without user information, or a data: URL with Base64; "
            "give a local file as path="
        )


def _decoded(text: str) -> bytes:
    if len(text) > MAX_IMAGE_BYTES * 3 // 2:  # Base64 takes four characters for three bytes, and may have line breaks
        raise ConfigurationError(_TOO_LARGE)
    try:
        return base64_codec.b64decode("".join(text.split()), validate=True)
    except (binascii.Error, ValueError):
        raise ConfigurationError("the image is not valid Base64") from None


def _read_file(path: str | os.PathLike[str]) -> bytes:
    """Return the content of a regular file. A pipe or a device is refused, without waiting for it."""
    if str(path).lower().startswith(("http://", "https://", "data:")):
        raise ConfigurationError("the path of an image is that of a local file; give an address or a data: URL as url=")
    shown = plain_repr(str(Path(path)))
    try:
        number = os.open(path, os.O_RDONLY | getattr(os, "O_NONBLOCK", 0) | getattr(os, "O_BINARY", 0))
        with os.fdopen(number, "rb") as file:
            found = os.fstat(file.fileno())
            if not stat.S_ISREG(found.st_mode):
                raise ConfigurationError(f"{shown} is not a regular file")
            if found.st_size > MAX_IMAGE_BYTES:
                raise ConfigurationError(_TOO_LARGE)
            return file.read(MAX_IMAGE_BYTES + 1)
    except (OSError, ValueError) as error:
        if isinstance(error, ConfigurationError):
            raise
        raise ConfigurationError(f"the image {shown} cannot be read: {getattr(error, 'strerror', error)}") from None


_TOO_LARGE = f"the image is larger than {MAX_IMAGE_BYTES // 2**20} MiB"
_DATA_URL = re.compile(r"data:(image/[a-z.+-]+)(?:;[\w-]+=[^;,\s]*)*;base64,", re.IGNORECASE)
_ADDRESS = re.compile(r"[a-z]+://[^\s/@?#\\]+(?:[/?#][^\s]*)?", re.IGNORECASE)
_DIGEST = re.compile(r"sha256:[0-9a-f]{64}")
_ARGUMENTS = ("url", "base64", "path", "mime_type", "role", "digest", "problem")
_OTHER_NAMES = {"image/jpg": "image/jpeg"}
