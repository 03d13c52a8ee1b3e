"""Headers of image files: type and size in pixels, read without decoding the image."""

from __future__ import annotations

import struct
from typing import NamedTuple

from jury_adapters.core.errors import ConfigurationError


class ImageHeader(NamedTuple):
    """Type and size of an image.

    Attributes:
        mime_type: ``"image/png"``, ``"image/jpeg"``, ``"image/gif"`` or ``"image/webp"``.
        width: in pixels, as the file states it.
        height: in pixels, as the file states it.
    """

    mime_type: str
    width: int
    height: int


def read_header(data: bytes) -> ImageHeader:
    """Return the type and size that an image file states.

    Nothing is decompressed, so a small file that states a huge size costs nothing. The formats are those that OpenAI
    and Anthropic accept: PNG, JPEG, GIF and WebP.

    Raises:
        ConfigurationError: the file is of another type, damaged, or cut off.

    >>> read_header(b"GIF89a" + bytes([3, 0, 2, 0, 0, 0, 0]) + b";")
    ImageHeader(mime_type='image/gif', width=3, height=2)
    """
    for begins, read in _READERS:
        if data.startswith(begins):
            try:
                header = read(data)
            except (struct.error, IndexError):
                header = None
            if header is None or header.width < 1 or header.height < 1:
                raise ConfigurationError("the image is damaged or cut off")
            return header
    raise ConfigurationError("the file is not an image of a known type: PNG, JPEG, GIF or WebP")


def _read_png(data: bytes) -> ImageHeader | None:
    """Read a PNG file (https://www.w3.org/TR/png-3/): the first chunk has the size, and the last one is IEND."""
    width, height = struct.unpack_from(">II", data, 16)
    complete = data[12:16] == b"IHDR" and data.find(b"IEND", 24) > 0
    return ImageHeader("image/png", width, height) if complete else None


def _read_jpeg(data: bytes) -> ImageHeader | None:
    """Read a JPEG file (ITU T.81, annex B): the size is in the segment that begins a frame."""
    at = 2
    while data[at] == 0xFF:
        marker = data[at + 1]
        if marker in _JPEG_ALONE:
            at += 1 if marker == 0xFF else 2
            continue
        [length] = struct.unpack_from(">H", data, at + 2)
        if marker in _JPEG_FRAMES:
            height, width = struct.unpack_from(">HH", data, at + 5)
            ends = data.find(b"\xff\xd9", at) > 0  # cameras append films and previews
            return ImageHeader("image/jpeg", width, height) if ends else None
        if length < 2 or marker == 0xDA:  # the compressed data begin without a frame
            return None
        at += 2 + length
    return None


def _read_gif(data: bytes) -> ImageHeader | None:
    """Read a GIF file (https://www.w3.org/Graphics/GIF/spec-gif89a.txt), which ends with a semicolon."""
    width, height = struct.unpack_from("<HH", data, 6)
    return ImageHeader("image/gif", width, height) if b";" in data[-_TAIL:] else None


def _read_webp(data: bytes) -> ImageHeader | None:
    """Read a WebP file (RFC 9649): the size is in the first chunk, of one of three kinds."""
    [length] = struct.unpack_from("<I", data, 4)
    if data[8:12] != b"WEBP" or length + 8 > len(data):
        return None
    kind = data[12:16]
    if kind == b"VP8X":
        width, height = (int.from_bytes(data[at : at + 3], "little") + 1 for at in (24, 27))
    elif kind == b"VP8L" and data[20] == 0x2F:
        [bits] = struct.unpack_from("<I", data, 21)
        width, height = (bits & 0x3FFF) + 1, (bits >> 14 & 0x3FFF) + 1
    elif kind == b"VP8 " and data[23:26] == b"\x9d\x01\x2a":
        width, height = (size & 0x3FFF for size in struct.unpack_from("<HH", data, 26))
    else:
        return None
    return ImageHeader("image/webp", width, height) if len(data) >= 30 else None


_TAIL = 1024  # bytes at the end of a file, among which a GIF ends
_JPEG_ALONE = frozenset({0x01, 0xFF, *range(0xD0, 0xD9)})  # markers without a length, and fill bytes
_JPEG_FRAMES = frozenset(range(0xC0, 0xD0)) - {0xC4, 0xC8, 0xCC}
_READERS = (
    (b"\x89PNG\r\n\x1a\n", _read_png),
    (b"\xff\xd8\xff", _read_jpeg),
    (b"GIF87a", _read_gif),
    (b"GIF89a", _read_gif),
    (b"RIFF", _read_webp),
)
