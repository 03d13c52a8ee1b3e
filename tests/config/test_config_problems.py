"""What is wrong with a file, said with its place and in its own words."""

from __future__ import annotations

import re
import time
from pathlib import Path

import pytest
from support.proportion import assert_proportional

from jury_adapters import ConfigurationError
from jury_adapters.config import load_jury

BAD = {
    "jurors: [{critic: faithfulnes, model: 'ollama:x'}]":
        "line 1: jurors[0].critic: unknown rubric 'faithfulnes'. Did you mean 'faithfulness'?",
    "jurors: [{critic: safety}]": "jurors[0]: needs `model:`",
    "jurors: [{critic: safety, model: gpt-4o}]": "jurors[0]: which vendor has 'gpt-4o'?",
    "jurors: [{critic: safety, model: 'ollama:x', threshold: 2}]": "jurors[0].threshold: ",
    "jurors: [{critic: safety, model: 'ollama:x', repeat: 0}]": "jurors[0].repeat: ",
    "jurors: [{critic: safety, model: 'ollama:x', max_token: 5}]": "unknown key 'max_token'. Did you mean 'max_tok",
    "jurors: [{criteria: ' ', model: 'ollama:x'}]": "jurors[0].criteria: the sentence is blank",
    "jurors: [{critic: safety, criteria: x, model: 'ollama:x'}]": "critic and criteria stand side by side",
    "jurors: [{check: not_emty}]":
        "line 1: jurors[0].check: unknown check 'not_emty'. Did you mean 'not_empty'?",
    "tiers:\n  - {name: a, policy: reject_on_any_fail, check: not_empty}\n  - name: b\n    jury:\n      jurors:\n"
    "        - check: not_emty":
        "line 6: tiers[1].jury.jurors[0].check: unknown check 'not_emty'. Did you mean 'not_empty'?",
    "jurors: [{chek: not_empty}]": "jurors[0].chek: unknown key 'chek'. Did you mean 'check'?",
    "jurors: [not_empty]\n": 'jurors[0]: a judge is a mapping such as {check: not_empty}, not "not_empty"',
    "jurors: [{check: [a]}]": "jurors[0].check: unknown check ['a']",
    "jurors: [{name: x}]": "jurors[0]: nothing says who judges; give one of check, screen, recorded",
    "jurors: [{check: not_empty, screen: undecided}]": "jurors[0]: check and screen stand side by side",
    "jurors: [{check: matches}]": "jurors[0]: needs `pattern:`",
    "jurors: [{check: matches, pattern: '('}]": "jurors[0]: '(' is not a regular expression",
    "jurors: [{check: contains, texts: [a, 3]}]": "jurors[0].texts[1]: expected text",
    "jurors: [{check: length_between, minimum: true}]": "jurors[0].minimum: expected a whole number, not true",
    "jurors: [{check: length_between, minimum: '3'}]": 'jurors[0].minimum: expected a whole number, not "3"',
    "jurors: [{check: length_between, unit: word}]": "jurors[0].unit: unknown unit 'word'. Did you mean 'words'?",
    "jurors: [{check: not_empty, timeout: -1}]": "jurors[0]: timeout is a positive number",
    "jurors: [{recorded: a, votes: nowhere.jsonl}]": "jurors[0]: nowhere.jsonl: No such file",
    "jurors: [{recorded: a, pass_labels: yes}]": 'jurors[0].pass_labels: expected a list, not "yes"',
    "jurors: []\n": "jurors: is empty; it needs at least one",
    "jurors: [{check: not_empty}]\nvoting: majorty": "line 2: voting: unknown voting strategy 'majorty'. Did you mean",
    "jurors: [{check: not_empty}]\nthreshold: 0.5": "line 2: threshold: unknown option of majority 'threshold'",
    "jurors: [{check: not_empty}]\nvotting: x": "line 2: votting: unknown key 'votting'. Did you mean 'voting'?",
    "jurors: [{check: not_empty}]\nschedule: early_stp": "unknown schedule 'early_stp'. Did you mean 'early_stop'?",
    "jurors: [{check: not_empty}]\nweights: {a: x}": 'line 2: weights.a: expected a number, not "x"',
    "jurors: [{check: not_empty}]\nweights: {a: 1}": "unknown juror in weights 'a'",
    "jurors: [{check: not_empty}]\nvoting: quorum\nquorum: [1, 2, 3]": "quorum: expected a number, or two of them",
    "jurors: [{check: not_empty}]\nvoting: bayes": "bayes needs reliabilities=",
    "jurors: [{check: not_empty}]\ntiers: []": "tiers: `jurors:` and `tiers:` stand side by side",
    "scorecard: {}\n": "scorecard: is empty; it needs at least one, such as answered: {check: not_empty}",
    "scorecard: [a]\n": 'scorecard: expected a mapping, not ["a"]',
    "scorecrd: {a: {check: not_empty}}": "scorecrd: unknown key 'scorecrd'. Did you mean 'scorecard'?",
    "scorecard:\n  a: {check: not_empty}\n  b: {check: not_emty}":
        "line 3: scorecard.b.check: unknown check 'not_emty'. Did you mean 'not_empty'?",
    "scorecard:\n  a: {check: not_empty, name: c}": "line 2: scorecard.a.name: a criterion is named by its key; leave",
    "scorecard:\n  a:\n    check: matches\n    pattern: '('": "line 2: scorecard.a: '(' is not a regular expression",
    "scorecard: {'': {check: not_empty}}": "a criterion has a name, not ''",
    "scorecard: {a: {check: not_empty}}\npass_when: [b]":
        "line 2: pass_when: unknown criterion in pass_when 'b'. Known: a.",
    "scorecard: {a: {check: not_empty}}\npass_when: a": "line 2: pass_when: unknown pass_when= 'a'. Known: all, any; "
        "for that criterion write ['a'].",
    "scorecard: {a: {check: not_empty}}\npass_when: 2": "line 2: pass_when: pass_when is a number from 1 to 1",
    "scorecard: {a: {check: not_empty}}\npass_when: true": "line 2: pass_when: expected text",
    "scorecard: {a: {check: not_empty}}\npass_wen: any": "line 2: pass_wen: unknown key 'pass_wen'. Did you mean 'pa",
    "scorecard: {a: {check: not_empty}}\nweights: {b: 2}\nthreshold: 1":
        "line 2: weights: unknown criterion in weights 'b'",
    "scorecard: {a: {check: not_empty}}\nweights: {a: 2}":
        "line 2: weights: `weights:` and `threshold:` belong together, such as weights: {faithful: 2} and threshold",
    "scorecard: {a: {check: not_empty}}\nthreshold: 0.5": "line 2: threshold: `weights:` and `threshold:` belong tog",
    "scorecard: {a: {check: not_empty}}\nweights: {a: 2}\nthreshold: 1\npass_when: any":
        "line 4: pass_when: give this, or `weights:` and `threshold:`; not both",
    "scorecard: {a: {check: not_empty}}\njuror_timeout: 0": "line 2: juror_timeout: ",
    "scorecard: {a: {check: not_empty}}\nvoting: majority": "line 2: voting: unknown key 'voting'",
    "scorecard: {a: {check: not_empty}}\njurors: []": "`jurors:` and `scorecard:` stand side by side; a jury has one",
    "juror: [{check: not_empty}]": "juror: unknown key 'juror'. Did you mean 'jurors'?",
    "juror: [{check: not_empty}]\ngates: {passed: true}": "Known: band_on, disagree_label, error_label, errors",
    '{"id": "a"}\n{"id": "b"}\n': "line 2: not YAML: a jury file is one mapping with `jurors:`, `scorecard:` or",
    "check: not_empty\nname: x": "a jury has `jurors:` (they vote), `scorecard:` (a judge for each",
    "[1, 2]\n": "a jury is a mapping with",
    "\n": "a jury is a mapping with",
    "tiers: []\n": "tiers: is empty; it needs at least one",
    "tiers: [x]\n": "tiers[0]: a tier is a mapping",
    "tiers: [{check: not_empty}]": "tiers[0]: needs `name:`",
    "tiers: [{name: a, check: not_empty, polcy: final}]": "tiers[0].polcy: unknown key 'polcy'. Did you mean 'policy'?",
    "tiers: [{name: a, check: not_empty, policy: escalate_on_splt}]": "policy 'escalate_on_splt'. Did you mean 'esc",
    "tiers: [{name: a, check: not_empty, policy: escalate_below}]": "tiers[0].policy: escalate_below needs its",
    "tiers: [{name: a, check: not_empty, policy: {escalate_below: 2}}]": "tiers[0].policy: escalate_below must be a",
    "tiers: [{name: a, check: not_empty, policy: {escalate_below: true}}]": "tiers[0].policy: a policy is a name",
    "tiers: [{name: a, check: not_empty, on_error: reject}]": "tiers[0]: on_error='reject' belongs to a reject_on_any",
    "tiers: [{name: a, check: not_empty, policy: final}, {name: b, check: not_empty}]": "tiers: tier 'a' is final",
    "tiers: [{name: a, check: not_empty, policy: final}, {name: a, check: not_empty}]": "two tiers are called 'a'",
}  # fmt: skip


@pytest.mark.parametrize("text", BAD, ids=range(len(BAD)))
def test_what_is_wrong_is_said_with_its_place(text):
    with pytest.raises(ConfigurationError) as caught:
        load_jury(text)
    assert BAD[text] in str(caught.value)
    assert str(caught.value).startswith("<text>, line ")


def test_every_problem_is_listed():
    with pytest.raises(ConfigurationError) as caught:
        load_jury("jurors:\n  - {check: not_emty}\n  - {check: matches}\n")
    assert len(str(caught.value).splitlines()) == 2


def test_of_many_problems_the_first_twenty_and_the_number_of_the_others_are_listed():
    with pytest.raises(ConfigurationError) as caught:
        load_jury("jurors:\n" + "  - {bad: 1}\n" * 50)
    *first, last = str(caught.value).splitlines()
    assert [line.partition(": jurors")[0] for line in first] == [f"<text>, line {number}" for number in range(2, 22)]
    assert last == "and 30 more problems in <text>"


def test_a_file_of_many_problems_is_refused_in_linear_time():
    def refuse(lines: int) -> None:
        with pytest.raises(ConfigurationError) as caught:
            load_jury("jurors:\n" + "  - {bad: 1}\n" * lines)
        assert f"and {lines - 20} more problems" in str(caught.value)

    assert_proportional(refuse, 500)


def test_a_message_shows_some_of_many_unknown_keys():
    with pytest.raises(ConfigurationError) as caught:
        load_jury("".join(f"key{number}: 1\n" for number in range(1000)))
    assert len(str(caught.value)) < 2000


def test_messages_name_the_file(tmp_path: Path):
    file = tmp_path / "jury.yaml"
    file.write_text("# a comment\njurors:\n  - check: not_emty\n")
    with pytest.raises(ConfigurationError) as caught:
        load_jury(file)
    assert str(caught.value).startswith(f"{file}, line 3: jurors[0].check: unknown check")


@pytest.mark.parametrize(
    ("text", "told"),
    [
        ("jurors: []\n", "line 1: jurors: is empty; it needs at least one, such as - check: not_empty"),
        ("tiers: []\n", "line 1: tiers: is empty; it needs at least one, such as - {name: all, jurors:"),
        ("jurors:\n  - {criteria: polite}\n", 'needs `model:`, such as model: "openai:gpt-4o-mini"'),
        ("jurors:\n\t- check: not_empty\n", "line 2: not YAML: indent with spaces, not with tabs"),
        (
            "name: x\njurors:\n  - check: not_empty\n voting: majority\n",
            "line 4: not YAML: the indentation does not fit",
        ),
        ("jurors:\n  - {critic: faithfulness, model: gpt-4o}\n", "Or give `base_url:`. Known vendors"),
    ],
    ids=["no juror", "no tier", "no model", "a tab", "indentation", "no vendor"],
)
def test_mistakes_of_beginners_are_told_in_the_words_of_the_file(text, told):
    with pytest.raises(ConfigurationError) as caught:
        load_jury(text)
    assert told in str(caught.value)
    assert not re.search(r"\w=(?!=)|Ensemble|Tier\(", str(caught.value))


@pytest.mark.parametrize(
    "text",
    [
        'jurors: [{check: not_empty}]\n"\\e[2Jgone": 1\n',
        'jurors: [{"\\e[2Jgone": 1}]\n',
        'jurors: [{check: not_empty}]\nweights: {"\\e[2Jgone": x}\n',
        'jurors: [{check: not_empty}]\nweights: {"\\e[2Jgone": 1}\n',
        'jurors: [{check: "\\e[2Jgone"}]\n',
        'jurors: [{check: not_empty, name: "\\e[2Jgone", timeout: -1}]\n',
        'jurors: [{check: matches, pattern: "(\\e[2Jgone"}]\n',
        'jurors: [{recorded: a, votes: "\\e[2Jgone"}]\n',
        'jurors: [{critic: "\\e[2Jgone", model: "ollama:x"}]\n',
        'jurors: [{critic: safety, model: "\\e[2Jgone"}]\n',
        '"\\e[2Jgone": !!int x\n',
        '? "\\e[2Jgone"\n"\\e[2Jgone": 1\n',
    ],
)
def test_a_file_that_steers_terminals_is_told_and_not_obeyed(text):
    with pytest.raises(ConfigurationError) as caught:
        load_jury(text)
    assert "\x1b" not in str(caught.value)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("jurors: [{criteria: ok, model: 'ollama:x', repeat: 100000000}]", "repeat: .*less than or equal to 100"),
        ("jurors: [{check: not_empty}]\nmin_share: '1e99999999'", 'min_share must be a number from 0 to 1, "2/3"'),
        ("jurors: [{check: not_empty}]\nvoting: quorum\nquorum: '1/1e99999999'", "quorum must be a number from 0 to 1"),
        ("jurors: [{check: matches, pattern: a, timeout_s: 1000000}]", "timeout_s is .* 60 at most"),
        ("jurors: [{check: valid_json, timeout_s: 1000000}]", "timeout_s is .* 60 at most"),
        ("jurors: [{check: file_content, path: a, timeout_s: 61}]", "timeout_s is .* 60 at most"),
        ("jurors: [{check: matches, pattern: '((a{1000}){1000}){1000}'}]", "is too large"),
    ],
)
def test_a_number_that_would_hang_the_process_is_refused_at_once(text, message):
    started = time.monotonic()
    with pytest.raises(ConfigurationError, match=message):
        load_jury(f"{text}\n")
    assert time.monotonic() - started < 20
