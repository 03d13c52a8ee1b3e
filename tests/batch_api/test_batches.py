"""Batches of both vendors over real HTTP: what is sent, what comes back, and what it costs."""

import asyncio
import itertools
import json
import pickle
import stat
import threading
from concurrent.futures import Future

import pytest
from hypothesis import given
from hypothesis import strategies as st
from support.batch_vendor import BatchServer
from support.batches import KEY, NAMES, batch_critic, batch_model, cases
from support.pictures import encoded, png
from support.vendor import Act, error

from jury_adapters import Budget, ConfigurationError, Critic, Image, Rubric, Scorecard, Status
from jury_adapters.batch_api import BatchModel
from jury_adapters.batch_api.ledger import Ledger
from jury_adapters.batch_api.model import asked_of
from jury_adapters.batch_api.model_queue import BatchingPolicy, ModelQueue, deliver
from jury_adapters.batch_api.rows import json_lines
from jury_adapters.batch_api.vendors import OpenAIBatches
from jury_adapters.core.judgment import evolve
from jury_adapters.models import set_price
from jury_adapters.models.base import Options, Prompt
from jury_adapters.models.prices import PRICES, price_of
from jury_adapters.models.registry import resolve_model
from jury_adapters.testing import a_case

BOTH = pytest.mark.parametrize("vendor", ["openai", "anthropic"])


@pytest.fixture
def server():
    with BatchServer() as running:
        yield running


def threads():
    return [thread for thread in threading.enumerate() if thread.name == "jury-batches"]


# What is sent


@pytest.mark.slow
@BOTH
def test_many_cases_go_out_in_one_batch_and_come_back_right(server, tmp_path, vendor):
    mixed = [case for pair in zip(cases(50), cases(50, "NO"), strict=True) for case in pair]
    critic = batch_critic(server, tmp_path, vendor, batch_window_s=2.0, max_requests=100)
    verdicts = list(critic.judge_many(mixed, max_concurrency=10_000))
    assert [verdict.status for verdict in verdicts] == [Status.PASS, Status.FAIL] * 50
    assert [len(batch.requests) for batch in server.batches.values()] == [100]
    assert server.calls["direct"] == 0


@BOTH
def test_images_go_out_with_the_requests(server, tmp_path, vendor):
    shown = [case.model_copy(update={"attachments": [Image(base64=encoded(png()))]}) for case in cases(3)]
    verdicts = list(batch_critic(server, tmp_path, vendor, max_requests=3).judge_many(shown))
    assert [verdict.status for verdict in verdicts] == [Status.PASS] * 3
    [batch] = server.batches.values()
    assert json.dumps(batch.requests).count(encoded(png())) == 3


def test_a_request_in_a_batch_is_the_one_that_would_go_out_directly(server, tmp_path):
    async def run():
        schema = Rubric.bundled("faithfulness").reply_schema()
        options = Options(temperature=0.0, max_tokens=300)
        return await batch_model(server, tmp_path).complete(Prompt.of("Is it so?", "You judge."), schema, options)

    reply = asyncio.run(run())
    (batch,) = server.batches.values()
    ((custom_id, body),) = batch.requests.items()
    assert body == {
        "model": "gpt-4o-mini",
        "messages": [{"role": "system", "content": "You judge."}, {"role": "user", "content": "Is it so?"}],
        "response_format": {
            "type": "json_schema",
            "json_schema": {
                "name": "judgment",
                "strict": True,
                "schema": Rubric.bundled("faithfulness").reply_schema(),
            },
        },
        "temperature": 0.0,
        "max_completion_tokens": 300,
    }
    assert len(custom_id) == 40
    assert set(batch.metadata) == {"jury_adapters"}
    assert (reply.model, reply.finish) == ("gpt-4o-mini", "stop")
    assert "so it says" in reply.text


@pytest.mark.slow
@BOTH
def test_a_full_batch_goes_out_at_once(server, tmp_path, vendor):
    critic = batch_critic(server, tmp_path, vendor, max_requests=10, batch_window_s=1.0)
    assert {verdict.status for verdict in critic.judge_many(cases(25), max_concurrency=100)} == {Status.PASS}
    assert sorted(len(batch.requests) for batch in server.batches.values()) == [5, 10, 10]


@pytest.mark.slow
def test_a_batch_keeps_the_limit_of_bytes(server, tmp_path):
    class Small(OpenAIBatches):
        most_bytes = 5_000

    async def run():
        direct = resolve_model(NAMES["openai"], base_url=server.base_url("openai"), api_key=KEY).inner
        with Ledger(tmp_path) as ledger:
            queue = ModelQueue("small", Small(direct), ledger)
            waiters = [Future() for _ in range(11)]
            for number, waiter in enumerate(waiters):
                content = f"{number}" * (1500 if number < 10 else 3000)
                asked = asked_of({"model": "m", "messages": [{"role": "user", "content": content}]}, "0")
                asked.waiters.append(waiter)
                queue.ask(asked, BatchingPolicy(None, 0.02, 0.01))
            found = await asyncio.gather(*map(asyncio.wrap_future, waiters), return_exceptions=True)
            await queue.close(1)
            return found

    *answers, refusal = asyncio.run(run())
    assert all(answer["choices"] for answer in answers)
    assert "fits no batch" in str(refusal)
    assert [len(batch.requests) for batch in server.batches.values()] == [2] * 5
    assert all(len(data) <= 5_000 for name, data in server.files.items() if name.startswith("file-"))


def test_repeated_asks_of_the_same_are_requests_of_their_own(server, tmp_path):
    server.plan = lambda ask: Act(text=json.dumps({"reasoning": "", "verdict": "NO" if ask.attempt == 1 else "YES"}))
    model = batch_model(server, tmp_path, batch_window_s=1.0, max_requests=3)
    critic = Critic(model, "faithfulness", name="truth", samples=3, temperature=1.0)
    verdict = critic.judge(cases(1)[0])
    assert sorted(judgment.status for judgment in verdict.judgments) == [Status.FAIL, Status.PASS, Status.PASS]
    assert [len(batch.requests) for batch in server.batches.values()] == [3]


def test_critics_share_a_model_and_vendors_share_a_folder(server, tmp_path):
    shared = batch_model(server, tmp_path, batch_window_s=1.0, max_requests=10)
    jury = Scorecard(
        {
            "faithful": Critic(shared, "faithfulness", name="faithful"),
            "relevant": Critic(shared, "answer_relevance", name="relevant"),
            "other vendor": batch_critic(server, tmp_path, "anthropic", batch_window_s=1.0, max_requests=5),
        }
    )
    assert {verdict.status for verdict in jury.judge_many(cases(5), max_concurrency=100)} == {Status.PASS}
    assert sorted((batch.vendor, len(batch.requests)) for batch in server.batches.values()) == [
        ("anthropic", 5),
        ("openai", 10),
    ]


def test_from_many_loops_at_once_the_same_request_is_sent_once(server, tmp_path):
    critic = batch_critic(server, tmp_path, batch_window_s=0.4)
    case = cases(1)[0]
    found = []
    asking = [threading.Thread(target=lambda: found.append(asyncio.run(critic.ajudge(case)))) for _ in range(3)]
    asking += [threading.Thread(target=lambda: found.append(critic.judge(case))) for _ in range(2)]
    for thread in asking:
        thread.start()
    for thread in asking:
        thread.join()
    assert [judgment.status for judgment in found] == [Status.PASS] * 5
    assert list(server.sent.values()) == [1]


# What is learned from the answers


@BOTH
def test_a_refused_parameter_is_learned_from_the_rows(server, tmp_path, vendor):
    def plan(ask):
        if "temperature" in ask.body:
            return error(400, "Unsupported parameter: 'temperature' is not supported with this model.")
        return Act()

    server.plan = plan
    critic = batch_critic(server, tmp_path, vendor, batch_window_s=0.5, max_requests=20)
    assert {verdict.status for verdict in critic.judge_many(cases(20), max_concurrency=100)} == {Status.PASS}
    assert [len(batch.requests) for batch in server.batches.values()] == [20, 20]
    critic.judge(a_case(answer="One more. TRUTH=YES"))
    assert len(server.batches) == 3  # known by now


def test_an_unreadable_reply_is_asked_about_in_a_further_batch(server, tmp_path):
    server.plan = lambda ask: Act() if len(ask.body["messages"]) > 2 else Act(text="I had rather not say.")
    judgment = batch_critic(server, tmp_path).judge(cases(1)[0])
    assert judgment.status is Status.PASS
    assert judgment.usage.calls == 2
    assert len(server.batches) == 2


# What it costs


@BOTH
def test_a_batch_costs_half(server, tmp_path, vendor):
    critic = batch_critic(server, tmp_path, vendor)
    direct = Critic(NAMES[vendor], "faithfulness", name="truth", api_key=KEY)
    case = cases(1)[0]
    judgment = critic.judge(case)
    price = price_of(vendor, NAMES[vendor].partition(":")[2])
    full = (36 * price.input + 64 * price.cached + 20 * price.output) / 1e6
    assert judgment.usage.cost_usd == pytest.approx(full / 2)
    assert judgment.usage.cost_complete
    assert critic.estimate_cost([case]).cost_usd == pytest.approx(direct.estimate_cost([case]).cost_usd / 2)
    assert critic.cost == pytest.approx(direct.cost / 2)


def test_a_price_of_its_own_takes_the_place_of_half(monkeypatch):
    monkeypatch.setattr("jury_adapters.models.prices.PRICES", PRICES)
    monkeypatch.delitem(PRICES, "openai/batch:gpt-4o", raising=False)
    assert price_of("openai/batch", "gpt-4o-2024-08-06").input == PRICES["openai:gpt-4o"].input / 2
    monkeypatch.setitem(PRICES, "openai/batch:gpt-4o", PRICES["openai:gpt-4o"])
    set_price("openai/batch:gpt-4o", input=1.0, output=2.0)
    assert price_of("openai/batch", "gpt-4o").output == 2.0
    assert price_of("local/batch", "anything") is None


def test_a_budget_holds(server, tmp_path):
    critic = batch_critic(server, tmp_path)
    verdicts = list(critic.judge_many(cases(8), max_concurrency=100, budget=Budget(max_calls=5)))
    assert [verdict.error for verdict in verdicts].count("budget_exhausted") == 3
    assert sum(server.sent.values()) == 5
    enough = critic.estimate_cost(cases(8, "NO")).cost_usd  # half the list price, so that half the budget will do
    assert not [
        verdict
        for verdict in critic.judge_many(cases(8, "NO"), max_concurrency=100, budget=Budget(max_usd=enough))
        if verdict.error
    ]


def test_a_store_takes_batched_and_direct_judgments_for_the_same(server, tmp_path):
    case = cases(1)[0]
    address = server.base_url("openai")
    direct = Critic(NAMES["openai"], "faithfulness", name="truth", base_url=address, api_key=KEY)
    (first,) = batch_critic(server, tmp_path / "batches").judge_many([case], store=tmp_path / "runs.db")
    (second,) = direct.judge_many([case], store=tmp_path / "runs.db")
    assert second.usage.recorded == first.usage  # served from the store: no call of its own
    assert first.to_json() == evolve(second, elapsed_s=first.elapsed_s, usage=first.usage).to_json()
    assert server.calls["direct"] == 0


# What is left behind


@BOTH
def test_the_same_run_again_is_served_from_the_folder(server, tmp_path, vendor):
    first = list(batch_critic(server, tmp_path, vendor).judge_many(cases(20), max_concurrency=100))
    before = server.calls.copy()
    again = list(batch_critic(server, tmp_path, vendor).judge_many(cases(20), max_concurrency=100))
    assert [verdict.score for verdict in again] == [verdict.score for verdict in first]
    assert server.calls == before


def test_nothing_is_left_running(server, tmp_path):
    batch_critic(server, tmp_path).judge(cases(1)[0])
    for thread in threads():
        thread.join(5)
    assert not threads()


@BOTH
def test_the_folder_is_the_owners_alone_and_holds_no_key(server, tmp_path, vendor):
    folder = tmp_path / "new" / "batches"
    batch_critic(server, folder, vendor).judge(cases(1)[0])
    for thread in threads():
        thread.join(5)
    assert stat.S_IMODE(folder.stat().st_mode) == 0o700
    files = list(folder.iterdir())
    assert {stat.S_IMODE(file.stat().st_mode) for file in files} == {0o600}
    content = b"".join(file.read_bytes() for file in files)
    assert b"so it says" in content  # the answer
    assert KEY.encode() not in content
    assert b"Answer 0." not in content  # the request


def test_a_caller_that_gives_up_leaves_the_batch(server, tmp_path):
    critic = batch_critic(server, tmp_path)
    case = cases(1)[0]
    server.polls = 10**9

    async def impatient():
        task = asyncio.create_task(critic.ajudge(case))
        while not server.calls["poll"]:  # it is out
            await asyncio.sleep(0.01)
        task.cancel()
        await asyncio.wait((task,))
        return task.cancelled()

    assert asyncio.run(impatient())
    server.polls = 0
    assert critic.judge(case).status is Status.PASS
    assert list(server.sent.values()) == [1]


def test_who_gives_up_before_the_batch_is_sent_is_not_in_it(server, tmp_path):
    critic = batch_critic(server, tmp_path, batch_window_s=0.3)

    async def run():
        gone, stays = (asyncio.create_task(critic.ajudge(case)) for case in cases(2))
        await asyncio.sleep(0.1)
        gone.cancel()
        return await stays

    assert asyncio.run(run()).status is Status.PASS
    assert list(server.sent.values()) == [1]


def test_patience_ends_with_an_error_that_says_where_the_result_will_be(server, tmp_path):
    server.polls = 10**9
    judgment = batch_critic(server, tmp_path, timeout_s=0.3).judge(cases(1)[0])
    assert judgment.status is Status.ERROR
    assert judgment.error.startswith("timeout: ")
    assert f"stays known in {tmp_path}" in judgment.error
    server.polls = 0
    assert batch_critic(server, tmp_path).judge(cases(1)[0]).status is Status.PASS
    assert list(server.sent.values()) == [1]


# How it is built


def test_a_model_is_pickled_without_its_key(tmp_path, monkeypatch):
    monkeypatch.setenv("OPENAI_API_KEY", KEY)
    model = BatchModel("openai:gpt-4o-mini", folder=tmp_path, timeout_s=5)
    data = pickle.dumps(model)
    assert KEY.encode() not in data
    copy = pickle.loads(data)
    assert repr(copy) == repr(model) == f"BatchModel('openai:gpt-4o-mini', folder={str(tmp_path)!r})"
    assert copy.limiter is model.limiter
    with pytest.raises(TypeError, match="is not pickled"):
        pickle.dumps(BatchModel("openai:gpt-4o-mini", folder=tmp_path, api_key=KEY))


@pytest.mark.parametrize(
    ("options", "said"),
    [
        ({"model": "deepseek:chat"}, "no batches are known"),
        ({"model": "gpt-4o-mini"}, "which vendor has"),
        ({"model": object()}, "named 'vendor:model'"),
        ({"folder": None}, "a path; not None"),
        ({"max_requests": 0}, "max_requests is a whole number from 1 to 50000"),
        ({"max_requests": 50_001}, "max_requests"),
        ({"batch_window_s": 0}, "batch_window_s is a positive number"),
        ({"poll_s": float("nan")}, "poll_s"),
        ({"timeout_s": -1}, "deadline_s"),
        ({"attempts": 0}, "attempts"),
        ({"request_timeout": 0}, "request_timeout"),
    ],
)
def test_what_cannot_work_is_said_at_once(tmp_path, options, said):
    settings = {"model": "openai:gpt-4o-mini", "folder": tmp_path, "api_key": KEY} | options
    with pytest.raises(ConfigurationError, match=said):
        BatchModel(settings.pop("model"), **settings)


def test_two_keys_in_one_folder_are_refused(server, tmp_path):
    server.polls = 10**9
    first = batch_critic(server, tmp_path)
    address = server.base_url("openai")
    other = BatchModel(NAMES["openai"], folder=tmp_path, base_url=address, api_key="another", batch_window_s=0.03)

    async def run():
        task = asyncio.create_task(first.ajudge(cases(1)[0]))
        while not server.calls["poll"]:
            await asyncio.sleep(0.01)
        judgment = await Critic(other, "faithfulness", name="other").ajudge(cases(2)[1])
        task.cancel()
        await asyncio.wait((task,))
        return judgment

    assert "give each a folder of its own" in asyncio.run(run()).error


def test_a_folder_that_cannot_be_used_is_an_error_of_the_judgment(server, tmp_path):
    (tmp_path / "file").write_text("")
    judgment = batch_critic(server, tmp_path / "file").judge(cases(1)[0])
    assert judgment.status is Status.ERROR
    assert "cannot be used" in judgment.error + judgment.reasoning
    (tmp_path / "batches.db").write_text("this is no database, and long enough to be taken for one" * 100)
    assert batch_critic(server, tmp_path).judge(cases(1)[0]).status is Status.ERROR
    assert not server.calls


# How results are read


@pytest.mark.slow
@given(
    st.lists(st.dictionaries(st.text(), st.text(), max_size=3), max_size=5),
    st.lists(st.integers(min_value=0, max_value=300), max_size=8),
)
def test_rows_are_read_whatever_the_chunks_and_characters(rows, cuts):
    data = b"\n".join(json.dumps(row, ensure_ascii=False).encode() for row in rows)
    edges = sorted({0, len(data), *(cut for cut in cuts if cut < len(data))})

    async def chunks():
        for start, end in itertools.pairwise(edges):
            yield data[start:end]

    async def read():
        return [row async for row in json_lines(chunks())]

    assert asyncio.run(read()) == rows


def test_each_who_waits_gets_an_error_of_its_own():
    problem = ConfigurationError("so it is")
    waiters = [Future() for _ in range(3)]
    waiters[1].cancel()
    deliver(waiters, problem)
    first, _, third = waiters
    assert str(first.exception()) == str(third.exception()) == "so it is"
    assert first.exception() is not third.exception()


@BOTH
def test_a_key_that_an_answer_repeats_is_in_no_judgment_and_not_in_the_folder(server, tmp_path, vendor):
    server.plan = lambda ask: Act(text=json.dumps({"reasoning": f"says {KEY}", "answer": "YES"}))
    judgment = batch_critic(server, tmp_path, vendor).judge(cases(1)[0])
    assert judgment.reasoning == "says [key]"
    files = b"".join(path.read_bytes() for path in tmp_path.rglob("*") if path.is_file())
    assert b"says [key]" in files
    assert KEY.encode() not in files
