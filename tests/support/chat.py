"""Chat models that answer by script: real LangChain models, without a vendor."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from langchain_core.language_models import BaseChatModel
from langchain_core.messages import AIMessage, BaseMessage
from langchain_core.outputs import ChatGeneration, ChatGenerationChunk, ChatResult
from langchain_core.utils.function_calling import convert_to_openai_tool
from pydantic import Field, PrivateAttr

USED = {"input_tokens": 11, "output_tokens": 4, "total_tokens": 15}


def said(line: Any) -> AIMessage:
    """A line of a script as a message; usage is there unless the line is a message of its own."""
    if isinstance(line, AIMessage):
        return line.model_copy()
    if isinstance(line, dict):
        return AIMessage(**{"content": "", "usage_metadata": USED, **line})
    return AIMessage(line, usage_metadata=USED)


def calls(name: str, call_id: str = "c1", **args: Any) -> dict[str, Any]:
    """A line that calls a tool."""
    return {"tool_calls": [{"name": name, "args": args, "id": call_id}]}


class ScriptedChat(BaseChatModel):
    """Answers call by call; the last line is repeated. A line is a text, the fields of a message, or an exception.

    With ``arguments`` it calls whatever single tool it is bound to, so that it can be held to a schema.
    """

    script: list[Any] = Field(default_factory=lambda: ["YES"])
    arguments: Any = None
    temperature: float | None = None
    max_tokens: int | None = None
    max_retries: int = 2
    model_name: str = "scripted-1"
    streams: bool = False
    _seen: list[dict[str, Any]] = PrivateAttr(default_factory=list)

    @property
    def seen(self) -> list[dict[str, Any]]:
        """Every call so far, of the model and of its copies."""
        return self._seen

    @property
    def _llm_type(self) -> str:
        return "scripted"

    @property
    def _identifying_params(self) -> dict[str, Any]:
        return {"model_name": self.model_name}

    def bind_tools(self, tools: Any, *, tool_choice: Any = None, **kwargs: Any) -> Any:
        return self.bind(tools=[convert_to_openai_tool(tool) for tool in tools], **kwargs)

    def _generate(
        self, messages: list[BaseMessage], stop: Any = None, run_manager: Any = None, **kwargs: Any
    ) -> ChatResult:
        line = self.script[min(len(self._seen), len(self.script) - 1)]
        self._seen.append({"messages": messages, "model": self, "kwargs": kwargs})
        if isinstance(line, Callable):  # type: ignore[arg-type]
            line = line(messages)
        if isinstance(line, Exception):
            raise line
        tools = kwargs.get("tools")
        if tools and self.arguments is not None:
            line = calls(tools[0]["function"]["name"], **self.arguments)
        return ChatResult(generations=[ChatGeneration(message=said(line))])


class StreamingChat(ScriptedChat):
    """Hands out its words one by one when somebody listens."""

    def _stream(self, messages: Any, stop: Any = None, run_manager: Any = None, **kwargs: Any) -> Any:
        from langchain_core.messages import AIMessageChunk

        message = self._generate(messages, **kwargs).generations[0].message
        for word in message.text.split(" "):
            yield ChatGenerationChunk(message=AIMessageChunk(content=f"{word} "))


class PlainChat(BaseChatModel):
    """A model that can neither be held to a schema nor counts its tokens."""

    line: str = "YES"

    @property
    def _llm_type(self) -> str:
        return "plain"

    def _generate(self, messages: Any, stop: Any = None, run_manager: Any = None, **kwargs: Any) -> ChatResult:
        return ChatResult(generations=[ChatGeneration(message=AIMessage(self.line))])
