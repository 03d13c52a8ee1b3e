"""Image files, made byte by byte."""

from __future__ import annotations

import base64
import struct
import zlib


def png(width: int = 3, height: int = 2, *, shade: int = 200, text: str = "") -> bytes:
    """A grey picture, perhaps with a text chunk."""
    raw = b"".join(b"\0" + bytes([shade]) * width for _ in range(height))
    note = _chunk(b"tEXt", b"Comment\0" + text.encode()) if text else b""
    header = struct.pack(">IIBBBBB", width, height, 8, 0, 0, 0, 0)
    return (
        b"\x89PNG\r\n\x1a\n"
        + _chunk(b"IHDR", header)
        + note
        + _chunk(b"IDAT", zlib.compress(raw))
        + _chunk(b"IEND", b"")
    )


def claimed_png(width: int, height: int) -> bytes:
    """A picture that states a size it does not have."""
    header = struct.pack(">IIBBBBB", width, height, 8, 0, 0, 0, 0)
    data = zlib.compress(b"\0" * 1000)
    return b"\x89PNG\r\n\x1a\n" + _chunk(b"IHDR", header) + _chunk(b"IDAT", data) + _chunk(b"IEND", b"")


def gif(width: int = 3, height: int = 2) -> bytes:
    """The smallest picture that readers accept."""
    return b"GIF89a" + struct.pack("<HH", width, height) + b"\0\0\0;"


def encoded(data: bytes) -> str:
    """In Base64."""
    return base64.b64encode(data).decode()


def data_url(data: bytes, kind: str = "image/png") -> str:
    return f"data:{kind};base64,{encoded(data)}"


def _chunk(kind: bytes, data: bytes) -> bytes:
    return struct.pack(">I", len(data)) + kind + data + struct.pack(">I", zlib.crc32(kind + data))
