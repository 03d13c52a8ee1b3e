import math

import pytest

from jury_adapters import Status
from jury_adapters.critic.answers import Labels, Scale
from jury_adapters.critic.logprobs import expected_score, label_probabilities
from jury_adapters.critic.reply_judgments import judgment_from
from jury_adapters.critic.rubric import Rubric
from jury_adapters.models.base import Reply, Token

YES_NO = Rubric(name="yes or no")
RATING = Rubric(name="rating", scale={"minimum": 1, "maximum": 5, "pass_mark": 4})
PAIR = Rubric(name="pair", labels={"A": "none", "B": "none", "tie": "none"})


def tokens(*texts, at, alternatives):
    """Tokens of a reply, the one at ``at`` with alternatives and their probabilities."""
    shares = tuple((text, math.log(share)) for text, share in alternatives.items())
    return tuple(
        Token(text, shares[0][1], shares) if position == at else Token(text, -0.1)
        for position, text in enumerate(texts)
    )  # fmt: skip


class TestLogprobs:
    def test_the_score_is_the_expectation(self):
        found = tokens('{"', 'answer": ', "4", ', "confidence": ', "1", "}", at=2,
                       alternatives={"4": 0.5, " 5": 0.3, "3": 0.1, "x": 0.05, "6": 0.05})  # fmt: skip
        expected = (4 * 0.5 + 5 * 0.3 + 3 * 0.1) / 0.9
        start = len('{"answer": ')
        assert expected_score(found, RATING.answers, RATING.answers.read(4), start) == pytest.approx((expected - 1) / 4)
        reply = Reply("".join(token.text for token in found), logprobs=found)
        judgment = judgment_from(reply, RATING)
        assert judgment.score == pytest.approx((expected - 1) / 4)
        assert judgment.status is Status.PASS, "the answer given decides"
        assert judgment_from(reply, RATING, threshold=0.9).status is Status.FAIL

    @pytest.mark.parametrize(
        ("texts", "at"),
        [
            (('{"reasoning": "NO", "', 'answer": "', "NO", '", "confidence": 1}'), 2),
            (('{"answer', '":"NO', '"}'), 1),
            (("Answer:", " NO", "\nReasoning: no", " no"), 1),
            (("**", "NO", ", no", " no"), 1),
            (("\n", "no"), 1),
            (('{"answer": "', "NO", '", "draft": {"answer": "', "NO", '"}}'), 1),
            (('{"draft": {"answer": "', "NO", '"}, "answer": "', "NO", '"}'), 3),
            (("<think>", "NO", "?</think>", '{"answer": "', "NO", '"}'), 4),
            (("<think>Answer: ", "NO", "?</think>\n", "<answer>", "NO", "</answer>"), 4),
            (('Draft: {"answer": "', "NO", '"}\nFinal: {"answer": "', "NO", '"}'), 3),
            (("```json\n", '{"answer"', ': "', "NO", '"}', "\n```"), 3),
            (('"', "NO", '"'), 1),
        ],
    )
    def test_the_token_is_the_one_where_the_answer_stands(self, texts, at):
        alternatives = {texts[at]: 0.6, texts[at].replace("NO", "YES").replace("no", "yes"): 0.2, "UNS": 0.2}
        found = tokens(*texts, at=at, alternatives=alternatives)
        judgment = judgment_from(Reply("".join(texts), logprobs=found), YES_NO)
        assert judgment.label == "NO"
        assert judgment.score == pytest.approx(0.25)
        assert judgment.probabilities == pytest.approx({"YES": 0.2, "NO": 0.6, "UNSURE": 0.2})

    def test_tokens_of_another_text_have_no_expectation(self):
        found = tokens("YES", at=0, alternatives={"YES": 0.9, "NO": 0.1})
        judgment = judgment_from(Reply('{"answer": "NO"}', logprobs=found), YES_NO)
        assert (judgment.score, judgment.probabilities) == (None, None)

    def test_a_label_by_its_first_token(self):
        labels = Labels.of(passing=["relevant"], failing=["irrelevant"], abstaining=["irregular"], neutral=["x", "x y"])
        found = tokens("rele", "vant", at=0, alternatives={"rele": 0.5, "irrele": 0.2, "irr": 0.2, "x": 0.1})
        shares = label_probabilities(found, labels, labels.read("relevant"), 0)
        assert shares == pytest.approx({"relevant": 5 / 7, "irrelevant": 2 / 7, "irregular": 0, "x": 0, "x y": 0})

    def test_no_is_not_the_beginning_of_not_sure(self):
        labels = Labels.of(passing=["YES"], failing=["NO"], abstaining=["NOT SURE"])
        found = tokens("NO", at=0, alternatives={"NO": 0.5, "NOT": 0.25, "Y": 0.25})
        shares = label_probabilities(found, labels, labels.read("NO"), 0)
        assert shares == pytest.approx({"YES": 0.25, "NO": 0.5, "NOT SURE": 0.25})

    @pytest.mark.parametrize(
        ("texts", "answer", "scale"),
        [
            (("1", "0"), 10, Scale(minimum=0, maximum=10)),
            (("0", ".", "85"), 0.85, Scale(minimum=0, maximum=1)),
            (("nothing", " here"), 4, RATING.answers),
            ((), 4, RATING.answers),
        ],
    )
    def test_an_answer_of_several_tokens_has_no_expectation(self, texts, answer, scale):
        assert expected_score(tuple(Token(text, -0.1) for text in texts), scale, scale.read(answer), 0) is None

    def test_labels_without_value_have_no_expectation(self):
        found = tokens("A", at=0, alternatives={"A": 0.7, "B": 0.3})
        judgment = judgment_from(Reply("A", logprobs=found), PAIR)
        assert (judgment.score, judgment.probabilities["B"]) == (None, pytest.approx(0.3))

    def test_an_abstention_has_probabilities_and_no_score(self):
        found = tokens("UNSURE", at=0, alternatives={"UNSURE": 0.7, "YES": 0.3})
        judgment = judgment_from(Reply("UNSURE", logprobs=found), YES_NO)
        assert (judgment.score, judgment.probabilities["YES"]) == (None, pytest.approx(0.3))

    @pytest.mark.parametrize("logprob", [math.nan, -math.inf, math.inf, 3.0, -9999.0])
    def test_odd_probabilities_do_no_harm(self, logprob):
        found = (Token("NO", logprob, (("YES", logprob),)),)
        judgment = judgment_from(Reply("NO", logprobs=found), YES_NO)
        assert judgment.status is Status.FAIL
        assert judgment.score is None or 0 <= judgment.score <= 1
