"""The filter of retrieved nodes: what it tells its sinks, and judges that cannot judge a node."""

import logging

import pytest
from llama_index.core.schema import NodeWithScore, TextNode

from jury_adapters import CascadedJury, ConfigurationError, Critic, Ensemble, Scorecard, Tier, grounding_screen
from jury_adapters.checks import (
    ContextRelevance,
    LengthBetween,
    NamesAndNumbers,
    NotEmpty,
    RefusalCheck,
    SentenceSupport,
)
from jury_adapters.core.function_judge import FunctionJudge
from jury_adapters.llama_index import JuryEvaluator, JuryNodePostprocessor
from jury_adapters.observability import log_verdicts
from jury_adapters.testing import ScriptedModel


def relevant(case):
    return "Paris" in case.contexts[0], "looked for Paris"


def test_nodes_go_to_the_sinks_that_runs_go_to(caplog):
    found = []
    given = NodeWithScore(node=TextNode(text="Paris", metadata={"page": "3"}))
    with caplog.at_level(logging.INFO, logger="jury_adapters.verdicts"):
        postprocessor = JuryNodePostprocessor(relevant, on_verdict=[log_verdicts(), found.append])
        assert postprocessor.postprocess_nodes([given], query_str="Which capital?") == [given]
    assert [(one.run.kind, one.run.metadata["page"], one.case.contexts) for one in found] == [
        ("node", "3", ("page: 3\n\nParis",))
    ]
    assert caplog.text.count("looked for Paris") == 1


def test_a_listener_of_two_arguments_is_refused():
    with pytest.raises(ConfigurationError, match="a function of one argument, a JudgedRun"):
        JuryNodePostprocessor(relevant, on_verdict=lambda node, judgment: None)


def rated_by(rubric):
    return Critic(ScriptedModel(["YES"]), rubric)


@pytest.mark.parametrize(
    "judge",
    [
        rated_by("faithfulness"),
        Scorecard({"faithful": rated_by("faithfulness"), "relevant": rated_by("answer_relevance")}),
        JuryEvaluator(rated_by("faithfulness")),
        NotEmpty(),
        NamesAndNumbers(),
        LengthBetween(maximum=20),
        grounding_screen(),
        Ensemble([NotEmpty(), RefusalCheck(), rated_by("faithfulness")]),
        CascadedJury(
            [Tier("rules", NotEmpty(), "reject_on_any_fail"), Tier("supported", SentenceSupport(threshold=0.6))]
        ),
    ],
)
def test_a_judge_that_needs_an_answer_is_refused_as_it_would_judge_no_node(judge):
    with pytest.raises(ConfigurationError, match=r"needs answer, which a retrieved node does not have.*passage_rele"):
        JuryNodePostprocessor(judge)
    JuryNodePostprocessor(judge, field_map={"answer": "node.metadata.answer"})


@pytest.mark.parametrize(
    "judge",
    [
        rated_by("passage_relevance"),
        rated_by("context_relevance"),
        NotEmpty(of="contexts"),
        ContextRelevance(threshold=0.5),
        FunctionJudge(relevant),
        Scorecard({"faithful": rated_by("faithfulness"), "relevant": relevant}),
    ],
)
def test_a_judge_of_which_one_juror_judges_nodes_is_taken(judge):
    assert JuryNodePostprocessor(judge).min_nodes == 0
