"""EachPassage: one judgment per passage, and a score of their order."""

import asyncio

import pytest
from support.vendor import Act

from jury_adapters import Case, ConfigurationError, Critic, Ensemble, Status, abstain, judge
from jury_adapters.models.limits import Limits
from jury_adapters.retrieval import EachPassage

PASSAGES = ["The bridge is red.", "It opened in 1998.", "A bridge of 1998."]


@judge
def dated(case):
    (passage,) = case.contexts
    return "1998" in passage


@pytest.mark.parametrize(
    ("measure", "score"),
    [("average_precision", (1 / 2 + 2 / 3) / 2), ("precision", 2 / 3), ("hit_rate", 1.0), ("reciprocal_rank", 0.5)],
)
def test_the_score_is_a_measure_of_the_passages_that_pass(measure, score):
    verdict = EachPassage(dated, measure=measure).judge(question="When?", contexts=PASSAGES)
    assert verdict.score == pytest.approx(score)
    assert verdict.status is Status.PASS
    assert [(one.name, one.passed) for one in verdict.findings] == [
        ("passage 1", False), ("passage 2", True), ("passage 3", True),
    ]  # fmt: skip


def test_no_relevant_passage_scores_0_and_fails():
    verdict = EachPassage(dated).judge(question="When?", contexts=PASSAGES[:1])
    assert (verdict.status, verdict.score) == (Status.FAIL, 0.0)
    assert "0 of 1 passages are relevant; asked for at least 0.5" in verdict.reasoning


def test_without_contexts_it_abstains():
    verdict = EachPassage(dated).judge(question="When?")
    assert (verdict.status, verdict.usage.calls, verdict.score) == (Status.ABSTAIN, 0, None)


@pytest.mark.parametrize(
    ("fault", "status"), [(abstain("unclear"), Status.ABSTAIN), (RuntimeError("down"), Status.ERROR)]
)
def test_a_passage_that_cannot_be_judged_leaves_the_score_unknown(fault, status):
    @judge
    def sometimes(case):
        if "opened" in case.contexts[0]:
            if isinstance(fault, Exception):
                raise fault
            return fault
        return True

    verdict = EachPassage(sometimes).judge(question="When?", contexts=PASSAGES)
    assert (verdict.status, verdict.score) == (status, None)
    assert "1 of 3 passages could not be judged; passage 2:" in verdict.reasoning
    assert [one.passed for one in verdict.findings] == [True, None, True]


def test_a_critic_sees_one_passage_per_request(server):
    server.plan = lambda ask: Act(text='{"reasoning": "r", "answer": 3, "confidence": 1}')
    critic = Critic("judge-model", "passage_relevance", base_url=server.openai, limits=Limits(attempts=1))
    jury = EachPassage(critic)
    case = Case(question="When?", contexts=PASSAGES)
    verdict = jury.judge(case)
    assert (verdict.score, verdict.usage.calls, jury.estimate(case).calls) == (1.0, 3, 3)
    assert [(row.name, row.calls) for row in jury.estimate_cost([case]).rows] == [(jury.name, 3)]
    assert Ensemble([jury, dated]).estimate_cost([case]).calls == 3
    assert [[text in ask.text for text in PASSAGES].count(True) for ask in server.asks] == [1, 1, 1]


def test_a_store_keeps_each_passage(server, tmp_path):
    server.plan = lambda ask: Act(text='{"reasoning": "r", "answer": 3, "confidence": 1}')
    critic = Critic("judge-model", "passage_relevance", base_url=server.openai, limits=Limits(attempts=1))
    cases = [Case(question="When?", contexts=PASSAGES), Case(question="When?", contexts=PASSAGES[::-1])]
    scores = [verdict.score for verdict in EachPassage(critic).judge_many(cases, store=tmp_path / "runs.db")]
    assert scores == [1.0, 1.0]
    assert len(server.asks) == 3  # the same passages in another order


def test_not_more_passages_at_once_than_allowed():
    running, most = 0, 0

    @judge
    async def slow(case):
        nonlocal running, most
        running += 1
        most = max(most, running)
        await asyncio.sleep(0.01)
        running -= 1
        return True

    jury = EachPassage(slow, at_once=2)
    assert jury.judge(question="?", contexts=PASSAGES).score == 1.0
    assert most == 2


def test_a_slow_passage_does_not_hold_up_the_others():
    others: list[str] = []

    @judge
    async def first_waits_for_the_others(case):
        (passage,) = case.contexts
        while passage == PASSAGES[0] and len(others) < 4:
            await asyncio.sleep(0.001)
        others.append(passage)
        return True

    passages = [PASSAGES[0], *(f"page {number}" for number in range(4))]
    jury = EachPassage(first_waits_for_the_others.with_timeout(20), at_once=2)
    verdict = jury.judge(question="?", contexts=passages)
    assert (verdict.score, others) == (1.0, [*passages[1:], passages[0]])
    assert [one.name for one in verdict.findings] == [f"passage {number}" for number in range(1, 6)]


def test_it_is_a_juror_like_any_other():
    verdict = Ensemble({"order": EachPassage(dated), "dated": dated}).judge(question="?", contexts=PASSAGES[1:2])
    assert verdict.passed
    assert EachPassage(Ensemble([dated, dated, dated])).judge(question="?", contexts=PASSAGES).score is not None


@pytest.mark.parametrize(
    ("options", "said"),
    [
        ({"measure": "recall"}, "unknown measure of passages 'recall'"),
        ({"threshold": -0.1}, "the threshold is a score"),
        ({"threshold": True}, "the threshold is a score"),
        ({"at_once": 0}, "at_once is a number of passages"),
    ],
)
def test_wrong_options_are_refused_at_once(options, said):
    with pytest.raises(ConfigurationError, match=said):
        EachPassage(dated, **options)
    with pytest.raises(ConfigurationError):
        EachPassage("no judge")


def test_passages_are_not_jurors():
    verdict = Ensemble({"order": EachPassage(dated)}).judge(question="?", contexts=PASSAGES)
    assert [juror.critic for juror in verdict.jurors()] == ["order"]
    assert verdict.tally.eligible == 1


def test_a_blank_passage_is_not_relevant_and_not_asked_about(server):
    server.plan = lambda ask: Act(text='{"reasoning": "r", "answer": 3, "confidence": 1}')
    critic = Critic("judge-model", "passage_relevance", base_url=server.openai, limits=Limits(attempts=1))
    judgment = EachPassage(critic, measure="precision").judge(question="When?", contexts=["1998", " "])
    assert (judgment.score, len(server.asks)) == (0.5, 1)
    assert judgment.findings[1].detail == "the passage is blank"


def test_without_a_name_of_the_judge_the_measure_is_the_name():
    assert EachPassage(lambda case: True).name == "average_precision"
    assert EachPassage(dated).name == "average_precision of dated"
