"""A browser, driven over the pipe of its DevTools protocol."""

import json
import os
import re
import shutil
import time

# Of every browser here. Chromium refuses to run as root with its sandbox.
FLAGS = [
    "--headless=new",
    "--no-sandbox",
    "--no-first-run",
    "--disable-gpu",
    "--disable-dev-shm-usage",
    "--disable-extensions",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
    "--disable-background-timer-throttling",
    "--disable-renderer-backgrounding",
    "--disable-backgrounding-occluded-windows",
    "--autoplay-policy=no-user-gesture-required",
    "--remote-debugging-pipe",
]


def find_browser():
    """The command of Chromium, or None."""
    return shutil.which("chromium") or shutil.which("chromium-browser") or shutil.which("google-chrome")


def put_pipe(descriptor):
    """Puts a socket at the descriptors 3 and 4, where Chromium looks for the pipe."""
    # Copies above 4 first: the socket may be 3 or 4 itself.
    high = os.dup(os.dup(os.dup(descriptor)))
    os.dup2(high, 3)
    os.dup2(high, 4)


class RecordingError(Exception):
    """A sentence for the user."""


class BrowserPipe:
    """A browser behind its pipe of the DevTools protocol, with one page."""

    def __init__(self, stream):
        self.stream, self.rest, self.number, self.session = stream, b"", 0, None

    def call(self, method, timeout=30, session=None, **parameters):
        """The result of a command; other messages are passed over."""
        self.number += 1
        message = {"id": self.number, "method": method, "params": parameters}
        if session:
            message["sessionId"] = session
        try:
            self.stream.sendall(json.dumps(message).encode() + b"\0")
        except ConnectionError as error:
            raise RecordingError(f"the browser ended before {method}") from error
        end = time.monotonic() + timeout
        while True:
            found, separator, rest = self.rest.partition(b"\0")
            if not separator:
                self.stream.settimeout(max(end - time.monotonic(), 0.01))
                try:
                    block = self.stream.recv(1 << 20)
                except TimeoutError as error:
                    raise RecordingError(f"the browser gave no answer to {method} in {timeout} s") from error
                if not block:
                    raise RecordingError(f"the browser ended before it answered {method}")
                self.rest += block
                continue
            self.rest = rest
            answer = json.loads(found)
            if answer.get("id") == self.number:
                if "error" in answer:
                    raise RecordingError(f"the browser refused {method}: {answer['error'].get('message')}")
                return answer["result"]

    def version(self):
        """The version, and the field trials or an empty text. It opens a page."""
        version = self.call("Browser.getVersion")["product"]
        self.open("chrome://version/?show-variations-cmd")
        trials = re.search(r"--force-fieldtrials=\"?([^\"\s]*)", self.evaluate("document.body.innerText"))
        return version, trials[1] if trials else ""

    def open(self, url):
        target = self.call("Target.createTarget", url=url)["targetId"]
        self.session = self.call("Target.attachToTarget", targetId=target, flatten=True)["sessionId"]
        end = time.monotonic() + 30
        while not self.is_loaded():
            if time.monotonic() > end:
                raise RecordingError(f"the browser did not load {url} in 30 s")
            time.sleep(0.05)

    def is_loaded(self):
        try:
            # At first a page is another one, and whole.
            return self.evaluate("location.href !== 'about:blank' && document.readyState === 'complete'")
        except RecordingError as error:
            # Between two documents a page has no context.
            if "context" not in str(error):
                raise
            return False

    def evaluate(self, expression, timeout=30):
        result = self.call(
            "Runtime.evaluate", timeout, self.session, expression=expression, awaitPromise=True, returnByValue=True
        )
        if "exceptionDetails" in result:
            problem = result["exceptionDetails"].get("exception", {}).get("description", "unknown")
            raise RecordingError(f"the page failed: {problem.splitlines()[0]}")
        return result["result"].get("value")
