"""The former API of cross-judge: reviewers and panels, and its table of vendors."""

from dataclasses import dataclass, field
from typing import Any

from pydantic import SecretStr

from jury_adapters.compat.cross_judge.core import VENDOR_DEFAULTS, Critic, HoldsKey, all_at_once, key_of
from jury_adapters.compat.cross_judge.verdict import FORMER, EnsembleResult, LegacyVerdict, Verdict
from jury_adapters.compat.cross_judge.voting import AggregationStrategy, avg_confidence, get_strategy, name_of, weighted
from jury_adapters.core import loop
from jury_adapters.core.judge import Judge


@dataclass(frozen=True)
class VendorConfig:
    """Address of a vendor, and the environment variable with its key."""

    name: str
    base_url: str
    api_key_env: str


VENDORS: dict[str, VendorConfig] = {name: VendorConfig(name, *found) for name, found in VENDOR_DEFAULTS.items()}


def get_vendor(name: str) -> VendorConfig:
    """Return a vendor by its name.

    Raises:
        KeyError: there is no vendor of this name.
    """
    if name.lower() not in VENDORS:
        raise KeyError(f"Unknown vendor '{name}'. Known: {sorted(VENDORS)}.")
    return VENDORS[name.lower()]


def make_client(vendor: str = "deepseek", api_key: str | SecretStr | None = None, base_url: str | None = None) -> Any:
    """Return an ``openai.OpenAI`` client for a vendor.

    Raises:
        ImportError: the OpenAI SDK is not installed.
        KeyError: there is no vendor of this name.
        MissingKey: there is no key.
    """
    from openai import OpenAI

    config = get_vendor(vendor)
    key = key_of(vendor, api_key, config.api_key_env)
    return OpenAI(api_key=key, base_url=base_url or config.base_url)


@dataclass
class Reviewer(HoldsKey):
    """One model that is asked with whole prompts: the former API; see :class:`Critic`.

    Args:
        reviewer_id: the name in verdicts.
        model: the vendor's name of the model.
        vendor: a key of :data:`VENDOR_DEFAULTS`; another name needs ``base_url`` and ``api_key``.
        system_prompt: the role of the judge; not sent if it is empty.
        temperature: 0 for the most likely answer.
        max_tokens: the largest number of output tokens.
        weight: how much it counts in a panel with the strategy ``weighted``.
        client: an ``openai.OpenAI``, or an object like it; it is asked once, without retries of this package.
        api_key: the key, kept as a ``SecretStr``; by default that in the vendor's environment variable.
        base_url: another address.
    """

    reviewer_id: str
    model: str
    vendor: str = "deepseek"
    system_prompt: str = "You are a careful judge. Output strict JSON only."
    temperature: float = 0.0
    max_tokens: int = 2000
    weight: float = 1.0
    client: Any = field(default=None, repr=False)
    api_key: str | SecretStr | None = field(default=None, repr=False)
    base_url: str | None = field(default=None, repr=False)

    def ask(self, user_prompt: str) -> LegacyVerdict:
        """Ask with a prompt. What goes wrong while asking is a verdict with an ``error``.

        Raises:
            MissingKey: there is no key, and no client.
            ConfigurationError: the vendor is unknown.
        """
        critic = self._critic()
        critic._model()
        return _former(critic.judge(user_prompt))

    def as_judge(self) -> Judge:
        """Return this reviewer as a judge of this package: the question of a case is the prompt.

        Raises:
            ConfigurationError: the vendor is unknown, or there is no key.
        """
        return self._critic().as_judge()

    def _get_client(self) -> Any:
        """Return the client; if there is none, one is made, and the reviewer asks through it from now on."""
        self.client = self.client or make_client(self.vendor, self.api_key, self.base_url)
        return self.client

    def _critic(self) -> "_Reviewing":
        address = self.base_url if self.client is None else str(getattr(self.client, "base_url", "")) or "a client"
        return _Reviewing(
            self.reviewer_id,
            self.model,
            "{query}",
            self.vendor,
            self.system_prompt,
            self.temperature,
            self.max_tokens,
            self.api_key or (None if self.client is None else "unused"),  # a client has its own key
            address,
            self.client,
        )


class _Reviewing(Critic):
    """Critic of a reviewer: its client is one of OpenAI's SDK, and a reply has the former keys."""

    _keys = (("verdict",), ("rationale",))

    def _send(self, messages: list[dict[str, str]], temperature: float, max_tokens: int) -> Any:
        answer = self.http_client.chat.completions.create(
            model=self.model, messages=messages, temperature=temperature, max_tokens=max_tokens
        )
        return getattr(answer.choices[0].message, "content", None)


@dataclass
class JudgePanel:
    """Reviewers that judge the same item: the former API; see :class:`Ensemble`.

    Args:
        reviewers: reviewers, or objects with their ``ask``; all are asked at once.
        strategy: ``majority``, ``unanimous``, ``weighted``, ``first_disagreement``, or a function of the verdicts.
        strategy_kwargs: options of the strategy.
    """

    reviewers: list[Any]
    strategy: str | AggregationStrategy = "majority"
    strategy_kwargs: dict[str, Any] = field(default_factory=dict)

    def ask(self, item_id: str, user_prompt: str, *, meta: dict[str, Any] | None = None) -> EnsembleResult:
        """Ask all reviewers about one item."""
        said = loop.run(all_at_once(lambda reviewer: reviewer.ask(user_prompt), self.reviewers))
        verdicts = [_former(one) if isinstance(one, Verdict) else one for one in said]
        return self.aggregate_verdicts(item_id, verdicts, meta=meta)

    def aggregate_verdicts(
        self, item_id: str, verdicts: list[LegacyVerdict], *, meta: dict[str, Any] | None = None
    ) -> EnsembleResult:
        """Return the result of verdicts that the caller has."""
        strategy, options = get_strategy(self.strategy), dict(self.strategy_kwargs)
        if strategy is weighted:
            options.setdefault("weights", {one.reviewer_id: getattr(one, "weight", 1.0) for one in self.reviewers})
        consensus, differ = strategy(verdicts, **options)
        return EnsembleResult(
            item_id=item_id,
            verdicts=verdicts,
            consensus=consensus,
            avg_confidence=avg_confidence(verdicts),
            disagreement=differ,
            strategy=name_of(self.strategy),
            meta=meta or {},
        )


def _former(verdict: Verdict) -> LegacyVerdict:
    """Return a verdict in the former schema."""
    return LegacyVerdict(**{FORMER.get(name, name): value for name, value in verdict.model_dump().items()})
