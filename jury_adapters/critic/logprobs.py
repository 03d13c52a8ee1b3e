"""Scores from the probabilities of the answer's tokens, as in G-Eval (Liu et al. 2023, arXiv:2303.16634).

A model that writes 4 may have been almost as likely to write 5. The expectation over all answers that it could have
written, ``sum(value * probability) / sum(probability)``, holds more information than the one that it wrote.
"""

import math
import re
from collections.abc import Iterable, Sequence
from itertools import accumulate

from jury_adapters.critic.answers import comparable
from jury_adapters.models.base import Token

_ANSWER = re.compile(r'"answer"\s*:\s*"?')  # no text in an object matches, because its quotation marks are escaped
_EDGES = " \t\r\n*_`\"'.,{}"


def answer_probabilities(tokens: Sequence[Token], names: Iterable[str], chosen: str) -> dict[str, float]:
    """Return the probability of each answer at the token of the answer, which add up to 1.

    A label of several tokens is known by its first one, if no other answer begins with that.

    Args:
        tokens: the tokens of the reply, with their alternatives.
        names: the allowed answers: labels, or ratings as text.
        chosen: the answer of the reply.

    Returns:
        The probabilities of the answers among the alternatives; empty if the token of the answer is not found.

    >>> four = Token("4", -0.1, (("4", math.log(0.75)), ("5", math.log(0.25))))
    >>> answer_probabilities([Token('{"answer": ', 0.0), four, Token("}", 0.0)], "12345", "4")
    {'4': 0.75, '5': 0.25}
    """
    known = {comparable(name): name for name in names}
    token = _token_of_answer(tokens)
    if token is None or _name_of(token.text, known) != chosen:
        return {}
    shares: dict[str, float] = {}
    for text, logprob in {token.text: token.logprob, **dict(token.alternatives)}.items():
        name = _name_of(text, known)
        if name is not None and not math.isnan(logprob):
            shares[name] = shares.get(name, 0.0) + math.exp(min(logprob, 0.0))
    total = math.fsum(shares.values())
    return {name: share / total for name, share in shares.items()} if total else {}


def _token_of_answer(tokens: Sequence[Token]) -> Token | None:
    """Return the token in which the answer begins: after the key of an object, or the first of a bare answer."""
    text = "".join(token.text for token in tokens)
    keys = [match.end() for match in _ANSWER.finditer(text)]  # the last, because thinking may come before the object
    start = keys[-1] if keys else len(text) - len(text.lstrip(_EDGES))
    ends = accumulate(len(token.text) for token in tokens)
    return next((token for token, end in zip(tokens, ends, strict=True) if end > start), None)


def _name_of(text: str, known: dict[str, str]) -> str | None:
    """Return the answer that a token means: the whole answer, or the only one that begins with the token."""
    bare = comparable(text.strip(_EDGES))
    if not bare:
        return None
    begun = [name for key, name in known.items() if key.startswith(bare)]
    return begun[0] if len(begun) == 1 else None
