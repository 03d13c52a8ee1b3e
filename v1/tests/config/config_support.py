"""Jury files of the tests: text that is written to a file and loaded from there, as a user does."""

import json
import threading
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

from jury_adapters import Judge
from jury_adapters.config import load_jury


def write(folder: Path, text: str, name: str = "jury.yaml") -> Path:
    path = folder / name
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text, encoding="utf-8")
    return path


def loaded(folder: Path, text: str, **permissions: bool) -> Judge:
    return load_jury(write(folder, text), **permissions)


def problem(folder: Path, text: str, **permissions: bool) -> str:
    """Return what is wrong with a jury file, without its path; empty if it is loaded."""
    path = write(folder, text)
    try:
        load_jury(path, **permissions)
    except ValueError as error:
        said = str(error)
        assert all(line.startswith(f"{path}") for line in said.splitlines()), said
        return said.replace(f"{path}: ", "").replace(f"{path}, ", "")
    return ""


def members(judge: Any) -> list[Judge]:
    """Return all judges inside a judge that have none inside."""
    return [single for one in judge.members for single in members(one)] if judge.members else [judge]


class Listener:
    """Server on loopback that keeps what it is sent, and answers YES in the protocol of OpenAI."""

    def __enter__(self) -> "Listener":
        received = self.received = []

        class Handler(BaseHTTPRequestHandler):
            def do_POST(self) -> None:
                body = self.rfile.read(int(self.headers["content-length"]))
                received.append(f"{self.path}\n{self.headers}\n{body.decode()}")
                message = {"role": "assistant", "content": '{"reasoning": "so it is", "answer": "YES"}'}
                answer = json.dumps({"choices": [{"finish_reason": "stop", "message": message}]}).encode()
                self.send_response(200)
                self.send_header("content-type", "application/json")
                self.send_header("content-length", str(len(answer)))
                self.end_headers()
                self.wfile.write(answer)

            def log_message(self, *_: object) -> None:
                pass

        self.server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self.url = f"http://127.0.0.1:{self.server.server_port}/v1"
        threading.Thread(target=self.server.serve_forever, args=(0.01,), daemon=True).start()
        return self

    def __exit__(self, *_: object) -> None:
        self.server.shutdown()
        self.server.server_close()
