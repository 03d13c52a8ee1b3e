"""The matrix of votes: the same whether it comes from lists, verdicts, recorded rows or a file of results."""

import gzip
import json
import subprocess
import sys

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from typer.testing import CliRunner

from jury_adapters import (
    CascadedJury,
    Case,
    ConfigurationError,
    Ensemble,
    InputError,
    Judgment,
    PairwiseCritic,
    Tier,
    abstain,
)
from jury_adapters.calibration import Votes
from jury_adapters.calibration.types import MISSING
from jury_adapters.cli.app import app
from jury_adapters.core.batch import stream
from jury_adapters.core.installation import needs_extra
from jury_adapters.replay import RecordedCritic, recorded_jury

ROWS = [
    {"item_id": "a", "gold": "valid", "answer": "four", "meta": {"program": "1", "generator": "gpt-4o"},
     "votes": {"x": {"label": "valid", "model": "gpt-4o"}, "y": {"label": "valid"}}},
    {"item_id": "b", "gold": "invalid", "answer": "no", "meta": {"program": "1", "generator": "claude-3"},
     "votes": {"x": {"label": "invalid", "model": "gpt-4o"}, "y": {"label": "valid"}}},
    {"item_id": "c", "gold": None, "meta": {"program": "2"}, "votes": {"y": {"label": "invalid"}}},
]  # fmt: skip
CODES = [[1, 1], [0, 1], [MISSING, 0]]


def rows_file(folder, name="votes.jsonl.gz", rows=ROWS):
    data = "\n".join(map(json.dumps, rows)).encode()
    path = folder / name
    path.write_bytes(gzip.compress(data) if name.endswith("gz") else data)
    return path


def test_rows_become_codes_and_missing_votes_stay_missing():
    votes = Votes.from_rows([["b", "a", None], ["a", float("nan"), "a"]], items=["i", "ii"], gold=["a", None])
    assert votes.codes.tolist() == [[1, 0, -1], [0, -1, 0]]
    assert (votes.labels, votes.jurors, votes.items) == (("a", "b"), ("juror 1", "juror 2", "juror 3"), ("i", "ii"))
    assert (votes.gold.tolist(), votes.groups.tolist(), votes.grouped) == ([0, -1], [0, 1], False)
    assert votes.counts().tolist() == [[1, 1], [2, 0]]
    assert repr(votes) == "Votes(2 items x 3 jurors, 1 with a human label)"


def test_numbers_are_a_scale_and_truth_values_are_pass_and_fail():
    numbers = Votes.from_rows([[3, 1.5], [np.int64(10), np.float64(2)]])
    assert (numbers.labels, numbers.numeric, numbers.ordered) == ((1.5, 2.0, 3.0, 10.0), True, True)
    assert numbers.scale.tolist() == [1.5, 2.0, 3.0, 10.0]
    truths = Votes.from_rows([[True, np.False_]], gold=[True])
    assert (truths.labels, truths.pass_label, truths.pass_code) == (("FAIL", "PASS"), "PASS", 1)
    mixed = Votes.from_rows([["4", 4], [5, "none"]])
    assert (mixed.labels, mixed.codes.tolist()) == (("4", "5", "none"), [[0, 0], [1, 2]])


def test_gold_off_the_scale_of_numbers_is_no_gold():
    assert Votes.from_rows([[1, 2], [2, 2]], gold=[1, 2]).gold.tolist() == [0, 1]
    assert not Votes.from_rows([[1, 2], [2, 2]], gold=[1, 1.6667]).has_gold
    assert Votes.from_rows([["a"]], gold=["b"]).labels == ("a", "b")


@pytest.mark.parametrize(
    ("build", "says"),
    [
        (lambda: Votes.from_rows([["a"], ["a", "b"]]), "one entry per juror"),
        (lambda: Votes.from_rows([["a"]], jurors=["x", "y"]), "2 names"),
        (lambda: Votes.from_rows([["a", "b"]], jurors=["x", "x"]), "a name of its own"),
        (lambda: Votes.from_rows([["a"]], gold=["a", "b"]), "gold has 2 entries for 1 items"),
        (lambda: Votes.from_rows([["a"]], groups=[1, 2]), "groups has 2"),
        (lambda: Votes.from_rows([["a"]], labels=["b", "c"]), "'a' is none of the labels"),
        (lambda: Votes.from_rows([["a"]], pass_label="b"), "unknown pass_label"),
        (
            lambda: Votes.from_rows([["PASS"], ["FAIL"]], gold=["good", "bad"]),
            "human labels are bad, good, but jurors vote",
        ),
        (
            lambda: Votes.from_rows([["PASS"]] * 7, gold=[1, 2, 3, 4, 5, 6, 7]),
            "human labels are 1, 2, 3, 4, 5 and 2 more, but jurors vote PASS;",
        ),
        (lambda: Votes.from_rows([[float("inf")]]), "finite number"),
        (lambda: Votes.from_rows([[["a"]]]), "a label or a finite number"),
        (lambda: Votes.from_rows([["a"]]).scale, "numbers, not labels"),
        (lambda: Votes.from_rows([["a"]]).panel(["nobody"]), "unknown juror"),
        (lambda: Votes.from_recorded(ROWS, jurors=["z"]), "unknown juror 'z'"),
        (lambda: Votes.from_recorded(ROWS, abstain_labels="tie"), "list of labels"),
        (lambda: Votes.from_recorded(ROWS, on="verdict"), "unknown on"),
        (lambda: Votes.from_recorded(ROWS, group="meta.nothing"), "has no meta.nothing"),
        (lambda: Votes.from_verdicts([Judgment("PASS")], on="verdict"), "unknown on"),
        (lambda: Votes.from_verdicts([Judgment("PASS")], gold=["PASS", "PASS"]), "gold has 2 entries for 1 verdicts"),
    ],
)
def test_what_is_no_vote_is_refused_with_what_to_do(build, says):
    with pytest.raises(ConfigurationError, match=says):
        build()


def test_recorded_rows_come_with_all_they_tell(tmp_path):
    for source in (ROWS, rows_file(tmp_path), rows_file(tmp_path, "votes.jsonl")):
        votes = Votes.from_recorded(source, group="meta.program", pass_label="valid")
        assert (votes.codes.tolist(), votes.labels, votes.jurors) == (CODES, ("invalid", "valid"), ("x", "y"))
        assert (votes.gold.tolist(), votes.groups.tolist(), votes.grouped) == ([1, 0, -1], [0, 0, 1], True)
        assert (votes.generators, votes.models) == (("gpt-4o", "claude-3", None), ("gpt-4o", None))
        assert votes.lengths[:2].tolist() == [4.0, 2.0]
        assert np.isnan(votes.lengths[2])


def test_recorded_votes_of_people_scores_and_abstentions():
    people = Votes.from_recorded([{"item_id": 1, "human_votes": {"p": 3, "q": 4}}], column="human_votes")
    assert (people.labels, people.codes.tolist()) == ((3.0, 4.0), [[0, 1]])
    both = [{"item_id": 1, "votes": {"x": {"label": "tie", "score": 0.5}, "y": {"score": 0.25}}}]
    assert Votes.from_recorded(both).codes.tolist() == [[0, MISSING]]
    assert Votes.from_recorded(both, on="score").scale.tolist() == [0.25, 0.5]
    assert Votes.from_recorded(both, abstain_labels=["tie"]).codes.tolist() == [[MISSING, MISSING]]
    assert Votes.from_recorded(ROWS, jurors=["y"], where=lambda row: row["item_id"] != "a").codes.tolist() == [[1], [0]]


def test_bad_rows_are_named(tmp_path):
    with pytest.raises(InputError, match="row 1: a recorded row needs item_id and votes"):
        Votes.from_recorded([{"item_id": 1}])
    path = tmp_path / "broken.jsonl"
    path.write_text('{"item_id": 1, "votes": {}}\n{oops')
    with pytest.raises(InputError, match="line 2: not JSON"):
        Votes.from_recorded(path)


def jury(**options):
    labels = {"valid": "pass", "invalid": "fail"}
    return Ensemble([RecordedCritic(name, labels=labels) for name in ("x", "y")], **options)


def cases():
    return [
        Case(answer=row.get("answer"), generator=row["meta"].get("generator"),
             metadata={name: row[name] for name in ("item_id", "gold", "votes", "meta")})
        for row in ROWS
    ]  # fmt: skip


def test_a_judged_batch_is_read_as_its_jury_voted():
    judged = list(stream(jury(on="label"), cases()))
    votes = Votes.from_verdicts(judged, group="meta.program", pass_label="valid")
    assert (votes.codes.tolist(), votes.labels, votes.items) == (CODES, ("invalid", "valid"), ("a", "b", "c"))
    assert (votes.gold.tolist(), votes.groups.tolist()) == ([1, 0, -1], [0, 0, 1])
    assert votes.generators == ("gpt-4o", "claude-3", None)
    assert votes.lengths[:2].tolist() == [4.0, 2.0]
    by_status = Votes.from_verdicts([item.judgment for item in judged], on="status", gold=["PASS", "FAIL", None])
    assert (by_status.labels, by_status.codes.tolist()) == (("FAIL", "PASS"), CODES)
    assert Votes.from_verdicts(stream(jury(), cases()), gold={"a": "PASS"}).gold.tolist() == [1, MISSING, MISSING]
    with pytest.raises(ConfigurationError, match="say which with on="):
        Votes.from_verdicts([jury().judge(cases()[0]), jury(on="label").judge(cases()[0])])
    scores = Votes.from_verdicts([Judgment("PASS", score=0.75, critic="j"), abstain("?", critic="j")], on="score")
    assert (scores.labels, scores.codes.tolist(), scores.jurors) == ((0.75,), [[0], [MISSING]], ("j",))


def test_of_a_cascade_every_tier_that_ran_is_heard():
    first, second = (RecordedCritic(name, labels={"valid": "pass", "invalid": "fail"}) for name in ("x", "y"))
    verdicts = [
        CascadedJury([Tier("cheap", first, "reject_on_any_fail"), Tier("dear", second)]).judge(case) for case in cases()
    ]
    votes = Votes.from_verdicts(verdicts, on="label", screening_tiers=True)
    heard = [["valid", "valid"], ["invalid", None], [None, "invalid"]]  # x rejects the second case alone
    assert votes.jurors == ("x", "y")
    assert [[None if code == MISSING else votes.labels[code] for code in row] for row in votes.codes] == heard


def test_a_pairwise_juror_brings_both_its_orders():
    class First(RecordedCritic):
        def assess(self, case):
            return Judgment(None, label="A")

    verdicts = [Ensemble([PairwiseCritic(First("j"))], on="label").judge(candidates=["x", "y"]) for _ in range(2)]
    votes = Votes.from_verdicts(verdicts)
    assert votes.orders.shape == (2, 2, 1)
    assert [votes.labels[code] for code in votes.orders[:, 0, 0]] == ["A", "B"]
    assert votes.labels[votes.codes[0, 0]] == "tie"
    alone = Votes.from_verdicts([PairwiseCritic(First("j")).judge(candidates=["x", "y"])])
    assert (alone.jurors, alone.orders.shape) == (("j",), (2, 1, 1))


def test_the_file_that_jury_judge_wrote_is_read_back(tmp_path):
    source, out, config = rows_file(tmp_path), tmp_path / "out.jsonl", tmp_path / "jury.yaml"
    seats = ", ".join(f"{{recorded: {name}, labels: {{valid: pass, invalid: fail}}}}" for name in ("x", "y"))
    config.write_text(f"jurors: [{seats}]\non: label\n")
    done = CliRunner().invoke(app, ["judge", str(source), "--jury", str(config), "--out", str(out)])
    assert done.exit_code == 0, done.output
    votes = Votes.from_results(out, gold=source, group="meta.program", pass_label="valid")
    assert (votes.codes.tolist(), votes.items, votes.jurors) == (CODES, ("a", "b", "c"), ("x", "y"))
    assert (votes.gold.tolist(), votes.groups.tolist()) == ([1, 0, -1], [0, 0, 1])
    assert votes.generators == ("gpt-4o", "claude-3", None)
    assert Votes.from_results(out, gold={"b": "valid"}).gold.tolist() == [-1, 1, -1]
    assert Votes.from_results(out).gold.tolist() == votes.gold.tolist()  # the results hold the labels
    assert not Votes.from_results(out, gold={}).has_gold
    with pytest.raises(InputError, match="it has no verdict"):
        Votes.from_results(source)


def test_parts_keep_what_belongs_to_them():
    votes = Votes.from_recorded(ROWS, group="meta.program")
    part = votes.take(np.array([False, True, True])).panel(["y"])
    assert (part.codes.tolist(), part.items, part.jurors) == ([[1], [0]], ("b", "c"), ("y",))
    assert (part.groups.tolist(), part.generators, part.models) == ([0, 1], ("claude-3", None), (None,))
    assert votes.take([0]).items == ("a",)


@given(st.lists(st.lists(st.none() | st.sampled_from("abc"), min_size=3, max_size=3), max_size=8))
def test_codes_say_exactly_what_was_voted(rows):
    votes = Votes.from_rows(rows)
    back = [[None if code == MISSING else votes.labels[code] for code in row] for row in votes.codes.tolist()]
    assert back == rows
    assert votes.answered.sum() == votes.counts().sum()


def test_all_judges_of_a_recorded_jury_are_columns(tmp_path):
    path = rows_file(tmp_path)
    verdicts = [recorded_jury(path, on="label").judge(metadata={"item_id": row["item_id"]}) for row in ROWS]
    assert Votes.from_verdicts(verdicts).codes.tolist() == Votes.from_recorded(path).codes.tolist()


def fresh(code):
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False, timeout=60)
    return done.stdout.strip(), done.stderr


def test_numpy_is_loaded_by_use_and_not_by_import():
    code = "import sys, jury_adapters, jury_adapters.calibration; print('numpy' in sys.modules)"
    assert fresh(code)[0] == "False"


@pytest.mark.slow
def test_without_numpy_the_message_names_the_extra():
    code = (
        "import sys; sys.modules['numpy'] = None\n"
        "from jury_adapters import ConfigurationError, calibration\n"
        "try: calibration.Votes\n"
        "except ConfigurationError as error: print(error)"
    )
    assert fresh(code)[0] == needs_extra("Votes", "NumPy", "stats")


def test_a_status_is_a_vote_where_there_is_no_label():
    said = [("PASS", "PASS"), ("FAIL", "PASS"), ("ABSTAIN", "FAIL"), ("PASS", "ERROR")]
    rows = [
        {"item_id": str(at), "votes": {"u": {"status": one, "confidence": 0.8}, "w": {"status": other}}}
        for at, (one, other) in enumerate(said)
    ]
    votes = Votes.from_recorded(rows)
    assert (votes.labels, votes.pass_label) == (("FAIL", "PASS"), "PASS")
    assert votes.codes.tolist() == [[1, 1], [0, 1], [-1, 0], [1, -1]]
    labelled = [{**row, "votes": {"u": {"label": "good", "status": "PASS"}}} for row in rows]
    assert Votes.from_recorded(labelled).labels == ("good",)


@pytest.mark.parametrize("nothing", ["", "  ", "ABSTAIN", "ERROR", None, {"label": "ABSTAIN"}, {"label": ""}])
def test_a_word_for_no_opinion_is_a_missing_vote(nothing):
    rows = [{"item_id": str(row), "votes": {"ann": "FAIL", "bob": bob}} for row, bob in enumerate(["FAIL", nothing])]
    votes = Votes.from_recorded(rows)
    assert (votes.labels, votes.codes.tolist()) == (("FAIL",), [[0, 0], [0, MISSING]])
    if not isinstance(nothing, dict):
        votes = Votes.from_rows([["PASS", "FAIL"], ["FAIL", nothing]], jurors=["ann", "bob"])
        assert (votes.labels, votes.codes.tolist()) == (("FAIL", "PASS"), [[1, 0], [0, MISSING]])
