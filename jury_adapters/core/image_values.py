"""Images in rows, in blocks of messages, and in objects of frameworks."""

from __future__ import annotations

import os
from base64 import b64encode
from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import replace
from pathlib import Path
from typing import Any, Final

from jury_adapters.core.errors import ConfigurationError, InputError, plain_repr
from jury_adapters.core.images import IMAGE_ROLES, Image, ImageRole, image_from
from jury_adapters.core.message_texts import field_of


def images_of_column(value: object, folder: Path | None) -> tuple[Image, ...]:
    """Return the images in the column ``attachments`` or ``images`` of a row.

    An entry is a path, an address or a ``data:`` URL as text, a mapping of the arguments of :class:`Image`, a block of
    a message as :func:`image_in_block` reads it, or an object of a framework with an image. A text begins with
    ``data:``, ``http://`` or ``https://``, or is a path. A blank text, such as the empty cell of
    a table, is not an entry; in a list it is refused, because an image may have been lost.

    Args:
        value: one entry, or a list of them.
        folder: the folder in which local files may be, and from which relative paths are read; None allows no files.

    Raises:
        InputError: an entry is not an image, or is outside the folder.
    """
    if isinstance(value, str) and not value.strip():
        return ()
    entries = [value] if isinstance(value, str | bytes | Mapping) or not isinstance(value, Sequence) else list(value)
    return tuple(_entry(entry, folder) for entry in entries)


def images_of_part(value: object, role: ImageRole) -> tuple[Image, ...] | None:
    """Return the images under such a name in the inputs or outputs of a run; None if the values are not images.

    An image that cannot be used is one with a problem, on which critics abstain. Local paths are not read.

    Args:
        value: one entry, or a list of them.
        role: the field to which an image without a role belongs.
    """
    entries = [value] if isinstance(value, str | bytes | Mapping) or not isinstance(value, Sequence) else list(value)
    if not entries or not all(isinstance(one, Image) or _is_image(one) for one in entries):
        return None
    return tuple(_entry_of_part(one, role) for one in entries)


def image_in_block(block: object, role: ImageRole) -> Image | None:
    """Return the image in a block of a message; None if the block is something else.

    The blocks are those of LangChain (``{"type": "image", "base64": ..., "mime_type": ...}``, also with
    ``source_type``), OpenAI (``image_url``, ``input_image``), Anthropic (``source``), Gemini (``inline_data``) and
    LlamaIndex (``ImageBlock``, ``ImageDocument``, ``ImageNode``, and the ``MediaResource`` of a node). A block whose
    image cannot be used is an image with a problem, on which critics abstain. Local paths in blocks are not read.

    Args:
        block: the block.
        role: the field to which the image belongs.
    """
    found = _source_in(block)
    if found is None:
        return None
    try:
        if "path" in found:
            return Image(problem="it is a local file, which is not read from messages", role=role)
        return Image(**found, role=role)
    except (ConfigurationError, TypeError) as error:
        return Image(problem=str(error), role=role)


def images_in_content(content: object, role: ImageRole) -> Iterator[Image]:
    """Yield the images in the content of a message."""
    if isinstance(content, Mapping):
        content = (content,)
    if isinstance(content, Sequence) and not isinstance(content, str | bytes):
        for block in content:
            image = image_in_block(block, role)
            if image is not None:
                yield image
            inner = field_of(block, "content") if isinstance(block, Mapping) else None  # the result of a tool
            if isinstance(inner, list):
                yield from images_in_content(inner, role)


def _entry(entry: object, folder: Path | None) -> Image:
    try:
        if isinstance(entry, Image):
            return entry
        if isinstance(entry, str) and entry.strip():
            named: dict[str, Any] = {"url" if entry.lower().startswith(_ADDRESSES) else "path": entry}
        elif isinstance(entry, Mapping) and not entry.keys() - set(_OWN_FIELDS):
            named = dict(entry)
        else:
            found = _source_in(entry)
            if found is None:
                raise InputError(f"an image is a path, an address, or a mapping of its fields, not {plain_repr(entry)}")
            if "problem" in found:
                raise InputError(f"attachments: the image cannot be used: {found['problem']}")
            role = field_of(entry, "role")
            named = {**found, **({"role": role} if role in IMAGE_ROLES else {})}
        if named.get("path") is not None:
            named["path"] = _confined(named["path"], folder)
        return image_from(named)
    except InputError:
        raise
    except (ConfigurationError, TypeError, ValueError) as error:
        raise InputError(f"attachments: {error}") from None


def _is_image(entry: object) -> bool:
    if isinstance(entry, str):
        return entry.lower().startswith(_ADDRESSES) or entry.lower().endswith(_ENDINGS)
    if isinstance(entry, Mapping):
        named = entry.keys() & {"url", "base64", "path", "digest"}
        return (bool(named) and not entry.keys() - set(_OWN_FIELDS)) or _source_in(entry) is not None
    return _source_in(entry) is not None


def _entry_of_part(entry: object, role: ImageRole) -> Image:
    if isinstance(entry, Mapping) and _source_in(entry) is None and "role" not in entry:
        entry = {**entry, "role": role}
    try:
        found = _entry(entry, None)
    except InputError as error:
        return Image(problem=str(error), role=role)
    if isinstance(entry, str) or (isinstance(entry, Mapping) and entry.get("role") not in IMAGE_ROLES):
        return replace(found, role=role)
    return found


def _confined(path: object, folder: Path | None) -> Path:
    """Return the path of a local file in the folder. Symbolic links that lead out of it are refused.

    Raises:
        InputError: the file is outside the folder, or no folder is allowed.
    """
    if not isinstance(path, str | os.PathLike):
        raise InputError(f"the path of an image is text, not {plain_repr(path)}")
    if folder is None:
        raise InputError(
            "a row may not name a local image here; name the folder of the images (image_folder=, or --image-folder)"
        )
    try:
        root = folder.resolve(strict=True)
        found = (root / path).resolve(strict=True)
    except (OSError, ValueError, RuntimeError):
        raise InputError(f"there is no image {plain_repr(str(path))} in the folder of images") from None
    if not found.is_relative_to(root):
        raise InputError(f"the image {plain_repr(str(path))} is outside the folder of images")
    return found


def _source_in(block: object) -> dict[str, Any] | None:
    """Return the source of the image in a block or object, as arguments of :class:`Image`."""
    if isinstance(block, Mapping):
        return _source_in_mapping(block)
    inline = field_of(block, "inline_data")
    if inline is not None and type(block).__name__ == "Part":
        return _inline(inline)
    node = field_of(block, "node")
    if node is not None:
        block = node
    kind = {one.__name__ for one in type(block).__mro__}
    if not kind & _CLASSES:
        return None
    found: dict[str, Any] = {}
    with suppress(Exception):  # attributes of other packages' objects may raise anything
        for names, ours in _ATTRIBUTES:
            value = next((one for name in names if (one := getattr(block, name, None))), None)
            if value is not None:
                text = value.decode() if isinstance(value, bytes) else str(value)
                found = {"url" if text.startswith("data:") else ours: text}
                break
        mime_type = getattr(block, "image_mimetype", None) or getattr(block, "mimetype", None)
        if isinstance(mime_type, str) and "base64" in found and mime_type.startswith("image/"):
            found["mime_type"] = mime_type
    return found or None


def _inline(inline: object) -> dict[str, Any] | None:
    """Return the source of a part of Gemini, whose data are Base64 text in JSON, and bytes in objects."""
    mime_type = field_of(inline, "mime_type") or field_of(inline, "mimeType")
    data = field_of(inline, "data")
    if not isinstance(mime_type, str) or not mime_type.startswith("image/"):
        return None
    content = b64encode(data).decode() if isinstance(data, bytes) else data
    return {"base64": content, "mime_type": mime_type} if isinstance(content, str) else {"problem": _NO_CONTENT}


def _source_in_mapping(block: Mapping[Any, Any]) -> dict[str, Any] | None:
    inline = block.get("inline_data") or block.get("inlineData")
    if inline is not None:
        return _inline(inline)
    kind = block.get("type") or block.get("block_type")
    if kind in ("image_url", "input_image"):
        inner = block.get("image_url")
        url = inner.get("url") if isinstance(inner, Mapping) else inner
        return {"url": url} if isinstance(url, str) else {"problem": "the block names no image"}
    if kind != "image":
        return None
    source = block.get("source")
    if isinstance(source, Mapping):  # Anthropic
        if source.get("type") == "base64":
            return {"base64": source.get("data"), "mime_type": source.get("media_type")}
        return {"url": source["url"]} if isinstance(source.get("url"), str) else {"problem": _NO_CONTENT}
    content = block.get("base64") or (block.get("data") if block.get("source_type", "base64") == "base64" else None)
    content = content or block.get("image")
    if isinstance(content, bytes):
        content = content.decode("ascii", "replace")
    if isinstance(content, str):
        mime_type = next((found for name in _MIME_TYPES if (found := block.get(name))), None)
        return {"base64": content, "mime_type": mime_type}
    for name in ("url", "path"):
        if isinstance(block.get(name), str | os.PathLike):
            return {name: str(block[name])}
    return {"problem": _NO_CONTENT}


_ADDRESSES: Final = ("data:", "http://", "https://")
_ENDINGS: Final = (".png", ".jpg", ".jpeg", ".gif", ".webp")
_OWN_FIELDS: Final = ("url", "base64", "path", "mime_type", "role", "digest", "problem")
_CLASSES: Final = frozenset({"ImageBlock", "ImageNode", "ImageDocument", "MediaResource"})  # of LlamaIndex
_ATTRIBUTES: Final = (
    (("image", "data"), "base64"), (("image_path", "path"), "path"), (("image_url", "url"), "url"),
)  # fmt: skip
_MIME_TYPES: Final = ("mime_type", "image_mimetype", "mimeType")  # the last one in the results of tools over MCP
_NO_CONTENT: Final = "its content is not in the message"
