"""Scores from the probabilities of the answer's tokens (G-Eval).

A model that writes 4 may have been almost as likely to write 5. The expectation over all answers that it could have
written holds more information than the one that it wrote: ``sum(v * exp(lp)) / sum(exp(lp))`` over the alternatives
that are legal answers, at the token of the answer.
"""

from __future__ import annotations

import math
from bisect import bisect_right
from collections.abc import Sequence
from itertools import accumulate

from jury_adapters.core.values import normalise_score
from jury_adapters.critic.answers import Choice, Labels, Vocabulary, comparable
from jury_adapters.models.base import Token

_EDGES = " \t\r\n*_`\"'[](){}:,."


def expected_score(tokens: Sequence[Token], vocabulary: Vocabulary, choice: Choice, start: int | None) -> float | None:
    """Return the expected score, 0..1, over the answers that the model could have given.

    A label has its score as value, else PASS counts as 1 and FAIL as 0. Labels without such a value are left out.

    Args:
        tokens: the reply's tokens with their alternatives.
        vocabulary: the allowed answers.
        choice: the answer of the reply, as :func:`~.parse_reply.read_reply` read it; the tokens must contain it.
        start: where that answer begins in the tokens' text; None when it is unknown.

    Returns:
        The expectation, or None when the answer's token cannot be found (an answer such as 0.85 or 10 may be several
        tokens) or has no value.
    """
    shares = _shares(tokens, vocabulary, choice, start)
    values = {text: _value(text, vocabulary) for text in shares}
    if values.get(choice.text) is None:
        return None
    weighed = [(value, shares[text]) for text, value in values.items() if value is not None]
    total = math.fsum(share for _, share in weighed)
    return min(1.0, math.fsum(value * share for value, share in weighed) / total) if total > 0 else None


def label_probabilities(
    tokens: Sequence[Token], labels: Labels, choice: Choice, start: int | None
) -> dict[str, float] | None:
    """Return the probability of each label, normalised over the labels; None when the answer's token is not found.

    A label of several tokens is recognised by its first one, if no other label begins with it.
    """
    shares = _shares(tokens, labels, choice, start)
    total = math.fsum(shares.values())
    if total <= 0:
        return None
    return {label.name: min(1.0, shares.get(label.name, 0.0) / total) for label in labels.labels}


def _shares(tokens: Sequence[Token], vocabulary: Vocabulary, choice: Choice, start: int | None) -> dict[str, float]:
    """Return the probability mass of each legal answer at the answer's token; empty when that token is not found."""
    position = None if start is None else bisect_right(list(accumulate(len(token.text) for token in tokens)), start)
    if (
        position is None
        or position >= len(tokens)
        or _answer_of_token(tokens[position].text, vocabulary) != choice.text
    ):
        return {}
    token = tokens[position]
    candidates = dict(token.alternatives)
    candidates.setdefault(token.text, token.logprob)
    shares: dict[str, float] = {}
    for text, logprob in candidates.items():
        answer = _answer_of_token(text, vocabulary)
        if answer is not None and not math.isnan(logprob):
            shares[answer] = shares.get(answer, 0.0) + math.exp(min(logprob, 0.0))
    return shares


def _answer_of_token(text: str, vocabulary: Vocabulary) -> str | None:
    """Return the answer that a token means: the whole answer, or the only label that begins with the token."""
    bare = text.strip(_EDGES)
    read = vocabulary.read(bare)
    if not isinstance(vocabulary, Labels):
        return read.text if isinstance(read, Choice) else None
    beginning = comparable(bare)
    if not beginning:
        return None
    # "partially" may be a whole label or the first word of another; "no" is never the beginning of "not sure".
    longer = [label.name for key, label in vocabulary.by_key.items() if key != beginning and key.startswith(beginning)]
    if isinstance(read, Choice):
        goes_on = any(not comparable(name)[len(beginning)].isalnum() for name in longer)
        return None if goes_on else read.text
    return longer[0] if len(longer) == 1 else None


def _value(text: str, vocabulary: Vocabulary) -> float | None:
    """Return the value of an answer in the expectation."""
    if isinstance(vocabulary, Labels):
        return vocabulary.by_key[comparable(text)].value
    return normalise_score(float(text), vocabulary.minimum, vocabulary.maximum)
