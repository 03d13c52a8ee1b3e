"""The page: complete in itself, and safe whatever stands in its cases."""

import hashlib
import json
from base64 import b64encode
from html.parser import HTMLParser

import pytest
from hypothesis import given
from hypothesis import strategies as st

from jury_adapters import Case, Ensemble, Judgment, Usage
from jury_adapters.core.batch import Judged
from jury_adapters.core.claims import Claim
from jury_adapters.core.judgment import Finding
from jury_adapters.report import Report
from jury_adapters.report.embedded import safe_json
from tests.support.examples import examples
from tests.support.hostile_page import ATTACKS, hostile_report


class Page(HTMLParser):
    """The elements of a page, with their attributes and, of scripts and styles, their text."""

    def __init__(self, html):
        super().__init__()
        self.elements = []
        self.inside = None
        self.feed(html)

    def handle_starttag(self, tag, attributes):
        self.elements.append((tag, dict(attributes), []))
        self.inside = self.elements[-1][2] if tag in ("script", "style", "title") else None

    def handle_data(self, data):
        if self.inside is not None:
            self.inside.append(data)

    def handle_endtag(self, tag):
        self.inside = None

    def found(self, tag):
        return [(attributes, "".join(text)) for name, attributes, text in self.elements if name == tag]


def rows_and_details(page):
    texts = {attributes.get("id"): text for attributes, text in page.found("script")}
    return json.loads(texts["rows"]), [json.loads(line) for line in texts["details"].split("\n")]


def safe(html):
    """Assert that nothing of the page but our own script could run, and nothing is fetched."""
    page = Page(html)
    (policy,) = [a["content"] for a, _ in page.found("meta") if a.get("http-equiv") == "Content-Security-Policy"]
    scripts = page.found("script")
    assert [attributes for attributes, _ in scripts] == [
        {"type": "application/json", "id": "rows"}, {"type": "application/json", "id": "details"}, {},
    ]  # fmt: skip
    for source, (_, text) in (("script-src", scripts[2]), ("style-src", page.found("style")[0])):
        digest = b64encode(hashlib.sha256(text.encode()).digest()).decode()
        assert f"{source} 'sha256-{digest}'" in policy
    assert policy.startswith("default-src 'none';")
    assert "unsafe" not in policy
    for tag, attributes, _ in page.elements:
        assert tag not in ("img", "iframe", "object", "embed", "link", "base", "audio", "video", "math"), tag
        assert not [name for name in attributes if name.startswith("on") or name in ("src", "style", "action")]
        assert attributes.get("href", "#").startswith("#")
    return page


@pytest.mark.slow
@pytest.mark.parametrize("attack", ATTACKS)
def test_no_text_becomes_markup(attack):
    report = hostile_report(attack)
    page = safe(report.to_html(compared=hostile_report(attack, passing=False).compare(report)))
    rows, details = rows_and_details(page)
    assert len(rows) == len(details) == 3


@pytest.mark.slow
@examples(40)
@given(st.text(alphabet=st.sampled_from("<>!-/&\"'` \n=scriptSCRIPT\u2028\x00"), max_size=60))
def test_no_mixture_of_dangerous_characters_ends_the_data(text):
    case = Case(question=text, answer=text, contexts=[text], metadata={"item_id": text})
    verdict = Ensemble([lambda case: True]).aggregate([Judgment("PASS", critic="a", reasoning=text)])
    safe(Report.from_results([Judged(0, case, verdict)], title=text).to_html())
    assert not set("<>&") & set(safe_json(text))
    assert json.loads(safe_json(text)) == text


@pytest.mark.slow
def test_the_cases_are_in_the_page_with_texts_checks_and_votes():
    judgments = [
        Judgment(
            "PASS", critic="a", score=0.9, reasoning="fine", findings=(Finding("12 %", True, "said", "12 % more"),)
        ),
        Judgment("FAIL", critic="b", reasoning="no\u202eway", usage=Usage(calls=1, cost_usd=0.5)),
    ]
    case = Case(question="How much?", answer="12 %", contexts=["12 % more"], metadata={"item_id": "q1"})
    verdict = Ensemble([lambda case: True]).aggregate(judgments)
    (row,), (told,) = rows_and_details(Page(Report.from_results([Judged(0, case, verdict)]).to_html()))
    assert (row["where"], row["question"], row["votes"]) == ("q1", "How much?", [["a", "PASS"], ["b", "FAIL"]])
    assert (row["agreement"], row["review"], row["cost"]) == (0.0, True, 0.5)
    assert told["contexts"] == ["12 % more"]
    assert told["jurors"][0]["findings"][0]["evidence"] == "12 % more"
    assert told["jurors"][1]["reasoning"] == "no\\u202eway"  # made visible


@pytest.mark.slow
def test_each_claim_is_in_the_page_with_the_sentence_the_passage_and_the_votes():
    claims = [
        Claim("It costs 12 \u20ac", verdict, "12 \u20ac.", "12 \u20ac\u202e", 1, "r")
        for verdict in ("supported", "unclear")
    ]
    judgments = [Judgment("PASS", critic=name, claims=(claim,)) for name, claim in zip("ab", claims, strict=True)]
    verdict = Ensemble([lambda case: True]).aggregate(judgments)
    case = Case(answer="12 \u20ac.", contexts=["12 \u20ac\u202e"])
    _, (told,) = rows_and_details(safe(Report.from_results([Judged(0, case, verdict)]).to_html()))
    (claim,) = told["claims"]
    assert claim == {
        "text": "It costs 12 \u20ac", "verdict": "supported", "sentence": "12 \u20ac.", "evidence": "12 \u20ac\\u202e",
        "passage": 1, "reasoning": "r", "votes": ["a: supported", "b: unclear"],
    }  # fmt: skip
    assert [juror["claims"][0]["verdict"] for juror in told["jurors"]] == ["supported", "unclear"]


@pytest.mark.slow
def test_very_long_texts_are_cut_and_say_so():
    report = Report.from_results([Judged(0, Case(answer="x" * 50_000), Judgment("PASS"))])
    (row,), _ = rows_and_details(Page(report.to_html()))
    assert row["answer"].endswith("… (30,000 more characters)")


@pytest.mark.slow
def test_labels_without_a_meaning_have_no_pass_rate():
    html = Report.from_results(
        [Judgment(None, label="KEEP"), Judgment(None, label="KEEP"), Judgment(None, label="X")]
    ).to_html()
    assert "labels have no pass rate" in html


@pytest.mark.slow
def test_plots_and_agreement_are_there():
    verdicts = [
        Ensemble([lambda case: True]).aggregate(
            [Judgment(status, critic=name, score=score) for name, status, score in votes]
        )
        for votes in [
            (("a", "PASS", 0.9), ("b", "PASS", 0.8), ("c", "FAIL", 0.2)),
            (("a", "FAIL", 0.1), ("b", "PASS", 0.7), ("c", "FAIL", 0.3)),
            (("a", "PASS", 0.9), ("b", "PASS", 0.9), ("c", "PASS", 0.9)),
        ]
    ]
    page = safe(Report.from_results(verdicts).to_html())
    labels = [attributes["aria-label"] for attributes, _ in page.found("svg")]
    assert len(labels) == 5  # the rate, the heat map, and the scores of three jurors
    assert any("agreement of each juror" in label for label in labels)
    assert "Where these numbers mislead" in Report.from_results(verdicts).to_html()
