"""Critic: a judge that asks a model, from construction to judgment, over real HTTP."""

import asyncio
import json
import math
import pickle
import threading
from concurrent.futures import ThreadPoolExecutor

import pytest
from pydantic import SecretStr
from support.vendor import Act

from jury_adapters import Case, ConfigurationError, Critic, InputError, Limits, ModelError, Rubric, Scale, Status
from jury_adapters.testing import ScriptedModel, a_case

KEY = "sk-test-0123456789abcdefghij"
YES = '{"reasoning": "so it is", "answer": "YES", "confidence": 0.8}'
NO = '{"reasoning": "it is not", "answer": "NO", "confidence": 0.8}'
TONE = 'name: tone\nvariables: [tone]\nuser_prompt: "Is it {tone}? {answer}"\n'


def over_http(server, **options):
    options = {"rubric": "faithfulness", **options}
    return Critic("openai:gpt-4o-mini", name="truth", base_url=server.openai, api_key=KEY, **options)


def scripted(*lines, **options):
    return Critic(ScriptedModel(list(lines) or [YES]), **{"rubric": "faithfulness", "name": "truth", **options})


def asked(critic):
    return critic.model.inner.calls


# Construction; what it refuses stands in test_construction.py


def test_the_options_of_a_critic_reach_the_model(server):
    critic = Critic(
        "gpt-4o-mini", name="truth", prompt="Judge: {answer}", system_prompt="You are strict.", temperature=0.5,
        max_tokens=77, vendor="openai", base_url=server.openai, api_key=SecretStr(KEY),
    )  # fmt: skip
    assert critic.judge(answer="TRUTH=NO").status is Status.FAIL
    body = server.asks[0].body
    assert (body["temperature"], body["max_completion_tokens"]) == (0.5, 77)
    assert body["messages"][0]["content"].startswith("You are strict.")
    assert body["messages"][1]["content"].startswith("Judge: <answer-")


def test_a_critic_without_a_name_is_called_like_its_rubric_and_its_model():
    assert Critic(ScriptedModel([YES], model="gpt-4o"), "safety").name == "safety gpt-4o"


def test_a_rubric_comes_by_name_path_text_or_object(tmp_path):
    path = tmp_path / "tone.yaml"
    path.write_text(TONE, encoding="utf-8")
    for rubric in (path, str(path), TONE, Rubric.from_yaml(path)):
        assert scripted(rubric=rubric).rubric.variables == ("tone",)
    assert scripted(rubric="correctness").rubric == Rubric.bundled("correctness")


def test_a_system_prompt_takes_the_place_of_the_rubrics_own():
    critic = scripted(system_prompt="You are a pirate.")
    critic.judge(a_case())
    assert asked(critic)[0].prompt.system.startswith("You are a pirate.")
    assert "faithful" in asked(critic)[0].prompt.system


def test_criteria_in_one_sentence_are_a_critic():
    critic = Critic.from_criteria(ScriptedModel([NO]), "The answer names its source.", name="sourced")
    assert critic.judge(answer="It is so.").status is Status.FAIL
    assert "The answer names its source." in asked(critic)[0].prompt.system
    assert critic.name == critic.rubric.name == "sourced"


def test_a_yaml_prompt_of_the_known_kind_is_a_critic(tmp_path):
    path = tmp_path / "mine.yaml"
    path.write_text(
        "version: 2\ndescription: d\nsystem_prompt: You are brief.\nuser_prompt_template: 'Q {question} A {answer}'\n",
        encoding="utf-8",
    )
    critic = Critic(ScriptedModel([YES]), path, name="mine", threshold=0.5)
    assert critic.judge(a_case()).passed
    assert (critic.rubric.version, critic.threshold) == ("2", 0.5)
    assert asked(critic)[0].prompt.system.startswith("You are brief.")
    with pytest.raises(InputError, match=r"none\.yaml"):
        Critic(ScriptedModel([YES]), tmp_path / "none.yaml", name="mine")


# Context


def test_a_mapping_as_context_gives_the_rubrics_variables():
    critic = scripted(rubric=TONE)
    assert critic.judge(answer="Hi.", context={"tone": "friendly"}).passed
    (call,) = asked(critic)
    assert "friendly" in call.prompt.turns[0].text


def test_text_and_lists_as_context_are_contexts():
    critic = scripted()
    critic.judge(question="q", answer="a", context="one source")
    critic.judge(question="q", answer="a", context=["one", "two"])
    texts = [call.prompt.turns[0].text for call in asked(critic)]
    assert "one source" in texts[0]
    assert "Context 2:" in texts[1]


@pytest.mark.parametrize("name", ["answer", "question", "query", "contexts", "response", "metadata", "reference"])
def test_a_reserved_name_in_context_is_refused(name):
    with pytest.raises(ConfigurationError, match=f"{name}.* is a field of the case"):
        scripted(rubric=TONE).judge(answer="Hi.", context={name: "x"})


def test_an_unknown_variable_in_context_is_refused_also_when_awaited():
    critic = scripted(rubric=TONE)
    with pytest.raises(ConfigurationError, match="Did you mean 'tone'"):
        asyncio.run(critic.ajudge(answer="Hi.", context={"tones": "x"}))
    assert asked(critic) == []


def test_cases_that_differ_in_a_variable_only_are_asked_apart():
    critic = scripted(rubric=TONE)
    for tone in ("friendly", "formal"):
        critic.judge(answer="Hi.", context={"tone": tone})
    one, other = (call.prompt.turns[0].text for call in asked(critic))
    assert one != other


# Abstaining unasked


@pytest.mark.parametrize(
    ("rubric", "case", "missing"),
    [
        ("faithfulness", Case(question="q", answer="a"), "no contexts"),
        ("faithfulness", Case(question="q", contexts=["c"]), "no answer"),
        ("faithfulness", Case(question="q", answer="a", contexts=["  "]), "no contexts"),
        ("correctness", Case(question="q", answer="a"), "no reference"),
        ("pairwise", Case(question="q", candidates=["a"]), "no candidates"),
        (TONE, Case(answer="a"), "no tone"),
    ],
)
def test_what_is_missing_is_said_without_asking_the_model(rubric, case, missing):
    critic = scripted(rubric=rubric)
    judgment = critic.judge(case)
    assert judgment.status is Status.ABSTAIN
    assert missing in judgment.reasoning
    assert judgment.usage.calls == 0
    assert asked(critic) == []


# Judging


@pytest.mark.parametrize(("threshold", "status"), [(None, "PASS"), (0.75, "PASS"), (0.76, "FAIL"), (0.0, "PASS")])
def test_a_threshold_takes_the_place_of_the_pass_mark(threshold, status):
    rubric = Rubric(name="stars", criteria="Good.", answers=Scale(minimum=1, maximum=5, pass_mark=4))
    judgment = scripted('{"reasoning": "ok", "answer": 4}', rubric=rubric, threshold=threshold).judge(a_case())
    assert (judgment.status, judgment.score, judgment.metadata["rating"]) == (status, 0.75, 4)


def test_repeat_asks_as_often_and_the_majority_decides():
    critic = scripted(YES, NO, NO, samples=3)
    judgment = critic.judge(a_case())
    assert judgment.status is Status.FAIL
    assert judgment.usage.calls == 3
    assert len(asked(critic)) == critic.size == 3


def test_repeat_over_http_sends_every_sample(server):
    assert over_http(server, samples=3).judge(a_case(answer="TRUTH=NO")).status is Status.FAIL
    assert len(server.asks) == 3


def test_with_logprobs_the_score_is_the_expectation_over_the_answers(server):
    rubric = Rubric(name="stars", criteria="Good.", answers=Scale(minimum=1, maximum=5, pass_mark=4))
    tokens = [
        ('{"reasoning": "fine", "answer": ', 0.0, {}),
        ("4", math.log(0.6), {"4": math.log(0.6), "5": math.log(0.3), "2": math.log(0.1), "x": -0.1}),
        (', "confidence": 0.9}', 0.0, {}),
    ]
    server.plan = lambda ask: Act(text="".join(token for token, *_ in tokens), logprobs=tokens)
    judgment = over_http(server, rubric=rubric, logprobs=True).judge(a_case())
    assert (server.asks[0].body["logprobs"], server.asks[0].body["top_logprobs"]) == (True, 20)
    assert judgment.score == pytest.approx((0.6 * 0.75 + 0.3 * 1.0 + 0.1 * 0.25) / 1.0)
    assert (judgment.status, judgment.metadata["rating"]) == (Status.PASS, 4)


def test_with_logprobs_the_labels_have_probabilities(server):
    tokens = [
        ('{"reasoning": "fine", "answer": "', 0.0, {}),
        ("YES", math.log(0.8), {"YES": math.log(0.8), "NO": math.log(0.2)}),
        ('"}', 0.0, {}),
    ]
    server.plan = lambda ask: Act(text="".join(token for token, *_ in tokens), logprobs=tokens)
    judgment = over_http(server, logprobs=True).judge(a_case())
    assert judgment.probabilities["YES"] == pytest.approx(0.8)
    assert judgment.score == pytest.approx(0.8)


def test_a_server_without_logprobs_gives_a_judgment_without_probabilities(server):
    judgment = over_http(server, logprobs=True).judge(a_case())
    assert (judgment.status, judgment.probabilities) == (Status.PASS, None)


def test_a_failed_call_is_an_error_that_says_how_and_never_an_exception():
    judgment = scripted(ModelError("no", "refused_request", request_id="req_7")).judge(a_case())
    assert (judgment.status, judgment.error) == (Status.ERROR, "refused_request: no (request req_7)")
    assert judgment.metadata["request_id"] == "req_7"


@pytest.mark.parametrize("error", [ValueError("odd"), TimeoutError("slow"), KeyError("x"), RecursionError()])
def test_a_model_that_raises_anything_at_all_is_an_error_too(error):
    assert scripted(error).judge(a_case()).status is Status.ERROR


def test_every_judgment_names_its_rubric_and_model(server):
    judgment = over_http(server).judge(a_case())
    rubric = Rubric.bundled("faithfulness")
    assert judgment.metadata["rubric"] == "faithfulness"
    assert judgment.metadata["rubric_version"] == rubric.version
    assert judgment.metadata["rubric_fingerprint"] == rubric.fingerprint
    assert (judgment.critic, judgment.model, judgment.family) == ("truth", "gpt-4o-mini", "openai")
    assert judgment.elapsed_s > 0


# Identity


@pytest.mark.parametrize(
    "change", [{"temperature": 0.5}, {"max_tokens": 99}, {"logprobs": True}, {"threshold": 0.9}, {"rubric": "safety"},
               {"system_prompt": "You are strict."}],
)  # fmt: skip
def test_whatever_changes_what_is_asked_changes_the_fingerprint(change):
    assert scripted().fingerprint == scripted(NO).fingerprint
    assert scripted(**change).fingerprint != scripted().fingerprint


def test_name_key_and_limits_leave_the_fingerprint_alone(server):
    one = over_http(server)
    other = Critic(
        "openai:gpt-4o-mini",
        "faithfulness",
        name="other",
        base_url=server.openai,
        api_key="another-key",
        limits=Limits(attempts=2),
    )
    assert one.fingerprint == other.fingerprint


@pytest.mark.parametrize("samples", [1, 3])
def test_a_critic_with_its_key_in_the_environment_survives_pickling(server, monkeypatch, samples):
    monkeypatch.setenv("OPENAI_API_KEY", KEY)
    critic = Critic("openai:m", "faithfulness", name="truth", base_url=server.openai, samples=samples)
    frozen = pickle.dumps(critic)
    assert KEY.encode() not in frozen
    twin = pickle.loads(frozen)
    assert twin.fingerprint == critic.fingerprint
    assert twin.judge(a_case(answer="TRUTH=NO")).status is Status.FAIL
    assert server.asks[0].headers["authorization"] == f"Bearer {KEY}"


@pytest.mark.parametrize("key", [KEY, SecretStr(KEY)])
def test_a_critic_with_a_literal_key_refuses_to_be_pickled_and_says_why(key):
    critic = Critic("openai:m", "faithfulness", name="truth", api_key=key)
    with pytest.raises(TypeError, match=r"literal api_key.*OPENAI_API_KEY") as caught:
        pickle.dumps(critic)
    assert KEY not in str(caught.value)


def test_a_copy_under_another_name_asks_the_same_model(server):
    judgment = over_http(server).named("twin").judge(a_case())
    assert (judgment.critic, judgment.status) == ("twin", Status.PASS)


# Anywhere


def test_sync_judging_works_inside_a_running_loop(server):
    critic = over_http(server)

    async def notebook():
        return critic.judge(a_case()), await critic.ajudge(a_case()), critic.judge(a_case(answer="TRUTH=NO"))

    assert [judgment.status for judgment in asyncio.run(notebook())] == ["PASS", "PASS", "FAIL"]


def test_sync_judging_works_from_32_threads_at_once(server):
    critic = over_http(server)
    gate = threading.Barrier(32, timeout=20)

    def work(n):
        gate.wait()
        return critic.judge(a_case(question=str(n), answer=f"TRUTH={'YES' if n % 2 else 'NO'}")).status

    with ThreadPoolExecutor(32) as pool:
        statuses = list(pool.map(work, range(32)))
    assert statuses == ["PASS" if n % 2 else "FAIL" for n in range(32)]
    assert len(server.asks) == 32


def test_judging_goes_on_after_asyncio_run_was_used(server):
    critic = over_http(server)
    for _ in range(3):
        assert asyncio.run(critic.ajudge(a_case())).passed
        assert critic.judge(a_case()).passed


@pytest.mark.parametrize(("stored", "requests"), [(True, 1), (False, 10)])
def test_identical_cases_in_flight_are_asked_once_only_with_a_store(server, tmp_path, stored, requests):
    server.plan = lambda ask: Act(delay=0.1)
    critic = over_http(server)
    options = {"store": tmp_path / "runs.db"} if stored else {}
    judgments = list(critic.judge_many([a_case()] * 10, **options))
    assert all(judgment.passed for judgment in judgments)
    assert len(server.asks) == sum(judgment.usage.calls for judgment in judgments) == requests
    assert sum(judgment.usage.total.calls for judgment in judgments) == 10


def test_the_schema_that_goes_out_is_the_rubrics_own(server):
    over_http(server, rubric="hallucination").judge(a_case())
    sent = server.asks[0].body["response_format"]["json_schema"]["schema"]
    assert sent == json.loads(json.dumps(Rubric.bundled("hallucination").reply_schema()))


@pytest.mark.parametrize("samples", [1, 3])
def test_a_critic_with_another_rubric_keeps_all_else(samples, tmp_path):
    class Own(Critic):
        tag = ""

    asked_before = Own(ScriptedModel([YES]), "faithfulness", name="truth", samples=samples, store=tmp_path / "runs.db")
    asked_before.tag = "kept"
    other = asked_before.with_timeout(30).with_rubric("answer_relevance")
    assert (type(other), other.name, other.tag, other.timeout, other.size) == (Own, "truth", "kept", 30, samples)
    assert other.model is asked_before.model
    assert other.store is asked_before.store
    assert other.fingerprint != asked_before.fingerprint
    judgment = other.judge(a_case())
    assert judgment.passed
    assert len(asked(other)) == samples
    single = judgment.judgments[0] if samples > 1 else judgment
    assert single.metadata["rubric"] == "answer_relevance"
    assert asked_before.judge(a_case()).passed, "the first critic is as it was"
    assert len(asked(other)) == 2 * samples
    assert asked_before.rubric.name == "faithfulness"


def test_another_rubric_is_checked_like_the_first():
    with pytest.raises(ConfigurationError, match="Did you mean 'safety'"):
        scripted().with_rubric("safty")
