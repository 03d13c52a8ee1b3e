"""A reply that was paid for counts, however absurd its usage is: the usage is unknown then."""

import json
import math

import pytest
from support.wire import VENDORS, WireServer, reply, response, well
from support.wire_faults import critic
from typer.testing import CliRunner

from jury_adapters import Budget, Critic, Ensemble, Status
from jury_adapters.cli.app import app
from jury_adapters.testing import a_case, no_waiting

VENDOR = pytest.mark.parametrize("vendor", VENDORS)
CASE = a_case(answer="Lyon. TRUTH=NO")
# Models whose prices are known, so that a usage that is known has a cost that is.
PRICED = {"openai": "openai:gpt-4o-mini", "anthropic": "anthropic:claude-haiku-4-5"}
FIELDS = {
    "openai": ("prompt_tokens", "completion_tokens", "prompt_tokens_details.cached_tokens"),
    "anthropic": ("input_tokens", "output_tokens", "cache_read_input_tokens", "cache_creation_input_tokens"),
}
ABSURD = {
    "negative": "-5", "10**400": "1" + "0" * 400, "5,000 digits": "7" * 5000, "minus 5,000 digits": "-" + "7" * 5000,
    "NaN": "NaN", "Infinity": "Infinity", "-Infinity": "-Infinity", "1e999": "1e999", "a text": '"many"',
    "a number as text": '"12"', "a fraction": "12.5", "true": "true", "a list": "[100]", "an object": '{"sum": 100}',
    "deep": "[" * 300 + "]" * 300,
}  # fmt: skip
HOLE = "here goes the absurd value"


@pytest.fixture(scope="module")
def wire():
    with WireServer() as server:
        yield server


@pytest.fixture(autouse=True)
def _quick(wire):
    wire.reset()
    with no_waiting():
        yield


def stating(path, text):
    """A plan: the good answer, with one number of its usage as this text."""

    def plan(request):
        body = reply(request)
        place = body["usage"]
        *outer, last = path.split(".")
        for name in outer:
            place = place[name]
        place[last] = HOLE
        return [response(json.dumps(body).replace(json.dumps(HOLE), text))]

    return plan


def priced(wire, vendor, name="truth"):
    return Critic(PRICED[vendor], "faithfulness", name=name, base_url=wire.base_url(vendor), api_key="none")


def assert_plain(usage):
    """The usage says that it is not whole, and everything that is computed from it stays a number."""
    assert usage.calls == 1
    assert not usage.cost_complete
    assert math.isfinite(usage.cost_usd)
    assert usage.cost_usd >= 0
    counts = (usage.input_tokens, usage.output_tokens, usage.cached_tokens, usage.reasoning_tokens)
    assert all(type(count) is int and 0 <= count < 2**53 for count in counts)


@VENDOR
def test_a_plausible_usage_is_known(wire, vendor):
    usage = priced(wire, vendor).judge(CASE).usage
    assert (usage.cost_complete, usage.input_tokens, usage.output_tokens) == (True, 100, 20)


@pytest.mark.parametrize("name", ABSURD)
@pytest.mark.parametrize(("vendor", "path"), [(vendor, path) for vendor in VENDORS for path in FIELDS[vendor]])
def test_an_absurd_number_makes_the_usage_unknown_and_loses_nothing(wire, vendor, path, name):
    wire.reset(stating(path, ABSURD[name]))
    judgment = priced(wire, vendor).judge(CASE)
    assert (judgment.status, len(wire.requests)) == (Status.FAIL, 1), judgment.error
    assert_plain(judgment.usage)
    assert json.loads(judgment.to_json())["status"] == "FAIL"


@VENDOR
@pytest.mark.parametrize("usage", ["null", "[]", "7", '"none"', "true", "NaN", "9" * 5000])
def test_a_usage_that_is_no_object_is_unknown(wire, vendor, usage):
    wire.reset(lambda request: [response(json.dumps(reply(request, usage=HOLE)).replace(json.dumps(HOLE), usage))])
    judgment = priced(wire, vendor).judge(CASE)
    assert (judgment.status, len(wire.requests)) == (Status.FAIL, 1), judgment.error
    assert_plain(judgment.usage)


@VENDOR
def test_an_absurd_number_anywhere_else_in_the_answer_loses_nothing(wire, vendor):
    extra = f'{{"created": {"7" * 5000}, "timings": [1e999, NaN, -{"1" * 5000}], '
    wire.reset(lambda request: [response(extra + json.dumps(reply(request, created=1))[1:])])
    judgment = priced(wire, vendor).judge(CASE)
    assert (judgment.status, len(wire.requests)) == (Status.FAIL, 1), judgment.error
    assert judgment.usage.cost_complete


@pytest.mark.parametrize(
    "cost", ["-1", "NaN", "Infinity", "1e999", "1" + "0" * 400, "7" * 5000, '"free"', "true", "[]"]
)
def test_an_absurd_cost_that_a_gateway_states_is_unknown(wire, cost):
    wire.reset(stating("cost", cost))
    asked = Critic("openrouter:m", "faithfulness", name="truth", base_url=wire.base_url("openai"), api_key="none")
    judgment = asked.judge(CASE)
    assert (judgment.status, len(wire.requests)) == (Status.FAIL, 1), judgment.error
    assert_plain(judgment.usage)


@VENDOR
@pytest.mark.parametrize("name", ABSURD)
def test_a_budget_and_a_panel_count_on(wire, vendor, name):
    wire.reset(stating(FIELDS[vendor][0], ABSURD[name]))
    panel = Ensemble([priced(wire, vendor, name=str(number)) for number in range(3)])
    budget = Budget(max_usd=1.0, max_calls=100)
    verdicts = list(panel.judge_many([a_case(question=str(n), answer="TRUTH=NO") for n in range(3)], budget=budget))
    assert [verdict.status for verdict in verdicts] == [Status.FAIL] * 3
    assert len(wire.requests) == 9
    for verdict in verdicts:
        assert not verdict.usage.cost_complete
        assert math.isfinite(verdict.usage.cost_usd)
        assert verdict.usage.calls == 3
        json.loads(verdict.to_json())


@VENDOR
@pytest.mark.parametrize("name", ["negative", "10**400", "5,000 digits", "NaN", "1e999"])
def test_the_command_sums_up(wire, vendor, name, tmp_path):
    absurd = stating(FIELDS[vendor][0], ABSURD[name])
    wire.reset(lambda request: absurd(request) if request.number % 2 else well(request))
    jury, cases = tmp_path / "jury.yaml", tmp_path / "cases.jsonl"
    jury.write_text(
        f"jurors:\n  - {{rubric: faithfulness, model: '{PRICED[vendor]}', base_url: '{wire.base_url(vendor)}'}}\n"
    )
    rows = [{"question": "q", "answer": f"{number} TRUTH=YES", "contexts": ["c"]} for number in range(4)]
    cases.write_text("\n".join(map(json.dumps, rows)))
    results = tmp_path / "results.jsonl"
    done = CliRunner(env={"OPENAI_API_KEY": "none", "ANTHROPIC_API_KEY": "none"}).invoke(
        app,
        [
            "judge",
            str(cases),
            "--jury",
            str(jury),
            "--allow-base-url",
            "--store",
            str(tmp_path / "runs.db"),
            "--out",
            str(results),
        ],
    )
    assert done.exit_code == 0, done.output
    assert "4 of 4 decided" in done.stdout
    assert len(results.read_text().splitlines()) == 4


@VENDOR
def test_a_critic_without_known_prices_takes_them_too(wire, vendor):
    wire.reset(stating(FIELDS[vendor][1], "1e999"))
    assert critic(wire, vendor).judge(CASE).status is Status.FAIL
