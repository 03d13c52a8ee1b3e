"""Critic: construction, what is asked and what is not, replies of every kind, store, budget, usage and keys."""

import asyncio
import inspect
import json
import re
from functools import partial, wraps

import pytest
from critic_support import CASE, ONCE, Memory, critic, down, says
from fact_tables import each_row

from jury_adapters import Budget, Case, Ensemble, Limits, Status, Usage
from jury_adapters.core.context import within
from jury_adapters.core.values import ConfigurationError, InputError
from jury_adapters.critic.critic import Critic
from jury_adapters.critic.rubric import Rubric
from jury_adapters.models.base import ModelError, Options, Reply
from jury_adapters.testing import ScriptedModel

YES, NO = says("YES"), says("NO")


async def function(prompt):
    """A model that is a function."""
    return YES


def of(model=None, *args, **options):
    return Critic(ScriptedModel([YES]) if model is None else model, *args, limits=ONCE, **options)


class TestConstruction:
    @each_row(
        ("args", "options", "message"),
        [
            ([], {}, "a rubric, such as .* or prompt=; not both"),
            (["faithfulness"], {"prompt": "{answer}", "labels": {"a": "pass"}}, "not both"),
            ([], {"prompt": "{answer}"}, "prompt= needs labels= or scale="),
            ([], {"prompt": "{answer}", "labels": {"a": "pass"}, "scale": (1, 5)}, "one of them"),
            (["faithfulness"], {"labels": {"a": "pass"}}, "labels go with prompt="),
            (["faithfulness"], {"scale": (1, 5)}, "scale go with prompt="),
            ([], {"prompt": "Is it good?", "labels": {"a": "pass"}}, r"write \{answer\}"),
            ([], {"prompt": "{answr}", "labels": {"a": "pass"}}, "'answr' is not a placeholder"),
            ([], {"prompt": "{answer}", "labels": {"a": "good"}}, "labels.a.meaning"),
            ([], {"prompt": "{answer}", "labels": {}}, "at least one is needed"),
            ([], {"prompt": "{answer}", "scale": (5, 1)}, "minimum < maximum"),
            (["faithful"], {}, "no rubric is named 'faithful'.*answer_relevance.*faithfulness"),
            (["faithfulness"], {"threshold": 2}, "threshold"),
            (["faithfulness"], {"threshold": True}, "threshold"),
            (["faithfulness"], {"temperature": -1}, "temperature= is a number from 0"),
            (["faithfulness"], {"temperature": float("inf")}, "temperature="),
            (["faithfulness"], {"temperature": True}, "temperature="),
            (["faithfulness"], {"temperature": "0"}, "temperature="),
            (["faithfulness"], {"max_tokens": 0}, "max_tokens= is a whole number from 1"),
            (["faithfulness"], {"max_tokens": 1.5}, "max_tokens="),
            (["faithfulness"], {"parse": "text"}, "parse= is a function"),
            (["faithfulness"], {"parse": len, "logprobs": True}, "does not go with logprobs"),
            (["faithfulness"], {"store": "runs.db"}, "store= is a store, such as open_store"),
            (["faithfulness"], {"store": Memory(), "parse": lambda text: True}, "parse= is a function defined by def"),
        ],
    )  # fmt: skip
    def test_wrong_arguments_are_refused_in_one_sentence(self, args, options, message):
        with pytest.raises(ConfigurationError, match=message):
            of(None, *args, **options)

    def test_the_parameters_are_these(self):
        with pytest.raises(TypeError, match="samples"):
            Critic(ScriptedModel([YES]), "faithfulness", samples=3)
        assert [*inspect.signature(Critic).parameters] == [
            "model", "rubric", "name", "prompt", "labels", "scale", "threshold", "parse", "temperature", "max_tokens",
            "logprobs", "image_urls", "limits", "store",
        ]  # fmt: skip

    def test_an_object_and_a_function_keep_their_own_settings(self):
        for options in ({"temperature": 0.7}, {"max_tokens": 100}, {"temperature": None}):
            with pytest.raises(ConfigurationError, match="function, which keeps its own settings"):
                of(function, "faithfulness", **options)
        asked = of(function, "faithfulness")
        assert (asked.options, asked.judge(CASE).status) == (Options(), Status.PASS)
        assert of(None, "faithfulness", temperature=0.7, max_tokens=9).options == Options(0.7, 9)

    def test_what_may_answer_differently_is_no_model_for_a_store(self):
        class Strict:  # two of them may answer differently
            async def __call__(self, prompt):
                return YES

        async def local(prompt):
            return YES

        @wraps(function)
        async def around(prompt):
            return await function(prompt)

        for one in (local, Strict(), Strict().__call__, partial(function), around):
            assert of(one, "faithfulness").judge(CASE).status is Status.PASS
            with pytest.raises(ConfigurationError, match="defined by def at the top of a module"):
                of(one, "faithfulness", store=Memory())
        for one, status in ((local, Status.ERROR), (function, Status.PASS)):
            assert next(of(one, "faithfulness").judge_many([CASE], store=Memory())).status is status

    def test_the_names(self, tmp_path):
        assert critic(YES).name == "faithfulness scripted"
        assert critic(YES, name="truth").judge(CASE).critic == "truth"
        assert critic(YES, prompt="{answer}", labels={"YES": "pass"}).name == "prompt scripted"
        with pytest.raises(InputError, match="cannot be read"):
            critic(YES, rubric=tmp_path / "none.yaml")

    def test_with_another_rubric(self):
        asked, other = critic(YES, name="x").with_rubric("correctness"), critic(YES).with_rubric("coherence")
        assert (asked.name, asked.rubric.name) == ("x", "correctness")
        assert (other.name, other.labels) == ("coherence scripted", {})
        assert asked.fingerprint != critic(YES).fingerprint
        strict = critic(YES, rubric="graded_correctness", threshold=0.95).with_rubric("coherence")
        assert (strict.pass_mark, strict.with_rubric(strict.rubric.replace(threshold=0.3)).pass_mark) == (0.95, 0.3)

    def test_a_jury_counts_declared_labels(self):
        tone = {"POLITE": "pass", "RUDE": "fail", "N/A": "abstain"}
        jurors = [critic(says(one), prompt="{answer}", labels=tone) for one in ("POLITE", "rude", "N/A", "POLITE")]
        verdict = Ensemble(jurors).judge(CASE)
        assert verdict.status == "PASS"
        assert [one.label for one in verdict.judgments] == ["POLITE", "RUDE", None, "POLITE"]
        assert jurors[0].labels == {"POLITE": Status.PASS, "RUDE": Status.FAIL, "N/A": Status.ABSTAIN}

    def test_jurors_on_a_scale_pass_from_its_mark(self):
        jurors = [critic(says(number), rubric="coherence") for number in (4, 3)]
        verdict = Ensemble(jurors, voting="average").judge(CASE)
        assert (verdict.score, verdict.status, jurors[0].pass_mark) == (0.625, "FAIL", 0.75)


LACKING = [
            ("faithfulness", Case(question="q", answer="a"), "the case has no contexts"),
            ("faithfulness", Case(question="q", answer="a", contexts=["  ", ""]), "no contexts"),
            ("faithfulness", Case(question="q", answer="a", contexts=["\u200b"]), "no contexts"),
            ("faithfulness", Case(question="q", contexts=["c"]), "no answer"),
            ("context_relevance", Case(question="q"), "no contexts"),
            ("context_relevance", Case(contexts=["c"]), "no question"),
            ("correctness", Case(answer="a", reference=" "), "no reference"),
            ("answer_relevance", Case(question="q"), "no answer"),
            ("answer_relevance", Case(answer="a", question=""), "no question"),
            ("pairwise", Case(question="q", candidates=["one"]), "no candidates"),
            ("trajectory", Case(question="q"), "no steps"),
            ("plan_adherence", Case(steps=[{"text": "s"}]), "no plan"),
            ("plan_adherence", Case(steps=[{"text": "s"}], metadata={"plan": "  "}), "no plan"),
            ("plan_adherence", Case(question="q"), "no plan and no steps"),
            ("knowledge_retention", Case(question="q"), "no messages"),
        ]  # fmt: skip


class TestWhatIsNotAsked:
    def test_a_case_that_lacks_a_field_abstains_and_nothing_is_sent(self):
        for rubric, case, missing in LACKING:
            asked = critic(YES, rubric=rubric)
            judgment = asked.judge(case)
            assert (judgment.status, judgment.metadata["cause"]) == (Status.ABSTAIN, "missing")
            assert missing in judgment.reasoning
            assert (asked.model.prompts, judgment.usage, asked.estimate(case)) == ([], Usage(), Usage())

    @pytest.mark.parametrize(
        ("rubric", "status", "score"),
        [("faithfulness", "FAIL", None), ("conciseness", "FAIL", 0.0), ("hallucination", "ABSTAIN", None)],
    )
    def test_an_empty_answer_has_the_answer_of_the_rubric(self, rubric, status, score):
        asked = critic(YES, rubric=rubric)
        judgment = asked.judge(question="q", answer=" \u200b", contexts=["c"], reference="r")
        assert (judgment.status, judgment.score, asked.model.prompts) == (status, score, [])

    def test_an_empty_answer_is_asked_about_if_the_rubric_says_nothing(self):
        asked = critic(says("safe"), rubric="safety")
        assert asked.judge(question="q", answer="").status is Status.PASS
        assert "(empty)" in asked.model.prompts[0].turns[0].text

    def test_a_run_that_failed_is_fail_and_nothing_is_sent(self):
        asked = critic(YES)
        assert (asked.judge(question="q", error="boom").status, asked.model.prompts) == (Status.FAIL, [])


class TestReplies:
    def test_what_an_answer_becomes(self):
        judgment = critic(says("NO")).judge(CASE)
        assert (judgment.reasoning, judgment.confidence, judgment.model) == ("so it says", 0.9, "scripted")
        assert (judgment.case_id, judgment.usage.calls, dict(judgment.metadata)) == ("c1", 1, {})
        rated = critic(says(4), rubric="coherence").judge(CASE)
        assert (rated.status, rated.score, rated.label, dict(rated.metadata)) == ("PASS", 0.75, None, {"rating": 4.0})
        plain = critic("Answer: UNSURE").judge(CASE)
        assert (plain.status, plain.reasoning) == ("ABSTAIN", "the model answered UNSURE")

    @each_row(
        ("reply", "status", "cause", "said"),
        [
            (Reply("No.", finish="refusal", detail="policy\x1b[2J"), "ABSTAIN", "refused", r"to judge: policy\\u001b"),
            (Reply("", finish="filter"), "ABSTAIN", "filtered", "content filter of the vendor"),
            (Reply('{"reasoning": "The brief', finish="length"), "ABSTAIN", "truncated", "raise max_tokens"),
            (Reply("", finish="length"), "ABSTAIN", "truncated", "cut the reply off"),
            (Reply(YES, finish="other"), "ABSTAIN", "unfinished", "not known"),
            (Reply("", finish="stop"), "ERROR", "empty_reply", ""),
            (Reply(" \n", finish="stop"), "ERROR", "empty_reply", ""),
            (down("unavailable"), "ERROR", "unavailable", ""),
            (down("timeout", sent=True), "ERROR", "timeout", ""),
            (down("refused"), "ERROR", "refused", ""),
            (down("account"), "ERROR", "account", ""),
        ],
    )  # fmt: skip
    def test_what_gives_no_answer_is_named_and_asked_once(self, reply, status, cause, said):
        asked = critic(reply)
        found = asked.judge(CASE)
        assert (found.status, found.metadata["cause"], found.score, found.label) == (status, cause, None, None)
        assert (len(asked.model.prompts), found.model) == (1, "scripted")
        assert re.search(said, found.reasoning)

    def test_a_reply_that_is_only_cut_off_once_is_not_repaired(self):
        judgment = critic("prose", Reply(YES, finish="length")).judge(CASE)
        assert (judgment.metadata["cause"], judgment.usage.calls) == ("truncated", 2)

    @each_row("problem", [ValueError("odd"), KeyError("x"), RuntimeError(), TimeoutError(), StopAsyncIteration()])
    def test_a_model_that_breaks_is_an_error_with_what_was_spent(self, problem):
        judgment = critic("prose", problem).judge(CASE)
        assert (judgment.status, judgment.usage.calls) == (Status.ERROR, 1)
        assert type(problem).__name__ in judgment.error

    def test_the_schema_and_the_options_reach_the_model(self):
        asked = critic(YES, temperature=0.5, max_tokens=50, logprobs=True)
        asked.judge(CASE)
        assert asked.model.options == [Options(0.5, 50, True)]
        assert asked.model.schemas[0]["properties"]["answer"]["enum"] == ["YES", "NO", "UNSURE"]

    def test_a_grader_with_a_line_of_its_own_is_repaired(self):
        """Situations, row 14; that it is refused with the way out is a row there."""
        grades = {"C": "pass", "P": "label", "I": "fail"}
        for reply in ("GRADE: C", "It fits.\n\nGRADE: C", "**GRADE: C**", "GRADE: CI"):
            repaired = critic(reply, says("C"), prompt="Compare.\n{answer}", labels=grades).judge(CASE)
            assert (repaired.status, repaired.label, repaired.usage.calls) == ("PASS", "C", 2)

    def test_labels_that_are_statuses(self):
        labels = {"PASS": "pass", "FAIL": "fail", "PARTIAL": "label"}
        for said, status, label in (("pass", "PASS", None), ("FAIL", "FAIL", None), ("partial", "LABEL", "PARTIAL")):
            judgment = critic(says(said), prompt="{answer}", labels=labels).judge(CASE)
            assert (judgment.status, judgment.label, judgment.error) == (status, label, None)

    @each_row(
        ("options", "answer", "outcome"),
        [
            ({"labels": {"good": 0.6, "poor": 0.1}}, "good", ("PASS", "good", 0.6)),
            ({"labels": {"good": 0.6, "poor": 0.1}, "threshold": 0.7}, "good", ("FAIL", "good", 0.6)),
            ({"labels": {"YES": "pass", "NO": "fail"}, "threshold": 0.7}, "YES", ("PASS", "YES", None)),
            ({"scale": (1, 5)}, 3, ("PASS", None, 0.5)),
            ({"scale": (1, 5), "threshold": 0.7}, 3, ("FAIL", None, 0.5)),
            ({"scale": {"minimum": 0, "maximum": 10, "pass_mark": 8}}, 8, ("PASS", None, 0.8)),
        ],
    )
    def test_a_threshold_is_a_score(self, options, answer, outcome):
        judgment = critic(says(answer), prompt="{answer}", **options).judge(CASE)
        assert (judgment.status, judgment.label, judgment.score) == outcome


def guard(text):
    """A reader of a guard model's replies."""
    first = text.split()[0].lower()
    if first not in ("safe", "unsafe"):
        raise ValueError(f"the first word is {first}")
    return first == "safe"


class TestOwnParser:
    def test_it_reads_the_reply_and_no_json_is_asked_for(self):
        asked = critic("unsafe\nS1", prompt="Safe?\n{answer}", parse=guard)
        judgment = asked.judge(CASE)
        assert (judgment.status, judgment.usage.calls, asked.model.schemas) == (Status.FAIL, 1, [None])
        assert "JSON" not in asked.model.prompts[0].system

    def test_after_a_value_error_it_is_asked_once_more(self):
        asked = critic("hm", "safe", prompt="{answer}", parse=guard)
        assert asked.judge(CASE).status is Status.PASS
        assert "hm" not in asked.model.prompts[1].turns[-1].text  # what quotes a reply is outside of delimiters
        judgment = critic("hm", prompt="{answer}", parse=guard).judge(CASE)
        assert (judgment.status, judgment.metadata["cause"]) == (Status.ABSTAIN, "parse_fail")
        assert "the first word is hm" in judgment.reasoning

    @each_row(
        ("parsed", "options", "status"),
        [
            (0.8, {}, "PASS"), ((0.2, "why"), {}, "FAIL"), ("ABSTAIN", {}, "ABSTAIN"), ("odd", {}, "ERROR"),
            (0.8, {"threshold": 0.9}, "FAIL"), ("safe", {"labels": {"safe": "pass", "not": "fail"}}, "PASS"),
            ("other", {"labels": {"safe": "pass"}}, "ERROR"), (None, {}, "ERROR"), ([], {}, "ERROR"),
        ],
    )  # fmt: skip
    def test_it_returns_what_a_judge_may_return(self, parsed, options, status):
        asked = critic("x", prompt="{answer}", parse=lambda text: parsed, **options)
        assert asked.judge(CASE).status == status

    def test_a_parser_that_breaks_is_an_error(self):
        def parse(text):
            raise RuntimeError(f"cannot read with {KEY}")

        judgment = critic("x", prompt="{answer}", parse=parse).judge(CASE)
        assert (judgment.status, judgment.usage.calls) == (Status.ERROR, 1)
        assert "0123456789" not in str(judgment)


OWN = Rubric(name="x", criteria="c", prompt="{question}{answer}")


def keyed(**changes):
    """The key under which a critic with these changes stores its judgment of a case with these changes."""
    case = CASE.model_copy(update=changes.pop("case", {}))
    store, sample = Memory(), changes.pop("sample", 0)
    model = ScriptedModel([YES], model=changes.pop("model", "m"))
    asked = Critic(model, **{"rubric": OWN, "limits": ONCE, **changes})
    with within(store=store, sample=sample):
        asyncio.run(asked.ajudge(case))
    (key,) = store.rows
    return key


SAME_KEY = [
            {}, {"name": "other"}, {"image_urls": True}, {"limits": None}, {"case": {"id": "other"}},
            {"case": {"metadata": {"a": 1}}}, {"case": {"generator": "gpt-9"}},
            {"rubric": OWN.replace(name="y", version="9", description="d", source="s")},
        ]  # fmt: skip


class TestIdentity:
    """A store never serves the answer of another question, and always that of the same one."""

    @each_row(
        "changes",
        [
            {"rubric": OWN.replace(criteria="C")}, {"rubric": OWN.replace(prompt="{question} {answer}")},
            {"rubric": OWN.replace(labels={"YES": "pass", "NO": "fail"})}, {"rubric": OWN.replace(threshold=0.5)},
            {"rubric": OWN.replace(labels={"YES": "fail", "NO": "pass", "UNSURE": "abstain"})},
            {"rubric": OWN.replace(examples=[{"case": CASE, "answer": "NO", "reasoning": "r"}])},
            {"threshold": 0.7}, {"model": "n"}, {"temperature": 0.1}, {"temperature": None}, {"max_tokens": 9},
            {"logprobs": True}, {"parse": guard}, {"sample": 1},
            {"case": {"question": "other"}}, {"case": {"answer": "other"}}, {"case": {"contexts": ("other",)}},
            {"case": {"reference": "other"}},
        ],
    )  # fmt: skip
    def test_what_changes_the_key(self, changes):
        assert keyed(**changes) != keyed()

    def test_what_does_not_change_the_key(self):
        for changes in SAME_KEY:
            assert keyed(**changes) == keyed()

    def test_metadata_that_the_prompt_shows_is_part_of_the_key(self):
        rubric = Rubric(name="x", prompt="{answer}{policy}", variables=["policy"], requires=["answer"])
        keys = {keyed(rubric=rubric, case={"metadata": data}) for data in ({}, {"policy": "a"}, {"policy": "b"})}
        assert len(keys) == 3
        assert keyed(rubric=rubric, case={"metadata": {"policy": "a", "x": 1}}) in keys

    def test_the_key_is_the_same_on_every_machine(self):
        assert critic(YES).fingerprint == critic(NO, name="other").fingerprint
        assert len(critic(YES).fingerprint) == 32

    def test_the_name_is_not_part_of_the_fingerprint_so_a_renamed_critic_pays_nothing(self):
        store, asked = Memory(), critic(YES, name="one")
        for one in (asked, asked.named("two")):
            assert next(one.judge_many([CASE], store=store)).critic == one.name
        assert len(asked.model.prompts) == 1


class TestStore:
    def test_what_is_stored_is_not_asked_again_and_counts_as_recorded(self):
        store, asked = Memory(), critic(YES, NO)
        first, second = (next(asked.judge_many([CASE], store=store)) for _ in range(2))
        assert (first.status, second.status, len(asked.model.prompts)) == ("PASS", "PASS", 1)
        assert (second.usage.calls, second.usage.recorded_calls) == (0, 1)

    def test_the_same_question_at_once_is_asked_once(self):
        store, asked = Memory(), critic(YES, NO)
        assert len([*asked.judge_many([CASE] * 20, store=store)]) == 20
        assert len(asked.model.prompts) == 1

    def test_samples_are_stored_apart(self):
        store, asked = Memory(), critic(YES, NO, YES)
        for _ in range(2):
            (verdict,) = asked.with_samples(3).judge_many([CASE], store=store)
            assert [one.status for one in verdict.judgments] == ["PASS", "FAIL", "PASS"]
        assert len(asked.model.prompts) == 3

    def test_an_error_is_asked_again_and_an_abstention_is_not(self):
        store, asked = Memory(), critic(down(), "?", "?", YES)
        statuses = [next(asked.judge_many([CASE], store=store)).status for _ in range(3)]
        assert (statuses, len(asked.model.prompts)) == (["ERROR", "ABSTAIN", "ABSTAIN"], 3)

    def test_the_store_of_a_critic_serves_where_the_batch_has_none(self):
        own, given = Memory(), Memory()
        asked = critic(YES, store=own)
        for store, kept in ((None, (1, 0)), (given, (1, 1))):
            list(asked.judge_many([CASE], store=store))
            assert (len(own.rows), len(given.rows)) == kept

    def test_nothing_is_stored_of_a_case_that_is_not_asked_about(self):
        store = Memory()
        list(critic(YES).judge_many([Case(question="q", answer="a")], store=store))
        assert store.rows == {}

    def test_a_replay_reads_and_never_asks(self):
        store, asked = Memory(), critic(YES)
        list(asked.judge_many([CASE], store=store))
        store.read_only = True
        again = critic(NO)
        replayed, missed = again.judge_many([CASE, CASE.model_copy(update={"answer": "Bob."})], store=store)
        assert (replayed.status, replayed.usage.recorded_calls) == (Status.PASS, 1)
        assert (missed.status, missed.metadata["cause"]) == (Status.ABSTAIN, "not_recorded")
        assert missed.reasoning.startswith("not recorded")
        assert (again.model.prompts, len(store.rows)) == ([], 1)

    def test_a_store_that_breaks_is_an_error_and_the_paid_judgment_survives_a_failed_write(self):
        class Full(Memory):
            async def put(self, key, case, judgment):
                raise OSError("disk full")

        (judgment,) = critic(YES).judge_many([CASE], store=Full())
        assert (judgment.status, judgment.metadata["store_error"]) == ("PASS", "OSError: disk full")


class TestBudget:
    def priced(self, *replies, **options):
        return Critic(ScriptedModel([*replies], usd_per_token=0.001), "faithfulness", limits=ONCE, **options)

    def test_an_estimate_is_above_what_a_call_takes(self):
        asked = self.priced(YES)
        estimate, usage = asked.estimate(CASE), asked.judge(CASE).usage
        assert (estimate.calls, estimate.output_tokens, asked.cost) == (1, 2000, pytest.approx(1.2))
        assert estimate.cost_usd > usage.cost_usd > 0
        assert estimate.input_tokens > usage.input_tokens
        unknown = Critic(ScriptedModel([YES], usd_per_token=None), "faithfulness")
        assert (unknown.estimate(CASE).cost_complete, unknown.cost) == (False, float("inf"))

    def test_a_call_that_does_not_fit_is_not_sent(self):
        budget, asked = Budget(max_usd=0.5), self.priced(YES)
        (judgment,) = asked.judge_many([CASE], budget=budget)
        assert (judgment.status, asked.model.prompts, budget.refused) == (Status.ERROR, [], 1)
        assert "over budget" in judgment.error

    def test_the_repair_is_paid_too_and_both_are_summed(self):
        for replies in ([YES], ["prose", YES]):
            budget, asked = Budget(max_calls=10), self.priced(*replies)
            (judgment,) = asked.judge_many([CASE], budget=budget)
            assert (judgment.usage.calls, budget.spent) == (len(replies), judgment.usage)
            sent = sum(len(one.system) + sum(len(turn.text) for turn in one.turns) for one in asked.model.prompts)
            assert judgment.usage.input_tokens == pytest.approx(sent / 4, abs=2)

    def test_a_repair_that_does_not_fit_is_an_error_with_what_the_first_call_took(self):
        asked = self.priced("prose", YES)
        (judgment,) = asked.judge_many([CASE], budget=Budget(max_calls=1))
        assert (judgment.status, judgment.usage.calls, len(asked.model.prompts)) == (Status.ERROR, 1, 1)
        assert judgment.usage.cost_usd > 0

    @pytest.mark.parametrize(
        ("error", "calls"), [(down(sent=False), 0), (down("refused", sent=False), 0), (down("timeout", sent=True), 1)]
    )
    def test_a_call_that_failed_counts_if_it_may_be_billed(self, error, calls):
        budget, asked = Budget(max_calls=10), self.priced(error)
        (judgment,) = asked.judge_many([CASE], budget=budget)
        assert (judgment.status, budget.spent.calls) == (Status.ERROR, calls)
        assert budget.spent.cost_usd == pytest.approx(asked.estimate(CASE).cost_usd if calls else 0)
        assert judgment.usage.cost_complete is not bool(calls)

    def test_each_attempt_fits_and_what_the_budget_refuses_keeps_the_attempts_before_it(self):
        asked = Critic(
            ScriptedModel([down("timeout", sent=True, transient=True)] * 9), "faithfulness", limits=Limits(attempts=6)
        )
        (judgment,) = asked.judge_many([CASE], budget=(budget := Budget(max_calls=2)))
        assert (len(asked.model.prompts), budget.spent.calls, budget.refused, judgment.usage.calls) == (2, 2, 1, 2)
        assert ("over budget" in judgment.error, judgment.usage.cost_complete) == (True, False)

    def test_a_reply_that_does_not_say_what_it_took_settles_at_its_estimate(self):
        async def silent(prompt):
            return YES

        asked = Critic(silent, "faithfulness", limits=ONCE)
        list(asked.judge_many([CASE], budget=(budget := Budget(max_tokens=10**6))))
        estimate = asked.estimate(CASE)
        assert budget.spent.input_tokens + budget.spent.output_tokens == estimate.input_tokens + estimate.output_tokens

    @each_row(
        ("options", "limits", "is_sent"),
        [
            ({"max_tokens": None}, {"max_usd": 9}, False),
            ({"max_tokens": None}, {"max_tokens": 10**6}, False),
            ({"max_tokens": None}, {"max_calls": 9}, True),
            ({"max_tokens": 9}, {"max_usd": 9, "max_tokens": 10**6}, True),
        ],
    )
    def test_a_reply_without_a_limit_fits_into_no_budget_of_dollars_or_tokens(self, options, limits, is_sent):
        asked = self.priced(YES, **options)
        (judgment,) = asked.judge_many([CASE], budget=(budget := Budget(**limits)))
        assert (len(asked.model.prompts), budget.refused) == (is_sent, not is_sent)
        assert is_sent or judgment.error.endswith("can hold the call; set max_tokens")
        assert asked.estimate(CASE).cost_complete is (options["max_tokens"] is not None)

    def test_a_model_that_costs_nothing_needs_no_limit_on_replies(self):
        asked = Critic(ScriptedModel([YES]), "faithfulness", max_tokens=None)
        assert next(asked.judge_many([CASE], budget=Budget(max_usd=0.0))).passed

    def test_a_call_that_is_cut_off_settles_at_its_estimate(self):
        """Trap 11."""

        class Slow(ScriptedModel):
            async def complete(self, prompt, schema=None, options=None):
                await asyncio.sleep(30)

        budget = Budget(max_usd=10)
        asked = Critic(Slow([], usd_per_token=0.001), "faithfulness", limits=ONCE).with_timeout(0.05)
        (judgment,) = asked.judge_many([CASE], budget=budget)
        assert (judgment.status, judgment.error) == (Status.ERROR, "timeout")
        assert budget.spent.cost_usd == pytest.approx(asked.estimate(CASE).cost_usd)
        assert judgment.usage.cost_complete is False

    def test_a_budget_is_not_exceeded_by_calls_that_take_no_more_than_their_estimates(self):
        budget, asked = Budget(max_usd=3.6), self.priced(YES)
        cases = [CASE.model_copy(update={"answer": str(number)}) for number in range(20)]
        assert {one.status for one in asked.judge_many(cases, budget=budget)} == {Status.PASS, Status.ERROR}
        assert budget.spent.cost_usd <= 3.6


KEY = "sk-secret-0123456789"


class TestKeys:
    @each_row(
        "reply",
        [
            ModelError(f"wrong key {KEY}", "account"), RuntimeError(f"401 for {KEY}"), ValueError(f"Bearer {KEY}"),
            Reply(f"my key is {KEY}", finish="refusal"), f"prose with {KEY}",
        ],
    )  # fmt: skip
    def test_no_key_is_in_a_judgment_or_a_store(self, reply):
        store = Memory()
        (judgment,) = critic(reply).judge_many([CASE], store=store)
        written = judgment.model_dump_json() + str(judgment) + json.dumps([str(row) for row in store.rows.values()])
        assert judgment.status in (Status.ERROR, Status.ABSTAIN)
        assert "0123456789" not in written


REPLIES = (
    "",
    "{",
    "null",
    YES,
    says(10**400),
    '{"claims": null, "answer": "grounded"}',
    "\ud800",
    '{"answer": "\\ud800"}',
)


@each_row("name", ["faithfulness", "hallucination", "pairwise", "coherence", "trajectory", "plan_adherence"])
def test_nothing_raises_for_a_case(name):
    case = Case(
        question="\ud800", answer="a" * 10_000, contexts=["c\x00"], candidates=["a", "b"], steps=[{"tool": "t"}],
        metadata={"plan": {"x": [1, None]}},
    )  # fmt: skip
    for reply in REPLIES:
        assert critic(reply, rubric=name).judge(case).status in list(Status)
