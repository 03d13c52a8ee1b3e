"""Experiments of LangSmith that run each example several times."""

import pytest

from jury_adapters import Case, Ensemble, Report
from jury_adapters.calibration import Votes
from jury_adapters.checks import Equals, NotEmpty
from jury_adapters.langchain import JuryEvaluator
from jury_adapters.langchain.langsmith import examples, offline_client

pytestmark = pytest.mark.filterwarnings("ignore:'upload_(results|runs)' parameter is in beta")

JURY = Ensemble([Equals("yes"), NotEmpty()], voting="unanimous")


def repeated(words, **options):
    """Return the rows of twelve examples; the answer to each is the same in every run."""
    data = examples([{"question": f"question {at}"} for at in range(12)])
    answers = {f"question {at}": word for at, word in enumerate(words)}
    found = offline_client().evaluate(
        lambda inputs: {"answer": answers[inputs["question"]]}, data=data, upload_results=False, max_concurrency=0,
        evaluators=[JuryEvaluator(JURY, key="exact")], **options,
    )  # fmt: skip
    return list(found)


@pytest.mark.slow
def test_repeated_runs_of_an_example_are_one_group():
    """Ten times the same answers are no more evidence than once."""
    a, b = ["yes"] * 4 + ["no"] * 8, ["yes"] * 8 + ["no"] * 4
    once = [Report.from_results(repeated(words)) for words in (a, b)]
    many = [Report.from_results(repeated(words, num_repetitions=5)) for words in (a, b)]
    assert (once[0].group, many[0].group) == ("", "langsmith_example")
    assert many[0].figures.summary.groups == 12
    assert "95 % interval, 12 groups:" in many[0].to_markdown()
    low, high = many[0].figures.summary.pass_interval
    assert high - low > 0.4
    assert "langsmith_example" not in {name for row in once[0].to_rows() for name in row}
    single, compared = once[0].compare(once[1]), many[0].compare(many[1])
    assert (compared.paired, compared.groups) == (60, 12)
    assert single.p_value == pytest.approx(compared.p_value)
    assert once[0].compare(many[1]).groups == 12
    assert Report.from_results(repeated(a, num_repetitions=2), group="question").group == "question"
    assert Report.from_results(repeated(a, num_repetitions=2), group="").figures.summary.groups is None


def test_votes_of_repeated_runs_are_in_groups():
    votes = Votes.from_results(repeated(["yes"] * 12, num_repetitions=3))
    assert (len(votes.items), len(set(votes.groups.tolist()))) == (36, 12)
    assert not Votes.from_results(repeated(["yes"] * 12)).grouped


def test_repeated_runs_that_are_not_paired_are_compared_with_a_warning():
    rows = repeated(["yes"] * 12, num_repetitions=2)
    other = Report.from_results([(Case(answer="x", metadata={"id": "other"}), Equals("x").judge(answer="x"))])
    compared = Report.from_results(rows).compare(other)
    assert "takes no account of groups (langsmith_example)" in compared.warnings[0]


def test_a_kept_report_of_repeated_runs_has_its_groups(tmp_path):
    report = Report.from_results(repeated(["yes"] * 4 + ["no"] * 8, num_repetitions=3))
    report.write_results(tmp_path / "kept.jsonl")
    again = Report.read(tmp_path / "kept.jsonl")
    assert again.group == report.group
    assert again.figures.summary.pass_interval == report.figures.summary.pass_interval
    assert Report.read(tmp_path / "kept.jsonl", group="").figures.summary.groups is None
