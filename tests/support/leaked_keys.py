"""A key that a server repeats in its answers, and the search for it in what is kept or shown."""

import asyncio
import json
import logging

from jury_adapters import Critic, Limits, Status
from jury_adapters.store import Store
from jury_adapters.testing import a_case
from support.vendor import Act

KEY = "gw/Live-0123456789+secret=="  # unlike any key by its look
ONCE = KEY.replace("-", "\\u002d").replace("/", "\\/")
TWICE = KEY.replace("-", "\\\\u002D").replace("/", "\\\\/")
WHOLE = "".join(f"\\u{ord(character):04x}" for character in KEY)


def plain_body(key: str) -> str:
    """A completion that has the key in every text."""
    content = json.dumps({"reasoning": f"says {key}", "answer": "YES"})
    return json.dumps({
        "id": f"id-{key}", "model": f"m-{key}",
        "choices": [{"message": {"role": "assistant", "content": content}, "finish_reason": "stop"}],
    })  # fmt: skip


BODIES = {
    "plain": plain_body(KEY),
    "escaped once": plain_body("KEY").replace("KEY", ONCE),
    "escaped twice": plain_body("KEY").replace("KEY", TWICE),
    "escaped whole": plain_body("KEY").replace("KEY", WHOLE),
    "refusal": json.dumps({"choices": [
        {"message": {"role": "assistant", "refusal": f"not for {KEY}"}, "finish_reason": "stop"},
    ]}),
    "finish reason": json.dumps({"choices": [{"message": {"role": "assistant", "content": ""}, "finish_reason": KEY}]}),
    "tool call": json.dumps({"choices": [{"message": {"role": "assistant", "content": None, "tool_calls": [
        {"id": "1", "type": "function", "function": {"name": "judgment", "arguments": json.dumps({"answer": KEY})}},
    ]}}]}),
    "not JSON, the key at the end of what is shown": f"{'x' * 190} {KEY}",
    "no reply in it": json.dumps({"error": [KEY] * 200}),
}  # fmt: skip


def judged(critic_of, tmp_path, caplog):
    """The texts that are kept or shown of one judgment, by where they are."""
    caplog.set_level(logging.DEBUG, logger="jury_adapters")

    async def judge():
        try:
            return await critic.ajudge(a_case())
        finally:
            inside = getattr(critic_of["model"], "http_async_client", None)
            for client in (critic_of.get("client"), inside):
                if client is not None:
                    await (client.aclose if hasattr(client, "aclose") else client.close)()

    with Store(tmp_path / "runs.db") as store:
        critic = Critic(name="truth", rubric="faithfulness", store=store, limits=Limits(attempts=1), **critic_of)
        judgment = asyncio.run(judge())
    ours = "\n".join(record.getMessage() for record in caplog.records if record.name.startswith("jury_adapters"))
    files = b"".join(path.read_bytes() for path in tmp_path.iterdir()).decode("latin-1")
    return judgment, {"json": judgment.to_json(), "store": files, "log": ours, "critic": repr(critic)}


def assert_hidden(texts, key=KEY):
    for where, text in texts.items():
        for part in (key, key[:12], key[-12:]):
            assert part not in text.replace("\\", "").replace("u002d", "-").replace("u002D", "-"), where
        assert WHOLE[:30] not in text, where


def assert_body_hidden(server, body, critic_of, tmp_path, caplog):
    server.plan = lambda ask: Act(raw=BODIES[body])
    judgment, texts = judged(critic_of, tmp_path, caplog)
    assert server.asks[0].headers["authorization"] == f"Bearer {KEY}"
    assert_hidden(texts)
    if "escaped" in body or body == "plain":
        assert judgment.status is Status.PASS
        assert judgment.reasoning == "says [key]"
        assert judgment.metadata["request_id"] == "id-[key]"
