"""Judge through a fault, and count."""

from __future__ import annotations

import asyncio
import os
import ssl
import threading
from collections import Counter
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from pathlib import Path
from time import perf_counter

from jury_adapters import Ensemble, Judge, Limits
from tests.reliability.faults import FALLBACK, Fault, Plan
from tests.reliability.panel import JURORS, LIMITS, cases, critic, critics, truth
from tests.support.vendor import VendorServer

CERTIFICATE = Path(__file__).parents[1] / "data" / "localhost.pem"


@dataclass(frozen=True)
class Run:
    """Result of judging through a fault.

    Attributes:
        fault: its name.
        injected: how often it occurred.
        requests: how many requests the server got.
        expected: the required number of judgments.
        delivered: how many of these are valid.
        right: how many of these are right.
        duplicated: judgments beyond one for each juror and case.
        by_fallbacks: judgments by a fallback.
        seconds: wall time.
    """

    fault: str
    injected: int
    requests: int
    expected: int
    delivered: int
    right: int
    duplicated: int
    by_fallbacks: int
    seconds: float

    @property
    def lost(self) -> int:
        return self.expected - self.delivered

    @property
    def retries(self) -> int:
        """Requests beyond one for each judgment."""
        return self.requests - self.expected

    @property
    def kept(self) -> bool:
        """Whether nothing is lost, wrong or there twice."""
        return self.lost == self.duplicated == 0 and self.right == self.expected


def run(fault: Fault, count: int, *, in_flight: int = 64) -> Run:
    """Judge ``count`` cases by a panel of three, while the vendors fail."""
    plan = Plan(fault)
    with ExitStack() as stack:
        if fault.tls:
            server = stack.enter_context(VendorServer(plan, tls=_server_tls()))
            front = stack.enter_context(_breaking_handshakes(server))
            stack.enter_context(_trusted())
            jury = _panel(fault, f"{front.url}/v1", front.url)
        else:
            server, front = stack.enter_context(VendorServer(plan)), None
            jury = _panel(fault, server.openai, server.anthropic)
        started = perf_counter()
        verdicts = list(jury.judge_many(cases(count), max_concurrency=in_flight))
        seconds = perf_counter() - started
        requests = server.count
    seats = Counter((number, j.critic) for number, verdict in enumerate(verdicts) for j in verdict.judgments)
    given = {(n, j.critic): j.status for n, verdict in enumerate(verdicts) for j in verdict.judgments if j.valid}
    broken = front.broken if front else 0
    return Run(
        fault=fault.name,
        injected=plan.injected + broken,
        requests=requests + broken,
        expected=count * JURORS,
        delivered=len(given),
        right=sum(status is truth(number) for (number, _), status in given.items()),
        duplicated=sum(times - 1 for times in seats.values()) + max(0, len(verdicts) - count),
        by_fallbacks=sum(len(verdict.fallbacks_used) for verdict in verdicts),
        seconds=seconds,
    )


def _panel(fault: Fault, openai_url: str, anthropic_url: str) -> Ensemble:
    limits = Limits(attempts=3, open_after=3, cooldown_s=0.2) if fault.down else LIMITS
    jurors: list[Judge] = list(critics(openai_url, anthropic_url, timeout=fault.timeout, limits=limits))
    if fault.fallbacks:
        fallback = critic(f"openai:{FALLBACK}", openai_url)
        jurors = [juror.with_fallbacks([fallback]) for juror in jurors]
    return Ensemble(jurors)


def _server_tls() -> ssl.SSLContext:
    context = ssl.create_default_context(ssl.Purpose.CLIENT_AUTH)
    context.load_cert_chain(CERTIFICATE)
    return context


@contextmanager
def _trusted() -> Iterator[None]:
    """Trust the local server's certificate."""
    before = os.environ.get("SSL_CERT_FILE")
    os.environ["SSL_CERT_FILE"] = str(CERTIFICATE)
    try:
        yield
    finally:
        if before is None:
            del os.environ["SSL_CERT_FILE"]
        else:
            os.environ["SSL_CERT_FILE"] = before


class _Front:
    """Passes connections on to a server, and breaks every third one in the middle of the handshake."""

    def __init__(self, port: int) -> None:
        self.broken = 0
        self.url = ""
        self._count = 0
        self._port = port
        self._open: set[asyncio.StreamWriter] = set()

    async def start(self) -> asyncio.Server:
        server = await asyncio.start_server(self._passed_on, "127.0.0.1", 0, backlog=1024)
        self.url = f"https://127.0.0.1:{server.sockets[0].getsockname()[1]}"
        return server

    async def _passed_on(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        self._count += 1
        if self._count % 3 == 1:
            self.broken += 1
            await reader.read(100)
            writer.write(b"this is no handshake" if self.broken % 2 else b"")
            writer.close()
            return
        inner_reader, inner_writer = await asyncio.open_connection("127.0.0.1", self._port)
        self._open |= {writer, inner_writer}
        await asyncio.gather(_pipe(reader, inner_writer), _pipe(inner_reader, writer))
        self._open -= {writer, inner_writer}

    async def close(self) -> None:
        """Close what is still open, so that all pipes come to their end."""
        while self._open:
            for writer in self._open:
                writer.close()
            await asyncio.sleep(0.01)


async def _pipe(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
    try:
        while data := await reader.read(2**16):
            writer.write(data)
            await writer.drain()
    except ConnectionError:
        return
    finally:
        writer.close()


@contextmanager
def _breaking_handshakes(server: VendorServer) -> Iterator[_Front]:
    """The front of a TLS server, in a thread of its own."""
    front = _Front(int(server.url.rpartition(":")[2]))
    ready = threading.Event()
    loop: asyncio.AbstractEventLoop
    stop: asyncio.Event

    async def serve() -> None:
        nonlocal loop, stop
        loop, stop = asyncio.get_running_loop(), asyncio.Event()
        started = await front.start()
        ready.set()
        await stop.wait()
        started.close()
        await front.close()

    thread = threading.Thread(target=lambda: asyncio.run(serve()), daemon=True)
    thread.start()
    ready.wait(10)
    try:
        yield front
    finally:
        loop.call_soon_threadsafe(stop.set)
        thread.join(10)
