"""A browser, driven over the pipe of its DevTools protocol."""

import json
import time


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

    def open(self, url):
        target = self.call("Target.createTarget", url=url)["targetId"]
        self.session = self.call("Target.attachToTarget", targetId=target, flatten=True)["sessionId"]
        end = time.monotonic() + 30
        while self.evaluate("document.readyState") != "complete":
            if time.monotonic() > end:
                raise RecordingError(f"the browser did not load {url} in 30 s")
            time.sleep(0.05)

    def evaluate(self, expression, timeout=30):
        result = self.call(
            "Runtime.evaluate", timeout, self.session, expression=expression, awaitPromise=True, returnByValue=True
        )
        if "exceptionDetails" in result:
            problem = result["exceptionDetails"].get("exception", {}).get("description", "unknown")
            raise RecordingError(f"the page failed: {problem.splitlines()[0]}")
        return result["result"].get("value")
