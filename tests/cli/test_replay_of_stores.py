"""``jury replay`` of a store: each ask of a critic is served as it was recorded, and what a store lacks is reported."""

import json

import pytest
from support.vendor import Act, error
from typer.testing import CliRunner

from jury_adapters.cli.app import app

MODEL = "rubric: faithfulness, model"
JURIES = {
    "criteria": (
        'jurors: [{criterion: "Is it right?", model: "openai:truth"}, '
        '{criterion: "Is it polite?", model: "openai:truth"}]'
    ),
    "temperatures": (
        f'jurors: [{{{MODEL}: "openai:alternating"}}, {{{MODEL}: "openai:alternating", temperature: 0.5}}]'
    ),
    "repeat": f'jurors: [{{{MODEL}: "openai:alternating", samples: 2}}]',
    "three asks": f'jurors: [{{{MODEL}: "openai:alternating", samples: 3}}, {{{MODEL}: "openai:no"}}]',
    "twice": f'jurors: [{{{MODEL}: "openai:alternating"}}, {{{MODEL}: "openai:alternating"}}]',
    "fallback": (
        f'jurors: [{{{MODEL}: "openai:broken", fallbacks: [{{{MODEL}: "openai:yes"}}]}}, {{{MODEL}: "openai:truth"}}]'
    ),
    "fallback that repeats": (
        f'jurors: [{{{MODEL}: "openai:broken", fallbacks: [{{{MODEL}: "openai:alternating", samples: 3}}]}}]'
    ),
    "second fallback": (
        f'jurors: [{{{MODEL}: "openai:broken", fallbacks: '
        f'[{{{MODEL}: "openai:broken", temperature: 1}}, {{{MODEL}: "openai:truth"}}]}}]'
    ),
    "fallback of a fallback": (
        f'jurors: [{{{MODEL}: "openai:broken", fallbacks: '
        f'[{{{MODEL}: "openai:broken", temperature: 1, fallbacks: [{{{MODEL}: "openai:truth"}}]}}]}}]'
    ),
    "broken": f'jurors: [{{{MODEL}: "openai:broken"}}, {{{MODEL}: "openai:truth"}}, {{{MODEL}: "openai:yes"}}]',
    "scorecard": (
        f'scorecard: {{faithful: {{{MODEL}: "openai:truth"}}, polite: {{criterion: "Polite?", model: "openai:yes"}}}}'
    ),
}
CASCADE = f"""
tiers:
  - {{name: screen, policy: reject_on_any_fail, judge: {{check: not_empty}}}}
  - {{name: model, judge: {{{MODEL}: "openai:truth"}}}}
"""


def run(*arguments):
    return CliRunner().invoke(app, [str(one) for one in arguments], catch_exceptions=False)


def plan(ask):
    """Answer as the model's name says; `truth` and `yes` differ on half of the cases."""
    model = ask.body["model"]
    if model == "broken":
        return error(400, "no such model")
    if "Is it polite?" in ask.text:
        return Act(text=json.dumps({"reasoning": "r", "answer": "NO"}))
    labels = {"yes": "YES", "no": "NO", "alternating": ("YES", "NO")[ask.attempt % 2]}
    return Act(text=json.dumps({"reasoning": "r", "answer": labels[model]})) if model in labels else Act()


@pytest.fixture
def folder(tmp_path, server, monkeypatch):
    monkeypatch.setenv("OPENAI_API_KEY", "sk-for-the-test")
    monkeypatch.setenv("OPENAI_BASE_URL", server.openai)
    server.plan = plan
    answers = ("TRUTH=YES", "TRUTH=NO", "TRUTH=YES too", "TRUTH=NO too")
    write_cases(tmp_path, [{"question": "q", "answer": answer, "contexts": ["c"]} for answer in answers])
    return tmp_path


def write_cases(folder, cases):
    (folder / "cases.jsonl").write_text("".join(json.dumps(case) + "\n" for case in cases))


def judge(folder, jury, name="results.jsonl"):
    (folder / "jury.yaml").write_text(jury)
    options = ("--jury", folder / "jury.yaml", "--store", folder / "runs.db", "--out", folder / name)
    return run("judge", folder / "cases.jsonl", *options, "--json")


def replay(folder, votes, *options, jury="jury.yaml"):
    result = run("replay", folder / votes, "--jury", folder / jury, "--json", *options)
    assert result.exit_code == 0, result.output
    return json.loads(result.stdout)[0], " ".join(result.stderr.split())


@pytest.mark.slow
@pytest.mark.parametrize("jury", JURIES.values(), ids=JURIES)
def test_a_store_replays_as_the_results_of_the_same_run(folder, server, jury):
    judge(folder, jury)
    asked = len(server.asks)
    from_results, _ = replay(folder, "results.jsonl")
    from_store, told = replay(folder, "runs.db")
    assert from_store == from_results
    assert told == ""
    assert from_store["cases"] == 4
    assert len(server.asks) == asked


def test_a_store_serves_the_critic_of_the_file_among_others_of_its_name(folder):
    first, second = (f'jurors: [{{{MODEL}: "openai:{name}", name: same}}]' for name in ("truth", "yes"))
    judge(folder, first)
    judge(folder, second, "second.jsonl")
    assert replay(folder, "runs.db")[0]["passed"] == 4
    (folder / "first.yaml").write_text(first)
    assert replay(folder, "runs.db", jury="first.yaml")[0]["passed"] == 2


def test_a_store_serves_the_rubric_of_the_file_after_an_edit(folder):
    edited = f'labels: {{BACKED: pass, NO: fail}}\njurors: [{{{MODEL}: "openai:truth"}}]'
    write_cases(folder, [{"question": "q", "answer": f"TRUTH={label}", "contexts": ["c"]} for label in ("NO", "YES")])
    judge(folder, f'jurors: [{{{MODEL}: "openai:truth"}}]')
    judge(folder, edited, "edited.jsonl")
    assert replay(folder, "runs.db")[0] == replay(folder, "edited.jsonl")[0]


@pytest.mark.slow
def test_several_critics_of_one_name_are_listed_where_none_is_that_of_the_file(folder):
    judge(folder, JURIES["criteria"])
    (folder / "other.yaml").write_text('jurors: [{criterion: "Is it short?", model: "openai:truth"}]')
    result = run("replay", folder / "runs.db", "--jury", folder / "other.yaml")
    told = " ".join(result.stderr.split())
    assert result.exit_code == 2
    assert "holds votes of 2 critics that are called 'criteria truth'" in told
    assert "none has the model, parameters and rubric of this juror" in told
    assert "Judge the cases with this jury first" not in told
    names = [word.strip(",.") for word in told.split() if "@" in word]
    assert len(names) == 2
    chosen = f"name: 'criteria {names[0]}'"
    (folder / "other.yaml").write_text(f'jurors: [{{criterion: "Is it short?", model: "openai:truth", {chosen}}}]')
    assert replay(folder, "runs.db", jury="other.yaml")[0]["decided"] == 4


def test_a_store_without_the_fingerprint_is_searched_for_the_name(folder):
    judge(folder, f'jurors: [{{{MODEL}: "openai:alternating", samples: 2, fallbacks: [{{{MODEL}: "openai:truth"}}]}}]')
    other = f'jurors: [{{{MODEL}: "openai:alternating", temperature: 1, samples: 2}}]'
    (folder / "other.yaml").write_text(other)
    replayed, told = replay(folder, "runs.db", jury="other.yaml")
    assert replayed == {**replay(folder, "runs.db")[0], "jury": "other"}
    assert "faithfulness alternating has votes that were cast with another model, address, rubric or parameters" in told


def test_more_asks_than_are_recorded_are_reported(folder):
    judge(folder, f'jurors: [{{{MODEL}: "openai:yes", samples: 2}}]')
    (folder / "more.yaml").write_text(f'jurors: [{{{MODEL}: "openai:yes", samples: 5}}]')
    replayed, told = replay(folder, "runs.db", jury="more.yaml")
    assert (replayed["passed"], replayed["calls"]) == (4, 8)
    assert "faithfulness yes has no recorded vote for 12 asks that reached it, and abstained" in told


def test_a_fallback_without_votes_is_reported(folder):
    jury = f'jurors: [{{{MODEL}: "openai:broken"}}, {{{MODEL}: "openai:yes"}}]'
    judge(folder, jury)
    (folder / "backed.yaml").write_text(jury.replace('broken"', f'broken", fallbacks: [{{{MODEL}: "openai:truth"}}]'))
    _, told = replay(folder, "runs.db", jury="backed.yaml")
    assert "faithfulness truth has no recorded vote for 4 cases that reached it as a fallback, and abstained" in told


def test_a_case_that_lacks_what_a_critic_needs_is_no_missing_vote(folder):
    write_cases(folder, [{"question": "q", "answer": "TRUTH=YES"}, {"question": "q", "answer": "a", "contexts": ["c"]}])
    judge(folder, f'scorecard: {{a: {{{MODEL}: "openai:yes"}}, b: {{rubric: answer_relevance, model: "openai:yes"}}}}')
    from_store, told = replay(folder, "runs.db")
    assert (from_store, told) == (replay(folder, "results.jsonl")[0], "")


@pytest.mark.slow
def test_cases_that_reached_no_model_are_reported_or_come_from_the_file_of_cases(folder):
    cases = [{"question": "q", "answer": text, "contexts": ["c"]} for text in ("TRUTH=YES", "TRUTH=NO", "")]
    write_cases(folder, [{**case, "gold": "pass"} for case in cases])
    judge(folder, CASCADE)
    from_results, _ = replay(folder, "results.jsonl")
    assert (from_results["cases"], from_results["passed"]) == (3, 1)
    assert from_results["label_comparison"]["labelled_cases"] == 3
    from_store, told = replay(folder, "runs.db")
    assert (from_store["cases"], from_store["passed"]) == (2, 1)
    assert "holds only cases that reached a model" in told
    assert "--cases CASES" in told
    assert replay(folder, "runs.db", "--cases", folder / "cases.jsonl") == (from_results, "")


@pytest.mark.slow
def test_cases_that_a_store_cannot_tell_apart_are_reported(folder):
    (folder / "rubric.yaml").write_text(
        "name: policy\nuser_prompt: 'Does it follow {policy}? {answer}'\nvariables: [policy]\n"
        "labels: {'YES': pass, 'NO': fail}\n"
    )
    write_cases(folder, [{"answer": "a", "policy": f"TRUTH={truth}"} for truth in ("YES", "NO", "YES!")])
    judge(folder, 'jurors: [{rubric: rubric.yaml, model: "openai:truth"}]')
    from_store, told = replay(folder, "runs.db")
    assert from_store["cases"] == 1
    assert "holds 2 cases more that differ from others only in metadata" in told
    from_results, _ = replay(folder, "results.jsonl")
    assert from_results["passed"] == 2
    assert replay(folder, "runs.db", "--cases", folder / "cases.jsonl") == (from_results, "")


@pytest.mark.slow
def test_without_a_fingerprint_jurors_of_one_name_are_not_mixed_up(folder, server, monkeypatch):
    monkeypatch.setenv("AZURE_OPENAI_ENDPOINT", server.url)
    monkeypatch.setenv("AZURE_OPENAI_API_KEY", "k")
    one = f'{{{MODEL}: "azure:alternating"}}'
    judge(folder, f"jurors: [{one}, {one}]")
    assert replay(folder, "runs.db")[0] == replay(folder, "results.jsonl")[0]
    monkeypatch.delenv("AZURE_OPENAI_ENDPOINT")
    result = run("replay", folder / "runs.db", "--jury", folder / "jury.yaml")
    assert result.exit_code == 2
    assert "set the environment variable AZURE_OPENAI_ENDPOINT" in " ".join(result.stderr.split())
    (folder / "single.yaml").write_text(f"jurors: [{one}]")
    assert replay(folder, "runs.db", jury="single.yaml")[0]["decided"] == 4


@pytest.mark.slow
@pytest.mark.parametrize("ids", ["id", "item_id", None])
@pytest.mark.parametrize("form", ["whole rows", "id and answer", "of review"])
@pytest.mark.parametrize("with_cases", [False, True], ids=["store alone", "with cases"])
def test_labels_of_a_file_are_found_as_for_the_results(folder, ids, form, with_cases):
    rows = [json.loads(line) for line in (folder / "cases.jsonl").read_text().splitlines()]
    if ids:
        rows = [{ids: f"q{at}", **row} for at, row in enumerate(rows)]
        write_cases(folder, rows)
    judge(folder, f'jurors: [{{{MODEL}: "openai:truth"}}]')
    labels = folder / "labels.jsonl"
    if form == "of review":
        asked = CliRunner().invoke(
            app, ["review", str(folder / "results.jsonl"), "--only", "all", "--labels", str(labels)],
            input="pass\nfail\npass\nfail\n",
        )  # fmt: skip
        assert asked.exit_code == 0, asked.output
    else:
        kept = rows if form == "whole rows" else [{**row, "question": None, "contexts": None} for row in rows]
        gold = ("PASS", "FAIL", "PASS", "FAIL")
        labels.write_text("".join(json.dumps({**row, "gold": g}) + "\n" for row, g in zip(kept, gold, strict=True)))
    wanted, _ = replay(folder, "results.jsonl", "--labels", labels)
    assert wanted["label_comparison"]["labelled_cases"] == 4
    if form == "id and answer" and (ids is None or not with_cases):
        return  # a store keeps neither ids nor lines
    cases = ("--cases", folder / "cases.jsonl") if with_cases else ()
    found, _ = replay(folder, "runs.db", "--labels", labels, *cases)
    assert found["label_comparison"] == wanted["label_comparison"]


@pytest.mark.slow
def test_reports_of_a_store_find_the_labels_of_the_cases(folder):
    judge(folder, f'jurors: [{{{MODEL}: "openai:truth"}}, {{{MODEL}: "openai:yes"}}]')
    given = ("report", folder / "runs.db", "--cases", folder / "cases.jsonl", "--json")
    assert json.loads(run(*given).stdout)["label_comparison"] is None
    rows = [json.loads(line) for line in (folder / "cases.jsonl").read_text().splitlines()]
    write_cases(folder, [{"id": f"q{at}", **row, "gold": "good"} for at, row in enumerate(rows)])
    for more in ((), ("--agreement", "--draws", 100)):
        done = run(*given, "--pass-label", "good", *more)
        assert done.exit_code == 0, done.stderr
        assert json.loads(done.stdout)["label_comparison"]["labels"] == {"good": 4}
        assert "no effect" not in done.stderr


@pytest.mark.slow
def test_a_report_of_a_store_says_what_its_votes_are(folder):
    """A store of several juries is not a run: critics with other rubrics do not vote on one question."""
    judge(folder, f'jurors: [{{{MODEL}: "openai:truth"}}, {{{MODEL}: "openai:yes"}}]')
    told = " ".join(run("report", folder / "runs.db").stderr.split())
    assert "a store keeps no verdicts, so these are majority votes of its 2 critics; jury replay" in told
    judge(folder, 'jurors: [{criterion: "Is it polite?", model: "openai:truth"}]', "other.jsonl")
    told = " ".join(run("report", folder / "runs.db").stderr.split())
    assert "majority votes of its 3 critics, which answer 2 different rubrics: the pass rate is that of no run" in told


@pytest.mark.slow
def test_a_comparison_of_a_store_says_what_its_votes_are(folder):
    judge(folder, f'jurors: [{{{MODEL}: "openai:truth"}}, {{{MODEL}: "openai:yes"}}]\nvoting: unanimous')
    results = folder / "results.jsonl"
    for command in (("compare", results, folder / "runs.db"), ("report", folder / "runs.db", "--compare", results)):
        done = run(*command)
        assert done.exit_code == 0, done.output
        assert done.stderr.count("a store keeps no verdicts") == 1
        assert "runs.db" in done.stderr


@pytest.mark.slow
def test_the_judged_file_of_a_store_is_read_with_the_map_of_the_run(folder):
    """A cascade, of which the screen decides a case that the store does not hold."""
    rows = [{"asked": "q", "reply": text, "kb": ["c"], "gold": "ok"} for text in ("TRUTH=YES", "TRUTH=NO", "")]
    write_cases(folder, rows)
    (folder / "jury.yaml").write_text(CASCADE)
    mapped = [part for path in ("question=asked", "answer=reply", "contexts=kb") for part in ("--map", path)]
    kept = ("--store", folder / "runs.db", "--out", folder / "results.jsonl")
    judged = run("judge", folder / "cases.jsonl", "--jury", folder / "jury.yaml", *mapped, *kept)
    assert judged.exit_code == 0, judged.output
    given = ("--cases", folder / "cases.jsonl")
    votes = ("replay", folder / "runs.db", "--jury", folder / "jury.yaml", "--pass-label", "ok", "--json")
    assert "or give --map answer=COLUMN" in " ".join(run(*votes, *given).stderr.split())
    done = run(*votes, *given, *mapped)
    assert done.exit_code == 0, done.output
    assert [json.loads(done.stdout)[0][name] for name in ("decided", "passed")] == [3, 1]
    report = run("report", folder / "runs.db", *given, *mapped, "--pass-label", "ok", "--json")
    assert json.loads(report.stdout)["label_comparison"]["labels"] == {"ok": 2}
    write_cases(folder, [{"said": row["reply"], "kb": row["kb"]} for row in rows])
    mapped = ["--map", "answer=said", "--map", "contexts=kb"]
    assert json.loads(run("report", folder / "runs.db", *given, *mapped, "--json").stdout)["unreadable_rows"] == 0
    for command in (("replay", folder / "results.jsonl", "--jury", folder / "jury.yaml"),
                    ("report", folder / "results.jsonl")):  # fmt: skip
        refused = run(*command, *mapped)
        assert refused.exit_code == 2
        assert "results keep the --map of their run" in " ".join(refused.stderr.split())


SCREENED = f"""
tiers:
  - {{name: screen, policy: reject_on_any_fail, judge: {{{MODEL}: "openai:truth"}}}}
  - {{name: model, judge: {{{MODEL}: "openai:yes"}}}}
"""
RECORDED = """
tiers:
  - {name: screen, policy: accept_on_all_pass, judge: {recorded: faithfulness truth}}
  - {name: model, judge: {recorded: faithfulness yes}}
"""


@pytest.mark.parametrize("votes", ["runs.db", "results.jsonl"])
@pytest.mark.parametrize("recorded", [False, True], ids=["critics", "recorded jurors"])
@pytest.mark.parametrize("limited", [False, True], ids=["all", "limit"])
def test_a_juror_asked_only_where_it_has_no_vote_abstains_there(folder, votes, recorded, limited):
    """Of four cases, the screen let only the last two through; with the other policy it lets only the first two."""
    answers = ("TRUTH=NO 1", "TRUTH=NO 2", "TRUTH=YES 1", "TRUTH=YES 2")
    write_cases(folder, [{"question": "q", "answer": answer, "contexts": ["c"]} for answer in answers])
    judge(folder, SCREENED)
    other = RECORDED if recorded else SCREENED.replace("reject_on_any_fail", "accept_on_all_pass")
    (folder / "other.yaml").write_text(other)
    limit = ("--limit", 2, "--cases", folder / "cases.jsonl") if limited else ()  # a store has no order of its own
    replayed, told = replay(folder, votes, *limit, jury="other.yaml")
    assert (replayed["cases"], replayed["decided"]) == ((2, 0) if limited else (4, 2))
    assert "faithfulness yes" in told
    assert "2 cases" in told
    assert "holds no votes" not in told


@pytest.mark.parametrize("juror", [f'{{{MODEL}: "openai:truth"}}', "{recorded: faithfulness truth}"])
def test_cases_that_a_store_does_not_hold_are_refused_as_other_cases(folder, juror):
    judge(folder, f'jurors: [{{{MODEL}: "openai:truth"}}]')
    (folder / "other.yaml").write_text(f"jurors: [{juror}]")
    write_cases(folder, [{"question": "another", "answer": "TRUTH=YES", "contexts": ["c"]}])
    given = ("--jury", folder / "other.yaml", "--cases", folder / "cases.jsonl")
    result = run("replay", folder / "runs.db", *given)
    told = " ".join(result.stderr.split())
    assert result.exit_code == 2
    assert "the votes of 'faithfulness truth' in" in told
    assert "are of other cases than the ones given" in told
    (folder / "other.yaml").write_text("jurors: [{recorded: faithfulness trut}]")
    told = " ".join(run("replay", folder / "runs.db", *given).stderr.split())
    assert "it holds votes of faithfulness truth. Did you mean 'faithfulness truth'?" in told
