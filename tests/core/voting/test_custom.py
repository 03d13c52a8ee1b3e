import pytest

from jury_adapters import ConfigurationError, Judgment, Status
from jury_adapters.core.voting import FunctionVote

PASS = Judgment(Status.PASS)
FAIL = Judgment(Status.FAIL)
ABSTAIN = Judgment(Status.ABSTAIN, reasoning="cannot say")
ERROR = Judgment(Status.ERROR, error="boom")


def vote(function, judgments, weights=None, **options):
    return FunctionVote(function=function, **options).tally(judgments, weights)


@pytest.mark.parametrize(
    ("outcome", "status", "score", "label", "reasoning"),
    [
        (True, Status.PASS, None, None, ""),
        (False, Status.FAIL, None, None, ""),
        (0.5, Status.PASS, 0.5, None, ""),
        (0.4, Status.FAIL, 0.4, None, ""),
        (Status.ABSTAIN, Status.ABSTAIN, None, None, "no reason was given"),
        ("ABSTAIN", Status.ABSTAIN, None, None, "no reason was given"),
        ("PASS", Status.PASS, None, None, ""),
        ("SPLIT", None, None, "SPLIT", ""),
        (("SPLIT", "they differ"), None, None, "SPLIT", "they differ"),
        (("SPLIT", True), None, None, "SPLIT", ""),
        ((True, "why"), Status.PASS, None, None, "why"),
        (Judgment(Status.FAIL, score=0.1, reasoning="r"), Status.FAIL, 0.1, None, "r"),
    ],
)
def test_a_function_may_return_whatever_a_judge_may_and_a_label(outcome, status, score, label, reasoning):
    result = vote(lambda judgments: outcome, [PASS, FAIL])
    assert (result.status, result.score, result.label, result.reasoning) == (status, score, label, reasoning)


def test_the_function_sees_only_those_who_vote():
    seen = []
    vote(lambda judgments: seen.extend(judgments) or True, [PASS, ABSTAIN, ERROR, FAIL], errors="ignore")
    assert seen == [PASS, FAIL]


def test_an_error_that_counts_as_a_fail_is_shown_to_the_function():
    seen = []
    result = vote(lambda judgments: seen.extend(judgments) or True, [PASS, ERROR])
    assert seen == [PASS, ERROR]
    assert (result.tally.eligible, result.tally.passed, result.tally.failed, result.tally.errors) == (2, 1, 1, 1)


@pytest.mark.parametrize(
    "function",
    [
        lambda judgments, weights: sum(weights) == 3.0,
        lambda judgments, *rest: sum(rest[0]) == 3.0,
        lambda judgments, weights=(): sum(weights) == 3.0,
    ],
)
def test_a_function_of_two_arguments_gets_the_weights_of_those_who_vote(function):
    assert vote(function, [PASS, ABSTAIN, FAIL], [1.0, 5.0, 2.0]).status is Status.PASS


def test_the_confidence_is_the_weight_of_those_who_agree_unless_the_function_gives_one():
    votes = [PASS, FAIL, PASS]
    assert vote(lambda judgments: True, votes).confidence == pytest.approx(2 / 3)
    assert vote(lambda judgments: True, votes, [1, 2, 1]).confidence == 0.5
    assert vote(lambda judgments: "neither", votes).confidence is None
    assert vote(lambda judgments: Judgment(Status.PASS, confidence=0.1), votes).confidence == 0.1


def test_labels_make_it_a_vote_on_labels():
    result = vote(lambda judgments: judgments[0].label, [Judgment(None, label="K"), ERROR])
    assert (result.label, result.tally.on, result.tally.eligible, result.tally.ignored) == ("K", "label", 1, 1)


def test_the_function_is_not_asked_when_too_few_voted():
    def never(judgments):
        raise AssertionError("it was asked")

    assert vote(never, [ABSTAIN]).status is Status.ABSTAIN
    assert vote(never, [PASS, ABSTAIN], min_votes=2).status is Status.ABSTAIN
    assert vote(never, [PASS, ERROR], errors="propagate").status is Status.ERROR


def test_what_cannot_be_read_is_a_type_error_that_says_what_to_return():
    with pytest.raises(TypeError, match=r"return True or False, a score from 0 to 1"):
        vote(lambda judgments: None, [PASS])


def test_the_strategy_is_called_like_its_function():
    def two_thirds(judgments):
        return True

    class Rule:
        def __call__(self, judgments):
            return True

    assert FunctionVote(function=two_thirds).name == "two_thirds"
    assert FunctionVote(function=Rule()).name == "Rule"


def test_what_is_no_function_is_refused():
    with pytest.raises(ConfigurationError, match=r"voting= takes a name, a strategy or a function"):
        FunctionVote(function=5)
