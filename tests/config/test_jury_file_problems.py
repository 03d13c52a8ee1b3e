"""Mistakes in jury files: each is told in one line with the file, the place and what is allowed."""

from pathlib import Path

import pytest
from config_support import GUARANTEE, loaded, problem, write
from fact_tables import each_row

from jury_adapters import ConfigurationError, InputError
from jury_adapters.config import load_jury

CHECK = "{check: not_empty}"
MODEL = "{model: 'ollama:x', rubric: safety}"

# A file, and what its problem begins with.
PROBLEMS = {
    # kinds
    "jurors: {a: {check: not_emty}}": "jurors.a.check: Input should be ",
    "tiers: [{name: a, judge: {check: not_empty}}, {name: b, judge: {jurors: {gpt: {model: 3}}}}]":
        "tiers[1].judge.jurors.gpt.model: Input should be a valid string",
    "judges: {a: {check: not_empty}}": "a judge is a mapping with exactly one of the keys check, rubric, criterion, "
        "recorded, jurors, scorecard, tiers",
    "{check: not_empty, recorded: a}": "a judge is a mapping with exactly one of the keys",
    f"jurors: [{CHECK}, not_empty]": "jurors[1]: a judge is a mapping with exactly one of the keys",
    "just text": "a judge is a mapping with exactly one of the keys",
    "[1, 2]": "a judge is a mapping with exactly one of the keys",
    "": "a judge is a mapping with exactly one of the keys",
    # keys
    "jurors: {a: {check: not_empty, texts: [x]}}":
        "jurors.a: unknown key 'texts'; allowed here: name, weight, required, timeout, fallbacks, check, of",
    f"jurors: {{a: {CHECK}}}\nvotting: veto\nwieght: 3": "unknown key 'votting', 'wieght'; allowed here: name, ",
    f"jurors: {{a: {CHECK}}}\ntie: pass": "unknown key 'tie'; allowed here: ",
    "{check: not_empty, model: 'openai:m'}": "unknown key 'model'; allowed here: ",
    f"tiers: [{{name: a, check: not_empty, judge: {CHECK}}}]":
        "tiers[0]: unknown key 'check'; allowed here: name, policy, if_broken, judge",
    f"tiers: [{{judge: {CHECK}}}]": "tiers[0].name: Field required",
    f"tiers: [{{name: '', judge: {CHECK}}}]": "tiers[0].name: String should have at least 1 character",
    "jurors: {}": "jurors: Dictionary should have at least 1 item",
    "jurors: []": "jurors: List should have at least 1 item",
    "jurors: 3": "jurors: Input should be a valid dictionary",
    f"jurors: {{'': {CHECK}}}": "jurors.: String should have at least 1 character",
    f"jurors: [{', '.join([CHECK] * 101)}]": "jurors: List should have at most 100 items",
    # values
    "{check: length_between, maximum: '3'}": "maximum: Input should be a valid integer",
    "{check: length_between, maximum: true}": "maximum: Input should be a valid integer",
    "{check: length_between, maximum: -1}": "maximum: Input should be greater than or equal to 0",
    "{check: length_between, unit: word}": "unit: Input should be 'characters' or 'words'",
    "jurors: [{check: not_empty, weight: -1}]": "jurors[0].weight: Input should be greater than or equal to 0",
    "{check: not_empty, timeout: 0}": "timeout: Input should be greater than 0",
    "{check: not_empty, timeout: '3'}": "timeout: Input should be a valid number",
    f"{{jurors: [{CHECK}], voting: majorty}}": "voting: Input should be 'majority', 'unanimous', 'veto', 'quorum', ",
    f"{{jurors: [{CHECK}], schedule: early}}": "schedule: Input should be 'parallel', 'sequential' or 'early_stop'",
    f"{{jurors: [{CHECK}], errors: propagate}}": "errors: Input should be 'missing', 'fail', 'abstain' or 'ignore'",
    f"{{jurors: [{CHECK}], options: {{quorum: 1}}}}": "options.quorum: Extra inputs are not permitted",
    f"{{jurors: [{CHECK}], voting: veto, options: {{k: '1'}}}}": "options.k: Input should be a valid integer",
    f"{{jurors: [{CHECK}], voting: quorum, options: {{quorum: 1.5}}}}": "options.quorum: a share is a number in 0..1",
    f"{{jurors: [{CHECK}], voting: bayes}}": "reliabilities: Field required",
    f"{{jurors: [{CHECK}], voting: veto, options: {{k: 2}}}}": "k= is a whole number from 1 to 1, not 2",
    f"{{jurors: [{CHECK}], min_votes: 2}}": "min_votes= is a whole number from 1 to 1, not 2",
    "{jurors: [{check: not_empty, weight: 0}]}": "weights= has a number from 0 for each of 1 jurors, and one above 0",
    f"tiers: [{{name: a, policy: escalate, judge: {CHECK}}}]":
        "tiers[0].policy: Input should be 'reject_on_any_fail', 'accept_on_all_pass', 'escalate_on_split', "
        "'escalate_below' or 'final', or Input should be a valid dictionary",
    f"tiers: [{{name: a, policy: {{escalate_below: 0.5}}, if_broken: reject, judge: {CHECK}}}]":
        "tiers[0]: if_broken= goes with the policy reject_on_any_fail, not escalate_below",
    f"tiers: [{{name: a, policy: {{escalate_below: 2}}, judge: {CHECK}}}]":
        "tiers[0].policy.escalate_below: Input should be less than or equal to 1",
    f"tiers: [{{name: a, policy: {{escalate_over: 0.5}}, judge: {CHECK}}}]":
        "tiers[0].policy.escalate_over: Input should be 'escalate_below'",
    f"tiers: [{{name: a, policy: reject_on_any_fail, judge: {CHECK}}}]": "tiers: a cascade is a list of tiers with ",
    f"tiers: [{{name: a, policy: escalate_on_split, judge: {{jurors: [{CHECK}], schedule: early_stop}}}}]":
        "tiers[0]: tier 'a' stops early; only the final tier may",
    f"{{scorecard: {{a: {CHECK}}}, pass_when: sometimes}}": "pass_when: Input should be 'all' or 'any', or Input ",
    f"{{scorecard: {{a: {CHECK}}}, pass_when: [b]}}": "pass_when= is 'all', 'any', a number from 1 to 1 or names",
    f"{{scorecard: {{a: {CHECK}}}, threshold: 0.5}}": "a scorecard has pass_when=, or weights= with threshold=",
    # where a key means nothing
    "{check: not_empty, weight: 1}": "weight: not allowed here: `weight:` is for jurors and weighted criteria",
    "tiers: [{name: a, judge: {check: not_empty, required: true}}]": "tiers[0].judge.required: not allowed here",
    "scorecard: {a: {check: not_empty, required: true}}": "scorecard.a.required: not allowed here",
    "jurors: {a: {check: not_empty, name: b}}": "jurors.a.name: not allowed here",
    "{check: not_empty, fallbacks: [{check: not_empty, weight: 2}]}": "fallbacks[0].weight: not allowed here",
    "{check: not_empty, fallbacks: [{check: x}]}": "fallbacks[0].check: Input should be ",
    "{rubric: safety, scorecard: {a: {check: not_empty}}}": "unknown key 'rubric'; allowed here: ",
    # critics
    "{rubric: safety}": "model: Field required",
    "jurors: [{model: 'ollama:x'}]": "jurors[0]: nothing says what this model judges; give `rubric:` or `criterion:`",
    "{rubric: faithfulnes, model: 'ollama:x'}": "rubric: no rubric is named 'faithfulnes'; ",
    "{rubric: nowhere.yaml, model: 'ollama:x'}": "rubric: ",
    "{criterion: ' ', model: 'ollama:x'}": "criterion: a criterion is a sentence that the answer must meet",
    "{criterion: x, rubric: safety, model: 'ollama:x'}": "give `rubric:` or `criterion:`, not both",
    f"{{criterion: x, rubric: safety, jurors: [{MODEL}]}}": "give `rubric:` or `criterion:`, not both",
    "{rubric: safety, model: 'ollama:x', labels: {A: pass}, scale: {minimum: 1, maximum: 5}}":
        "give `labels:` or `scale:`, not both",
    "{rubric: safety, model: 'ollama:x', labels: {A: good}}":
        "labels.A: Input should be 'pass', 'fail', 'abstain' or 'label', or Input should be a valid number",
    "{rubric: safety, model: 'ollama:x', labels: {A: pass, a: fail}}": "rubric 'safety': labels: ",
    "{rubric: safety, model: 'ollama:x', scale: {minimum: 1}}": "scale.maximum: Field required",
    "{rubric: safety, model: 'ollama:x', scale: {minimum: 5, maximum: 1}}": "rubric 'safety': scale: ",
    "{rubric: safety, model: 'ollama:x', threshold: 2}": "threshold: Input should be less than or equal to 1",
    "{rubric: safety, model: 'ollama:x', samples: 101}": "samples: Input should be less than or equal to 100",
    "{rubric: safety, model: gpt-4o}": "model: 'gpt-4o' is not 'vendor:model' with one of the vendors openai, ",
    # YAML
    "jurors: [{check: not_empty}]\njurors: []": "line 2: 'jurors' is twice in a mapping",
    "jurors: {a: {check: not_empty}, a: {check: length_between}}": "line 1: 'a' is twice in a mapping",
    "a: &x {check: not_empty}\njurors: [*x]": "line 1: anchors, aliases and tags are not read",
    "jurors: [{<<: {check: not_empty}}]": "jurors[0]: a judge is a mapping with exactly one of the keys",
    "jurors: {1: {check: not_empty}}": "line 1: the key 1 is not text",
    "check: !!python/object/apply:os.system [echo]": "line 1: anchors, aliases and tags are not read",
    "check: not_empty\n---\ncheck: not_empty": "line 2: but found another document",
    "check: [": "line 1: ",
    "check: \x07": "not YAML of plain values",
}  # fmt: skip


@each_row("text", PROBLEMS)
def test_a_mistake_is_told_in_one_line_with_its_place(text: str, tmp_path: Path) -> None:
    said = problem(tmp_path, text)
    assert (said.startswith(PROBLEMS[text]), len(said.splitlines())) == (True, 1)


def test_every_mistake_of_a_file_is_told_and_the_file_is_named(tmp_path: Path) -> None:
    criteria = "{a: {check: x}, b: {check: length_between, unit: a, maximum: -1}}"
    path = write(tmp_path, f"name: 3\nscorecard: {criteria}\npass_when: 0\n")
    with pytest.raises(InputError) as refused:
        load_jury(path)
    places = [line.removeprefix(f"{path}: ").partition(": ")[0] for line in str(refused.value).splitlines()]
    assert places == ["name", "scorecard.a.check", "scorecard.b.maximum", "scorecard.b.unit", "pass_when"]
    write(tmp_path, f"scorecard: {{{', '.join(f'a{n}: {{check: x}}' for n in range(90))}}}")
    with pytest.raises(InputError, match="70 more problems") as refused:
        load_jury(path)
    assert len(str(refused.value).splitlines()) == 21


def test_a_file_that_is_not_there_is_named(tmp_path: Path) -> None:
    for path in (tmp_path / "nowhere.yaml", tmp_path):
        with pytest.raises(InputError, match="cannot be read"):
            load_jury(path)
    (tmp_path / "bytes.yaml").write_bytes(b"\xff\xfe\x00")
    with pytest.raises(InputError, match=r"bytes\.yaml: cannot be read"):
        load_jury(str(tmp_path / "bytes.yaml"))
    with pytest.raises(InputError, match=r"the mapping: jurors\.a\.check: Input should be"):
        load_jury({"jurors": {"a": {"check": "not_emty"}}})


def test_values_of_python_that_no_file_has_are_refused() -> None:
    jurors = [{"check": "not_empty"}]
    for given in ({"check": object()}, {"jurors": (1,)}, {"jurors": jurors, "options": {"tie": object()}}, {1: 2},
                  {"check": "not_empty", "timeout": float("nan")}, {"check": ["not_empty"]}):  # fmt: skip
        with pytest.raises(ConfigurationError, match="the mapping"):
            load_jury(given)


ESCAPES = [
    '"\\e[2Jgone": 1', 'jurors: {"\\e[2Jgone": {check: not_emty}}', 'check: "\\e[2Jgone"',
    'jurors: {"\\e[2J\\n\\u202egone": {model: "ollama:x"}}',
    '{rubric: "\\e[2Jgone", model: "ollama:x"}', '{rubric: safety, model: "\\e[2Jgone"}',
    '{rubric: "\\e[2Jgone.yaml", model: "ollama:x"}',
    'jurors: [{check: not_empty}]\nvoting: "\\e[2Jgone"', 'jurors: [{check: not_empty}]\noptions: {tie: "\\e[2Jgone"}',
    'tiers: [{name: "\\e[2Jgone", policy: escalate_on_split, judge: {check: not_empty}}]',
    f'{{jury: "\\e[2Jgone", guarantee: {GUARANTEE}}}',
]  # fmt: skip


def test_a_file_cannot_steer_the_terminal_by_a_message(tmp_path: Path) -> None:
    for text in ESCAPES:
        said = problem(tmp_path, text)
        assert said, text
        assert (not {"\x1b", "\u202e"} & {*said}, len(said.splitlines())) == (True, 1)


def test_braces_and_percent_signs_in_a_file_are_text(tmp_path: Path) -> None:
    for word in ("{unknown}", "{0.__class__}", "%(known)s", "${OPENAI_API_KEY}", "{{ 7 * 7 }}", "$HOME"):
        said = problem(tmp_path, f"jurors: {{a: {{check: not_empty, '{word}': 1}}}}")
        assert said.startswith(f"jurors.a: unknown key {word!r}")
        critic = f"{{criterion: '{word}', model: 'ollama:{word}'}}"
        jury = loaded(tmp_path, f"name: '{word}'\njurors: {{'{word}': {critic}}}")
        assert (
            (jury.name, *jury.judges),
            jury.members[0].rubric.criteria.count(word),
            jury.members[0].model.model,
        ) == ((word, word), 1, word)
