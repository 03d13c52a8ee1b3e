"""Decision critics, through the real OpenAI SDK and over real HTTP."""

import pickle

import pytest
from support.vendor import WELL, Act, error

from jury_adapters import Budget, Case, ConfigurationError, Labels, Rubric, Scale, Status, Store, Verdict
from jury_adapters.core.context import changed_context
from jury_adapters.critic.prompt import MATERIAL, user_text
from jury_adapters.decision import DecisionCritic
from jury_adapters.decision.models import LangChainDecisionModel
from jury_adapters.decision.questions import judgment_of, question_for
from jury_adapters.decision.registry import resolve_decision_model
from jury_adapters.models.base import Answer
from jury_adapters.models.limits import Limits
from jury_adapters.testing import a_case, no_waiting

PAIR = Rubric(name="polite", criteria="Is it polite?", answers=Labels.of(passing=["OK"], failing=["RUDE"]))
RATED = Rubric(name="rated", criteria="How good?", answers=Scale(minimum=1, maximum=5, pass_mark=4))


def critic(server, **options):
    options.setdefault("limits", Limits(attempts=2))
    if "rubrics" not in options:
        options.setdefault("rubric", "faithfulness")
    return DecisionCritic("openai:decider", name="guard", api_key="sk-secret-1234", base_url=server.openai, **options)


def saying(truth):
    return a_case(answer=f"Paris. TRUTH={truth}")


class Scripted:
    """A decision model of a test: answers what it is told to."""

    name, model = "test:scripted", "scripted"

    def __init__(self, *answers):
        self.answers, self.asked = answers, []

    async def decide(self, text, questions):
        from jury_adapters import Usage

        self.asked.append((text, list(questions)))
        return list(self.answers), Usage(10, 1, calls=1)


def test_labels_are_a_choice_and_the_whole_request_is_known(server):
    case = saying("NO")
    judgment = critic(server).judge(case)
    rubric = Rubric.bundled("faithfulness")
    (ask,) = server.asks
    assert ask.path == "/v1/decisions"
    assert ask.body == {
        "model": "decider",
        "input": f"{MATERIAL}\n\n{user_text(rubric, case, {})}",
        "questions": [
            {
                "type": "choice",
                "instructions": question_for(rubric).text,
                "choices": [{"value": "YES"}, {"value": "NO"}, {"value": "UNSURE"}],
            }
        ],
    }
    assert rubric.criteria.strip() in ask.body["questions"][0]["instructions"]
    assert "JSON" not in ask.body["questions"][0]["instructions"]
    assert judgment.status is Status.FAIL
    assert judgment.label == "NO"
    assert judgment.probabilities == {"YES": 0.05, "NO": 0.9, "UNSURE": 0.05}
    assert judgment.score == 0.05
    assert judgment.confidence == 0.8
    assert judgment.reasoning == ""
    assert (judgment.critic, judgment.model) == ("guard", "decider")
    assert (judgment.usage.calls, judgment.usage.input_tokens, judgment.usage.cached_tokens) == (1, 50, 10)
    assert judgment.metadata["rubric_fingerprint"] == rubric.fingerprint


def test_one_good_and_one_bad_label_are_yes_or_no(server):
    asked = critic(server, rubric=PAIR)
    good, bad = asked.judge(saying("OK")), asked.judge(saying("NO"))
    question = server.asks[0].body["questions"][0]
    assert question["type"] == "predicate"
    assert question["instructions"].endswith('Is the right answer "OK", and not "RUDE"?')
    assert (good.status, good.label, good.score, good.confidence) == (Status.PASS, "OK", 0.9, 0.9)
    assert (bad.status, bad.label, bad.score) == (Status.FAIL, "RUDE", 0.1)
    assert bad.probabilities == {"OK": 0.1, "RUDE": 0.9}


def test_a_scale_is_its_levels_and_the_score_the_expectation(server):
    judgment = critic(server, rubric=RATED).judge(saying("4"))
    question = server.asks[0].body["questions"][0]
    assert question["levels"] == [{"label": str(level)} for level in range(1, 6)]
    expected = 0.9 * 4 + 0.025 * (1 + 2 + 3 + 5)
    assert judgment.metadata["rating"] == pytest.approx(expected)
    assert judgment.score == pytest.approx((expected - 1) / 4)
    assert judgment.status is Status.FAIL  # 3.875 is below the pass mark of 4
    assert critic(server, rubric=RATED, threshold=0.7).judge(saying("4")).passed
    assert critic(server, rubric=RATED).judge(saying("5")).passed


def test_a_long_or_fine_scale_has_eleven_levels():
    question = question_for(Rubric(name="fine", answers=Scale(minimum=0, maximum=1)))
    assert question.choices == ("0", "0.1", "0.2", "0.3", "0.4", "0.5", "0.6", "0.7", "0.8", "0.9", "1")
    assert len(question_for(Rubric(name="long", answers=Scale(minimum=0, maximum=100))).choices) == 11


class TestOutcome:
    GRADED = Rubric(
        name="graded",
        answers=Labels.of(passing=["excellent", "good"], failing=["poor"], abstaining=["unsure"]),
    )

    def of(self, rubric=None, threshold=None, **shares):
        return judgment_of(Answer(shares), rubric or self.GRADED, threshold)

    def test_passing_labels_count_together(self):
        judgment = self.of(excellent=0.3, good=0.3, poor=0.4, unsure=0.0)
        assert (judgment.label, judgment.status) == ("poor", Status.PASS)
        assert judgment.score == pytest.approx(0.6)
        assert judgment.confidence == 0.4
        assert self.of(excellent=0.3, good=0.3, poor=0.4, threshold=0.7).status is Status.FAIL

    def test_the_most_probable_label_may_abstain(self):
        judgment = self.of(excellent=0.2, good=0.1, poor=0.3, unsure=0.4)
        assert (judgment.status, judgment.label, judgment.score) == (Status.ABSTAIN, "unsure", None)

    def test_labels_without_a_meaning_have_no_status(self):
        judgment = self.of(Rubric.bundled("pairwise"), A=0.2, B=0.7, tie=0.1)
        assert (judgment.status, judgment.label, judgment.score) == (None, "B", None)

    @pytest.mark.parametrize("shares", [{}, {"superb": 1.0}, {"good": 0.0}])
    def test_nothing_of_the_vocabulary_is_no_vote(self, shares):
        judgment = self.of(**shares)
        assert (judgment.status, judgment.error) == (Status.ABSTAIN, "parse_fail")

    def test_a_refusal_is_an_abstention(self):
        judgment = judgment_of(Answer(refused="no thanks"), self.GRADED)
        assert (judgment.status, judgment.error) == (Status.ABSTAIN, "refused")
        assert "no thanks" in judgment.reasoning

    def test_numbers_outside_are_refused_as_a_broken_judge(self):
        asked = DecisionCritic(Scripted(Answer({"OK": 1.0, "yes": 2.0})), PAIR, name="g")
        assert asked.judge(a_case()).status is Status.ERROR


class TestSeveralRubrics:
    RUBRICS = ("faithfulness", "answer_relevance", "safety")

    def test_they_are_one_request_and_one_verdict(self, server):
        verdict = critic(server, rubric=self.RUBRICS).judge(saying("YES"))
        (ask,) = server.asks
        assert [question["type"] for question in ask.body["questions"]] == ["choice"] * 3
        shown = ask.body["input"]
        assert shown.count("Contexts:\n") == shown.count("Answer to judge:\n") == shown.count("Question:\n") == 1
        assert isinstance(verdict, Verdict)
        assert list(verdict.by_name) == list(self.RUBRICS)
        assert verdict.status is Status.PASS
        assert verdict.usage.calls == 1
        assert all(judgment.usage.calls == 0 for judgment in verdict.judgments)
        assert verdict.critic == "guard"

    def test_all_must_pass_unless_another_vote_is_asked_for(self, server):
        assert critic(server, rubric=self.RUBRICS).judge(saying("NO")).status is Status.FAIL
        assert critic(server, rubric=self.RUBRICS, voting="majority").judge(saying("NO")).status is Status.FAIL
        verdict = critic(server, rubric=["faithfulness", "safety"], voting="average").judge(saying("unsafe"))
        assert verdict.by_name["safety"].status is Status.FAIL
        assert verdict.by_name["faithfulness"].status is Status.PASS
        assert verdict.score == pytest.approx((0.9 + 0.05) / 2)

    def test_what_lacks_its_fields_is_not_asked(self, server):
        asked = critic(server, rubric=self.RUBRICS)
        verdict = asked.judge(question="q", answer="a")
        assert [len(ask.body["questions"]) for ask in server.asks] == [2]
        assert verdict.by_name["faithfulness"].status is Status.ABSTAIN
        assert verdict.by_name["answer_relevance"].status is Status.PASS
        nothing = asked.judge(question="q")
        assert nothing.status is Status.ABSTAIN
        assert len(server.asks) == 1

    def test_a_failed_request_breaks_the_verdict(self, server):
        server.plan = lambda ask: error(400, "no such model")
        verdict = critic(server, rubric=self.RUBRICS).judge(a_case())
        assert isinstance(verdict, Verdict)
        assert verdict.status is Status.ERROR
        assert verdict.error.startswith("refused_request")
        assert verdict.judgments == ()

    def test_one_refused_question_abstains(self):
        asked = DecisionCritic(
            Scripted(Answer(refused="no"), Answer({"safe": 0.9, "unsafe": 0.1})), ["faithfulness", "safety"], name="g"
        )
        verdict = asked.judge(a_case())
        assert verdict.by_name["faithfulness"].error == "refused"
        assert verdict.status is Status.PASS

    def test_the_record_is_voted_on_anew(self, server, tmp_path):
        path = tmp_path / "runs.db"
        rubrics = ["faithfulness", "safety"]
        first = critic(server, rubric=rubrics, store=path).judge(saying("unsafe"))
        again = critic(server, rubric=rubrics, store=path, voting="average", threshold=None).judge(saying("unsafe"))
        assert len(server.asks) == 1
        assert first.status is Status.FAIL
        assert again.voting == "average"
        assert again.judgments == first.judgments


def test_missing_fields_abstain_unasked(server):
    judgment = critic(server).judge(question="q", answer="a")
    assert (judgment.status, judgment.reasoning) == (Status.ABSTAIN, "nothing to judge: no contexts")
    assert server.asks == []


def test_a_refused_question_is_an_abstention(server):
    judgment = critic(server).judge(saying("REFUSE"))
    assert (judgment.status, judgment.error, judgment.usage.calls) == (Status.ABSTAIN, "refused", 1)


@pytest.mark.parametrize(
    ("act", "kind"),
    [
        (error(500), "server"),
        (error(401, "bad key sk-secret-1234"), "authentication"),
        (Act(drop=True), "connection"),
        (Act(raw='{"answers": []}'), "broken_body"),
        (Act(raw='{"answers": "x"}'), "broken_body"),
    ],
)
def test_what_goes_wrong_is_an_error_judgment(server, act, kind):
    server.plan = lambda ask: act
    with no_waiting():
        judgment = critic(server).judge(a_case())
    assert judgment.status is Status.ERROR
    assert judgment.error.startswith(kind)
    assert "sk-secret" not in str(judgment.to_dict())


def test_transient_errors_are_tried_again(server):
    server.plan = lambda ask: error(429) if ask.attempt == 0 else WELL
    with no_waiting():
        assert critic(server).judge(saying("YES")).passed
    assert len(server.asks) == 2


def test_a_model_that_skips_a_question_is_malformed():
    judgment = DecisionCritic(Scripted(), PAIR, name="g").judge(a_case())
    assert (judgment.status, judgment.error.split(":")[0]) == (Status.ERROR, "malformed")


def test_a_store_serves_what_was_paid_for(server, tmp_path):
    path = tmp_path / "runs.db"
    first, again = (critic(server, store=path).judge(saying("YES")) for _ in range(2))
    assert len(server.asks) == 1
    assert first.canonical_json() == again.canonical_json()
    assert critic(server, store=path, threshold=0.95).judge(saying("YES")).status is Status.FAIL
    assert len(server.asks) == 2  # another threshold is another judge


def test_a_model_of_the_same_name_at_another_server_is_another_judge():
    here, there = (
        DecisionCritic("openai:decider", PAIR, name="guard", api_key="k", base_url=f"http://{host}/v1")
        for host in ("here.example", "there.example")
    )
    assert here.fingerprint != there.fingerprint
    vendors_own = DecisionCritic("openai:decider", PAIR, name="guard", api_key="k")
    assert vendors_own.fingerprint not in {here.fingerprint, there.fingerprint}


def test_equal_cases_at_once_are_one_request_with_a_store(server, tmp_path):
    server.plan = lambda ask: Act(delay=0.2)
    found = critic(server).judge_many([saying("YES")] * 5, store=tmp_path / "runs.db")
    assert all(judgment.passed for judgment in found)
    assert len(server.asks) == 1


def test_a_spent_budget_abstains_and_is_not_recorded(server, tmp_path):
    store = Store(tmp_path / "runs.db")
    asked = critic(server)
    cases = [saying("YES"), a_case(answer="another TRUTH=YES")]
    with changed_context(cache=store):
        options = {"budget": Budget(max_calls=1), "max_concurrency": 1}
        judgments = list(asked.judge_many(cases, store=store, **options))
    assert sorted(str(judgment.status) for judgment in judgments) == ["ABSTAIN", "PASS"]
    assert {judgment.error for judgment in judgments} == {None, "budget_exhausted"}
    assert len(server.asks) == 1
    assert all(judgment.passed for judgment in asked.judge_many(cases, store=store))
    assert len(server.asks) == 2
    store.close()


def test_estimates_and_prices(server):
    asked = critic(server)
    assert asked.estimate(a_case()).calls == 1
    assert asked.estimate(a_case()).input_tokens > 100
    assert asked.estimate(Case(question="q")).calls == 0
    assert not asked.priced
    assert (asked.size, critic(server, rubric=["safety", "faithfulness"]).size) == (1, 2)


class TestConstruction:
    def test_a_name_beside_an_address(self, server):
        asked = DecisionCritic("local-decider", "safety", base_url=server.openai)
        assert asked.name == "safety local-decider"
        assert asked.judge(saying("safe")).passed

    def test_the_key_is_taken_from_the_environment_and_never_shown(self, server, monkeypatch):
        monkeypatch.setenv("OPENAI_API_KEY", "sk-from-the-environment")
        asked = DecisionCritic("openai:decider", PAIR, name="g", base_url=server.openai)
        assert asked.judge(saying("OK")).passed
        assert server.asks[0].headers["authorization"] == "Bearer sk-from-the-environment"
        assert "sk-from" not in repr(asked) + repr(vars(asked))
        assert b"sk-from" not in pickle.dumps(asked)
        assert pickle.loads(pickle.dumps(asked)).judge(saying("OK")).passed
        assert repr(asked) == "DecisionCritic('openai:decider', [polite], name='g')"

    def test_a_model_that_is_ready_is_taken_as_it_is(self):
        model = resolve_decision_model(Scripted())
        assert resolve_decision_model(model) is model

    def test_langchain_objects_are_known_by_their_home(self):
        home = type("BaseDecisionModel", (), {"__module__": "langchain_core.decisions.base"})
        found = resolve_decision_model(type("OpenAIDecisions", (home,), {"model": "decider"})())
        assert isinstance(found.inner, LangChainDecisionModel)
        assert found.name == "langchain:decider"

    def test_variables_are_shown_and_needed(self):
        rubric = Rubric(name="toned", user_prompt="{answer}\n\nTone: {tone}", variables=["tone"])
        model = Scripted(Answer({"YES": 0.9, "NO": 0.1}))
        asked = DecisionCritic(model, [rubric, PAIR], name="g")
        model.answers = (Answer({"YES": 0.9, "NO": 0.1}), Answer({"yes": 0.9, "no": 0.1}))
        assert asked.judge(question="q", answer="a", metadata={"tone": "grave"}).passed
        assert "grave" in model.asked[0][0]
        assert (
            model.asked[0][0].count("\na\n</answer-") == 2
        )  # both user prompts show the answer, each in its own words


def test_other_rubrics_keep_all_else():
    first = DecisionCritic(Scripted(), PAIR, name="guard", threshold=0.9, voting="majority")
    both = first.with_rubrics("safety", PAIR)
    assert (both.name, both.threshold, both.size, first.size) == ("guard", 0.9, 2, 1)
    assert both.model is first.model
    assert both.fingerprint != first.fingerprint
    assert both.with_rubrics(PAIR).fingerprint == first.fingerprint
    with pytest.raises(ConfigurationError, match="what shall the critic judge"):
        first.with_rubrics()
