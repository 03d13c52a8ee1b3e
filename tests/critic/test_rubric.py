import json
from pathlib import Path

import pytest
import yaml

from jury_adapters import Case, ConfigurationError, InputError, Status
from jury_adapters.critic.answers import Labels, Scale
from jury_adapters.critic.rubric import CLAIM_LABELS, Rubric, bundled_rubrics
from jury_adapters.critic.template import Template

FULL = """\
name: politeness
version: 1.10
description: for people
criteria: The answer is polite.
system_prompt: "You judge. {criteria} Reply as in {\\"answer\\": 1}."
user_prompt: "Q: {query}\\nA: {response}\\nTone: {tone}"
scale: {minimum: 1, maximum: 5, pass_mark: 4}
claims: yes
variables: [tone]
requires: [answer, tone]
examples:
  - fields: {query: "Hi?", response: Go away.}
    answer: 1
    reasoning: Rude.
    variables: {tone: warm}
    claims:
      - {claim: says go away, verdict: contradicted, evidence: Go away.}
"""


def with_lines(**changes):
    data = yaml.load(FULL, yaml.BaseLoader)
    return yaml.safe_dump({**data, **changes})


class TestYaml:
    def test_every_key(self):
        rubric = Rubric.from_yaml(FULL)
        assert (rubric.name, rubric.version, rubric.claims, rubric.variables) == ("politeness", "1.10", True, ("tone",))
        assert rubric.answers == Scale(minimum=1, maximum=5, pass_mark=4)
        assert rubric.requires == ("answer", "tone")
        assert rubric.examples[0].fields == Case(question="Hi?", answer="Go away.")

    def test_yes_and_no_are_labels_not_booleans(self):
        rubric = Rubric.from_yaml("labels: {YES: pass, NO: fail, on: none, UNSURE: abstain}")
        meanings = {label.name: label.meaning for label in rubric.answers.labels}
        assert meanings == {"YES": Status.PASS, "NO": Status.FAIL, "on": None, "UNSURE": Status.ABSTAIN}

    def test_labels_with_scores(self):
        rubric = Rubric.from_yaml("labels: {good: {meaning: pass, score: 0.6}, poor: {meaning: fail, score: 0}}")
        assert rubric.answers == Labels.of(passing={"good": 0.6}, failing={"poor": 0.0})

    def test_a_file_without_a_name_is_called_like_the_file(self, tmp_path):
        path = tmp_path / "tone.yaml"
        path.write_text("\ufeffcriteria: Be kind.\n", encoding="utf-8")
        assert Rubric.from_yaml(path).name == Rubric.from_yaml(str(path)).name == "tone"

    def test_the_keys_of_older_prompt_files(self):
        old = "version: 2\ndescription: old\nsystem_prompt: You judge.\nuser_prompt_template: 'Is {query} good?'\n"
        rubric = Rubric.from_yaml(old)
        assert (rubric.version, rubric.user_prompt, rubric.requires) == ("2", "Is {query} good?", ("question",))

    @pytest.mark.parametrize(
        ("text", "message"),
        [
            ("critera: x\n", "<text>, line 1: unknown key 'critera'. Did you mean 'criteria'"),
            ("name: x\nname: y\n", "<text>, line 2: the key 'name' occurs here twice"),
            ("labels: {YES: pass, YES: fail}", "the key 'YES' occurs here twice"),
            ("[1]: x\n", "a key must be text"),
            ("- a\n- b\n", "a rubric is a mapping"),
            ("a: b: c\n", "line 1"),
            ("\x00: b\n", "not YAML"),
            (f"criteria: {'[' * 5000}\n", "line 1: nested more than 100 levels"),
            ("scale: {minimum: 1, maximum: high}", "<text>, line 1: scale.maximum: Input should be a valid number"),
            ("scale: {minimum: 5, maximum: 1}", "<text>, line 1: scale: a scale needs minimum < maximum"),
            ("name: x\nscale:\n  minimum: 1\n  maximum: 5\n  passmark: 3", "<text>, line 5: scale.passmark"),
            ("labels: {YES: passs}", "line 1: labels.YES.meaning: unknown meaning 'passs'. Did you mean 'pass'"),
            ("labels: {good: {score: 2}}", "line 1: labels.good.score: Input should be less than or equal to 1"),
            ("labels: {}", "<text>, line 1: labels: Tuple should have at least 1 item"),
            ("labels: {a: pass}\nscale: {minimum: 0, maximum: 1}\n", "give one of them"),
            ("user_prompt: '{answer}'\nuser_prompt_template: '{answer}'\n", "give one of them"),
            ("user_prompt: 'Is {anwser} good?'", "user_prompt: unknown placeholder 'anwser'. Did you mean 'answer'"),
            ("system_prompt: 'Is {answer} good?'", "system_prompt: unknown placeholder 'answer'"),
            ("user_prompt: 'Is it good?'", "shows nothing of the case"),
            ("system_prompt: 'By {criteria}.'", "the rubric has none"),
            ("requires: [contxts]\ncriteria: x\n", "unknown field 'contxts'. Did you mean 'contexts'"),
            ("variables: [answer]\n", "is a placeholder already"),
            ("variables: [a.b]\n", "not a name for a variable"),
            ("examples: [{fields: {answr: x}, answer: NO, reasoning: r}]", "examples[0].fields: unknown field 'answr'"),
            ("examples: [{fields: {answer: x}, answer: MAYBE, reasoning: r}]", "examples[0]: the answer must be"),
            ("examples:\n  - fields: {answer: x}\n    answer: YES\n", "examples[0].reasoning: Field required"),
            (with_lines(claims="no"), "does not ask for them"),
            (with_lines(name=""), "name: String should have at least 1 character"),
        ],
    )  # fmt: skip
    def test_what_is_wrong_is_said_with_the_key(self, text, message):
        with pytest.raises(InputError) as caught:
            Rubric.from_yaml(text)
        assert message in str(caught.value)

    def test_a_claim_of_an_example_has_a_known_verdict(self):
        with pytest.raises(InputError, match="supported"):
            Rubric.from_yaml(FULL.replace("contradicted", "wrong"))

    def test_a_file_that_is_not_there(self, tmp_path):
        with pytest.raises(InputError, match=r"no\.yaml: No such file"):
            Rubric.from_yaml(tmp_path / "no.yaml")

    def test_the_file_is_named(self, tmp_path):
        path = tmp_path / "tone.yaml"
        path.write_text("# a comment\ncrit: x\n", encoding="utf-8")
        with pytest.raises(InputError, match=r"tone\.yaml, line 2: unknown key"):
            Rubric.from_yaml(path)


class TestTemplate:
    @pytest.mark.parametrize(
        "text",
        [
            "{}",
            "{ a }",
            "{a.b}",
            "{a[0]}",
            "{a!r}",
            "{a:>3}",
            '{"a": {"b": 1}}',
            "{0}",
            "{a-b}",
            "{",
            "}",
            "{{",
            "}}",
            "{é}",
        ],
    )
    def test_other_braces_are_text(self, text):
        template = Template(text, known=())
        assert (template.names, template.render({})) == ((), text)

    def test_doubled_braces_around_a_name_are_text(self):
        assert Template("{{a}} {a} {{{a}}}").render({"a": "x"}) == "{a} x {{a}}"

    def test_values_are_put_in_once(self):
        assert Template("{a}{b}").render({"a": "{b}", "b": "{a}"}) == "{b}{a}"

    def test_a_missing_value_is_an_error(self):
        with pytest.raises(ConfigurationError, match="a value for b"):
            Template("{a}{b}").render({"a": ""})


class TestFingerprint:
    def test_is_stable(self):
        assert Rubric(name="a", criteria="Be kind.").fingerprint == Rubric(name="a", criteria="Be kind.").fingerprint
        assert Rubric.from_yaml(FULL).fingerprint == Rubric.from_yaml(FULL).fingerprint

    def test_names_do_not_count(self):
        rubric = Rubric.from_yaml(FULL)
        assert (
            rubric.model_copy(update={"name": "x", "version": "9", "description": "y"}).fingerprint
            == rubric.fingerprint
        )

    @pytest.mark.parametrize(
        "change",
        [
            {"criteria": "The answer is rude."},
            {"system_prompt": "You judge {criteria}"},
            {"user_prompt": "{answer}{tone}"},
            {"scale": {"minimum": 1, "maximum": 5, "pass_mark": 3}},
            {"claims": False, "examples": ()},
            {"examples": ()},
            {"requires": ("answer",)},
        ],
    )
    def test_whatever_changes_the_request_or_its_reading_counts(self, change):
        rubric = Rubric.from_yaml(FULL)
        assert rubric.model_copy(update=change).fingerprint != rubric.fingerprint


class TestRubric:
    def test_is_frozen(self):
        with pytest.raises(ValueError, match="frozen"):
            Rubric(name="x").name = "y"

    def test_requires_what_the_prompt_names(self):
        assert Rubric(name="x").requires == ("question", "answer")
        pair = Rubric(name="x", user_prompt="{query} {candidate_a} {candidate_b} {criteria}", criteria="c")
        assert pair.requires == ("question", "candidates")

    def test_a_copy_is_checked(self):
        rubric = Rubric(name="x")
        with pytest.raises(ValueError, match="unknown placeholder"):
            rubric.model_copy(update={"user_prompt": "{answerr}"})
        with pytest.raises(ValueError, match="unknown key"):
            rubric.model_copy(update={"critera": "x"})
        assert rubric.model_copy() == rubric

    def test_a_copy_with_another_prompt_requires_what_that_names(self):
        assert Rubric(name="x").model_copy(update={"user_prompt_template": "{reference}"}).requires == ("reference",)

    def test_from_one_sentence(self):
        rubric = Rubric.from_criteria("It names {its} source.", name="sourced")
        assert (rubric.name, rubric.requires) == ("sourced", ("answer",))

    def test_the_schema_puts_the_reasons_first(self):
        schema = Rubric.from_yaml(FULL).reply_schema()
        assert list(schema["properties"]) == ["reasoning", "claims", "answer", "confidence"] == schema["required"]
        assert list(Rubric(name="x").reply_schema()["properties"]) == ["reasoning", "answer", "confidence"]

    @pytest.mark.parametrize("name", bundled_rubrics())
    def test_the_schema_keeps_to_what_strict_modes_take(self, name):
        def check(part):
            assert not {"minimum", "maximum", "minLength", "pattern", "$ref", "default"} & part.keys()
            if part["type"] == "object":
                assert part["additionalProperties"] is False
                assert part["required"] == list(part["properties"])
                for inner in part["properties"].values():
                    check(inner)
            if part["type"] == "array":
                check(part["items"])

        schema = Rubric.bundled(name).reply_schema()
        check(schema)
        assert json.loads(json.dumps(schema)) == schema


class TestBundled:
    @pytest.mark.parametrize(
        ("name", "requires"),
        [
            ("faithfulness", {"answer", "contexts"}),
            ("hallucination", {"answer", "contexts"}),
            ("context_relevance", {"question", "contexts"}),
            ("correctness", {"answer", "reference"}),
            ("pairwise", {"question", "candidates"}),
            ("trajectory", {"trajectory"}),
        ],
    )
    def test_what_each_needs(self, name, requires):
        assert set(Rubric.bundled(name).requires) == requires

    def test_the_version_can_be_pinned(self):
        assert Rubric.bundled("faithfulness", "2") == Rubric.bundled("faithfulness")
        with pytest.raises(ConfigurationError, match="comes in version 2, not 0"):
            Rubric.bundled("faithfulness", "0")

    @pytest.mark.parametrize("name", ["faithfullness", "../rubrics/safety", ""])
    def test_an_unknown_name(self, name):
        with pytest.raises(ConfigurationError, match="unknown rubric"):
            Rubric.bundled(name)

    def test_hallucination_explains_every_verdict_on_a_claim(self):
        criteria = Rubric.bundled("hallucination").criteria
        assert all(f"- {label.name}:" in criteria for label in CLAIM_LABELS.labels)

    def test_they_are_ordinary_files(self):
        folder = Path(__file__).parents[2] / "jury_adapters" / "critic" / "rubrics"
        assert {Rubric.from_yaml(path).name for path in folder.glob("*.yaml")} == set(bundled_rubrics())
