"""FactualOverlap: precision, recall and F1 of claims, over real HTTP."""

import json

import pytest
from support.vendor import Act

from jury_adapters import Case, ConfigurationError, Critic, Ensemble, Status
from jury_adapters.judges import FactualOverlap
from jury_adapters.models.limits import Limits

REFERENCE = "The ferry stopped in 2018. The museum is free for children. It opens at ten."
CASE = Case(
    question="Tell me about the island.",
    answer="The ferry stopped in 2018. The museum is free for children. Dogs are welcome.",
    reference=REFERENCE,
)


def claim(text, verdict, evidence=""):
    return {
        "claim": text, "sentence": text, "passage": 1 if evidence else 0, "evidence": evidence, "reason": "",
        "verdict": verdict,
    }  # fmt: skip


FERRY = claim("The ferry stopped in 2018.", "supported", "The ferry stopped in 2018.")
MUSEUM = claim("The museum is free for children.", "supported", "The museum is free for children.")
DOGS = claim("Dogs are welcome.", "unsupported")
OPENS = claim("It opens at ten.", "unsupported")


def text(*claims, answer="unsupported"):
    return json.dumps({"reasoning": "Looked.", "claims": list(claims), "answer": answer, "confidence": 0.9})


def critic(server, model="m", **options):
    return Critic(f"openai:{model}", "faithfulness_claims", base_url=server.openai, api_key="none",
                  limits=Limits(attempts=1), **options)  # fmt: skip


def is_backward(ask):
    """Whether the claims are those of the reference."""
    return ask.text.rindex("It opens at ten.") > ask.text.rindex("Answer to judge:")


def plan(precision, recall):
    return lambda ask: Act(text=recall if is_backward(ask) else precision)


def judged(server, precision, recall, case=CASE, **options):
    server.plan = plan(precision, recall)
    return FactualOverlap(critic(server), **options).judge(case)


@pytest.mark.parametrize(
    ("measure", "score"), [("f1", 2 * (2 / 3) * (2 / 3) / (4 / 3)), ("precision", 2 / 3), ("recall", 2 / 3)]
)
def test_the_score_is_that_of_the_claims(server, measure, score):
    judgment = judged(server, text(FERRY, MUSEUM, DOGS), text(FERRY, MUSEUM, OPENS), measure=measure)
    assert judgment.score == pytest.approx(score)
    assert judgment.status is Status.PASS
    assert [(one.name, one.score) for one in judgment.findings] == [
        ("precision", pytest.approx(2 / 3)), ("recall", pytest.approx(2 / 3)),
    ]  # fmt: skip
    assert [one.text for one in judgment.claims][-1] == "It opens at ten."
    assert judgment.usage.calls == 2


def test_unequal_values():
    """tp = 1, fp = 0, fn = 2: precision 1, recall 1/3, F1 1/2."""
    overlap = FactualOverlap.__new__(FactualOverlap)
    overlap.measure = "f1"
    assert overlap._score(1.0, 1 / 3) == pytest.approx(0.5)
    assert overlap._score(0.0, None) == 0.0
    assert overlap._score(None, 0.5) is None


def test_a_partial_answer_has_full_precision_and_low_recall(server):
    case = CASE.model_copy(update={"answer": "The ferry stopped in 2018."})
    recall = text(FERRY, claim(MUSEUM["claim"], "unsupported"), OPENS)
    judgment = judged(server, text(FERRY, answer="supported"), recall, case, threshold=0.6)
    assert (judgment.status, judgment.score) == (Status.FAIL, pytest.approx(0.5))
    assert judgment.reasoning == "f1 is 0.5: precision 1, recall 0.333; asked for at least 0.6"


@pytest.mark.parametrize("answer", ["", " \n"])
def test_an_empty_answer_fails_unasked(server, answer):
    judgment = judged(server, text(), text(), CASE.model_copy(update={"answer": answer}))
    assert (judgment.status, judgment.score) == (Status.FAIL, 0.0)
    assert not server.asks


def test_an_answer_without_a_claim_fails(server):
    case = CASE.model_copy(update={"answer": "I do not know."})
    nothing = [claim(one["claim"], "unsupported") for one in (FERRY, MUSEUM, OPENS)]
    judgment = judged(server, text(answer="unsure"), text(*nothing), case)
    assert (judgment.status, judgment.score) == (Status.FAIL, 0.0)
    assert judged(server, text(answer="unsure"), text(*nothing), case, measure="precision").status is Status.ABSTAIN


def test_without_a_reference_or_claims_in_it_it_abstains(server):
    assert judged(server, "", "", CASE.model_copy(update={"reference": None})).status is Status.ABSTAIN
    assert not server.asks
    judgment = judged(server, text(FERRY, answer="supported"), text(answer="unsure"))
    assert judgment.status is Status.ABSTAIN
    assert judgment.reasoning.startswith("recall is unknown:")


def test_contradictory_and_hostile_replies(server):
    misquoted = claim("The ferry stopped in 2018.", "supported", "The ferry stopped in 1999.")
    judgment = judged(server, text(misquoted, answer="supported"), text(FERRY))
    assert judgment.status is not Status.PASS  # the quotation is not in the reference
    judgment = judged(server, '{"answer": "supported"} {"answer": "unsupported"}', text(FERRY))
    assert judgment.status is not Status.PASS
    server.plan = lambda ask: Act(500)
    assert FactualOverlap(critic(server)).judge(CASE).status is Status.ERROR


def test_a_jury_combines_the_claims_of_its_jurors(server):
    jury = Ensemble([critic(server, f"m{number}", name=f"j{number}") for number in range(3)])

    def reply(ask):
        if is_backward(ask):
            return Act(text=text(FERRY, MUSEUM, OPENS))
        own = claim("Dogs are welcome.", "supported", "The museum is free") if ask.body["model"] == "m0" else DOGS
        return Act(text=text(FERRY, MUSEUM, own))

    server.plan = reply
    judgment = FactualOverlap(jury).judge(CASE)
    assert judgment.score == pytest.approx(2 / 3)
    assert dict(judgment.claims[2].votes).keys() == {"j0", "j1", "j2"}


def test_a_judge_without_claims_is_refused(server):
    with pytest.raises(ConfigurationError, match="faithfulness_claims"):
        FactualOverlap(Critic("openai:m", "faithfulness", base_url=server.openai, api_key="none"))
    with pytest.raises(ConfigurationError, match="unknown measure"):
        FactualOverlap(critic(server), measure="f2")


def test_the_estimate_counts_both_directions(server):
    assert FactualOverlap(critic(server)).estimate_cost([CASE]).calls == 2
