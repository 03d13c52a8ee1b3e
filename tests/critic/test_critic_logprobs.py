"""Scores from the probabilities of the answer's tokens."""

import math

import pytest
from critic_support import CASE, critic
from fact_tables import each_row

from jury_adapters import Status
from jury_adapters.critic.logprobs import answer_probabilities
from jury_adapters.models.base import Reply, Token

YES_NO = {"YES": 0.8, "NO": 0.2}


def tokens(*parts):
    """Tokens of texts, and of mappings of alternatives to probabilities, of which the first was given."""
    found = []
    for part in parts:
        shares = {part: 1.0} if isinstance(part, str) else part
        ranked = tuple((text, math.log(share)) for text, share in shares.items())
        found.append(Token(ranked[0][0], ranked[0][1], ranked))
    return tuple(found)


def reply(*parts):
    found = tokens(*parts)
    return Reply("".join(token.text for token in found), logprobs=found)


SHARES = [
    (['{"answer": "', YES_NO, '"}'], ["YES", "NO"], "YES", YES_NO),
    (['{"answer":', {' "YES': 0.8, ' "NO': 0.2}, '"}'], ["YES", "NO"], "YES", YES_NO),
    (['{"reasoning": "\\"answer\\": NO", "answer": "', YES_NO, '"}'], ["YES", "NO"], "YES", YES_NO),
    (['<think>"answer": "NO"</think>{"answer": "', YES_NO, '"}'], ["YES", "NO"], "YES", YES_NO),
    ([YES_NO], ["YES", "NO"], "YES", YES_NO),
    (['{"answer": ', {"4": 0.5, "5": 0.25, " 4": 0.25}, "}"], "12345", "4", {"4": 0.75, "5": 0.25}),
    # a label of several tokens is known by its first one
    (['{"answer": "', {"un": 0.6, "safe": 0.4}, 'safe"}'], ["unsafe", "safe"], "unsafe", {"unsafe": 0.6, "safe": 0.4}),
    # what is not certain gives none
    (['{"answer": "', {"1": 0.9, "2": 0.1}, '0"}'], ["1", "2", "10"], "10", {}),
    (['{"answer": "', {"N": 0.9}, 'O"}'], ["NO", "NONE"], "NO", {}),
    (['{"answer": "', {"YES": 0.9}, '"}'], ["YES", "NO"], "NO", {}),
    (["{", '"ans', 'wer"', "}"], ["YES", "NO"], "YES", {}),
    ([], ["YES"], "YES", {}),
]  # fmt: skip


def test_the_probabilities_are_those_at_the_token_of_the_answer():
    for parts, names, chosen, shares in SHARES:
        assert answer_probabilities(tokens(*parts), names, chosen) == pytest.approx(shares)


@each_row(
    ("options", "parts", "outcome", "score"),
    [
        ({"rubric": "faithfulness"}, ['{"answer": "', YES_NO, '"}'], ("PASS", "YES"), 0.8),
        ({"rubric": "faithfulness"}, ['{"answer": "', {"YES": 0.4, "NO": 0.4, "UNS": 0.2}, '"}'], ("PASS", "YES"), 0.5),
        ({"rubric": "faithfulness", "threshold": 0.9}, ['{"answer": "', YES_NO, '"}'], ("FAIL", None), 0.8),
        ({"rubric": "coherence"}, ['{"answer": ', {"4": 0.5, "5": 0.5}, "}"], ("PASS", None), 0.875),
        ({"rubric": "coherence"}, ['{"answer": ', {"4": 0.5, "1": 0.5}, "}"], ("PASS", None), 0.375),
        ({"rubric": "coherence", "threshold": 0.7}, ['{"answer": ', {"4": 0.5, "1": 0.5}, "}"], ("FAIL", None), 0.375),
        ({"rubric": "pairwise"}, ['{"answer": "', {"A": 0.7, "B": 0.3}, '"}'], ("LABEL", "A"), None),
        ({"rubric": "faithfulness"}, ['{"answer": "', {"UNS": 0.6, "YES": 0.4}, 'URE"}'], ("ABSTAIN", None), None),
        ({"rubric": "faithfulness"}, ['{"answer": "YES"}'], ("PASS", "YES"), None),
    ],
)  # fmt: skip
def test_the_expectation_is_the_score_and_decides_only_by_a_threshold(options, parts, outcome, score):
    case = CASE.model_copy(update={"candidates": ("a", "b")})
    judgment = critic(reply(*parts), logprobs=True, **options).judge(case)
    assert (judgment.status, judgment.label, judgment.error) == (*outcome, None)
    assert judgment.score == pytest.approx(score)
    if len(parts) > 1:
        assert sum(judgment.metadata["probabilities"].values()) == pytest.approx(1)


def test_without_the_option_probabilities_do_not_count():
    judgment = critic(reply('{"answer": "', YES_NO, '"}')).judge(CASE)
    assert (judgment.status, judgment.score, dict(judgment.metadata)) == (Status.PASS, None, {})


def test_odd_probabilities_do_not_break_it():
    odd = (
        Token('{"answer": "', 0.0),
        Token("YES", math.nan, (("YES", math.nan), ("NO", 5.0), ("", -1.0))),
        Token('"}', 0.0),
    )
    assert answer_probabilities(odd, ["YES", "NO"], "YES") == {"NO": 1.0}
    assert critic(Reply('{"answer": "YES"}', logprobs=odd), logprobs=True).judge(CASE).status is Status.PASS
