"""SDK clients whose requests can be sent without them, on the SDKs that are installed."""

import asyncio

import anthropic
import openai
import pytest
from anthropic import AsyncAnthropic
from openai import AsyncAzureOpenAI, AsyncOpenAI

from jury_adapters.models.plain_clients import is_plain


class Derived(AsyncOpenAI):
    """Adds nothing, and still is a class of its own."""


async def key():
    return "k"


def hooked():
    client = AsyncOpenAI(api_key="k")
    client._client.event_hooks = {"request": [key]}
    return client


@pytest.mark.parametrize(("make", "sdk", "plain"), [
    (lambda: AsyncOpenAI(api_key="k"), "openai", True),
    (lambda: AsyncOpenAI(api_key="k", organization="o", project="p", timeout=5), "openai", True),
    (lambda: AsyncOpenAI(api_key="k", base_url="http://x/v1", default_query={"a": "b"}), "openai", True),
    (lambda: AsyncAnthropic(api_key="k"), "anthropic", True),
    (lambda: AsyncAnthropic(api_key=None, auth_token="t", default_headers={"a": "b"}), "anthropic", True),
    (lambda: AsyncOpenAI(api_key=key), "openai", False),
    (lambda: AsyncOpenAI(api_key="k", http_client=openai.DefaultAsyncHttpxClient()), "openai", False),
    (lambda: AsyncAnthropic(api_key="k", http_client=anthropic.DefaultAsyncHttpxClient()), "anthropic", False),
    (lambda: AsyncOpenAI(api_key="k", _strict_response_validation=True), "openai", False),
    (lambda: AsyncAzureOpenAI(api_key="k", azure_endpoint="http://x", api_version="1"), "openai", False),
    (lambda: Derived(api_key="k"), "openai", False),
    (hooked, "openai", False),
])  # fmt: skip
def test_a_client_is_plain_if_it_only_adds_address_key_and_headers(make, sdk, plain):
    async def main():
        client = make()
        found = is_plain(client, sdk)
        await client.close()
        return found

    assert asyncio.run(main()) is plain
