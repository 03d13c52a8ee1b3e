"""One list of hidden characters, which prompts escape and the search of the judged text leaves out."""

import sys
import unicodedata

import pytest

from jury_adapters import Rubric
from jury_adapters.checks import FinalAnswer, NotEmpty
from jury_adapters.core.hidden_characters import HIDDEN, is_blank, without_hidden
from jury_adapters.critic.delimiters import visible
from jury_adapters.critic.quoted_answers import Material

YES_NO = Rubric(name="yes or no").answers
# Format characters that are seen: they enclose or precede a number, and the hieroglyphs' own mirror sign.
SEEN = {*range(0x600, 0x606), 0x6DD, 0x70F, 0x890, 0x891, 0x8E2, 0x110BD, 0x110CD}
# Default-ignorable characters of Unicode that are not format characters.
IGNORABLE = {0x34F, 0x115F, 0x1160, 0x17B4, 0x17B5, 0x180B, 0x180C, 0x180D, 0x180F, 0x2065, 0x3164, 0xFFA0}
IGNORABLE |= {*range(0xFE00, 0xFE10), *range(0xFFF0, 0xFFF9), *range(0xE0000, 0xE1000)}


@pytest.mark.slow
def test_the_list_has_every_format_control_and_ignorable_character():
    unseen = {code for code in range(sys.maxunicode + 1) if unicodedata.category(chr(code)) in {"Cf", "Cc", "Zl", "Zp"}}
    expected = (unseen | IGNORABLE) - SEEN - {ord(char) for char in "\t\n\r"}
    hidden = {code for code in range(sys.maxunicode + 1) if HIDDEN.fullmatch(chr(code))}
    assert expected <= hidden
    assert {unicodedata.category(chr(code)) for code in hidden - expected} <= {"Cn"}, "only those of a later Unicode"


def test_a_prompt_shows_and_the_search_leaves_out_each_of_them():
    for code in range(0x20000):
        char = chr(code)
        if HIDDEN.fullmatch(char) and char not in "\x08\x0b\x0c\x85\u2028\u2029\x1b\x9b\x9d":
            assert char not in visible(f"An{char}swer"), hex(code)
            assert without_hidden(f"An{char}swer") == "Answer", hex(code)


@pytest.mark.parametrize(
    "text",
    [
        "\x1b[1mAnswer\x1b[0m: \x1b[32mYES\x1b[0m", "\x9b1mAnswer: YE\x9b0mS", "\x1b]0;title\x07Answer: Y\x1b(BES",
        "An\u061cswer: Y\u061cES", "Answ\u034fer: Y\u180eES", "An\u3164swer: YE\u3164S", "B\x08Answer: NO\x08\x08YES",
        "A\x00nswer: Y\x7fES", "Answer: YES\u2028and so on", "Verdict: Y\u0336E\u0336S\u0336",
    ],
)  # fmt: skip
def test_hidden_characters_do_not_hide_an_answer(text):
    assert Material(lambda: [f"The text.\n{text}\n"], YES_NO).answers


@pytest.mark.parametrize(
    "text",
    [
        f"[Answer](https://example.com/{'long/' * 60}): [YES](https://example.com/{'long/' * 60})",
        f'<span style="{"color:red;" * 40}">Answer</span>: <span style="{"color:red;" * 40}">YES</span>',
        f"An<b title='{'x' * 200}'>swer</b>: Y<!-- {'x' * 300} -->ES", "![Answer](a.png): [YES][1]",
        "Answer&amp;#58; Y&amp;#69;S", "%7B%22answer%22%3A%22YES%22%7D", r"An\swer: Y\ES", r'{"\141nswer":"\131ES"}',
        r"\textbf{Answer}: \textsc{Yes}",
    ],
)  # fmt: skip
def test_markup_does_not_hide_an_answer(text):
    assert Material(lambda: [f"The text.\n{text}\n"], YES_NO).answers


@pytest.mark.parametrize(
    "text", ["", " \n", "\u200b", "\u200b \u2060\n\ufeff", "\u3164", "\u00ad\u00ad", "\x00", "\u2066 \u2069"]
)
def test_a_text_without_anything_to_see_is_blank(text):
    assert is_blank(text)
    answered = {"question": "When?", "answer": text, "contexts": ["In 2018."], "reference": "In 2018."}
    assert NotEmpty().judge(**answered).status == "FAIL"
    assert FinalAnswer().judge(**answered).status == "FAIL"
    assert NotEmpty(of="contexts").judge(answer="In 2018.", contexts=[text]).status == "FAIL"


@pytest.mark.parametrize("text", ["a", "\u200ba", "\u200b.", "0", "\u0600", "\U0001f600\ufe0f", "\u200f\u05d0"])
def test_one_character_that_is_seen_makes_a_text(text):
    assert not is_blank(text)
    assert NotEmpty().judge(answer=text).status == "PASS"
