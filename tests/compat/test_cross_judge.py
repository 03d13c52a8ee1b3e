"""Side by side with the released package: the same votes, the same reading of replies, the same requests."""

import dataclasses
import inspect
import json
import pickle
import random
from importlib import import_module
from types import SimpleNamespace
from typing import Any

import cross_judge as theirs
import httpx
import pytest
from model_server import Received, Server, answer, error, response
from pydantic import BaseModel, ValidationError

import jury_adapters
import jury_adapters.compat.cross_judge as ours
from jury_adapters import Budget, ConfigurationError, JuryError, Status, Store
from jury_adapters.voting import krippendorff_alpha

BOTH = (ours, theirs)
LABELS = ["KEEP", "REJECT", "SPLIT", "MERGE", "UNCLEAR", "PASS", "FAIL", "ABSTAIN", "ERROR", "pass", "", "grün"]
ERRORS = [None, None, None, None, "parse_fail", "empty_response", "TimeoutError: slow", ""]
OPTIONS: list[tuple[str, dict[str, Any]]] = [
    ("majority", {}),
    ("majority", {"priority": ["FAIL", "KEEP"], "fallback": "F"}),
    ("unanimous", {}),
    ("unanimous", {"fallback": "FAIL"}),
    ("weighted", {"weights": {"c0": 2.5, "c1": 0.1}, "fallback": "F"}),
    ("weighted", {"use_confidence": False}),
    ("first_disagreement", {"disagree_label": "SPLIT", "fallback": "F"}),
]
KEEP = '{"kind": "KEEP", "verdict": "KEEP", "confidence": 0.8, "reasoning": "so it is", "rationale": "so it is"}'


class Canned:
    """Client that answers with one text, as an `httpx.Client` does, and as an `openai.OpenAI` does."""

    def __init__(self, text: str, failure: Exception | None = None) -> None:
        self.text, self.failure = text, failure
        self.requests: list[dict[str, Any]] = []
        self.chat = self.completions = self

    def post(self, url: str, *, json: dict[str, Any], headers: dict[str, str]) -> "Canned":
        self.create(url=url, json=json, headers=headers)
        return self

    def json(self) -> dict[str, Any]:
        return {"choices": [{"message": {"content": self.text}}]}

    def create(self, **request: Any) -> SimpleNamespace:
        self.requests.append(request)
        if self.failure:
            raise self.failure
        return SimpleNamespace(choices=[SimpleNamespace(message=SimpleNamespace(content=self.text))])


def asked(module: Any, reply: str, **options: Any) -> Any:
    return module.Critic("c", "m", api_key="k", http_client=Canned(reply), **options).judge("q")


def timeless(verdict: Any) -> dict[str, Any]:
    return verdict.model_dump(exclude={"elapsed_s"})


def test_every_public_name_is_there_with_its_arguments() -> None:
    assert (sorted(ours.__all__), ours.__version__, ours.VENDOR_DEFAULTS) == (
        sorted(theirs.__all__),
        theirs.__version__,
        theirs.VENDOR_DEFAULTS,
    )
    for name in theirs.__all__:
        mine, yours = getattr(ours, name), getattr(theirs, name)
        if inspect.isclass(yours) and issubclass(yours, BaseModel):
            assert [*mine.model_fields] == [*yours.model_fields], name
        elif dataclasses.is_dataclass(yours):
            assert [(one.name, one.default) for one in dataclasses.fields(mine)] == [
                (one.name, one.default) for one in dataclasses.fields(yours)
            ]
            for method in ("judge", "ask", "aggregate_verdicts", "from_yaml_prompt"):
                assert arguments(getattr(mine, method, None)) == arguments(getattr(yours, method, None)), name
        elif inspect.isfunction(yours):
            assert arguments(mine) == arguments(yours), name


def arguments(function: Any) -> Any:
    return function and [(one.name, one.kind, one.default) for one in inspect.signature(function).parameters.values()]


def test_the_same_votes_give_the_same_results() -> None:
    rng = random.Random(20261129)
    for _ in range(150):
        few = rng.sample(LABELS, rng.randint(1, 4))
        rows = [
            {
                "kind": rng.choice(few),
                "confidence": rng.choice([0.0, 1.0, 0.5, 0.25, rng.random()]),
                "critic_id": f"c{rng.randint(0, 3)}",
                "error": rng.choice(ERRORS),
            }
            for _ in range(rng.randint(0, 7))
        ]
        former = [{ours.verdict.FORMER.get(name, name): value for name, value in row.items()} for row in rows]
        for strategy, options in OPTIONS:
            if strategy in ours.VOTING_STRATEGIES:
                mine, yours = (
                    module.Ensemble([], strategy, options).aggregate_verdicts(
                        [module.Verdict(**row) for row in rows], query_id="q", meta={"a": 1}
                    )
                    for module in BOTH
                )
                yours.krippendorff_alpha = yours.krippendorff_alpha and round(yours.krippendorff_alpha, 9) + 0.0
                assert mine.model_dump() == yours.model_dump(), rows
            if strategy == "weighted" and not any(row["confidence"] for row in rows if row["error"] is None):
                continue  # without any weight the first label wins there, and nothing here
            mine, yours = (
                module.JudgePanel([], strategy, options).aggregate_verdicts(
                    "i", [module.LegacyVerdict(**row) for row in former]
                )
                for module in BOTH
            )
            assert mine.model_dump() == yours.model_dump(), (strategy, rows)


REPLIES = [
    "", " \n", "no braces", "}{", "{", "[1, 2]", "{}", '{"a": 1}', '{"kind": }', '```json\n{"kind": "keep"}\n```',
    'Mine: {"verdict": " split "} so.', '{"kind": "A", "verdict": "B", "confidence": 85}',
    '{"kind": 7, "reasoning": 5}',
    '{"kind": "KEEP",\n}', '{"kind": "KEEP", "confidence": [], "rationale": {"a": []}}', '{"kind": ""}',
    '{"kind": "PASS", "confidence": "0.7", "reasoning": "' + "x" * 1500 + '"}', '{"kind": "X"} {"kind": "Y"}',
    '{"kind": "fail", "confidence": -2}', '{"kind": true, "confidence": true}', '{"verdict": "ABSTAIN"}',
    '{"kind": "A", "kind": "B", "confidence": "inf"}', '{"kind": "error"}', "}" * 3 + "{" * 3,
]  # fmt: skip


def test_replies_are_read_the_same() -> None:
    for reply in REPLIES:
        mine, yours = (asked(module, reply) for module in BOTH)
        expected = timeless(yours)
        if expected["error"] == "empty_response":
            expected["reasoning"] = "empty_response"
        assert timeless(mine) == expected, reply
        mine, yours = (module.Reviewer("c", "m", client=Canned(reply)).ask("q") for module in BOTH)
        assert (mine.verdict, mine.confidence, mine.error) == (yours.verdict, yours.confidence, yours.error), reply
        assert mine.rationale == (yours.error if yours.error == "empty_response" else yours.rationale)


@pytest.mark.parametrize(
    ("reply", "kind", "confidence"),
    [
        ('{"a": ' * 100_000 + "}", "PARSE_FAIL", 0.0),  # each of these raises there
        ('{"kind": ' + "9" * 5000 + "}", "PARSE_FAIL", 0.0),
        ('{"kind": "KEEP", "confidence": 1' + "0" * 400 + "}", "KEEP", 0.0),
        ('{"kind": "KEEP", "confidence": NaN}', "KEEP", 0.0),  # is 1.0 there
        ('{"kind": null, "verdict": "keep", "confidence": 0.5}', "KEEP", 0.5),  # is NONE there
        ('{"kind": "KEEP\\ud800", "confidence": 0.5}', "KEEP\ufffd", 0.5),  # makes no JSON there
    ],
    ids=["deep", "long", "huge", "nan", "null", "surrogate"],
)
def test_no_reply_crashes(reply: str, kind: str, confidence: float) -> None:
    verdict = asked(ours, reply)
    assert (verdict.kind, verdict.confidence, json.loads(verdict.model_dump_json())["kind"]) == (kind, confidence, kind)


def test_clients_of_the_caller_get_the_same_requests() -> None:
    context = {"score": 0.456, "row": {"a": [1, 2]}, "name": "N", "my key": "spaced", "width": 9}
    template = "{query} {score:.1f} {row[a][1]} {name!r:>5} {name:{width}} {my key} {{literal}} {row}"
    for options in ({}, {"system_prompt": ""}, {"temperature": 0.7, "max_tokens": 5, "base_url": "http://h/v1/"}):
        clients = [Canned(KEEP), Canned(KEEP)]
        for module, client in zip(BOTH, clients, strict=True):
            critic = module.Critic("c", "m", template, api_key="k", http_client=client, **options)
            assert (
                critic.judge("a {query}", context=context).kind,
                critic.judge("a", context={**context, "query": "instead"}).kind,
            ) == ("KEEP", "KEEP")
        assert clients[0].requests == clients[1].requests
    clients = [Canned(KEEP), Canned(KEEP)]
    for module, client in zip(BOTH, clients, strict=True):
        prompt = import_module(f"{module.__name__}.prompts").render_user_prompt("a {x}", ["KEEP", "REJECT"])
        assert module.Reviewer("r", "m", vendor="custom", client=client, temperature=0.3).ask(prompt).verdict == "KEEP"
    assert clients[0].requests == clients[1].requests
    failure = ConnectionError("no way to 10.0.0.1")
    mine, yours = (module.Critic("c", "m", api_key="k", http_client=Canned("", failure)).judge("q") for module in BOTH)
    assert timeless(mine) == timeless(yours)


def critic(server: Server, name: str = "c", module: Any = ours, **options: Any) -> Any:
    return module.Critic(name, name, base_url=server.base_url("openai"), api_key="wire-key-9", **options)


def test_the_vendor_gets_the_same_messages_over_http(server: Server) -> None:
    server.plan = lambda request: [response(answer(request, KEEP))]
    server.requests.clear()
    with httpx.Client() as client:
        results = [
            module.Ensemble([critic(server, name, module, **options) for name in "abc"]).judge("x" * 99)
            for module, options in ((ours, {}), (theirs, {"http_client": client}))
        ]
    assert ([one.consensus for one in results], results[0].query_id) == (["KEEP", "KEEP"], results[1].query_id)
    bodies = sorted(
        (
            {name: one.body[name] for name in ("model", "messages", "temperature", "max_tokens")}
            for one in server.requests
        ),
        key=lambda body: body["model"],
    )
    assert (
        len(bodies),
        bodies[::2],
        {one.headers["authorization"] for one in server.requests},
        {one.target for one in server.requests},
    ) == (6, bodies[1::2], {"Bearer wire-key-9"}, {"/v1/chat/completions"})


def test_a_client_that_is_made_is_asked_from_then_on(server: Server) -> None:
    """Users of cross-judge close it, or count what it sends."""
    server.plan = lambda request: [response(answer(request, KEEP))]
    reviewer = ours.Reviewer("c", "m", base_url=server.base_url("openai"), api_key="wire-key-9")
    for one, ask in ((critic(server), "judge"), (reviewer, "ask")):
        server.requests.clear()
        with one._get_client() as client:
            assert one._get_client() is client
            assert (getattr(one, ask)("q").error, len(server.requests)) == (None, 1)
        assert getattr(one, ask)("q").error  # it is closed
        assert len(server.requests) == 1


def test_a_failed_call_is_an_error_that_does_not_vote(server: Server) -> None:
    def plan(request: Received) -> Any:
        if request.body["model"] == "b":
            return error("401 Unauthorized", f"wrong key {request.key}")(request)
        return [response(answer(request, KEEP if request.body["model"] == "a" else "no JSON"))]

    server.plan = plan
    result = ours.Ensemble([critic(server, name) for name in "abc"]).judge("q")
    assert (
        [one.kind for one in result.verdicts],
        result.consensus,
        result.disagreement,
        result.krippendorff_alpha,
        "401" in (result.verdicts[1].error or ""),
        "wire-key-9" not in result.model_dump_json(),
    ) == (["KEEP", "ERROR", "PARSE_FAIL"], "KEEP", False, None, True, True)
    missing = ours.Critic("c", "m").judge("q")
    assert (missing.kind, missing.critic_id, "Set DEEPSEEK_API_KEY env var" in (missing.error or "")) == (
        "ERROR",
        "c",
        True,
    )


def test_what_fails_for_a_moment_is_tried_again(server: Server) -> None:
    server.plans(error("503 Service Unavailable"), lambda request: [response(answer(request, KEEP))])
    assert critic(server, "patient").judge("q").kind == "KEEP"


@pytest.mark.parametrize("module", BOTH, ids=["ours", "theirs"])
def test_what_callers_catch(module: Any) -> None:
    for call in (
        lambda: module.get_vendor("nobody"),
        lambda: module.get_strategy("nothing"),
        lambda: module.get_voting_strategy("nothing"),
        lambda: module.make_client("nobody"),
        lambda: module.Critic("c", "m", "{query} {other}", api_key="k").judge("q"),
        lambda: module.Ensemble([module.Critic("c", "m", "{row[gone]}", api_key="k")]).judge("q", context={"row": {}}),
        lambda: module.Ensemble([], "nothing").judge("q"),
    ):
        with pytest.raises(KeyError):
            call()
    with pytest.raises(RuntimeError, match=r"^Missing API key for vendor 'deepseek'. Set DEEPSEEK_API_KEY env var"):
        module.make_client()
    with pytest.raises(RuntimeError, match="Missing API key"):
        module.Reviewer("r", "m").ask("q")
    with pytest.raises(ValueError, match=r"Pass base_url=... explicitly for custom vendors"):
        module.Critic("c", "m", vendor="custom").judge("q")
    for wrong in ({}, {"kind": "A", "confidence": 1.1}, {"kind": "A", "confidence": float("nan")}):
        with pytest.raises(ValidationError):
            module.Verdict(**wrong)


def test_verdicts_take_either_schema_and_leave_the_row_alone() -> None:
    row = {"verdict": "KEEP", "rationale": "r", "reviewer_id": "x", "confidence": "0.5", "extra": [1]}
    mine, yours = ours.Verdict.model_validate(dict(row)), theirs.Verdict(**row)
    assert (mine.model_dump_json(), mine.verdict, mine.rationale, mine.reviewer_id) == (
        yours.model_dump_json(),
        "KEEP",
        "r",
        "x",
    )
    ours.Verdict.model_validate(row)
    assert row["verdict"] == "KEEP"


def test_critics_of_the_callers_own_class_vote_along() -> None:
    class Own:
        name = reviewer_id = "own"

        def judge(self, query: str, context: Any = None) -> Any:
            if query == "broken":
                raise OSError("no disk")
            return ours.Verdict(kind=query, critic_id=self.name, tag="kept")

        def ask(self, prompt: str) -> Any:
            raise OSError("no disk")

    other = ours.Critic("c", "m", api_key="k", http_client=Canned(KEEP))
    result = ours.Ensemble([Own(), other], voting_kwargs={"priority": ["A"]}).judge("A")
    assert (result.consensus, result.verdicts[0].model_dump()["tag"]) == ("A", "kept")
    result = ours.Ensemble([Own(), other]).judge("broken")
    assert (
        result.consensus,
        result.verdicts[0].kind,
        result.verdicts[0].critic_id,
        result.verdicts[0].error,
        ours.JudgePanel([Own()]).ask("i", "p").verdicts[0].verdict,
    ) == ("KEEP", "ERROR", "own", "OSError: no disk", "ERROR")


def test_own_strategies_get_the_verdicts_and_name_the_vote() -> None:
    def loudest(verdicts: list[Any], *, floor: float = 0.0) -> tuple[str, bool]:
        heard = [one for one in verdicts if one.confidence > floor]
        return (max(heard, key=lambda one: one.confidence).kind if heard else "NOBODY"), len(heard) > 1

    rows = [{"kind": "A", "confidence": 0.2}, {"kind": "B", "confidence": 0.9, "error": "boom"}, {"kind": "C"}]
    for options in ({}, {"floor": 0.5}, {"floor": 0.95}):
        mine, yours = (
            module.Ensemble([], loudest, options).aggregate_verdicts(
                [module.Verdict(**row) for row in rows], query_id="q"
            )
            for module in BOTH
        )
        assert mine.model_dump() == yours.model_dump()


def test_a_panel_goes_by_the_weights_of_its_reviewers() -> None:
    for module, consensus in ((theirs, "KEEP"), (ours, "REJECT")):
        reviewers = [module.Reviewer(name, "m", weight=5.0 if name == "c" else 1.0) for name in "abc"]
        said = [("a", "KEEP"), ("b", "KEEP"), ("c", "REJECT")]
        verdicts = [module.LegacyVerdict(reviewer_id=name, verdict=kind, confidence=0.5) for name, kind in said]
        assert module.JudgePanel(reviewers, "weighted").aggregate_verdicts("i", verdicts).consensus == consensus
    tenths = [ours.LegacyVerdict(reviewer_id="r", verdict="KEEP", confidence=0.1)] * 10
    whole = ours.LegacyVerdict(reviewer_id="r", verdict="REJECT", confidence=1.0)
    assert ours.weighted([*tenths, whole]) == ("KEEP", True)
    with pytest.raises(ConfigurationError, match="numbers from 0"):
        ours.weighted([whole], weights={"r": -1.0})


def test_alpha_of_one_query_says_only_whether_all_agree() -> None:
    for kinds in ("AB", "AAB", "AABBC", "AAAA", "ABABABC" * 3):
        verdicts = [ours.Verdict(kind=kind) for kind in kinds]
        assert ours.krippendorff_alpha(verdicts) == float(len({*kinds}) == 1)
        their_alpha = theirs.krippendorff_alpha([theirs.Verdict(kind=kind) for kind in kinds])
        assert (their_alpha is not None, ours.krippendorff_alpha(verdicts)) == (
            True,
            pytest.approx(their_alpha, abs=1e-9),
        )
        if len({*kinds}) > 1:
            assert krippendorff_alpha([[*kinds]]) == pytest.approx(0.0, abs=1e-9)  # by Krippendorff's own formula


def test_a_template_reads_no_attributes() -> None:
    settings = SimpleNamespace(api_key="sk-secret")
    for template in ("{query} {settings.api_key}", "{query.upper}", "{settings:{settings.api_key}}", "{row[0].b}"):
        with pytest.raises(ConfigurationError, match="attribute"):
            ours.Critic("c", "m", template, api_key="k", http_client=Canned(KEEP)).judge(
                "q", {"settings": settings, "row": [settings]}
            )


def test_a_key_is_a_secret() -> None:
    for holder in (ours.Critic("c", "m", api_key="abcdefghij"), ours.Reviewer("r", "m", api_key="abcdefghij")):
        assert "abcdefghij" not in f"{holder!r} {vars(holder)} {dataclasses.replace(holder)!r}"
        with pytest.raises(TypeError, match="not pickled"):
            pickle.dumps(holder)
    client = Canned("", OSError("could not send abcdefghij"))
    verdict = ours.Critic("c", "m", api_key="abcdefghij", http_client=client).judge("q")
    assert ("abcdefghij" not in verdict.model_dump_json(), pickle.loads(pickle.dumps(ours.Critic("c", "m")))) == (
        True,
        ours.Critic("c", "m"),
    )


def test_a_prompt_file_is_read_as_data(tmp_path: Any) -> None:
    path = tmp_path / "prompt.yaml"
    path.write_text('version: "0.1"\nsystem_prompt: You are X.\nuser_prompt_template: "Judge {query}"\n')
    for module in BOTH:
        made = module.Critic.from_yaml_prompt("n", "m", str(path), temperature=0.3)
        assert (made.system_prompt, made.prompt_template, made.temperature) == ("You are X.", "Judge {query}", 0.3)
    path.write_text("system_prompt: You are X.")
    with pytest.raises(ConfigurationError, match="user_prompt_template"):
        ours.Critic.from_yaml_prompt("n", "m", str(path))
    with pytest.raises(JuryError, match=r"gone\.yaml"):
        ours.Critic.from_yaml_prompt("n", "m", str(tmp_path / "gone.yaml"))


def test_a_critic_goes_on_as_a_judge_of_this_package(server: Server, tmp_path: Any) -> None:
    server.plan = lambda request: [response(answer(request, KEEP if request.body["model"] != "b" else '{"kind": "x"}'))]
    server.requests.clear()
    judges = [critic(server, name, prompt_template="{query} / {place}").as_judge() for name in "abc"]
    jury = jury_adapters.Ensemble(judges, min_share="2/3")
    with Store(tmp_path / "runs.db") as store:
        for _ in range(2):
            rows = [{"question": "Is it so?", "metadata": {"place": place}} for place in ("here", "there")]
            verdicts = [*jury.judge_many(rows, store=store)]
            assert [one.label for one in verdicts] == ["KEEP", "KEEP"]
        assert (len(server.requests), {one.question for one in server.requests}) == (
            6,
            {"Is it so? / here", "Is it so? / there"},
        )
        (refused,) = judges[0].judge_many([{**rows[0], "question": "And so?"}], store=store, budget=Budget(max_calls=0))
        assert "over budget" in (refused.error or "")
    broken = jury.judge(question="Is it so?")  # without the value of a placeholder
    assert (broken.status is Status.ERROR, "missing required key" in (broken.judgments[0].error or "")) == (True, True)
    passes = ours.Critic("p", "m", api_key="k", http_client=Canned('{"kind": "pass"}')).as_judge()
    assert passes.judge("q").passed
    with pytest.raises(ConfigurationError, match="Set DEEPSEEK_API_KEY"):
        ours.Critic("c", "m").as_judge()
