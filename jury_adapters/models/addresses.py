"""Addresses of servers in the form in which they are compared, stored and shown."""

from __future__ import annotations

import re
from urllib.parse import urlsplit

from jury_adapters.core.errors import ConfigurationError
from jury_adapters.core.secrets import without_keys

_DEFAULT_PORTS = {"http": 80, "https": 443}


def plain_address(url: object) -> str:
    """Return the address without credentials: scheme, host, port and path; "" if it is not an address.

    Two spellings of one address are equal. User, password, query and all texts that look like keys are left out.

    >>> plain_address("HTTPS://me:secret@API.example.com:443/v1/?key=secret")
    'https://api.example.com/v1'
    >>> plain_address("api.example.com")
    ''
    """
    if url is None:
        return ""
    try:
        parts = urlsplit(str(url).strip())
        host, port = parts.hostname, parts.port
    except ValueError:
        return ""
    if not parts.scheme or not host:
        return ""
    named = f"[{host}]" if ":" in host else host
    if port is not None and port != _DEFAULT_PORTS.get(parts.scheme):
        named = f"{named}:{port}"
    return without_keys(f"{parts.scheme}://{named}{parts.path.rstrip('/')}")


def refuse_credentials(url: object, what: str) -> None:
    """Check that a base address contains no user name, password, query or fragment.

    The path of a request is appended to the base, so a query would also end up in the middle.

    Args:
        url: the address, which no message repeats.
        what: the name of the address in the message.

    Raises:
        ConfigurationError: the address contains one of these.
    """
    refuse_user_information(url, what)
    if url is not None and re.search(r"[?#]", str(url)):
        raise ConfigurationError(
            f"{what} contains a query or a fragment, which may be a key; leave out '?' or '#' and what follows, and "
            "give an SDK client that sends it: client=AsyncOpenAI(..., default_query={...}) or default_headers={...}; "
            "for Azure's api-version client=AsyncAzureOpenAI(azure_endpoint=..., api_version=...)"
        )


def refuse_user_information(url: object, what: str) -> None:
    """Check that an address contains no user name and no password.

    Args:
        url: the address, which no message repeats.
        what: the name of the address in the message.

    Raises:
        ConfigurationError: the address contains one of these.
    """
    address = "" if url is None else str(url)
    _, _, after_scheme = address.partition("://") if "://" in address else ("", "", address)
    if "@" in re.split(r"[/?#]", after_scheme, maxsplit=1)[0]:
        raise ConfigurationError(
            f"{what} contains a user name or a password; leave them out of the address, and give an HTTP client that "
            "sends them: client=httpx.AsyncClient(auth=(user, password))"
        )


def address_of(model: object) -> str:
    """Return the effective address of a model; "" if it is unknown.

    A model object of the user may have it as ``address`` or ``base_url``.
    """
    return plain_address(getattr(model, "address", None)) or plain_address(getattr(model, "base_url", None))


def client_address(client: object) -> str:
    """Return the address that an existing client sends to; "" if it is unknown."""
    for holder in (client, getattr(client, "_client", None)):  # a resource of an SDK has the SDK's client
        found = plain_address(getattr(holder, "base_url", None))
        if found:
            return found
    return ""
