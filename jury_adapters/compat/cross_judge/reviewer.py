"""Reviewer: a critic of the older API, which gets a complete prompt."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

from pydantic import SecretStr

from jury_adapters.compat.cross_judge._asking import PromptJudge, callers_model, vendor_model
from jury_adapters.compat.cross_judge._bridge import legacy_verdict_of
from jury_adapters.compat.cross_judge._keys import HoldsKey
from jury_adapters.compat.cross_judge._reply import REVIEWER_KEYS
from jury_adapters.compat.cross_judge.schema import Verdict
from jury_adapters.compat.cross_judge.vendors import VENDORS, VendorConfig, get_vendor, vendor_key
from jury_adapters.core.case import Case
from jury_adapters.core.judge import Judge
from jury_adapters.models.addresses import client_address
from jury_adapters.models.api_keys import Key
from jury_adapters.models.base import Options

_TIMEOUT = 600.0  # the default of the SDK, which cannot be changed in this API


@dataclass
class Reviewer(HoldsKey):
    """One model.

    Args:
        reviewer_id: the reviewer's name in verdicts.
        model: the vendor's name of the model.
        vendor: a key of :data:`VENDORS`; any other name needs ``base_url`` and ``api_key``.
        system_prompt: the role of the judge; not sent if it is empty.
        temperature: 0 for the most likely answer.
        max_tokens: the maximum number of output tokens.
        weight: the weight of the reviewer in a panel with the ``"weighted"`` strategy.
        client: an ``openai.OpenAI``, or any object with its ``chat.completions.create``. It is used unchanged, and
            without retries.
        api_key: the key, kept as a ``SecretStr``; by default from the vendor's environment variable.
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

    def ask(self, user_prompt: str) -> Verdict:
        """Ask with a complete prompt. An error while asking becomes a verdict with an ``error``.

        Raises:
            KeyError: the vendor is unknown and there is no ``base_url``.
            RuntimeError: there is no key.
        """
        return legacy_verdict_of(self._asking(user_prompt).judge(Case()), self.reviewer_id)

    def as_judge(self) -> Judge:
        """Return this reviewer as a judge of this package. A case's question is the prompt.

        Raises:
            KeyError: the vendor is unknown and there is no ``base_url``.
            RuntimeError: there is no key.
        """
        return self._judge(lambda case: case.question or "")

    def _asking(self, user_prompt: str) -> Judge:
        return self._judge(lambda case: user_prompt)

    def _judge(self, render: Callable[[Case], str]) -> PromptJudge:
        if self.client is not None:
            key = Key(self.api_key, None, self.vendor)
            model = callers_model(self.model, self.vendor, client_address(self.client), self.client, self._create)
        else:
            known = self._vendor()
            key = vendor_key(known, self.api_key)
            model = vendor_model(
                self.model, self.vendor, key, base_url=self.base_url, address=known.base_url, timeout=_TIMEOUT
            )
        return PromptJudge(
            self.reviewer_id, model, key, render, system=self.system_prompt, keys=REVIEWER_KEYS, template="",
            options=Options(self.temperature, self.max_tokens),
        )  # fmt: skip

    def _vendor(self) -> VendorConfig:
        if self.base_url and self.api_key and self.vendor.lower() not in VENDORS:
            return VendorConfig(self.vendor, self.base_url, "")
        return get_vendor(self.vendor)

    def _create(self, request: dict[str, Any]) -> str | None:
        content: str | None = self.client.chat.completions.create(**request).choices[0].message.content
        return content
