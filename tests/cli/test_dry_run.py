"""``jury judge --dry-run``: the estimate is printed, and nothing is sent or written."""

import json

import pytest
from typer.testing import CliRunner

from jury_adapters.cli.app import app
from jury_adapters.models.prices import PRICES

JURY = """
tiers:
  - {name: screen, policy: reject_on_any_fail, judge: {check: not_empty}}
  - {name: model, judge: {rubric: faithfulness, model: "openai:gpt-4o-mini"}}
"""


@pytest.fixture
def folder(tmp_path, server, monkeypatch):
    monkeypatch.setenv("OPENAI_API_KEY", "sk-for-the-test")
    monkeypatch.setenv("OPENAI_BASE_URL", server.openai)
    rows = [{"question": "q", "answer": "TRUTH=YES", "contexts": ["c"]}] * 3
    (tmp_path / "cases.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows) + "not JSON\n")
    (tmp_path / "jury.yaml").write_text(JURY)
    return tmp_path


def run(folder, *options):
    arguments = ["judge", folder / "cases.jsonl", "--jury", folder / "jury.yaml", "--dry-run", *options]
    return CliRunner().invoke(app, [str(one) for one in arguments], catch_exceptions=False)


def test_a_dry_run_prints_the_estimate_and_sends_nothing(folder, server):
    result = run(folder, "--out", folder / "results.jsonl", "--store", folder / "runs.db")
    assert result.exit_code == 0, result.output
    rows = [line.split() for line in result.stdout.splitlines()]
    assert next(row for row in rows if row[:1] == ["model"])[1:3] == ["3", "3"]
    assert "with all the output that is allowed, so the bill is usually far lower" in result.stdout
    assert "line 4" in result.stderr
    assert server.asks == []
    assert sorted(path.name for path in folder.iterdir()) == ["cases.jsonl", "jury.yaml"]


def test_the_estimate_as_json_has_its_rows(folder, server):
    told = json.loads(run(folder, "--json", "--limit", 2).stdout)
    assert (told["cases"], told["calls"], told["cost_complete"]) == (2, 2, True)
    assert told["cost_usd"] > 0
    assert [(row["name"], row["calls"]) for row in told["rows"]] == [("screen", 0), ("model", 2)]
    assert server.asks == []


def test_a_dry_run_says_why_a_model_would_never_be_asked(folder, server):
    (folder / "cases.jsonl").write_text('{"question": "q", "answer": "TRUTH=YES", "passage": "c"}\n')
    result = run(folder)
    assert result.exit_code == 0
    assert "no case has contexts, which the rubric faithfulness requires" in " ".join(result.stderr.split())
    assert "no case has" not in run(folder, "--map", "contexts=passage").stderr


def test_a_dry_run_without_cases_is_bad_input(folder):
    (folder / "cases.jsonl").write_text("")
    result = run(folder)
    assert (result.exit_code, "the file is empty" in result.stderr) == (2, True)


@pytest.fixture
def prices():
    known = dict(PRICES)
    yield PRICES
    PRICES.clear()
    PRICES.update(known)


def test_a_price_of_the_command_line_makes_the_estimate_complete(folder, prices):
    (folder / "jury.yaml").write_text('{rubric: faithfulness, model: "openai:house-model"}\n')
    without = run(folder, "--json")
    assert json.loads(without.stdout)["cost_complete"] is False
    assert "--price vendor:model=INPUT,OUTPUT" in run(folder).stdout
    told = json.loads(run(folder, "--price", "openai:house-model=3,10", "--json").stdout)
    assert told["cost_complete"] is True
    assert told["cost_usd"] == pytest.approx((3 * told["input_tokens"] + 10 * told["output_tokens"]) / 1e6)


def test_a_budget_in_dollars_takes_a_price_of_the_command_line(folder, prices, server):
    (folder / "jury.yaml").write_text('{rubric: faithfulness, model: "openai:house-model"}\n')
    arguments = ["judge", folder / "cases.jsonl", "--jury", folder / "jury.yaml", "--max-usd", "0.5"]
    refused = CliRunner().invoke(app, [str(one) for one in arguments])
    assert refused.exit_code == 2
    assert "--price" in refused.stderr
    judged = CliRunner().invoke(app, [str(one) for one in (*arguments, "--price", "openai:house-model=3,10")])
    assert judged.exit_code == 0, judged.output
    assert server.asks


@pytest.mark.parametrize(
    "price", ["gpt=1,2", "openai:m", "openai:m=1", "openai:m=1,x", "openai:m=-1,2", "openai:m=nan,2"]
)
def test_what_is_no_price_is_refused_with_an_example(folder, price):
    refused = run(folder, "--price", price)
    assert refused.exit_code == 2
    assert "is not a price, such as" in " ".join(refused.stderr.replace("│", " ").split())


@pytest.mark.parametrize("dry", [True, False])
def test_a_price_of_a_model_that_the_jury_does_not_ask_is_refused(folder, prices, server, dry):
    jury = 'jurors: [{rubric: faithfulness, model: "openai:house-model-2026-01-31"}, {check: not_empty}]\n'
    (folder / "jury.yaml").write_text(jury)
    arguments = ["judge", folder / "cases.jsonl", "--jury", folder / "jury.yaml", *(["--dry-run"] if dry else [])]

    def priced(*names):
        options = [part for name in names for part in ("--price", f"{name}=3,10")]
        return CliRunner().invoke(app, [str(one) for one in (*arguments, *options)])

    refused = priced("openai:hous-model-2026-01-31")
    assert refused.exit_code == 2
    told = " ".join(refused.stderr.split())
    assert "--price openai:hous-model-2026-01-31=3,10: unknown model of the jury 'openai:hous-model-2026-01-31'" in told
    assert "Did you mean 'openai:house-model-2026-01-31'?" in told
    assert server.asks == []
    for name in ("openai:house-model-2026-01-31", "openai:house-model", "openai/batch:house-model"):
        assert priced(name).exit_code == 0


def test_a_price_without_any_model_is_refused(folder, prices):
    (folder / "jury.yaml").write_text("{check: not_empty}\n")
    refused = run(folder, "--price", "openai:house-model=3,10")
    assert refused.exit_code == 2
    assert "unknown model of the jury 'openai:house-model'. Known: none." in " ".join(refused.stderr.split())


@pytest.mark.parametrize(
    ("options", "said"),
    [
        (["--group", "tiket"], "has no tiket, the field that groups the cases"),
        (["--label-column", "verdict"], "no case has a label in the column 'verdict'"),
        (["--pass-label", "bda"], "bda"),
        (["--map", "answer=reply"], "no row could be read as a case"),
        (["--out", "results.txt"], "give a name that ends in .jsonl"),
        (["--out", "there.jsonl"], "exists already"),
        (["--out", "nowhere/results.jsonl"], "there is no such folder as"),
        (["--junit", "cases.jsonl"], "one of the files that this is made from"),
        (["--report", "jury.yaml"], "one of the files that this is made from"),
        (["--store", "there.jsonl"], "is not an SQLite file"),
        (["--store", "nowhere/runs.db"], "the store nowhere/runs.db cannot be used: no such folder"),
        (["--max-usd", "1"], "needs the price of every juror"),
        (["--fail-under", "0.9", "--stop-when-decided"], "every verdict has to meet the gates"),
    ],
)
def test_a_dry_run_refuses_what_the_run_would_refuse_before_it_judges(folder, server, monkeypatch, options, said):
    monkeypatch.chdir(folder)
    rows = [{"question": "q", "answer": "TRUTH=YES", "contexts": ["c"], "gold": "bad"}] * 3
    (folder / "cases.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows))
    (folder / "there.jsonl").write_text("an earlier file\n")
    (folder / "jury.yaml").write_text(JURY.replace("gpt-4o-mini", "house-model") + "gates: {min_votes: 1}\n")
    before = sorted(folder.iterdir())
    dry = CliRunner().invoke(app, ["judge", "cases.jsonl", "--jury", "jury.yaml", "--dry-run", *options])
    assert (dry.exit_code, dry.stdout) == (2, "")
    assert said in " ".join(dry.stderr.split())
    assert sorted(folder.iterdir()) == before
    real = CliRunner().invoke(app, ["judge", "cases.jsonl", "--jury", "jury.yaml", *options])
    assert real.exit_code == 2
    if "nowhere/runs.db" not in options:  # the run says so in the words of SQLite
        assert dry.stderr == real.stderr
    assert server.asks == []


def test_a_dry_run_reads_a_store_and_leaves_it_as_it_is(folder, server):
    kept = ("--store", folder / "runs.db")
    judged = CliRunner().invoke(app, [str(part) for part in ("judge", folder / "cases.jsonl", "--jury",
                                                             folder / "jury.yaml", *kept)])  # fmt: skip
    assert judged.exit_code == 0, judged.output
    before = (folder / "runs.db").read_bytes()
    assert run(folder, *kept).exit_code == 0
    assert (folder / "runs.db").read_bytes() == before


@pytest.mark.parametrize(
    ("labels", "options", "hint"),
    [
        (("okay", "poor"), (), "human labels are okay 2, poor 1. Unless the jury gives the same labels, name"),
        (("okay", "poor"), ("--pass-label", "okay"), ""),
        (("yes", "no"), (), ""),
        ((None, None), (), ""),
    ],
)
def test_a_dry_run_says_that_labels_have_no_meaning_yet(folder, labels, options, hint):
    rows = [{"answer": f"a{at}", **({"gold": labels[at % 2]} if labels[0] else {})} for at in range(3)]
    (folder / "cases.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows))
    result = run(folder, *options)
    assert result.exit_code == 0, result.output
    assert ("Unless the jury gives" in result.stderr) == bool(hint)
    assert hint in " ".join(result.stderr.split())
