"""Requests of named models over aiohttp, in a fraction of the CPU that the SDKs need.

The address and the headers are those of the SDK's client. Clients of the user and proxies are left to the SDK.
"""

from contextlib import suppress
from typing import Any

import aiohttp
from multidict import CIMultiDict
from pydantic_core import from_json, to_json
from yarl import URL

from jury_adapters.models.clients import LARGEST, LARGEST_ERROR, PerLoop
from jury_adapters.models.errors import bad_reply


class StatusError(Exception):
    """Answer with a status other than success, with the attributes of the SDKs' exceptions."""

    def __init__(self, response: aiohttp.ClientResponse, content: bytes) -> None:
        super().__init__(response.reason)
        self.status_code, self.response, self.body = response.status, response, content.decode("utf-8", "replace")
        with suppress(ValueError):
            self.body = from_json(content)


class Wire:
    """Requests with the address and the headers of an SDK's client.

    Args:
        client: the client.
        path: the path of the requests.
        http: the HTTP package of the SDK, whose certificates count.
    """

    def __init__(self, client: Any, path: str, http: Any) -> None:
        self._url = URL(str(client.base_url).rstrip("/") + path, encoded=True)
        self._tls = http.create_ssl_context() if self._url.scheme == "https" else True
        headers = {**client.auth_headers, **client.default_headers, "Accept-Encoding": "identity"}
        self._headers = CIMultiDict(  # no Omit, and not what the SDK says about itself
            (name, value)
            for name, value in headers.items()
            if isinstance(value, str) and not name.lower().startswith("x-stainless")
        )

    async def post(self, body: dict[str, Any]) -> bytes:
        """Send a body, and return the content of the answer. A redirect is not followed.

        Raises:
            StatusError: the status is not a success.
        """
        session, data = await _SESSIONS.get(), to_json(body)
        async with session.post(
            self._url, data=data, headers=self._headers, ssl=self._tls, allow_redirects=False
        ) as response:
            failed = response.status >= 300
            if response.headers.get("Content-Encoding", "identity").lower() != "identity" and not failed:
                raise bad_reply("the body is compressed, which was not asked for")
            content, limit = bytearray(), LARGEST_ERROR if failed else LARGEST
            while len(content) < limit and (piece := await response.content.readany()):
                content += piece
            if len(content) >= limit:
                response.close()
            if failed:
                raise StatusError(response, bytes(content[:limit]))
            if len(content) >= LARGEST:
                raise bad_reply(f"the body is larger than {LARGEST // 2**20} MiB")
            return bytes(content)


class _Connector(aiohttp.TCPConnector):
    """Connector that does not use a connection on which bytes have arrived while it was idle.

    They would be taken for the answer to the next request: a late answer would become that of another case.
    """

    async def connect(self, *given: Any, **named: Any) -> Any:
        while True:
            connection = await super().connect(*given, **named)
            if connection.protocol is None or not connection.protocol.should_close:
                return connection
            connection.close()


async def _session() -> aiohttp.ClientSession:
    return aiohttp.ClientSession(
        connector=_Connector(limit=0),
        cookie_jar=aiohttp.DummyCookieJar(),
        auto_decompress=False,
        timeout=aiohttp.ClientTimeout(total=None),
    )


_SESSIONS = PerLoop(_session, aiohttp.ClientSession.close)
