"""Write grades down: text, a page and JSON for each student, one table for all."""

from __future__ import annotations

import csv
import html
import io
import json

from attncourse.exercises.feedback import address, example, number, text_of_report

STYLE = """
:root { color-scheme: light dark; }
body { font: 1rem/1.5 system-ui, sans-serif; max-width: 48rem; margin: 2rem auto;
  padding: 0 1rem; }
h2 { border-top: 1px solid #8886; padding-top: 1rem; }
.points { float: right; font-weight: normal; }
li.no { list-style: "\\2717\\00a0\\00a0"; } li.yes { list-style: "\\2713\\00a0\\00a0"; }
pre { overflow-x: auto; padding: 0.5rem; background: #8882; }
"""


def text_of_grade(grade) -> str:
    """Return what the terminal shows about one submission."""
    results = [(t.label, t.task, t.verdicts) for t in grade.tasks]
    return "\n".join([text_of_report(grade.exercise, results), *all_notes(grade)])


def all_notes(grade) -> list[str]:
    """Return the notes on the whole and on each task, as sentences."""
    own = [f"Task {task.label}: {note}" for task in grade.tasks for note in task.notes]
    return [*grade.notes, *own]


def record_of(grade) -> dict:
    """Return a grade as plain data."""
    return {
        "student": grade.student,
        "exercise": grade.exercise.notebook,
        "points": grade.points,
        "of": grade.exercise.points,
        "notes": grade.notes,
        "tasks": [
            {
                "task": task.label,
                "name": task.task.name,
                "points": task.points,
                "of": task.task.points,
                "notes": task.notes,
                "checks": [
                    {
                        "claim": verdict.check.claim,
                        "points": verdict.points,
                        "of": verdict.check.points,
                        "mistake": verdict.mistake,
                        "feedback": verdict.says,
                        "read": address(verdict.read) if verdict.read else "",
                    }
                    for verdict in task.verdicts
                ],
            }
            for task in grade.tasks
        ],
    }


def json_of_grade(grade) -> str:
    """Return a grade as the text of a JSON file."""
    return json.dumps(record_of(grade), indent=1, ensure_ascii=False) + "\n"


def page_of_grade(grade) -> str:
    """Return a grade as a page of HTML that needs no other file."""
    title = f"Exercise {grade.exercise.number}: {grade.exercise.title}"
    points = f"{number(grade.points)} of {number(grade.exercise.points)}"
    parts = [
        '<!DOCTYPE html>\n<html lang="en">\n<head>\n<meta charset="utf-8">',
        '<meta name="viewport" content="width=device-width, initial-scale=1">',
        f"<title>{_safe(title)}</title>\n<style>{STYLE}</style>\n</head>\n<body>",
        f"<h1>{_safe(title)}</h1>\n<p>{_safe(grade.student)}: <strong>{points} points"
        "</strong></p>",
        *(f"<p>{_safe(note)}</p>" for note in grade.notes),
        *(_section(task) for task in grade.tasks),
        "</body>\n</html>\n",
    ]
    return "\n".join(parts)


def _section(grade) -> str:
    points = f"{number(grade.points)} of {number(grade.task.points)}"
    lines = [
        f'<h2>Task {grade.label}: {_safe(grade.task.title)} <span class="points">'
        f"{points}</span></h2>",
        *(f"<p>{_safe(note)}</p>" for note in grade.notes),
        "<ul>",
    ]
    explained = set()
    for verdict in grade.verdicts:
        kind = "yes" if verdict.holds else "no"
        lines.append(f'<li class="{kind}">{_safe(verdict.check.claim)}')
        if not verdict.holds and verdict.says not in explained:
            explained.add(verdict.says)
            lines.append(f"<p>{_safe(verdict.says)}</p>")
            if verdict.case is not None and (shown := example(verdict)):
                lines.append(f"<pre>{_safe(chr(10).join(shown))}</pre>")
            if verdict.read:
                link = _safe(address(verdict.read))
                lines.append(f'<p>Read: <a href="{link}">{link}</a></p>')
        lines.append("</li>")
    return "\n".join([*lines, "</ul>"])


def _safe(text: str) -> str:
    return html.escape(str(text))


def table_of(records: list[dict]) -> str:
    """Return the table of all grades as CSV: one row for each student and exercise.

    Parameters
    ----------
    records : list of dict
        What `record_of` returned, or ``{"student", "file", "refused"}`` for a file that
        was not graded.
    """
    labels = sorted({t["task"] for r in records for t in r.get("tasks", [])})
    out = io.StringIO()
    writer = csv.writer(out, lineterminator="\n")
    writer.writerow(["student", "exercise", "points", "of", *labels, "remark"])
    for record in sorted(records, key=lambda r: (r["student"], r.get("exercise", ""))):
        points = {t["task"]: number(t["points"]) for t in record.get("tasks", [])}
        writer.writerow(
            [
                _cell(record["student"]),
                record.get("exercise", ""),
                number(record["points"]) if "points" in record else "",
                number(record["of"]) if "of" in record else "",
                *(points.get(label, "") for label in labels),
                _cell(record.get("refused", "")),
            ]
        )
    return out.getvalue()


def _cell(text: str) -> str:
    """Keep a spreadsheet from reading a name as a formula."""
    return "'" + text if text[:1] in ("=", "+", "-", "@", "\t") else text
