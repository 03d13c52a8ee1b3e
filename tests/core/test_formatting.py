"""Judgments for people: one line per juror, nothing hidden, nothing executed."""

import re
from html.parser import HTMLParser

import pytest
from hypothesis import given
from hypothesis import strategies as st

from jury_adapters import CascadedJury, Ensemble, Judgment, Tier, Usage, Verdict, judge
from jury_adapters.core.formatting import to_html, to_text, visible
from jury_adapters.results import Claim, Finding, Tally, TierResult

# ANSI colour, bell, NUL, next line, right-to-left override, isolate, zero-width space, soft hyphen, line and paragraph
# separator, byte order mark, a tag character, a lone surrogate.
HOSTILE = "\x1b[31m\x07\x00\x85\u202e\u2066\u200b\xad\u2028\u2029\ufeff\U000e0041\ud800\r\n\x0b\x0c\x1c"
SCRIPT = "<script>alert(1)</script><img src=x onerror=alert(1)>&\"'"
any_text = st.text(min_size=1) | st.text(
    min_size=1, alphabet=st.characters(categories=["Cc", "Cf", "Cs", "Zl", "Zp", "Zs", "Lo"])
)


def assert_one_safe_line(line):
    line.encode()
    assert len(line.splitlines()) <= 1
    assert not re.search("[\x00-\x1f\x7f-\x9f\xad\u200b-\u200f\u2028-\u202e\u2060-\u2069\ufeff\ud800-\udfff]", line)


def hostile(text):
    """A verdict with the text in every place where text can stand."""
    juror = Judgment(None, label=text, reasoning=text, critic=text, model=text, family=text, error=text,
                     raw_response=text, findings=[Finding(text, False, text, text)], metadata={text: text},
                     probabilities={text: 0.5}, claims=[Claim(text, "supported", text, text, 1, text)])  # fmt: skip
    inner = Verdict("FAIL", label=text, reasoning=text, critic=text, judgments=[juror, juror], voting=text,
                    tally=Tally("label", 2, tied=True, ballots=(text, text + "x")), skipped=[text],
                    partial=True, calls_saved=1, usage=Usage(calls=1))  # fmt: skip
    tiers = [
        TierResult(text, "final", inner, False, True, text),
        TierResult(text, "escalate_below(0.8)", juror, True, False, text),
    ]
    return Verdict("PASS", label=text, reasoning=text, critic=text, judgments=[inner, juror], tiers=tiers,
                   skipped=[text, text], stopped_at=text, same_family=True, usage=Usage(calls=2),
                   claims=[Claim(text, "unclear", text, text, 2, text, {text: "unclear"})])  # fmt: skip


def test_a_judgment_is_one_line_with_status_label_name_numbers_and_reason():
    judgment = Judgment("PASS", label="yes", critic="gpt", score=0.9, confidence=0.755, reasoning="all\nfine")
    assert str(judgment) == "PASS [yes] gpt (score 0.90, confidence 0.76): all fine"
    assert str(Judgment("FAIL")) == "FAIL"
    assert str(Judgment(None, label="KEEP")) == "KEEP"
    assert str(Judgment("FAIL", score=0, confidence=0)) == "FAIL (score 0.00, confidence 0.00)"


def test_a_verdict_is_a_headline_one_line_per_juror_and_its_notes():
    jurors = [judge(name="a")(lambda c: (True, "fine\nindeed")), judge(name="b")(lambda c: (False, "no")),
              judge(name="c")(lambda c: 1 / 0)]  # fmt: skip
    lines = str(Ensemble(jurors, name="jury", errors="ignore").judge("q")).splitlines()
    assert lines[0] == "FAIL jury (confidence 0.50): a tie of PASS, FAIL counts as FAIL"
    assert lines[1] == "  PASS a: fine indeed"
    assert lines[2] == "  FAIL b: no"
    assert lines[3] == "  ERROR c: the judge broke: ZeroDivisionError: division by zero"
    assert lines[4:] == ["  agreement 0.00, band low: needs review", "  the vote was tied"]


def test_each_claim_has_the_words_of_the_answer_and_of_the_passage():
    claims = [Claim("it rains", "supported", "It\nrains.", "rain & fog", 2), Claim("it snows", "unsupported")]
    judgment = Judgment("FAIL", critic="a", claims=claims)
    assert str(judgment).splitlines() == [
        "FAIL a",
        "  supported: it rains",
        "    answer: It rains.",
        "    passage 2: rain & fog",
        "  unsupported: it snows",
    ]
    verdict = Ensemble([lambda case: True]).aggregate([judgment])
    assert "  supported: it rains (a: supported)" in str(verdict).splitlines()
    for one in (judgment, verdict):
        assert "<td>it rains</td><td>supported</td><td>It rains.</td><td>2</td><td>rain &amp; fog</td>" in to_html(one)


def test_what_needs_review_says_so_and_why():
    def told(*statuses, **options):
        jury = Ensemble(
            [
                judge(name=f"j{n}")(
                    lambda c, s=s: Judgment(
                        s, reasoning="r" if s == "ABSTAIN" else "", error="e" if s == "ERROR" else None
                    )
                )
                for n, s in enumerate(statuses)
            ],
            **options,
        )
        return [line.strip() for line in str(jury.judge("q")).splitlines() if "review" in line]

    assert told("PASS", "PASS") == told("FAIL") == []
    assert told("PASS", "FAIL") == ["agreement 0.00, band low: needs review"]
    assert told("ABSTAIN", "ABSTAIN") == told("ERROR", errors="propagate") == ["not decided: needs review"]
    assert told("PASS", "FAIL", tie="abstain") == ["agreement 0.00, band low: needs review"]
    assert told("ERROR", "ERROR", "PASS", "PASS") == ["jurors that broke turned this verdict: needs review"]


def test_a_cascade_shows_each_tier_with_its_jurors_and_what_was_not_needed():
    rules = Ensemble([judge(name="g1")(lambda c: True), judge(name="g2")(lambda c: False)])
    first = Tier("screen", judge(name="s")(lambda c: True), "escalate_on_split")
    cascade = CascadedJury([Tier("rules", rules, "reject_on_any_fail"), first, Tier("last", rules, "final")])
    text = str(cascade.judge("q"))
    assert "tier rules (reject_on_any_fail) stopped here" in text
    assert "    PASS g1" in text.splitlines()
    assert "    FAIL g2" in text.splitlines()
    assert "  not needed: screen, last" in text.splitlines()
    assert "  judge calls saved: 3" in text.splitlines()


def test_nested_juries_are_indented_below_their_member():
    inner = Ensemble([judge(name="leaf")(lambda c: True)], name="inner")
    lines = str(Ensemble([inner], name="outer").judge("q")).splitlines()
    assert [len(line) - len(line.lstrip()) for line in lines[:3]] == [0, 2, 4]
    assert lines[2] == "    PASS leaf"


def test_costs_and_broken_tiers_are_told():
    verdict = Verdict("PASS", usage=Usage(calls=2, input_tokens=10, output_tokens=3, cost_usd=0.5, cost_complete=False))
    used = str(verdict).splitlines()[1]
    assert used == "  2 model calls, 10 + 3 tokens, $0.500000 or more (the cost of a call is unknown)"
    tier = TierResult("screen", "final", Judgment("ERROR", error="broken"), True, True, "why")
    assert "  broken tiers: screen" in str(Verdict("ERROR", error="broken", tiers=[tier])).splitlines()


@pytest.mark.slow
@given(any_text)
def test_visible_text_is_one_line_without_anything_that_hides(text):
    assert_one_safe_line(visible(text))


@given(st.text(alphabet=st.characters(categories=["L", "N", "P", "S"])))
def test_visible_text_of_any_script_stays_as_it_is(text):
    assert visible(text) == text


def test_each_hidden_character_is_shown_by_its_code():
    assert visible("a\x1b[31mb") == "a\\x1b[31mb"
    assert visible("\u202ex\U000e0041\ud800") == "\\u202ex\\U000e0041\\ud800"
    assert visible("a\r\n\tb") == "a   b"


def test_a_judgment_full_of_control_characters_is_one_safe_line():
    judgment = Judgment(None, label=HOSTILE, reasoning=HOSTILE, critic=HOSTILE)
    assert_one_safe_line(str(judgment))
    assert "\\x1b[31m" in str(judgment)
    assert "\\u202e" in str(judgment)


def test_a_verdict_full_of_control_characters_has_as_many_lines_as_a_tame_one():
    wild, tame = str(hostile(HOSTILE)), str(hostile("x"))
    assert len(wild.splitlines()) == len(tame.splitlines())
    for line in wild.splitlines():
        assert_one_safe_line(line)


class Tags(HTMLParser):
    def __init__(self):
        super().__init__()
        self.tags, self.attributes, self.text = [], set(), ""

    def handle_starttag(self, tag, attrs):
        self.tags.append(tag)
        self.attributes |= {name for name, _ in attrs}

    def handle_endtag(self, tag):
        self.tags.append("/" + tag)

    def handle_data(self, data):
        self.text += data


def parsed(html):
    reader = Tags()
    reader.feed(html)
    reader.close()
    return reader


@pytest.mark.parametrize(
    "make", [hostile, lambda text: hostile(text).judgments[0], lambda text: hostile(text).judgments[1]]
)
@pytest.mark.parametrize("text", [SCRIPT, "</td></tr></table></div>", '" onmouseover="x', HOSTILE, SCRIPT[:1] * 500])
def test_html_has_the_same_tags_whatever_the_text(make, text):
    wild, tame = parsed(make(text)._repr_html_()), parsed(make("x")._repr_html_())
    assert wild.tags == tame.tags
    assert wild.attributes <= {"style"}
    wild.text.encode()


def test_html_shows_every_juror_with_vote_numbers_and_reason():
    jurors = [judge(name="a<b")(lambda c: Judgment("PASS", score=0.5, confidence=0.25, reasoning="1 < 2 & 3"))]
    html = to_html(Ensemble(jurors, name="jury").judge("q"))
    assert html.count("<tr>") == 2
    assert "<td>a&lt;b</td>" in html
    assert "<td>0.50</td><td>0.25</td><td>1 &lt; 2 &amp; 3</td>" in html


@given(any_text)
def test_no_text_can_break_out_of_html(text):
    assert parsed(to_html(hostile(text))).tags == parsed(to_html(hostile("x"))).tags


def test_long_texts_are_cut_and_say_so():
    text = "ab" * 5000
    for shown in (to_text(Judgment("PASS", reasoning=text)), to_text(Judgment(None, label=text, critic=text))):
        assert len(shown) < 500
        assert "…" in shown
    assert len(to_html(hostile(text))) < 5000
    assert max(map(len, to_text(hostile(text)).splitlines())) < 700
    assert "…" not in to_text(Judgment("PASS", reasoning="a" * 160))


def test_a_repr_is_one_short_line():
    juror = Judgment("FAIL", critic="a", reasoning="no\nway", elapsed_s=0.25)
    assert repr(juror) == "<Judgment FAIL a: no way>"
    verdict = Ensemble([lambda c: True, lambda c: True, lambda c: False], name="jury").judge("q")
    assert repr(verdict) == "<Verdict PASS jury (confidence 0.67): 2 of 3 voted PASS>"


@given(st.text(), st.text())
def test_a_repr_can_be_printed_whatever_is_in_it(critic, reasoning):
    assert_one_safe_line(repr(Judgment("FAIL", critic=critic, reasoning=reasoning)))


def test_one_call_is_one_call():
    assert "  1 model call, 0 + 0 tokens" in str(Verdict("PASS", usage=Usage(calls=1)))
