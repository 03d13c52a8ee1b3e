"""Images of cases: read from files, bytes, addresses, data URIs and the blocks of messages. Nothing is fetched.

Type and size are read from the header. Nothing is decompressed, so a small file that would unpack to a huge image is
refused at no cost. The formats are those that vendors accept: PNG, JPEG, GIF and WebP.
"""

import base64
import os
import re
import struct
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any, Literal

from jury_adapters.core.case import Image
from jury_adapters.core.files import check_regular
from jury_adapters.core.text import visible
from jury_adapters.core.values import InputError
from jury_adapters.inputs.messages import field_of, first_of, role_of

MAX_BYTES = 20 * 2**20
"""The largest file, in bytes. A vendor may accept less: Anthropic, for example, 5 MB."""
MAX_PIXELS = 64_000_000
"""The largest image, in pixels: 8,000 x 8,000."""

Part = Literal["question", "answer", "context"]
_DATA_URI = re.compile(r"data:(?:image/[\w.+-]+)?(?:;[\w-]+=[^;,\s]*)*;base64,", re.IGNORECASE)
_ADDRESS = re.compile(r"https://[^\s/@?#\\]+(?:[/?#]\S*)?", re.IGNORECASE)
_PARTS: Mapping[str | None, Part] = {"user": "question", "assistant": "answer", "tool": "context"}


def read_image(source: str | os.PathLike[str] | bytes, *, part: Part = "context") -> Image:
    """Return the image of a file, of bytes, of a data URI, or at an address, which the vendor fetches.

    Args:
        source: the path of a file, its bytes, a text that begins with ``data:``, or an ``https:`` address.
        part: the part of the case to which the image belongs: ``question``, ``answer`` or ``context``.

    Raises:
        InputError: the file cannot be read, is no PNG, JPEG, GIF or WebP, or is too large, or the address is none.

    >>> read_image(b"GIF89a" + bytes([3, 0, 2, 0, 0, 0, 0]) + b";").media_type
    'image/gif'
    """
    if isinstance(source, bytes):
        return _of_bytes(source, part)
    text = str(source).strip()
    if isinstance(source, str) and re.match(r"(?i)[a-z][a-z0-9+.-]+:", text) and not re.match(r"(?i)[a-z]:[\\/]", text):
        return _of_address(text, part)
    try:
        check_regular(source)
        with Path(source).open("rb") as file:
            return _of_bytes(file.read(MAX_BYTES + 1), part)
    except (OSError, ValueError) as error:
        raise InputError(f"{visible(Path(source).name)}: {getattr(error, 'strerror', None) or error}") from None


def _of_address(text: str, part: Part) -> Image:
    if found := _DATA_URI.match(text):
        return _of_base64(text[found.end() :], part)
    if not _ADDRESS.fullmatch(text):
        raise InputError(f"an image is at an https: address, or in a data: URI with base64; not {visible(text, 60)}")
    return Image(url=text, part=part)


def _of_base64(text: str, part: Part) -> Image:
    if not re.fullmatch(r"[A-Za-z0-9+/\s]*={0,2}\s*", text) or len("".join(text.split())) % 4:
        raise InputError("the image is not base64")
    return _of_bytes(base64.b64decode(text), part)


def _of_bytes(data: bytes, part: Part) -> Image:
    if len(data) > MAX_BYTES:
        raise InputError(f"the image is larger than {MAX_BYTES:,} bytes")
    try:
        media_type, width, height = _header(data)
    except (struct.error, IndexError):
        width = height = 0
    if not width or not height:
        raise InputError("it is no PNG, JPEG, GIF or WebP image, or it is damaged or cut off")
    if width * height > MAX_PIXELS:
        raise InputError(f"the image has {width:,} x {height:,} pixels; at most {MAX_PIXELS:,} are allowed")
    return Image(data=data, media_type=media_type, part=part)


def images_of_column(value: Any) -> tuple[Image, ...]:
    """Return the images in the column ``images`` of a row: data URIs, ``https:`` addresses, blocks, or written images.

    A written image is what :class:`Image` is in JSON. A row may not name a local file.

    Raises:
        InputError: an entry is something else, or an image cannot be read.
    """
    return tuple(_entry(one) for one in (value if isinstance(value, list | tuple) else [value]) if one != "")


def _entry(entry: Any) -> Image:
    part = next((one for one in _PARTS.values() if one == field_of(entry, "part")), _PARTS["tool"])
    image = _of_address(entry.strip(), part) if isinstance(entry, str) else image_of_block(entry, part)
    if image is None:
        raise InputError(
            "an image is a data: URI, an https: address, or a block of a message; read a file with read_image"
        )
    return image


def images_of(messages: Iterable[Any]) -> tuple[Image, ...]:
    """Return the images of the last turn: those of the user belong to the question, those of a tool to the contexts.

    The blocks are those of LangChain (``base64``, ``url``), OpenAI (``image_url``, ``input_image``), Anthropic
    (``source``), Gemini (``inline_data``) and LlamaIndex (``ImageBlock``). Files that a block names are not read.

    Args:
        messages: messages as :func:`jury_adapters.inputs.messages.read_messages` reads them, oldest first.

    Raises:
        InputError: an image cannot be read; a judgment of what is not there would be wrong.
    """
    said = [*messages]
    start = max((place for place, one in enumerate(said) if role_of(one) == "user"), default=0)
    found = (image for one in said[start:] for image in _images_in(one, _PARTS.get(role_of(one), "context")))
    return tuple({(one.url, one.data, one.part): one for one in found}.values())


def _images_in(value: Any, part: Part) -> list[Image]:
    """Return the images in the content of a message or of the result of a tool."""
    content = first_of(value, "parts", "blocks", "content")
    blocks = [one for one in content if not isinstance(one, str)] if isinstance(content, list | tuple) else []
    found = ((image_of_block(one, part), one) for one in blocks)
    return [image for own, one in found for image in ([own] if own else _images_in(one, part))]


def image_of_block(block: Any, part: Part) -> Image | None:
    """Return the image in a block of a message; None if the block is something else; see :func:`images_of`."""
    inline, written = first_of(block, "inline_data", "inlineData"), first_of(block, "media_type", "part")
    kind = first_of(block, "type", "block_type")
    if kind not in ("image", "image_url", "input_image") and inline is None and written is None:
        return None
    source = inline or field_of(block, "source") or block
    address, data = first_of(source, "image_url", "url"), first_of(source, "base64", "data", "image")
    try:
        if address := field_of(address, "url") or address:
            return _of_address(str(address), part)
        if isinstance(data, str | bytes) and str(first_of(source, "mimeType", "mime_type") or "image/").startswith(
            "image/"
        ):
            return _of_base64(data if isinstance(data, str) else data.decode("ascii", "replace"), part)
    except InputError as error:
        raise InputError(f"a message has an image that cannot be used: {error}") from None
    raise InputError("a message has an image that is not in it, such as a local file; give it as Case(images=[...])")


def _header(data: bytes) -> tuple[str, int, int]:
    """Return the type, the width and the height that a file states; no width if it is of another type or cut off.

    Sources: https://www.w3.org/TR/png-3, https://www.w3.org/Graphics/GIF/spec-gif89a.txt, RFC 9649, ITU T.81 annex B.
    """
    if data.startswith(b"\x89PNG\r\n\x1a\n") and data[12:16] == b"IHDR" and data.find(b"IEND", 24) > 0:
        return ("image/png", *struct.unpack_from(">II", data, 16))
    if data[:6] in (b"GIF87a", b"GIF89a") and b";" in data[-1024:]:
        return ("image/gif", *struct.unpack_from("<HH", data, 6))
    if data[:4] + data[8:12] == b"RIFFWEBP" and struct.unpack_from("<I", data, 4)[0] + 8 <= len(data):
        return ("image/webp", *_webp(data))
    is_jpeg = data.startswith(b"\xff\xd8\xff") and data.find(b"\xff\xd9", 4) > 0
    return ("image/jpeg", *_jpeg(data)) if is_jpeg else ("", 0, 0)


def _jpeg(data: bytes) -> tuple[int, int]:
    """Read the segments up to the one that begins a frame, which has the size."""
    at = 2
    for _ in range(10_000):  # a file has some tens
        marker, length = data[at + 1], struct.unpack_from(">H", data, at + 2)[0]
        if data[at] != 0xFF or length < 2 or marker == 0xDA:
            break
        if 0xC0 <= marker < 0xD0 and marker not in (0xC4, 0xC8, 0xCC):
            return struct.unpack_from(">HH", data, at + 5)[::-1]  # the height comes first
        at += 2 + length
    return 0, 0


def _webp(data: bytes) -> tuple[int, int]:
    """Read the first chunk, which is of one of three kinds."""
    if data[12:16] == b"VP8X":
        return int.from_bytes(data[24:27], "little") + 1, int.from_bytes(data[27:30], "little") + 1
    if data[12:16] == b"VP8L":
        [bits] = struct.unpack_from("<I", data, 21)
        return (bits & 0x3FFF) + 1, (bits >> 14 & 0x3FFF) + 1
    width, height = struct.unpack_from("<HH", data, 26)
    return width & 0x3FFF, height & 0x3FFF
