"""Whether two runs judged the same answers."""

import pytest

from jury_adapters import Case, Judgment, Report


def run(status, **fields):
    metadata = fields.pop("metadata", {})
    cases = [
        Case(question=f"What is {at}?", **fields, metadata={"id": f"{at}", **metadata}) for at in ("basalt", "tuff")
    ]
    return Report.from_results([(case, Judgment(status, critic="rocks")) for case in cases])


def read_back(report, path, *, cases=None):
    report.write_results(path, cases=cases)
    return Report.read(path)


@pytest.mark.parametrize(
    ("a", "b"),
    [(-1, -2), (-1.0, -2.0), ([-1], [-2]), ({"depth": -1}, {"depth": -2}), (0, 2**61 - 1), ("1", 1), (0.5, 0.25)],
)
def test_other_metadata_are_another_item_where_nothing_else_was_judged(a, b):
    compared = run("PASS", metadata={"level": a}).compare(run("FAIL", metadata={"level": b}))
    assert not compared.same_answers
    assert "Both judged the same answers" not in str(compared)
    assert "the level changed" in str(compared)


@pytest.mark.parametrize(("a", "b"), [(1, 1.0), ([1, "x"], [1.0, "x"]), (None, None), ({"x": 0}, {"x": -0.0})])
def test_equal_metadata_are_one_item(a, b):
    assert run("PASS", metadata={"level": a}).compare(run("FAIL", metadata={"level": b})).same_answers


def test_results_alone_show_that_two_juries_judged_one_answer(tmp_path):
    before, after = (
        run(status, answer="A rock.", metadata={"gold": gold, "round": number})
        for status, gold, number in (("PASS", "right", 1), ("FAIL", "wrong", 2))
    )
    read = read_back(before, tmp_path / "a.jsonl").compare(read_back(after, tmp_path / "b.jsonl"))
    assert read.same_answers == before.compare(after).same_answers is True
    assert "Both judged the same answers" in str(read)
    again = Report(Report.read(tmp_path / "a.jsonl").entries).compare(Report.read(tmp_path / "b.jsonl"))
    assert again.same_answers


def test_results_alone_do_not_show_it_where_the_metadata_may_be_all_that_was_judged(tmp_path):
    before, after = (run(status, metadata={"level": at}) for at, status in enumerate(("PASS", "FAIL")))
    assert not read_back(before, tmp_path / "a.jsonl").compare(read_back(after, tmp_path / "b.jsonl")).same_answers


def only_metadata(status, rows, **more):
    verdicts = [Judgment(status if at % 3 else "FAIL", critic="rocks") for at in rows]
    cases = [Case(metadata={"depth": at, **more}) for at in rows]
    return Report.from_results(list(zip(cases, verdicts, strict=True)))


def test_cases_of_metadata_alone_are_matched_by_their_metadata():
    rows = list(range(24))
    found = only_metadata("PASS", rows, gold="right").compare(only_metadata("PASS", rows[::-1][:23], gold="wrong"))
    assert (found.paired, found.better, found.worse, found.flips) == (23, 0, 0, ())
    others = only_metadata("PASS", rows).compare(only_metadata("PASS", [at + 100 for at in rows]))
    assert not others.paired
    assert "in both runs:" not in str(others)


def test_empty_cases_have_no_equal_content():
    mixed = [
        Report.from_results([
            (Case(answer=f"A {at}") if at % 2 else Case(), Judgment("PASS", critic="rocks")) for at in range(20)
        ])
        for _ in range(2)
    ]  # fmt: skip
    assert "only 10 of 20 cases have equal content" in str(mixed[0].compare(mixed[1]))
    empty = [Report.from_results([(Case(), Judgment(status))] * 4) for status in ("PASS", "FAIL")]
    assert empty[0].compare(empty[1]).paired == 4  # by position, as verdicts without their cases


def test_a_human_label_is_no_part_of_what_was_judged():
    before, after = (
        run(status, metadata={"level": 1, "gold": gold}) for status, gold in (("PASS", "yes"), ("FAIL", "no"))
    )
    assert before.compare(after).same_answers
