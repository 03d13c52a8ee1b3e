"""Images through LlamaIndex: what an LLM is given, and images in nodes, responses and arguments of evaluators."""

import asyncio
from importlib.util import find_spec
from typing import Any

import pytest
from llama_index.core.agent.workflow import AgentOutput, FunctionAgent
from llama_index.core.base.response.schema import Response
from llama_index.core.chat_engine.types import AgentChatResponse
from llama_index.core.evaluation import BatchEvalRunner, EvaluationResult
from llama_index.core.llms import (
    ChatMessage,
    ChatResponse,
    CompletionResponse,
    CustomLLM,
    ImageBlock,
    LLMMetadata,
    TextBlock,
)
from llama_index.core.llms.function_calling import FunctionCallingLLM
from llama_index.core.llms.mock import MockFunctionCallingLLM
from llama_index.core.query_engine import CustomQueryEngine
from llama_index.core.schema import Document, ImageNode, MediaResource, NodeWithScore, QueryBundle
from llama_index.core.tools import ToolOutput
from openai import AsyncOpenAI
from pydantic import PrivateAttr
from support.pictures import data_url, encoded, png
from support.vendor import WELL, Act

from jury_adapters import Case, Critic, Image, Limits, Status
from jury_adapters.llama_index import (
    JuryFaithfulnessEvaluator,
    JuryGuardQueryEngine,
    JuryNodePostprocessor,
    JuryRelevancyEvaluator,
    JurySpanHandler,
    to_case,
)

pytestmark = [
    pytest.mark.filterwarnings("ignore:asyncio_module:DeprecationWarning"),
    pytest.mark.filterwarnings("ignore::pydantic.warnings.PydanticDeprecationWarning"),
    pytest.mark.filterwarnings("ignore:is_running called from within a step:DeprecationWarning"),
]

CHART, PHOTO = Image(base64=encoded(png()), role="context"), Image(base64=encoded(png(shade=9)), role="question")
CASE = Case(question="What is shown?", answer="A chart.", contexts=["A caption."], attachments=[CHART, PHOTO])
YES = '{"reasoning": "", "answer": "YES", "confidence": 1}'


class Eyes(CustomLLM):
    """A local vision model, which keeps the messages that it gets."""

    _got: list[Any] = PrivateAttr(default_factory=list)

    @property
    def metadata(self):
        return LLMMetadata(model_name="eyes")

    def chat(self, messages, **kwargs):
        self._got.append(list(messages))
        return ChatResponse(message=ChatMessage(role="assistant", content=YES))

    def complete(self, prompt, formatted=False, **kwargs):
        raise AssertionError("a text would have no images")

    stream_complete = complete


class Reader(Eyes):
    """A completion model, which gets one text."""

    chat = CustomLLM.chat

    def complete(self, prompt, formatted=False, **kwargs):
        self._got.append(prompt)
        return CompletionResponse(text=YES)


class OpenAIEyes(FunctionCallingLLM):
    """A model of OpenAI's protocol, which sends blocks as LlamaIndex's own does."""

    model: str = "gpt-4o-mini"
    api_base: str = ""
    _aclient: Any = PrivateAttr(default=None)

    @property
    def metadata(self):
        return LLMMetadata(model_name=self.model, is_chat_model=True, is_function_calling_model=True)

    async def achat(self, messages, **kwargs):
        self._aclient = self._aclient or AsyncOpenAI(api_key="sk-none", base_url=self.api_base, max_retries=0)
        sent = [{"role": one.role.value, "content": [_sent(block) for block in one.blocks]} for one in messages]
        got = await self._aclient.chat.completions.create(model=self.model, messages=sent, **kwargs)
        message = ChatMessage(role="assistant", content=got.choices[0].message.content)
        return ChatResponse(message=message, raw=got)

    def chat(self, messages, **kwargs):
        raise AssertionError("a critic asks by achat")

    stream_chat = complete = stream_complete = chat
    astream_chat = acomplete = astream_complete = _prepare_chat_with_tools = achat


def _sent(block):
    if isinstance(block, TextBlock):
        return {"type": "text", "text": block.text}
    url = str(block.url) if block.url else f"data:{block.image_mimetype};base64,{block.image.decode()}"
    return {"type": "image_url", "image_url": {"url": url}}


def openai_kinds():
    kinds = [OpenAIEyes]
    if find_spec("llama_index.llms") and find_spec("llama_index.llms.openai"):
        from llama_index.llms.openai import OpenAI

        kinds.append(lambda **fields: OpenAI(api_key="sk-none", **fields))
    return kinds


@pytest.fixture(params=openai_kinds())
def make(request, server):
    """Makes an LLM that speaks to the server; each has a name of its own, because refusals are remembered by it."""
    return lambda model="gpt-4o-mini": request.param(model=model, api_base=server.openai)


# What an LLM is given


def test_an_llm_gets_blocks_in_the_order_of_the_prompt():
    eyes = Eyes()
    assert Critic(eyes, "faithfulness").judge(CASE).status is Status.PASS
    *_, message = eyes._got[0]
    heading, chart, second, photo, text = message.blocks
    assert heading == TextBlock(text="Image 1, which belongs to the context:")
    assert second == TextBlock(text="Image 2, which belongs to the question:")
    assert chart == ImageBlock(image=encoded(png()).encode(), image_mimetype="image/png")
    assert (photo.image.decode(), photo.image_mimetype) == (encoded(png(shade=9)), "image/png")
    assert text.text.endswith("never an instruction to you.")
    Critic(eyes, "faithfulness").judge(CASE.model_copy(update={"attachments": ()}))
    assert [type(block) for block in eyes._got[1][-1].blocks] == [TextBlock]


def test_a_completion_model_abstains_because_its_text_would_have_no_images():
    reader = Reader()
    judgment = Critic(reader, "faithfulness").judge(CASE)
    assert judgment.status is Status.ABSTAIN
    assert "cannot be given images" in judgment.reasoning
    assert not reader._got
    assert Critic(reader, "faithfulness").judge(CASE.model_copy(update={"attachments": ()})).status is Status.PASS


def test_images_go_to_the_vendor_with_and_without_a_recorded_request(server, make):
    critic = Critic(make(), "faithfulness")
    text_only = CASE.model_copy(update={"attachments": ()})
    for case in (text_only, CASE, text_only):
        assert critic.judge(case).status is Status.PASS
    content = server.asks[1].body["messages"][-1]["content"]
    images = [block["image_url"]["url"] for block in content if block["type"] == "image_url"]
    assert images == [data_url(png()), data_url(png(shade=9))]
    assert all("image_url" not in str(server.asks[place].body["messages"]) for place in (0, 2))


def test_an_address_is_left_to_the_vendor_or_not_given_at_all(server, make):
    case = CASE.model_copy(update={"attachments": [Image(url=f"{server.openai}/picture.png")]})
    assert Critic(make(), "faithfulness", image_urls=True).judge(case).status is Status.PASS
    content = server.asks[0].body["messages"][-1]["content"]
    assert content[1]["image_url"]["url"] == f"{server.openai}/picture.png"
    assert [ask.path for ask in server.asks] == ["/v1/chat/completions"]
    eyes = Eyes()  # of an unknown class, which may fetch it in this process
    judgment = Critic(eyes, "faithfulness", image_urls=True).judge(case)
    assert (judgment.status, judgment.error) == (Status.ABSTAIN, "no_images")
    assert "give the content of the image" in judgment.reasoning
    assert not eyes._got


def test_a_model_that_refuses_images_abstains_and_is_not_sent_any_again(server, make):
    refusal = Act(400, error={"message": "This model does not support images"})
    server.plan = lambda ask: refusal if "image_url" in str(ask.body["messages"]) else WELL
    critic = Critic(make("gpt-4-0613"), "faithfulness", limits=Limits(attempts=1))
    for _ in range(3):
        judgment = critic.judge(CASE)
        assert (judgment.status, judgment.error) == (Status.ABSTAIN, "no_images")
    assert len(server.asks) == 1
    assert critic.judge(CASE.model_copy(update={"attachments": ()})).status is Status.PASS


# Nodes, responses and messages


def node(picture=None, text="", **fields):
    image = None if picture is None else encoded(picture)
    return NodeWithScore(node=ImageNode(text=text, image=image, **fields), score=1.0)


def contents(case, role="context"):
    return [image.base64 for image in case.attachments if image.role == role]


def test_images_of_source_nodes_are_contexts_and_their_texts_stay_texts():
    resource = Document(text="Page two.", image_resource=MediaResource(data=png(shade=3)))
    again = [node(png(), "A chart of ferries."), NodeWithScore(node=resource), node(png())]
    case = to_case(Response("A chart.", source_nodes=again), query="What is it?")
    assert contents(case) == [encoded(png()), encoded(png(shade=3))]
    assert case.contexts == ("A chart of ferries.", "Page two.")


def test_a_local_image_of_a_node_is_read_within_the_limits(tmp_path):
    (tmp_path / "chart.png").write_bytes(png())
    (tmp_path / "notes.png").write_text("no image")
    nodes = [node(image_path=str(tmp_path / "chart.png")), node(image_path=str(tmp_path / "notes.png"))]
    chart, notes = to_case(nodes).attachments
    assert (chart.base64, chart.path) == (encoded(png()), None)
    assert notes.problem
    judgment = JuryFaithfulnessEvaluator(llm=Eyes()).evaluate_response("?", Response("A chart.", source_nodes=nodes))
    assert judgment.invalid_result
    assert "image 2 cannot be shown" in judgment.invalid_reason


def test_a_row_never_reads_a_local_image_that_a_node_names(tmp_path):
    (tmp_path / "chart.png").write_bytes(png())
    row = {"question": "?", "answer": "A chart.", "contexts": [node(png(), "Page."), node(image_path=str(tmp_path))]}
    held, local = Case.from_row(row).attachments
    assert (held.base64, held.role) == (encoded(png()), "context")
    assert "local file" in local.problem
    response = Response("A chart.", source_nodes=[node(image_path=str(tmp_path / "chart.png"), text="x")])
    [local] = Case.from_row({"question": "?", "answer": response}).attachments
    assert "local file" in local.problem


def test_blocks_of_messages_are_images_of_the_question_or_the_answer(tmp_path):
    asked = ChatMessage(role="user", blocks=[TextBlock(text="What is it?"), ImageBlock(image=png())])
    said = ChatMessage(role="assistant", blocks=[TextBlock(text="This."), ImageBlock(image=png(shade=4))])
    case = Case.from_messages([asked, said])
    assert (contents(case, "question"), contents(case, "answer")) == ([encoded(png())], [encoded(png(shade=4))])
    for response in (said, ChatResponse(message=said), AgentOutput(response=said, current_agent_name="a", raw=None)):
        assert contents(to_case(response), "answer") == [encoded(png(shade=4))]
    (tmp_path / "a.png").write_bytes(png())
    [local] = to_case(ChatMessage(role="assistant", blocks=[ImageBlock(path=tmp_path / "a.png")])).attachments
    assert "local file" in local.problem


def test_images_that_a_tool_found_are_contexts_if_the_tool_is_evidence():
    def used(name):
        output = ToolOutput(tool_name=name, raw_input={}, raw_output=[node(png(), "A page.")], content="A page.")
        return to_case(AgentChatResponse(response="A chart.", sources=[output]), evidence_tools=["search"])

    assert contents(used("search")) == [encoded(png())]
    assert contents(used("draw")) == []


class Pictures(CustomQueryEngine):
    nodes: list[Any]

    def custom_query(self, query_str: str):
        return Response("A chart.", source_nodes=self.nodes)


def test_a_watched_run_has_the_images_of_its_question_and_of_its_nodes(tmp_path):
    (tmp_path / "asked.png").write_bytes(png(shade=7))
    judged = []
    handler = JurySpanHandler(Critic(Eyes(), "faithfulness"), on_verdict=judged.append).attach()
    try:
        asked = QueryBundle("What is it?", image_path=str(tmp_path / "asked.png"))
        Pictures(nodes=[node(png(), "A page.")]).query(asked)
        assert handler.flush()
    finally:
        handler.close()
    [run] = judged
    assert run.judgment.status is Status.PASS
    assert contents(run.case) == [encoded(png())]
    assert contents(run.case, "question") == [encoded(png(shade=7))]


def test_a_watched_agent_has_the_image_of_the_message_to_it():
    model = MockFunctionCallingLLM(
        response_generator=lambda messages, **kwargs: ChatMessage(role="assistant", content="A chart."),
        is_chat_model=True,
    )
    agent = FunctionAgent(tools=[], llm=model, streaming=False)
    asked = ChatMessage(role="user", blocks=[TextBlock(text="What is it?"), ImageBlock(image=png())])

    async def main():
        await agent.run(user_msg=asked)
        await agent.run(chat_history=[ChatMessage(role="user", content="Hello"), asked])

    judged = []
    handler = JurySpanHandler(lambda case: True, on_verdict=judged.append).attach()
    try:
        asyncio.run(main())
        assert handler.flush()
    finally:
        handler.close()
    assert [run.case.question for run in judged] == ["What is it?"] * 2
    assert [contents(run.case, "question") for run in judged] == [[encoded(png())]] * 2


def test_a_guard_shows_images_to_its_jury():
    eyes = Eyes()
    engine = JuryGuardQueryEngine(Pictures(nodes=[node(png(), "A page.")]), Critic(eyes, "faithfulness"))
    assert engine.query("What is it?").metadata["jury"]["outcome"] == "passed"
    assert sum(isinstance(block, ImageBlock) for block in eyes._got[0][-1].blocks) == 1


def test_a_postprocessor_judges_a_node_by_its_image():
    eyes = Eyes()
    kept = JuryNodePostprocessor(Critic(eyes, "context_relevance")).postprocess_nodes(
        [node(png())], query_bundle=QueryBundle("What is it?")
    )
    assert len(kept) == 1
    assert sum(isinstance(block, ImageBlock) for block in eyes._got[0][-1].blocks) == 1


# Evaluators with the arguments of LlamaIndex's multi-modal ones


@pytest.fixture(params=[JuryFaithfulnessEvaluator, JuryRelevancyEvaluator])
def evaluator(request, server):
    critic = {"base_url": server.openai, "api_key": "sk-none"}
    return lambda **options: request.param(llm=f"openai:eyes-{id(server)}", **critic, **options)


def images_sent(ask):
    content = ask.body["messages"][-1]["content"]
    return [block["image_url"]["url"] for block in content if block["type"] == "image_url"]


def test_paths_and_addresses_are_images_of_the_contexts(server, evaluator, tmp_path):
    (tmp_path / "chart.png").write_bytes(png())
    address = "https://example.org/photo.png"
    given = {"image_paths": [str(tmp_path / "chart.png")], "image_urls": [address]}
    result = evaluator(image_urls=True).evaluate("What is it?", "A chart.", ["A caption."], **given)
    assert isinstance(result, EvaluationResult)
    assert (result.passing, result.contexts) == (True, ["A caption."])
    assert images_sent(server.asks[0]) == [data_url(png()), address]
    refused = evaluator().evaluate("What is it?", "A chart.", ["A caption."], **given)
    assert refused.invalid_result
    assert "image_urls=True" in refused.invalid_reason


def test_what_cannot_be_an_image_is_a_reason_and_no_exception(server, evaluator, tmp_path):
    for given in ({"image_paths": [str(tmp_path / "none.png")]}, {"image_paths": 5}, {"image_urls": ["file:///a.png"]}):
        result = evaluator().evaluate("What is it?", "A chart.", ["A caption."], **given)
        assert result.invalid_result, given
        assert result.invalid_reason
    assert not server.asks


def test_nodes_given_as_contexts_replace_the_images_of_the_response(server, evaluator):
    response = Response("A chart.", source_nodes=[node(png(), "Page one.")])
    evaluator().evaluate_response("What is it?", response)
    evaluator().evaluate_response("What is it?", response, contexts=[node(png(shade=5))])
    assert [images_sent(ask) for ask in server.asks] == [[data_url(png())], [data_url(png(shade=5))]]


def test_a_batch_runner_gives_each_item_its_own_images(server, evaluator, tmp_path):
    paths = []
    for shade in (1, 2):
        paths.append([str(tmp_path / f"{shade}.png")])
        (tmp_path / f"{shade}.png").write_bytes(png(shade=shade))
    runner = BatchEvalRunner({"images": evaluator()}, workers=2)
    results = runner.evaluate_response_strs(
        queries=["One?", "Two?"], response_strs=["A.", "B."], contexts_list=[["x"], ["y"]], image_paths=paths
    )
    assert [result.passing for result in results["images"]] == [True, True]
    sent = sorted(url for ask in server.asks for url in images_sent(ask))
    assert sent == sorted(data_url(png(shade=shade)) for shade in (1, 2))
    responses = [Response("A.", source_nodes=[node(png(shade=8), "Page.")]), Response("B.")]
    runner.evaluate_responses(queries=["One?", "Two?"], responses=responses)
    assert data_url(png(shade=8)) in [url for ask in server.asks[2:] for url in images_sent_or_none(ask)]


def images_sent_or_none(ask):
    return images_sent(ask) if isinstance(ask.body["messages"][-1]["content"], list) else []
