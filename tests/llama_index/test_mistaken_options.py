"""Options that would watch nothing, or judge with somebody else, without a word."""

import importlib
import inspect
import json
import pydoc
import warnings
from collections.abc import Callable

import pytest
from llama_index.core import Document, Settings
from llama_index.core.agent.workflow import BaseWorkflowAgent
from llama_index.core.base.base_query_engine import BaseQueryEngine
from llama_index.core.query_engine import CustomQueryEngine, RetrieverQueryEngine
from support.llama_apps import Model

from jury_adapters import Case, ConfigurationError, Critic, grounding_screen, judge
from jury_adapters.checks import NotEmpty
from jury_adapters.judges.llm import ModelOptions
from jury_adapters.llama_index import (
    JuryContextRelevancyEvaluator,
    JuryCorrectnessEvaluator,
    JuryEvaluator,
    JuryFaithfulnessEvaluator,
    JuryGuardQueryEngine,
    JuryGuidelineEvaluator,
    JuryRetrievalMetric,
    JurySpanHandler,
    judge_runs,
    to_case,
)
from jury_adapters.llama_index.preset_evaluator import PresetEvaluator, PresetOptions
from jury_adapters.testing import ScriptedModel


class Fixed(CustomQueryEngine):
    """Always the same answer."""

    def custom_query(self, query_str: str) -> str:
        return "In 2018."


def says_2018(case):
    return "2018" in case.answer


def watched(engines):
    with judge_runs(says_2018, select=engines) as watch:
        Fixed().query("When?")
    return watch.counts.judged, watch.counts.skipped


@pytest.mark.parametrize(
    "engines",
    ["query", ["chat", "query"], Fixed, "Fixed", "CustomQueryEngine", BaseQueryEngine, lambda engine, method: True],
)
def test_what_is_named_is_judged(engines):
    assert watched(engines) == (1, 0)


@pytest.mark.parametrize("engines", ["chat", RetrieverQueryEngine, ["agent", "RetrieverQueryEngine"]])
def test_what_is_left_out_is_counted(engines):
    assert watched(engines) == (0, 1)


def test_without_engines_nothing_is_left_out():
    with judge_runs(says_2018) as watch:
        Fixed().query("When?")
    assert (watch.counts.judged, watch.counts.skipped) == (1, 0)


@pytest.mark.parametrize(
    ("engines", "said"),
    [
        ("querry", "unknown engine 'querry'. Did you mean 'query'.*No class has that name so far"),
        (["RetrieverQueryEngin"], "Did you mean 'RetrieverQueryEngine'"),
        (Document, "Document is the class of no engine or agent"),
    ],
)
@pytest.mark.parametrize("make", [judge_runs, JurySpanHandler])
def test_a_name_that_nothing_has_draws_a_warning_where_it_was_given(make, engines, said):
    with pytest.warns(UserWarning, match=said) as found:
        make(NotEmpty(), select=engines)
    assert found[0].filename == __file__


def test_a_class_may_be_defined_later():
    with pytest.warns(UserWarning, match="so far"):
        block = judge_runs(says_2018, select="DefinedLater")

    class DefinedLater(Fixed):
        """Not there yet when it was named."""

    with block as watch:
        DefinedLater().query("When?")
    assert watch.counts.judged == 1


@pytest.mark.parametrize("engines", [Fixed(), [Fixed()], 3])
def test_an_engine_itself_is_refused(engines):
    with pytest.raises(ConfigurationError, match="not an instance of"):
        judge_runs(NotEmpty(), select=engines)


def test_an_empty_list_is_refused():
    with pytest.raises(ConfigurationError, match="nothing would be judged"):
        judge_runs(NotEmpty(), select=[])


def test_a_function_attached_twice_judges_once_and_the_log_says_for_whom(caplog):
    told = []
    with judge_runs(says_2018, on_verdict=told.append) as first, judge_runs(says_2018) as second:
        Fixed().query("When?")
        Fixed().query("When?")
    assert (first.counts.judged, second.counts.judged, told) == (0, 2, [])
    (said,) = [record.getMessage() for record in caplog.records if record.levelname == "WARNING"]
    assert "says_2018 is attached twice: only the handler that was attached last judges" in said


def test_there_is_no_warning_where_the_same_judge_has_other_runs(caplog):
    with judge_runs(says_2018, select="chat"), judge_runs(says_2018, select="query") as second, judge_runs(NotEmpty()):
        Fixed().query("When?")
    assert second.counts.judged == 1
    assert "attached twice" not in caplog.text


@pytest.mark.slow
def test_what_a_handler_leaves_out_is_counted_by_each_handler_for_itself():
    with (
        judge_runs(says_2018, select="query") as first,
        judge_runs(says_2018, select="query") as second,
        judge_runs(NotEmpty(), select="chat") as third,
    ):
        Fixed().query("When?")
    assert [one.counts.skipped for one in (first, second, third)] == [0, 0, 1]


@pytest.mark.parametrize("make", [judge_runs, JuryEvaluator])
def test_the_path_of_a_jury_file_is_no_jury(make):
    with pytest.raises(ConfigurationError, match=r"load_jury\('jury.yaml'\)"):
        make("jury.yaml")


def test_a_ready_evaluator_takes_a_function_as_its_jury():
    assert JuryFaithfulnessEvaluator(jury=says_2018).evaluate("When?", "In 2018.", contexts=["x"]).passing


@pytest.mark.parametrize("empty", [[], ()])
@pytest.mark.parametrize("make", [JuryFaithfulnessEvaluator, JuryContextRelevancyEvaluator, JuryGuidelineEvaluator])
def test_an_empty_panel_is_refused_and_does_not_become_another_judge(make, empty):
    given = {"guidelines": "Be kind."} if make is JuryGuidelineEvaluator else {}
    with pytest.raises(ConfigurationError, match=r"llms= is empty.*jury=grounding_screen\(\)"):
        make(llms=empty, **given)


def test_the_screen_stays_offline_whatever_the_settings_say():
    model = Model(answer="YES")
    before = Settings._llm
    Settings.llm = model
    try:
        offline = JuryFaithfulnessEvaluator(jury=grounding_screen())
        result = offline.evaluate("When?", "It stopped in 2019.", contexts=["It stopped in 2018."])
        asked = JuryFaithfulnessEvaluator().jury
    finally:
        Settings._llm = before
    assert result.passing is False
    assert asked.name == "faithfulness"  # a critic of that model: what the page says of it
    assert type(asked).__name__ == "Critic"


@pytest.mark.slow
def test_nothing_is_warned_of_what_is_right():
    importlib.import_module("llama_index.core.agent.workflow")  # the class must be there to be known by its name
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        agents = [BaseWorkflowAgent.__name__, "workflow"]
        for engines in ("query", "CustomQueryEngine", agents, lambda engine, method: True):
            judge_runs(NotEmpty(), select=engines)


def my_check(case):
    return True


async def my_async_check(case):
    return True


async def my_annotated_check(item: Case):
    return True


@pytest.mark.parametrize("check", [my_check, my_async_check, my_annotated_check])
@pytest.mark.parametrize("given", [lambda one: {"llm": one}, lambda one: {"llms": [ScriptedModel(["YES"]), one]}])
def test_a_function_that_judges_is_not_taken_for_a_model(check, given):
    with pytest.raises(ConfigurationError, match=rf"write @judge above it, or judge\({check.__name__}\)"):
        JuryFaithfulnessEvaluator(**given(check))
    judged = JuryFaithfulnessEvaluator(**given(judge(check))).evaluate("q", "a", contexts=["c"])
    assert judged.passing


def test_an_asynchronous_function_of_a_prompt_is_a_model():
    async def model(prompt):
        return "Answer: YES"

    assert JuryFaithfulnessEvaluator(llms=[model, judge(my_check)]).evaluate("q", "a", contexts=["c"]).passing


@pytest.mark.parametrize("evaluator", PresetEvaluator.__subclasses__())
def test_help_shows_every_option_of_a_preset_evaluator(evaluator):
    shown = pydoc.plain(pydoc.render_doc(evaluator)).partition("Method resolution order")[0]
    arguments = inspect.signature(evaluator).parameters
    assert PresetOptions.__annotations__.keys() <= arguments.keys()
    own = arguments.keys() - ModelOptions.__annotations__.keys()
    assert [name for name in own if f"{name}: " not in shown.partition("Arg")[2]] == []
    assert [name for name in ModelOptions.__annotations__ if f"``{name}=``" not in shown] == []


@pytest.mark.parametrize(
    ("make", "meant"),
    [
        (lambda: JuryGuardQueryEngine(Fixed(), says_2018, max_retry=1), "max_retries"),
        (lambda: JuryEvaluator(says_2018, stor="a.db"), "store"),
        (lambda: JuryRetrievalMetric(says_2018, nam="x"), "name"),
        (lambda: to_case("In 2018.", quer="When?"), "query"),
    ],
)
def test_a_misspelt_option_is_refused_with_the_right_name(make, meant):
    with pytest.raises(ConfigurationError, match=f"Did you mean '{meant}'"):
        make()


def test_a_guard_without_a_jury_says_what_is_missing():
    with pytest.raises(ConfigurationError, match=r"the engine or the jury is missing.*JuryGuardQueryEngine\("):
        JuryGuardQueryEngine(Fixed())


def rated(rating: int) -> Critic:
    return Critic(ScriptedModel(json.dumps({"answer": rating})), "graded_correctness", name="rater")


@pytest.mark.parametrize(
    ("make", "told"),
    [
        (lambda: JuryCorrectnessEvaluator(rated(3), score_threshold=3), "score_threshold belongs to a model; ready"),
        (
            lambda: JuryCorrectnessEvaluator(jury=rated(3), score_threshold=3),
            "score_threshold belongs to a mod",
        ),
        (lambda: JuryCorrectnessEvaluator(rated(3), graded=False), "graded belongs to a model"),
        (lambda: JuryCorrectnessEvaluator(rated(3), reference_required=True), "reference_required belongs to a model"),
        (lambda: JuryContextRelevancyEvaluator(rated(3), graded=False), "graded belongs to a model"),
        (lambda: JuryGuidelineEvaluator(rated(3), guidelines="Be kind."), "guidelines belongs to a model"),
        (lambda: JuryFaithfulnessEvaluator(jury=rated(3), voting="unanimous"), "voting is for several models; a ready"),
        (lambda: JuryFaithfulnessEvaluator(jury=rated(3), voting="majority"), "voting is for several models; a ready"),
        (lambda: JuryFaithfulnessEvaluator(jury=rated(3), schedule="early_stop"), "schedule is for several models"),
        (lambda: JuryFaithfulnessEvaluator(rated(3), voting="unanimous"), r"voting is for several .* give llms="),
        (lambda: JuryFaithfulnessEvaluator(schedule="sequential"), r"schedule is for several .* give llms="),
    ],
)
def test_an_option_without_an_effect_is_refused(make: Callable[[], object], told: str) -> None:
    with pytest.raises(ConfigurationError, match=told):
        make()


def test_options_of_a_panel_with_a_model_in_it_are_taken() -> None:
    model = ScriptedModel(json.dumps({"answer": 3}))
    strict = JuryCorrectnessEvaluator(llms=[model, rated(3)], score_threshold=3, voting="unanimous")
    assert [juror.passed for juror in strict.evaluate("q", "a", reference="r").jurors] == [True, False]
    assert JuryCorrectnessEvaluator(llms=[model], voting="unanimous", score_threshold=3).evaluate("q", "a").passing
    assert JuryGuidelineEvaluator(rated(5)).evaluate("q", "a", reference="r").passing


def test_what_is_not_a_query_engine_is_refused_with_another_way_to_guard_it():
    with pytest.raises(ConfigurationError) as raised:
        JuryGuardQueryEngine(Model(), NotEmpty())
    assert "not Model. Guard the engine that a chat engine or a tool asks, or judge the answer" in str(raised.value)
    assert "await jury.ajudge(await ato_case(answer, query=question))" in str(raised.value)


@pytest.mark.parametrize(
    "wrapped",
    [
        lambda made: JuryFaithfulnessEvaluator(jury=made),
        JuryEvaluator,
        JurySpanHandler,
        lambda made: JuryGuardQueryEngine(Fixed(), made),
    ],
)
def test_a_maker_of_juries_that_was_not_called_is_refused(wrapped):
    with pytest.raises(ConfigurationError, match=r"grounding_screen makes a judge: give grounding_screen\(\)"):
        wrapped(grounding_screen)
