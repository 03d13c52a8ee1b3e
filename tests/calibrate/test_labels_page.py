"""The page on labels runs offline and prints what it shows."""

import contextlib
import io
import re
from pathlib import Path

PAGE = (Path(__file__).parents[2] / "docs" / "labels_and_guarantees.md").read_text(encoding="utf-8")
BLOCKS = re.compile(r"```python\n(.*?)```\n(?:\n```text\n(.*?)```)?", re.DOTALL)


def test_the_page_prints_what_it_shows():
    namespace, shown = {}, 0
    for code, text in BLOCKS.findall(PAGE):
        printed = io.StringIO()
        with contextlib.redirect_stdout(printed):
            exec(compile(code, "labels_and_guarantees.md", "exec"), namespace)
        assert printed.getvalue().strip() == text.strip()
        shown += bool(text)
    assert (shown >= 6, len(PAGE.split()) <= 1400) == (True, True)
