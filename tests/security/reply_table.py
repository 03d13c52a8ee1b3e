"""Tables of the reply corpus: ``python tests/security/reply_table.py`` puts them into ``docs/reliability/red_team.md``.

The samples are those that ``tests/critic/test_reply_corpus.py`` asserts. It takes a second and asks no model.
"""

from __future__ import annotations

import sys
from pathlib import Path

ROOT = Path(__file__).parents[2]
sys.path.insert(0, str(ROOT / "tests" / "critic"))

import reply_corpus  # noqa: E402  needs the path above

PAGE = ROOT / "docs" / "reliability" / "red_team.md"
HEADING = "## Replies that quote an answer"
INTRODUCTION = """
A judge may quote the text it judges, and that text may contain an answer. The corpus of
`tests/critic/reply_corpus.py` has {quoting} replies that quote an answer or contradict themselves, and {honest} honest
replies, with eight rubrics: labels, claims, pairs, scales, grades and other languages. A reply is *counted* when it is
read as the answer that it gives itself, *repaired* when it is unreadable, so that the model is asked once more for one
JSON object, and *misread* when it is read as any other answer. `tests/critic/test_reply_corpus.py` asserts each sample,
and with hypothesis that another answer in the reasoning never becomes the verdict.
`python tests/security/reply_table.py` writes these tables.
"""


def section() -> str:
    """Return the part of the page about the corpus, from its heading on."""
    introduction = INTRODUCTION.format(quoting=len(reply_corpus.QUOTING), honest=len(reply_corpus.HONEST_REPLIES))
    return f"{HEADING}\n{introduction}\n{reply_corpus.tables()}\n"


def with_section(page: str) -> str:
    """Return the page with the present tables at its end."""
    return f"{page.partition(HEADING)[0].rstrip()}\n\n{section()}"


if __name__ == "__main__":
    PAGE.write_text(with_section(PAGE.read_text(encoding="utf-8")), encoding="utf-8")
