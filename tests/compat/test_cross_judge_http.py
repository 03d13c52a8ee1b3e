"""Side by side over real HTTP: the same requests reach the vendor, and the same replies are the same verdicts."""

import asyncio
import json
import re
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from types import ModuleType

import cross_judge as theirs
import httpx
import openai
import pytest
from support.identity import status_of
from support.vendor import Act, VendorServer, error

import jury_adapters
import jury_adapters.compat.cross_judge as ours
from jury_adapters import Budget, ConfigurationError, Status
from jury_adapters.testing import no_waiting

BOTH = (ours, theirs)
KEEP = '{"kind": "KEEP", "confidence": 0.8, "reasoning": "so it is"}'
NO_TIME = {"elapsed_s"}


def critic(module: ModuleType, server: VendorServer, closing, name: str = "c", **options):
    return closing(module.Critic(name, options.pop("model", "judge-1"), base_url=server.openai, api_key="k", **options))


@pytest.mark.parametrize(
    "act",
    [
        Act(text=KEEP),
        Act(text=f"```json\n{KEEP}\n```"),
        Act(text='{"verdict": "split", "confidence": "0.5", "rationale": "two things"}'),
        Act(text="I cannot say."),
        Act(text='{"kind": "KEEP", "confi', finish="length"),
        Act(text=""),
        Act(finish="refusal"),
    ],
    ids=["plain", "fenced", "older names", "prose", "cut off", "empty", "refused"],
)
def test_the_same_reply_is_the_same_verdict(server, closing, act):
    server.plan = lambda ask: act
    mine, yours = (critic(module, server, closing).judge("Is it so?") for module in BOTH)
    assert mine.model_dump(exclude=NO_TIME) == yours.model_dump(exclude=NO_TIME)
    assert mine.elapsed_s > 0
    mine, yours = (
        closing(module.Reviewer("r", "m", base_url=server.openai, api_key="k")).ask("Is it so?") for module in BOTH
    )
    assert mine.model_dump(exclude=NO_TIME) == yours.model_dump(exclude=NO_TIME)


@pytest.mark.parametrize(
    "options",
    [
        {},
        {"system_prompt": ""},
        {"temperature": 0.7, "max_tokens": 50, "model": "anthropic/claude-sonnet-4.5", "vendor": "openrouter"},
        {"prompt_template": 'About {query} in {place}:\n{{"kind": ...}}', "vendor": "custom"},
        {"vendor": "openai"},
    ],
    ids=["defaults", "no system prompt", "openrouter", "template", "openai elsewhere"],
)
def test_the_same_request_reaches_the_vendor(server, closing, options):
    server.plan = lambda ask: Act(text=KEEP)
    for module in BOTH:
        assert critic(module, server, closing, **options).judge("ä {query} \u200b", {"place": "Köln"}).kind == "KEEP"
    mine, yours = server.asks
    assert mine.body == yours.body
    assert mine.path == yours.path
    assert mine.headers["authorization"] == yours.headers["authorization"] == "Bearer k"


def test_the_same_request_of_a_reviewer_reaches_the_vendor(server, closing):
    server.plan = lambda ask: Act(text='{"verdict": "KEEP"}')
    for module in BOTH:
        reviewer = closing(module.Reviewer("r", "m", temperature=0.2, base_url=server.openai, api_key="k"))
        result = module.JudgePanel([reviewer, reviewer], "unanimous").ask("item", "the {prompt}", meta={"a": 1})
        assert (result.consensus, result.disagreement, len(result.verdicts)) == ("KEEP", False, 2)
    first, *others = (ask.body for ask in server.asks)
    assert len(others) == 3
    assert all(body == first for body in others)


def test_an_ensemble_over_http_says_the_same(server, closing):
    kinds = {"a": "KEEP", "b": "REJECT", "c": "REJECT", "d": "no json"}
    server.plan = lambda ask: Act(text=json.dumps({"kind": kinds[ask.body["model"]], "confidence": 0.6})
                                  if ask.body["model"] != "d" else "no json")  # fmt: skip
    results = []
    for module in BOTH:
        critics = [critic(module, server, closing, name, model=name) for name in kinds]
        result = module.Ensemble(critics, voting_kwargs={"priority": ["KEEP"]}).judge("x" * 100, meta={"n": 1})
        for verdict in result.verdicts:
            verdict.elapsed_s = 0.0
        result.krippendorff_alpha = round(result.krippendorff_alpha, 9)
        results.append(result.model_dump_json())
    assert results[0] == results[1]
    assert result.consensus == "REJECT"


def test_ready_clients_of_both_kinds_are_used(server, closing):
    server.plan = lambda ask: Act(text='{"kind": "KEEP", "verdict": "KEEP"}')
    with httpx.Client(headers={"x-tenant": "mine"}) as http, ours.make_client("openai", "k", server.openai) as openai:
        for module in BOTH:
            assert critic(module, server, closing, http_client=http).judge("q").kind == "KEEP"
            assert module.Reviewer("r", "m", client=openai).ask("q").verdict == "KEEP"
    mine, yours = server.asks[::2]
    assert mine.body == yours.body
    assert mine.headers["x-tenant"] == "mine"
    assert server.asks[1].body == server.asks[3].body


def test_a_vendor_of_the_callers_own(server, closing, monkeypatch):
    server.plan = lambda ask: Act(text=KEEP)
    monkeypatch.setenv("MY_KEY", "from-the-environment")
    for module in BOTH:
        monkeypatch.setitem(module.VENDOR_DEFAULTS, "mine", (server.openai, "MY_KEY"))
        assert closing(module.Critic("c", "m", vendor="mine")).judge("q").kind == "KEEP"
    assert [ask.headers["authorization"] for ask in server.asks] == ["Bearer from-the-environment"] * 2


@pytest.mark.parametrize("status", [401, 429, 500])
def test_a_failed_call_is_an_error_that_does_not_vote(server, closing, status):
    server.plan = lambda ask: error(status, "no")
    for module in BOTH:
        with no_waiting():
            result = module.Ensemble([critic(module, server, closing)]).judge("q")
        (verdict,) = result.verdicts
        assert (verdict.kind, verdict.confidence, verdict.critic_id) == ("ERROR", 0.0, "c")
        assert str(status) in verdict.error
        assert (result.consensus, result.agreement_pct, result.krippendorff_alpha) == ("UNCLEAR", 0.0, None)


def test_a_critic_goes_on_as_a_judge_of_this_package(server, closing):
    server.plan = lambda ask: Act(text=KEEP.replace("KEEP", "REJECT" if ask.body["model"] == "b" else "KEEP"))
    critics = [critic(ours, server, closing, name, model=name, prompt_template="{query} / {place}") for name in "abc"]
    jury = jury_adapters.Ensemble([one.as_judge() for one in critics], min_share="2/3", default_label="UNCLEAR")
    verdict = jury.judge(question="Is it so?", metadata={"place": "here"})
    assert (verdict.label, verdict.tally.ballots) == ("KEEP", ("KEEP", "REJECT", "KEEP"))
    assert verdict.usage.calls == 3
    assert server.asks[0].body["messages"][-1]["content"] == "Is it so? / here"
    assert jury.judge(question="Is it so?").judgments[0].status is Status.ERROR  # no place: said, and not raised
    reviewer = ours.Reviewer("r", "m", base_url=server.openai, api_key="k")
    assert reviewer.as_judge().judge(question="the prompt").label == "UNCLEAR"


def test_a_batch_of_judges_records_and_keeps_to_its_budget(server, closing, tmp_path):
    server.plan = lambda ask: Act(text=KEEP)
    judge = critic(ours, server, closing).as_judge()
    for _ in range(2):
        labels = [j.label for j in judge.judge_many(["one", "two"], store=tmp_path / "runs.db")]
        assert labels == ["KEEP", "KEEP"]
    assert len(server.asks) == 2
    assert judge.estimate_cost(["one", "two"]).calls == 2
    spent = list(judge.judge_many(["three", "four"], budget=Budget(max_calls=1)))
    assert sorted(str(j.label) for j in spent) == ["KEEP", "None"]


def test_a_judge_without_a_key_is_refused_at_once(monkeypatch):
    monkeypatch.delenv("DEEPSEEK_API_KEY", raising=False)
    with pytest.raises(ConfigurationError, match="Set DEEPSEEK_API_KEY"):
        ours.Critic("c", "m").as_judge()


def test_who_asks_twice_at_once_gets_two_answers(server, closing):
    server.plan = lambda ask: Act(text=KEEP, delay=0.1)
    one = critic(ours, server, closing, temperature=0.9)
    assert len(ours.Ensemble([one, one]).judge("q").verdicts) == 2
    with ThreadPoolExecutor(3) as pool:
        assert {verdict.kind for verdict in pool.map(one.judge, ["q"] * 3)} == {"KEEP"}
    assert len(server.asks) == 5


def test_a_critic_may_ask_an_ensemble(server, closing):
    server.plan = lambda ask: Act(text=KEEP)

    class Delegating:
        def judge(self, query, context=None):
            inner = ours.Ensemble([critic(ours, server, closing, name) for name in "ab"])
            return ours.Verdict(kind=inner.judge(query).consensus, critic_id="delegating")

    assert ours.Ensemble([Delegating()] * 8).judge("q").agreement_pct == 1.0
    assert len(server.asks) == 16


def test_it_works_inside_a_running_loop(server, closing):
    server.plan = lambda ask: Act(text=KEEP)

    async def notebook():
        judged = await critic(ours, server, closing).as_judge().ajudge(question="q")
        return ours.Ensemble([critic(ours, server, closing)]).judge("q").consensus, judged.label

    assert asyncio.run(notebook()) == ("KEEP", "KEEP")


@pytest.mark.slow
def test_the_import_loads_no_sdk():
    loaded = (
        "{'openai', 'anthropic', 'httpx', 'aiohttp', 'langchain_core', 'llama_index', 'cross_judge'} & {*sys.modules}"
    )
    code = f"import sys, jury_adapters.compat.cross_judge; print({loaded})"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout == "set()\n"


def test_the_code_of_the_cookbook_runs(server, closing, tmp_path, monkeypatch, capsys):
    server.plan = lambda ask: Act(text=KEEP)
    monkeypatch.chdir(tmp_path)
    text = (Path(__file__).parents[2] / "cookbook" / "cross_judge.md").read_text(encoding="utf-8")
    names: dict[str, object] = {}
    for block in re.findall(r"^```py\n(.*?)^```", text, re.MULTILINE | re.DOTALL):
        exec(compile(block, "cross_judge.md", "exec"), names)
    assert [one.vendor for one in names["critics"]] == ["openrouter", "deepseek", "openai"]
    critics = [critic(ours, server, closing, name, model=name) for name in "abc"]
    names["run"](critics, ["one", "two"])
    assert capsys.readouterr().out.splitlines() == ["KEEP 1.0"] * 2
    results = [ours.Ensemble(critics).judge(query) for query in ("one", "two")]
    assert names["reliability"](results) is None  # no variation at all
    results[1].verdicts[0].kind = "REJECT"
    assert -1 < names["reliability"](results) < 1


def test_a_store_tells_the_servers_of_critics_and_reviewers_apart(two_servers, tmp_path):
    def of_http_client(server):
        with httpx.Client() as client:
            made = ours.Critic("c", "judge-1", base_url=server.openai, api_key="k", http_client=client)
            return status_of(made.as_judge(), tmp_path / "runs.db")

    def of_sdk_client(server):
        with openai.OpenAI(api_key="k", base_url=server.openai) as client:
            made = ours.Reviewer("r", "judge-1", client=client, system_prompt="sdk")
            return status_of(made.as_judge(), tmp_path / "runs.db")

    def of_address(server):
        made = ours.Critic("c", "judge-2", base_url=server.openai, api_key="k")
        return status_of(made.as_judge(), tmp_path / "runs.db")

    first, second = two_servers
    first.plan, second.plan = (
        lambda ask, kind=kind: Act(text=json.dumps({"kind": kind})) for kind in ("KEEP", "REJECT")
    )
    for judge in (of_http_client, of_sdk_client, of_address):
        before = (first.count, second.count)
        said = [judge(server) for server in (first, second, first, second)]
        assert said[:2] == said[2:]
        assert (first.count, second.count) == (before[0] + 1, before[1] + 1)
