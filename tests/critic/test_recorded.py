"""RecordedCritic: votes cast before, repeated without loss and without invention."""

import gzip
import json

import pytest
from support.identity import critic, status_of

from jury_adapters import Case, ConfigurationError, InputError, Status, Usage
from jury_adapters.critic.recorded import read_votes
from jury_adapters.replay import RecordedCritic, recorded_jury
from jury_adapters.report.entries import recorded_of

VOTES = {
    "1": {"gpt-4o": {"label": "valid", "confidence": 0.9}, "hhem": {"score": 0.7}},
    "2": {"gpt-4o": {"label": "invalid", "model": "gpt-4o-2024"}, "hhem": {"score": 0.2}, "rater": {"label": 4}},
    "3": {"gpt-4o": {"label": "tie", "reasoning": "both \ud800 ways"}, "rater": {"label": 2}},
}
VALID = {"valid": "pass", "invalid": "fail", "tie": "abstain"}


def votes_file(folder, rows=None, name="votes.jsonl.gz"):
    lines = rows or [json.dumps({"item_id": int(item), "votes": cast, "gold": "x"}) for item, cast in VOTES.items()]
    data = "\n".join(lines).encode()
    path = folder / name
    path.write_bytes(gzip.compress(data) if name.endswith(".gz") else data)
    return path


def case(item):
    return Case(metadata={"item_id": item})


def test_labels_have_a_meaning_and_the_label_stays():
    critic = RecordedCritic("gpt-4o", VOTES, labels=VALID)
    one, two = critic.judge(case(1)), critic.judge(case("2"))
    assert (one.status, one.label, one.confidence, one.score) == (Status.PASS, "valid", 0.9, None)
    assert (two.status, two.label) == (Status.FAIL, "invalid")


def test_without_labels_a_label_has_no_pass_or_fail_meaning():
    judgment = RecordedCritic("gpt-4o", VOTES).judge(case(1))
    assert (judgment.status, judgment.label, judgment.passed) == (None, "valid", None)


def test_a_label_that_abstains_is_no_vote():
    judgment = RecordedCritic("gpt-4o", VOTES, labels={"tie": "abstain"}).judge(case(3))
    assert (judgment.status, judgment.label) == (Status.ABSTAIN, None)
    assert "tie" in judgment.reasoning
    assert judgment.family == "openai"


def test_a_score_alone_passes_from_the_threshold_on():
    critic = RecordedCritic("hhem", VOTES)
    assert [critic.judge(case(i)).status for i in (1, 2)] == [Status.PASS, Status.FAIL]
    assert critic.judge(case(1)).score == 0.7
    assert RecordedCritic("hhem", VOTES, threshold=0.7).judge(case(1)).passed
    assert not RecordedCritic("hhem", VOTES, threshold=0.71).judge(case(1)).passed
    for threshold in (1.5, float("nan"), "high"):
        with pytest.raises(ConfigurationError, match="threshold"):
            RecordedCritic("hhem", VOTES, threshold=threshold)


@pytest.mark.parametrize("labels", [{2: "fail", 4: "pass"}, {"2": "fail", "4": "pass"}, {2: 0.25, 4: 0.75}])
def test_ratings_are_labels_whether_written_as_numbers_or_text(labels):
    critic = RecordedCritic("rater", VOTES, labels=labels)
    assert [critic.judge(case(i)).status for i in (2, 3)] == [Status.PASS, Status.FAIL]
    assert critic.judge(case(2)).label == "4"
    assert RecordedCritic("rater", VOTES, labels={"4": "abstain"}).judge(case(2)).status is Status.ABSTAIN


@pytest.mark.parametrize(
    "missing",
    [
        case(99),
        Case(question="no id"),
        Case(metadata={"item_id": None}),
        Case(metadata={"votes": VOTES["1"]}),
    ],
)
def test_a_missing_vote_abstains_and_says_whose(missing):
    judgment = RecordedCritic("gpt-4o", VOTES).judge(missing)
    assert judgment.status is Status.ABSTAIN
    assert "gpt-4o" in judgment.reasoning


@pytest.mark.parametrize("vote", [None, {}, {"label": None}, {"label": None, "score": None}, ["valid"]])
def test_a_vote_that_holds_nothing_abstains(vote):
    judgment = RecordedCritic("j").judge(metadata={"votes": {"j": vote}})
    assert judgment.status is Status.ABSTAIN


@pytest.mark.parametrize("bare", ["valid", 5])
def test_a_vote_may_be_the_bare_label(tmp_path, bare):
    assert RecordedCritic("j", labels={bare: "pass"}).judge(metadata={"votes": {"j": bare}}).passed
    rows = [json.dumps({"item_id": item, "votes": {"j": label}}) for item, label in enumerate([bare, "no", None])]
    critic = RecordedCritic("j", votes_file(tmp_path, rows), labels={bare: "pass", "no": "fail"})
    assert [critic.judge(case(item)).status for item in range(3)] == [Status.PASS, Status.FAIL, Status.ABSTAIN]
    assert critic.judge(case(1)).label == "no"
    with pytest.raises(ConfigurationError, match=rf"no meaning for '{bare}', which 'j' voted; add '{bare}': 'pass', "):
        RecordedCritic("j", votes_file(tmp_path, rows), labels={"vlaid": "pass", "no": "fail"})


def test_a_case_may_bring_its_own_votes_as_a_row_of_the_file_does():
    row = {"question": "q", "item_id": "1", "votes": VOTES["1"]}
    critic = RecordedCritic("gpt-4o", labels=VALID)
    assert critic.judge(Case.from_row(row)).passed
    assert critic.judge(Case.from_row({"question": "q"})).status is Status.ABSTAIN
    assert critic.judge(Case(metadata={"votes": "none"})).status is Status.ABSTAIN


@pytest.mark.parametrize("key", ["item_id", "id"])
@pytest.mark.parametrize("item", [1, "1"])
def test_votes_are_found_by_item_id_or_id_as_number_or_text(key, item):
    assert RecordedCritic("gpt-4o", VOTES).judge(Case(metadata={key: item})).label == "valid"


def test_item_id_is_asked_before_id():
    assert RecordedCritic("gpt-4o", VOTES).judge(Case(metadata={"id": 1, "item_id": 2})).label == "invalid"


def test_an_unknown_judge_is_refused_with_the_known_names():
    with pytest.raises(ConfigurationError, match="gpt-4o, hhem, rater"):
        RecordedCritic("gpt-5", VOTES)
    with pytest.raises(ConfigurationError, match="votes of no judge"):
        RecordedCritic("gpt-5", {})


@pytest.mark.parametrize(
    ("labels", "message"),
    [
        ("valid", "labels is a mapping such as"),
        (["valid"], "labels is a mapping such as"),
        ({}, "labels is a mapping such as"),
        ({"valid": "passes"}, "'valid': unknown meaning 'passes'. Did you mean 'pass'"),
        ({"valid": 2}, "'valid'"),
        ({"valid": "pass", "VALID": "fail"}, "two labels differ only in case"),
    ],
)
def test_labels_that_are_no_mapping_to_meanings_are_refused(labels, message):
    with pytest.raises(ConfigurationError, match=message):
        RecordedCritic("gpt-4o", VOTES, labels=labels)


@pytest.mark.parametrize("option", ["pass_labels", "abstain_labels"])
def test_the_former_options_are_answered_with_labels(option, tmp_path):
    with pytest.raises(ConfigurationError, match=rf"{option}= is called labels= here: RecordedCritic\('gpt-4o'"):
        RecordedCritic("gpt-4o", VOTES, **{option: ["valid"]})
    with pytest.raises(ConfigurationError, match=rf"{option}= is called labels= here: recorded_jury\("):
        recorded_jury(votes_file(tmp_path), **{option: ["valid"]})


def test_a_label_with_a_score_passes_from_the_middle_on():
    critic = RecordedCritic("j", labels={"good": 1, "fair": 0.5, "poor": 0.2})
    judgments = [critic.judge(metadata={"votes": {"j": label}}) for label in ("good", "fair", "poor")]
    assert [(j.status, j.score, j.label) for j in judgments] == [
        (Status.PASS, 1.0, "good"), (Status.PASS, 0.5, "fair"), (Status.FAIL, 0.2, "poor"),
    ]  # fmt: skip
    own = critic.judge(metadata={"votes": {"j": {"label": "poor", "score": 0.1}}})
    assert own.score == 0.1, "the recorded score counts"


def test_a_vote_of_a_case_with_a_label_without_a_meaning_abstains():
    judgment = RecordedCritic("j", labels=VALID).judge(metadata={"votes": {"j": "unclear"}})
    assert (judgment.status, judgment.reasoning) == (
        Status.ABSTAIN,
        "recorded: unclear, which has no meaning in labels=",
    )
    neutral = RecordedCritic("j", labels={"tie": "abstain"}).judge(metadata={"votes": {"j": "A"}})
    assert (neutral.status, neutral.label) == (None, "A")


def test_all_labels_of_a_file_need_a_meaning_if_one_passes():
    with pytest.raises(
        ConfigurationError, match="no meaning for 'tie', which 'gpt-4o' voted; add 'tie': 'pass', 'fail'"
    ):
        RecordedCritic("gpt-4o", VOTES, labels={"valid": "pass", "invalid": "fail"})
    assert RecordedCritic("gpt-4o", VOTES, labels={"tie": "abstain"}).judge(case(1)).status is None


def test_the_model_is_the_recorded_one_or_the_judge_and_its_family_is_known():
    critic = RecordedCritic("gpt-4o", VOTES, name="juror", cost=0.5)
    assert (critic.judge(case(1)).model, critic.judge(case(2)).model) == ("gpt-4o", "gpt-4o-2024")
    assert critic.judge(case(1)).family == "openai"
    assert critic.judge(case(1)).critic == "juror"
    assert critic.cost == 0.5
    paid_before = Usage(recorded=Usage(calls=1, cost_usd=0.5))
    assert [critic.judge(case(i)).usage for i in (1, 99)] == [paid_before, Usage()]
    assert RecordedCritic("gpt-4o", VOTES).judge(case(1)).usage == Usage()
    assert critic.judge(case(3)).reasoning == "both \ufffd ways"


@pytest.mark.parametrize(
    "vote", [{"score": 3}, {"score": "0.5"}, {"label": "x", "confidence": 7}, {"label": "x", "reasoning": 5}]
)
def test_a_vote_with_unusable_numbers_is_an_error_not_a_guess(vote):
    assert RecordedCritic("j", {"1": {"j": vote}}).judge(case(1)).status is Status.ERROR


def test_votes_are_read_from_a_file(tmp_path):
    path = votes_file(tmp_path)
    assert read_votes(path) == json.loads(json.dumps(VOTES))
    assert RecordedCritic("gpt-4o", path, labels=VALID).judge(case(1)).passed
    assert RecordedCritic("gpt-4o", str(path), labels=VALID).judge(case(2)).status is Status.FAIL


@pytest.mark.parametrize(
    "bad",
    ["not json", '{"item_id": 1}', '{"votes": {}}', '{"item_id": null, "votes": {}}', '{"item_id": 1, "votes": []}'],
)
def test_an_unusable_row_of_a_file_is_refused_with_its_line(tmp_path, bad):
    good = json.dumps({"item_id": 1, "votes": {}})
    with pytest.raises(InputError, match=r"votes\.jsonl, line 2"):
        read_votes(votes_file(tmp_path, [good, bad, good], "votes.jsonl"))
    with pytest.raises(InputError, match=r"missing\.jsonl"):
        RecordedCritic("gpt-4o", tmp_path / "missing.jsonl")


def test_a_recorded_jury_seats_every_judge_of_the_file_by_name(tmp_path):
    jury = recorded_jury(votes_file(tmp_path), labels={**VALID, 4: "pass", 2: "fail"})
    assert jury.names == ("gpt-4o", "hhem", "rater")
    verdict = jury.judge(case(2))
    assert [j.status for j in verdict.judgments] == ["FAIL", "FAIL", "PASS"]
    assert verdict.status is Status.FAIL
    assert jury.judge(case(1)).by_name["rater"].status is Status.ABSTAIN


def test_a_recorded_jury_takes_chosen_judges_in_order_and_the_options_of_an_ensemble(tmp_path):
    path = votes_file(tmp_path)
    jury = recorded_jury(path, ["hhem", "gpt-4o"], voting="average", threshold=0.9, labels={"tie": "abstain"})
    assert jury.names == ("hhem", "gpt-4o")
    assert jury.judge(case(3)).status is Status.ABSTAIN
    with pytest.raises(ConfigurationError, match="gpt-5"):
        recorded_jury(path, ["gpt-5"])


def test_a_recorded_jury_never_needs_a_loop(tmp_path):
    jury = recorded_jury(votes_file(tmp_path))
    assert jury.inline
    assert len(list(jury.judge_many([case(i) for i in (1, 2, 3)]))) == 3


def test_critics_of_two_servers_in_one_store_keep_their_names_apart(two_servers, tmp_path):
    store = tmp_path / "runs.db"
    for server in two_servers:
        status_of(critic("judge-1", base_url=server.openai), store)
    status_of(critic("judge-2", base_url=two_servers[0].openai), store)
    (votes,) = read_votes(store).values()
    alone, *both = sorted(votes, key=len)
    assert alone == "faithfulness judge-2"
    assert [name.partition("@")[0] for name in both] == ["faithfulness judge-1"] * 2
    assert sorted(votes[name]["label"] for name in both) == ["NO", "YES"]
    (entry,) = recorded_of(store)
    assert sorted(entry.judgment.by_name) == sorted(votes)
    assert entry.judgment.passed


@pytest.mark.parametrize("words", [("PASS", "FAIL"), ("pass", "Fail")])
@pytest.mark.parametrize("own", [True, False])
def test_the_words_pass_and_fail_mean_what_they_say(words, own):
    cast = {str(at): {"u": word} for at, word in enumerate(words)}
    judges = [RecordedCritic("u") for _ in words] if own else [RecordedCritic("u", cast)] * 2
    cases = [{"votes": votes} if own else {"item_id": item} for item, votes in cast.items()]
    found = [judge.judge(metadata=case) for judge, case in zip(judges, cases, strict=True)]
    assert [one.status for one in found] == [Status.PASS, Status.FAIL]
    assert [one.label for one in found] == [*words]


def test_a_split_of_pass_and_fail_is_decided_by_a_unanimous_jury(tmp_path):
    rows = [{"item_id": str(at), "votes": {"u": "PASS", "w": said}} for at, said in enumerate(("PASS", "FAIL"))]
    path = tmp_path / "votes.jsonl"
    path.write_text("".join(json.dumps(row) + "\n" for row in rows))
    jury = recorded_jury(path, voting="unanimous")
    plain = recorded_jury(path, labels={"PASS": "pass", "FAIL": "fail"}, voting="unanimous")
    found = [[one.judge(metadata={"item_id": item}).status for item in "01"] for one in (jury, plain)]
    assert found[0] == found[1]
    assert Status.PASS in found[0]


def test_pass_beside_other_words_is_a_label_like_these():
    votes = {"1": {"u": "pass"}, "2": {"u": "merit"}, "3": {"u": "fail"}}
    assert RecordedCritic("u", votes).judge(metadata={"item_id": "1"}).status is None
    assert RecordedCritic("u", votes, labels={"merit": "abstain"}).judge(metadata={"item_id": "1"}).status is None


@pytest.mark.parametrize("vote", ["ABSTAIN", "ERROR", "", " ", {"label": "ABSTAIN"}, {"label": ""}])
@pytest.mark.parametrize("own", [True, False])
@pytest.mark.parametrize("said", ["PASS", "better"])
def test_a_recorded_word_for_no_opinion_is_not_an_opinion(vote, own, said):
    votes = {"1": {"ann": said}, "2": {"ann": vote}}
    judge = RecordedCritic("ann", None if own else votes)
    first, second = (judge.judge(metadata={"item_id": item, "votes": votes[item]}) for item in votes)
    assert (first.status, first.label) == ("PASS" if said == "PASS" else None, said)
    assert (second.status, second.label) == ("ABSTAIN", None)
    assert second.reasoning.startswith("recorded: ")


def test_a_label_with_a_given_meaning_has_it_whatever_the_word():
    judge = RecordedCritic("ann", labels={"ERROR": "fail", "OK": "pass"})
    assert judge.judge(metadata={"votes": {"ann": "ERROR"}}).status == "FAIL"


@pytest.mark.parametrize("own", [True, False])
@pytest.mark.parametrize(
    ("labels", "expected"), [(None, [("PASS", "PASS"), ("FAIL", "FAIL")]), ({True: "fail", False: "pass"}, None)]
)
def test_true_is_a_pass_unless_it_has_another_meaning(own, labels, expected):
    votes = {"1": {"ann": True}, "2": {"ann": {"label": False}}}
    judge = RecordedCritic("ann", None if own else votes, labels=labels)
    judged = [judge.judge(metadata={"item_id": item, "votes": cast}) for item, cast in votes.items()]
    assert [(one.status, one.label) for one in judged] == (expected or [("FAIL", "True"), ("PASS", "False")])


@pytest.mark.parametrize("votes", ["{'ann': 'PASS'}", ["PASS"], 3])
def test_votes_that_are_not_an_object_are_said_to_be_why_there_is_none(votes):
    said = RecordedCritic("ann").judge(answer="x", metadata={"votes": votes})
    assert said.status is Status.ABSTAIN
    assert 'are not an object of votes by judge, as in {"ann": "PASS"}' in said.reasoning
    missing = RecordedCritic("ann").judge(answer="x", metadata={"votes": {"bob": "PASS"}})
    assert "no vote of ann is recorded for this case" in missing.reasoning
