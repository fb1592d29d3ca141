"""Firefox, driven through WebDriver BiDi, which it speaks without a program between.

Playwright drives only a Firefox of its own. Of the protocol (W3C, "WebDriver BiDi")
there is what the tests need.
"""

import contextlib
import json
import re
import subprocess
import tempfile
import time
from pathlib import Path

from websockets.sync.client import connect

EVENTS = ["log.entryAdded", "network.beforeRequestSent", "network.fetchError"]
START_SECONDS = 60
PAGE_SECONDS = 60


class Tab:
    """One tab of a running Firefox.

    Attributes
    ----------
    events : list of dict
        What the browser has told since the last page was opened: ``method`` and
        ``params``, as the protocol names them.
    """

    def __init__(self, connection):
        self.connection = connection
        self.number = 0
        self.events = []
        self.ask("session.new", capabilities={})
        self.ask("session.subscribe", events=EVENTS)
        self.context = self.ask("browsingContext.getTree")["contexts"][0]["context"]

    def ask(self, method, **params):
        """Send a command and return its result."""
        self.number += 1
        message = {"id": self.number, "method": method, "params": params}
        self.connection.send(json.dumps(message))
        while True:
            answer = json.loads(self.connection.recv(timeout=PAGE_SECONDS))
            if answer["type"] == "event":
                self.events.append(answer)
            elif answer["id"] == self.number:
                if answer["type"] == "error":
                    raise RuntimeError(f"{method}: {answer['message']}")
                return answer["result"]

    def open(self, address):
        """Open a page and wait until it is loaded."""
        self.events.clear()
        self.ask(
            "browsingContext.navigate",
            context=self.context,
            url=address,
            wait="complete",
        )

    def resize(self, width, height):
        """Set the size of the page's window, in CSS pixels."""
        self.ask(
            "browsingContext.setViewport",
            context=self.context,
            viewport={"width": width, "height": height},
        )

    def run(self, code):
        """Return what an expression is worth in the page: a value that JSON knows."""
        found = self.ask(
            "script.evaluate",
            expression=f"(async () => JSON.stringify(await ({code})))()",
            target={"context": self.context},
            awaitPromise=True,
        )
        if found["type"] == "exception":
            raise RuntimeError(found["exceptionDetails"]["text"])
        value = found["result"].get("value")
        return value if value is None else json.loads(value)

    def wait_for(self, code):
        """Wait until an expression is true in the page; fail if it never is."""
        condition = f"""new Promise((done, fail) => {{
          const end = performance.now() + {1000 * PAGE_SECONDS // 2};
          (function look() {{
            if ({code}) done(true);
            else if (performance.now() > end) fail(new Error("never came true"));
            else setTimeout(look, 50);
          }})();
        }})"""
        return self.run(condition)

    def press(self, key):
        """Press and release a key of the keyboard."""
        strokes = [{"type": kind, "value": key} for kind in ("keyDown", "keyUp")]
        self._act({"type": "key", "id": "keyboard", "actions": strokes})

    def click(self, element):
        """Click with the mouse on the middle of an element, given as an expression."""
        middle = f"""(() => {{
          const element = {element};
          element.scrollIntoView({{ block: "center", behavior: "instant" }});
          const box = element.getBoundingClientRect();
          return [box.x + box.width / 2, box.y + box.height / 2];
        }})()"""
        x, y = map(round, self.run(middle))
        clicks = [{"type": kind, "button": 0} for kind in ("pointerDown", "pointerUp")]
        move = {"type": "pointerMove", "x": x, "y": y}
        self._act({"type": "pointer", "id": "mouse", "actions": [move, *clicks]})

    def _act(self, actions):
        self.ask("input.performActions", context=self.context, actions=[actions])


def address_in(log):
    """Wait until Firefox has said where it listens, and return that."""
    for _ in range(20 * START_SECONDS):
        found = re.search(r"WebDriver BiDi listening on (ws://\S+)", log.read_text())
        if found:
            return f"{found[1]}/session"
        time.sleep(0.05)
    raise RuntimeError(f"Firefox did not start:\n{log.read_text()}")


@contextlib.contextmanager
def start(program):
    """Start Firefox without a window and yield its tab; end it afterwards."""
    with tempfile.TemporaryDirectory(ignore_cleanup_errors=True) as folder:
        command = [program, "--headless", "--no-remote", "--profile", folder]
        command += ["--remote-debugging-port", "0"]
        log = Path(folder) / "log"
        with log.open("w") as told:
            process = subprocess.Popen(command, stdout=told, stderr=told)
        try:
            with connect(address_in(log), max_size=None) as socket:
                yield Tab(socket)
        finally:
            process.kill()
            process.wait()
