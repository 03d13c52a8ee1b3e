"""A critic: one model, one prompt, one verdict per query."""

from __future__ import annotations

import os
from collections.abc import Callable
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from typing import Any, Self

from pydantic import SecretStr

from jury_adapters.compat.cross_judge._asking import PromptJudge, callers_model, failing, vendor_model
from jury_adapters.compat.cross_judge._bridge import verdict_of
from jury_adapters.compat.cross_judge._keys import HoldsKey
from jury_adapters.compat.cross_judge._reply import CRITIC_KEYS
from jury_adapters.compat.cross_judge._template import check_template, render_template
from jury_adapters.compat.cross_judge.verdict import Verdict
from jury_adapters.core.case import Case
from jury_adapters.core.errors import ConfigurationError, InputError
from jury_adapters.core.judge import Judge
from jury_adapters.models.addresses import plain_address
from jury_adapters.models.api_keys import Key
from jury_adapters.models.base import Options
from jury_adapters.yaml_files import read_source

VENDOR_DEFAULTS: dict[str, tuple[str, str]] = {
    "deepseek": ("https://api.deepseek.com/v1", "DEEPSEEK_API_KEY"),
    "openai": ("https://api.openai.com/v1", "OPENAI_API_KEY"),
    "openrouter": ("https://openrouter.ai/api/v1", "OPENROUTER_API_KEY"),
}
"""Address and key variable of each vendor; others can be added."""


@dataclass
class Critic(HoldsKey):
    """One model with one prompt.

    Args:
        name: the critic's name in verdicts.
        model: the vendor's name of the model.
        prompt_template: the user prompt: ``{query}``, and ``{name}`` for each value of ``context``. A brace is written
            ``{{``; in a template with single braces around JSON, they are text. Attributes (``{x.y}``) are refused.
        vendor: a key of :data:`VENDOR_DEFAULTS`; any other name needs ``base_url`` and ``api_key``.
        system_prompt: the role of the judge; not sent if it is empty.
        temperature: 0 for the most likely answer.
        max_tokens: the maximum number of output tokens.
        api_key: the key, kept as a ``SecretStr``; by default from the vendor's environment variable.
        base_url: another address, of a server that supports OpenAI's chat completions.
        http_client: an ``httpx.Client``, or any object with its ``post``. It is used unchanged, and without retries.
        timeout: the maximum duration of one request, in seconds.

    Raises:
        ConfigurationError: the template reads attributes.

    >>> Critic("strict", "gpt-4o-mini", vendor="openai").judge("Is a whale a fish?").kind  # doctest: +SKIP
    'REJECT'
    """

    name: str
    model: str
    prompt_template: str = (
        "Judge the following query:\n{query}\n\n"
        "Output JSON with kind (KEEP/REJECT/SPLIT/MERGE), confidence (0-1), reasoning."
    )
    vendor: str = "deepseek"
    system_prompt: str = "You are a careful judge. Output strict JSON only."
    temperature: float = 0.0
    max_tokens: int = 2000
    api_key: str | SecretStr | None = field(default=None, repr=False)
    base_url: str | None = field(default=None, repr=False)
    http_client: Any = field(default=None, repr=False)
    timeout: float = 60.0

    def __post_init__(self) -> None:
        check_template(self.prompt_template)

    @classmethod
    def from_yaml_prompt(cls, name: str, model: str, yaml_path: str, **kwargs: Any) -> Self:
        """Return a critic with the prompts of a YAML file, under ``system_prompt`` and ``user_prompt_template``.

        Raises:
            OSError: the file cannot be read.
            ConfigurationError: it is not a YAML mapping of plain values, or has no ``user_prompt_template``.
        """
        try:
            data = read_source(
                Path(yaml_path), "a prompt file is one mapping with `user_prompt_template:`", as_text=True
            ).content
        except InputError as error:
            if isinstance(error.__cause__, OSError):
                raise error.__cause__ from None
            raise
        found = data if isinstance(data, dict) else {}
        prompt, system = found.get("user_prompt_template"), found.get("system_prompt", "You are a careful judge.")
        if not isinstance(prompt, str) or not prompt:
            raise ConfigurationError(f"{yaml_path}: the file needs the key user_prompt_template, the prompt itself")
        if not isinstance(system, str):
            raise ConfigurationError(f"{yaml_path}: system_prompt must be text")
        return cls(name=name, model=model, prompt_template=prompt, system_prompt=system, **kwargs)

    def judge(self, query: str, context: dict[str, Any] | None = None) -> Verdict:
        """Ask about a query. An error while asking becomes a verdict with an ``error``.

        Args:
            query: the query to judge.
            context: values for the template's other placeholders. A value named ``query`` replaces the query.

        Raises:
            KeyError: the template has a placeholder without a value.
            ConfigurationError: the vendor is unknown and there is no ``base_url``.
        """
        return verdict_of(self._asking(query, context).judge(Case()), self.name)

    def as_judge(self) -> Judge:
        """Return this critic as a judge of this package, for juries, cascades, budgets and stores.

        A case's question is the query, and its metadata are the context.

        Raises:
            ConfigurationError: the vendor is unknown, or there is no key.
        """
        return self._judge(lambda case: self._rendered(case.question or "", dict(case.metadata)))

    def _asking(self, query: str, context: dict[str, Any] | None) -> Judge:
        """Return a judge with one question. Prompt and address are built now, so that their errors are raised."""
        prompt = self._rendered(query, context)
        self._address()
        try:
            return self._judge(lambda case: prompt)
        except ConfigurationError as error:
            return failing(error, self.name)

    def _judge(self, render: Callable[[Case], str]) -> PromptJudge:
        address, variable = self._address()
        if not self.api_key and not os.environ.get(variable):
            hint = f"Set {variable} env var or pass" if variable else "Pass"
            raise ConfigurationError(f"Missing API key for vendor '{self.vendor}'. {hint} api_key=... explicitly.")
        key = Key(self.api_key or None, variable or None, self.vendor)
        if self.http_client is not None:
            send = partial(self._post, address.rstrip("/") + "/chat/completions", key)
            model = callers_model(self.model, self.vendor, plain_address(address), self.http_client, send)
        else:
            model = vendor_model(
                self.model, self.vendor, key, base_url=self.base_url, address=address, timeout=self.timeout
            )
        return PromptJudge(
            self.name, model, key, render, system=self.system_prompt, keys=CRITIC_KEYS, template=self.prompt_template,
            options=Options(self.temperature, self.max_tokens),
        )  # fmt: skip

    def _address(self) -> tuple[str, str]:
        """Return the server, and the environment variable of the key, "" if there is none."""
        address, variable = VENDOR_DEFAULTS.get(self.vendor, ("", ""))
        if not self.base_url and not address:
            raise ConfigurationError(
                f"Unknown vendor '{self.vendor}'. Pass base_url=... explicitly for custom vendors, or one of "
                f"{sorted(VENDOR_DEFAULTS)}."
            )
        return self.base_url or address, variable

    def _rendered(self, query: str, context: dict[str, Any] | None) -> str:
        return render_template(self.prompt_template, {"query": query, **(context or {})})

    def _post(self, url: str, key: Key, request: dict[str, Any]) -> str | None:
        headers = {"Authorization": f"Bearer {key.reveal()}", "Content-Type": "application/json"}
        response = self.http_client.post(url, json=request, headers=headers)
        if hasattr(response, "raise_for_status"):
            response.raise_for_status()
        content: str | None = response.json()["choices"][0]["message"]["content"]
        return content
