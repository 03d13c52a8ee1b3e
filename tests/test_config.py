from __future__ import annotations

import json
import re
import subprocess
import sys
from pathlib import Path

import jsonschema
import pytest
import yaml

from jury_adapters import CascadedJury, ConfigurationError, Ensemble, GateFailed, InputError, Status
from jury_adapters.config import jury_schema, load_jury
from jury_adapters.config.gates import GatesSpec
from jury_adapters.config.grammar import KINDS, EnsembleSpec
from jury_adapters.config.source import read_source
from jury_adapters.core.ensemble import EnsembleOptions
from jury_adapters.core.gates import GateOptions
from jury_adapters.core.judge import Judge
from jury_adapters.core.voting import STRATEGIES

GOOD = {
    "one check": "jurors: [{check: not_empty}]",
    "every check": """
jurors:
  - check: not_empty
  - {check: contains, texts: [Paris, Rome], need: any, ignore_case: true}
  - {check: contains, texts: Paris, name: names the city}
  - {check: matches, pattern: '[0-9]+', full: false, timeout_s: 0.5}
  - {check: equals, expected: Paris, timeout: 2}
  - {check: valid_json, schema: {type: object, required: [city]}, fenced: true}
  - {check: length_between, minimum: 3, maximum: 100, unit: words}
  - check: refusal_check
voting: unanimous
on_split: abstain
""",
    "every check of a workspace": """
jurors:
  - {check: file_exists, path: out/report.md, kind: file}
  - {check: file_content, path: version.txt, expected: '^1[.]', match: regex, timeout_s: 0.5, encoding: latin-1}
  - {check: directory_superset, expected: reference, exclude: [target/, '*.class'], threshold: 0.9}
  - {check: files_match, include: '*.py', extra: fail, max_bytes: 1000, timeout: 20}
  - {check: coverage_kept, baseline: 81.5, tolerance: 1, floor: 50, metric: branch, report: build/coverage.xml}
  - {check: coverage_improved, by: 5, ceiling: 95}
""",
    "every check of a trajectory": """
jurors:
  - {check: tool_calls, expected: [search, [look, {page: 1}], {tool: end}], order: superset, overrides: {end: ignore}}
  - {check: forbidden_tools, tools: [delete_*, send]}
  - {check: step_limit, max_steps: 10, max_repeats: 2}
  - {check: cost_limit, max_usd: 0.1, max_seconds: 60}
  - {check: no_tool_errors, allowed: 1}
  - check: final_answer
""",
    "gates": """
gates:
  passed: true
  min_agreement: 0.6
  min_confidence: medium
  min_eligible: 2
  allow_escalation: false
  allow_same_family: false
  allow_bias_warning: false
  allow_partial: false
  allow_undecided: false
  max_cost_usd: 0.02
  undefined: fail
jurors: [{check: not_empty}, {check: refusal_check}]
""",
    "gates of a cascade, and gates without a condition": """
gates:
tiers: [{name: only, check: not_empty}]
""",
    "every screen": """
jurors:
  - screen: grounding
  - screen: names_and_numbers
  - screen: sentence_alignment
  - {screen: sentence_support, threshold: 0.5}
  - {screen: context_relevance, threshold: 0.9}
  - {screen: undecided, name: last word}
  - screen: grounding
    name: with a last word
    final: {check: refusal_check}
""",
    "a cascade with every policy": """
name: all policies
tiers:
  - name: guards
    policy: reject_on_any_fail
    on_error: reject
    jurors: [{check: not_empty}, {check: refusal_check}]
    schedule: frugal
  - {name: verbatim, policy: accept_on_all_pass, screen: sentence_alignment}
  - name: sure
    policy: {escalate_below: 0.8}
    jury: {jurors: [{check: not_empty}], voting: average, threshold: 0.6}
  - {name: agreed, policy: escalate_on_split, check: not_empty}
  - name: last
    tiers:
      - {name: only, check: not_empty}
""",
    "nested juries": """
jurors:
  - {jury: {jurors: [{check: not_empty}]}, name: first}
  - {tiers: [{name: only, check: not_empty}], name: second}
  - {jurors: [{check: not_empty}, {check: refusal_check}], name: third, weights: [2, 1], voting: weighted}
errors: propagate
weights: {first: 2.5, second: 1}
voting: weighted
use_confidence: false
""",
    "recorded votes": """
jurors:
  - {recorded: gpt-4o, pass_labels: &good [yes, valid], abstain_labels: [tie], cost: 0.01}
  - {recorded: claude, pass_labels: *good, threshold: 0.7, name: the other}
voting: quorum
quorum: [2, 3]
threshold: 1
min_valid: 2
timeout: 5
band_on: share
""",
    "the vote on labels, with words that YAML 1.1 would change": """
jurors: [{recorded: a}, {recorded: b}, {recorded: c}]
on: label
priority: [NO, yes, on]
min_share: 2/3
fallback: off
tie: first
""",
    "bayes": """
jurors: [{recorded: a, pass_labels: [ok]}, {recorded: b, pass_labels: [ok]}]
voting: bayes
reliabilities: {a: 0.9, b: [0.95, 0.7]}
prior: 0.4
threshold: 0.6
""",
}


@pytest.mark.parametrize("text", GOOD.values(), ids=GOOD)
def test_a_good_file_makes_a_jury_and_fulfils_the_schema(text):
    jury = load_jury(text + "\n")
    assert isinstance(jury, Ensemble | CascadedJury)
    assert jury.judge(question="Where?", answer="Paris", contexts="Paris").status in Status
    jsonschema.Draft202012Validator(jury_schema()).validate(read_source(text + "\n").content)


def test_the_schema_is_a_schema_of_plain_json():
    schema = jury_schema()
    jsonschema.Draft202012Validator.check_schema(schema)
    assert json.loads(json.dumps(schema)) == schema
    assert "x-jury-adapters-reference" not in json.dumps(schema)


@pytest.mark.parametrize(
    "text",
    ["jurors: [{check: not_emty}]", "jurors: [{check: contains}]", "jury: 3", "tiers: [{check: not_empty}]",
     "jurors: [{check: not_empty, recorded: x}]", "{jurors: [{check: not_empty}], votting: majority}"],
)  # fmt: skip
def test_the_schema_refuses_what_the_loader_refuses(text):
    with pytest.raises(ConfigurationError):
        load_jury(text + "\n")
    with pytest.raises(jsonschema.ValidationError):
        jsonschema.Draft202012Validator(jury_schema()).validate(yaml.safe_load(text))


def test_the_schema_explains_options_in_the_words_of_the_judges():
    option = jury_schema()["$defs"]["check.length_between"]["properties"]["maximum"]
    assert option["description"] == "the greatest length; None for no bound."


def test_an_ensemble_has_every_option_of_the_core_and_no_other():
    assert set(EnsembleSpec.keys()) - {"jurors", "stand_in"} == EnsembleOptions.__optional_keys__
    assert jury_schema()["$defs"]["jurors"]["properties"]["voting"]["enum"] == list(STRATEGIES)


def test_options_reach_the_judges():
    jury = load_jury(GOOD["every check"])
    assert jury.names[2] == "names the city"
    assert jury.members[1].ignore_case is True
    assert jury.members[3].timeout_s == 0.5
    assert jury.members[4].timeout == 2
    assert jury.strategy.on_split == "abstain"


RUNS_PROGRAMS = """
jurors:
  - {check: command, argv: [make, check], exit_code: [0, 2], env: {CI: "1"}, pass_env: [DEBUG], timeout_s: 60}
  - {check: command, argv: 'make check | tail', shell: true, cwd: src}
  - {check: tests_pass, tool: pytest, args: [-x], max_output: 1000}
  - {check: build_passes, timeout: 5}
"""


def test_checks_that_run_programs_are_refused_unless_the_reader_allows_them():
    with pytest.raises(ConfigurationError, match=r"line 3: jurors\[0\]: Command runs programs.*allow_commands=True"):
        load_jury(RUNS_PROGRAMS)
    jury = load_jury(RUNS_PROGRAMS, allow_commands=True)
    assert jury.members[0].argv == ("make", "check")
    assert jury.members[0].exit_code == (0, 2)
    assert jury.members[0].env == {"CI": "1"}
    assert jury.members[1].shell is True
    assert jury.members[2].args == ("-x",)
    assert jury.members[3].timeout == 5
    jsonschema.Draft202012Validator(jury_schema()).validate(yaml.safe_load(RUNS_PROGRAMS))


def test_a_program_hidden_in_a_nested_jury_is_refused_as_well():
    with pytest.raises(ConfigurationError, match="TestsPass runs programs"):
        load_jury("tiers: [{name: only, jury: {jurors: [{jurors: [{check: tests_pass}]}]}}]")


def test_a_function_is_no_option_of_a_file():
    with pytest.raises(ConfigurationError, match="sandbox"):
        load_jury("jurors: [{check: tests_pass, sandbox: no_network}]", allow_commands=True)


def test_the_refusal_of_programs_names_both_ways_to_allow_them():
    with pytest.raises(ConfigurationError, match=r"load_jury\(..., allow_commands=True\), or `jury judge --allow-comm"):
        load_jury(RUNS_PROGRAMS)


def test_gates_are_kept_by_the_jury_and_change_no_verdict():
    jury = load_jury(GOOD["gates"])
    assert jury.gates == {
        "passed": True, "min_agreement": 0.6, "min_confidence": "medium", "min_eligible": 2, "allow_escalation": False,
        "allow_same_family": False, "allow_bias_warning": False, "allow_partial": False, "allow_undecided": False,
        "max_cost_usd": 0.02, "undefined": "fail",
    }  # fmt: skip
    assert jury.gates.keys() == GateOptions.__annotations__.keys() == GatesSpec.model_fields.keys()
    verdict = jury.judge(answer="")
    assert verdict.status == "FAIL"
    with pytest.raises(GateFailed, match="passed=True: found FAIL"):
        verdict.require(**jury.gates)
    assert load_jury("jurors: [{check: not_empty}]").gates == {}
    assert load_jury(GOOD["gates of a cascade, and gates without a condition"]).gates == {}


@pytest.mark.parametrize(
    ("text", "message"),
    [
        (
            "gates: {min_agrement: 1}\njurors: [{check: not_empty}]",
            "line 1: gates.min_agrement: unknown key.*Did you mean",
        ),
        (
            "jurors: [{check: not_empty}]\ngates: {min_agreement: 2}",
            "line 2: gates.min_agreement: .*less than or equal",
        ),
        ("jurors: [{check: not_empty}]\ngates: [passed]", "line 2: gates: expected a mapping with the keys passed,"),
        ("jurors: [{check: not_empty}]\ngates: {passed: 1}", "gates.passed: expected true or false, not 1"),
        (
            "jurors: [{check: not_empty}]\ngates: {min_confidence: lo}",
            "gates.min_confidence: unknown.*Did you mean 'low'",
        ),
        ("jurors: [{check: not_empty}]\ngate: {}", "line 2: gate: unknown key 'gate'. Did you mean 'gates'"),
        ("jurors: [{jurors: [{check: not_empty}], gates: {}}]", r"jurors\[0\].gates: gates stand at the top of a jury"),
        ("tiers: [{name: a, check: not_empty, gates: {}}]", r"tiers\[0\].gates: gates stand at the top of a jury file"),
        ("jurors: [{check: tool_calls, overrides: {a: exactly}}]", "unknown comparison of arguments 'exactly'"),
    ],
)
def test_what_is_wrong_with_gates_is_said_with_its_place(text, message):
    with pytest.raises(ConfigurationError, match=message):
        load_jury(text)


def test_the_schema_refuses_gates_inside_a_jury():
    nested = yaml.safe_load("jurors: [{jurors: [{check: not_empty}], gates: {}}]")
    with pytest.raises(jsonschema.ValidationError):
        jsonschema.validate(nested, jury_schema())


GUARANTEE = """
guarantee:
  agreement: 0.9
  delta: 0.1
  method: both
  found_by: per_tier
  thresholds: {quick: 0.9, careful: null}
  n: 100
  decided: 80
  errors: 1
  bound: 0.06
  coverage: 0.8
  tier_shares: {quick: 0.8, careful: 0}
  cost_expected: null
  fingerprint: FINGERPRINT
"""
CALIBRATED_TIERS = """
gates: {allow_partial: true}
tiers:
  - {name: quick, policy: {escalate_below: 0.5}, jurors: [{check: not_empty}, {check: refusal_check}]}
  - {name: careful, check: not_empty}
"""


def calibrated_text(tiers: str = CALIBRATED_TIERS) -> str:
    """A jury file with a guarantee for these tiers, as they are without it."""
    from jury_adapters.calibration.guarantee import fingerprint_of

    return tiers + GUARANTEE.replace("FINGERPRINT", fingerprint_of(load_jury(CALIBRATED_TIERS)))


def test_a_guarantee_sets_the_thresholds_and_is_kept_by_the_jury():
    jury = load_jury(calibrated_text())
    assert [(tier.name, str(tier.policy)) for tier in jury.tiers] == [
        ("quick", "escalate_below(0.9)"), ("undecided", "final"),
    ]  # fmt: skip
    assert (jury.guarantee.n, jury.gates) == (100, {"allow_partial": True})
    before = load_jury(calibrated_text(), calibrated=False)
    assert [tier.name for tier in before.tiers] == ["quick", "careful"]
    assert jury.judge(answer="Yes.").stopped_at == "quick"
    jsonschema.Draft202012Validator(jury_schema()).validate(read_source(calibrated_text()).content)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        (calibrated_text(CALIBRATED_TIERS.replace("careful", "slow")), "guarantee: .* for the tiers quick, careful, "),
        (calibrated_text(CALIBRATED_TIERS.replace("refusal_check", "contains, texts: x")), "guarantee: .*other jurors"),
        (calibrated_text("jurors: [{check: not_empty}]\n"), "line 3: guarantee: .* not for jury"),
        (calibrated_text().replace("n: 100", "n: many"), "guarantee.n: expected a whole number"),
        (calibrated_text().replace("  delta: 0.1\n", ""), "guarantee: needs `delta:`"),
        (calibrated_text().replace("delta", "dleta"), "guarantee.dleta: unknown key.*Did you mean 'delta'"),
        (calibrated_text().replace("quick: 0.9", "quick: 1.9"), "guarantee.thresholds.quick: .*less than or equal"),
    ],
)
def test_a_guarantee_for_another_jury_or_without_sense_is_refused(text, message):
    with pytest.raises(ConfigurationError, match=message):
        load_jury(text)


def test_a_jury_with_a_guarantee_loads_without_numpy(tmp_path: Path):
    file = tmp_path / "jury.yaml"
    file.write_text(calibrated_text())
    code = (
        "import sys; from jury_adapters.config import load_jury; "
        "assert 'jury_adapters.calibration' not in sys.modules; "
        "jury = load_jury(sys.argv[1]); assert jury.judge(answer='').stopped_at == 'undecided', jury; "
        "assert 'numpy' not in sys.modules"
    )
    subprocess.run([sys.executable, "-c", code, str(file)], check=True)


def test_a_reference_folder_is_found_beside_the_file(tmp_path: Path):
    (tmp_path / "reference").mkdir()
    (tmp_path / "reference" / "a.txt").write_text("x")
    (tmp_path / "work").mkdir()
    file = tmp_path / "jury.yaml"
    file.write_text("jurors: [{check: directory_superset, expected: reference}]")
    jury = load_jury(file)
    assert jury.members[0].expected == tmp_path / "reference"
    assert jury.judge(workspace=tmp_path / "work").status is Status.FAIL
    file.write_text("jurors: [{check: directory_superset, expected: null}, {check: files_match}]")
    assert load_jury(file).judge(workspace=tmp_path / "work").status is Status.ABSTAIN


def test_a_strategy_may_be_written_in_any_case():
    assert load_jury("jurors: [{check: not_empty}]\nvoting: Weighted-Average\n").strategy.name == "weighted_average"


def test_a_cascade_is_built_as_written():
    jury = load_jury(GOOD["a cascade with every policy"])
    assert jury.name == "all policies"
    assert [str(tier.policy) for tier in jury.tiers] == [
        "reject_on_any_fail", "accept_on_all_pass", "escalate_below(0.8)", "escalate_on_split", "final",
    ]  # fmt: skip
    assert jury.tiers[0].on_error == "reject"
    assert jury.judge(answer="").stopped_at == "guards"


def test_nested_juries_keep_their_names_and_weights():
    jury = load_jury(GOOD["nested juries"])
    assert jury.names == ("first", "second", "third")
    assert jury.weights == (2.5, 1.0, 1.0)


def test_the_words_of_yaml_1_1_stay_words():
    jury = load_jury(GOOD["the vote on labels, with words that YAML 1.1 would change"])
    assert jury.strategy.on == "label"
    assert jury.strategy.priority == ("NO", "yes", "on")
    assert jury.strategy.fallback == "off"
    assert read_source("{date: 2024-01-01, time: 12:30, octal: 010, big: 1e3, half: .5, nan: .nan}").content == {
        "date": "2024-01-01", "time": "12:30", "octal": 10, "big": 1000.0, "half": 0.5, "nan": ".nan",
    }  # fmt: skip


def test_the_grounding_screen_takes_a_final_judge():
    jury = load_jury(GOOD["every screen"])
    assert jury.members[-1].judge(answer="Bo was in Rome.", contexts="In Rome somebody met Bo.").stopped_at == "final"


def test_votes_are_found_beside_the_file_and_read_once(tmp_path: Path):
    (tmp_path / "votes.jsonl").write_text('{"item_id": 7, "votes": {"a": {"label": "ok"}, "b": {"label": "bad"}}}\n')
    file = tmp_path / "jury.yaml"
    file.write_text(
        "jurors:\n"
        "  - {recorded: a, votes: votes.jsonl, pass_labels: [ok]}\n"
        "  - {recorded: b, votes: votes.jsonl, pass_labels: [ok]}\n"
    )
    for path in (file, str(file)):
        verdict = load_jury(path).judge(metadata={"item_id": "7"})
        assert [str(judgment.status) for judgment in verdict.judgments] == ["PASS", "FAIL"]


def test_ratings_are_labels_too():
    jury = load_jury("jurors: [{recorded: a, pass_labels: [4, 5]}]\n")
    assert jury.judge(metadata={"votes": {"a": {"label": 4}}}).passed is True


CRITICS = """
tiers:
  - {name: safe, policy: reject_on_any_fail, critic: safety, model: local-model, base_url: 'http://localhost:9/v1'}
  - name: panel
    jurors:
      - critic: faithfulness
        model: ollama:qwen3
        threshold: 0.7
        repeat: 3
        temperature: 0.5
        max_tokens: 500
        logprobs: true
        timeout: 20
        name: truth
      - {criteria: The answer names its source., model: ollama:qwen3, temperature: null}
"""


def test_critics_fulfil_the_schema_and_are_built_without_a_network():
    jury = load_jury(CRITICS)  # nothing listens at these addresses
    assert [judge.name for judge in jury.members[-1].members] == ["truth", "criteria"]
    jsonschema.Draft202012Validator(jury_schema()).validate(read_source(CRITICS).content)


def test_critics_come_with_their_options(tmp_path: Path):
    (tmp_path / "polite.yaml").write_text("criteria: The answer is polite.\n")
    file = tmp_path / "jury.yaml"
    file.write_text(
        "jurors:\n"
        "  - {critic: faithfulness, model: small, base_url: 'http://localhost:9/v1', threshold: 0.7, repeat: 3,\n"
        "     temperature: null, max_tokens: 500, logprobs: true, timeout: 20}\n"
        "  - {critic: polite.yaml, model: 'ollama:small'}\n"
        "  - {criteria: It names its source., model: 'ollama:small', name: sourced}\n"
    )
    truth, polite, sourced = load_jury(file).members
    assert [truth.name, polite.name, sourced.name] == ["faithfulness", "polite", "sourced"]
    assert (truth.threshold, truth.repeat, truth.temperature, truth.max_tokens) == (0.7, 3, None, 500)
    assert truth.logprobs is True
    assert truth.model.name == "local:small"
    assert polite.rubric.criteria == "The answer is polite."
    assert sourced.rubric.criteria == "It names its source."


def test_a_critic_without_its_key_says_which_variable_to_set(monkeypatch):
    monkeypatch.delenv("OPENAI_API_KEY", raising=False)
    with pytest.raises(ConfigurationError, match=r"line 1: jurors\[0\]: no key for openai: set .* OPENAI_API_KEY"):
        load_jury("jurors: [{critic: safety, model: 'openai:gpt-4o-mini'}]\n")
    monkeypatch.setenv("OPENAI_API_KEY", "sk-0000")
    assert load_jury("jurors: [{critic: safety, model: 'openai:gpt-4o-mini'}]\n").members[0].name == "safety"


@pytest.mark.parametrize("nested", [False, True])
def test_a_file_holds_no_keys(nested):
    critic = "critic: safety, model: 'ollama:x', api_key: sk-very-secret"
    text = f"tiers: [{{name: a, {critic}}}]\n" if nested else f"jurors: [{{{critic}}}]\n"
    with pytest.raises(ConfigurationError, match="api_key: a key does not belong into a file") as caught:
        load_jury(text)
    assert "OPENAI_API_KEY" in str(caught.value)
    assert "sk-very-secret" not in str(caught.value)


def test_a_critics_rubric_file_is_named_when_it_is_wrong(tmp_path: Path):
    (tmp_path / "wrong.yaml").write_text("criterion: x\n")
    file = tmp_path / "jury.yaml"
    for rubric, words in (("wrong.yaml", "unknown key 'criterion'"), ("nowhere.yaml", "cannot be read")):
        file.write_text(f"jurors: [{{critic: {rubric}, model: 'ollama:x'}}]\n")
        with pytest.raises(ConfigurationError, match=words) as caught:
            load_jury(file)
        assert "jurors[0].critic: " in str(caught.value)


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
    "jurors: [{check: matches, pattern: '('}]": "jurors[0]: '(' is no regular expression",
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
    "jurors: [{check: not_empty}]\nschedule: fugal": "schedule: unknown schedule 'fugal'. Did you mean 'frugal'?",
    "jurors: [{check: not_empty}]\nweights: {a: x}": 'line 2: weights.a: expected a number, not "x"',
    "jurors: [{check: not_empty}]\nweights: {a: 1}": "unknown juror in weights 'a'",
    "jurors: [{check: not_empty}]\nvoting: quorum\nquorum: [1, 2, 3]": "quorum: expected a number, or two of them",
    "jurors: [{check: not_empty}]\nvoting: bayes": "bayes needs reliabilities=",
    "jurors: [{check: not_empty}]\ntiers: []": "tiers: `jurors:` and `tiers:` stand side by side",
    "juror: [{check: not_empty}]": "juror: unknown key 'juror'. Did you mean 'jurors'?",
    "check: not_empty\nname: x": "a jury has `jurors:` (they vote) or `tiers:`",
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


BILLION = "a: &a [x, x, x, x, x, x, x, x, x, x]\n" + "".join(
    f"{name}: &{name} [{', '.join([f'*{before}'] * 10)}]\n" for before, name in ("ab", "bc", "cd", "de", "ef", "fg")
)
UNREADABLE = {
    "a: 1\na: 2": "line 2: the key 'a' stands here twice",
    "a: !!python/object/apply:os.system [x]": "line 1: tag:yaml.org,2002:python/object/apply:os.system is not allowed",
    "a: !!python/name:os.system\n": "is not allowed; a jury file holds plain values only",
    "a: !!binary aGk=\n": "is not allowed",
    "a: !!int x\n": "line 1: 'x' is no usable number",
    "a: 1e999\n": "line 1: '1e999' is no usable number",
    "a: [\n": "not YAML",
    "a: \x07\n": "not YAML: unacceptable character",
    "[a]: 1\n": "line 1: a key must be text",
    "x: &a [*a]\n": "nested more than 60 levels deep",
    "x: " + "[" * 5000: "nested too deeply",
    BILLION: "more than 100000 values",
}  # fmt: skip


@pytest.mark.parametrize("text", UNREADABLE, ids=range(len(UNREADABLE)))
def test_what_is_no_plain_yaml_is_refused(text):
    with pytest.raises(InputError) as caught:
        load_jury(text)
    assert UNREADABLE[text] in str(caught.value)


def test_a_file_that_cannot_be_read_is_named(tmp_path: Path):
    with pytest.raises(InputError, match=r"nowhere\.yaml: No such file"):
        load_jury("nowhere.yaml")
    binary = tmp_path / "binary.yaml"
    binary.write_bytes(b"\xff\xfe\x00")
    with pytest.raises(InputError, match="not a text file"):
        load_jury(binary)
    with pytest.raises(InputError, match="Is a directory"):
        load_jury(tmp_path)


def test_messages_name_the_file(tmp_path: Path):
    file = tmp_path / "jury.yaml"
    file.write_text("# a comment\njurors:\n  - check: not_emty\n")
    with pytest.raises(ConfigurationError) as caught:
        load_jury(file)
    assert str(caught.value).startswith(f"{file}, line 3: jurors[0].check: unknown check")


def test_every_entry_of_the_registry_is_in_the_schema_and_builds():
    definitions = jury_schema()["$defs"]
    for key, kind in KINDS.items():
        for name in [key] if isinstance(kind, type) else [f"{key}.{name}" for name in kind]:
            assert {name, f"tier.{name}"} <= definitions.keys()
    least = {"contains": ", texts: x", "matches": ", pattern: x", "command": ", argv: [x]"}
    least |= {"forbidden_tools": ", tools: x", "step_limit": ", max_steps: 1", "cost_limit": ", max_usd: 1"}
    least |= dict.fromkeys(("file_exists", "file_content"), ", path: x")
    for key in ("check", "screen"):
        for name in KINDS[key]:
            jury = load_jury(f"jurors: [{{{key}: {name}{least.get(name, '')}}}]\n", allow_commands=True)
            assert isinstance(jury.members[0], Judge)


# Stand-ins


BACKED = """
name: backed
jurors:
  - {recorded: gone, votes: nowhere, stand_in: {check: not_empty, name: backup}}
  - jurors: [{check: not_empty}, {check: refusal_check}]
    name: panel
    stand_in: {check: not_empty, stand_in: {check: refusal_check}}
  - check: command
    argv: [no-such-program-anywhere]
    name: prog
    stand_in: {check: not_empty, name: spare}
"""


def test_a_judge_of_a_file_may_have_a_stand_in():
    text = BACKED.replace("  - {recorded: gone, votes: nowhere, stand_in: {check: not_empty, name: backup}}\n", "")
    jury = load_jury(text, allow_commands=True)
    assert [member.name for member in jury.members] == ["panel", "prog"]
    assert jury.members[0].stand_in.stand_in.name == "RefusalCheck"
    jsonschema.Draft202012Validator(jury_schema()).validate(yaml.safe_load(BACKED))


def test_a_tier_and_the_end_of_a_screen_may_have_one():
    text = """
tiers:
  - {name: screen, policy: {escalate_below: 0.8}, screen: grounding, final: {check: not_empty, stand_in: {check: not_empty}}}
  - {name: last, jurors: [{check: not_empty}], stand_in: {check: refusal_check}}
"""  # noqa: E501
    jury = load_jury(text)
    jsonschema.Draft202012Validator(jury_schema()).validate(yaml.safe_load(text))
    assert type(jury.members[1]).__name__ == "BackedJudge"
    assert type(jury.members[0].members[-1]).__name__ == "BackedJudge"


@pytest.mark.parametrize(
    ("text", "said"),
    [("jurors: [{check: not_empty}]\nstand_in: {check: not_empty}\n", "where it sits as a juror or tier"),
     ("jurors: [{jury: {jurors: [{check: not_empty}], stand_in: {check: not_empty}}}]\n", "where it sits"),
     ("jurors: [{check: not_empty, stand_in: {check: not_emty}}]\n", "jurors.0.*stand_in.*Did you mean 'not_empty'"),
     ("jurors: [{check: not_empty, stand_in: [1]}]\n", "stand_in.*a judge is a mapping")],
)  # fmt: skip
def test_a_stand_in_that_cannot_be_is_refused_with_its_place(text, said):
    with pytest.raises(ConfigurationError, match=said):
        load_jury(text)


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


def test_a_key_that_is_not_set_is_told_without_what_no_file_has(monkeypatch):
    monkeypatch.delenv("OPENAI_API_KEY", raising=False)
    with pytest.raises(ConfigurationError, match=r"set the environment variable OPENAI_API_KEY$"):
        load_jury("jurors:\n  - {critic: faithfulness, model: 'openai:gpt-4o'}\n")


def test_a_jury_file_that_is_not_there_is_told_with_the_one_that_was_meant(tmp_path):
    (tmp_path / "jury.yaml").write_text("jurors: [{check: not_empty}]")
    with pytest.raises(
        ConfigurationError, match=r"jurry\.yaml: No such file or directory\. Did you mean .*jury\.yaml\?"
    ):
        load_jury(tmp_path / "jurry.yaml")
