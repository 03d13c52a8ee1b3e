"""Images of LlamaIndex: in the nodes behind an answer, in the answer itself, and in the question.

Nodes and query bundles are objects of the running application, so a local image that they name by its path is read,
within the limits of :class:`jury_adapters.Image`. A path in a message is not read, because a message may come from
elsewhere. Nothing is fetched from an address.
"""

from __future__ import annotations

from collections.abc import Iterable
from os import PathLike
from typing import Any

from llama_index.core.llms import ChatMessage, ChatResponse, ImageBlock
from llama_index.core.schema import ImageNode, Node, NodeWithScore, QueryBundle, TextNode

from jury_adapters.core.errors import ConfigurationError
from jury_adapters.core.evidence import Evidence
from jury_adapters.core.image_values import image_in_block, images_in_content
from jury_adapters.core.images import Image, ImageRole
from jury_adapters.llama_index.responses import listed, nodes_of, passages_of, tool_outputs
from jury_adapters.llama_index.workflow_results import answer_in


def images_of(response: object, *, evidence: Evidence) -> tuple[Image, ...]:
    """Return the images behind an answer, as :func:`.responses.contexts_of` finds the texts, and those in it.

    Args:
        response: as for :func:`.responses.text_of`.
        evidence: the rule that decides which tools' outputs are contexts.

    Raises:
        Exception: any exception that a predicate of the rule raises.
    """
    return (*context_images(response, evidence=evidence), *node_images(answer_blocks(response), "answer"))


def context_images(response: object, *, evidence: Evidence) -> tuple[Image, ...]:
    """Return the images behind an answer; see :func:`images_of`."""
    nodes = listed(response, "source_nodes") or passages_of(response)
    if nodes:
        return node_images(nodes)
    found: list[Image] = []
    for output, step_of in tool_outputs(response):
        images = (*node_images(nodes_of(output)), *images_in_content(getattr(output, "blocks", ()), "context"))
        if images and evidence.accepts(step_of()):
            found += images
    return tuple(dict.fromkeys(found))


def node_images(nodes: Iterable[object], role: ImageRole = "context") -> tuple[Image, ...]:
    """Return the images of nodes and image blocks, each once. An image that cannot be used has a problem."""
    found: dict[Image, None] = {}
    for node in nodes:
        inner = node.node if isinstance(node, NodeWithScore) else node
        if type(inner) in (TextNode, str):  # most are, and the checks of pydantic classes are slow
            continue
        if isinstance(inner, Node):
            holder: Any = inner.image_resource
        else:
            holder = inner if isinstance(inner, ImageNode | ImageBlock) else None
        image = None if holder is None else _image(holder, role)
        if image is not None:
            found.setdefault(image)
    return tuple(found)


def images_at(paths: object, urls: object) -> tuple[Image, ...]:
    """Return the images of the arguments ``image_paths`` and ``image_urls``, which are contexts.

    Raises:
        ConfigurationError: an argument is not a list of texts, or one of the images cannot be used.
    """
    local, remote = _several(paths, "image_paths"), _several(urls, "image_urls")
    return (*(Image(path=path) for path in local), *(Image(url=url) for url in remote))


def asked_with(question: object) -> tuple[object, ...]:
    """Return the objects with images in a question: a message or a query bundle. Their images are not read."""
    if isinstance(question, QueryBundle):
        return (ImageNode(image_path=question.image_path),) if question.image_path else ()
    if isinstance(question, ChatMessage):
        return tuple(block for block in question.blocks if isinstance(block, ImageBlock))
    return ()


def answer_blocks(response: object) -> tuple[object, ...]:
    """Return the image blocks of the message that is the answer, without reading the images."""
    inner = answer_in(response)
    message: object = inner if isinstance(inner, ChatMessage) else getattr(inner, "response", None)
    if inner is None or isinstance(message, str):
        return ()
    if isinstance(inner, ChatResponse):
        message = inner.message
    return asked_with(message) if isinstance(message, ChatMessage) else ()


def _image(holder: Any, role: ImageRole) -> Image | None:
    """Return the image of a node, or of a resource in it; a path in it is read, one in a block is not."""
    if isinstance(holder, ImageNode):
        content, path = holder.image, holder.image_path
    elif isinstance(holder, ImageBlock):
        content, path = None, None
    else:
        content, path = holder.data, holder.path
    if content or not path:
        return image_in_block(holder, role)
    try:
        return Image(path=path, role=role)
    except ConfigurationError as error:
        return Image(problem=str(error), role=role)


def _several(given: object, name: str) -> list[str]:
    found = [] if given is None else list(given) if isinstance(given, list | tuple) else [given]
    if not all(isinstance(one, str | PathLike) for one in found):
        raise ConfigurationError(f"{name} is a list of texts")
    return [str(one) for one in found]
