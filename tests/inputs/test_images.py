"""Images: what is read, what is refused, and how they reach a critic. Nothing is fetched, and nothing decompressed."""

import base64
import io
import json
import os
import struct
import zlib

import pytest
from langchain_core.messages import AIMessage, HumanMessage, ToolMessage
from llama_index.core.base.llms.types import ChatMessage, ImageBlock, TextBlock
from PIL import Image as Pillow

from jury_adapters import Case, Critic, InputError, Run, default_case
from jury_adapters.inputs.images import MAX_BYTES, images_of, read_image
from jury_adapters.inputs.rows import case_of_row
from jury_adapters.testing import ScriptedModel


def made(kind, size=(30, 20), **options):
    out = io.BytesIO()
    Pillow.new("RGB", size, (200, 30, 30)).save(out, kind, **options)
    return out.getvalue()


FILES = {
    "image/png": made("PNG"),
    "image/jpeg": made("JPEG"),
    "image/jpeg; progressive": made("JPEG", progressive=True),
    "image/gif": made("GIF"),
    "image/webp; lossy": made("WEBP"),
    "image/webp; lossless": made("WEBP", lossless=True),
    "image/webp; with metadata": made("WEBP", exif=b"Exif\x00\x00II*\x00\x08\x00\x00\x00\x00\x00"),
}
PNG = FILES["image/png"]
TEXT = base64.b64encode(PNG).decode()
URI = f"data:image/png;base64,{TEXT}"


def bomb():
    """Return a valid PNG of a few kB that unpacks to 10 GB."""
    chunks = [
        (b"IHDR", struct.pack(">IIBBBBB", 60_000, 60_000, 8, 2, 0, 0, 0)),
        (b"IDAT", zlib.compress(bytes(10**6))),
        (b"IEND", b""),
    ]
    packed = (
        struct.pack(">I", len(data)) + kind + data + struct.pack(">I", zlib.crc32(kind + data)) for kind, data in chunks
    )
    return b"\x89PNG\r\n\x1a\n" + b"".join(packed)


def test_files_of_all_four_kinds_are_read_by_their_header(tmp_path):
    for kind, data in FILES.items():
        path = tmp_path / "picture.bin"  # the name says nothing
        path.write_bytes(data)
        found = read_image(path, part="question")
        assert (found.media_type, found.part, found.data) == (kind.partition(";")[0], "question", data)
        assert read_image(str(path)).part == "context"
        assert read_image(data).data == data
        assert read_image(f"data:{found.media_type};base64,{base64.encodebytes(data).decode()}").data == data
    assert read_image("https://x.test/a.png").url == "https://x.test/a.png"


def test_what_is_no_image_is_too_large_or_would_unpack_to_too_much_is_refused(tmp_path):
    wrong = {
        b"": "no PNG, JPEG, GIF or WebP image",
        b"<svg xmlns='http://www.w3.org/2000/svg'/>": "no PNG, JPEG, GIF or WebP image",
        b"%PDF-1.7": "no PNG, JPEG, GIF or WebP image",
        PNG[: len(PNG) // 2]: "damaged or cut off",
        FILES["image/jpeg"][:-2]: "damaged or cut off",
        FILES["image/webp; lossy"][:25]: "damaged or cut off",
        b"\xff\xd8\xff" + b"\xff" * 200_000: "damaged or cut off",
        b"GIF89a\x00\x00\x00\x00;": "damaged or cut off",
        bomb(): "60,000 x 60,000 pixels; at most 64,000,000",
        b"GIF89a" + b"\xff" * 4 + b";": "65,535 x 65,535 pixels",
        PNG + bytes(MAX_BYTES): "larger than 20,971,520 bytes",
    }
    for data, said in wrong.items():
        with pytest.raises(InputError, match=said):
            read_image(data)
    assert len(bomb()) < 5_000
    (tmp_path / "large.png").write_bytes(PNG + bytes(MAX_BYTES))
    with pytest.raises(InputError, match=r"large\.png: the image is larger"):
        read_image(tmp_path / "large.png")


def test_sources_that_are_no_file_and_no_safe_address_are_refused(tmp_path):
    os.mkfifo(tmp_path / "pipe")
    sources = [
        tmp_path / "missing.png",
        tmp_path,
        tmp_path / "pipe",
        "http://x.test/a.png",
        "file:///etc/passwd",
        "ftp://x.test/a.png",
        "https://user:secret@x.test/a.png",
        "https://x.test/a b.png",
        "data:image/png,abc",
        "data:image/png;base64,@@@",
        "data:image/png;base64,A===",
        "data:text/html;base64,PGI+",
        "gs://bucket/a.png",
        "javascript:alert(1)",
        "a\x00b",
    ]
    for source in sources:
        with pytest.raises(InputError) as raised:
            read_image(source)
        assert "secret" not in str(raised.value) or "https:" in str(raised.value)
        assert str(tmp_path) not in str(raised.value)  # paths of the machine stay out of records
    with pytest.raises(InputError, match="larger"):
        read_image("data:image/png;base64," + "A" * (2 * MAX_BYTES))


BLOCKS = {
    "LangChain": {"type": "image", "base64": TEXT, "mime_type": "image/png"},
    "LangChain, older": {"type": "image", "source_type": "base64", "data": TEXT, "mime_type": "image/png"},
    "OpenAI": {"type": "image_url", "image_url": {"url": URI}},
    "OpenAI, text": {"type": "image_url", "image_url": URI},
    "OpenAI, responses": {"type": "input_image", "image_url": URI},
    "Anthropic": {"type": "image", "source": {"type": "base64", "media_type": "image/png", "data": TEXT}},
    "Gemini": {"inlineData": {"mimeType": "image/png", "data": TEXT}},
    "LlamaIndex": {"block_type": "image", "image": TEXT},
}


def test_blocks_of_all_vendors_are_images_of_the_case():
    for name, block in BLOCKS.items():
        asked = [("user", "hi"), HumanMessage([{"type": "text", "text": "What is red?"}, block])]
        case = default_case(Run(inputs={"messages": asked}, outputs={"messages": [*asked, AIMessage("The box.")]}))
        assert (case.question, case.answer) == ("What is red?", "The box."), name
        assert [(one.media_type, one.part, one.data) for one in case.images] == [("image/png", "question", PNG)], name
    shown = ChatMessage(role="user", blocks=[TextBlock(text="What?"), ImageBlock(image=PNG)])
    assert [one.data for one in images_of([shown])] == [PNG]
    result = ToolMessage([BLOCKS["Anthropic"]], tool_call_id="1")
    parts = [one.part for one in images_of([("user", "Draw."), result, AIMessage([BLOCKS["LangChain"]])])]
    assert parts == ["context", "answer"]
    earlier = [HumanMessage([BLOCKS["OpenAI"]]), AIMessage("Red."), HumanMessage("And now?")]
    assert images_of(earlier) == ()  # only those of the last turn


def test_an_image_that_is_not_in_its_message_is_refused_and_not_left_out():
    for block in (
        {"type": "image", "file_id": "file-1"},
        {"type": "image", "path": "/etc/passwd"},
        {"type": "image_url"},
        {"type": "image_url", "image_url": {"url": "file:///etc/passwd"}},
        {"type": "image", "base64": "AAAA"},
    ):
        with pytest.raises(InputError, match="a message has an image"):
            default_case(Run(inputs={"messages": [HumanMessage([{"type": "text", "text": "?"}, block])]}, outputs="x"))


def test_rows_hold_images_as_texts_blocks_or_as_a_case_is_written():
    written = json.loads(Case(answer="x", images=[read_image(PNG, part="answer")]).model_dump_json())["images"]
    for images in (URI, [URI], [BLOCKS["OpenAI"]], written):
        case = case_of_row({"question": "?", "answer": "Red.", "images": images, "topic": "box"})
        assert [one.data for one in case.images] == [PNG]
        assert dict(case.metadata) == {"topic": "box"}
    assert case.images[0].part == "answer"
    assert case_of_row({"answer": "x", "images": ["https://x.test/a.png"]}).images[0].url
    assert case_of_row({"answer": "x", "images": ""}).images == ()
    for images in ("/etc/passwd", "a.png", [7], {"path": "a.png"}, "http://x.test/a.png"):
        with pytest.raises(InputError):
            case_of_row({"answer": "x", "images": images})


def test_a_critic_sees_the_image_of_a_field_that_its_prompt_shows():
    model = ScriptedModel(['{"reasoning": "", "answer": "YES"}'])
    case = Case(question="What is red?", answer="The box.", contexts=["A picture."], images=[read_image(PNG)])
    assert Critic(model, "faithfulness").judge(case).passed
    assert model.prompts[0].turns[-1].images == case.images
    address = case.but(images=[read_image("https://x.test/a.png")])
    assert Critic(model, "faithfulness").judge(address).reasoning.startswith("image 1 is at an address")
    assert "iVBOR" not in repr(case)
