"""Write a grade down: text for the terminal, plain data, a page of its own.

Pages are made from plain data, where no PyTorch need be.
"""

from __future__ import annotations

import html
import json
import re

from attncourse_grader.safe_text import number, plain, plain_data

STYLE = """
:root { color-scheme: light dark; }
body { font: 1rem/1.5 system-ui, sans-serif; max-width: 48rem; margin: 2rem auto;
  padding: 0 1rem; }
h2 { border-top: 1px solid #8886; padding-top: 1rem; }
.points { float: right; font-weight: normal; }
li.no { list-style: "\\2717\\00a0\\00a0"; } li.yes { list-style: "\\2713\\00a0\\00a0"; }
pre { overflow-x: auto; padding: 0.5rem; background: #8882; }
.word { position: absolute; clip-path: inset(50%); width: 1px; overflow: hidden; }
"""


def text_of_grade(grade) -> str:
    """Return what the terminal shows about one submission."""
    from attncourse.exercises.notebook import text_of_task

    head = f"Exercise {grade.exercise.number}: {grade.exercise.title}"
    tasks = [text_of_task(t.label, t.task, t.verdicts) + "\n" for t in grade.tasks]
    of = f"{number(grade.points)} of {number(grade.exercise.points)} points."
    return plain("\n".join([head, "", *tasks, f"Together {of}", *_notes(grade)]))


def _notes(grade) -> list[str]:
    own = [f"Task {task.label}: {note}" for task in grade.tasks for note in task.notes]
    return [*grade.notes, *own]


def record_of(grade) -> dict:
    """Return a grade as plain data, from which its page can be written."""
    return plain_data(
        {
            "student": grade.student,
            "exercise": grade.exercise.notebook,
            "title": f"Exercise {grade.exercise.number}: {grade.exercise.title}",
            "points": grade.points,
            "of": grade.exercise.points,
            "notes": list(grade.notes),
            "tasks": [_task_record(task) for task in grade.tasks],
        }
    )


def _task_record(grade) -> dict:
    return {
        "task": grade.label,
        "name": grade.task.name,
        "title": grade.task.title,
        "points": grade.points,
        "of": grade.task.points,
        "notes": list(grade.notes),
        "checks": [_check_record(verdict) for verdict in grade.verdicts],
    }


def _check_record(verdict) -> dict:
    from attncourse.exercises.notebook import address

    return {
        "claim": verdict.probe.claim,
        "mistake": verdict.kind,
        "feedback": " ".join(verdict.sentences),
        "example": list(verdict.example),
        "read": address(verdict.read) if verdict.read and not verdict.holds else "",
    }


def json_of_record(record: dict) -> str:
    """Return the record of a grade as the text of a JSON file."""
    return json.dumps(record, indent=1, ensure_ascii=False) + "\n"


def page_of_record(record: dict, standing: tuple[str, ...] = ()) -> str:
    """Return the record of a grade as a page of HTML that needs no other file."""
    title = safe(record["title"])
    points = f"{number(record['points'])} of {number(record['of'])}"
    body = [
        f"<h1>{title}</h1>\n<p>{safe(record['student'])}: <strong>{points} points"
        "</strong></p>",
        *(f"<p>{safe(line)}</p>" for line in [*standing, *record["notes"]]),
        *(section(task) for task in record["tasks"]),
    ]
    return html_page(title, body)


def html_page(title: str, body: list[str], style: str = "") -> str:
    """Return a page of HTML that needs no other file and runs nothing."""
    policy = "default-src 'none'; style-src 'unsafe-inline'; img-src data:"
    parts = [
        '<!DOCTYPE html>\n<html lang="en">\n<head>\n<meta charset="utf-8">',
        f'<meta http-equiv="Content-Security-Policy" content="{policy}">',
        '<meta name="viewport" content="width=device-width, initial-scale=1">',
        f"<title>{title}</title>\n<style>{STYLE}{style}</style>\n</head>\n<body>",
        *body,
        "</body>\n</html>\n",
    ]
    return "\n".join(parts)


def section(task: dict) -> str:
    """Return what is said about one task as HTML."""
    points = f"{number(task['points'])} of {number(task['of'])}"
    lines = [
        f'<h2>Task {safe(task["task"])}: {safe(task["title"])} <span class="points">'
        f"{points}</span></h2>",
        *(f"<p>{safe(note)}</p>" for note in task["notes"]),
        "<ul>",
    ]
    explained = False
    for check in task["checks"]:
        holds = not check["mistake"]
        said = "yes" if holds else "no"
        word = "Holds: " if holds else "Not yet: "
        lines.append(
            f'<li class="{said}"><span class="word">{word}</span>{safe(check["claim"])}'
        )
        if not holds and not explained:  # what comes after may follow from it
            explained = True
            lines.append(f"<p>{_with_code(check['feedback'])}</p>")
            if check["example"]:
                shown = safe("\n".join(check["example"]))
                lines.append(f'<pre tabindex="0">{shown}</pre>')
            if check["read"].startswith(("http://", "https://")):
                link = safe(check["read"])
                lines.append(f'<p>Read: <a href="{link}">{link}</a></p>')
        elif not holds:
            lines.append("<p>Look at this once what is above holds.</p>")
        lines.append("</li>")
    return "\n".join([*lines, "</ul>"])


def _with_code(text: str) -> str:
    """Return a sentence as HTML, with its code and what it stresses."""
    parts = re.split("`([^`]+)`", safe(text))  # every second one is code
    parts[::2] = [re.sub(r"\B\*(\w[^*]*)\*\B", r"<em>\1</em>", p) for p in parts[::2]]
    parts[1::2] = [f"<code>{part}</code>" for part in parts[1::2]]
    return "".join(parts)


def safe(text) -> str:
    """Return a text as HTML, with nothing in it that a browser obeys."""
    return html.escape(plain(text))
