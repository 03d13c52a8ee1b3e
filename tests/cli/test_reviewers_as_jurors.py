"""The agreement of reviewers, also where they labelled the answers of two systems in one file."""

import json

import pytest
from typer.testing import CliRunner

from jury_adapters.cli.app import app

JURY = "name: checks\njurors:\n  text: {check: not_empty}\n"
QUESTIONS = 40


def run(*arguments, **options):
    return CliRunner().invoke(app, [str(one) for one in arguments], **options)


def system(name, *, ids=True):
    """Cases of one system: the same questions, other answers."""
    for n in range(QUESTIONS):
        own = {"id": f"q{n}"} if ids else {}
        yield {**own, "question": f"Question {n}?", "answer": f"{name} says {n}", "ward": f"ward {n % 7}"}


@pytest.fixture
def folder(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "jury.yaml").write_text(JURY)
    return tmp_path


def reviewed(folder, *systems, ids=True):
    """Label the answers of each system as two reviewers, who differ on each third one."""
    for name in systems:
        rows = "".join(json.dumps(row) + "\n" for row in system(name, ids=ids))
        (folder / f"{name}.jsonl").write_text(rows)
        out = f"{name}_out.jsonl"
        assert run("judge", f"{name}.jsonl", "--jury", "jury.yaml", "--out", out, "--quiet").exit_code == 0
        keys = {"ann": "p\n" * QUESTIONS, "bob": "p\nf\nf\n" * QUESTIONS}
        for by, pressed in keys.items():
            done = run("review", out, "--only", "all", "--by", by, "--labels", "rev.jsonl", "--quiet", input=pressed)
            assert done.exit_code == 0, done.output


def measured(*options):
    done = run("report", "rev.jsonl", "--agreement", "--draws", 100, "--json", *options)
    assert done.exit_code == 0, done.output
    return json.loads(done.stdout), " ".join(done.stderr.split())


def width(report):
    (raw,) = (one for one in report["sections"]["Agreement"] if one["name"] == "raw agreement")
    low, high = raw["interval"]
    return high - low


@pytest.mark.slow
def test_answers_of_two_systems_under_one_id_are_items_of_one_group(folder):
    reviewed(folder, "old", "new")
    report, said = measured()
    assert report["items"] == 2 * QUESTIONS
    assert f"rev.jsonl: {QUESTIONS} ids have several labelled answers" in said
    alone, said = measured("--group", "")
    assert alone["items"] == 2 * QUESTIONS
    assert said == ""
    assert width(report) > width(alone)
    compared = run("compare", "old_out.jsonl", "new_out.jsonl", "--labels", "rev.jsonl")
    assert compared.exit_code == 0, compared.output


def test_answers_of_one_system_are_told_as_before(folder):
    reviewed(folder, "old")
    report, said = measured()
    assert (report["items"], said) == (QUESTIONS, "")


@pytest.mark.slow
def test_answers_without_an_id_are_items_by_their_content(folder):
    reviewed(folder, "old", "new", ids=False)
    report, said = measured()
    assert (report["items"], said) == (2 * QUESTIONS, "")


@pytest.mark.slow
def test_a_group_is_a_field_of_the_labelled_cases(folder):
    reviewed(folder, "old", "new")
    assert measured("--group", "ward")[0]["items"] == 2 * QUESTIONS
    refused = run("report", "rev.jsonl", "--agreement", "--group", "wards")
    assert refused.exit_code == 2
    assert "rev.jsonl, line 1 has no wards" in " ".join(refused.stderr.split())
