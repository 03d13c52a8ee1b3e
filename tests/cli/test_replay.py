"""``jury replay``: juries over votes that are on record."""

import json
from importlib.resources import files

import pytest
from typer.testing import CliRunner

from jury_adapters import Case, Critic, Ensemble, Judge, Judgment, Scorecard
from jury_adapters.cli.app import app
from jury_adapters.core.statistics import paired_interval
from jury_adapters.replay import recorded_jury

VOTES = files("jury_adapters.cli") / "data" / "codefeedback_200.jsonl.gz"
SMALL = ("gpt-4o-mini", "gemini-1.5-flash", "claude_3.5_haiku")


def juror(name, cost):
    return f"{{recorded: {name}, labels: {{valid: pass, invalid: fail}}, cost: {cost}}}"


@pytest.fixture
def juries(tmp_path):
    panel = ", ".join(juror(name, 0.0003) for name in SMALL)
    large = juror("gemini-2.5-pro", 0.006)
    (tmp_path / "panel.yaml").write_text(f"name: panel\njurors: [{panel}]\n")
    (tmp_path / "early_stop.yaml").write_text(f"schedule: early_stop\njurors: [{panel}]\n")
    (tmp_path / "cascade.yaml").write_text(
        "name: cascade\ntiers:\n"
        f"  - {{name: small, policy: escalate_on_split, judge: {{min_votes: 2, jurors: [{panel}]}}}}\n"
        f"  - {{name: large, judge: {large}}}\n"
    )
    return tmp_path


def replay(votes, *options):
    return CliRunner().invoke(app, ["replay", str(votes), *map(str, options)], catch_exceptions=False)


def jury_of(told):
    return told["label_comparison"]["jury"]


def labelled(told):
    return (told["label_comparison"] or {"labelled_cases": 0})["labelled_cases"]


@pytest.mark.slow
def test_juries_are_compared_with_people_and_with_each_other(juries):
    options = [part for name in ("panel", "early_stop", "cascade") for part in ("--jury", juries / f"{name}.yaml")]
    result = replay(VOTES, *options, "--pass-label", "valid", "--json")
    assert result.exit_code == 0, result.output
    panel, early, cascade = json.loads(result.stdout)
    assert [one["jury"] for one in (panel, early, cascade)] == ["panel", "early_stop", "cascade"]
    assert all(panel[figure] == early[figure] for figure in ("decided", "passed"))  # the same verdicts, fewer calls
    assert jury_of(panel) == jury_of(early)
    assert early["calls"] < panel["calls"] <= early["calls"] + early["calls_saved"]  # who has no vote is no call
    assert jury_of(cascade)["balanced_accuracy"] > jury_of(panel)["balanced_accuracy"]
    assert panel["cost_usd"] == pytest.approx(panel["calls"] * 0.0003)
    table = replay(VOTES, *options, "--pass-label", "valid", "--limit", 50)
    assert "50 cases of codefeedback_200.jsonl.gz, replayed" in table.stdout
    assert "cascade" in table.stdout
    costs = [line.split()[-1] for line in table.stdout.splitlines() if line.startswith((" panel ", " early_stop "))]
    assert [len(cost) for cost in costs[-2:]] == [len("$0.0450")] * 2


def test_a_gold_label_that_could_mean_either_is_asked_about(juries):
    rows = [{"item_id": n, "votes": {"m": {"label": "PASS"}}, "gold": label} for n, label in enumerate(["good", "bad"])]
    (juries / "votes.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows))
    (juries / "one.yaml").write_text("jurors: [{recorded: m}]\n")
    result = replay(juries / "votes.jsonl", "--jury", juries / "one.yaml")
    assert result.exit_code == 2
    assert "human labels are bad 1, good 1, and the jury says PASS and FAIL" in result.stderr
    assert "--pass-label LABEL" in result.stderr
    assert replay(juries / "votes.jsonl", "--jury", juries / "one.yaml", "--pass-label", "good").exit_code == 0


@pytest.mark.slow
def test_what_passes_is_learned_from_jurors_that_say_it(juries):
    options = ("--jury", juries / "panel.yaml", "--json")
    (learned,), (named,) = (
        json.loads(replay(VOTES, *options, *more).stdout) for more in ([], ["--pass-label", "valid"])
    )
    assert learned == named
    misspelt = replay(VOTES, "--jury", juries / "panel.yaml", "--pass-label", "vaild")
    assert misspelt.exit_code == 2
    assert "no labelled case has the label 'vaild' (did you mean 'valid'?)" in misspelt.stderr


def test_files_without_votes_or_rows_are_refused(juries):
    (juries / "plain.jsonl").write_text('{"answer": "x"}\n')
    (juries / "empty.jsonl").write_text("")
    for name, said in (("plain", "no row has recorded votes"), ("empty", "the file is empty"), ("no", "no.jsonl")):
        result = replay(juries / f"{name}.jsonl", "--jury", juries / "panel.yaml")
        assert result.exit_code == 2
        assert said in result.stderr
    assert replay(juries / "no.db", "--jury", juries / "panel.yaml").exit_code == 2
    assert not (juries / "no.db").exists()


def test_bare_labels_are_votes(juries):
    rows = [{"item_id": n, "votes": {"gpt": label}, "gold": label} for n, label in enumerate(["valid", "invalid"])]
    (juries / "bare.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows))
    (juries / "one.yaml").write_text("jurors: [{recorded: gpt, labels: {valid: pass, invalid: fail}}]\n")
    options = ["--jury", juries / "one.yaml", "--pass-label", "valid", "--json"]
    (result,) = json.loads(replay(juries / "bare.jsonl", *options).stdout)
    assert (result["decided"], result["passed"], jury_of(result)["accuracy"]) == (2, 1, 1.0)
    assert "1 case of bare.jsonl, replayed" in replay(juries / "bare.jsonl", *options[:-1], "--limit", 1).stdout


@pytest.fixture
def judged(juries):
    """Output of `jury judge --out` for three cases, and the jury: votes of two to one, then of all, then of none."""
    rows = [
        {"id": "a", "answer": "the ferry sails", "gold": "fail"},
        {"answer": "ferry", "gold": "pass"},
        {"id": "c", "question": "no answer", "gold": "pass"},
    ]
    (juries / "cases.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows))
    checks = "{check: contains, texts: [ferry]}, {check: not_empty, name: there}, {check: length_between, maximum: 8}"
    (juries / "judge.yaml").write_text(f"jurors: [{checks}]\n")
    made = ["judge", juries / "cases.jsonl", "--jury", juries / "judge.yaml", "--out", juries / "r.jsonl"]
    assert CliRunner().invoke(app, [str(one) for one in made], catch_exceptions=False).exit_code == 0
    names = ", ".join(f"{{recorded: {name}}}" for name in ("Contains", "there", "LengthBetween"))
    for voting in ("majority", "unanimous"):
        (juries / f"{voting}.yaml").write_text(f"voting: {voting}\njurors: [{names}]\n")
    return juries


def test_what_judge_wrote_is_replayed_by_juror_under_another_rule(judged):
    options = ["--jury", judged / "majority.yaml", "--jury", judged / "unanimous.yaml", "--json"]
    replayed = replay(judged / "r.jsonl", *options)
    assert replayed.exit_code == 0, replayed.output
    majority, unanimous = json.loads(replayed.stdout)
    before = [json.loads(line)["verdict"] for line in (judged / "r.jsonl").read_text().splitlines()]
    assert (majority["cases"], majority["passed"]) == (3, sum(one["status"] == "PASS" for one in before))
    assert (labelled(majority), majority["passed"], unanimous["passed"]) == (3, 2, 1)
    assert jury_of(unanimous)["accuracy"] > jury_of(majority)["accuracy"]  # the gold labels stand in the file of cases
    assert "1 case of r.jsonl, replayed" in replay(judged / "r.jsonl", *options[:2], "--limit", 1).stdout


def test_results_whose_cases_are_gone_are_replayed_with_the_labels_that_they_hold(judged):
    (judged / "cases.jsonl").unlink()
    (result,) = json.loads(replay(judged / "r.jsonl", "--jury", judged / "unanimous.yaml", "--json").stdout)
    assert (result["cases"], result["passed"], labelled(result)) == (3, 1, 3)


def test_a_recorded_juror_without_votes_is_refused_with_the_names_that_have_some(judged):
    result = replay(judged / "r.jsonl", "--jury", judged / "panel.yaml")
    assert result.exit_code == 2
    told = " ".join(result.stderr.split())
    assert "r.jsonl holds no votes of 'gpt-4o-mini'" in told
    assert "it holds votes of Contains, there, LengthBetween." in told


def test_a_misspelt_recorded_juror_beside_others_is_refused_with_the_nearest_name(judged):
    (judged / "typo.yaml").write_text("voting: unanimous\njurors: [{recorded: there}, {recorded: Contain, name: c}]\n")
    result = replay(judged / "r.jsonl", "--jury", judged / "typo.yaml")
    assert (result.exit_code, result.stdout) == (2, "")
    told = " ".join(result.stderr.split())
    assert "holds no votes of 'Contain'" in told
    assert "Did you mean 'Contains'?" in told


def test_a_recorded_name_in_other_letters_is_answered_with_the_name_that_has_votes(tmp_path):
    votes, jury = tmp_path / "votes.jsonl", tmp_path / "jury.yaml"
    votes.write_text('{"question": "q", "answer": "a", "votes": {"GPT-4o": "pass", "haiku": "pass"}}\n')
    jury.write_text("jurors: [{recorded: gpt-4O}]\n")
    result = CliRunner().invoke(app, ["replay", str(votes), "--jury", str(jury)])
    assert result.exit_code == 2
    assert "Did you mean 'GPT-4o'?" in " ".join(result.output.split())


def test_a_recorded_juror_that_was_never_asked_needs_no_votes(judged):
    (judged / "unasked.yaml").write_text(
        "tiers:\n"
        "  - {name: first, policy: reject_on_any_fail, judge: {recorded: LengthBetween}}\n"
        "  - {name: second, policy: accept_on_all_pass, judge: {recorded: there}}\n"
        "  - {name: last, judge: {recorded: nobody}}\n"
    )
    (judged / "first.jsonl").write_text((judged / "r.jsonl").read_text().splitlines()[0] + "\n")
    result = replay(judged / "first.jsonl", "--jury", judged / "unasked.yaml")
    assert (result.exit_code, result.stderr) == (0, "")


def test_a_recorded_juror_that_lacks_some_votes_is_named(judged):
    rows = [{"item_id": n, "votes": {"a": "PASS", **({"b": "FAIL"} if n else {})}} for n in range(3)]
    (judged / "votes.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows))
    labels = "labels: {PASS: pass, FAIL: fail}"
    (judged / "two.yaml").write_text(f"jurors: [{{recorded: a, {labels}}}, {{recorded: b, {labels}}}]\n")
    (judged / "one.yaml").write_text(f"jurors: [{{recorded: a, {labels}}}]\n")
    result = replay(judged / "votes.jsonl", "--jury", judged / "two.yaml")
    assert result.exit_code == 0
    assert result.stderr.strip() == "without a recorded vote, and abstained: b for 1 case"
    first = replay(judged / "votes.jsonl", "--jury", judged / "two.yaml", "--limit", 1)
    assert first.exit_code == 2
    assert "votes.jsonl, read up to row 1, holds no votes of 'b'" in " ".join(first.stderr.split())
    several = replay(judged / "votes.jsonl", "--jury", judged / "two.yaml", "--jury", judged / "one.yaml")
    assert several.stderr.strip() == "two: without a recorded vote, and abstained: b for 1 case"
    (judged / "other.jsonl").write_text(json.dumps({"item_id": 9, "votes": {"a": "PASS"}}) + "\n")
    (judged / "other.yaml").write_text(f"jurors: [{{recorded: a, votes: other.jsonl, {labels}}}]\n")
    result = replay(judged / "votes.jsonl", "--jury", judged / "other.yaml")
    assert result.exit_code == 2
    assert "the votes of 'a' are of other cases than those of" in " ".join(result.stderr.split())


def test_results_without_votes_of_jurors_are_refused_with_what_to_give(judged):
    rows = [{"line": 1, "item_id": None, "key": None, "cases": "", "verdict": Judgment("PASS").to_dict()}]
    (judged / "bare.jsonl").write_text(json.dumps(rows[0]) + "\n")
    result = replay(judged / "bare.jsonl", "--jury", judged / "panel.yaml")
    assert result.exit_code == 2
    told = " ".join(result.stderr.split())
    assert "its verdicts hold no votes of jurors; judge with `jury judge --store runs.db`, and replay runs.db" in told


def test_what_a_store_holds_is_replayed_under_another_rule(juries, server):
    models = ("gpt-4o-mini", "gpt-4.1-mini", "gpt-4.1-nano")
    critics = [
        Critic(f"openai:{name}", "faithfulness", name=name, base_url=server.openai, api_key="k") for name in models
    ]
    cases = [
        Case(question="q", answer=f"number {number} TRUTH={'YES' if number % 3 else 'NO'}", contexts=["c"])
        for number in range(6)
    ]
    store = juries / "runs.db"
    paid = list(Ensemble(critics, voting="unanimous").judge_many(cases, store=store))
    asked = len(server.asks)
    again = list(recorded_jury(store, models).judge_many(cases))
    assert [verdict.status for verdict in again] == [verdict.status for verdict in paid]
    assert [one.reasoning for one in again[0].judgments] == [one.reasoning for one in paid[0].judgments]
    (juries / "store.yaml").write_text("jurors: [" + ", ".join(f"{{recorded: {name}}}" for name in models) + "]\n")
    (result,) = json.loads(replay(store, "--jury", juries / "store.yaml", "--json").stdout)
    assert (result["cases"], result["passed"], labelled(result)) == (6, 4, 0)
    assert len(server.asks) == asked
    assert "No case has a human label" in replay(store, "--jury", juries / "store.yaml").stdout


def test_one_model_with_two_rubrics_is_two_jurors(juries, server):
    rubrics = ("faithfulness", "answer_relevance")
    critics = [
        Critic("openai:gpt-4o-mini", rubric, name=rubric, base_url=server.openai, api_key="k") for rubric in rubrics
    ]
    case = Case(question="q", answer="TRUTH=YES", contexts=["c"])
    list(Scorecard({critic.name: critic for critic in critics}).judge_many([case], store=juries / "runs.db"))
    again = recorded_jury(juries / "runs.db").judge(case)
    assert sorted(again.by_name) == sorted(rubrics)


def test_a_jury_of_labels_that_is_undecided_at_times_is_compared_in_its_labels(tmp_path):
    rows = [
        {"item_id": "a", "gold": "DROP", "votes": {"m": {"label": "DROP"}}},
        {"item_id": "b", "gold": "KEEP", "votes": {"m": {"label": "DROP"}}},
        {"item_id": "c", "gold": "KEEP", "votes": {}},
    ]
    (tmp_path / "votes.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows))
    (tmp_path / "jury.yaml").write_text("jurors: [{recorded: m}]\n")
    replayed = replay(tmp_path / "votes.jsonl", "--jury", tmp_path / "jury.yaml", "--json")
    assert replayed.exit_code == 0, replayed.output
    (result,) = json.loads(replayed.stdout)
    assert (labelled(result), result["decided"], jury_of(result)["accuracy"]) == (3, 2, 0.5)


def test_accuracy_is_that_of_the_decided_and_copies_count_once(tmp_path):
    said = [("valid", "valid"), ("valid", "valid"), ("valid", "invalid"), ("invalid", "invalid"), ("invalid", None)]
    rows = [
        {"item_id": f"{n}", "gold": gold, "votes": {"m": {"label": vote}} if vote else {}}
        for n, (gold, vote) in enumerate(said)
    ]
    (tmp_path / "jury.yaml").write_text("name: one\njurors: [{recorded: m, labels: {valid: pass, invalid: fail}}]\n")
    options = ("--jury", tmp_path / "jury.yaml", "--pass-label", "valid")
    for times in (1, 5):
        (tmp_path / "votes.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows) * times)
        (found,) = json.loads(replay(tmp_path / "votes.jsonl", *options, "--json").stdout)
        # Accuracy, balanced accuracy and kappa of the four decided as scikit-learn 1.x computes them.
        one = jury_of(found)
        assert (one["coverage"], one["accuracy"], one["kappa"]) == (0.8, 0.75, 0.5)
        assert one["balanced_accuracy"] == pytest.approx(5 / 6)
        assert one["accuracy_interval"] == pytest.approx([0.300642, 0.954413], abs=1e-5)
        assert (labelled(found), found["label_comparison"]["merged"]) == (5, 5 * (times - 1))
        table = replay(tmp_path / "votes.jsonl", *options).stdout
        assert "the jury 80.0 % 75.0 % 83.3 % 0.50 0/1 0.0 % 1/3 33.3 % 4/5 30.1-95.4" in " ".join(table.split())
        assert ("(20 copies left out)" in table) is (times == 5)
    rows.append({**rows[0], "gold": "invalid"})
    (tmp_path / "votes.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows))
    refused = replay(tmp_path / "votes.jsonl", *options)
    assert (refused.exit_code, "item '0' has the labels valid (case 1) and invalid (case 6)" in refused.stderr) == (
        2,
        True,
    )


def test_juries_of_one_name_are_told_apart_by_their_files(juries):
    (juries / "calibrated.yaml").write_text((juries / "panel.yaml").read_text())
    options = [
        "--jury",
        juries / "panel.yaml",
        "--jury",
        juries / "calibrated.yaml",
        "--jury",
        juries / "early_stop.yaml",
    ]
    told = json.loads(replay(VOTES, *options, "--pass-label", "valid", "--limit", 5, "--json").stdout)
    assert [one["jury"] for one in told] == ["panel (panel.yaml)", "panel (calibrated.yaml)", "early_stop"]


@pytest.mark.parametrize("named", [True, False])
def test_gold_comes_from_a_file_of_labels(tmp_path, named):
    rows = [{"answer": f"It was {2017 + n}."} | ({"id": f"c{n}"} if named else {}) for n in range(3)]
    cases, results, labels = (tmp_path / f"{name}.jsonl" for name in ("cases", "results", "labels"))
    cases.write_text("".join(json.dumps(row) + "\n" for row in rows))
    checks = "{check: contains, name: year, texts: ['2018']}"
    (tmp_path / "jury.yaml").write_text(f"jurors: [{checks}, {{check: not_empty}}]\nvoting: unanimous\n")
    run = CliRunner()
    judged = run.invoke(app, ["judge", str(cases), "--jury", str(tmp_path / "jury.yaml"), "--out", str(results)])
    assert judged.exit_code == 0, judged.output
    asked = ["review", str(results), "--by", "ann", "--only", "all", "--limit", "2"]
    assert run.invoke(app, asked, input="p\nf\n").exit_code == 0
    (tmp_path / "one.yaml").write_text("jurors: [{recorded: year}]\n")
    plain = replay(results, "--jury", tmp_path / "one.yaml")
    assert "see --labels" in plain.stdout
    (told,) = json.loads(replay(results, "--jury", tmp_path / "one.yaml", "--labels", labels, "--json").stdout)
    said = {
        (row.get("id") or row["review"]["line"]): row["gold"]
        for row in map(json.loads, labels.read_text().splitlines())
    }
    right = "c1" if named else 2
    assert labelled(told) == 2
    assert jury_of(told)["accuracy"] == sum((key == right) == (gold == "PASS") for key, gold in said.items()) / 2
    refused = replay(results, "--jury", tmp_path / "one.yaml", "--labels", tmp_path / "no.jsonl")
    assert (refused.exit_code, "no.jsonl" in refused.stderr) == (2, True)


def test_recorded_votes_take_labels_but_no_cases(juries, tmp_path):
    (tmp_path / "cases.jsonl").write_text('{"answer": "x", "gold": "PASS"}\n')
    result = replay(VOTES, "--jury", juries / "panel.yaml", "--cases", tmp_path / "cases.jsonl")
    assert result.exit_code == 2
    assert "cases.jsonl: recorded votes take no --cases; give human labels as --labels" in result.stderr


@pytest.mark.parametrize(
    "verdict", [3, {"critic": []}, {"judgments": 3}, {"judgments": [3]}, {"tiers": [{}]}, {"kind": {}}, {"status": []}]
)
def test_a_line_without_a_verdict_is_named(tmp_path, verdict):
    good = Ensemble([Judge.from_function(lambda case: True, name="a")]).judge("?").to_dict()
    rows = [{"line": at, "item_id": f"q{at}", "verdict": one} for at, one in enumerate((good, verdict, good), start=1)]
    (tmp_path / "results.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows))
    (tmp_path / "jury.yaml").write_text("jurors: [{recorded: a}]\n")
    result = replay(tmp_path / "results.jsonl", "--jury", tmp_path / "jury.yaml")
    assert result.exit_code == 2
    assert "results.jsonl, line 2: " in result.stderr


@pytest.mark.slow
def test_more_results_than_are_read_at_once_and_the_same_jury_twice(tmp_path):
    verdict = Ensemble([Judge.from_function(lambda case: True, name=name) for name in "ab"]).judge("?").to_dict()
    rows = [{"line": at, "item_id": f"q{at}", "key": f"{at:064x}", "verdict": verdict} for at in range(1, 2_003)]
    (tmp_path / "results.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows))
    (tmp_path / "jury.yaml").write_text("jurors: [{recorded: a}, {recorded: b}]\n")
    options = ("--jury", tmp_path / "jury.yaml")
    told = json.loads(replay(tmp_path / "results.jsonl", *options, *options, "--json").stdout)
    assert [(one["cases"], one["decided"], one["passed"]) for one in told] == [(2_002, 2_002, 2_002)] * 2


def test_recorded_votes_are_not_calls_of_a_run_that_judges_with_them(juries):
    votes = {name: {"label": "valid"} for name in SMALL}
    rows = [{"item_id": str(number), "answer": f"text {number}", "votes": votes} for number in range(4)]
    (juries / "votes.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows))
    arguments = ["judge", str(juries / "votes.jsonl"), "--jury", str(juries / "panel.yaml")]
    shown = CliRunner().invoke(app, arguments, catch_exceptions=False).stdout
    assert "model calls      0, $0.00; on record 12, $0.0036" in shown
    told = json.loads(CliRunner().invoke(app, [*arguments, "--json"], catch_exceptions=False).stdout)
    assert (told["calls"], told["cost_usd"], told["recorded"]["calls"]) == (0, 0.0, 12)
    (replayed,) = json.loads(replay(juries / "votes.jsonl", "--jury", juries / "panel.yaml", "--json").stdout)
    assert (replayed["calls"], replayed["cost_usd"]) == (12, pytest.approx(0.0036))


def two_juries(folder, groups=1, more=3):
    """70 labelled cases: `plain` is right on 53, and `veto` on some more; ten cases have no label."""
    (folder / "plain.yaml").write_text("jurors: [{recorded: plain}]\n")
    (folder / "veto.yaml").write_text("jurors: [{recorded: veto}]\n")
    said = {True: "PASS", False: "FAIL"}
    rows = []
    for at in range(80):
        good = at % 2 == 0
        plain, veto = (good == (at < right) for right in (53, 53 + more))
        votes = {"plain": {"label": said[plain]}, "veto": {"label": said[veto]}}
        rows.append({"item_id": at, "votes": votes, "doc": at // groups, **({"gold": said[good]} if at < 70 else {})})
    (folder / "votes.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows))
    return folder / "votes.jsonl", "--jury", folder / "plain.yaml", "--jury", folder / "veto.yaml"


def test_two_juries_are_compared_on_the_same_labelled_cases(tmp_path):
    """Reference values: Newcombe's method 10 for 53, 0, 3, 14 and McNemar's exact test, 2 / 2^3."""
    first, second = json.loads(replay(*two_juries(tmp_path), "--json").stdout)
    assert first["minus_first"] is None
    found = second["minus_first"]
    assert found["p_value"] == pytest.approx(0.25)
    assert (found["jury"], found["cases"], found["agrees_more"]) == ("plain", 70, None)
    assert found["difference"] == pytest.approx(3 / 70)
    assert found["interval"] == pytest.approx(paired_interval(53, 0, 3, 14))
    text = " ".join(replay(*two_juries(tmp_path)).stdout.split())
    assert (
        "veto agrees with human labels on 56 of the 70 labelled cases that both decide, plain on 53: no difference is "
        "shown (+4.3 points, 95 % interval "
    ) in text
    assert "exact McNemar test, p = 0.250)." in text


def test_a_jury_that_agrees_more_is_called_so_and_groups_count_once(tmp_path):
    text = " ".join(replay(*two_juries(tmp_path, more=17)).stdout.split())
    assert (
        "veto agrees with human labels on 70 of the 70 labelled cases that both decide, plain on 53: it agrees more"
        in text
    )
    grouped = json.loads(replay(*two_juries(tmp_path, 10, more=17), "--group", "doc", "--json").stdout)[1][
        "minus_first"
    ]
    assert (grouped["groups"], grouped["agrees_more"]) == (7, None)  # the cases that differ are of two documents


def test_one_jury_or_no_label_has_no_difference(tmp_path):
    votes, *juries = two_juries(tmp_path)
    assert "that both decide" not in replay(votes, *juries[:2]).stdout
    votes.write_text(votes.read_text().splitlines(keepends=True)[75])
    assert "that both decide" not in replay(votes, *juries).stdout


def test_votes_of_unknown_cost_are_calls_as_priced_ones_are(juries):
    names = [*SMALL, "gemini-2.5-pro"]
    split = [{**dict.fromkeys(names, "valid"), **({SMALL[0]: "invalid"} if n % 3 == 0 else {})} for n in range(12)]
    rows = [{"item_id": str(n), "answer": f"text {n}", "votes": votes} for n, votes in enumerate(split)]
    (juries / "votes.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows))
    priced, free = {}, {}
    for name in ("panel", "early_stop", "cascade"):
        text = (juries / f"{name}.yaml").read_text()
        (juries / f"free_{name}.yaml").write_text(text.replace(", cost: 0.0003", "").replace(", cost: 0.006", ""))
        (juries / f"half_{name}.yaml").write_text(text.replace(", cost: 0.0003", ""))
        (priced[name],) = json.loads(replay(juries / "votes.jsonl", "--jury", juries / f"{name}.yaml", "--json").stdout)
        told = replay(juries / "votes.jsonl", "--jury", juries / f"free_{name}.yaml", "--json")
        (free[name],) = json.loads(told.stdout)
    assert [one["calls"] for one in priced.values()] == [36, 24 + 4, 36 + 4]
    assert free["panel"]["calls"] == 36
    assert free["cascade"]["calls"] == 40
    assert [one["cost_complete"] for one in (*priced.values(), *free.values())] == [True] * 3 + [False] * 3
    options = [part for kind in ("", "free_", "half_") for part in ("--jury", juries / f"{kind}cascade.yaml")]
    shown = replay(juries / "votes.jsonl", *options).stdout
    assert "unknown cost" in shown
    assert "or more" in shown


def test_the_votes_of_a_panel_without_names_are_replayed(tmp_path):
    verdict = {
        "kind": "verdict",
        "status": "PASS",
        "judgments": [{"status": "PASS"}],
        "case_metadata": {"gold": "PASS"},
    }
    (tmp_path / "r.jsonl").write_text(json.dumps({"verdict": verdict}) + "\n")
    (tmp_path / "j.yaml").write_text("jurors: [{recorded: (the jury itself)}]\n")
    result = CliRunner().invoke(
        app, ["replay", str(tmp_path / "r.jsonl"), "--jury", str(tmp_path / "j.yaml"), "--json"]
    )
    assert result.exit_code == 0, result.output
    assert json.loads(result.stdout)[0]["passed"] == 1


def test_a_failed_vote_in_the_first_verdict_does_not_hide_the_juror(tmp_path):
    votes = [{"status": "FAIL", "critic": "a", "metadata": {"run_error": "down"}}, {"status": "PASS", "critic": "a"}]
    inner = [{"kind": "verdict", "status": "PASS", "critic": "inner", "judgments": [vote]} for vote in votes]
    rows = [{"verdict": {"kind": "verdict", "status": "PASS", "judgments": [one]}} for one in inner]
    (tmp_path / "r.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows))
    (tmp_path / "j.yaml").write_text("jurors: [{recorded: a}]\n")
    result = CliRunner().invoke(
        app, ["replay", str(tmp_path / "r.jsonl"), "--jury", str(tmp_path / "j.yaml"), "--json"]
    )
    assert result.exit_code == 0, result.output
    assert json.loads(result.stdout)[0]["decided"] == 1
