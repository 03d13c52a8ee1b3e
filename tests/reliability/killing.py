"""Kill a run again and again, resume it, and count what was paid for twice."""

from __future__ import annotations

import random
import subprocess
import sys
import tempfile
import time
from collections import Counter
from dataclasses import dataclass
from pathlib import Path

from jury_adapters import Status, Store
from tests.reliability.panel import JURORS, NUMBER, cases, truth
from tests.support.vendor import Act, Ask, VendorServer

VICTIM = Path(__file__).with_name("kill_resume.py")


@dataclass(frozen=True)
class Report:
    """Result of a run with its kills.

    Attributes:
        kills: how often the run was killed while it was at work.
        judgments: how many judgments there are at the end.
        requests: how many requests the server got, for all of them.
        durable: at each kill, how many judgments were on the disk.
        paid_again: requests that came twice for a judgment that was durable at a kill; there must be none.
        seconds: how long it all took.
    """

    kills: int
    judgments: int
    requests: int
    durable: tuple[int, ...]
    paid_again: int
    seconds: float

    def __str__(self) -> str:
        return (
            f"{self.kills} kills, {self.judgments} judgments, {self.requests} requests "
            f"({self.requests - self.judgments} repeated, of calls in flight at a kill), "
            f"{self.paid_again} durable judgments paid for again, {self.seconds:.0f} s; durable at the kills: "
            f"{', '.join(map(str, self.durable))}"
        )


def run(kills: int, count: int, *, seed: int, in_flight: int = 16) -> Report:
    """Judge ``count`` cases by three critics in a process that is killed ``kills`` times at random moments.

    Raises:
        AssertionError: a verdict is missing or wrong, a judgment was handed out before it was durable, or paid for
            again after it was.
    """
    started = time.monotonic()
    dice = random.Random(seed)
    total = count * JURORS
    numbers = {case.content_hash: number for number, case in enumerate(cases(count))}
    # Moments spread over the whole run, by the requests the server has seen, and a little chance on top.
    moments = sorted(dice.randrange(total // 50, total * 19 // 20) for _ in range(kills))
    durable: list[set[tuple[str, int]]] = []
    paid: list[Counter[tuple[str, int]]] = []
    with tempfile.TemporaryDirectory() as folder, VendorServer(lambda ask: Act(delay=0.002)) as server:
        path, output = Path(folder, "runs.db"), Path(folder, "verdicts")
        for moment in moments:
            process = _start(server, path, count, in_flight, output)
            _wait_until(server, moment, process)
            time.sleep(dice.uniform(0, 0.05))
            assert process.poll() is None, "the run ended before it could be killed"
            process.kill()
            process.wait()
            paid.append(Counter(map(_judgment_of, list(server.asks))))
            durable.append(_durable(path, numbers))
            handed_out = _verdicts(output)
            by_case = Counter(number for _, number in durable[-1])
            assert all(by_case[number] == JURORS for number in handed_out), "handed out before it was durable"
            assert all(status == truth(number) for number, status in handed_out.items())
        process = _start(server, path, count, in_flight, output)
        assert process.wait(timeout=600) == 0
        asked = Counter(map(_judgment_of, server.asks))
        requests = len(server.asks)
        verdicts = _verdicts(output)
        assert verdicts == {number: truth(number) for number in range(count)}, "a verdict is missing or wrong"
        at_end = _durable(path, numbers)
    assert len(at_end) == total
    assert at_end == set(asked), "what was asked for and what is kept differ"
    paid_again = sum(
        asked[judgment] - before[judgment]
        for safe, before in zip(durable, paid, strict=True)
        for judgment in safe
    )  # fmt: skip
    assert paid_again == 0, f"{paid_again} requests for judgments that were durable"
    assert total <= requests <= total + kills * in_flight * JURORS
    return Report(kills, len(at_end), requests, tuple(map(len, durable)), paid_again, time.monotonic() - started)


def _start(server: VendorServer, path: Path, count: int, in_flight: int, output: Path) -> subprocess.Popen[bytes]:
    with output.open("wb") as lines:
        return subprocess.Popen(
            [sys.executable, str(VICTIM), server.openai, server.anthropic, str(path), str(count), str(in_flight)],
            stdout=lines,
        )


def _wait_until(server: VendorServer, requests: int, process: subprocess.Popen[bytes]) -> None:
    """Wait for the server to have seen so many requests; and for this process to have made at least one."""
    goal, until = max(requests, len(server.asks) + 1), time.monotonic() + 120
    while len(server.asks) < goal and process.poll() is None:
        assert time.monotonic() < until, "the run makes no progress"
        time.sleep(0.002)


def _judgment_of(ask: Ask) -> tuple[str, int]:
    found = NUMBER.search(ask.text)
    assert found is not None
    return ask.body["model"], int(found[1])


def _durable(path: Path, numbers: dict[str, int]) -> set[tuple[str, int]]:
    """Pairs of a model and a case that it has judged, read from the file after the kill."""
    with Store(path) as store:
        entries = list(store.entries())
    assert all(entry.judgment.status is truth(numbers[entry.key.case_key]) for entry in entries)
    return {(str(entry.judgment.model), numbers[entry.key.case_key]) for entry in entries}


def _verdicts(output: Path) -> dict[int, Status]:
    lines = (line.split() for line in output.read_text().splitlines(keepends=True) if line.endswith("\n"))
    return {int(number): Status(status) for number, status, judgments in lines if int(judgments) == JURORS}
