"""Votes of results, judgments and tables: jurors, human labels, groups, selected and failed cases."""

import numpy as np
import pytest
from fact_tables import each_row

from jury_adapters import (
    CascadedJury,
    Case,
    Ensemble,
    Judgment,
    Result,
    ResultsFile,
    Scorecard,
    Tier,
    abstain,
    all_of,
    judge,
)
from jury_adapters.core.values import ConfigurationError, InputError
from jury_adapters.report import Report
from jury_adapters.stats import Votes, pass_rate, raw_agreement

PASS, FAIL = Judgment(status="PASS"), Judgment(status="FAIL")


def recorded(name, **options):
    """Return a judge that says what the metadata of a case have under its name."""
    return judge(lambda case: case.metadata.get(name), name=name, **options)


def cascade():
    screen = judge(lambda case: bool(case.answer), name="not empty")
    cheap = Ensemble([recorded("a"), recorded("b")])
    return CascadedJury([
        Tier("screen", screen, "reject_on_any_fail"),
        Tier("cheap", cheap, "escalate_on_split"),
        Tier("dear", recorded("c")),
    ])  # fmt: skip


def case(at, answer=None, **metadata):
    return Case(id=f"{at}", answer=f"answer {at}" if answer is None else answer, metadata=metadata)


CASES = [
    *(case(f"e{at}", "", a=True, b=True, c=True, gold="fail") for at in range(3)),
    *(case(f"s{at}", a=True, b=False, c=False, gold="fail") for at in range(4)),
    *(case(f"p{at}", a=True, b=True, c=True, gold="pass") for at in range(5)),
]


def test_jurors_of_later_tiers_are_selected_and_judges_of_screening_tiers_are_no_jurors():
    votes = Votes.of(cascade().judge_pairs(CASES), label="gold")
    assert votes.jurors == ("cheap / a", "cheap / b", "dear / c")
    assert votes.selected == {"dear / c"}
    assert votes.panel == [0, 1]
    assert not votes.asked[:3, :3].any()
    assert votes.asked[:, 2].tolist() == [False] * 3 + [True] * 4 + [False] * 5
    assert votes.codes[:, 3].tolist() == votes.gold.tolist() == [0] * 7 + [1] * 5
    agreement = raw_agreement(votes)
    assert (agreement.value, agreement.n) == (5 / 9, 9)
    assert agreement.note == "without jurors that were asked only about some cases: dear / c; rough, of 9 cases"


def test_a_screening_tier_that_never_decides_is_none_of_the_later_tiers_reasons():
    """The core says in words why a cascade goes on after a screening tier; these are the words that are read."""
    for policy, answer in (("reject_on_any_fail", "x"), ("accept_on_all_pass", "")):
        screen = Tier("screen", judge(lambda case: bool(case.answer), name="not empty"), policy)
        jury = CascadedJury([screen, Tier("rest", Ensemble([recorded("a"), recorded("b")]))])
        votes = Votes.of(jury.judge_pairs([case(1, answer, a=True, b=False)]))
        assert votes.jurors == ("rest / a", "rest / b")
        assert not votes.selected


def test_early_stopping_selects_the_jurors_that_it_skips():
    jurors = [recorded("a", cost=1.0), recorded("b", cost=2.0), recorded("c", cost=3.0)]
    jury = Ensemble(jurors, schedule="early_stop")
    votes = Votes.of(jury.judge_pairs([case(1, a=True, b=True, c=False), case(2, a=True, b=False, c=False)]))
    assert votes.selected == {"c"}
    assert raw_agreement(votes).value == 0.5
    assert votes.codes[:, 2].tolist() == [-1, 0]


@pytest.mark.parametrize(
    "jury",
    [
        Scorecard({"short": lambda case: True, "there": lambda case: False}),
        all_of(lambda case: True, lambda case: False),
        judge(lambda case: True, name="one"),
    ],
)
def test_criteria_and_single_judges_are_no_jurors(jury):
    votes = Votes.of(jury.judge_pairs([Case(answer="x")]))
    assert votes.jurors == ()
    assert votes.asked.tolist() == [[True]]
    assert raw_agreement(votes).value is None


def test_a_jury_inside_a_jury_is_one_juror():
    inner = Ensemble([recorded("a"), recorded("b")], name="inner")
    votes = Votes.of(Ensemble([inner, recorded("c")]).judge_pairs([case(1, a=True, b=True, c=False)]))
    assert votes.jurors == ("inner", "c")
    tiers = CascadedJury([Tier("first", inner, "escalate_on_split"), Tier("card", Scorecard({"a": recorded("a")}))])
    assert Votes.of(tiers.judge_pairs([case(1, a=True, b=False)])).jurors[2:] == ("card / Scorecard",)


def test_failed_runs_are_no_votes():
    jury = Ensemble([recorded("a"), recorded("b")])
    cases = [case(1, a=True, b=True), Case(id="2", error="boom", metadata={"gold": "fail"})]
    votes = Votes.of(jury.judge_pairs(cases), label="gold")
    assert votes.failed.tolist() == [False, True]
    assert votes.codes.tolist() == [[1, 1, 1], [-1, -1, 0]]
    assert (pass_rate(votes).value, pass_rate(votes).n) == (0.5, 2)
    alone = Votes.of(judge(lambda case: True).judge_pairs(cases))
    assert alone.failed.tolist() == [False, True]


def test_abstentions_and_errors_are_no_votes_and_have_no_confidence():
    said = [
        abstain("no", confidence=0.9),
        Judgment(status="ERROR", error="down"),
        Judgment(status="PASS", confidence=0.8),
    ]
    votes = Votes.of(said)
    assert votes.codes.tolist() == [[-1], [-1], [1]]
    assert np.isnan(votes.confidences[:2]).all()
    assert votes.asked.all()


def test_a_results_file_has_labels_groups_models_and_generators(tmp_path):
    path = tmp_path / "results.jsonl"
    one = Judgment(status="PASS", critic="a", model="m1", confidence=0.5, score=0.9)
    jury = Judgment(status="PASS", judgments=(one, FAIL.model_copy(update={"critic": "b"})), voting="majority")
    lines = [
        Result(jury="j", case=Case(answer="four", generator="g"), judgment=jury, human_label=True, group="doc"),
        Result(jury="j", case=Case(answer="Yes."), judgment=jury, human_label="FAIL", group="doc"),
    ]
    path.write_text("\n".join(line.model_dump_json() for line in lines))
    votes = Votes.of(path)
    assert (votes.jurors, votes.models, votes.gold.tolist()) == (("a", "b"), ("m1", "", ""), [1, 0])
    assert votes.groups.tolist() == [0, 0]
    assert (votes.lengths.tolist(), votes.generators.tolist()) == ([4, 4], ["g", ""])
    assert (votes.scores[0, 0], votes.confidences[0, 0]) == (0.9, 0.5)
    assert Votes.of(str(path)).codes.tolist() == votes.codes.tolist() == Votes.of(iter(lines)).codes.tolist()


def test_results_that_were_written_are_read(tmp_path):
    jury = Ensemble([recorded("a"), recorded("b")])
    with ResultsFile(tmp_path / "r.jsonl", jury, label="gold", group="doc") as file:
        list(file.judge([case(at, a=True, b=at > 2, gold="yes", doc=at % 2) for at in range(6)]))
    votes = Votes.of(tmp_path / "r.jsonl")
    assert (votes.gold.tolist(), votes.groups.tolist()) == ([1] * 6, [0, 1, 0, 1, 0, 1])


@each_row(
    ("labels", "pass_labels", "gold"),
    [
        (
            [True, "PASS", "pass", "Yes", "true", False, "fail", "FALSE", "no", None, "", " "],
            [],
            [1] * 5 + [0] * 4 + [-1] * 3,
        ),
        (["good", "bad", "Good", "yes", "no", "poor"], ["good"], [1, 0, 1, 1, 0, 0]),
        ([1, 0, 2, None], [1], [1, 0, 0, -1]),
        ([1.0, 0.0], ["1"], [1, 0]),
        ([3, 4.5, "yes"], [], [-1, -1, 1]),
        ([np.bool_(True), np.str_("no"), np.float64("nan")], [], [1, 0, -1]),
        (["valid", "NA", "n/a", "NaN", "<NA>", "", None, float("nan"), "none"], ["valid"], [1] + [-1] * 7 + [0]),
    ],
)
def test_human_labels_pass_or_fail(labels, pass_labels, gold):
    votes = Votes.from_rows([["yes"]] * len(labels), human_labels=labels, pass_labels=pass_labels)
    assert votes.gold.tolist() == gold
    assert votes.labels == ("FAIL", "PASS")


def test_numbers_are_grades():
    votes = Votes.from_rows([[1], [2.5], [None]], human_labels=[4, None, 2])
    assert votes.scores[:, 0].tolist()[:2] == [1, 2.5]
    assert votes.grades.tolist()[::2] == [4, 2]
    assert votes.codes.tolist() == [[-1, -1]] * 3


@each_row(
    ("rows", "labels", "pass_labels", "message"),
    [
        ([["yes"]] * 2, ["valid", "invalid"], [], "human labels are pass .* not invalid, valid; pass_labels= names"),
        (
            [["yes"]] * 2,
            ["valid", "invalid"],
            ["vaild"],
            "no case has the label 'vaild' of pass_labels=; .* invalid, valid",
        ),
        ([["yes"]] * 2, ["reject", "reject"], ["publish"], "no case has the label 'publish'"),
        ([["A"], ["B"]], ["first", "second"], [], "human labels are first, second, and the jurors give others: A, B"),
        ([["yes"]], ["\x1b[2J"], [], r"\\u001b"),
        ([[1], [0]], None, [1], "labels are none, and votes that are numbers are scores"),
    ],
)
def test_an_unknown_meaning_is_refused_with_the_labels(rows, labels, pass_labels, message):
    with pytest.raises(InputError, match=message):
        Votes.from_rows(rows, human_labels=labels, pass_labels=pass_labels)


def test_texts_are_no_labels():
    with pytest.raises(InputError, match="jurors give others"):
        Votes.from_rows([[f"text {at}"] for at in range(1001)], human_labels=["text 1"] * 1001)


def test_neutral_labels_stay_as_they_are_until_some_mean_pass():
    rows, labels = [["KEEP"], ["DROP"], [None]], ["KEEP", "KEEP", "tie"]
    votes = Votes.from_rows(rows, human_labels=labels)
    assert (votes.labels, votes.binary) == (("DROP", "KEEP", "tie"), False)
    assert votes.gold.tolist() == [1, 1, 2]
    named = Votes.from_rows(rows, human_labels=labels, pass_labels=["keep"])
    assert (named.codes[:, 0].tolist(), named.gold.tolist()) == ([1, 0, -1], [1, 1, 0])


def test_declared_labels_have_their_meaning_and_mixed_ones_their_name():
    tone = judge(lambda case: case.answer, name="tone", labels={"POLITE": "pass", "RUDE": "fail", "ODD": "label"})
    votes = Votes.of(tone.judge_pairs([Case(answer="POLITE"), Case(answer="RUDE")]))
    assert (votes.labels, votes.codes[:, 0].tolist()) == (("FAIL", "PASS"), [1, 0])
    mixed = Votes.of(tone.judge_pairs([Case(answer="ODD"), Case(answer="RUDE")]))
    assert mixed.labels == ("ODD", "RUDE")
    human = Votes.of(
        tone.judge_pairs([Case(answer="RUDE", metadata={"gold": "RUDE"})]), label="gold", pass_labels=["RUDE"]
    )
    assert human.codes.tolist() == [[0]]  # its declared meaning goes before that of a human label


def test_votes_are_what_the_jury_counts():
    """A jury on labels counts GOOD and FINE apart; a jury on PASS and FAIL counts both as PASS, and KEEP not at all."""
    labels = {"GOOD": "pass", "FINE": "pass", "KEEP": "label"}
    jurors = [recorded(name, labels=labels) for name in "abc"]
    cases = [case(1, a="GOOD", b="FINE", c="KEEP"), case(2, a="GOOD", b="GOOD", c="GOOD")]
    on_labels = Votes.of(Ensemble(jurors, on="label").judge_pairs(cases[1:]))
    assert on_labels.labels == ("GOOD",)
    by_label, by_status = (Votes.of(Ensemble(jurors, on=on).judge_pairs(cases)) for on in ("label", "status"))
    assert (by_label.labels, by_status.labels) == (("FINE", "GOOD", "KEEP"), ("FAIL", "PASS"))
    assert by_status.codes.tolist() == [[1, 1, -1, 1], [1, 1, 1, 1]]
    assert raw_agreement(by_label).value == 0.5


@pytest.mark.parametrize("ids", [True, False])
def test_contradicting_copies_are_refused(ids):
    one = Case(id="a" if ids else None, answer="x", metadata={"gold": "pass"})
    other = one.model_copy(update={"metadata": {"gold": "fail"}})
    with pytest.raises(InputError, match=r"the case .* has two human labels, pass and fail"):
        Votes.of([(one, PASS), (one, PASS), (other, PASS)], label="gold")
    another = other.model_copy(update={"answer": "y"})
    assert Votes.of([(one, PASS), (another, PASS)], label="gold").gold.tolist() == [1, 0]


def test_rows_of_one_id_are_one_group_whatever_the_groups_are():
    ids, groups = ["q1", "q1", "q2", "q3", None, None], [None, "d", "d", None, None, "e"]
    votes = Votes.from_rows([["yes"]] * 6, ids=ids, groups=groups)
    assert votes.groups.tolist() == [0, 0, 0, 1, 2, 3]
    assert Votes.from_rows([["yes"]] * 3, ids=[1, 1.0, "1"]).groups.tolist() == [0, 0, 0]
    assert Votes.from_rows([["yes"]] * 4, groups=[float("nan"), None, "nan", "<NA>"]).groups.tolist() == [0, 1, 2, 3]


@pytest.mark.parametrize("ids", [True, False])
def test_repeated_ids_count_as_one_group_in_every_rate(ids):
    """Situation 12: 20 questions, ten answers each, one id per question."""
    cases = [
        Case(id=f"q{at}" if ids else None, question=f"q{at}", answer="In 2018." if at < 12 else "In 2019.")
        for at in range(20)
    ]
    votes = Votes.of(judge(lambda case: "2018" in case.answer).judge_pairs(cases * 10))
    found = pass_rate(votes)
    assert (found.value, found.n, len(set(votes.groups.tolist()))) == (0.6, 200, 20)
    assert found.interval == pytest.approx((0.37, 0.793), abs=0.005)
    assert found.note == "rough, of 20 groups"


def test_cases_of_one_id_or_content_are_one_group_and_others_independent():
    for cases, groups in (
        ([Case() for _ in range(4)], [0, 1, 2, 3]),
        ([Case(id=f"{at}", answer=f"{at % 2}") for at in range(4)], [0, 1, 0, 1]),
        ([Case(id=f"{at % 2}", answer=f"{at}") for at in range(4)], [0, 1, 0, 1]),
        ([Case(id=f"{at}", error="timeout") for at in range(4)], [0, 1, 2, 3]),
    ):
        assert Votes.of((one, PASS) for one in cases).groups.tolist() == groups
    assert Votes.of([PASS, PASS]).groups.tolist() == [0, 1]


def test_judgments_alone_know_their_case():
    one = Judgment(status="PASS", case_id="a", case_metadata={"gold": "fail", "doc": 3}, generator="g")
    votes = Votes.of([one, one], label="gold", group="doc")
    assert (votes.keys.tolist(), votes.gold.tolist(), votes.groups.tolist()) == (["a", "a"], [0, 0], [0, 0])
    assert votes.generators.tolist() == ["g", "g"]


def test_some_of_the_cases_can_be_taken():
    votes = Votes.from_rows(
        [["yes", "no"], ["no", "no"], ["yes", None]], human_labels=["yes", "no", None], ids=["a", "b", "a"]
    )
    part = votes.take([0, 2])
    assert (len(part), part.codes[:, 0].tolist(), part.keys.tolist()) == (2, [1, 1], ["a", "a"])
    assert votes.take(votes.gold == 1).gold.tolist() == [1]
    assert part.jurors == votes.jurors


def test_confidences_may_be_an_array_or_missing_for_a_case():
    sure = np.array([[0.9, 0.3], [0.5, 0.6]])
    assert Votes.from_rows([["yes", "no"]] * 2, confidences=sure).confidences[:, :2].tolist() == sure.tolist()
    votes = Votes.from_rows([["yes"], ["no"]], confidences=[[0.9], None])
    assert np.array_equal(votes.confidences, [[0.9, 0.9], [np.nan, np.nan]], equal_nan=True)


@each_row(
    ("rows", "options"),
    [
        ([["yes"], ["yes", "no"]], {}),
        ([["yes", "no"]], {"jurors": ["a", "a"]}),
        ([["yes"]], {"jurors": ["a", "b"]}),
        ([["yes"]], {"human_labels": ["yes", "no"]}),
        ([["yes"]], {"ids": []}),
        ([["yes", "no"]], {"confidences": [[0.9]]}),
        ([[]], {"jurors": ["a"]}),
        ([["yes"]], {"pass_labels": "yes"}),
    ],
)
def test_tables_that_do_not_fit_are_refused(rows, options):
    with pytest.raises(ConfigurationError, match=r"does not fit|is a list of labels, not 'yes'"):
        Votes.from_rows(rows, **options)


def test_unknown_voters_are_refused():
    votes = Votes.from_rows([["yes"]], jurors=["a"])
    with pytest.raises(ConfigurationError, match=r"'b' is no voter; the voters are a, the jury"):
        votes.said("b")


def test_an_empty_batch_is_no_error():
    for votes in (Votes.from_rows([]), Votes.of([])):
        assert (len(votes), votes.jurors, votes.codes.shape) == (0, (), (0, 1))


def test_the_label_in_the_metadata_is_read_from_pairs_and_judgments():
    cases = [Case(id=f"{at}", answer="x" * at, metadata={"human_label": at % 2 == 0}) for at in range(4)]
    pairs = [*judge(lambda case: len(case.answer) < 2).judge_pairs(cases)]
    results = [Result(jury="", case=case, judgment=one) for case, one in pairs]
    said = [Votes.of(entries).gold.tolist() for entries in (pairs, [one for _, one in pairs], results)]
    assert said == [[1, 0, 1, 0], [1, 0, 1, 0], [-1] * 4]
    assert "The jury against human labels" in [table.title for table in Report(pairs).tables()]
