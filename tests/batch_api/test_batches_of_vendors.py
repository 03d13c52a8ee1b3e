"""Judging in batches: the same judgments for half the price, and nothing lost or paid twice whatever happens."""

import asyncio
import os
import pickle
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from batch_server import (
    BROKEN,
    CANCELLED,
    EXPIRED,
    MISSING,
    NAMES,
    STRANGE,
    YES,
    BatchServer,
    Fault,
    VendorBatch,
    asking,
    opened,
    rows,
)

from jury_adapters import (
    Budget,
    CascadedJury,
    ConfigurationError,
    Critic,
    Ensemble,
    Judgment,
    Status,
    Store,
    Tier,
    open_model,
)
from jury_adapters.batch_api import Batches

KEY = "wire-key-that-matches-no-known-pattern"
BOTH = pytest.mark.parametrize("vendor", ["openai", "anthropic"])
NO = YES.replace("YES", "NO")


@pytest.fixture
def server() -> Iterator[BatchServer]:
    with BatchServer() as running:
        yield running


@pytest.fixture(autouse=True)
def _environment(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in list(os.environ):
        if name.lower().endswith("_proxy") or name.startswith(("OPENAI_", "ANTHROPIC_")):
            monkeypatch.delenv(name)


def judged(server: BatchServer, folder: Path, vendor: str, count: int = 5, **options: Any) -> list[Judgment]:
    """The judgments of a run that begins anew, with the record of the runs before."""
    settings = {name: options.pop(name) for name in ("attempts", "max_requests", "poll_s") if name in options}
    batches = opened(folder, **settings)
    try:
        critic = asking(server, batches, vendor)
        return [*critic.judge_many(rows(count), max_concurrency=1000, **options)]
    finally:
        batches.close()


def all_pass(judgments: list[Judgment], count: int = 5) -> bool:
    return [one.status for one in judgments] == [Status.PASS] * count


@BOTH
def test_judgments_cost_half_and_a_direct_critic_finds_them_in_the_store(
    server: BatchServer, tmp_path: Path, vendor: str
) -> None:
    direct = Critic(open_model(NAMES[vendor], base_url=server.base_url(vendor), api_key=KEY), "faithfulness")
    (expected,) = direct.judge_many(rows(1))
    with Store(tmp_path / "runs.db") as store:
        judgments = judged(server, tmp_path / "batches", vendor, store=store)
        assert (
            all_pass(judgments),
            server.direct,
            [len(batch.requests) for batch in server.batches.values()],
            judgments[0].usage.cost_usd == pytest.approx(expected.usage.cost_usd / 2) != 0,
        ) == (True, 1, [5], True)
        again = [*direct.judge_many(rows(5), store=store)]
        assert server.direct == 1
    assert [one.usage.calls for one in again] == [0] * 5
    same = {"usage", "elapsed_s", "case_id"}
    assert again[0].model_dump(exclude=same) == expected.model_dump(exclude=same)


@BOTH
def test_what_is_recorded_is_not_sent_again(server: BatchServer, tmp_path: Path, vendor: str) -> None:
    server.says = lambda body, seen: YES.replace("It is so.", f"It is so, {KEY}.")
    assert (
        all_pass(judged(server, tmp_path, vendor)),
        all_pass(judged(server, tmp_path, vendor, 7), 7),
        [len(batch.requests) for batch in server.batches.values()],
        set(server.sent.values()),
    ) == (True, True, [5, 2], {1})
    assert server.calls["content"] == 2  # the first answers came from the record
    assert all(KEY.encode() not in file.read_bytes() for file in tmp_path.iterdir())


def test_juries_samples_and_tiers_are_asked_in_batches(server: BatchServer, tmp_path: Path) -> None:
    server.says = lambda body, seen: NO if "Answer 1." in str(body) and "haiku" in body["model"] else YES
    batches = opened(tmp_path)
    first, second = (asking(server, batches, vendor) for vendor in NAMES)
    jury = CascadedJury(
        [
            Tier("screen", first, "reject_on_any_fail"),
            Tier("panel", Ensemble([first.with_samples(2), second], voting="unanimous")),
        ]
    )
    verdicts = [*jury.judge_many(rows(3), max_concurrency=100)]
    assert [one.status.value for one in verdicts] == ["PASS", "FAIL", "PASS"]
    sent = {vendor: [len(one.requests) for one in server.batches.values() if one.vendor == vendor] for vendor in NAMES}
    # The first sample of the panel is the judgment of the screen.
    assert ({vendor: sum(numbers) for vendor, numbers in sent.items()}, len(server.batches) <= 4) == (
        {"openai": 6, "anthropic": 3},
        True,
    )
    batches.close()


@BOTH
def test_a_reply_that_cannot_be_read_is_repaired_in_the_next_batch(
    server: BatchServer, tmp_path: Path, vendor: str
) -> None:
    server.says = lambda body, seen: (
        "I think so" if "Answer 1." in str(body) and "could not be" not in str(body) else YES
    )
    judgments = judged(server, tmp_path, vendor)
    assert (
        all_pass(judgments),
        judgments[1].usage.calls,
        [len(batch.requests) for batch in server.batches.values()],
    ) == (True, 2, [5, 1])


@pytest.mark.parametrize(
    ("vendor", "row"),
    [(vendor, row) for vendor in NAMES for row in (EXPIRED, MISSING, 500)]
    + [("openai", BROKEN), ("anthropic", 429), ("openai", STRANGE), ("anthropic", STRANGE)],
)
def test_a_row_that_may_succeed_goes_into_the_next_batch(
    server: BatchServer, tmp_path: Path, vendor: str, row: str | int
) -> None:
    server.says = lambda body, seen: row if not seen and "Answer 1." in str(body) else YES
    assert (
        all_pass(judged(server, tmp_path, vendor)),
        [len(batch.requests) for batch in server.batches.values()],
    ) == (True, [5, 1])


@BOTH
@pytest.mark.parametrize(("row", "said"), [(400, "[key]"), (CANCELLED, "cancel"), (EXPIRED, "expired")])
def test_a_row_without_an_answer_is_an_error_and_asked_again_by_the_next_run(
    server: BatchServer, tmp_path: Path, vendor: str, row: str | int, said: str
) -> None:
    server.says = lambda body, seen: row if "Answer 1." in str(body) else YES
    judgments = judged(server, tmp_path, vendor, attempts=2)
    assert ([one.status.value for one in judgments], said in (judgments[1].error or ""), len(server.batches)) == (
        ["PASS", "ERROR", "PASS", "PASS", "PASS"],
        True,
        2 if row == EXPIRED else 1,
    )
    server.says = lambda body, seen: YES
    assert (all_pass(judged(server, tmp_path, vendor)), len([*server.batches.values()][-1].requests)) == (True, 1)


def test_a_batch_that_fails_as_a_whole_says_why(server: BatchServer, tmp_path: Path) -> None:
    server.failures = [[{"code": "model_not_found", "message": "The model does not exist."}]]
    judgments = judged(server, tmp_path, "openai")
    assert (
        {one.status for one in judgments},
        "model_not_found: The model does not exist." in (judgments[0].error or ""),
        len(server.batches),
        all_pass(judged(server, tmp_path, "openai")),
    ) == ({Status.ERROR}, True, 1, True)


@BOTH
@pytest.mark.parametrize(
    ("call", "faults"),
    [("create", [Fault(429)]), ("look", [Fault(500), Fault()]), ("content", [Fault(503), Fault()])],
)
def test_a_call_that_fails_is_made_again(
    server: BatchServer, tmp_path: Path, vendor: str, call: str, faults: list[Fault]
) -> None:
    server.faults[call] = [*faults]
    assert (all_pass(judged(server, tmp_path, vendor)), not server.faults[call], set(server.sent.values())) == (
        True,
        True,
        {1},
    )


@BOTH
@pytest.mark.parametrize("fault", [Fault(after=True), Fault(500, after=True)])
def test_a_batch_whose_creation_is_not_confirmed_is_found_and_not_sent_again(
    server: BatchServer, tmp_path: Path, vendor: str, fault: Fault
) -> None:
    for number in range(3):  # of others, before and at the same moment
        server.add(vendor, {f"other-{number}": {"messages": [{"content": "x"}], "model": "m"}}, {"jury_adapters": "x"})
    server.faults["create"] = [fault]
    server.hidden, server.looks = 3, 2  # the list of the vendor lags
    assert all_pass(judged(server, tmp_path, vendor, poll_s=0.2))
    assert set(server.sent.values()) == {1, 3}  # those of others are equal
    assert len(server.batches) == 4


@BOTH
def test_a_batch_that_was_not_created_is_sent_again(server: BatchServer, tmp_path: Path, vendor: str) -> None:
    server.faults["create"] = [Fault()]
    assert (
        all_pass(judged(server, tmp_path, vendor, poll_s=0.03)),
        set(server.sent.values()),
        server.calls["list"] >= 2,
    ) == (True, {1}, True)


@BOTH
def test_a_wrong_key_is_said_and_not_shown(server: BatchServer, tmp_path: Path, vendor: str) -> None:
    server.faults["create"] = [Fault(401, message=f"Incorrect API key provided: {KEY}")]
    (judgment,) = judged(server, tmp_path, vendor, 1)
    assert (
        judgment.status is Status.ERROR,
        "401" in (judgment.error or ""),
        KEY not in judgment.model_dump_json(),
    ) == (True, True, True)
    assert all_pass(judged(server, tmp_path, vendor, 1), 1)  # nothing stands in the way of the next run


@BOTH
def test_a_batch_that_cannot_be_looked_at_is_not_sent_again(server: BatchServer, tmp_path: Path, vendor: str) -> None:
    server.faults["look"] = [Fault(401, message="another key")]
    assert (
        {one.status for one in judged(server, tmp_path, vendor)},
        all_pass(judged(server, tmp_path, vendor)),
        set(server.sent.values()),
    ) == ({Status.ERROR}, True, {1})


def test_a_refused_parameter_is_left_out_of_the_next_batch(server: BatchServer, tmp_path: Path) -> None:
    def says(body: dict[str, Any], seen: int) -> str | int:
        return 400 if "temperature" in body else YES

    server.says = says
    batches = opened(tmp_path)
    critic = batches.critic("openai:o9-mini", "faithfulness", base_url=server.base_url("openai"), api_key=KEY)
    original = server._row

    def row(batch: VendorBatch, name: str, body: dict[str, Any]) -> bytes | None:
        line = original(batch, name, body)
        return line and line.replace(b'"message": "no', b'"param": "temperature", "message": "Unsupported parameter')

    server._row = row  # type: ignore[method-assign]
    assert (
        all_pass([*critic.judge_many(rows(2))], 2),
        [len(batch.requests) for batch in server.batches.values()],
    ) == (True, [2, 2])
    batches.close()


@BOTH
def test_an_answer_may_have_any_character(server: BatchServer, tmp_path: Path, vendor: str) -> None:
    odd = "one\u2028two\u0085three\x0bfour\x1cfive\u2029"
    server.says = lambda body, seen: YES.replace("It is so.", odd.replace("\x0b", "").replace("\x1c", ""))
    (judgment,) = judged(server, tmp_path, vendor, 1)
    assert ("one\u2028two\u0085three" in judgment.reasoning, len(server.batches)) == (True, 1)


def test_a_full_batch_is_sent_and_the_next_one_begins(server: BatchServer, tmp_path: Path) -> None:
    assert (
        all_pass(judged(server, tmp_path, "openai", 7, max_requests=3), 7),
        sorted(len(batch.requests) for batch in server.batches.values()),
    ) == (True, [1, 3, 3])


@BOTH
def test_estimates_and_budgets_are_those_of_batches(server: BatchServer, tmp_path: Path, vendor: str) -> None:
    batches = opened(tmp_path)
    critic = asking(server, batches, vendor)
    direct = Critic(open_model(NAMES[vendor], api_key=KEY), "faithfulness")
    total = critic.estimate_cost(rows(4)).total
    assert (
        total.cost_usd == pytest.approx(direct.estimate_cost(rows(4)).total.cost_usd / 2) != 0,
        not server.calls,
    ) == (True, True)
    budget = Budget(max_usd=total.cost_usd / 2 + 1e-9)  # for two requests at their estimates
    judgments = [*critic.judge_many(rows(4), max_concurrency=100, budget=budget)]
    assert all_pass(judgments, 4)  # two at a time, because each takes less than its estimate
    assert (
        max(len(batch.requests) for batch in server.batches.values()),
        budget.spent.cost_usd < total.cost_usd / 2,
    ) == (2, True)
    (refused,) = critic.judge_many([{**rows(1)[0], "answer": "Another."}], budget=Budget(max_calls=0))
    assert "over budget" in (refused.error or "")
    batches.close()


def test_what_nobody_waits_for_is_not_sent(server: BatchServer, tmp_path: Path) -> None:
    batches = opened(tmp_path, window_s=0.3)
    critic = asking(server, batches, "openai")

    async def left(*, waiting: bool) -> Any:
        tasks = [asyncio.create_task(critic.ajudge(row)) for row in rows(3 if waiting else 2)]
        await asyncio.sleep(0.1)
        for task in tasks[:2]:
            task.cancel()
        return (await asyncio.wait(tasks)) and [task.result() for task in tasks[2:]]

    asyncio.run(left(waiting=False))
    time.sleep(0.6)
    assert (
        not server.calls,
        all_pass(asyncio.run(left(waiting=True)), 1),
        [len(batch.requests) for batch in server.batches.values()],
    ) == (True, True, [1])
    batches.close()


def test_a_folder_has_one_process_at_a_time(tmp_path: Path) -> None:
    first = opened(tmp_path)
    with pytest.raises(ConfigurationError, match="another process uses it"):
        opened(tmp_path)
    first.close()
    opened(tmp_path).close()
    with pytest.raises(ConfigurationError, match="cannot be used"):
        Batches(tmp_path / "batches.db" / "below")


def test_wrong_construction_is_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("GROQ_API_KEY", KEY)
    for options in ({"window_s": 0}, {"poll_s": -1.0}, {"attempts": 0}, {"max_requests": 0}):
        with pytest.raises(ConfigurationError, match="window_s="):
            Batches(tmp_path, **options)  # type: ignore[arg-type]
    batches = opened(tmp_path)
    for model, more, kind, said in (
        ("groq:llama-3", {}, ConfigurationError, "openai and anthropic have batches"),
        ("openai:gpt-4o-mini", {}, ConfigurationError, "OPENAI_API_KEY"),
        ("openai:gpt-4o-mini", {"api_key": KEY, "limits": None}, TypeError, "limits"),
    ):
        with pytest.raises(kind, match=said):
            batches.critic(model, "faithfulness", **more)
    with pytest.raises(TypeError, match="cannot be pickled"):
        pickle.dumps(batches.critic("openai:gpt-4o-mini", "faithfulness", api_key=KEY).model)
    batches.close()


# kill -9 at every step: a process loads everything once, and forks one that judges for each line.
PROGRAM = """
import os, sys
from pathlib import Path
sys.path.insert(0, sys.argv[1])
import anthropic, openai
from batch_server import BatchServer, asking, opened, rows

for line in sys.stdin:
    port, folder, vendor = line.split()
    pid = os.fork()
    if not pid:
        critic = asking(BatchServer(port=int(port)), opened(Path(folder)), vendor)
        list(critic.judge_many(rows(5), max_concurrency=100))
        os._exit(0)
    print(pid, flush=True)
    os.waitpid(pid, 0)
    print("gone", flush=True)
"""
STEPS = [
    ("openai", "upload", False),
    ("openai", "upload", True),
    ("openai", "create", False),
    ("openai", "create", True),
    ("openai", "look", False),
    ("openai", "content", False),
    ("anthropic", "create", False),
    ("anthropic", "create", True),
    ("anthropic", "content", True),
]


@pytest.fixture(scope="module")
def killed() -> Iterator[Callable[[BatchServer, Path, str], None]]:
    program = [sys.executable, "-c", PROGRAM, str(Path(__file__).parent)]
    with subprocess.Popen(program, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as forking:
        assert forking.stdin
        assert forking.stdout
        stdin, stdout = forking.stdin, forking.stdout

        def kill(server: BatchServer, folder: Path, vendor: str) -> None:
            stdin.write(f"{server.port} {folder} {vendor}\n")
            stdin.flush()
            process = int(stdout.readline())
            assert server.reached.wait(30)
            os.kill(process, signal.SIGKILL)
            assert stdout.readline() == "gone\n"

        yield kill
        stdin.close()


@pytest.mark.parametrize(("vendor", "call", "after"), STEPS)
def test_killed_at_any_step_nothing_is_paid_twice(
    server: BatchServer, tmp_path: Path, killed: Any, vendor: str, call: str, after: bool
) -> None:
    server.faults[call] = [Fault(hang=True, after=after)]
    killed(server, tmp_path, vendor)
    assert (all_pass(judged(server, tmp_path, vendor)), set(server.sent.values()), len(server.batches)) == (
        True,
        {1},
        1,
    )
