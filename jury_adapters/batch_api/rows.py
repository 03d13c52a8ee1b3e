"""Results of a batch, which arrive as one JSON object per line."""

from __future__ import annotations

import json
from collections.abc import AsyncGenerator, AsyncIterator, Mapping
from typing import Any, TypeAlias

Row: TypeAlias = Mapping[str, Any]


async def json_lines(chunks: AsyncIterator[bytes]) -> AsyncGenerator[Row | None, None]:
    """Yield the objects of a JSONL stream, and None for a line that is not an object.

    Lines end only at a line feed, because an answer may contain any other separator.

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
    except Exception as error:  # of whatever library the transport uses
        raise ConnectionError(f"the results broke off: {error or type(error).__name__}") from error
    if rest.strip():
        yield _parsed(rest)


def _parsed(line: bytes) -> Row | None:
    try:
        row = json.loads(line)
    except ValueError:  # not JSON, or not UTF-8
        return None
    return row if isinstance(row, Mapping) else None
