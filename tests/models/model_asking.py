"""Short ways to ask a model in the tests."""

import asyncio

from model_server import KEY

from jury_adapters.models import ModelError, Prompt, Turn
from jury_adapters.models.base import NO_OPTIONS

SCHEMA = {
    "type": "object", "additionalProperties": False, "required": ["answer"],
    "properties": {"answer": {"type": "string", "enum": ["YES", "NO"]}},
}  # fmt: skip


def prompt(question="Is it so?", system="You judge.", images=()):
    return Prompt(system, (Turn("user", question, tuple(images)),))


def ask(model, question="Is it so?", schema=None, options=NO_OPTIONS):
    """Ask a model in an event loop of its own."""
    return asyncio.run(model.complete(prompt(question), schema, options))


async def failed(call):
    """Return the error of a call."""
    try:
        reply = await call
    except ModelError as error:
        return error
    raise AssertionError(f"no error, but {reply}")


def failure(model, *arguments, **options):
    """Ask a model that fails, and return the error, whose chain holds nothing."""
    error = asyncio.run(failed(model.complete(prompt(*arguments), **options)))
    assert error.__cause__ is None
    assert error.__context__ is None
    assert KEY not in repr(error)
    return error
