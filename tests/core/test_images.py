"""Images of a case: sources, limits, hostile files, records, and rows."""

import base64
import json
import os
import pickle
import random
import struct
from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st
from support.examples import examples
from support.pictures import claimed_png, data_url, encoded, gif, png

from jury_adapters import Case, ConfigurationError, Image, InputError, Status
from jury_adapters.checks import FinalAnswer, NotEmpty
from jury_adapters.core.image_headers import read_header
from jury_adapters.core.images import MAX_IMAGE_BYTES

JPEG = base64.b64decode(
    "/9j/4AAQSkZJRgABAQAAAQABAAD/2wBDAP//////////////////////////////////////////////////////////////////////////////"
    "////////wAALCAACAAMBAREA/8QAFAABAAAAAAAAAAAAAAAAAAAACv/EABQQAQAAAAAAAAAAAAAAAAAAAAD/2gAIAQEAAD8AfwD/2Q=="
)


def webp(kind, chunk):
    return b"RIFF" + struct.pack("<I", 12 + len(chunk)) + b"WEBP" + kind + struct.pack("<I", len(chunk)) + chunk


WEBP_LOSSY = webp(b"VP8 ", b"\0\0\0\x9d\x01\x2a" + struct.pack("<HH", 3, 2) + b"\0" * 8)
WEBP_LOSSLESS = webp(b"VP8L", b"\x2f" + struct.pack("<I", 2 | 1 << 14) + b"\0" * 9)
WEBP_EXTENDED = webp(b"VP8X", b"\0" * 4 + (2).to_bytes(3, "little") + (1).to_bytes(3, "little"))
FILES = {
    "image/png": png(), "image/jpeg": JPEG, "image/gif": gif(), "lossy": WEBP_LOSSY, "lossless": WEBP_LOSSLESS,
    "extended": WEBP_EXTENDED,
}  # fmt: skip


@pytest.mark.parametrize("kind", FILES)
def test_type_and_size_are_those_of_the_header(kind):
    image = Image(base64=encoded(FILES[kind]))
    assert image.mime_type == (kind if kind.startswith("image/") else "image/webp")
    assert (image.width, image.height) == (3, 2)


def test_file_text_and_data_url_are_the_same_image(tmp_path):
    (tmp_path / "chart.png").write_bytes(png())
    images = {
        Image(path=tmp_path / "chart.png"), Image(base64=encoded(png())), Image(url=data_url(png())),
        Image(base64=base64.encodebytes(png()).decode(), mime_type="image/png"),
    }  # fmt: skip
    assert len(images) == 1


def test_a_copy_with_another_role_is_valid():
    assert replace(Image(base64=encoded(png())), role="answer").role == "answer"


# What is refused


@pytest.mark.parametrize(
    "sources",
    [
        {}, {"base64": encoded(png()), "url": "https://example.org/a.png"}, {"url": "file:///etc/passwd"},
        {"url": "ftp://example.org/a.png"}, {"url": "https://user:secret@example.org/a.png"}, {"url": "javascript:1"},
        {"url": "https://example.org/a b"}, {"url": "data:text/html;base64,AAAA"}, {"url": "data:image/png,raw"},
        {"base64": "not base64!"}, {"base64": encoded(b"%PDF-1.7 no image")}, {"base64": ""}, {"path": "missing.png"},
        {"base64": encoded(png()), "mime_type": "image/jpeg"}, {"base64": encoded(png()), "role": "caption"},
        {"digest": "sha256:short"}, {"base64": 5}, {"path": "a\0b"},
    ],
)  # fmt: skip
def test_wrong_sources_are_refused_without_showing_secrets(sources):
    with pytest.raises(ConfigurationError) as refused:
        Image(**sources)
    assert "secret" not in str(refused.value)


@pytest.mark.parametrize("kind", FILES)
def test_a_file_that_is_cut_off_is_refused(kind):
    data = FILES[kind]
    for length in range(4, len(data) - 12):
        with pytest.raises(ConfigurationError):
            Image(base64=encoded(data[:length]))


def test_a_bomb_is_refused_by_its_header():
    with pytest.raises(ConfigurationError, match="60,000 x 60,000 pixels"):
        Image(base64=encoded(claimed_png(60_000, 60_000)))


def test_a_file_of_100_megabytes_is_refused_unread(tmp_path):
    large = tmp_path / "large.png"
    with large.open("wb") as file:
        file.write(png())
        file.truncate(100_000_000)
    with pytest.raises(ConfigurationError, match="larger than 20 MiB"):
        Image(path=large)


def test_a_text_of_30_megabytes_is_refused_undecoded():
    with pytest.raises(ConfigurationError, match="larger than 20 MiB"):
        Image(base64="A" * (MAX_IMAGE_BYTES * 3 // 2 + 1))


def test_a_pipe_and_a_folder_are_refused_without_waiting(tmp_path):
    os.mkfifo(tmp_path / "pipe.png")
    for path in (tmp_path / "pipe.png", tmp_path, "/dev/zero"):
        with pytest.raises(ConfigurationError, match=r"not a regular file|cannot be read"):
            Image(path=path)


@given(st.binary(max_size=200), st.sampled_from([b"\x89PNG\r\n\x1a\n", b"\xff\xd8\xff", b"GIF89a", b"RIFF", b""]))
@examples(400)
def test_no_file_raises_anything_else(data, begins):
    try:
        header = read_header(begins + data)
    except ConfigurationError:
        return
    assert header.width > 0
    assert header.height > 0


@pytest.mark.parametrize("kind", FILES)
def test_damage_never_raises_anything_else(kind):
    chance = random.Random(3)
    for _ in range(300):
        data = bytearray(FILES[kind])
        for _ in range(chance.randint(1, 4)):
            data[chance.randrange(len(data))] = chance.randrange(256)
        try:
            Image(base64=encoded(bytes(data)))
        except ConfigurationError:
            continue


# Records


def test_a_case_is_recorded_without_the_image(tmp_path):
    (tmp_path / "private name.png").write_bytes(png())
    case = Case(question="?", answer="!", attachments=[Image(path=tmp_path / "private name.png", role="question")])
    text = case.model_dump_json()
    assert "private name" not in text
    assert encoded(png()) not in text
    back = Case.model_validate_json(text)
    assert back.content_hash == case.content_hash
    assert not back.attachments[0].is_at_hand
    assert encoded(png()) not in repr(case)


def test_the_key_of_a_case_is_that_of_its_images_content(tmp_path):
    for name, shade in (("a.png", 1), ("b.png", 1), ("c.png", 2)):
        (tmp_path / name).write_bytes(png(shade=shade))
    a, b, c = (Case(answer="!", attachments=[Image(path=tmp_path / name)]) for name in ("a.png", "b.png", "c.png"))
    assert a.content_hash == b.content_hash != c.content_hash
    other_role = Case(answer="!", attachments=[Image(path=tmp_path / "a.png", role="answer")])
    assert other_role.content_hash != a.content_hash


def test_a_case_with_images_survives_pickling_and_copying():
    case = Case(question="?", attachments=[Image(base64=encoded(png()))])
    assert pickle.loads(pickle.dumps(case)) == case
    assert case.model_copy(update={"answer": "!"}).attachments == case.attachments


def test_wrong_attachments_are_refused_with_the_fix():
    with pytest.raises(ValueError, match="a list of images"):
        Case(answer="!", attachments="chart.png")
    with pytest.raises(ValueError, match=r"'pth'.*Did you mean 'path'"):
        Case(answer="!", attachments=[{"pth": "chart.png"}])


# Rows


def read(row, folder=None):
    return Case.from_row({"question": "?", "answer": "!", **row}, image_folder=folder).attachments


@pytest.mark.parametrize("data", [png() + b"film" * 5000, JPEG + b"film" * 5000, WEBP_LOSSY + b"x" * 5000])
def test_data_after_the_end_is_kept(data):
    assert Image(base64=encoded(data)).base64 == encoded(data)


@pytest.mark.parametrize("head", ["data:image/png;charset=utf-8;base64,", "DATA:IMAGE/PNG;BASE64,"])
def test_data_urls_may_have_parameters_and_capitals(head):
    assert Image(url=head + encoded(png())) == Image(base64=encoded(png()))


def test_images_in_the_parts_of_a_run_are_read_with_the_role_of_their_part():
    row = {"inputs": {"question": "?", "images": [data_url(png())]}, "outputs": {"answer": "!", "images": {
        "base64": encoded(png()), "role": "context"}}}  # fmt: skip
    assert [image.role for image in Case.from_row(row).attachments] == ["question", "context"]
    row = {"inputs": {"question": "?", "images": ["a.png"]}, "outputs": {"answer": "!"}}
    assert "local image" in Case.from_row(row).attachments[0].problem
    row = {"inputs": {"question": "?", "images": 3}, "outputs": {"answer": "!"}}
    assert Case.from_row(row).metadata["images"] == 3


@pytest.mark.parametrize("form", ["inline_data", "inlineData"])
def test_parts_of_gemini_are_read(form):
    kind = "mime_type" if form == "inline_data" else "mimeType"
    parts = [{"text": "What is this?"}, {form: {kind: "image/png", "data": encoded(png())}}]
    case = Case.from_messages([{"role": "user", "parts": parts}, {"role": "model", "parts": [{"text": "A chart."}]}])
    assert (case.question, case.answer) == ("What is this?", "A chart.")
    assert case.attachments == (Image(base64=encoded(png()), role="question"),)


BLOCKS = {
    "data URL": data_url(png()),
    "own fields": {"base64": encoded(png()), "role": "context"},
    "LangChain": {"type": "image", "base64": encoded(png()), "mime_type": "image/png"},
    "LangChain, older": {"type": "image", "source_type": "base64", "data": encoded(png()), "mime_type": "image/png"},
    "OpenAI": {"type": "image_url", "image_url": {"url": data_url(png())}},
    "OpenAI, responses": {"type": "input_image", "image_url": data_url(png())},
    "Anthropic": {"type": "image", "source": {"type": "base64", "media_type": "image/png", "data": encoded(png())}},
    "LlamaIndex": {"block_type": "image", "image": encoded(png()), "image_mimetype": "image/png"},
}


@pytest.mark.parametrize("form", BLOCKS)
def test_every_form_of_a_row_is_read(form):
    assert read({"images": [BLOCKS[form]]}) == (Image(base64=encoded(png())),)
    assert read({"attachments": BLOCKS[form]}) == (Image(base64=encoded(png())),)


@pytest.mark.parametrize("form", BLOCKS)
def test_a_cell_of_a_table_holds_a_form_as_json(form):
    if form != "data URL":  # which is a text
        assert read({"images": json.dumps(BLOCKS[form])}) == (Image(base64=encoded(png())),)
    cell = json.dumps([BLOCKS[form], {"base64": encoded(png(shade=9)), "role": "answer"}])
    assert read({"images": cell}) == (
        Image(base64=encoded(png())), Image(base64=encoded(png(shade=9)), role="answer")
    )  # fmt: skip


def test_a_path_may_look_like_json_and_an_empty_entry_of_a_list_is_refused(tmp_path):
    (tmp_path / "[1] {new}.png").write_bytes(png())
    assert read({"images": "[1] {new}.png"}, tmp_path) == (Image(base64=encoded(png())),)
    assert read({"images": "[]"}) == read({"images": []}) == ()
    for wrong in ("[5]", [5], '["[1] {new}.png", ""]', ["[1] {new}.png", " "]):
        with pytest.raises(
            InputError, match=r"an image is a path, an address, or a mapping of its fields, not (5|' ?')"
        ):
            read({"images": wrong}, tmp_path)


@pytest.mark.parametrize("form", [name for name in BLOCKS if name not in ("data URL", "own fields")])
def test_every_form_of_a_message_is_read_with_its_role(form):
    messages = [
        {"role": "user", "content": [{"type": "text", "text": "What is this?"}, BLOCKS[form]]},
        {"role": "assistant", "content": "", "tool_calls": [{"id": "1", "name": "look", "args": {}}]},
        {"role": "tool", "tool_call_id": "1", "content": [BLOCKS[form]]},
        {"role": "assistant", "content": [{"type": "text", "text": "A chart."}, BLOCKS[form]]},
    ]
    roles = ["question", "context", "answer"]
    assert [image.role for image in Case.from_messages(messages).attachments] == roles
    case = Case.from_row({"messages": messages})
    assert [image.role for image in case.attachments] == roles
    assert (case.question, case.answer) == ("What is this?", "A chart.")
    case = Case.from_row({"inputs": {"messages": messages[:1]}, "outputs": {"messages": messages}})
    assert [image.role for image in case.attachments] == roles


def test_an_image_of_a_message_that_cannot_be_used_is_there_with_its_problem():
    for block in (
        {"type": "image", "base64": "AAAA"},
        {"type": "image", "file_id": "file-1"},
        {"type": "image_url", "image_url": {"url": "file:///etc/passwd"}},
        {"type": "image", "path": "/etc/passwd"},
        {"type": "image", "source": {"type": "file", "file_id": "x"}},
    ):
        case = Case.from_messages([{"role": "user", "content": [{"type": "text", "text": "?"}, block]}])
        assert case.attachments[0].problem
        assert not case.attachments[0].is_at_hand


def test_local_paths_of_rows_stay_in_their_folder(tmp_path):
    inside, outside = tmp_path / "rows", tmp_path / "outside.png"
    (inside / "images").mkdir(parents=True)
    (inside / "images" / "a.png").write_bytes(png())
    outside.write_bytes(png(shade=9))
    (inside / "link.png").symlink_to(outside)
    (inside / "good link.png").symlink_to(inside / "images" / "a.png")
    for path in ("images/a.png", "good link.png", str(inside / "images" / "a.png")):
        assert read({"images": [path]}, inside) == (Image(base64=encoded(png())),)
    for path in ("../outside.png", str(outside), "link.png", "images/../../outside.png", "/etc/passwd", "missing.png",
                 "a\0b"):  # fmt: skip
        with pytest.raises(InputError, match=r"outside the folder|there is no image"):
            read({"images": [path]}, inside)
    with pytest.raises(InputError, match="image_folder="):
        read({"images": ["images/a.png"]})
    assert read({"images": [str(outside)]}, "/") == (Image(base64=encoded(png(shade=9))),)


@pytest.mark.parametrize("empty", ["", " ", "\n"])
def test_a_row_with_an_empty_cell_has_no_image(tmp_path, empty):
    assert Case.from_row({"answer": "It is red.", "images": empty}, image_folder=tmp_path).attachments == ()


def test_file_addresses_and_other_entries_are_refused():
    for entry in ("file:///etc/passwd", 5, {"type": "text", "text": "hi"}, {"pth": "x"}, None, b"raw"):
        with pytest.raises(InputError):
            read({"images": [entry]}, "/")


def test_a_row_of_a_record_is_read_back():
    case = Case(answer="!", attachments=[Image(base64=encoded(png())), Image(url="https://example.org/a.png")])
    back = Case.from_row(json.loads(case.model_dump_json(exclude_defaults=True)))
    assert back.content_hash == case.content_hash


@pytest.mark.parametrize("answer", [None, "", "A chart."])
def test_an_answer_that_is_an_image_is_there(answer):
    case = Case(question="Draw it.", answer=answer, attachments=[Image(base64=encoded(png()), role="answer")])
    assert [check.judge(case).status for check in (NotEmpty(), FinalAnswer())] == [Status.PASS] * 2
    assert NotEmpty(of="contexts").judge(case).status is Status.FAIL
    assert NotEmpty(of="contexts").judge(question="?", attachments=[Image(base64=encoded(png()))]).passed


@pytest.mark.parametrize("path", [3, True, b"a.png", ["a.png"]])
def test_a_path_that_is_not_a_path_is_refused(path):
    with pytest.raises(ConfigurationError, match=r"Image\.path is the path of a file, not"):
        Image(path=path)
    with pytest.raises(ValueError, match=r"Image\.path is the path of a file, not"):
        Case(question="?", attachments=[{"path": path}])


@pytest.mark.parametrize("path", ["https://example.org/a.png", "HTTP://example.org/a.png", data_url(png())])
def test_an_address_given_as_a_path_is_refused_with_the_argument_that_takes_it(path):
    with pytest.raises(ConfigurationError, match="give an address or a data: URL as url="):
        Image(path=path)


def test_the_case_of_a_mime_type_does_not_matter():
    assert Image(base64=encoded(png()), mime_type="Image/PNG ") == Image(base64=encoded(png()))
    block = {"type": "image", "base64": encoded(png()), "mime_type": "IMAGE/PNG"}
    case = Case.from_messages([{"role": "user", "content": [block]}, {"role": "assistant", "content": "A chart."}])
    assert [image.problem for image in case.attachments] == [""]


def test_one_mapping_is_not_a_list_of_attachments():
    with pytest.raises(ValueError, match="attachments are a list of images"):
        Case(question="?", attachments={"base64": encoded(png())})


@pytest.mark.parametrize(
    "block",
    [
        {"type": "image", "file_id": "f-1"}, {"type": "image", "base64": 5}, {"type": "input_image", "file_id": "f-1"},
        {"type": "image", "source": {"type": "file", "file_id": "f-1"}}, b"\x89PNG",
    ],
)  # fmt: skip
def test_a_row_with_a_block_without_a_usable_image_is_unreadable(block):
    with pytest.raises(InputError, match=r"image"):
        read({"images": [block]})
    with pytest.raises(InputError, match=r"cannot be used|not bytes"):
        read({"images": block})


def test_images_in_results_of_mcp_tools_are_read():
    result = {"type": "image", "data": encoded(png()), "mimeType": "image/png"}
    assert read({"images": [result]}) == (Image(base64=encoded(png())),)
