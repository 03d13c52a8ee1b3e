"""``jury calibrate``: from labelled cases to a jury file that keeps a guarantee."""

import gzip
import json
import re
from importlib.resources import files

import pytest
import yaml
from typer.testing import CliRunner

from jury_adapters import ConfigurationError
from jury_adapters.calibration import Guarantee
from jury_adapters.cli.app import app
from jury_adapters.config import load_jury
from tests.support.processes import run_command

VOTES = files("jury_adapters.cli") / "data" / "codefeedback_200.jsonl.gz"
SMALL = ("gpt-4o-mini", "gemini-1.5-flash", "claude_3.5_haiku")
LARGE = ("gemini-2.5-flash", "gpt-4o", "claude_3_opus")


def jurors(names, cost):
    labels = "{valid: pass, invalid: fail}"
    return "".join(f"      - {{recorded: {name}, labels: {labels}, cost: {cost}}}\n" for name in names)


TEXT = (
    "# cheap first\nname: feedback  # to students\ntiers:\n"
    "  - name: small\n    policy: escalate_on_split\n    judge:\n      jurors:\n"
    + jurors(SMALL, 0.0003)
    + "  - name: large\n"
    "    judge:\n      jurors:\n" + jurors(LARGE, 0.003) + "\n# the end\n"
)


@pytest.fixture
def folder(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "jury.yaml").write_text(TEXT)
    return tmp_path


def run(command, *arguments):
    return CliRunner().invoke(app, [command, *map(str, arguments)], catch_exceptions=False)


def calibrated(*options, jury="jury.yaml"):
    given = options if "--jury" in options else ("--jury", jury, *options)
    return run("calibrate", VOTES, "--pass-label", "valid", *given)


@pytest.mark.slow
def test_the_file_keeps_its_text_and_the_jury_then_abstains_where_it_cannot_guarantee(folder):
    result = calibrated("--agreement", 0.94, "--out", "calibrated.yaml")
    assert result.exit_code == 0, result.output
    for said in ("200 labelled cases", "if not, give --group", "at least 94.0 %", "3 of 171", "at most 5.0 %",
                 "85.5 % of", "never, and is not asked", "expected cost  $0.0",
                 "does not cover cases from elsewhere"):  # fmt: skip
        assert said in result.stdout
    written = (folder / "calibrated.yaml").read_text()
    assert written.startswith(TEXT)
    guarantee = Guarantee.from_yaml(folder / "calibrated.yaml")
    assert guarantee.grants.sentence(0.94) in " ".join(result.stdout.split())
    assert 0 < guarantee.granted_if_false < 0.1 < guarantee.granted_as_seen
    assert guarantee.simulated_runs == 1000
    assert load_jury(folder / "calibrated.yaml").guarantee == guarantee

    judged = run("judge", VOTES, "--jury", "calibrated.yaml", "--json")
    assert judged.exit_code == 0, judged.output
    summary = json.loads(judged.stdout)
    assert summary["abstained"] == 200 - guarantee.decided == 29
    assert [tier["tier"] for tier in summary["tiers"]] == ["large", "abstained"]
    shown = run("judge", VOTES, "--jury", "calibrated.yaml").stdout
    assert "abstained        29, 14.5 % of all" in shown
    assert "no tier is sure enough to keep the guaranteed agreement of 0.94" in shown


@pytest.mark.slow
def test_calibrating_again_replaces_the_guarantee_even_one_of_another_jury(folder):
    assert calibrated("--agreement", 0.94, "--out", "calibrated.yaml").exit_code == 0
    other = (folder / "calibrated.yaml").read_text().replace("gpt-4o,", "gpt-4.1,") + "\n# after it\ngates: {}\n"
    (folder / "calibrated.yaml").write_text(other)
    with pytest.raises(ConfigurationError, match="other jurors"):
        load_jury("calibrated.yaml")
    result = calibrated("--agreement", 0.9, "--out", "calibrated.yaml", "--force", jury="calibrated.yaml")
    assert result.exit_code == 0, result.output
    text = (folder / "calibrated.yaml").read_text()
    assert text.count("guarantee:") == 1
    assert text.index("# the end") < text.index("# after it") < text.index("gates:") < text.index("guarantee:")
    assert load_jury("calibrated.yaml").guarantee.agreement == 0.9


@pytest.mark.slow
def test_groups_are_drawn_from_and_said(folder):
    result = calibrated("--agreement", 0.9, "--group", "meta.program")
    assert result.exit_code == 0, result.output
    assert "117 labelled cases of codefeedback_200.jsonl.gz, one for each meta.program" in result.stdout
    said = re.search(r"labels +valid (\d+) \(PASS\), invalid (\d+) \(FAIL\)", result.stdout)
    assert said is not None
    assert sum(map(int, said.groups())) == 117


def test_a_path_that_leads_nowhere_from_the_new_folder_is_told(folder):
    votes = ({"item_id": f"{i}", "votes": {"gpt-4o": {"label": "valid"}}} for i in range(40))
    (folder / "votes.jsonl").write_text("".join(json.dumps(row) + "\n" for row in votes))
    own = "jurors:\n  - {recorded: gpt-4o, labels: {valid: pass, invalid: fail}, votes: votes.jsonl}\n"
    (folder / "own.yaml").write_text(own)
    cases = ({"item_id": f"{i}", "gold": "valid"} for i in range(40))
    (folder / "cases.jsonl").write_text("".join(json.dumps(row) + "\n" for row in cases))
    (folder / "elsewhere").mkdir()
    options = ("cases.jsonl", "--jury", "own.yaml", "--out")
    result = run("calibrate", *options, "elsewhere/out.yaml")
    assert result.exit_code == 2
    assert "cannot be used from there" in result.stderr
    assert run("calibrate", *options, "beside.yaml").exit_code == 0


@pytest.mark.slow
def test_a_panel_alone_is_one_tier(folder):
    (folder / "panel.yaml").write_text("  name: panel\n  jurors:\n" + jurors(LARGE, 0.003) + "...\n")
    result = calibrated("--agreement", 0.94, "--out", "out.yaml", "--json", jury="panel.yaml")
    assert result.exit_code == 0, result.output
    assert list(json.loads(result.stdout)["thresholds"]) == ["jury"]
    assert load_jury("out.yaml").name == "panel"
    assert yaml.safe_load((folder / "out.yaml").read_text())["guarantee"]["n"] == 200


@pytest.mark.slow
@pytest.mark.parametrize(
    ("options", "said"),
    [
        (("--agreement", 0.99), "at least 299 are needed"),
        (("--agreement", 0.96), r"always answering 'PASS' .* 95\.5%.*Label more \(about \d+ cases"),
        (("--agreement", 0.94, "--group", "meta.program"), r"on 117 independent labelled cases \(one per group\)"),
    ],
)
def test_what_cannot_be_guaranteed_exits_with_1_and_says_what_would_help(folder, options, said):
    result = calibrated(*options, "--out", "out.yaml")
    assert result.exit_code == 1
    assert "no guarantee is possible" in result.stderr
    assert re.search(said, result.stderr.replace("\n", " "))
    assert not (folder / "out.yaml").exists()
    grants = json.loads(calibrated(*options, "--json").stdout)["grants"]
    few = "are needed" in said
    assert (grants is None) is few
    assert few or (grants["runs"] == 1000 and 0 < grants["if_false"] <= 0.1)
    assert ("1,000 simulated calibrations" in result.stderr) is not few


@pytest.mark.parametrize(
    ("options", "said"),
    [
        (("--label-column", "people"), "no case has a label in the column 'people'"),
        (("--agreement", 1), "agreement lies strictly between 0 and 1"),
        (("--label-column", "golden"), "no case has a label in the column 'golden'. Did you mean 'gold'?"),
        (("--group", "meta.nothing"), "a labelled case has no meta.nothing, the field that groups the cases"),
        (("--out", "jury.yaml"), "jury.yaml exists already"),
        (("--out", "no/where.yaml"), "its folder does not exist"),
        (("--jury", "none.yaml"), "none.yaml"),
    ],
)
def test_bad_input_exits_with_2(folder, options, said):
    result = calibrated(*options)
    assert result.exit_code == 2
    assert said in result.stderr
    assert (folder / "jury.yaml").read_text() == TEXT


def test_it_replaces_neither_the_cases_nor_writes_below_braces(folder):
    (folder / "braces.yaml").write_text("{jurors: [{recorded: gpt-4o, labels: {valid: pass, invalid: fail}}]}\n")
    assert "not in braces" in calibrated(jury="braces.yaml").stderr
    (folder / "cases.jsonl").write_text('{"answer": "a", "gold": "valid"}\n')
    result = run("calibrate", "cases.jsonl", "--jury", "jury.yaml", "--out", "cases.jsonl", "--force")
    assert (result.exit_code, "would replace the labelled cases" in result.stderr) == (2, True)


def test_cases_without_a_label_are_left_out_and_counted(folder):
    rows = [{"item_id": str(i), "votes": {"gpt-4o": {"label": "valid"}}, "human": "valid"} for i in range(60)]
    unlabelled = [{"item_id": "x", "votes": {"gpt-4o": {"label": "valid"}}}]
    (folder / "cases.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows + unlabelled))
    (folder / "one.yaml").write_text("jurors:\n  - {recorded: gpt-4o, labels: {valid: pass, invalid: fail}}\n")
    result = run("calibrate", "cases.jsonl", "--jury", "one.yaml", "--label-column", "human", "--json")
    assert result.exit_code == 0, result.output
    assert "1 of 61 cases has no label" in result.stderr
    assert json.loads(result.stdout)["n"] == 60


SCREENED = TEXT.replace(
    "tiers:\n",
    "tiers:\n  - name: checks\n    policy: reject_on_any_fail\n    judge:\n      jurors:\n"
    "        - {check: not_empty}\n        - {check: refusal_check}\n",
)


@pytest.mark.slow
def test_screening_tiers_in_front_are_kept_and_the_guarantee_is_about_the_rest(folder):
    (folder / "screened.yaml").write_text(SCREENED)
    rows = [json.loads(line) for line in gzip.decompress(VOTES.read_bytes()).splitlines()]
    (folder / "cases.jsonl").write_text("".join(
        json.dumps({**row, "answer": "" if i < 20 else row["answer"]}) + "\n" for i, row in enumerate(rows)
    ))  # fmt: skip
    options = ("--pass-label", "valid", "--agreement", 0.9, "--out", "calibrated.yaml")
    result = run("calibrate", "cases.jsonl", "--jury", "screened.yaml", *options)
    assert result.exit_code == 0, result.output
    wrong = sum(row["gold"] == "valid" for row in rows[:20])
    said = " ".join(result.stdout.split())
    for told in ("Calibrated on 180 labelled cases of cases.jsonl that screening lets through",
                 f"the screening tier 'checks' decided 20 of the 200 labelled cases, {wrong} of them unlike their",
                 "human labels; the guarantee does not cover these",
                 "of the cases that screening lets through"):  # fmt: skip
        assert told in said

    written = (folder / "calibrated.yaml").read_text()
    assert written.startswith(SCREENED)
    assert "# The guarantee does not cover the decisions of the screening tier 'checks'." in written
    guarantee = Guarantee.from_yaml(folder / "calibrated.yaml")
    assert (guarantee.screening_tiers, guarantee.screened, guarantee.n) == (("checks",), 20, 180)

    judged = run("judge", "cases.jsonl", "--jury", "calibrated.yaml", "--json")
    assert judged.exit_code == 0, judged.output
    tiers = {tier["tier"]: tier for tier in json.loads(judged.stdout)["tiers"]}
    assert tiers["checks"]["stopped"] == {"FAIL": 20}
    assert sum(sum(tier["stopped"].values()) for name, tier in tiers.items() if name in guarantee.thresholds) == (
        guarantee.decided
    )

    again = run("calibrate", "cases.jsonl", "--jury", "calibrated.yaml", *options, "--force")
    assert again.exit_code == 0, again.output
    assert (folder / "calibrated.yaml").read_text() == written

    (folder / "calibrated.yaml").write_text(written.replace("check: refusal_check", "check: valid_json"))
    with pytest.raises(ConfigurationError, match="other screening tiers"):
        load_jury(folder / "calibrated.yaml")


def test_a_screening_tier_behind_a_tier_is_refused_in_words_of_the_file(folder):
    late = "  - name: late\n    policy: reject_on_any_fail\n    judge: {check: not_empty}\n  - name: large\n"
    (folder / "late.yaml").write_text(TEXT.replace("  - name: large\n", late))
    result = calibrated(jury="late.yaml")
    assert result.exit_code == 2
    assert "move it to the front" in " ".join(result.stderr.split())
    assert "CascadedJury" not in result.stderr


@pytest.mark.parametrize("options", [(), ("--pass-label", "corect")])
def test_labels_that_are_not_understood_are_listed_and_the_option_named(folder, options):
    rows = [{"answer": f"This is tea {i}.", "gold": "correct" if i < 53 else "wrong"} for i in range(60)]
    (folder / "cases.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows))
    (folder / "own.yaml").write_text("jurors:\n  - {check: not_empty}\n")
    result = run("calibrate", "cases.jsonl", "--jury", "own.yaml", *options)
    assert result.exit_code == 2
    said = " ".join(result.stderr.split())
    assert "correct 53, wrong 7" in said
    assert "name those that mean PASS: --pass-label LABEL" in said
    assert "pass_labels" not in said


def test_what_is_wrong_with_the_guarantee_itself_is_said_before_anything_is_read(folder):
    for options, said in (
        (("--agreement", 90), "90 is not a share of 1: 0.9 is 90 %"),
        (("--delta", 1), "--delta lies strictly between 0 and 1"),
    ):
        result = run("calibrate", VOTES, "--jury", "none.yaml", *options)
        told = " ".join(result.stderr.replace("│", "").split())  # older typers draw a box around it
        assert (result.exit_code, said in told) == (2, True), told


@pytest.mark.slow
def test_jurors_that_cost_nothing_are_not_of_unknown_cost_and_labels_are_told(folder):
    (folder / "free.yaml").write_text("jurors:\n" + jurors(LARGE, 0.0))
    result = calibrated("--agreement", 0.9, jury="free.yaml")
    assert result.exit_code == 0, result.output
    assert "expected cost  $0: no juror costs anything" in result.stdout
    assert "labels         valid 191 (PASS), invalid 9 (FAIL)" in result.stdout


@pytest.mark.slow
def test_a_full_disk_leaves_the_jury_file_that_was_to_be_replaced(folder):
    """The jury file itself may be what --force replaces; half of it would be no jury."""
    command = ["calibrate", VOTES, "--jury", "jury.yaml", "--pass-label", "valid", "--out", "jury.yaml", "--force"]
    done = run_command(*command, largest_file=100)
    assert (done.returncode, done.stderr) == (2, "error: jury.yaml: File too large\n")
    assert (folder / "jury.yaml").read_text() == TEXT
    assert [path.name for path in folder.iterdir()] == ["jury.yaml"]


@pytest.mark.slow
def test_a_file_that_is_replaced_stays_the_file_it_was(folder):
    (folder / "link.yaml").symlink_to("jury.yaml")
    (folder / "jury.yaml").chmod(0o640)
    assert calibrated("--out", "link.yaml", "--force").exit_code == 0
    assert (folder / "link.yaml").is_symlink()
    assert (folder / "jury.yaml").stat().st_mode & 0o777 == 0o640
    assert load_jury(folder / "jury.yaml").guarantee.n == 200


@pytest.mark.slow
def test_policies_that_the_thresholds_replace_are_named_in_the_output_and_in_the_file(folder):
    result = calibrated("--agreement", 0.94, "--out", "calibrated.yaml")
    said = " ".join(result.stdout.split())
    assert "These confidences replace the policies of the tiers (small: escalate_on_split)" in said
    written = (folder / "calibrated.yaml").read_text()
    assert "  # The tiers decide by these thresholds instead of their policies.\n" in written
    load_jury(folder / "calibrated.yaml")


@pytest.mark.slow
def test_equal_cases_under_several_ids_are_named(folder):
    """Five copies of each case under ids of their own would be five times as many independent cases."""
    said = [("yes", "PASS") if at % 9 else ("no", "FAIL") for at in range(80)]
    rows = [{"id": f"c{at}", "question": f"{at}?", "answer": yes, "gold": gold} for at, (yes, gold) in enumerate(said)]
    (folder / "jury.yaml").write_text("jurors: [{check: contains, texts: ['yes']}]\n")
    copies = [{**row, "id": f"{row['id']} {copy}"} for row in rows for copy in range(5)]
    for name, found in (("once.jsonl", rows), ("copies.jsonl", copies)):
        (folder / name).write_text("".join(json.dumps(row) + "\n" for row in found))
    sentence = "320 labelled cases repeat the question, the answer and all else of another one under another id"
    result = run("calibrate", "copies.jsonl", "--jury", "jury.yaml")
    assert sentence in " ".join(result.stderr.split())
    assert "repeat" not in run("calibrate", "once.jsonl", "--jury", "jury.yaml").stderr
    grouped = run("calibrate", "copies.jsonl", "--jury", "jury.yaml", "--group", "question")
    assert "repeat" not in grouped.stderr
    assert "one for each question" in grouped.stdout


@pytest.fixture
def asked(folder, server, monkeypatch):
    """A cascade of two critics, 60 labelled cases, and the server that answers them."""
    monkeypatch.setenv("OPENAI_API_KEY", "sk-for-the-test")
    monkeypatch.setenv("OPENAI_BASE_URL", server.openai)
    critic = 'judge: {criterion: "Is it right?", model: "openai:%s"}'
    tiers = "".join(f"  - {{name: {name}, policy: {policy}, {critic % name}}}\n"
                    for name, policy in (("gpt-4o-mini", "{escalate_below: 0.7}"), ("gpt-4o", "final")))  # fmt: skip
    (folder / "jury.yaml").write_text(f"tiers:\n{tiers}")
    rows = [{"id": f"c{at}", "question": f"{at}?", "answer": f"TRUTH=YES {at}", "gold": "PASS"} for at in range(60)]
    (folder / "cases.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows))
    return server.asks


def test_an_estimate_counts_every_tier_for_every_case_and_asks_no_model(asked):
    done = run("calibrate", "cases.jsonl", "--jury", "jury.yaml", "--dry-run", "--json")
    assert done.exit_code == 0, done.output
    assert json.loads(done.stdout)["calls"] == 120
    assert asked == []


@pytest.mark.slow
def test_a_spent_budget_gives_no_guarantee_and_the_store_keeps_what_was_paid_for(asked):
    options = ("--jury", "jury.yaml", "--store", "runs.db", "--out", "calibrated.yaml")
    done = run("calibrate", "cases.jsonl", *options, "--max-calls", 100)
    assert done.exit_code == 1
    assert "the budget was spent: 20 calls were not made" in " ".join(done.stderr.split())
    assert len(asked) == 100
    done = run("calibrate", "cases.jsonl", *options, "--max-calls", 100)
    assert done.exit_code == 0, done.output
    assert len(asked) == 120


@pytest.mark.parametrize(
    ("options", "code", "said"),
    [
        (["--group", "tiket"], 2, "has no tiket, the field that groups the cases"),
        (["--pass-label", "good"], 2, "no labelled case has the label 'good'"),
        (["--store", "jury.yaml"], 2, "is not an SQLite file"),
        (["--agreement", "0.999"], 1, "no guarantee is possible"),
    ],
)
def test_a_dry_run_refuses_what_calibrate_refuses_before_it_asks(asked, options, code, said):
    given = ("cases.jsonl", "--jury", "jury.yaml", *options)
    dry = run("calibrate", *given, "--dry-run")
    assert (dry.exit_code, dry.stdout) == (code, "")
    assert said in " ".join(dry.stderr.split())
    assert run("calibrate", *given).stderr == dry.stderr
    assert asked == []


def alone(name):
    """A jury file whose last tier is one juror without `jurors:` around it, and the same with it."""
    critic = f"{{recorded: {name}, labels: {{valid: pass, invalid: fail}}, cost: 0.003}}"
    first = TEXT[: TEXT.index("  - name: large")].replace(jurors(SMALL, 0.0003), jurors(SMALL[:2], 0.0003))
    return (
        f"{first}  - name: large\n    judge: {critic}\n",
        f"{first}  - name: large\n    judge:\n      jurors:\n        only: {critic}\n",
    )


@pytest.mark.slow
@pytest.mark.parametrize("name", ["gpt-4o", "claude_3_opus"])
def test_a_tier_of_one_judge_is_calibrated_alike_however_it_is_written(folder, name):
    guarantees = []
    for text in alone(name):
        (folder / "jury.yaml").write_text(text)
        result = calibrated("--agreement", 0.85, "--json")
        assert result.exit_code == 0, result.output
        guarantees.append(json.loads(result.stdout))
    assert guarantees[0].pop("full_votes") == ["large"]
    for each in guarantees:
        del each["fingerprint"]
    assert guarantees[0] == guarantees[1]
    assert guarantees[0]["tier_shares"]["large"] > 0

    (folder / "jury.yaml").write_text(alone(name)[0])
    result = calibrated("--agreement", 0.85, "--out", "calibrated.yaml")
    assert "The tier 'large' states no confidence" in result.stdout
    assert "would save these calls" not in result.stdout
    judged = run("judge", VOTES, "--jury", "calibrated.yaml", "--out", "out.jsonl")
    assert judged.exit_code == 0, judged.output
    stops = [json.loads(line)["verdict"]["stopped_at"] for line in (folder / "out.jsonl").read_text().splitlines()]
    assert stops.count("large") == round(200 * guarantees[0]["tier_shares"]["large"])
