"""Vendors of this API, and clients for them."""

from __future__ import annotations

import os
from dataclasses import dataclass
from typing import TYPE_CHECKING

from pydantic import SecretStr

from jury_adapters.core.installation import needs_extra
from jury_adapters.models.api_keys import Key

if TYPE_CHECKING:
    from openai import OpenAI


@dataclass(frozen=True)
class VendorConfig:
    """Address and key variable of a vendor.

    Attributes:
        name: the vendor.
        base_url: its server.
        api_key_env: the environment variable that holds the key.
    """

    name: str
    base_url: str
    api_key_env: str


VENDORS: dict[str, VendorConfig] = {
    "deepseek": VendorConfig("deepseek", "https://api.deepseek.com/v1", "DEEPSEEK_API_KEY"),
    "openai": VendorConfig("openai", "https://api.openai.com/v1", "OPENAI_API_KEY"),
    "openrouter": VendorConfig("openrouter", "https://openrouter.ai/api/v1", "OPENROUTER_API_KEY"),
}


def get_vendor(name: str) -> VendorConfig:
    """Return a vendor by name.

    Raises:
        KeyError: the vendor is unknown.
    """
    found = VENDORS.get(name.lower())
    if found is None:
        raise KeyError(
            f"Unknown vendor '{name}'. Known: {sorted(VENDORS)}. For another server that speaks OpenAI's chat "
            "completions give base_url= and api_key=."
        )
    return found


def vendor_key(vendor: VendorConfig, api_key: str | SecretStr | None) -> Key:
    """Return the given key, else that of the vendor's environment variable.

    Raises:
        RuntimeError: there is no key. Callers of this API expect this exception.
    """
    if not api_key and not os.getenv(vendor.api_key_env):
        raise RuntimeError(
            f"Missing API key for vendor '{vendor.name}'. "
            f"Set {vendor.api_key_env} env var or pass api_key=... explicitly."
        )
    return Key(api_key or None, vendor.api_key_env or None, vendor.name)


def make_client(
    vendor: str = "deepseek", api_key: str | SecretStr | None = None, base_url: str | None = None
) -> OpenAI:
    """Return a synchronous ``openai.OpenAI`` for a vendor.

    Args:
        vendor: a key of :data:`VENDORS`.
        api_key: the key; by default from the vendor's environment variable.
        base_url: another address.

    Raises:
        KeyError: the vendor is unknown.
        RuntimeError: there is no key.
        ImportError: ``openai`` is not installed; the message says what to install.
    """
    try:
        from openai import OpenAI
    except ImportError as error:
        raise ImportError(needs_extra("this client", "an SDK", "openai")) from error
    found = get_vendor(vendor)
    return OpenAI(api_key=vendor_key(found, api_key).reveal(), base_url=base_url or found.base_url)
