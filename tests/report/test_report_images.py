"""Images in reports: small ones as thumbnails of the page, the others by their descriptions."""

import json
import re

import pytest
from support.pictures import data_url, encoded, png

from jury_adapters import Case, Image, Report, judge
from jury_adapters.core.batch import Judged
from jury_adapters.report.entries import entry_of
from jury_adapters.report.thumbnails import LARGEST, LARGEST_PAGE, Thumbnails, described, with_small_images

SMALL = Image(base64=encoded(png()), role="question")
LARGE = Image(base64=encoded(png(width=3, height=2, text="x" * LARGEST)))
REMOTE = Image(url="https://example.org/a.png?<script>", role="answer")
CASE = Case(question="?", answer="!", attachments=[SMALL, LARGE, REMOTE, Image(problem="it is damaged")])


@judge
def fine(case):
    return True


@pytest.fixture
def page():
    return Report.from_results([(CASE, fine.judge(CASE))]).to_html()


@pytest.mark.slow
def test_the_page_has_thumbnails_within_its_policy(page):
    assert "img-src data:" in re.search(r'Content-Security-Policy" content="([^"]*)"', page)[1]
    images = json.loads(re.search(r'"images":(\[[^\]]*\])', page)[1])
    assert [one.get("source") for one in images] == [data_url(png()), None, None, None]
    assert [one["about"].split(",")[0] for one in images] == ["question", "context", "answer", "context"]
    assert "https://example.org/a.png?\\u003cscript\\u003e" in page
    assert 'src="https://example.org' not in page
    assert LARGE.base64 not in page


def test_a_description_has_role_type_size_and_digest():
    assert described(SMALL) == f"question, image/png, 3 x 2 pixels, {SMALL.digest[:19]}"
    assert described(Image(problem="a\u202eb")).isprintable()


def test_large_images_are_not_kept_and_the_case_stays_the_same():
    kept = with_small_images(CASE)
    assert [image.base64 is None for image in kept.attachments] == [False, True, True, True]
    assert kept.content_hash == CASE.content_hash
    assert entry_of(Judged(0, CASE, fine.judge(CASE))).case == kept


def test_a_page_has_at_most_so_many_bytes_of_images():
    medium = Image(base64=encoded(png(text="x" * (LARGEST // 2))))
    shown = Thumbnails().of([medium] * 200)
    assert 0 < sum("source" in one for one in shown) * len(medium.base64) <= LARGEST_PAGE
    assert "source" not in shown[-1]


def test_texts_of_reports_name_images_and_have_none_of_their_content():
    report = Report.from_results([(CASE, fine.judge(CASE))])
    for text in (report.to_markdown(), str(report)):
        assert encoded(png()) not in text
