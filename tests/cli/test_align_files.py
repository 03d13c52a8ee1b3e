"""Files that ``jury align`` writes: what is never replaced, and that they are the jury that was tested."""

import json

import pytest
from typer.testing import CliRunner

from jury_adapters import Rubric
from jury_adapters.align.aligning import rubric_yaml
from jury_adapters.cli.app import app
from jury_adapters.config import load_jury
from jury_adapters.critic.changed_rubrics import rubrics_in
from tests.cli.test_align_command import folder, learns, run  # noqa: F401

SIMPLE = "name: one\nrubric: faithfulness\njurors:\n  gpt: {model: 'openai:gpt-4o-mini'}\n"


@pytest.mark.parametrize("name", ["new.yaml", "new.rubric.yaml"])
def test_an_existing_file_is_replaced_only_with_force(folder, server, name):  # noqa: F811
    server.plan = learns
    (folder / name).write_text("precious: true\n")
    done = run(folder, "--out", folder / "new.yaml")
    assert done.exit_code == 2
    assert "--force" in done.stderr
    assert name in done.stderr
    assert (folder / name).read_text() == "precious: true\n"
    assert server.count == 0


@pytest.mark.parametrize("force", [(), ("--force",)])
def test_the_rubric_file_of_the_jury_is_never_replaced(folder, server, force):  # noqa: F811
    server.plan = learns
    own = Rubric.bundled("faithfulness").model_copy(update={"criteria": "All of it is in the contexts.\n"})
    (folder / "new.rubric.yaml").write_text(rubric_yaml(own))
    (folder / "jury.yaml").write_text(SIMPLE.replace("faithfulness", "new.rubric.yaml"))
    done = run(folder, "--out", folder / "new.yaml", *force)
    assert done.exit_code == 2
    assert "made from" in done.stderr
    assert Rubric.from_yaml(folder / "new.rubric.yaml") == own
    assert server.count == 0


@pytest.mark.slow
@pytest.mark.parametrize(
    "jury",
    [
        "jurors:\n  gpt:\n    criterion: >\n      The answer\n      is good.\n    model: openai:gpt-4o-mini\n",
        "jurors:\n  gpt:\n    criterion: |+\n      The answer is good.\n\n    model: openai:gpt-4o-mini\n",
        SIMPLE.replace("rubric: faithfulness\n", "") + "rubric: |-\n  faithfulness",
        "name: one\njurors:\n  gpt: {rubric: faithfulness, model: 'openai:gpt-4o-mini'}\n",
    ],
    ids=["folded", "literal", "last", "flow"],
)
def test_the_rubric_is_replaced_in_every_notation(folder, server, jury):  # noqa: F811
    server.plan = learns
    (folder / "jury.yaml").write_text(jury)
    out = folder / "a new: jury #2, {x}.yaml"
    done = run(folder, "--out", out, "--level", "0.05")
    assert done.exit_code == 0, done.stdout + done.stderr
    rubric = Rubric.from_yaml(out.with_name(f"{out.stem}.rubric.yaml"))
    assert {one.fingerprint for one in rubrics_in(load_jury(out))} == {rubric.fingerprint}
    assert rubric.examples
    assert not list(folder.glob(".jury*"))


def test_a_file_that_would_mean_something_else_in_its_place_is_refused_before_anything_is_asked(folder, server):  # noqa: F811
    server.plan = learns
    (folder / "sub").mkdir()
    (folder / "other.yaml").write_text("name: other\ncriteria: Be polite in every answer.\n")
    (folder / "jury.yaml").write_text(
        "name: one\nscorecard:\n  true: {rubric: faithfulness, model: 'openai:gpt-4o-mini'}\n"
        "  tone: {rubric: other.yaml, model: 'openai:gpt-4o-mini'}\n".replace("true:", "facts:")
    )
    done = run(folder, "--out", folder / "sub/new.yaml", "--rubric", "faithfulness")
    assert done.exit_code == 2
    assert "would not work as" in done.stderr
    assert server.count == 0
    assert not list((folder / "sub").iterdir())


def test_a_rubric_that_the_file_cannot_change_is_refused_before_anything_is_asked(folder, server):  # noqa: F811
    server.plan = learns
    (folder / "jury.yaml").write_text(
        "name: one\njurors:\n  gpt:\n    rubric: &r faithfulness\n    model: openai:gpt-4o-mini\n"
        "  mini:\n    rubric: *r\n    model: openai:gpt-4.1-mini\n"
    )
    done = run(folder, "--out", folder / "new.yaml")
    assert done.exit_code == 2
    assert server.count == 0
    assert not list(folder.glob("*new*"))


@pytest.mark.slow
def test_no_file_is_left_if_nothing_was_better(folder, server):  # noqa: F811
    server.plan = lambda ask: learns(
        type(ask)(**{**ask.__dict__, "body": {**ask.body, "messages": ask.body["messages"][-1:]}})
    )
    before = {path.name for path in folder.iterdir()}
    assert run(folder, "--out", folder / "aligned.yaml").exit_code == 1
    assert {path.name for path in folder.iterdir()} == before


@pytest.mark.slow
def test_a_dry_run_sends_and_writes_nothing(folder, server):  # noqa: F811
    done = run(folder, "--out", folder / "aligned.yaml", "--dry-run")
    assert done.exit_code == 0, done.stdout + done.stderr
    assert server.count == 0
    assert not (folder / "aligned.yaml").exists()
    assert "the test, after" in done.stdout
    as_json = json.loads(run(folder, "--dry-run", "--json").stdout)
    assert as_json["calls"] == 3 * (4 * 72 + 2 * 48)


@pytest.mark.slow
def test_calibrating_with_the_labels_that_aligned_the_jury_is_warned_of(folder, server):  # noqa: F811
    server.plan = learns
    (folder / "jury.yaml").write_text(
        "name: one\ntiers:\n  - {name: gpt, judge: {rubric: faithfulness, model: 'openai:gpt-4o-mini'}}\n"
    )
    assert run(folder, "--out", folder / "aligned.yaml").exit_code == 0
    rows = (folder / "labels.jsonl").read_text().splitlines()
    (folder / "others.jsonl").write_text("\n".join(rows[:-1]) + "\n")
    for file, warned in (("labels.jsonl", True), ("others.jsonl", False)):
        arguments = ["calibrate", folder / file, "--jury", folder / "aligned.yaml", "--pass-label", "good"]
        done = CliRunner().invoke(app, [str(one) for one in arguments])
        assert ("was aligned with these labels" in done.stderr) == warned, done.stderr
