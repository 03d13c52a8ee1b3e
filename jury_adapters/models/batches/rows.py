"""The results of a batch as they arrive: one JSON object a line."""

from __future__ import annotations

import json
from collections.abc import AsyncGenerator, AsyncIterator, Mapping
from typing import Any, TypeAlias

Row: TypeAlias = Mapping[str, Any]


async def json_lines(chunks: AsyncIterator[bytes]) -> AsyncGenerator[Row | None, None]:
    """The objects of a JSONL stream; None for a line that is none.

    Lines end at a line feed only: an answer may hold any other separator as it is.

    Raises:
        ConnectionError: the stream broke off.
    """
    rest = b""
    try:
        async for chunk in chunks:
            *lines, rest = (rest + chunk).split(b"\n")
            for line in lines:
                if line.strip():
                    yield _parsed(line)
    except Exception as error:  # whichever library the transport is from
        raise ConnectionError(f"the results broke off: {error or type(error).__name__}") from error
    if rest.strip():
        yield _parsed(rest)


def _parsed(line: bytes) -> Row | None:
    try:
        row = json.loads(line)
    except ValueError:  # no JSON, or no UTF-8
        return None
    return row if isinstance(row, Mapping) else None
