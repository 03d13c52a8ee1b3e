"""Requests of this API's critics and reviewers: as judges of this package, concurrent, and never raising for a case."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial
from typing import Any, Generic, TypeVar

from jury_adapters.compat.cross_judge._bridge import AnyVerdict, judgment_of
from jury_adapters.compat.cross_judge._reply import Keys, judgment_from
from jury_adapters.core import event_loop
from jury_adapters.core.budget import BudgetExhausted
from jury_adapters.core.case import Case
from jury_adapters.core.context import run_context
from jury_adapters.core.ensemble import Ensemble
from jury_adapters.core.errors import ModelError
from jury_adapters.core.judge import Judge
from jury_adapters.core.judgment import Judgment, broken
from jury_adapters.core.usage import NO_USAGE, Usage
from jury_adapters.critic.asking import AskingJudge, within_budget
from jury_adapters.models.api_keys import Key
from jury_adapters.models.base import Options, Prompt, Reply, Schema
from jury_adapters.models.fingerprint import digest, fingerprint_of
from jury_adapters.models.limits import Limits
from jury_adapters.models.object_identity import settings_of_client
from jury_adapters.models.openai import OpenAIModel
from jury_adapters.models.registry import LimitedModel, estimated_tokens
from jury_adapters.models.retries import ObjectId
from jury_adapters.vendors import VENDORS

V = TypeVar("V", bound=AnyVerdict)

_PATIENT = Limits(deadline_s=None)  # every attempt has its own time limit, and there are few
_ONCE = Limits(attempts=1, deadline_s=None)


class PromptJudge(AskingJudge):
    """Judge that asks a model with a given prompt, and accepts any label as the answer.

    Args:
        name: the judge's name.
        model: the model, within its limits.
        key: the key in use, which must not appear in error texts.
        render: returns the user prompt of a case.
        system: the system prompt; not sent if it is empty.
        keys: the keys of the label and the reasons in a reply.
        options: temperature and output limit.
        template: the source of the prompts, by which a store distinguishes judges.
    """

    model: LimitedModel
    store = None

    def __init__(
        self,
        name: str,
        model: LimitedModel,
        key: Key,
        render: Callable[[Case], str],
        *,
        system: str,
        keys: Keys,
        options: Options,
        template: str,
    ) -> None:
        self.name = name
        self.model = model
        self._key = key
        self._render = render
        self._system = system
        self._keys = keys
        self._options = options
        self._given_name = name
        self._fingerprint = fingerprint_of(model.inner, options.temperature, options.max_tokens, name=name)
        self._rubric = digest([system, template, *keys.label])
        self.cost = self._price(Usage(1000, 200)).cost_usd

    @property
    def _rubric_fingerprint(self) -> str:
        return self._rubric

    def estimate(self, case: Case) -> Usage:
        try:
            return self._estimated(self._prompt(case))
        except KeyError:  # a placeholder without a value: judging it gives an ERROR without a request
            return NO_USAGE

    async def assess(self, case: Case) -> Judgment:
        prompt = self._prompt(case)
        ask = partial(self._asked, prompt)
        if run_context().cache is None:  # two equal requests must give two answers, which callers use for sampling
            return await ask()
        return await self._once(digest([turn.text for turn in prompt.turns]), case, ask)

    async def _asked(self, prompt: Prompt) -> Judgment:
        try:
            reply = await self._reply(prompt)
        except BudgetExhausted as refusal:
            return self._unaffordable(refusal, NO_USAGE)
        except ModelError as error:
            return self._failed(error, NO_USAGE)
        except Exception as error:  # from a client of the caller
            said = self._key.hidden_in(f"{type(error).__name__}: {error}")
            return self._stamped(broken(said, said), Usage(calls=1, cost_complete=False))
        text = reply.text.strip()
        if not text:
            return self._stamped(broken("empty_response", "empty response from LLM"), reply.usage)
        return self._stamped(judgment_from(text, self._keys), reply.usage)

    async def _reply(self, prompt: Prompt) -> Reply:
        call = partial(self.model.complete, prompt, None, self._options)
        budget = run_context().budget
        if budget is None:
            return await call()
        return await within_budget(budget, self._estimated(prompt), call, lambda reply: reply.usage)

    def _prompt(self, case: Case) -> Prompt:
        return Prompt.of(self._render(case), self._system)

    def _estimated(self, prompt: Prompt) -> Usage:
        total, most = estimated_tokens(prompt, self._options, self.model.model), self._options.max_tokens or 0
        return self._price(Usage(max(total - most, 0), most, calls=1))


class BlockingModel:
    """Model behind a synchronous client of the caller; each call runs in a separate thread.

    Args:
        model: the model's name.
        vendor: its vendor.
        address: the address that the client sends to; "" if it is unknown.
        client: the client, which distinguishes models.
        send: sends a request (``model``, ``messages``, ``temperature``, ``max_tokens``) and returns the text of the
            answer.
    """

    def __init__(
        self, model: str, vendor: str, address: str, client: object, send: Callable[[dict[str, Any]], str | None]
    ) -> None:
        self.model = model
        self.vendor = vendor
        self.address = address
        self.answer_settings = settings_of_client(client)
        self.has_identity = bool(address)
        self.identity = ("blocking", ObjectId.of(client))
        self._send = send

    @property
    def name(self) -> str:
        return f"{self.vendor}:{self.model}"

    async def complete(self, prompt: Prompt, schema: Schema | None = None, options: Options = Options()) -> Reply:
        system = [{"role": "system", "content": prompt.system}] if prompt.system else []
        request = {
            "model": self.model,
            "messages": [*system, *({"role": turn.role, "content": turn.text} for turn in prompt.turns)],
            "temperature": options.temperature,
            "max_tokens": options.max_tokens,
        }
        text = await event_loop.in_worker_thread(partial(self._send, request))
        return Reply(text or "", Usage(calls=1, cost_complete=False), self.model)


class CallersJudge(Judge, Generic[V]):
    """Critic of a class of the caller, which runs in a separate thread; its verdict is kept unchanged.

    Attributes:
        verdict: its verdict; None before the call, and if it raised an error.
    """

    def __init__(self, name: str, ask: Callable[[], V]) -> None:
        self.name = name
        self.verdict: V | None = None
        self._ask = ask

    async def assess(self, case: Case) -> Judgment:
        verdict = await event_loop.in_worker_thread(self._ask)
        judgment = judgment_of(verdict)
        self.verdict = verdict
        return judgment


def vendor_model(
    model: str, vendor: str, key: Key, *, base_url: str | None, address: str, timeout: float
) -> LimitedModel:
    """Return a vendor's model that uses the SDK, with the retries of this package.

    Args:
        model: the model's name.
        vendor: its vendor.
        key: its key.
        base_url: the address that the caller gave, or None.
        address: the vendor's own address, used if the caller gave none.
        timeout: the maximum duration of one request, in seconds.
    """
    # Only the vendor itself is known to use another name for the limit; other servers use the traditional one.
    known = VENDORS.get(vendor) if base_url is None else None
    parameter = known.token_parameter if known is not None else "max_tokens"
    inner = OpenAIModel(
        model, vendor=vendor, key=key, base_url=base_url or address, timeout=timeout, token_parameter=parameter
    )
    return LimitedModel(inner, _PATIENT)


def callers_model(
    model: str, vendor: str, address: str, client: object, send: Callable[[dict[str, Any]], str | None]
) -> LimitedModel:
    """Return a model behind a client of the caller: used unchanged, and without retries."""
    return LimitedModel(BlockingModel(model, vendor, address, client, send), _ONCE)


def ask_together(judges: Sequence[Judge]) -> Sequence[Judgment]:
    """Ask all judges concurrently; return their judgments in order."""
    return Ensemble(judges).judge(Case()).judgments if judges else ()


def verdicts_of(judges: Sequence[Judge], make: Callable[[Judgment, str], V], ids: Sequence[str]) -> list[V]:
    """Ask all judges concurrently; return their verdicts in order, made from judgments unless a judge has its own."""
    return [
        judge.verdict if isinstance(judge, CallersJudge) and judge.verdict is not None else make(judgment, name)
        for judge, judgment, name in zip(judges, ask_together(judges), ids, strict=True)
    ]


def failing(error: Exception, name: str) -> Judge:
    """Return a judge that only reports an error."""
    said = f"{type(error).__name__}: {error}"
    return Judge.from_function(lambda case: broken(said, said), name=name)
