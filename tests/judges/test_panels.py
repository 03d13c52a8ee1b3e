"""panel, rag_jury and EachTurn: which models are asked about what, and what follows from their replies."""

import json

import pytest
from langchain_core.messages import AIMessage, HumanMessage, SystemMessage, ToolMessage

from jury_adapters import (
    Budget,
    Case,
    ConfigurationError,
    Critic,
    Image,
    Rubric,
    Run,
    Scorecard,
    Step,
    abstain,
    default_case,
    judge,
    open_store,
)
from jury_adapters.checks import ForbiddenTools, NotEmpty
from jury_adapters.judges.panels import panel, rag_jury
from jury_adapters.judges.turns import EachTurn
from jury_adapters.testing import ScriptedJudge, ScriptedModel

YES, NO = (json.dumps({"reasoning": "so it says", "answer": answer}) for answer in ("YES", "NO"))
CASE = Case(question="When?", answer="In 2018.", contexts="The ferry stopped in 2018.")


def says(*replies, name="m"):
    return ScriptedModel([*replies], model=name)


def test_a_panel_asks_each_model_by_one_rubric_and_counts_the_votes():
    models = [says(YES, name="a"), says(NO, name="b"), says(YES, name="b")]
    verdict = panel("answer_relevance", *models).judge(CASE)
    assert (verdict.status, [*verdict.by_name], verdict.agreement) == (
        "PASS",
        ["answer_relevance a", "answer_relevance b", "answer_relevance b-2"],
        pytest.approx(1 / 3),
    )
    assert (
        all(len(model.prompts) == 1 for model in models),
        panel("answer_relevance", *models, voting="unanimous", name="p").judge(CASE).status,
    ) == (True, "FAIL")


def test_judges_vote_with_the_models_and_the_options_are_those_of_an_ensemble():
    own = judge(lambda case: False, name="own")
    jury = panel("answer_relevance", says(YES), own, voting="veto", k=2, schedule="sequential", required=["own"])
    assert (jury.judge(CASE).status, jury.schedule) == ("PASS", "sequential")
    rubric = Rubric(name="polite", prompt="Is it polite?\n{answer}", labels={"YES": "pass", "NO": "fail"})
    assert [*panel(rubric, says(NO)).judge(CASE).by_name] == ["polite m"]


@pytest.mark.parametrize(
    ("make", "said"),
    [
        (lambda: panel("faithfulness"), "at least one judge"),
        (lambda: panel("no_such_rubric", says(YES)), "no_such_rubric"),
        (lambda: panel(says(YES), "faithfulness"), "faithfulness"),
        (lambda: panel("faithfulness", says(YES), votin="veto"), "votin"),
        (rag_jury, "at least one judge"),
        (lambda: rag_jury(says(YES), quorum=2), "quorum"),
        (lambda: EachTurn(lambda case: True, threshold=0), "threshold= is a share"),
        (lambda: EachTurn("faithfulness"), "a judge is"),
    ],
)
def test_a_wrong_construction_is_refused(make, said):
    with pytest.raises(ConfigurationError, match=said):
        make()


CLAIM = {
    "claim": "It stopped in 2018.", "sentence": "In 2018.", "passage": 1, "evidence": "The ferry stopped in 2018.",
    "reason": "context 1", "verdict": "supported",
}  # fmt: skip
GROUNDED = json.dumps({"reasoning": "so it says", "claims": [CLAIM], "answer": "grounded"})


def agreeing():
    """Return a model that finds every claim supported, and says YES to all other questions."""
    return ScriptedModel(lambda prompt: GROUNDED if '"claims"' in prompt.system else YES)


def test_the_screen_of_a_rag_jury_rejects_without_a_model():
    model = agreeing()
    jury = rag_jury(model)
    for answer, why in (("  ", "blank"), (None, "blank"), ("It stopped in 2031.", "2031")):
        verdict = jury.judge(question="When?", answer=answer, contexts=["It stopped in 2018."])
        assert (verdict.status, verdict.stopped_at, why in str(verdict)) == ("FAIL", "screen", True)
    assert (model.prompts, [tier.name for tier in jury.tiers]) == ([], ["screen", "relevance", "criteria"])


def test_a_rag_jury_asks_the_first_model_about_the_passages_and_all_about_the_answer():
    first, second = agreeing(), agreeing()
    verdict = rag_jury(first, second).judge(CASE)
    assert (
        [*verdict.tiers["criteria"].by_name],
        len(first.prompts),
        len(second.prompts),
        verdict.status,
        verdict.review_reasons,
        first.prompts[0].system != first.prompts[1].system,
    ) == (["faithfulness", "hallucination", "answer_relevance"], 4, 3, "PASS", (), True)


def test_one_no_of_a_model_fails_an_unanimous_criterion_and_irrelevant_passages_end_it():
    no = ScriptedModel([NO])
    verdict = rag_jury(no, agreeing()).judge(CASE)
    assert (verdict.status, verdict.stopped_at, len(no.prompts)) == ("FAIL", "relevance", 1)
    verdict = rag_jury(agreeing(), no, voting="majority", tie="pass").judge(CASE)
    assert (
        verdict.stopped_at,
        bool(verdict.tiers["criteria"].by_name["answer_relevance"].tied),
        rag_jury(agreeing(), no).judge(CASE).status,
    ) == ("criteria", True, "FAIL")


THREAD = [
    SystemMessage("You work for the ferry."),
    AIMessage("Welcome! How can I help?"),
    HumanMessage("Give me my money back."),
    AIMessage("I look.", tool_calls=[{"name": "refund", "args": {"order": 3}, "id": "1"}]),
    ToolMessage("20 euros were sent", tool_call_id="1"),
    AIMessage("It is done."),
    HumanMessage("Thank you"),
    HumanMessage("When does the ferry run?"),
    AIMessage("At nine."),
]
CHAT = default_case(Run(outputs={"messages": THREAD, "context": ["It runs at nine."]}, reference="At nine."))


def seen(case):
    return True, f"{case.question}|{case.answer}|{[*case.contexts]}|{case.reference}|{len(case.messages)}"


@pytest.mark.parametrize("case", [CHAT, Case.model_validate_json(CHAT.model_dump_json())], ids=["read", "from a file"])
def test_each_turn_is_judged_with_what_came_before_it_and_nothing_later(case):
    verdict = EachTurn(seen).judge(case)
    assert (verdict.status, [one.reasoning for one in verdict.judgments]) == (
        "PASS",
        [
            "Give me my money back.|It is done.|['20 euros were sent']|None|2",
            "When does the ferry run?|At nine.|['It runs at nine.']|At nine.|7",
        ],
    )


def test_the_calls_of_every_turn_are_judged():
    """The last turn calls nothing; a check of its steps alone would pass the thread."""
    assert ForbiddenTools("refund").judge(CHAT).passed
    verdict = EachTurn(ForbiddenTools("refund")).judge(CHAT)
    assert (verdict.status, verdict.by_name["turn 1"].reasoning) == ("FAIL", "forbidden: refund(order=3)")


def test_a_file_of_messages_without_calls_is_read_too():
    rows = [("user", "a"), ("assistant", "b"), ("user", "c"), ("tool", "found it"), ("assistant", "d")]
    messages = [{"role": role, "content": content} for role, content in rows]
    verdict = EachTurn(seen).judge(messages=messages)
    assert (
        [one.reasoning for one in verdict.judgments],
        EachTurn(seen).judge(messages=messages, question="e", answer="f").by_name["turn 3"].reasoning.startswith("e|f"),
    ) == (["a|b|[]|None|0", "c|d|['found it']|None|2"], True)


@pytest.mark.parametrize(
    ("outcomes", "threshold", "status", "score"),
    [
        ([True, True], 1.0, "PASS", 1.0),
        ([True, False], 1.0, "FAIL", 0.5),
        ([True, False], 0.5, "PASS", 0.5),
        ([True, False], 0.51, "FAIL", 0.5),
        ([False, RuntimeError("down")], 1.0, "FAIL", None),
        ([True, RuntimeError("down")], 1.0, "ERROR", None),
        ([True, RuntimeError("down")], 0.5, "PASS", None),
        ([True, abstain("no context")], 1.0, "ABSTAIN", None),
    ],
)
def test_an_undecided_turn_matters_only_if_it_could_change_the_verdict(outcomes, threshold, status, score):
    verdict = EachTurn(ScriptedJudge(outcomes), threshold=threshold).judge(CHAT)
    assert (verdict.status, verdict.score) == (status, score)
    assert "low_agreement" not in verdict.review_reasons  # turns are questions of their own


@pytest.mark.parametrize(
    "thread",
    [
        {"question": "a"},
        {"answer": "a"},
        {"messages": [{"role": "assistant", "content": "Hello!"}]},
        {"messages": [{"role": "user", "content": "a"}]},
        {"messages": [{"role": "user", "content": "a"}], "question": "b"},
    ],
)
def test_without_an_answer_there_is_no_turn(thread):
    verdict = EachTurn(NotEmpty()).judge(thread)
    assert (verdict.status, "no turn" in verdict.reasoning) == ("ABSTAIN", True)


def test_an_empty_answer_of_an_earlier_turn_is_judged():
    said = [HumanMessage("a"), AIMessage(""), HumanMessage("b"), AIMessage("done")]
    verdict = EachTurn(NotEmpty()).judge(default_case(Run(outputs={"messages": said})))
    assert [one.status for one in verdict.judgments] == ["FAIL", "PASS"]


def test_one_question_is_one_turn_and_an_empty_answer_is_an_answer():
    verdict = EachTurn(NotEmpty(), name="turns").judge(question="?", answer="", images=[Image(url="https://x/y.png")])
    assert (
        verdict.status,
        verdict.critic,
        [*verdict.by_name],
        EachTurn(NotEmpty()).judge(question="?", answer=None, steps=[Step(tool="a")], error="down").status,
    ) == ("FAIL", "turns", ["turn 1"], "FAIL")


def test_turns_are_paid_once_and_counted_in_an_estimate(tmp_path):
    model = says(YES)
    jury = Scorecard({"turns": EachTurn(Critic(model, "answer_relevance")), "last": NotEmpty()})
    messages = [{"role": role, "content": f"{role} {n}"} for n in range(12) for role in ("user", "assistant")]
    case = Case(messages=messages)
    assert jury.estimate(case).calls == 12
    with open_store(tmp_path / "runs.db") as store:
        first, second = (
            next(jury.judge_many([case.but(question="?", answer=answer)], store=store, budget=Budget(max_calls=20)))
            for answer in ("a", "b")
        )
    assert (first.usage.calls, len(model.prompts), second.usage.calls, second.usage.recorded_calls) == (13, 14, 1, 12)
