"""Parameters that a model does not support: learned from the vendor's answer once, and remembered.

The parameters that a model accepts cannot be read from its name. So the first request has all parameters. When the
vendor refuses one of them, it is left out, renamed or weakened, in this and all later requests to that model.
"""

from __future__ import annotations

import re
import threading
from collections.abc import Awaitable, Callable
from dataclasses import dataclass, field
from typing import TypeVar

from jury_adapters.core.errors import ModelError
from jury_adapters.core.values import JsonValue

T = TypeVar("T")
Body = dict[str, JsonValue]


@dataclass(slots=True)
class Capabilities:
    """Parameters that one model at one address accepts.

    Attributes:
        formats: the ways to ask for JSON that have not been refused yet, strongest first.
        renamed: parameters that it expects under another name.
        refused: parameters that it does not accept.
        images: False once it has refused images.
    """

    formats: list[str] = field(default_factory=lambda: ["json_schema", "json_object", "none"])
    renamed: dict[str, str] = field(default_factory=dict)
    refused: set[str] = field(default_factory=set)
    images: bool = True
    lock: threading.RLock = field(default_factory=threading.RLock, repr=False)

    @property
    def format(self) -> str:
        """Way to ask for JSON."""
        return self.formats[0]

    def fit(self, body: Body) -> Body:
        """Return the body without refused parameters, and with others renamed."""
        if not self.refused and not self.renamed:
            return body
        return {self.renamed.get(name, name): value for name, value in body.items() if name not in self.refused}

    def learn(self, error: ModelError, body: Body) -> bool:
        """Learn from a refusal, and return whether the next request will differ.

        Args:
            error: the vendor's answer.
            body: the request as it was built, before :meth:`fit`.
        """
        text = str(error).lower()
        if error.status not in _REFUSALS or not (_OBJECTION.search(text) or error.parameter):
            return False
        named = [error.parameter.split(".")[0]] if error.parameter else []
        named += [name for name in (*_OPTIONAL, *_FORMATS) if name in text]
        if _TOO_LONG.search(text):
            named = [name for name in named if name not in _OTHER_NAME]
        with self.lock:
            return any(self._give_up(name, body, text) for name in named)

    def _give_up(self, name: str, body: Body, text: str) -> bool:
        if name in _FORMATS:
            if len(self.formats) == 1 or not any(parameter in body for parameter in _FORMATS):
                return False
            del self.formats[0]
            return True
        ours = next((ours for ours, theirs in self.renamed.items() if theirs == name), name)
        if ours not in _OPTIONAL or ours not in body or ours in self.refused:
            return False
        other = _OTHER_NAME.get(ours)
        if other is not None and ours not in self.renamed and other in text:
            self.renamed[ours] = other
        else:
            self.refused |= {ours, "top_logprobs"} if ours == "logprobs" else {ours}
        return True


async def adapting(known: Capabilities, build: Callable[[], Body], post: Callable[[Body], Awaitable[T]]) -> T:
    """Post a request. When the vendor refuses a parameter, learn that and post again.

    Raises:
        ModelError: the vendor refuses something that cannot be left out.
    """
    while True:
        body = build()
        sent = known.fit(body)
        try:
            return await post(sent)
        except ModelError as error:
            # If another request has learned the refusal in the meantime, the body differs already.
            with known.lock:  # two threads must not learn the same refusal twice
                if known.fit(build()) == sent and not known.learn(error, body):
                    raise


def capabilities_of(address: str, model: str) -> Capabilities:
    """Return the capabilities of a model at an address, shared by all its callers."""
    found = _KNOWN.get((address, model))
    if found is None:
        with _LOCK:
            found = _KNOWN.setdefault((address, model), Capabilities())
    return found


_LOCK = threading.Lock()
_KNOWN: dict[tuple[str, str], Capabilities] = {}
_REFUSALS = frozenset({400, 404, 422, 500, 501})
_OPTIONAL = ("temperature", "max_tokens", "max_completion_tokens", "top_logprobs", "logprobs")
_FORMATS = ("response_format", "output_config", "json_schema")
# Only a refusal of a parameter as such is learned from.
_OBJECTION = re.compile(
    r"support|unrecogni[sz]ed|unknown|unexpected|not (?:permitted|allowed|available|implemented)|extra (?:input|field)|"
    r"should be|instead|deprecated|invalid parameter"
)
# An error about the context or an output limit also names max_tokens, which the model does accept.
_TOO_LONG = re.compile(r"context length|too (?:large|long|high)|at most|maximum|exceed|reduce the length")
_OTHER_NAME = {"max_tokens": "max_completion_tokens", "max_completion_tokens": "max_tokens"}
