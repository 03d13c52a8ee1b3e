"""Nodes that hold answers to parts of a question, which an engine's own model wrote."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from typing import Final, TypeVar

from llama_index.core.schema import NodeWithScore, TextNode

EMPTY_RESPONSE: Final = "Empty Response"
"""Answer of LlamaIndex's engines that found no node."""

Passage = TypeVar("Passage")

_PARTIAL_ANSWER: Final = re.compile(
    r"Sub question: .*?\nResponse: |"  # SubQuestionQueryEngine
    r"\nQuestion: .*?\nAnswer: ",  # MultiStepQueryEngine
    re.DOTALL,
)


def without_partial_answers(passages: Iterable[Passage]) -> Sequence[Passage]:
    """Return the passages without the answers to parts of the question, if there are others.

    ``SubQuestionQueryEngine`` and ``MultiStepQueryEngine`` put the answers to the parts among the source nodes, before
    the nodes behind these answers. An answer could prove its own inventions with them. Without any other passage they
    are kept, as the text of an agent's tool is that has no source nodes, except where no node was found.
    """
    given = tuple(passages)
    kept = [one for one in given if not _is_partial_answer(one)]
    return kept or [one for one in given if not _is_empty_part(one)]


def _is_empty_part(passage: object) -> bool:
    """Whether an engine that found no node answered this part of a question."""
    return isinstance(passage, NodeWithScore) and passage.node.get_content().endswith(f": {EMPTY_RESPONSE}")


def _is_partial_answer(passage: object) -> bool:
    """Whether an engine made this node of a text: it has that engine's words, and nothing that a retrieved node has."""
    if not isinstance(passage, NodeWithScore) or passage.score is not None or not isinstance(passage.node, TextNode):
        return False
    node = passage.node
    return not node.metadata and not node.relationships and _PARTIAL_ANSWER.match(node.text) is not None
