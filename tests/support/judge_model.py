"""A LangChain chat model that judges without a network, for our critics and for everybody else's judges."""

import json
from typing import Any

from langchain_core.language_models import BaseChatModel
from langchain_core.messages import AIMessage
from langchain_core.outputs import ChatGeneration, ChatResult
from langchain_core.utils.function_calling import convert_to_openai_tool
from pydantic import Field

YES = {"reasoning": "it fits", "answer": "YES", "confidence": 0.9}
NO = {"reasoning": "it does not fit", "answer": "NO", "confidence": 0.8}


class JudgeModel(BaseChatModel):
    """Says the same every time: as text, or as a call of the one tool it was given (that is structured output).

    Attributes:
        reply: what it says, a text or the object to write as JSON.
        seen: the text of every prompt so far.
    """

    reply: Any = YES
    seen: list[str] = Field(default_factory=list)
    model_name: str = "judge-model"

    @property
    def _llm_type(self) -> str:
        return "judge-model"

    def bind_tools(self, tools: Any, **options: Any) -> Any:
        options.pop("tool_choice", None)
        return self.bind(tools=[convert_to_openai_tool(tool) for tool in tools], **options)

    def _generate(self, messages: Any, stop: Any = None, run_manager: Any = None, **options: Any) -> ChatResult:
        self.seen.append("\n".join(str(message.content) for message in messages))
        usage = {"input_tokens": 100, "output_tokens": 10, "total_tokens": 110}
        tools = options.get("tools")
        if tools and not isinstance(self.reply, str):
            call = {"name": tools[0]["function"]["name"], "args": self.reply, "id": "call-1"}
            message = AIMessage("", tool_calls=[call], usage_metadata=usage)
        else:
            text = self.reply if isinstance(self.reply, str) else json.dumps(self.reply)
            message = AIMessage(text, usage_metadata=usage)
        return ChatResult(generations=[ChatGeneration(message=message)])

    async def _agenerate(self, messages: Any, stop: Any = None, run_manager: Any = None, **options: Any) -> ChatResult:
        return self._generate(messages, **options)  # as vendors' models: no thread in between


class TextJudgeModel(JudgeModel):
    """The same, of a vendor that knows no tools: whoever asks it has to read text."""

    def bind_tools(self, tools: Any, **options: Any) -> Any:
        return BaseChatModel.bind_tools(self, tools, **options)  # what langchain-core says of a model without tools


def judge_model(reply: Any = YES, **options: Any) -> JudgeModel:
    """A model that replies so."""
    return JudgeModel(reply=reply, **options)
