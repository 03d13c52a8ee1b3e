"""Jury files that are as they should be: what they build, and what that says about cases."""

import subprocess
import sys
from pathlib import Path

import pytest
from config_support import loaded, members, write
from fact_tables import each_row

from jury_adapters import CascadedJury, Critic, Ensemble, Rubric, Scorecard, Tier, open_model
from jury_adapters.checks import LengthBetween, NotEmpty
from jury_adapters.config import load_jury
from jury_adapters.critic.recorded import RecordedCritic
from jury_adapters.critic.yaml import parse_yaml

SHORT, LONG, BLANK = "Yes.", "A sentence of more than twenty characters.", " "
TEXT, BRIEF = "{check: not_empty}", "{check: length_between, maximum: 20}"
CARD = f"scorecard: {{text: {TEXT}, brief: {BRIEF}}}"
JURORS = "jurors: {text: {check: not_empty}, brief: {check: length_between, maximum: 20}}"
VOTES = "jurors: {a: {recorded: a}, b: {recorded: b}, c: {recorded: c}}"

# A file, and the statuses of a short, a long and a blank answer.
ANSWERS = {
    "one check": ("check: not_empty", "PASS PASS FAIL"),
    "a tie is FAIL": (JURORS, "PASS FAIL FAIL"),
    "a tie is PASS, an option of the rule": (f"{JURORS}\noptions: {{tie: pass}}", "PASS PASS PASS"),
    "a tie that the first juror decides": (f"{JURORS}\noptions: {{tie: first}}", "PASS PASS FAIL"),
    "a veto": (f"{JURORS}\nvoting: veto", "PASS FAIL FAIL"),
    "a veto of two": (f"{JURORS}\nvoting: k_veto\noptions: {{k: 2}}", "PASS PASS PASS"),
    "a quorum": (f"{JURORS}\nvoting: quorum\noptions: {{quorum: 1/2}}", "PASS PASS PASS"),
    "all must agree, else nobody knows": (
        f"{JURORS}\nvoting: unanimous\noptions: {{on_split: abstain}}",
        "PASS ABSTAIN ABSTAIN",
    ),
    "the name of a seed system for it": (f"{JURORS}\nvoting: consensus", "PASS FAIL FAIL"),
    "weights": (
        "jurors: {text: {check: not_empty, weight: 3}, brief: {check: length_between, maximum: 20}}",
        "PASS PASS FAIL",
    ),
    "a list": (f"jurors: [{TEXT}, {BRIEF}]", "PASS FAIL FAIL"),
    "asked in order, as few as possible": (f"{JURORS}\nschedule: early_stop\nvoting: veto", "PASS FAIL FAIL"),
    "a juror that does not vote is required": (
        "jurors: {text: {check: not_empty}, gone: {recorded: nobody, required: true}}",
        "ABSTAIN ABSTAIN ABSTAIN",
    ),
    "too few votes": (
        "jurors: {text: {check: not_empty}, gone: {recorded: nobody}}\nmin_votes: 2",
        "ABSTAIN ABSTAIN ABSTAIN",
    ),
    "a jury in a jury": (f"jurors: {{inner: {{{JURORS}}}, text: {TEXT}}}\nvoting: veto", "PASS FAIL FAIL"),
    "a scorecard": (CARD, "PASS FAIL FAIL"),
    "any criterion": (f"{CARD}\npass_when: any", "PASS PASS PASS"),
    "one of two criteria": (f"{CARD}\npass_when: 1", "PASS PASS PASS"),
    "a named criterion": (
        f"{CARD}\npass_when: [text]",
        "PASS PASS FAIL",
    ),
    "weighted criteria": (
        "scorecard:\n  text: {check: not_empty, weight: 1}\n  brief: {check: length_between, maximum: 20, weight: 3}\n"
        "threshold: 0.7",
        "PASS FAIL PASS",
    ),
    "a cascade": (
        "tiers:\n  - {name: text, policy: reject_on_any_fail, judge: {check: not_empty}}\n"
        "  - {name: brief, judge: {check: length_between, maximum: 20}}",
        "PASS FAIL FAIL",
    ),
    "a cascade that accepts": (
        "tiers:\n  - {name: brief, policy: accept_on_all_pass, judge: {check: length_between, maximum: 20}}\n"
        "  - {name: rest, policy: final, judge: {recorded: nobody}}",
        "PASS ABSTAIN PASS",
    ),
    "a cascade that goes on where jurors disagree": (
        f"tiers:\n  - {{name: two, policy: escalate_on_split, judge: {{{JURORS}}}}}\n"
        "  - {name: rest, judge: {recorded: nobody}}",
        "PASS ABSTAIN ABSTAIN",
    ),
    "a cascade that goes on below a confidence": (
        f"tiers:\n  - {{name: two, policy: {{escalate_below: 0.9}}, judge: {{{JURORS}}}}}\n"
        "  - {name: rest, judge: {recorded: nobody}}",
        "PASS ABSTAIN ABSTAIN",
    ),
    "a scorecard in a tier in a juror": (
        f"jurors: [{{tiers: [{{name: only, judge: {{scorecard: {{text: {TEXT}}}}}}}]}}]",
        "PASS PASS FAIL",
    ),
}  # fmt: skip


@each_row("what", ANSWERS)
def test_a_file_judges_answers(what: str, tmp_path: Path) -> None:
    text, statuses = ANSWERS[what]
    jury = loaded(tmp_path, text)
    assert (
        " ".join(jury.judge(answer=answer).status for answer in (SHORT, LONG, BLANK)),
        load_jury(parse_yaml(text)).fingerprint,
    ) == (statuses, jury.fingerprint)


RECORDED = {
    f"{VOTES}\non: label\noptions: {{priority: [NO, yes]}}": [("yes NO off", "LABEL NO"), ("yes yes NO", "LABEL yes")],
    "recorded: a\nlabels: {YES: pass, NO: fail, on: abstain}": [
        ("YES", "PASS YES"), ("NO", "FAIL NO"), ("on", "ABSTAIN None"), ("off", "ABSTAIN None"),
    ],
    "recorded: a\nthreshold: 0.7": [("0.6", "FAIL None"), ("0.7", "PASS None")],
    f"{VOTES}\nvoting: average": [("0.9 0.8 0.1", "PASS None"), ("0.2 0.1 0.9", "FAIL None")],
    f"{VOTES}\nvoting: median\noptions: {{threshold: 0.8}}": [
        ("0.9 0.8 0.1", "PASS None"), ("0.9 0.7 0.1", "FAIL None"),
    ],
    f"{VOTES}\nvoting: bayes\noptions: {{reliabilities: [[0.9, 0.9], [0.6, 0.6], [0.6, 0.6]], prior: 0.5}}": [
        ("PASS FAIL FAIL", "PASS None"), ("FAIL PASS PASS", "FAIL None"),
    ],
}  # fmt: skip


def test_a_file_counts_recorded_votes(tmp_path: Path) -> None:
    for text, rows in RECORDED.items():
        jury = loaded(tmp_path, text)
        for votes, expected in rows:
            cast = [float(vote) if vote[0].isdigit() else vote for vote in votes.split()]
            verdict = jury.judge(answer="x", metadata={"votes": dict(zip("abc", cast, strict=False))})
            if votes == "off":  # not declared: the juror broke, so nothing is decided
                assert verdict.status == "ERROR"
                continue
            assert f"{verdict.status} {verdict.label}" == expected, (text, votes)


def test_a_file_and_the_same_jury_in_python_are_one_jury(tmp_path: Path) -> None:
    """So results files, stores and guarantees of one go with the other."""
    text = """
name: support
tiers:
  - name: checks
    policy: reject_on_any_fail
    if_broken: reject
    judge: {jurors: {text: {check: not_empty}, brief: {check: length_between, maximum: 9, unit: words}}, voting: veto}
  - name: cheap
    policy: {escalate_below: 0.75}
    judge:
      rubric: faithfulness
      jurors:
        gpt: {model: "openai:gpt-4o-mini", weight: 2, required: true}
        claude: {model: "anthropic:claude-haiku-4-5", temperature: null, max_tokens: 500, threshold: 0.6}
      errors: abstain
      min_votes: 2
  - name: all
    judge:
      scorecard:
        polite: {criterion: The answer is polite., model: "openai:gpt-4o", logprobs: true, image_urls: true}
        votes: {recorded: judge, labels: {valid: pass, invalid: fail}, threshold: 0.4}
      pass_when: [polite]
"""
    checks = Ensemble({"text": NotEmpty(), "brief": LengthBetween(maximum=9, unit="words")}, voting="veto")
    claude = Critic("anthropic:claude-haiku-4-5", "faithfulness", temperature=None, max_tokens=500, threshold=0.6)
    cheap = Ensemble(
        {"gpt": Critic("openai:gpt-4o-mini", "faithfulness"), "claude": claude},
        weights=[2, 1], required=["gpt"], errors="abstain", min_votes=2,
    )  # fmt: skip
    polite = Critic("openai:gpt-4o", Rubric.from_criteria("The answer is polite."), logprobs=True, image_urls=True)
    votes = RecordedCritic("judge", labels={"valid": "pass", "invalid": "fail"}, threshold=0.4)
    python = CascadedJury(
        [
            Tier("checks", checks, "reject_on_any_fail", if_broken="reject"),
            Tier("cheap", cheap, "escalate_below", confidence=0.75),
            Tier("all", Scorecard({"polite": polite, "votes": votes}, pass_when=["polite"])),
        ],
        name="support",
    )
    jury = loaded(tmp_path, text)
    assert (
        jury.fingerprint,
        repr(jury),
        loaded(tmp_path, text.replace("0.75", "0.8")).fingerprint != python.fingerprint,
    ) == (python.fingerprint, repr(python), True)


OTHER = {
    "a model": ("gpt-4o", "gpt-4o-mini"), "a rubric": ("safety", "tone"), "an option": ("0.5", "0.6"),
    "a file of a rubric": ("own.yaml", "other.yaml"), "a weight": ("weight: 2", "weight: 3"),
    "a rule": ("veto", "quorum"),
    "a label": ("bad: fail", "bad: abstain"), "a name of a juror": ("third:", "last:"),
}  # fmt: skip


def test_the_fingerprint_of_a_file_changes_with_all_that_changes_its_verdicts(tmp_path: Path) -> None:
    """Else a run would be continued, and a guarantee applied, under another jury."""
    write(tmp_path, "criteria: Is it polite?", "own.yaml")
    write(tmp_path, "criteria: Is it kind?", "other.yaml")
    text = """
voting: veto
jurors:
  first: {rubric: safety, model: "openai:gpt-4o", threshold: 0.5, weight: 2}
  second: {rubric: own.yaml, model: "openai:gpt-4o"}
  third: {recorded: a, labels: {good: pass, bad: fail}}
"""
    found = {what: loaded(tmp_path, text.replace(*change, 1)).fingerprint for what, change in OTHER.items()}
    found["nothing"] = loaded(tmp_path, text + "\n# a comment\n").fingerprint
    assert found["nothing"] == loaded(tmp_path, text).fingerprint
    write(tmp_path, "criteria: Is it polite? Be strict.", "own.yaml")
    found["the text of a rubric"] = loaded(tmp_path, text).fingerprint
    assert len({*found.values()}) == len(OTHER) + 2


def rubrics(jury) -> list[str]:
    return [one.rubric.name for one in members(jury) if isinstance(one, Critic)]


def answers(jury) -> list[list[str]]:
    return [list(one.rubric.answers.values) for one in members(jury) if isinstance(one, Critic)]


GPT, CLAUDE = '{model: "openai:gpt-4o-mini"}', '{model: "anthropic:claude-haiku-4-5"}'
QUESTIONS = {
    f"rubric: safety\njurors: [{GPT}, {CLAUDE}, {{check: not_empty}}]": ["safety", "safety"],
    f"criterion: It is polite.\njurors: [{GPT}]": ["criteria"],
    "rubric: faithfulness\ntiers:\n"
    f"  - {{name: a, policy: escalate_on_split, judge: {{rubric: safety, jurors: [{GPT}]}}}}\n"
    f"  - {{name: b, policy: escalate_on_split, judge: {{jurors: [{CLAUDE}]}}}}\n"
    '  - {name: c, judge: {rubric: tone, model: "openai:gpt-4o"}}': ["safety", "faithfulness", "tone"],
    f"rubric: safety\njurors: [{{scorecard: {{a: {GPT}, b: {{rubric: tone, model: 'openai:m'}}}}}}]":
        ["safety", "tone"],
    "rubric: safety\nmodel: 'openai:a'\nfallbacks: [{model: 'openai:b'}, {rubric: tone, model: 'openai:c'}]":
        ["safety", "safety", "tone"],
    "rubric: own.yaml\njurors: [{model: 'openai:a'}, {rubric: deep/own.yml, model: 'openai:b'}]": ["own", "deep own"],
}  # fmt: skip


def test_the_nearest_question_counts_for_every_critic_inside(tmp_path: Path) -> None:
    write(tmp_path, "criteria: Is it polite?", "own.yaml")
    write(tmp_path, "name: deep own\ncriteria: Is it polite?", "deep/own.yml")
    assert {text: rubrics(loaded(tmp_path, text)) for text in QUESTIONS} == QUESTIONS


AB, CD = "labels: {A: pass, B: fail}", "labels: {C: pass, D: 0.2, E: abstain}"
TONE = ["appropriate", "inappropriate"]
ANSWER_LINES = {
    f"rubric: safety\n{AB}\njurors: [{GPT}, {{rubric: tone, model: 'openai:m'}}]": [["A", "B"], TONE],
    f"{AB}\njurors: [{{rubric: safety, model: 'openai:m'}}, {{rubric: tone, model: 'openai:m'}}]":
        [["A", "B"], ["A", "B"]],
    f"rubric: safety\n{AB}\njurors: {{x: {{{CD}, jurors: [{GPT}]}}, y: {GPT}}}": [["C", "D"], ["A", "B"]],
    f"rubric: safety\njurors: [{{model: 'openai:m', {AB}}}, {GPT}]": [["A", "B"], ["safe", "unsafe"]],
    "rubric: safety\nscale: {minimum: 1, maximum: 3, pass_mark: 3}\nmodel: 'openai:m'": [["1", "2", "3"]],
    "rubric: faithfulness\nlabels: {YES: pass, NO: fail, off: abstain}\nmodel: 'openai:m'": [["YES", "NO"]],
}  # fmt: skip


def test_the_nearest_answers_count_and_stay_words(tmp_path: Path) -> None:
    for text, expected in ANSWER_LINES.items():
        found = answers(loaded(tmp_path, text))
        assert [sorted(one) for one in found] == [sorted(one) for one in expected], text
    (critic,) = members(loaded(tmp_path, [*ANSWER_LINES][-1]))
    assert ([*critic.rubric.labels.root], critic.rubric.empty_answer, Rubric.bundled("faithfulness").empty_answer) == (
        ["YES", "NO", "off"],
        None,
        "NO",
    )


def test_samples_timeouts_names_and_fallbacks_are_those_of_the_file(tmp_path: Path) -> None:
    jury = loaded(
        tmp_path,
        """
name: whole
timeout: 30
jurors:
  - {name: thrice, rubric: safety, model: "openai:gpt-4o-mini", samples: 3, timeout: 2, request_timeout: 7}
  - {name: broken, recorded: a, timeout: 1, fallbacks: [{name: spare, check: not_empty}]}
""",
    )
    assert (jury.name, jury.timeout, list(jury.judges)) == ("whole", 30, ["thrice", "broken"])
    thrice, broken = jury.members
    assert (thrice.timeout, thrice.size, thrice.members[0].model._timeout) == (2, 3, 7)
    judgment = broken.judge(answer="x", metadata={"votes": {"a": {"label": 3, "score": 5}}})
    assert (judgment.passed, judgment.metadata["fallback_used"]) == (True, "spare")


def test_a_jury_file_runs_without_a_key_that_it_does_not_use(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("OPENAI_API_KEY")
    assert loaded(tmp_path, JURORS).judge(answer="Yes.").passed
    critic = loaded(tmp_path, "rubric: safety\nmodel: 'ollama:llama3.2'")
    assert critic.model.identity == open_model("ollama:llama3.2").identity


def test_loading_a_file_imports_no_framework_and_no_statistics(tmp_path: Path) -> None:
    program = (
        "import sys; from jury_adapters.config import load_jury; load_jury(sys.argv[1]).judge(answer='Yes.');"
        "print(*(name for name in ('numpy', 'openai', 'langchain_core', 'scipy') if name in sys.modules))"
    )
    path = write(tmp_path, JURORS)
    run = subprocess.run([sys.executable, "-c", program, str(path)], capture_output=True, text=True, check=True)
    assert run.stdout.strip() == ""


def test_a_file_can_be_encoded_with_a_mark_and_named_by_text(tmp_path: Path) -> None:
    path = tmp_path / "jury.yaml"
    path.write_bytes("\ufeffcheck: not_empty\nname: Prüfung\n".encode())
    assert load_jury(str(path)).name == "Prüfung"
