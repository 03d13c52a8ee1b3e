"""Proxies and certificates from the environment, as httpx and the vendors' SDKs read them."""

from __future__ import annotations

import os
import ssl
from functools import lru_cache
from importlib import import_module
from importlib.util import find_spec
from urllib.parse import urlsplit
from urllib.request import getproxies, proxy_bypass


def proxy_for(url: str) -> str | None:
    """Return the proxy for an address, or None.

    ``HTTPS_PROXY`` and ``HTTP_PROXY`` apply to addresses of their scheme, and ``ALL_PROXY`` to the rest. None of them
    applies to the hosts in ``NO_PROXY``. Lower-case names take precedence. On macOS and Windows the system's settings
    apply if the environment has none.
    """
    parts = urlsplit(url)
    proxies = getproxies()
    found = proxies.get(parts.scheme) or proxies.get("all")
    if not found or not parts.hostname or proxy_bypass(parts.netloc.rpartition("@")[2]):
        return None
    return found if "://" in found else f"http://{found}"


def ssl_context() -> ssl.SSLContext:
    """Return the TLS settings of httpx: certificates of ``SSL_CERT_FILE`` or ``SSL_CERT_DIR``, else its default."""
    return _context(os.environ.get("SSL_CERT_FILE"), os.environ.get("SSL_CERT_DIR"))


@lru_cache(maxsize=8)
def _context(file: str | None, folder: str | None) -> ssl.SSLContext:
    """Return the context, made once for these variables, because reading the certificates takes 20 ms."""
    for name in ("httpx2", "httpx"):  # an SDK depends on one of them
        if find_spec(name) is not None:
            context: ssl.SSLContext = import_module(name).create_ssl_context()
            return context
    return ssl.create_default_context(cafile=file or None, capath=folder or None)
