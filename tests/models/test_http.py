"""The HTTP module's own parts: encoding, decompression, parsing. tests/models/test_wire_*.py has it over real HTTP."""

import gzip
import json
import subprocess
import sys
import zlib

import pytest
from hypothesis import given
from hypothesis import strategies as st

from jury_adapters import ModelError
from jury_adapters.core.secrets import without_keys
from jury_adapters.models.http import MAX_BODY_BYTES, EncodedDict, EncodedList, Endpoint, encode_body, parse_json
from jury_adapters.models.http import _decompress as decompress

VALUES = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False) | st.text(),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(), inner, max_size=4),
    max_leaves=12,
)


@pytest.mark.slow
@given(st.dictionaries(st.from_regex(r"[a-z_]{1,8}", fullmatch=True), VALUES, max_size=6), st.booleans())
def test_a_body_means_the_same_however_it_is_encoded(body, shared):
    encoded = {
        name: EncodedList.of(value)
        if shared and isinstance(value, list)
        else EncodedDict.of(value)
        if shared and isinstance(value, dict)
        else value
        for name, value in body.items()
    }
    assert json.loads(encode_body(encoded)) == body


def test_a_body_is_as_compact_as_the_sdks_write_it():
    body = {"model": "m", "messages": EncodedList.of([{"role": "user", "content": "é"}])}
    assert encode_body(body) == '{"model":"m","messages":[{"role":"user","content":"é"}]}'


def test_a_number_that_json_does_not_have_is_refused():
    with pytest.raises(ValueError, match="JSON compliant"):
        encode_body({"temperature": float("nan")})


@pytest.mark.parametrize("pack", [
    lambda data: gzip.compress(data, mtime=0),
    zlib.compress,
    lambda data: zlib.compress(data)[2:-4],  # without the header of zlib, as some servers send it
])  # fmt: skip
def test_what_was_compressed_is_read(pack):
    data = json.dumps({"x": "y" * 10_000}).encode()
    packed = pack(data)
    assert decompress(packed, "gzip" if packed[:1] == b"\x1f" else "deflate", 2**20) == data


@pytest.mark.parametrize("size", [0, 1, 99, 100])
def test_a_body_up_to_the_limit_is_read_and_a_longer_one_is_not(size):
    assert decompress(gzip.compress(b"x" * size), "gzip", 100) == b"x" * size
    with pytest.raises(ModelError, match="larger than") as caught:
        decompress(gzip.compress(b"x" * 101), "gzip", 100)
    assert caught.value.kind == "broken_body"


@pytest.mark.parametrize(
    ("body", "coding"),
    [
        (b"", "gzip"),
        (b"plain", "gzip"),
        (gzip.compress(b"x" * 99, mtime=0)[:-9], "gzip"),
        (b"\xff", "deflate"),
        (b"x", "br"),
    ],
)
def test_what_cannot_be_decompressed_is_broken(body, coding):
    with pytest.raises(ModelError) as caught:
        decompress(body, coding, 1000)
    assert caught.value.kind == "broken_body"


@pytest.mark.parametrize("body", [b"", b"{", b"\xff", b"[" * 100_000, b"{'a': 1}", b"<html>"])
def test_what_is_not_json_is_broken_and_says_so_briefly(body):
    with pytest.raises(ModelError) as caught:
        parse_json(body, without_keys)
    assert caught.value.kind == "broken_body"
    assert len(str(caught.value)) < 1000


def test_an_integer_of_too_many_digits_does_not_cost_the_reply():
    assert parse_json(b'{"reply": "YES", "usage": 1%s}' % (b"0" * 6000), without_keys)["reply"] == "YES"


def test_an_endpoint_never_shows_its_headers():
    assert "sk-secret" not in repr(Endpoint("http://x/v1", {"authorization": "Bearer sk-secret"}))


def test_the_limit_is_32_mib():
    assert MAX_BODY_BYTES == 32 * 1024 * 1024


@pytest.mark.slow
def test_neither_aiohttp_nor_an_sdk_is_loaded_before_the_first_request():
    code = (
        "import sys, jury_adapters\nfrom jury_adapters import Critic\n"
        "Critic('openai:m', 'faithfulness', name='t', api_key='x')\n"
        "print([name for name in ('aiohttp', 'openai', 'httpx', 'httpx2', 'yarl') if name in sys.modules])"
    )
    found = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert found.stdout.strip() == "[]"
