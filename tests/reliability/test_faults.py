"""A panel over a vendor that fails now and then: nothing is lost, and everything is right."""

import json
import random
import zlib

from jury_adapters import Status
from jury_adapters.testing import no_waiting
from tests.reliability.panel import JURORS, cases, panel, truth
from tests.support.vendor import WELL, Act, VendorServer, error

CASES = 512


class Weather:
    """5 % of requests get a 429, 2 % a 500, 1 % malformed JSON in the reply; seeded, whatever order they come in."""

    def __init__(self, seed):
        self.seed = seed
        self.given = {"429": 0, "500": 0, "malformed": 0, "well": 0}

    def __call__(self, ask):
        body = zlib.crc32(json.dumps(ask.body, sort_keys=True).encode())
        dice = random.Random(f"{self.seed} {body} {ask.attempt}")
        name, act = self.act(dice)
        self.given[name] += 1
        return act

    def act(self, dice):
        chance = dice.random()
        if chance < 0.05:
            wait = dice.choice([{"retry-after": "0.02"}, {"retry-after-ms": "20"}, {"retry-after": "1"}, {}])
            failure = error(429, "slow down", type="rate_limit_error")
            return "429", Act(status=failure.status, error=failure.error, headers=wait)
        if chance < 0.07:
            return "500", error(500, "oops", type="api_error")
        if chance < 0.08:
            return "malformed", Act(
                text=dice.choice(['{"reasoning": "cut o', '{"answer": }', "{", '["answer"', "{{}}"])
            )
        return "well", WELL


def test_three_critics_over_512_cases_lose_nothing_while_the_vendors_fail():
    weather = Weather(seed=8)
    with VendorServer(weather) as server, no_waiting():
        verdicts = list(panel(server.openai, server.anthropic).judge_many(cases(CASES), max_concurrency=64))
        requests = len(server.asks)
    judgments = [judgment for verdict in verdicts for judgment in verdict.judgments]
    assert len(judgments) == CASES * JURORS == 1536
    wrong = [(n, j) for n, verdict in enumerate(verdicts) for j in verdict.judgments if j.status is not truth(n)]
    assert wrong == []
    assert [verdict.status for verdict in verdicts] == [truth(number) for number in range(CASES)]
    assert {verdict.status for verdict in verdicts} == {Status.PASS, Status.FAIL}
    # The weather was as bad as promised, and each failure cost one more request and no more.
    failures = requests - weather.given["well"]
    assert weather.given["429"] > 50
    assert weather.given["500"] > 15
    assert weather.given["malformed"] > 8
    assert requests == 1536 + failures
