"""Faults between us and a vendor, each as a plan for the local server."""

from __future__ import annotations

import json
import random
import zlib
from collections.abc import Callable
from dataclasses import dataclass
from email.utils import formatdate
from time import time

from tests.support.vendor import WELL, Act, Ask, answer, anthropic_message, completion, error

TIMEOUT = 0.5
"""Seconds one request may take in the runs whose fault is slowness."""

FALLBACK = "gpt-4.1-nano"
"""The model that never fails."""


@dataclass(frozen=True)
class Fault:
    """One way to fail.

    Attributes:
        name: what the table calls it.
        act: what the server does instead of answering well.
        share: of all first requests, how many fail; of the second ones, a quarter of that.
        burst: fail in bursts: of every hundred requests the first ``100 * share``, up to the third try of each.
        timeout: seconds one request may take.
        tls: whether the connection is TLS, and it is the handshake that breaks.
        slip: it is the model that fails, and not when it is asked to put its reply right.
        fallbacks: every juror has a fallback, and the fallback does not fail.
        down: the one model that never answers.
    """

    name: str
    act: Callable[[Ask, random.Random], Act]
    share: float = 0.2
    burst: bool = False
    timeout: float = 60.0
    tls: bool = False
    slip: bool = False
    fallbacks: bool = False
    down: str = ""


@dataclass
class Plan:
    """A fault on a share of the requests; which ones is known beforehand, whatever order they come in.

    Attributes:
        injected: how often the server has misbehaved.
    """

    fault: Fault
    seed: int = 7
    injected: int = 0

    def __call__(self, ask: Ask) -> Act:
        dice = random.Random(f"{self.seed} {zlib.crc32(json.dumps(ask.body, sort_keys=True).encode())} {ask.attempt}")
        if self._fails(ask, dice):
            self.injected += 1
            return self.fault.act(ask, dice)
        return WELL

    def _fails(self, ask: Ask, dice: random.Random) -> bool:
        fault = self.fault
        if ask.body["model"] == FALLBACK or (fault.slip and "assistant" in str(ask.body["messages"][-2:-1])):
            return False
        if fault.down:
            return ask.body["model"] == fault.down
        if fault.burst:
            return ask.number % 100 < 100 * fault.share and ask.attempt < 3
        return ask.attempt < 2 and dice.random() < fault.share * (1.0, 0.25)[ask.attempt]


def _body(ask: Ask, text: str) -> str:
    """A whole answer of the vendor with this reply in it."""
    return json.dumps(anthropic_message(ask, WELL, text) if ask.vendor == "anthropic" else completion(ask, WELL, text))


def _truncated(ask: Ask, dice: random.Random) -> Act:
    body = _body(ask, answer(ask))
    return Act(raw=body[: dice.randrange(1, len(body) - 1)])


def _malformed(ask: Ask, dice: random.Random) -> Act:
    return Act(raw=dice.choice([_body(ask, answer(ask)).replace(":", "=", 3), "{'a': 1}", "][", "NaN,"]))


def _error_in_200(ask: Ask, dice: random.Random) -> Act:
    if ask.vendor == "anthropic":
        return _oops(ask, dice)
    return Act(raw=json.dumps({"error": {"code": dice.choice([429, 500, 502]), "message": "the model behind is gone"}}))


def _reply(*texts: str) -> Callable[[Ask, random.Random], Act]:
    return lambda ask, dice: Act(text=dice.choice(texts))


def _reset(ask: Ask, dice: random.Random) -> Act:
    return Act(cut=dice.randrange(0, 150))


def _busy(ask: Ask, dice: random.Random) -> Act:
    wait = dice.choice([{"retry-after": "0.05"}, {"retry-after-ms": "50"}, {"retry-after": "0"}, {}])
    return Act(status=429, error={"type": "rate_limit_error", "message": "slow down"}, headers=wait)


def _oops(ask: Ask, dice: random.Random) -> Act:
    overloaded = error(529, "overloaded", type="overloaded_error")
    return overloaded if ask.vendor == "anthropic" else error(dice.choice([500, 502, 503, 504]), "oops")


def _page(ask: Ask, dice: random.Random) -> Act:
    return Act(raw="<html>Bad gateway</html>", content_type="text/html", status=dice.choice([200, 502]))


def _skewed(ask: Ask, dice: random.Random) -> Act:
    clock = time() + dice.choice([-1, 1]) * 7 * 86400  # the server's clock is a week wrong
    dates = {"date": formatdate(clock, usegmt=True), "retry-after": formatdate(clock + 1, usegmt=True)}
    return Act(status=dice.choice([429, 503]), error={"message": "come back"}, headers=dates)


def _not_utf8(ask: Ask, dice: random.Random) -> Act:
    return Act(raw=_body(ask, answer(ask)).replace("so it says", "so \xe9 it \xff says").encode("latin-1"))


def _huge(ask: Ask, dice: random.Random) -> Act:
    return Act(text='I am thinking about it, {and} "so" on. ' * 500_000)


def _late(ask: Ask, dice: random.Random) -> Act:
    return Act(delay=3 * TIMEOUT)


_BROKEN = ('{"reasoning": "cut o', '{"answer": }', "{", '["answer"', "{{}}")
_STRANGE = ('{"verdict": 7}', '{"answer": "PERHAPS"}', "[1, 2]", '{"answer": null}')
FAULTS = (
    Fault("none", lambda ask, dice: WELL, share=0.0),
    Fault("jitter: 0 to 0.3 s more", lambda ask, dice: Act(delay=dice.uniform(0, 0.3)), share=1.0),
    Fault("latency: three times the time limit", _late, timeout=TIMEOUT),
    Fault("slow loris: a body that drips", lambda ask, dice: Act(drip=TIMEOUT / 5), timeout=TIMEOUT),
    Fault("hang-up without an answer", lambda ask, dice: Act(drop=True)),
    Fault("reset in mid-body", _reset),
    Fault("TLS handshake breaks", lambda ask, dice: WELL, share=0.0, tls=True),
    Fault("429 storm", _busy, share=0.5, burst=True),
    Fault("5xx burst (OpenAI 500 to 504, Anthropic 529)", _oops, share=0.5, burst=True),
    Fault("Retry-After as a date, the clock a week wrong", _skewed, share=0.05),
    Fault("a gateway's HTML page, 200 or 502", _page),
    Fault("an error inside a 200 (as OpenRouter's)", _error_in_200),
    Fault("malformed JSON body", _malformed),
    Fault("truncated JSON body", _truncated),
    Fault("empty body", lambda ask, dice: Act(raw="")),
    Fault("body is not UTF-8", _not_utf8),
    Fault("reply: malformed or truncated JSON", _reply(*_BROKEN), slip=True),
    Fault("reply: another schema", _reply(*_STRANGE), slip=True),
    Fault("reply: 20 MB without an answer", _huge, share=0.01, slip=True),
    Fault("reply: empty; fallbacks vote", _reply("", " \n"), fallbacks=True),
    Fault("one model down; its fallback votes", _oops, fallbacks=True, down="mistral-small"),
)
