"""Text that models and users wrote, made safe to print."""


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
