"""Chromium driven over its debugging pipe: real keys, narrow windows, media, paper, and what screen readers get."""

import base64
import fcntl
import json
import os
import shutil
import signal
from contextlib import contextmanager
from itertools import count

KEYS = {"Tab": 9, "Enter": 13, "Escape": 27, " ": 32, "ArrowDown": 40, "ArrowUp": 38}


@contextmanager
def chromium(room):
    """Yield a blank tab of a new browser with a fresh profile in this folder."""
    browser = shutil.which("chromium")
    assert browser is not None, "install chromium to run the tests in a browser"
    (commands_out, commands_in), (events_out, events_in) = _pipe(), _pipe()
    options = ("--headless", "--no-sandbox", "--disable-gpu", "--disable-background-networking", "--hide-scrollbars",
               "--remote-debugging-pipe", f"--user-data-dir={room / 'profile'}", "about:blank")  # fmt: skip
    actions = [
        (os.POSIX_SPAWN_OPEN, 1, os.devnull, os.O_WRONLY, 0), (os.POSIX_SPAWN_OPEN, 2, os.devnull, os.O_WRONLY, 0),
        (os.POSIX_SPAWN_DUP2, commands_out, 3), (os.POSIX_SPAWN_DUP2, events_in, 4),
    ]  # fmt: skip
    pid = os.posix_spawn(browser, [browser, *options], os.environ, file_actions=actions, setpgroup=0)
    os.close(commands_out)
    os.close(events_in)
    try:
        with os.fdopen(commands_in, "wb", buffering=0) as commands, os.fdopen(events_out, "rb") as events:
            yield Tab(commands, events)
    finally:
        os.killpg(pid, signal.SIGKILL)
        os.waitpid(pid, 0)


class Tab:
    """A tab of the browser."""

    def __init__(self, commands, events):
        self._commands, self._events, self._ids, self._session = commands, events, count(1), None
        target = self.call("Target.createTarget", url="about:blank")["targetId"]
        self._session = self.call("Target.attachToTarget", targetId=target, flatten=True)["sessionId"]
        self.call("Page.enable")

    def call(self, method, **parameters):
        """Call a method of the DevTools protocol, and return its result."""
        number = next(self._ids)
        message = {"id": number, "method": method, "params": parameters}
        if self._session:
            message["sessionId"] = self._session
        self._commands.write(json.dumps(message).encode() + b"\0")
        answer = self._next(lambda told: told.get("id") == number)
        assert "error" not in answer, answer
        return answer["result"]

    def open(self, path, *, width=1280, height=900, dark=False):
        """Show a file in a window of this size."""
        self.call("Emulation.setDeviceMetricsOverride", width=width, height=height, deviceScaleFactor=1, mobile=False)
        scheme = {"name": "prefers-color-scheme", "value": "dark" if dark else "light"}
        self.call("Emulation.setEmulatedMedia", features=[scheme])
        self.call("Page.navigate", url=path.as_uri())
        self._next(lambda told: told.get("method") == "Page.loadEventFired")

    def run(self, expression):
        """Return the value of an expression of the page; functions of its script can be called."""
        told = self.call("Runtime.evaluate", expression=expression, returnByValue=True, awaitPromise=True)
        assert "exceptionDetails" not in told, told["exceptionDetails"]
        return told["result"].get("value")

    def wait_for(self, expression):
        """Wait until an expression of the page holds."""
        for _ in range(250):
            if self.run(expression):
                return
            self.run("new Promise((done) => setTimeout(done, 20))")
        raise AssertionError(f"this does not come true: {expression}")

    def press(self, *keys):
        """Press keys, as somebody at a keyboard does."""
        for key in keys:
            shift = 8 if key.startswith("Shift+") else 0
            name = key.removeprefix("Shift+")
            told = {"key": name, "code": "Space" if name == " " else name, "modifiers": shift,
                    "windowsVirtualKeyCode": KEYS[name]}  # fmt: skip
            text = {"Enter": "\r", " ": " "}.get(name)
            self.call("Input.dispatchKeyEvent", type="keyDown", **told, **({"text": text} if text else {}))
            self.call("Input.dispatchKeyEvent", type="keyUp", **told)

    def type(self, text):
        """Type a text where the focus is, letter by letter."""
        for letter in text:
            self.call("Input.dispatchKeyEvent", type="keyDown", key=letter, text=letter)
            self.call("Input.dispatchKeyEvent", type="keyUp", key=letter)

    def picture(self, path, *, whole=False):
        """Write a picture of the window, or of the whole page."""
        taken = self.call("Page.captureScreenshot", captureBeyondViewport=whole, **self._clip(whole))
        path.write_bytes(base64.b64decode(taken["data"]))

    def paper(self):
        """Return the page as a PDF file."""
        return base64.b64decode(self.call("Page.printToPDF", printBackground=False)["data"])

    def accessible(self):
        """Return what screen readers get: the role, the name and the other properties of each element."""
        nodes = self.call("Accessibility.getFullAXTree")["nodes"]
        return [
            {
                "role": node.get("role", {}).get("value"),
                "name": node.get("name", {}).get("value", ""),
                **{one["name"]: one["value"].get("value") for one in node.get("properties", ())},
            }
            for node in nodes
            if not node["ignored"]
        ]

    def _clip(self, whole):
        if not whole:
            return {}
        size = self.call("Page.getLayoutMetrics")["cssContentSize"]
        return {"clip": {"x": 0, "y": 0, "width": size["width"], "height": size["height"], "scale": 1}}

    def _next(self, wanted):
        while True:
            told = json.loads(self._message())
            if wanted(told):
                return told

    def _message(self):
        found = bytearray()
        while (byte := self._events.read(1)) != b"\0":
            assert byte, "the browser has ended"
            found += byte
        return bytes(found)


def _pipe():
    """Return a pipe whose two ends have high numbers, so that they are not those that the browser gets."""
    ends = os.pipe()
    high = tuple(fcntl.fcntl(end, fcntl.F_DUPFD_CLOEXEC, 10) for end in ends)
    for end in ends:
        os.close(end)
    return high
