"""`rubric:`, `labels:` and `scale:` of a jury file, given once for all critics inside."""

from __future__ import annotations

import json

import pytest
from support.jury_schemas import schema_validator

from jury_adapters import ConfigurationError, Critic, Rubric
from jury_adapters.config import jury_schema, load_jury
from jury_adapters.yaml_files import read_documents


def load(tmp_path, text: str, monkeypatch):
    monkeypatch.setenv("OPENAI_API_KEY", "key")
    path = tmp_path / "jury.yaml"
    path.write_text(text)
    schema_validator().validate(read_documents(text)[0])
    return load_jury(path)


def critics(jury) -> list[Critic]:
    return [judge for judge in jury.members if isinstance(judge, Critic)]


def rubrics(jury) -> list[str]:
    return [critic.rubric.name for critic in critics(jury)]


def test_one_rubric_counts_for_all_jurors(tmp_path, monkeypatch) -> None:
    jury = load(
        tmp_path,
        """
rubric: faithfulness
jurors:
  - {model: "openai:gpt-4o-mini"}
  - {model: "openai:gpt-4.1-mini", name: second}
  - {check: not_empty}
""",
        monkeypatch,
    )
    assert rubrics(jury) == ["faithfulness", "faithfulness"]
    assert critics(jury)[0].name == Critic("openai:gpt-4o-mini", "faithfulness").name


def test_one_criterion_counts_for_all_jurors(tmp_path, monkeypatch) -> None:
    jury = load(
        tmp_path,
        """
criterion: Every year in the answer is in the contexts.
labels: {IN: pass, OUT: fail}
tiers:
  - {name: panel, policy: escalate_on_split, judge: {jurors: [{model: "openai:gpt-4o-mini"}, {model: "openai:gpt-4o"}]}}
  - {name: other, policy: {escalate_below: 0.8}, judge: {criterion: It is polite., model: "openai:gpt-4o-mini"}}
  - {name: last, judge: {rubric: faithfulness, model: "openai:gpt-4o"}}
""",
        monkeypatch,
    )
    panel, other, last = (tier.judge for tier in jury.tiers)
    first, second = critics(panel)
    assert {first.rubric.criteria, second.rubric.criteria} == {"Every year in the answer is in the contexts."}
    assert first.rubric.answers.instruction() == second.rubric.answers.instruction() == 'exactly one of "IN", "OUT"'
    assert other.rubric.criteria == "It is polite."
    assert last.rubric.name == "faithfulness"


@pytest.mark.parametrize(
    ("text", "problem"),
    [
        ("{criterion: a, rubric: faithfulness, jurors: [{model: 'openai:gpt-4o'}]}", "give `rubric:` or `criterion:`"),
        ("{criterion: ' ', jurors: [{model: 'openai:gpt-4o'}]}", "the criterion is blank"),
        ("{criterion: a, jurors: [{check: not_empty}]}", "no model in this jury answers it"),
        ("{criterion: a, scorecard: {b: {model: 'openai:gpt-4o'}}}", "`criterion:` and `scorecard:` are side by side"),
    ],
)
def test_a_criterion_that_cannot_be_the_question_is_refused(monkeypatch, text, problem) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", "key")
    with pytest.raises(ConfigurationError, match=problem):
        load_jury(f"{text}\n")


def test_the_nearest_rubric_counts(tmp_path, monkeypatch) -> None:
    jury = load(
        tmp_path,
        """
rubric: faithfulness
tiers:
  - {name: panel, policy: {escalate_below: 0.8}, judge: {rubric: safety, jurors: [{model: "openai:gpt-4o-mini"}]}}
  - {name: other, policy: {escalate_below: 0.8}, judge: {jurors: [{model: "openai:gpt-4o-mini"}]}}
  - {name: strong, judge: {model: "openai:gpt-4o"}}
""",
        monkeypatch,
    )
    first, second, last = (tier.judge for tier in jury.tiers)
    assert [rubrics(first), rubrics(second), last.rubric.name] == [["safety"], ["faithfulness"], "faithfulness"]


def test_a_rubric_file_is_found_beside_the_jury_file(tmp_path, monkeypatch) -> None:
    (tmp_path / "tone.yaml").write_text("criteria: It is polite.\n")
    jury = load(tmp_path, 'rubric: tone.yaml\njurors: [{model: "openai:gpt-4o-mini"}]\n', monkeypatch)
    assert rubrics(jury) == ["tone"]


def test_one_scale_counts_for_all_critics_without_one(tmp_path, monkeypatch) -> None:
    jury = load(
        tmp_path,
        """
scale: {minimum: 1, maximum: 5, pass_mark: 4}
jurors:
  - {rubric: faithfulness, model: "openai:gpt-4o-mini"}
  - {rubric: faithfulness, model: "openai:gpt-4o"}
  - {rubric: faithfulness, model: "openai:gpt-4o", name: third, scale: {minimum: 0, maximum: 10}}
  - rubric: faithfulness
    model: "openai:gpt-4o"
    name: fourth
    labels: {BACKED: pass, PARTLY: 0.5, MADE UP: fail, NONE: abstain}
""",
        monkeypatch,
    )
    first, second, third, fourth = (judge.rubric.answers for judge in critics(jury))
    assert first == second
    assert (first.minimum, first.maximum, first.pass_mark) == (1, 5, 4)
    assert (third.maximum, third.pass_mark) == (10, 5)
    assert [(label.name, str(label.meaning), label.score) for label in fourth.labels] == [
        ("BACKED", "PASS", None), ("PARTLY", "PASS", 0.5), ("MADE UP", "FAIL", None), ("NONE", "ABSTAIN", None),
    ]  # fmt: skip


@pytest.mark.slow
@pytest.mark.parametrize(
    ("question", "asked"),
    [
        ("rubric: safety", "safety"),
        ("criterion: Is it polite?", "criteria"),
        ("rubric: safety, labels: {SAFE: pass, UNSAFE: fail}", "safety"),
    ],
)
def test_the_fallbacks_of_a_critic_inherit_its_question(tmp_path, monkeypatch, question: str, asked: str) -> None:
    text = f'{{{question}, model: "openai:gpt-4o", fallbacks: [{{model: "openai:gpt-4o-mini"}}]}}'
    for file in (text, f"rubric: faithfulness\njurors: {{a: {text}}}"):
        jury = load(tmp_path, file, monkeypatch)
        first, second = (judge.rubric for judge in jury.members[0].members)
        assert (first.name, first.criteria, first.answers) == (second.name, second.criteria, second.answers)
        assert first.name == asked


@pytest.mark.parametrize("outer", ["", "labels: {YES: pass, NO: fail}\n", "scale: {minimum: 0, maximum: 1}\n"])
def test_the_nearest_answers_count_also_where_the_rubric_is_further_out(tmp_path, monkeypatch, outer: str) -> None:
    jury = load(
        tmp_path,
        f"rubric: faithfulness\n{outer}"
        """
jurors:
  inner:
    labels: {BACKED: pass, INVENTED: fail}
    jurors: {gpt: {model: "openai:gpt-4o-mini"}, other: {rubric: faithfulness, model: "openai:gpt-4o"}}
  beside: {model: "openai:gpt-4o-mini", labels: {A: pass, B: fail}}
""",
        monkeypatch,
    )
    found = (*jury.members[0].members, jury.members[1])
    assert [[label.name for label in judge.rubric.answers.labels] for judge in found] == [
        ["BACKED", "INVENTED"], ["BACKED", "INVENTED"], ["A", "B"],
    ]  # fmt: skip


def test_answers_beside_a_rubric_belong_to_that_rubric(tmp_path, monkeypatch) -> None:
    jury = load(
        tmp_path,
        """
tiers:
  - name: first
    policy: {escalate_below: 0.8}
    judge:
      rubric: faithfulness
      labels: {BACKED: pass, INVENTED: fail}
      jurors: [{model: "openai:gpt-4o-mini"}]
  - name: last
    judge:
      scale: {minimum: 1, maximum: 5}
      jurors: [{rubric: conciseness, model: "openai:gpt-4o-mini"}, {check: not_empty}]
""",
        monkeypatch,
    )
    first, last = (tier.judge for tier in jury.tiers)
    assert [label.name for label in critics(first)[0].rubric.answers.labels] == ["BACKED", "INVENTED"]
    assert critics(last)[0].rubric.answers.maximum == 5


@pytest.mark.filterwarnings("ignore:the critics of one Ensemble")
def test_a_critic_with_a_rubric_of_its_own_keeps_its_labels(tmp_path, monkeypatch) -> None:
    jury = load(
        tmp_path,
        """
rubric: faithfulness
labels: {BACKED: pass, INVENTED: fail}
jurors:
  - {model: "openai:gpt-4o-mini"}
  - {rubric: conciseness, model: "openai:gpt-4o-mini"}
  - {criterion: It is polite., model: "openai:gpt-4o-mini"}
""",
        monkeypatch,
    )
    first, second, third = (critic.rubric for critic in critics(jury))
    assert [label.name for label in first.answers.labels] == ["BACKED", "INVENTED"]
    assert second.answers == Rubric.bundled("conciseness").answers
    assert third.answers == Rubric.bundled("criteria").answers


def test_labels_that_yaml_might_read_as_truth_values_stay_labels(tmp_path, monkeypatch) -> None:
    jury = load(
        tmp_path,
        'rubric: faithfulness\nlabels: {YES: pass, NO: fail, OFF: abstain}\njurors: [{model: "openai:gpt-4o-mini"}]\n',
        monkeypatch,
    )
    assert [label.name for label in critics(jury)[0].rubric.answers.labels] == ["YES", "NO", "OFF"]


@pytest.mark.parametrize(
    ("text", "line", "message"),
    [
        ('jurors:\n  - {model: "openai:gpt-4o-mini"}\n', 2, "nothing says what this model judges; give `rubric:`"),
        ('rubric: faithfullness\njurors:\n  - {model: "openai:m"}\n', 1, "Did you mean 'faithfulness'"),
        ('rubric: faithfulness\njurors:\n  - {modle: "openai:m"}\n', 3, "unknown key 'modle'. Did you mean 'model'?"),
        (
            'rubric: faithfulness\nlabels: {A: pass}\nscale: {minimum: 1, maximum: 5}\njurors: [{model: "openai:m"}]\n',
            3,
            "not both",
        ),
        ('rubric: faithfulness\nlabels: {A: good}\njurors: [{model: "openai:m"}]\n', 2, "labels"),
        ('rubric: faithfulness\nscale: {minimum: 1}\njurors: [{model: "openai:m"}]\n', 2, "maximum"),
        ("rubric: faithfulness\njurors: [{check: not_empty}]\n", 1, "no model in this jury answers it"),
        ("scale: {minimum: 1, maximum: 5}\njurors: [{check: not_empty}]\n", 1, "no model in this jury answers it"),
        ("rubric: faithfulness\nscorecard: {a: {check: not_empty}}\n", 1, "rubric"),
    ],
)
def test_mistakes_name_the_line(tmp_path, monkeypatch, text: str, line: int, message: str) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", "key")
    path = tmp_path / "jury.yaml"
    path.write_text(text)
    with pytest.raises(ConfigurationError) as caught:
        load_jury(path)
    assert f"jury.yaml, line {line}: " in str(caught.value)
    assert message in str(caught.value)


def test_a_prompt_that_asks_for_other_labels_is_refused_in_the_words_of_a_file(tmp_path, monkeypatch) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", "key")
    (tmp_path / "tone.yaml").write_text('user_prompt: "Answer POLITE or RUDE.\\n{answer}"\n')
    path = tmp_path / "jury.yaml"
    path.write_text('rubric: tone.yaml\njurors: [{model: "openai:gpt-4o-mini"}]\n')
    with pytest.raises(ConfigurationError, match=r'asks for POLITE or RUDE.* give labels: \{"POLITE"'):
        load_jury(path)
    path.write_text('rubric: tone.yaml\nlabels: {POLITE: pass, RUDE: fail}\njurors: [{model: "openai:gpt-4o-mini"}]\n')
    assert critics(load_jury(path))[0].rubric.answers.read("rude").status == "FAIL"


@pytest.mark.slow
def test_the_schema_has_the_keys_with_their_meaning() -> None:
    definitions = jury_schema()["$defs"]
    for name in ("jurors", "tiers", "file.jurors"):
        assert "What its critics judge" in json.dumps(definitions[name]["properties"]["rubric"])
    assert definitions["rubric"]["required"] == ["model"]
