"""``jury align`` writes another threshold of the vote into the jury file."""

import json

import pytest

from jury_adapters import Rubric
from jury_adapters.config import load_jury
from tests.cli.test_align_command import folder, run  # noqa: F401
from tests.support.vendor import Act

JURORS = """
scale: {minimum: 0, maximum: 10, pass_mark: 5}
jurors:
  gpt: {model: "openai:gpt-4o-mini"}
  mini: {model: "openai:gpt-4.1-mini"}
"""
RUBRIC = "name: rated\ncriteria: The answer helps.\nanswers: {minimum: 0, maximum: 10, pass_mark: 5}\n"


def rates(ask):
    """Rate right answers 8 and wrong ones 6."""
    truth = ask.body["messages"][-1]["content"].rsplit("TRUTH=", 1)[1].split()[0]
    return Act(text=json.dumps({"reasoning": "", "answer": 8 if truth == "YES" else 6, "confidence": 0.9}))


@pytest.mark.slow
@pytest.mark.parametrize(
    "vote",
    ["voting: average\nthreshold: 0.3  # as agreed\n", "threshold: 0.333333333333\nvoting: median"],
)
def test_the_threshold_is_written(folder, server, vote):  # noqa: F811
    server.plan = rates
    (folder / "rated.yaml").write_text(RUBRIC)
    jury = JURORS.replace("scale: {minimum: 0, maximum: 10, pass_mark: 5}", f"rubric: rated.yaml\n{vote}")
    (folder / "jury.yaml").write_text(jury)
    out = folder / "aligned.yaml"
    done = run(folder, "--out", out)
    assert done.exit_code == 0, done.stdout + done.stderr
    aligned = load_jury(out)
    assert aligned.threshold == 0.7
    assert out.read_text().count("threshold:") == 1
    assert ("# as agreed" in out.read_text()) == ("# as agreed" in vote)
    assert Rubric.from_yaml(folder / "aligned.rubric.yaml").history[-1].change == "another vote threshold: 0.7"
    statuses = [str(aligned.judge(question="q", answer=f"a TRUTH={truth} end").status) for truth in ("YES", "NO")]
    assert statuses == ["PASS", "FAIL"]


@pytest.mark.slow
def test_a_vote_without_a_threshold_follows_the_pass_mark(folder, server):  # noqa: F811
    """The pass mark of the jurors is the threshold of the vote, so another pass mark is enough."""
    server.plan = rates
    (folder / "rated.yaml").write_text(RUBRIC)
    jury = JURORS.replace("scale: {minimum: 0, maximum: 10, pass_mark: 5}", "rubric: rated.yaml\nvoting: average")
    (folder / "jury.yaml").write_text(jury)
    out = folder / "aligned.yaml"
    done = run(folder, "--out", out)
    assert done.exit_code == 0, done.stdout + done.stderr
    aligned = load_jury(out)
    assert "threshold:" not in out.read_text()
    assert 0.6 < aligned.threshold <= 0.8
    statuses = [str(aligned.judge(question="q", answer=f"a TRUTH={truth} end").status) for truth in ("YES", "NO")]
    assert statuses == ["PASS", "FAIL"]
