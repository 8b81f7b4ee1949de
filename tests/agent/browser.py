"""A real browser without a window, driven over its debugging pipe: for what only scripts do on a page."""

from __future__ import annotations

import base64
import json
import os
import shutil
import subprocess
from collections.abc import Generator
from contextlib import contextmanager
from pathlib import Path
from select import select
from typing import Any

__all__ = ["BROWSER", "Tab", "browser_tab"]

BROWSER = next(filter(None, map(shutil.which, ("chromium", "chromium-browser", "google-chrome"))), None)
_SECONDS = 30.0


class Tab:
    """The one page of the browser. What goes wrong on it (scripts, security policy) is in `complaints`."""

    def __init__(self, to_browser: int, from_browser: int) -> None:
        self._to = to_browser
        self._from = from_browser
        self._waiting = b""
        self._number = 0
        self._session: str | None = None
        self._events: list[dict[str, Any]] = []
        self.complaints: list[str] = []
        self.requests: list[str] = []
        targets = self.send("Target.getTargets")["targetInfos"]
        page = next(target for target in targets if target["type"] == "page")
        self._session = self.send("Target.attachToTarget", targetId=page["targetId"], flatten=True)["sessionId"]
        for domain in ("Page", "Runtime", "Log", "Network"):
            self.send(f"{domain}.enable")

    def send(self, method: str, **parameters: Any) -> Any:
        """Sends a command of the DevTools protocol and gives its result."""
        self._number += 1
        command = {"id": self._number, "method": method, "params": parameters}
        if self._session is not None:
            command["sessionId"] = self._session
        os.write(self._to, json.dumps(command).encode() + b"\0")
        while (message := self._receive()).get("id") != self._number:
            self._note(message)
        assert "error" not in message, message
        return message["result"]

    def open(self, address: str) -> None:
        """Opens an address and waits until the page is there."""
        self._events.clear()
        self.send("Page.navigate", url=address)
        while not any(event["method"] == "Page.loadEventFired" for event in self._events):
            self._note(self._receive())

    def run(self, script: str) -> Any:
        """The value of an expression on the page; a promise is waited for."""
        result = self.send(
            "Runtime.evaluate", expression=script, returnByValue=True, awaitPromise=True, userGesture=True
        )
        assert "exceptionDetails" not in result, result["exceptionDetails"]
        return result["result"].get("value")

    def press(self, key: str, text: str = "") -> None:
        """Presses a key."""
        code = {"Enter": 13, "Escape": 27, "ArrowDown": 40, "ArrowUp": 38}.get(key, ord(key[0].upper()))
        extra = {"text": text or ("\r" if key == "Enter" else key)} if len(key) == 1 or key == "Enter" else {}
        self.send("Input.dispatchKeyEvent", type="keyDown", key=key, windowsVirtualKeyCode=code, **extra)
        self.send("Input.dispatchKeyEvent", type="keyUp", key=key, windowsVirtualKeyCode=code)

    def picture(self, path: Path, width: int, height: int, *, dark: bool = False) -> None:
        """Writes a picture of what is seen."""
        self.send("Emulation.setDeviceMetricsOverride", width=width, height=height, deviceScaleFactor=1, mobile=False)
        scheme = {"name": "prefers-color-scheme", "value": "dark" if dark else "light"}
        self.send("Emulation.setEmulatedMedia", features=[scheme])
        path.write_bytes(base64.b64decode(self.send("Page.captureScreenshot")["data"]))

    def _receive(self) -> dict[str, Any]:
        while b"\0" not in self._waiting:
            ready, _, _ = select([self._from], [], [], _SECONDS)
            assert ready, "the browser does not answer"
            read = os.read(self._from, 1 << 16)
            assert read, "the browser has ended"
            self._waiting += read
        message, _, self._waiting = self._waiting.partition(b"\0")
        return json.loads(message)

    def _note(self, event: dict[str, Any]) -> None:
        self._events.append(event)
        details = event.get("params", {})
        match event.get("method"):
            case "Log.entryAdded" if details["entry"]["level"] == "error":
                self.complaints.append(details["entry"]["text"])
            case "Runtime.exceptionThrown":
                self.complaints.append(str(details["exceptionDetails"]))
            case "Network.requestWillBeSent":
                self.requests.append(details["request"]["url"][:200])
            case _:
                pass


@contextmanager
def browser_tab(profile: Path) -> Generator[Tab]:
    """Starts the browser with an empty profile; it has ended when the block ends."""
    assert BROWSER is not None
    for_browser, to_browser = os.pipe()
    from_browser, of_browser = os.pipe()
    options = "--headless --no-sandbox --disable-gpu --no-first-run --hide-scrollbars --remote-debugging-pipe"
    # The browser reads commands from 3 and answers on 4.
    shell = f'exec 3<&{for_browser} 4>&{of_browser}; exec "$0" {options} --user-data-dir="$1" about:blank'
    process = subprocess.Popen(
        ["/bin/bash", "-c", shell, BROWSER, str(profile)],
        pass_fds=(for_browser, of_browser),
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
    )
    os.close(for_browser)
    os.close(of_browser)
    try:
        tab = Tab(to_browser, from_browser)
        yield tab
        tab._session = None  # pyright: ignore[reportPrivateUsage]
        tab.send("Browser.close")
        process.wait(timeout=_SECONDS)
    finally:
        process.kill()
        process.wait(timeout=_SECONDS)
        os.close(to_browser)
        os.close(from_browser)
