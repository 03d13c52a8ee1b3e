"""``jury sample-size``: three questions, one at a time."""

import json

import pytest
from typer.testing import CliRunner

from jury_adapters.cli.app import app
from jury_adapters.statistics import cases_for_difference, labels_for_guarantee, labels_for_interval


def run(*arguments):
    return CliRunner().invoke(app, ["sample-size", *map(str, arguments)], catch_exceptions=False)


ANSWERS = {
    "interval": (("--interval", 0.05, "--rate", 0.8), labels_for_interval(0.05, 0.8)),
    "judged": (
        ("--interval", 0.05, "--rate", 0.8, "--judged", 2000, "--expected", 0.9),
        labels_for_interval(0.05, 0.8, judged=2000, tpr=0.9, tnr=0.9),
    ),
    "rates": (
        ("--interval", 0.05, "--rate", 0.8, "--judged", 2000, "--tpr", 0.97, "--tnr", 0.6),
        labels_for_interval(0.05, 0.8, judged=2000, tpr=0.97, tnr=0.6),
    ),
    "guarantee": (
        ("--agreement", 0.9, "--expected", 0.95, "--delta", 0.2, "--coverage", 0.7, "--power", 0.9),
        labels_for_guarantee(0.9, 0.95, delta=0.2, coverage=0.7, power=0.9),
    ),
    "paired": (
        ("--difference", 0.1, "--rate", 0.6, "--discordant", 0.2, "--level", 0.01),
        cases_for_difference(0.1, 0.6, discordant=0.2, level=0.01),
    ),
    "unpaired groups": (
        ("--difference", 0.1, "--rate", 0.6, "--unpaired", "--group-size", 3.5, "--icc", 0.2),
        cases_for_difference(0.1, 0.6, paired=False, group_size=3.5, icc=0.2),
    ),
}


@pytest.mark.parametrize("question", ANSWERS)
def test_it_answers_as_the_functions_do(question):
    options, expected = ANSWERS[question]
    shown = run(*options)
    assert shown.exit_code == 0, shown.output
    told = " ".join(shown.stdout.split())
    assert expected.sentence in told
    for n, assumed in zip(expected.gives, expected.assumed, strict=False):
        assert f"{n:,} " in told
        assert f"- {assumed}" in told
    as_json = run(*options, "--json")
    assert json.loads(as_json.stdout) == expected.to_dict()


def test_without_a_question_it_says_which_there_are():
    result = run()
    assert result.exit_code == 2
    assert result.stdout == ""
    for option in ("--interval 0.05", "--agreement 0.95", "--difference 0.05"):
        assert option in result.stderr
    for line in result.stderr.splitlines()[1:]:  # each is a question as it can be typed
        assert run(*line.split("   ")[0].split()).exit_code == 0, line


@pytest.mark.parametrize(
    ("options", "said"),
    [
        (("--interval", 0.05), "--interval needs --rate too"),
        (("--agreement", 0.9), "--agreement needs --expected too"),
        (("--interval", 0.05, "--rate", 0.8, "--agreement", 0.9), "are two questions"),
        (("--difference", 0.05, "--rate", 0.8, "--delta", 0.1), "--delta has no meaning for --difference"),
        (("--agreement", 0.9, "--expected", 0.95, "--icc", 0.1), "--icc has no meaning for --agreement"),
        (("--agreement", 0.9, "--expected", 0.95, "--unpaired"), "--unpaired has no meaning"),
        (("--interval", 0.05, "--rate", 0.8, "--icc", 0.1), "--group-size and --icc are given together"),
        (("--interval", 0.05, "--rate", 0.8, "--judged", 300, "--tpr", 0.9), "give both"),
        (("--interval", 0.05, "--rate", 0.8, "--judged", 300, "--tpr", 0.9, "--expected", 0.9), "give it, or the two"),
        (("--interval", 0.05, "--rate", 0.8, "--judged", 1), "--judged"),
        (("--interval", "5%", "--rate", 0.8), "0.05 is 5 %"),
        (("--interval", "-0.1", "--rate", 0.8), "not a share of 1"),
        (("--interval", 0, "--rate", 0.8), "half-width"),
        (("--agreement", 0.95, "--expected", 0.9), "cannot be shown to agree on 95.0 %"),
        (("--difference", 0.1, "--rate", 0.95), "give the rate of the system that passes less"),
        (("--difference", 0.1, "--rate", 0.5, "--unpaired", "--discordant", 0.2), "unpaired systems have none"),
        (("--difference", 0.1, "--rate", 0.5, "--group-size", "nan", "--icc", 0.2), "one case or more"),
        (("--difference", 0.0001, "--rate", 0.5), "more than 100,000 cases"),
        (("labels.jsonl",), "labels.jsonl"),
    ],
)
def test_what_cannot_be_answered_exits_with_2_and_says_why(options, said):
    result = run(*options)
    assert result.exit_code == 2
    assert said in " ".join(result.stderr.replace("│", " ").split()), result.stderr
    assert result.stdout == ""
