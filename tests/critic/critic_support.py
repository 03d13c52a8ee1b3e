"""Helpers of the tests of critics: a model with prepared replies, a store in memory, and the corpus of replies."""

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any, NamedTuple

from jury_adapters import Case, Judgment
from jury_adapters.core.store import Key
from jury_adapters.critic.critic import Critic
from jury_adapters.critic.reading import Reading, read_reply
from jury_adapters.critic.rubric import Rubric
from jury_adapters.models.base import ModelError
from jury_adapters.models.limits import Limits
from jury_adapters.testing import ScriptedModel

CASE = Case(question="Who left?", answer="Ann did.", contexts=["Ann left in 2018."], reference="Ann", id="c1")
ONCE = Limits(attempts=1)


def says(answer: Any, **more: Any) -> str:
    """Return a whole reply with an answer."""
    return json.dumps({"reasoning": "so it says", "answer": answer, "confidence": 0.9, **more}, ensure_ascii=False)


def critic(*replies: Any, rubric: Any = "faithfulness", **options: Any) -> Critic:
    """Return a critic whose model gives these replies."""
    given = {} if "prompt" in options else {"rubric": rubric}
    return Critic(ScriptedModel([*replies]), **given, **{"limits": ONCE, **options})


class Memory:
    """Store in memory."""

    def __init__(self, read_only: bool = False) -> None:
        self.rows: dict[Key, tuple[Case, Judgment]] = {}
        self.read_only = read_only

    async def get(self, key: Key) -> Judgment | None:
        return self.rows[key][1] if key in self.rows else None

    async def put(self, key: Key, case: Case, judgment: Judgment) -> None:
        self.rows[key] = (case, judgment)


def down(kind: str = "unavailable", sent: bool = False, transient: bool = False) -> ModelError:
    """Return an error of a model, with a key in its message."""
    return ModelError("no line; key sk-secret-0123456789", kind, sent=sent, transient=transient)


class Sample(NamedTuple):
    """One reply of the corpus to one judged text; ``own`` is the answer that a careful reader takes from it."""

    form: str
    text: str
    own: str | None
    rubric: str
    material: str
    truncated: bool

    @property
    def answer(self) -> str | None:
        """The answer as which the reply is read; None if it is unreadable."""
        read = None if self.truncated else read_reply(self.text, RUBRICS[self.rubric], self.material)
        return read.choice.text if isinstance(read, Reading) else None

    @property
    def misread(self) -> bool:
        return self.answer not in (None, self.own)


SCORED = {"fully supported": 1.0, "mostly supported": 0.7, "unsupported": 0.0, "cannot tell": "abstain"}
RUBRICS = {
    "yes/no": Rubric(name="yes or no"),
    "claims": Rubric(name="claims", prompt="{contexts} {answer}", claims_of="answer"),
    "pair": Rubric.bundled("pairwise"),
    "1 to 5": Rubric(name="rating", scale={"minimum": 1, "maximum": 5, "pass_mark": 4}),
    "0 to 1": Rubric(name="unit", scale=(0, 1)),
    "graded": Rubric(name="graded", labels=SCORED),
    "German": Rubric(name="german", labels={"JA": "pass", "NEIN": "fail"}),
    "supported": Rubric(name="supported", labels={"supported": "pass", "unsupported": "fail"}),
    "pass/fail": Rubric(name="pass or fail", labels={"PASS": "pass", "FAIL": "fail"}),
    "Japanese": Rubric(name="japanese", labels={"合格": "pass", "不合格": "fail"}),
}
ASKED_FOR = {  # per rubric the answer that the judged text asks for, and the one that the model gives
    "yes/no": ("YES", "NO"), "pair": ("A", "B"), "1 to 5": ("5", "2"), "0 to 1": ("0.95", "0.1"),
    "graded": ("fully supported", "unsupported"), "German": ("JA", "NEIN"), "Japanese": ("合格", "不合格"),
}  # fmt: skip
CORPUS = json.loads((Path(__file__).parent / "replies.json").read_text(encoding="utf-8"))
QUOTING, HONEST, LIMITS = ([Sample(*row) for row in CORPUS[name]] for name in ("quoting", "honest", "limits"))


def combinations() -> Iterator[Sample]:
    """Yield every form of a reply that quotes, with every quotation, for every rubric."""
    for form, template, has_own in CORPUS["forms"]:
        for template_of_quote in CORPUS["quotes"]:
            for rubric, (asked, own) in ASKED_FOR.items():
                as_json = (lambda text: text) if rubric in ("1 to 5", "0 to 1") else _quoted
                quote = template_of_quote.replace("«Y»", asked).replace("«V»", as_json(asked))
                lines = quote.splitlines()
                text = template
                for mark, value in {
                    "«Q»": quote, "«E»": _quoted(quote)[1:-1], "«>»": "\n".join(f"> {line}" for line in lines),
                    "«    »": "\n".join(f"    {line}" for line in lines), "«X»": own, "«J»": as_json(own),
                }.items():  # fmt: skip
                    text = text.replace(mark, value)
                yield Sample(form, text, own if has_own else None, rubric, f"Paris.\n{quote}\nThat is all.", False)


def _quoted(text: str) -> str:
    return json.dumps(text, ensure_ascii=False)
