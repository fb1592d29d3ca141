"""A page on this machine for marking answers by hand: one task, all students."""

import hashlib
import http.server
import json
import secrets
import time
from pathlib import Path

from attncourse_grader.grade.report import page
from attncourse_grader.hand_in.submission import Refused
from attncourse_grader.records.effective import grades_of_class, record_for
from attncourse_grader.records.gradebook import Gradebook
from attncourse_grader.safe_text import one_line

LONGEST = 10_000  # bytes of what the page sends


class MarkingServer(http.server.ThreadingHTTPServer):
    """Show what is to be marked to whoever knows the address, and keep the marks."""

    daemon_threads = True

    def __init__(self, book: Path, *, anonymous: bool):
        super().__init__(("127.0.0.1", 0), _Handler)
        self.book, self.anonymous, self.token = book, anonymous, secrets.token_hex(16)
        self.address = f"http://127.0.0.1:{self.server_port}/{self.token}/"

    def answers(self, book) -> list[tuple]:
        """Return (what the page shows, whose grade, its mark) for each answer."""
        found = []
        for grade in grades_of_class(book):
            record = record_for(book, grade) or {"tasks": []}
            tasks = {task["name"]: task for task in record["tasks"]}
            for mark in grade.marks:
                if not mark.answer or mark.task not in tasks:
                    continue
                task, (points, comment) = tasks[mark.task], mark.proposal or (None, "")
                words = self.token, grade.student, grade.exercise, mark.task
                shown = {
                    "id": hashlib.sha256(repr(words).encode()).hexdigest(),
                    "who": "" if self.anonymous else grade.student,
                    "task": f"{task['task']}: {task['title']}",
                    "of": mark.of,
                    "text": task["answer"],
                    "hash": mark.answer,
                    "marked": mark.points is not None,
                    "proposed": mark.proposal is not None,
                    "points": points if mark.points is None else mark.points,
                    "comment": mark.comment or comment,
                }
                found.append((shown, grade, mark))
        if self.anonymous:  # in no order that tells who it is
            found.sort(key=lambda one: one[0]["id"])
        return found

    def keep(self, sent: dict) -> str:
        """Keep a mark; return a sentence where it cannot be kept."""
        with Gradebook(self.book, must_exist=True) as book, book.together():
            found = [one for one in self.answers(book) if one[0]["id"] == sent["id"]]
            if not found:
                return "This answer counts no longer. Load the page again."
            ((shown, grade, mark),) = found
            points, comment = float(sent["points"]), str(sent["comment"])
            now = mark.answer, [shown["points"], shown["marked"]], shown["comment"]
            *state, said = sent["shown"]
            if now != (sent["hash"], state, one_line(said, 400)):
                return "The answer or its mark is another by now. Load the page again."
            if not 0 <= points <= mark.of:
                return f"Give points from 0 to {mark.of:g}."
            facts = {"task": mark.task, "answer": mark.answer, "points": points}
            facts |= {"comment": comment, "made": time.time()}
            book.keep("marks", grade.student, grade.exercise, **facts)
        return ""


class _Handler(http.server.BaseHTTPRequestHandler):
    timeout = 30  # seconds for a connection that says nothing

    def do_GET(self):
        """Send the page."""
        if self.path != f"/{self.server.token}/":
            return self.send_error(404)
        with Gradebook(self.server.book, must_exist=True) as book:
            shown = [one[0] for one in self.server.answers(book)]
        text = page("marking.html", answers=shown, nonce=secrets.token_hex(8))
        self._send(200, "text/html", text)

    def do_POST(self):
        """Keep a mark."""
        size = int(self.headers.get("Content-Length") or 0)
        if self.path != f"/{self.server.token}/" or not 0 < size <= LONGEST:
            return self.send_error(404)
        try:
            says = self.server.keep(json.loads(self.rfile.read(size)))
        except (ValueError, KeyError, TypeError):
            says = "This is no mark."
        except Refused as refused:
            says = str(refused)
        self._send(400 if says else 200, "text/plain", says)

    def _send(self, status: int, kind: str, text: str) -> None:
        data = text.encode("utf8", "replace")
        self.send_response(status)
        self.send_header("Content-Type", f"{kind}; charset=utf-8")
        self.send_header("Content-Length", str(len(data)))
        self.send_header("Referrer-Policy", "no-referrer")  # the address has the token
        self.send_header("Cache-Control", "no-store")
        self.end_headers()
        self.wfile.write(data)

    def log_message(self, *_):
        """Print nothing: the address has the token."""
