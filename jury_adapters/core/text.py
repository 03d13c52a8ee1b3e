"""Text that models and users wrote: safe to print, and read without loss."""

from typing import Any


def visible(text: str, longest: int = 160) -> str:
    r"""Return a text as one line of at most ``longest`` characters, in which nothing moves the cursor or hides.

    >>> visible("red:\x1b[31m\nnext")
    'red:\\u001b[31m next'
    """
    line = "".join(
        char if char.isprintable() else " " if char in "\n\r\t" else f"\\u{ord(char):04x}"
        for char in text[: longest + 1]
    )
    return line if len(line) <= longest else line[: longest - 1] + "…"


def unique(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    """Return an object of JSON whose keys differ, as the ``object_pairs_hook`` of a reader.

    Raises:
        ValueError: a key occurs twice; of the values, a reader of JSON would keep the last.
    """
    found = dict(pairs)
    if len(found) < len(pairs):
        keys = [key for key, _ in pairs]
        raise ValueError(f"the key '{visible(next(key for key in keys if keys.count(key) > 1), 40)}' occurs twice")
    return found
