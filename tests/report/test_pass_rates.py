"""Pass rates by the values of a field, beside reports of the cases with each value alone."""

import json

import pytest
from typer.testing import CliRunner

from jury_adapters import Case, ConfigurationError, Judgment
from jury_adapters.cli.app import app
from jury_adapters.core.batch import Judged
from jury_adapters.report import Report, pass_rates_by
from jury_adapters.report.pass_rates import NO_VALUE

WARDS = {"North": "PPPPPFFA", "South": "PPP", "West\x1b[2J": "FFFF"}
SAID = {"P": Judgment("PASS"), "F": Judgment("FAIL"), "A": Judgment("ABSTAIN", reasoning="unsure")}


def judged(**more):
    found = []
    for ward, outcomes in WARDS.items():
        for at, outcome in enumerate(outcomes):
            case = Case(question=f"{ward} {at}?", answer="x", metadata={"meta": {"ward": ward}, "day": at % 2, **more})
            found.append(Judged(len(found), case, SAID[outcome]))
    return found


def of_ward(pairs, ward):
    return [pair for pair in pairs if pair.case.metadata["meta"]["ward"] == ward]


@pytest.mark.parametrize("group", ["", "day"])
def test_the_figures_are_those_of_a_report_of_these_cases_alone(group):
    pairs = judged()
    rates = pass_rates_by(Report.from_results(pairs, group=group), "meta.ward")
    assert list(rates.by_value) == ["North", "West\x1b[2J", "South"]
    for ward, found in rates.by_value.items():
        alone = Report.from_results(of_ward(pairs, ward), group=group).figures.summary
        for name in ("cases", "passed", "decided", "pass_rate", "pass_interval", "review", "groups"):
            assert getattr(found, name) == getattr(alone, name)


def test_cases_without_the_field_come_last_and_fields_that_no_case_has_are_refused():
    pairs = [*judged(), *(Judged(at, Case(answer="y"), SAID["P"]) for at in range(15, 40))]
    report = Report.from_results(pairs)
    rates = pass_rates_by(report, "meta.ward").by_value
    assert (list(rates)[-1], rates[NO_VALUE].cases) == (NO_VALUE, 25)
    with pytest.raises(ConfigurationError, match=r"has no wards, the field by which.* Did you mean 'meta.ward'"):
        pass_rates_by(Report.from_results(judged()), "wards")


def test_a_field_with_a_value_for_each_case_is_not_a_category():
    pairs = [Judged(at, Case(answer=str(at)), SAID["P"]) for at in range(300)]
    with pytest.raises(ConfigurationError, match="'answer' has more than 200 values"):
        pass_rates_by(Report.from_results(pairs), "answer")


def test_the_table_is_safe_to_print_and_says_what_intervals_mean():
    rates = pass_rates_by(Report.from_results(judged()), "meta.ward")
    for text in (str(rates), rates.to_markdown()):
        assert "\x1b" not in text
        assert "71.4 %" in text  # 5 of 7 decided
        assert "differ by chance, too" in text


@pytest.fixture
def folder(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    rows = [
        {"question": f"{lang}{at}?", "answer": "yes" if at % 3 else "no", "language": lang, "meta": {"ward": at % 2}}
        for lang in ("en", "de")
        for at in range(12)
    ]
    (tmp_path / "cases.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows))
    (tmp_path / "jury.yaml").write_text('jurors:\n  - {check: contains, texts: ["yes"]}\n')
    assert run("judge", "cases.jsonl", "--jury", "jury.yaml", "--out", "r.jsonl", "--quiet").exit_code == 0
    return tmp_path


def run(*arguments):
    return CliRunner().invoke(app, list(arguments), catch_exceptions=False)


@pytest.mark.usefixtures("folder")
def test_the_command_line_prints_text_markdown_and_json():
    assert "de" in run("report", "r.jsonl", "--by", "language").stdout
    assert "| `0` | 12 | 8 | 12 | 66.7 % |" in run("report", "r.jsonl", "--by", "meta.ward", "--markdown").stdout
    found = json.loads(run("report", "r.jsonl", "--by", "language", "--json").stdout)
    assert [(row["value"], row["passed"], row["decided"]) for row in found["rows"]] == [("en", 8, 12), ("de", 8, 12)]


@pytest.mark.usefixtures("folder")
def test_a_field_that_only_the_judged_file_has_is_read_from_it():
    found = json.loads(run("report", "r.jsonl", "--by", "answer", "--json").stdout)
    assert [(row["value"], row["pass_rate"]) for row in found["rows"]] == [("yes", 1.0), ("no", 0.0)]


@pytest.mark.usefixtures("folder")
@pytest.mark.parametrize("options", [("--html", "x.html"), ("--compare", "r.jsonl"), ("--agreement",)])
def test_options_without_a_meaning_beside_it_are_refused(options):
    done = run("report", "r.jsonl", "--by", "language", *options)
    assert (done.exit_code, "has no meaning with" in done.stderr) == (2, True)
