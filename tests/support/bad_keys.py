"""Keys and addresses that cannot be sent or would be stored, and what their refusal tells."""

import pytest

from jury_adapters import ConfigurationError

SECRET = "s3cr3t-0123456789"
BAD = {
    "line feed": f"{SECRET}\n",
    "carriage return": f"{SECRET}\r\nX-Header: 1",
    "not ASCII": f"{SECRET}é",
    "a blank at its end": f"{SECRET} ",
    "a control character": f"{SECRET}\x07abc",
}
ADDRESSES = {"with a password": f"http://me:{SECRET}@localhost:1/v1", "with a name": f"https://{SECRET}@localhost:1"}
QUERIES = {
    "with a query": f"http://localhost:1/v1?api_key={SECRET}",
    "with a fragment": f"http://localhost:1/v1#{SECRET}",
    "with a query and no path": f"http://localhost:1?{SECRET}",
}


def refusal(make, monkeypatch, **given):
    with pytest.raises(ConfigurationError) as caught:
        make(monkeypatch, **given)
    texts, error = [], caught.value
    while error is not None:
        texts.append(f"{error!r} {error}")
        error = error.__cause__ or error.__context__
    return "\n".join(texts)
