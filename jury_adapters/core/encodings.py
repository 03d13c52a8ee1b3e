"""Encodings of files: conversion of UTF-16 with a byte order mark to UTF-8, and text that is not UTF-8."""

from __future__ import annotations

import codecs
import io
from typing import Any, BinaryIO, Final, cast

from jury_adapters.core.errors import InputError

NOT_UTF_8: Final = "not UTF-8"
"""Beginning of the message about text in another encoding."""

_AROUND = 20  # number of bytes that a message shows on each side of the invalid one


def decode(content: bytes) -> str:
    """Return the text of UTF-8, without a byte order mark.

    Raises:
        InputError: the text is not UTF-8; the message shows the first place.
    """
    try:
        return content.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        around = content[max(0, error.start - _AROUND) : error.end + _AROUND].decode(errors="replace")
        raise InputError(f"{NOT_UTF_8}: {around.strip()!r}; save the file as UTF-8") from None


def legible(text: str) -> str:
    """Return text with surrogate escapes with a replacement character for each byte that is not UTF-8."""
    return text if text.isascii() else text.encode(errors="surrogateescape").decode(errors="replace")


def buffered(raw: BinaryIO) -> io.BufferedReader:
    """Return a buffered reader of a binary file, which can be peeked into before it is read."""
    return io.BufferedReader(cast(io.RawIOBase, raw))


def as_utf_8(raw: io.BufferedReader) -> io.BufferedReader:
    """Return a reader of the same text in UTF-8, for UTF-8 and for UTF-16 (Excel's "Unicode text")."""
    return io.BufferedReader(_Utf16AsUtf8(raw)) if raw.peek(2).startswith(_UTF_16) else raw


class _Utf16AsUtf8(io.RawIOBase):
    """Reader that converts UTF-16 to UTF-8 piece by piece.

    Invalid UTF-16 becomes invalid UTF-8, so that its row is refused.
    """

    def __init__(self, raw: io.BufferedReader) -> None:
        self._raw = raw
        self._decoder = codecs.getincrementaldecoder("utf-16")(errors="surrogatepass")
        self._waiting = b""

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: Any) -> int:
        while not self._waiting:
            piece = self._raw.read(io.DEFAULT_BUFFER_SIZE)
            try:
                text = self._decoder.decode(piece, final=not piece)
                self._waiting = text.encode(errors="surrogatepass")
            except UnicodeDecodeError:  # the text ends in the middle of a character
                self._decoder.reset()
                self._waiting = b"\xff"
            if not piece:
                break
        size = min(len(buffer), len(self._waiting))
        buffer[:size], self._waiting = self._waiting[:size], self._waiting[size:]
        return size


_UTF_16: Final = (codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE)
