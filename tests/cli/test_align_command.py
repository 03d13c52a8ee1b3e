"""``jury align``, with a model behind a real server."""

import json
from random import Random

import pytest
from typer.testing import CliRunner

from jury_adapters import Rubric
from jury_adapters.calibration.guarantee import Guarantee, fingerprint_of
from jury_adapters.cli.app import app
from jury_adapters.config import load_jury
from jury_adapters.critic.changed_rubrics import rubrics_in
from tests.support.vendor import Act

JURY = """
# the jury of the shop
name: shop
rubric: faithfulness
jurors:
  gpt: {model: "openai:gpt-4o-mini"}
  mini: {model: "openai:gpt-4.1-mini"}
  nano: {model: "openai:gpt-4.1-nano"}
"""


def learns(ask):
    """Answer rightly in 95 % of the cases with examples in the prompt, in 60 % without."""
    messages = [message for message in ask.body["messages"] if message["role"] == "user"]
    asked = messages[-1]["content"]
    truth = asked.rsplit("TRUTH=", 1)[1].split()[0]
    skill = 0.95 if len(messages) > 1 else 0.6
    right = Random(f"{ask.body['model']}|{asked}|{skill}").random() < skill
    answer = truth if right else {"YES": "NO", "NO": "YES"}[truth]
    return Act(text=json.dumps({"reasoning": "", "answer": answer, "confidence": 0.9}))


@pytest.fixture
def folder(tmp_path, server, monkeypatch):
    monkeypatch.setenv("OPENAI_API_KEY", "sk-for-the-test")
    monkeypatch.setenv("OPENAI_BASE_URL", server.openai)
    random = Random(1)
    rows = [
        {
            "question": f"q {number}", "contexts": ["c"], "answer": f"a {number} {random.random()} TRUTH={label} end",
            "gold": {"YES": "good", "NO": "bad"}[label],
        }
        for number in range(120) for label in [random.choice(("YES", "NO"))]
    ]  # fmt: skip
    (tmp_path / "labels.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows))
    (tmp_path / "jury.yaml").write_text(JURY)
    return tmp_path


def run(folder, *options, jury="jury.yaml"):
    arguments = ["align", folder / "labels.jsonl", "--jury", folder / jury, "--pass-label", "good", *options]
    return CliRunner().invoke(app, [str(one) for one in arguments], catch_exceptions=False)


@pytest.mark.slow
def test_an_accepted_rubric_is_written_with_its_history(folder, server):
    server.plan = learns
    out = folder / "aligned.yaml"
    done = run(folder, "--out", out, "--store", folder / "runs.db")
    assert done.exit_code == 0, done.stdout + done.stderr
    assert "Accepted at the level 0.01." in done.stdout
    text = out.read_text()
    assert "rubric: aligned.rubric.yaml" in text
    assert "# the jury of the shop" in text
    assert "guarantee" not in text  # there was none
    rubric = Rubric.from_yaml(folder / "aligned.rubric.yaml")
    assert rubric.examples
    assert rubric.history[-1].parent == Rubric.bundled("faithfulness").fingerprint
    assert {one.fingerprint for one in rubrics_in(load_jury(out))} == {rubric.fingerprint}
    asked = server.count
    again = run(folder, "--out", out, "--force", "--store", folder / "runs.db", "--json")
    assert json.loads(again.stdout)["accepted"]
    assert server.count == asked  # everything was stored


@pytest.mark.slow
def test_nothing_is_written_if_nothing_is_better(folder, server):
    server.plan = lambda ask: learns(
        type(ask)(**{**ask.__dict__, "body": {**ask.body, "messages": ask.body["messages"][-1:]}})
    )
    done = run(folder, "--out", folder / "aligned.yaml")
    assert done.exit_code == 1
    assert "Nothing changes" in done.stdout or "nothing changes" in done.stdout or "Not accepted" in done.stdout
    assert not (folder / "aligned.yaml").exists()
    assert not (folder / "aligned.rubric.yaml").exists()


@pytest.mark.slow
def test_a_guarantee_of_the_old_jury_is_left_out(folder, server):
    server.plan = learns
    tiers = "name: old\ntiers:\n  - {name: one, judge: {rubric: faithfulness, model: 'openai:gpt-4o-mini'}}\n"
    (folder / "old.yaml").write_text(tiers)
    guarantee = Guarantee(
        agreement=0.9, delta=0.1, method="path", found_by="path", thresholds={"one": 0.1}, n=100, decided=100,
        errors=5, bound=0.1, coverage=1.0, tier_shares={"one": 1.0}, cost_expected=None, granted_if_false=0.1,
        granted_as_seen=0.9, simulated_runs=100, fingerprint=fingerprint_of(load_jury(folder / "old.yaml")),
    )  # fmt: skip
    (folder / "old.yaml").write_text(tiers + guarantee.to_yaml())
    assert load_jury(folder / "old.yaml").guarantee.n == 100
    done = run(folder, "--out", folder / "new.yaml", jury="old.yaml")
    assert done.exit_code == 0, done.stdout + done.stderr
    text = (folder / "new.yaml").read_text()
    assert "guarantee:" not in text
    assert text.startswith("# A guarantee of the jury before was left out")
    assert not hasattr(load_jury(folder / "new.yaml"), "guarantee")


def test_bad_input(folder):
    done = run(folder, "--out", folder / "jury.yaml")
    assert done.exit_code == 2
    assert (folder / "jury.yaml").read_text() == JURY
    (folder / "labels.jsonl").write_text('{"question": "q", "answer": "a", "gold": "good"}\n')
    few = run(folder)
    assert few.exit_code == 2
    assert "40 labelled cases" in few.stderr
    none = CliRunner().invoke(app, ["align", str(folder / "none.jsonl"), "--jury", str(folder / "jury.yaml")])
    assert none.exit_code == 2
