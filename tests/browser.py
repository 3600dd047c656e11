"""A headless Chromium for tests: driven over a pipe with the DevTools protocol, no other package needed."""

from __future__ import annotations

import base64
import json
import os
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import Any

NAMES = ("chromium", "chromium-browser", "google-chrome", "chrome")
FLAGS = (
    "--headless", "--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run", "--disable-sync",
    "--disable-background-networking", "--disable-component-update", "--disable-dev-shm-usage", "--hide-scrollbars",
)  # fmt: skip

# Chromium reads commands from descriptor 3 and writes answers to descriptor 4.
CONNECT = (
    "import fcntl, os, sys; high = [fcntl.fcntl(int(fd), fcntl.F_DUPFD, 10) for fd in sys.argv[1:3]]; "
    "os.dup2(high[0], 3); os.dup2(high[1], 4); os.execv(sys.argv[3], sys.argv[3:])"
)


def executable() -> str:
    """Return the path of a Chromium; fail with a message if there is none."""
    found = next(filter(None, map(shutil.which, NAMES)), None)
    assert found is not None, (
        f"The browser tests need Chromium: none of {', '.join(NAMES)} is on the PATH. "
        "On Debian 'apt-get install chromium' provides it; .ci/install-chromium does so for root."
    )
    return found


class Browser:
    """One page of a headless Chromium; a context manager that ends the process."""

    def __init__(self) -> None:
        self._profile = tempfile.TemporaryDirectory(prefix="bootleader-chromium-", ignore_cleanup_errors=True)
        to_browser, self._send = os.pipe()
        self._receive, from_browser = os.pipe()
        command = [executable(), *FLAGS, "--remote-debugging-pipe", f"--user-data-dir={self._profile.name}"]
        self._process = subprocess.Popen(
            [sys.executable, "-ISc", CONNECT, str(to_browser), str(from_browser), *command, "about:blank"],
            pass_fds=(to_browser, from_browser), stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL,
        )  # fmt: skip
        os.close(to_browser)
        os.close(from_browser)
        self._buffer = b""
        self._number = 0
        self._session = ""
        self.requests: list[str] = []
        self.errors: list[str] = []
        try:
            target = self.call("Target.createTarget", url="about:blank")["targetId"]
            self._session = self.call("Target.attachToTarget", targetId=target, flatten=True)["sessionId"]
            for domain in ("Page", "Network", "Runtime", "Log"):
                self.call(f"{domain}.enable")
        except BaseException:
            self.close()
            raise

    def __enter__(self) -> Browser:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def close(self) -> None:
        """End the browser."""
        self._process.terminate()
        self._process.wait(30)
        os.close(self._send)
        os.close(self._receive)
        self._profile.cleanup()

    def call(self, method: str, **parameters: Any) -> Any:
        """Send a command and return its result; events that arrive before it are recorded."""
        self._number += 1
        message: dict[str, Any] = {"id": self._number, "method": method, "params": parameters}
        if self._session:
            message["sessionId"] = self._session
        os.write(self._send, json.dumps(message).encode() + b"\0")
        while True:
            answer = self._next()
            if answer.get("id") == self._number:
                assert "error" not in answer, answer["error"]
                return answer["result"]

    def _next(self) -> dict[str, Any]:
        while b"\0" not in self._buffer:
            read = os.read(self._receive, 1 << 20)
            assert read, "Chromium ended unexpectedly"
            self._buffer += read
        message, self._buffer = self._buffer.split(b"\0", 1)
        found: dict[str, Any] = json.loads(message)
        if found.get("method") == "Network.requestWillBeSent":
            self.requests.append(found["params"]["request"]["url"])
        if found.get("method") in ("Runtime.exceptionThrown", "Log.entryAdded"):
            self.errors.append(json.dumps(found["params"]))
        return found

    def open(self, path: Path, width: int, height: int = 900, dark: bool = False) -> None:
        """Load a file at a window size, in light or dark mode."""
        scheme = {"name": "prefers-color-scheme", "value": "dark" if dark else "light"}
        self.call("Emulation.setEmulatedMedia", features=[scheme])
        self.call(
            "Emulation.setDeviceMetricsOverride", width=width, height=height, deviceScaleFactor=1, mobile=width < 600
        )
        self.call("Page.navigate", url=path.resolve().as_uri())
        while self._next().get("method") != "Page.loadEventFired":
            pass

    def evaluate(self, script: str) -> Any:
        """Return the value of a JavaScript expression."""
        answer = self.call("Runtime.evaluate", expression=script, returnByValue=True, awaitPromise=True)
        assert "exceptionDetails" not in answer, answer["exceptionDetails"]
        return answer["result"].get("value")

    def screenshot(self, path: Path, whole: bool = False) -> None:
        """Write a PNG of the window, or of the whole page."""
        answer = self.call("Page.captureScreenshot", format="png", captureBeyondViewport=whole)
        path.write_bytes(base64.b64decode(answer["data"]))
