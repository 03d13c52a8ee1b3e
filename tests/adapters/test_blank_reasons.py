"""Blank reasons from outside: no judge raises for them, no judgment is lost, and a stated reason takes their place."""

import json
import sqlite3
from types import SimpleNamespace

import pytest
from llama_index.core.evaluation import BaseEvaluator, EvaluationResult
from typer.testing import CliRunner

from jury_adapters import Case, Critic, Ensemble, Judgment, Status, Store, abstain, judge
from jury_adapters.checks import NotEmpty
from jury_adapters.cli.app import app
from jury_adapters.core.judgment import broken
from jury_adapters.core.serial import judgment_from_dict
from jury_adapters.core.tally import Tally
from jury_adapters.core.voting.base import VoteResult
from jury_adapters.core.voting.rules.majority import Majority
from jury_adapters.judges.autoevals_deepeval import from_autoevals
from jury_adapters.langchain import from_evaluator
from jury_adapters.llama_index import from_evaluator as from_llama_index
from jury_adapters.replay import RecordedCritic, recorded_jury
from jury_adapters.report import Report
from jury_adapters.testing import ScriptedModel, a_case

BLANK = pytest.mark.parametrize("blank", ["", "  ", "\n\t", "\u00a0"])
CASE = a_case()


def explained(judgment, status):
    """Whether a judgment has this status and says why."""
    text = judgment.error if status == "ERROR" else judgment.reasoning
    return judgment.status == status and bool(text.strip()) and "ConfigurationError" not in f"{judgment.error}"


@BLANK
@pytest.mark.parametrize("status", ["ABSTAIN", "ERROR"])
def test_a_function_that_gives_a_status_with_a_blank_reason(blank, status):
    assert explained(judge(lambda case: (Status(status), blank)).judge(CASE), status)


@BLANK
def test_a_function_that_gives_a_judgment_with_a_blank_reason_beside_it(blank):
    said = judge(lambda case: (abstain("no contexts"), blank)).judge(CASE)
    assert (said.status, said.reasoning) == (Status.ABSTAIN, "no contexts")


@BLANK
def test_a_function_that_makes_a_judgment_without_a_reason_is_broken_and_does_not_raise(blank):
    said = judge(lambda case: abstain(blank)).judge(CASE)
    assert said.status is Status.ERROR
    assert "ABSTAIN needs a reason" in said.error


@BLANK
def test_an_exception_with_a_blank_message_and_a_blank_error_code(blank):
    @judge
    def breaks(case):
        raise ValueError(blank)

    assert explained(breaks.judge(CASE), "ERROR")
    assert (broken(blank).error, broken("timeout", blank).reasoning) == ("unknown", "the judge broke: timeout")


@BLANK
def test_a_model_that_abstains_with_a_blank_reason(blank):
    for reply in (
        json.dumps({"reasoning": blank, "answer": "UNSURE"}),
        json.dumps({"reasoning": [blank], "answer": "UNSURE"}),
        f"Reasoning: {blank}\nAnswer: UNSURE",
    ):
        critic = Critic(ScriptedModel([reply, reply]), "faithfulness", name="c")
        judgment = critic.judge(CASE)
        assert (judgment.label, judgment.error, judgment.reasoning) == ("UNSURE", None, "the model answered UNSURE"), (
            reply
        )


@BLANK
def test_a_parser_that_gives_a_blank_reason(blank):
    critic = Critic(ScriptedModel(["?", "?"]), "faithfulness", name="c", parse=lambda text: (Status.ABSTAIN, blank))
    assert explained(critic.judge(CASE), "ABSTAIN")


@BLANK
def test_an_evaluator_of_langsmith_with_a_blank_comment(blank):
    for result in ({"key": "k", "score": None, "comment": blank}, {"key": "k", "score": None, "reasoning": blank}):
        evaluator = from_evaluator(lambda inputs, outputs, result=result: result)
        assert explained(evaluator.judge(CASE), "ABSTAIN")
    scored = from_evaluator(lambda inputs, outputs: {"key": "k", "score": 1.0, "error": blank or None})
    assert scored.judge(CASE).status is Status.PASS


class Own(BaseEvaluator):
    """An evaluator of LlamaIndex that returns what it is told."""

    def __init__(self, **result):
        self.result = result

    def _get_prompts(self):
        return {}

    def _update_prompts(self, prompts):
        return None

    async def aevaluate(self, query=None, response=None, contexts=None, **kwargs):
        return EvaluationResult(**self.result)


@BLANK
def test_an_evaluator_of_llama_index_with_blank_feedback(blank, own_loop):
    for result in (
        {"feedback": blank}, {"invalid_result": True, "invalid_reason": blank},
        {"invalid_result": True, "invalid_reason": blank, "feedback": blank},
    ):  # fmt: skip
        assert explained(from_llama_index(Own(**result)).judge(CASE), "ABSTAIN")
    kept = from_llama_index(Own(invalid_result=True, invalid_reason=blank, feedback="no contexts")).judge(CASE)
    assert kept.reasoning == "no contexts"


@BLANK
def test_a_scorer_of_autoevals_with_a_blank_rationale(blank):
    class Scorer:
        def eval(self, output, expected=None, **kwargs):
            return SimpleNamespace(name="s", score=None, metadata={"rationale": blank}, error=None)

    assert explained(from_autoevals(Scorer()).judge(CASE), "ABSTAIN")


@BLANK
def test_a_voting_function_that_abstains_with_a_blank_reason_keeps_the_votes(blank):
    def undecided(judgments):
        return Status.ABSTAIN, blank

    def silent(judgments):
        return abstain("open"), blank

    for rule in (undecided, silent):
        verdict = Ensemble([NotEmpty(), NotEmpty()], voting=rule).judge(CASE)
        assert explained(verdict, "ABSTAIN")
        assert len(verdict.judgments) == 2


@BLANK
@pytest.mark.parametrize("status", ["ABSTAIN", "ERROR"])
def test_a_rule_of_the_users_that_gives_a_blank_reason_keeps_the_votes(blank, status):
    class Mute(Majority):
        def _count(self, judgments, weights):
            tally = Tally("status", ballots=(None,) * len(judgments))
            return VoteResult(Status(status), tally, reasoning=blank, error=blank)

    verdict = Ensemble([NotEmpty(), NotEmpty()], voting=Mute()).judge(CASE)
    assert explained(verdict, status)
    assert len(verdict.judgments) == 2


@BLANK
def test_judgments_written_with_blank_texts_are_read(blank):
    for status, text in (("ABSTAIN", "reasoning"), ("ERROR", "error")):
        assert explained(judgment_from_dict({"status": status, text: blank}), status)
        verdict = judgment_from_dict(
            {"kind": "verdict", "status": "PASS", "judgments": [{"status": status, text: blank}]}
        )
        assert explained(verdict.judgments[0], status)
        assert explained(Judgment.from_json(json.dumps({"status": status, text: blank})), status)


@BLANK
def test_recorded_votes_with_blank_texts_are_served(blank, tmp_path):
    votes = {"1": {
        "a": {"status": "ABSTAIN", "reasoning": blank}, "b": {"status": "ERROR", "error": blank},
        "c": {"label": "ok", "reasoning": blank},
    }}  # fmt: skip
    case = Case(metadata={"item_id": "1"})
    assert explained(RecordedCritic("a", votes).judge(case), "ABSTAIN")
    assert explained(RecordedCritic("b", votes).judge(case), "ERROR")
    assert explained(RecordedCritic("c", votes, labels={"ok": "abstain"}).judge(case), "ABSTAIN")
    path = tmp_path / "votes.jsonl"
    path.write_text(json.dumps({"item_id": "1", "votes": votes["1"]}) + "\n")
    verdict = recorded_jury(path, labels={"ok": "pass"}, errors="ignore").judge(case)
    assert (verdict.status, len(verdict.judgments)) == (Status.PASS, 3)


@BLANK
def test_a_store_with_a_blank_reason_serves_it(blank, tmp_path):
    path, model = tmp_path / "store.db", ScriptedModel(['{"reasoning": "no contexts", "answer": "UNSURE"}'])
    critic = Critic(model, "faithfulness", name="c")
    with Store(path) as store:
        next(iter(critic.judge_many([CASE], store=store)))
    with sqlite3.connect(path) as connection:
        ((text,),) = connection.execute("SELECT judgment FROM judgments").fetchall()
        row = json.loads(text)
        assert row["reasoning"] == "no contexts"
        connection.execute("UPDATE judgments SET judgment = ?", (json.dumps({**row, "reasoning": blank}),))
    connection.close()
    with Store(path) as store:
        judgment = next(iter(critic.judge_many([CASE], store=store)))
    assert explained(judgment, "ABSTAIN")
    assert judgment.usage.calls == 0


@pytest.mark.slow
@BLANK
def test_a_results_file_with_blank_texts_is_read_back(blank, tmp_path):
    path = tmp_path / "results.jsonl"
    jurors = [
        {"status": "ABSTAIN", "reasoning": blank, "critic": "a"},
        {"status": "ERROR", "error": blank, "critic": "b"},
    ]
    rows = [
        {
            "line": 1,
            "key": "1",
            "verdict": {"kind": "verdict", "status": "ABSTAIN", "reasoning": blank, "judgments": jurors},
        },
        {"line": 2, "key": "2", "verdict": {"status": "ERROR", "error": blank}},
    ]
    path.write_text("".join(f"{json.dumps(row)}\n" for row in rows))
    verdicts = [entry.judgment for entry in Report.read(path).entries]
    assert [explained(*pair) for pair in zip(verdicts, ("ABSTAIN", "ERROR"), strict=True)] == [True, True]
    result = CliRunner().invoke(app, ["report", str(path), "--html", str(tmp_path / "page.html")])
    assert result.exit_code == 0, result.output
