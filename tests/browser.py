"""A browser for tests: Chromium without a window, driven over a pipe by its own protocol."""

import base64
import itertools
import json
import os
import select
import shlex
import shutil
import subprocess
import time
from pathlib import Path
from typing import Any, Self

CHROMIUM = shutil.which("chromium")

#: Longest wait for an answer or a condition, in seconds.
PATIENCE = 120


class Browser:
    """One page of Chromium. Leave the ``with`` block to end it."""

    def __init__(self, folder: Path) -> None:
        reads, self._to = os.pipe()
        self._from, writes = os.pipe()
        options = shlex.split(
            f"--headless --no-sandbox --disable-gpu --hide-scrollbars --remote-debugging-pipe --user-data-dir={folder}"
        )
        # The protocol has the descriptors 3 and 4.
        script = f'exec "$@" 3<&{reads} 4>&{writes}'
        with (folder / "log").open("w") as log:
            self._process = subprocess.Popen(
                ["bash", "-c", script, "bash", str(CHROMIUM), *options, "about:blank"],
                pass_fds=(reads, writes),
                stdout=log,
                stderr=log,
            )
        os.close(reads)
        os.close(writes)
        self._numbers = itertools.count(1)
        self._rest = b""
        self._session: str | None = None
        self.errors: list[str] = []
        target = self("Target.createTarget", url="about:blank")["targetId"]
        self._session = self("Target.attachToTarget", targetId=target, flatten=True)["sessionId"]
        self("Runtime.enable")
        self("Page.enable")

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self._process.kill()
        self._process.wait()
        os.close(self._to)
        os.close(self._from)

    def __call__(self, method: str, **values: Any) -> dict[str, Any]:
        """Return what the browser answers to a call."""
        number = next(self._numbers)
        call = {"id": number, "method": method, "params": values}
        if self._session:
            call["sessionId"] = self._session
        os.write(self._to, json.dumps(call).encode() + b"\0")
        deadline = time.monotonic() + PATIENCE
        while True:
            message = self._next(deadline)
            if message.get("method") == "Runtime.exceptionThrown":
                self.errors.append(json.dumps(message["params"]["exceptionDetails"])[:600])
            if message.get("id") == number:
                assert "error" not in message, message["error"]
                return dict(message["result"])

    def _next(self, deadline: float) -> dict[str, Any]:
        while b"\0" not in self._rest:
            assert select.select([self._from], [], [], max(0, deadline - time.monotonic()))[0], "no answer"
            self._rest += os.read(self._from, 1 << 20)
        message, _, self._rest = self._rest.partition(b"\0")
        return dict(json.loads(message))

    def size(self, width: int, height: int, scheme: str) -> None:
        """Give the page a size, and ask it for the scheme ``light`` or ``dark``."""
        self("Emulation.setDeviceMetricsOverride", width=width, height=height, deviceScaleFactor=1, mobile=False)
        self("Emulation.setEmulatedMedia", features=[{"name": "prefers-color-scheme", "value": scheme}])

    def open(self, address: str) -> None:
        """Load a page from nothing."""
        self("Page.navigate", url="about:blank")
        self("Page.navigate", url=address)

    def value(self, expression: str) -> Any:
        """Return the value of an expression of JavaScript, awaited."""
        found = self("Runtime.evaluate", expression=expression, awaitPromise=True, returnByValue=True)
        assert "exceptionDetails" not in found, found["exceptionDetails"]
        return found["result"].get("value")

    def until(self, condition: str) -> None:
        """Wait until an expression of JavaScript is true."""
        deadline = time.monotonic() + PATIENCE
        while not self.value(f"Boolean({condition})"):
            assert time.monotonic() < deadline, condition
            time.sleep(0.05)

    def picture(self, path: Path, *, whole: bool = True) -> None:
        """Save the page as a picture: all of it, or what the first screen shows."""
        found = self("Page.captureScreenshot", captureBeyondViewport=whole)
        path.write_bytes(base64.b64decode(found["data"]))
