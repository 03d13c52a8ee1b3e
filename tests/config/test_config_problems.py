"""Messages about mistakes in a file, with their places and in the words of the file."""

from __future__ import annotations

import re
import time
from pathlib import Path

import pytest
from support.proportion import assert_proportional

from jury_adapters import ConfigurationError
from jury_adapters.config import load_jury

BAD = {
    "jurors: [{rubric: faithfulnes, model: 'ollama:x'}]":
        "line 1: jurors[0].rubric: unknown rubric 'faithfulnes'. Did you mean 'faithfulness'?",
    "jurors: [{rubric: safety}]": "jurors[0]: needs `model:`",
    "jurors: [{rubric: safety, model: gpt-4o}]": "jurors[0]: which vendor has 'gpt-4o'?",
    "jurors: [{rubric: safety, model: 'ollama:x', threshold: 2}]": "jurors[0].threshold: ",
    "jurors: [{rubric: safety, model: 'ollama:x', samples: 0}]": "jurors[0].samples: ",
    "jurors: [{rubric: safety, model: 'ollama:x', max_token: 5}]": "unknown key 'max_token'. Did you mean 'max_tok",
    "jurors: [{criterion: ' ', model: 'ollama:x'}]": "jurors[0].criterion: the criterion is blank",
    "jurors: [{rubric: safety, criterion: x, model: 'ollama:x'}]": "`rubric:` and `criterion:` are side by side",
    "jurors: [{criteria: x, model: 'ollama:x'}]":
        "jurors[0].criteria: unknown key 'criteria'; one sentence is `criterion:`",
    "jurors: [{critic: safety, model: 'ollama:x'}]":
        "jurors[0].critic: unknown key 'critic'; a critic is a rubric and a m",
    "{rubric: safety, juror: [{check: not_empty}]}": "juror: unknown key 'juror'. Did you mean 'jurors'?",
    "rubric: safety\n": "line 1: needs `model:`",
    "jurors: [{check: not_emty}]":
        "line 1: jurors[0].check: unknown check 'not_emty'. Did you mean 'not_empty'?",
    "tiers:\n  - {name: a, policy: reject_on_any_fail, judge: {check: not_empty}}\n  - name: b\n    judge:\n"
    "      jurors:\n        - check: not_emty":
        "line 6: tiers[1].judge.jurors[0].check: unknown check 'not_emty'. Did you mean 'not_empty'?",
    "jurors: [{chek: not_empty}]": "jurors[0].chek: unknown key 'chek'. Did you mean 'check'?",
    "jurors: [not_empty]\n": 'jurors[0]: a judge is a mapping such as {check: not_empty}, not "not_empty"',
    "jurors: [{check: [a]}]": "jurors[0].check: unknown check ['a']",
    "jurors: [{name: x}]": "jurors[0]: a judge has one of the keys check, rubric, criterion, recorded",
    "jurors: [{check: not_empty, recorded: a}]": "jurors[0].recorded: `check:` and `recorded:` are side by side",
    "jurors: [{check: matches}]": "jurors[0]: needs `pattern:`",
    "jurors: [{check: matches, pattern: '('}]": "jurors[0]: '(' is not a regular expression",
    "jurors: [{check: contains, texts: [a, 3]}]": "jurors[0].texts[1]: expected text",
    "jurors: [{check: length_between, minimum: true}]": "jurors[0].minimum: expected a whole number, not true",
    "jurors: [{check: length_between, minimum: '3'}]": 'jurors[0].minimum: expected a whole number, not "3"',
    "jurors: [{check: length_between, unit: word}]": "jurors[0].unit: unknown unit 'word'. Did you mean 'words'?",
    "jurors: [{check: not_empty, timeout: -1}]": "jurors[0].timeout: must be above 0, not -1",
    "jurors: [{recorded: a, votes: nowhere.jsonl}]": "jurors[0]: nowhere.jsonl: No such file",
    "jurors: [{recorded: a, labels: yes}]": 'jurors[0].labels: expected a mapping, not "yes"',
    "jurors: []\n": "jurors: is empty; it needs at least one",
    "jurors: [{check: not_empty}]\nvoting: majorty": "line 2: voting: unknown voting strategy 'majorty'. Did you mean",
    "jurors: [{check: not_empty}]\nthreshold: 0.5": "line 2: threshold: unknown option of majority 'threshold'",
    "jurors: [{check: not_empty}]\nvotting: x": "line 2: votting: unknown key 'votting'. Did you mean 'voting'?",
    "jurors: [{check: not_empty}]\nschedule: early_stp": "unknown schedule 'early_stp'. Did you mean 'early_stop'?",
    "jurors: [{check: not_empty, weight: x}]": 'jurors[0].weight: expected a number, not "x"',
    "jurors: {a: {check: not_empty, weight: -1}}": "line 1: jurors.a.weight: must be 0 or more, not -1",
    "jurors: {a: {check: not_empty, weight: 0}}":
        "line 1: all weights are zero; give at least one judge a weight above 0",
    "jurors: [{check: not_empty}]\nweights: {a: 1}": "line 2: weights: unknown key 'weights'; a weight is beside its",
    "jurors: {a: {check: not_empty, name: b}}":
        "jurors.a.name: a judge in a mapping is named by its key; leave `name:`",
    "jurors: {}\n": "line 1: jurors: is empty; it needs at least one, such as text: {check: not_empty}",
    "jurors: 3": "line 1: jurors: expected a list or a mapping, not 3",
    "jurors: {'': {check: not_empty}}": "'' is not a name",
    "jurors: {a: {check: not_emty}}": "line 1: jurors.a.check: unknown check 'not_emty'. Did you mean 'not_empty'?",
    "{check: not_empty, weight: 0}": "line 1: weight: `weight:` belongs to a juror in `jurors:` or to a criterion",
    "scorecard: {a: {check: not_empty, required: true}}": "scorecard.a.required: `required: true` belongs to a juror",
    "jurors: [{check: not_empty}]\nvoting: quorum\nquorum: [1, 2, 3]": "quorum: expected a number, or two of them",
    "jurors: [{check: not_empty}]\nvoting: bayes": "bayes needs reliabilities=",
    "jurors: [{check: not_empty}]\ntiers: []": "tiers: `jurors:` and `tiers:` are side by side",
    "scorecard: {}\n": "scorecard: is empty; it needs at least one, such as answered: {check: not_empty}",
    "scorecard: [a]\n": 'scorecard: expected a mapping, not ["a"]',
    "scorecrd: {a: {check: not_empty}}": "scorecrd: unknown key 'scorecrd'. Did you mean 'scorecard'?",
    "scorecard:\n  a: {check: not_empty}\n  b: {check: not_emty}":
        "line 3: scorecard.b.check: unknown check 'not_emty'. Did you mean 'not_empty'?",
    "scorecard:\n  a: {check: not_empty, name: c}":
        "line 2: scorecard.a.name: a judge in a mapping is named by its key; leave",
    "scorecard:\n  a:\n    check: matches\n    pattern: '('": "line 2: scorecard.a: '(' is not a regular expression",
    "scorecard: {'': {check: not_empty}}": "a criterion has a name, not ''",
    "scorecard: {a: {check: not_empty}}\npass_when: [b]":
        "line 2: pass_when: unknown criterion in pass_when 'b'. Known: a.",
    "scorecard: {a: {check: not_empty}}\npass_when: a": "line 2: pass_when: unknown pass_when= 'a'. Known: all, any; "
        "for that criterion write ['a'].",
    "scorecard: {a: {check: not_empty}}\npass_when: 2": "line 2: pass_when: pass_when is a number from 1 to 1",
    "scorecard: {a: {check: not_empty}}\npass_when: true": "line 2: pass_when: expected text",
    "scorecard: {a: {check: not_empty}}\npass_wen: any": "line 2: pass_wen: unknown key 'pass_wen'. Did you mean 'pa",
    "scorecard: {a: {check: not_empty}}\nweights: {a: 2}\nthreshold: 1": "line 2: weights: unknown key 'weights'; a w",
    "scorecard:\n  a: {check: not_empty, weight: 0}\nthreshold: 1":
        "line 2: scorecard.a.weight: the weight of 'a' is a",
    "scorecard:\n  a: {check: not_empty, weight: 2}":
        "line 2: scorecard.a.weight: `weight:` of a criterion and `threshold:` belong together, such as weight: 2",
    "scorecard: {a: {check: not_empty}}\nthreshold: 0.5": "line 2: threshold: `weight:` of a criterion and `threshol",
    "scorecard: {a: {check: not_empty, weight: 2}}\nthreshold: 1\npass_when: any":
        "line 3: pass_when: give this, or `weight:` beside criteria and `threshold:`; not both",
    "scorecard: {a: {check: not_empty, weight: 2}}\nthreshold: 1\npass_when: all": "line 3: pass_when: give this, or",
    "tiers: [{name: a, judge: {check: not_empty}, timeout: 3}]": "tiers[0].timeout: belongs to the judge; write it",
    "{rubric: It is polite., model: 'ollama:x'}": 'in a jury file, criterion: "..." instead of rubric:',
    "scorecard: {a: {check: not_empty}}\njuror_timeout: 0": "line 2: juror_timeout: ",
    "scorecard: {a: {check: not_empty}}\nvoting: majority": "line 2: voting: unknown key 'voting'",
    "scorecard: {a: {check: not_empty}}\njurors: []":
        "scorecard: `jurors:` and `scorecard:` are side by side; one judge",
    "juror: [{check: not_empty}]": "juror: unknown key 'juror'. Did you mean 'jurors'?",
    "juror: [{check: not_empty}]\ngates: {passed: true}": "Known: check, criterion, jurors, model, recorded, rubric, ",
    '{"id": "a"}\n{"id": "b"}\n': "line 2: not YAML: a jury file is one mapping, such as {jurors:",
    "name: x\n": "line 1: a judge has one of the keys check, rubric",
    "judge: {check: not_empty}\n": "judge: unknown key 'judge'; a judge has its keys here; only a tier has `judge:`",
    "judges: [{check: not_empty}]": "judges: unknown key 'judges'; the judges of a jury are `jurors:`, such as",
    "jury: {jurors: [{check: not_empty}]}": "jury: unknown key 'jury'; a jury has its keys here: `jurors:`, `scorecard",
    "cascade: [{name: a}]": "cascade: unknown key 'cascade'; a cascade is `tiers:`, such as tiers: [{name: all",
    "jurors: [{screen: grounding}]": "jurors[0].screen: unknown key 'screen'; a screen is a check, such as check:",
    "jurors: [{critic: safety}]": "jurors[0].critic: unknown key 'critic'; a critic is a rubric and a model",
    "jurors: {check: not_empty}": "jurors.check: a name and its judge are needed, such as text: {check: not_empty};",
    "jurors: {a: {check: not_empty, weight: .inf}}": "jurors.a.weight: ",
    "{rubric: '', model: 'ollama:x'}": 'rubric: must be a text that is not empty, not ""',
    "tiers: [{name: a, judge: {check: not_empty}, policy: escalate_below 0.7}]": "policy: {escalate_below: 0.7}",
    "tiers: [{name: a, judge: {check: not_empty}, policy: 'escalate_below: 0.7'}]": "policy: {escalate_below: 0.7}",
    "tiers: [{name: a, judge: {check: not_empty}, policy: 3}]":
        "a policy is a name (reject_on_any_fail, accept_on_all_pass, escalate_on_split, final) or {",
    "[1, 2]\n": "a jury file is a mapping such as {jurors:",
    "\n": "a jury file is a mapping such as {jurors:",
    "tiers: []\n": "tiers: is empty; it needs at least one",
    "tiers: [x]\n": "tiers[0]: a tier is a mapping",
    "tiers: [{judge: {check: not_empty}}]": "tiers[0]: needs `name:`",
    "tiers: [{name: a}]": "tiers[0]: needs `judge:`, such as judge: {check: not_empty}",
    "tiers: [{name: a, check: not_empty}]": "tiers[0].check: the judge of a tier has a key of its own: {name: screen",
    "tiers: [{name: a, policy: escalate_below, threshold: 0.85, judge: {check: not_empty}}]":
        "tiers[0].threshold: escalate_below has its threshold in a mapping: policy: {escalate_below: 0.85}",
    "tiers: [{name: a, policy: final, threshold: 0.85, judge: {check: sentence_support}}]":
        "tiers[0].threshold: belongs to the judge; write it inside `judge:`, as in {name: screen, policy: rej",
    "tiers: [{name: a, judge: not_empty}]": "tiers[0].judge: a judge is a mapping such as {check: not_empty}",
    "tiers: [{name: a, polcy: final, judge: {check: not_empty}}]":
        "tiers[0].polcy: unknown key 'polcy'. Did you mean 'policy'?",
    "tiers: [{name: a, judge: {check: not_empty}, policy: escalate_on_splt}]":
        "policy 'escalate_on_splt'. Did you mean 'esc",
    "tiers: [{name: a, policy: escalate_below, judge: {check: not_empty}}]":
        "tiers[0].policy: escalate_below needs its",
    "tiers: [{name: a, policy: Escalate_below, judge: {check: not_empty}}]": "mapping: policy: {escalate_below: 0.8}",
    "tiers: [{name: a, policy: escalate_below(0.7), judge: {check: not_empty}}]":
        "mapping: policy: {escalate_below: 0.7}",
    "labels: {POLITE: passed}\njurors: [{check: not_empty}]": "POLITE: unknown meaning 'passed'. Did you mean 'pass'",
    "labels: {POLITE: true}\njurors: [{check: not_empty}]": "labels.POLITE: unknown meaning True. Did you mean 'pass'",
    "labels: {RUDE: false}\njurors: [{check: not_empty}]": "labels.RUDE: unknown meaning False. Did you mean 'fail'",
    "jurors: [{check: not_empty, fallback: {check: not_empty}}]": "unknown key 'fallback'; fallbacks are a list, such",
    "tiers: [{name: a, policy: {escalate_below: 2}, judge: {check: not_empty}}]":
        "tiers[0].policy: escalate_below must be a",
    "tiers: [{name: a, policy: {escalate_below: true}, judge: {check: not_empty}}]":
        "tiers[0].policy: a policy is a name",
    "tiers: [{name: a, if_broken: reject, judge: {check: not_empty}}]":
        "tiers[0]: if_broken='reject' belongs to a reject_on",
    "tiers: [{name: a, policy: final, judge: {check: not_empty}}, {name: b, judge: {check: not_empty}}]":
        "tiers: tier 'a' is final",
    "tiers: [{name: a, policy: final, judge: {check: not_empty}}, {name: a, judge: {check: not_empty}}]":
        "two tiers are called 'a'",
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


@pytest.mark.slow
def test_a_file_of_many_problems_is_refused_in_linear_time():
    def refuse(lines: int) -> None:
        with pytest.raises(ConfigurationError) as caught:
            load_jury("jurors:\n" + "  - {bad: 1}\n" * lines)
        assert f"and {lines - 20} more problems" in str(caught.value)

    assert_proportional(refuse, 500)


@pytest.mark.slow
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
        ("jurors: []\n", "line 1: jurors: is empty; it needs at least one, such as text: {check: not_empty}"),
        (
            "tiers: []\n",
            "line 1: tiers: is empty; it needs at least one, such as - {name: all, judge: {check: not_empty}}",
        ),
        ("jurors:\n  - {criterion: polite}\n", 'needs `model:`, such as model: "openai:gpt-4o-mini"'),
        ("jurors:\n\t- check: not_empty\n", "line 2: not YAML: indent with spaces, not with tabs"),
        (
            "name: x\njurors:\n  - check: not_empty\n voting: majority\n",
            "line 4: not YAML: the indentation does not fit",
        ),
        ("jurors:\n  - {rubric: faithfulness, model: gpt-4o}\n", "Or give `base_url:`. Known vendors"),
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
        'jurors: {"\\e[2Jgone": {check: not_emty}}\n',
        'jurors: {"\\e[2Jgone": {check: not_empty, weight: -1}}\n',
        'scorecard: {"\\e[2Jgone": {check: not_empty, weight: 1}}\n',
        'tiers: [{name: a, "\\e[2Jgone": 1}]\n',
        'jurors: [{check: "\\e[2Jgone"}]\n',
        'jurors: [{check: not_empty, name: "\\e[2Jgone", timeout: -1}]\n',
        'jurors: [{check: matches, pattern: "(\\e[2Jgone"}]\n',
        'jurors: [{recorded: a, votes: "\\e[2Jgone"}]\n',
        'jurors: [{rubric: "\\e[2Jgone", model: "ollama:x"}]\n',
        'jurors: [{rubric: safety, model: "\\e[2Jgone"}]\n',
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
        ("jurors: [{criterion: ok, model: 'ollama:x', samples: 100000000}]", "samples: must be 100 or less"),
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
