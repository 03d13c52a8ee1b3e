"""Hostile text in every field of a result: harmless in the terminal, as Markdown, page, notebook and JSON."""

import base64
import hashlib
import json
import re
from io import StringIO

import pytest
from markdown_it import MarkdownIt
from panels import Page

from jury_adapters import Case, Finding, Image, Judgment, Message, Step, Usage
from jury_adapters.core.results import Result
from jury_adapters.report import Report, compare
from jury_adapters.report.render import Console

BIDI = "\u202e\u2066\u200b\ufeff"
HOSTILE = (
    "a\x1b]0;title\x07\x1b[2J\x9b2J\x08\x7f" + BIDI + "\u2028\r\ttab <script>alert(1)</script><img src=x onerror=y> "
    "'\"><b>& @team #12 GH-3 www.example.org https://e.org [link](http://e.org) ![i](//e) `code` ``x`` |cell| $m$ "
    "**b** __u__ :smile: {{ 7 * 7 }} {% raw %} [red]z[/red] \\ `"
)


def texts(value: str) -> dict[str, Result]:
    """Return results with a text in every field in which a model or a user may have written it."""
    paid = Usage(calls=1, cost_usd=0.01)
    finding = Finding(name=value, passed=False, detail=value, evidence=value)
    juror = Judgment(
        status="PASS", label=value, critic=value, model=value, reasoning=value, findings=[finding], usage=paid
    )
    other = Judgment(status="FAIL", critic=value + "2", model=value, reasoning=value, usage=paid)
    broken = Judgment(status="ERROR", critic=value + "3", error=value, reasoning=value)
    panel = Judgment(
        status="FAIL", critic=value, judgments=[juror, other, broken], voting="majority", on="status", reasoning=value
    )
    tiers = [panel.but(tier=value, why=value), other.but(tier=value + "last", why=value)]
    cascade = Judgment(status="FAIL", critic=value, judgments=tiers, voting="cascade", reasoning=value)
    card = Judgment(status="FAIL", critic=value, judgments=[panel, other], voting="scorecard", reasoning=value)
    case = Case(
        id=value,
        question=value,
        answer=value,
        contexts=[value],
        reference=value,
        candidates=[value],
        messages=[Message(role=value, content=value)],
        steps=[Step(tool=value, output=value, text=value, error=value)],
        images=[Image(url=f"https://{value}")],
        generator=value,
        metadata={value: value},
    )
    judgments = {"cascade": cascade, "card": card, "panel": panel, "broken": broken}
    judgments["label"] = Judgment(status="LABEL", label=value, critic=value)
    judgments["none"] = Judgment(status="ABSTAIN", reasoning=value, critic=value)
    return {
        name: Result(jury=value, case=case, judgment=one, human_label="fail", group=value)
        for name, one in judgments.items()
    }


REPORTS = ("cascade", "card", "panel", "broken", "label", "none", "labels")
PAIRS = (("panel", "none"), ("cascade", "panel"), ("label", "label"))


def shown(name):
    """Return a report of hostile results, or a comparison of two."""
    given = texts(HOSTILE)
    given["label"] = given["label"].but(human_label=None)
    given["labels"] = given["label"].but(human_label=HOSTILE)
    if isinstance(name, tuple):
        return compare(*([given[one]] for one in name), names=(HOSTILE, HOSTILE + "2"))
    return Report([given[name], given[name].but(case=None)], title=HOSTILE)


@pytest.mark.parametrize("name", [*REPORTS, *PAIRS], ids=str)
def test_hostile_text_is_harmless_in_every_form(name):
    report = shown(name)
    check_terminal(report)
    check_markdown(report.to_markdown())
    check_page(report.to_html())
    check_notebook(report._repr_html_())
    assert json.loads(report.to_json())["tables"]


def check_terminal(report):
    stream = StringIO()
    report.print(Console(file=stream, force_terminal=True, color_system="truecolor", width=100))
    for text in (re.sub(r"\x1b\[[0-9;]*m", "", stream.getvalue()), str(report)):
        assert [char for char in text if not char.isprintable() and char != "\n"] == []


def check_markdown(text):
    assert [char for char in text if not char.isprintable() and char != "\n"] == []
    tokens = MarkdownIt("commonmark").enable("table").parse(text)
    inside = [one for token in tokens for one in (token, *(token.children or ()))]
    kinds = {one.type.removesuffix("_open").removesuffix("_close") for one in inside}
    assert kinds <= {
        "heading",
        "paragraph",
        "inline",
        "table",
        "thead",
        "tbody",
        "tr",
        "th",
        "td",
        "text",
        "code_inline",
    }
    words = " ".join(one.content for one in inside if one.type == "text")
    assert not re.search(r"@|#|www|http|GH-|\$|:\w|<|\{|\\", words)
    assert [len(line.split(" | ")) for line in text.splitlines() if line.startswith("| ")]


TAGS = (
    "html head meta title style body main section h1 h2 h3 div table thead tbody tr th td p span b details summary pre "
    "ul li q figure figcaption svg rect input select option label script"
)
ATTRIBUTES = (
    "lang charset http-equiv content name class scope id hidden type placeholder aria-label role value data-status "
    "data-review viewbox preserveaspectratio x y width height"
)


def check_page(text):
    page = Page(text)
    assert (
        {*page.tags} <= {"", *TAGS.split()},
        page.attributes.keys() <= {*ATTRIBUTES.split()},
        [char for char in text if not char.isprintable() and char != "\n"],
    ) == (True, True, [])
    (policy,) = [one for one in page.attributes["content"] if "default-src" in one]
    for part in ("style", "script"):
        digest = base64.b64encode(hashlib.sha256("".join(page.texts[part][:1]).encode()).digest()).decode()
        assert f"{part}-src 'sha256-{digest}'" in policy
    assert ("default-src 'none'" in policy, "unsafe" not in policy, text.count("<script>")) == (True, True, 1)


def check_notebook(text):
    assert (
        {*Page(text).tags} <= {"", "div", "h2", "table", "thead", "tbody", "tr", "th", "td", "p"},
        not Page(text).attributes.keys() - {"class", "scope"},
    ) == (True, True)


def test_the_texts_are_on_the_page():
    page = Report([texts("a visible text with <b>tags</b>")["panel"]]).to_html()
    assert page.count("a visible text with &lt;b&gt;tags&lt;/b&gt;") > 10


def test_long_texts_are_cut_and_say_so():
    case = Case(answer="x" * 30_000)
    page = Report([(case, Judgment(status="PASS"))]).to_html()
    assert ("… (10,000 more characters)" in page, "x" * 20_000 in page, "x" * 20_001 not in page) == (True, True, True)
