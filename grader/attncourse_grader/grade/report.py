"""Write a grade down as plain data, and pages from that, without PyTorch."""

import functools
import re

import jinja2
from markupsafe import Markup, escape

from attncourse_grader.safe_text import number, plain, plain_data


def record_of(grade) -> dict:
    """Return a grade as plain data; with the student's name its page can be written."""
    tasks = {
        graded.task.name: {
            "task": graded.label,
            "name": graded.task.name,
            "title": graded.task.title,
            "points": graded.points,
            "of": graded.task.points,
            "notes": list(graded.notes),
            "checks": [_check_record(verdict) for verdict in graded.verdicts],
        }
        for graded in grade.tasks
    }
    for part in grade.by_hand:
        label = f"{grade.exercise.number}.{len(tasks) + 1}"
        new = {"task": label, "points": 0, "of": 0, "notes": [], "checks": []}
        record = tasks.setdefault(part["name"], {**part, **new})
        record |= {k: v for k, v in part.items() if k not in record}
        record["of"] += part["manual"]
    found = {
        "exercise": grade.exercise.notebook,
        "title": f"Exercise {grade.exercise.number}: {grade.exercise.title}",
        "points": grade.points,
        "of": sum(task["of"] for task in tasks.values()),
        "notes": list(grade.notes),
        "tasks": list(tasks.values()),
    }
    return plain_data(found)


def _check_record(verdict) -> dict:
    from attncourse.exercises.notebook import address

    return {
        "claim": verdict.probe.claim,
        "mistake": verdict.kind,
        "feedback": " ".join(verdict.sentences),
        "example": list(verdict.example),
        "read": address(r) if (r := verdict.probe.read) and not verdict.holds else "",
    }


def page(template: str, **what) -> str:
    """Return HTML, most often a page, that runs nothing, whatever texts it has."""
    return _environment().get_template(template).render(**what)


@functools.cache
def _environment() -> jinja2.Environment:
    environment = jinja2.Environment(
        loader=jinja2.PackageLoader("attncourse_grader", "pages"),
        autoescape=True,
        trim_blocks=True,
        keep_trailing_newline=True,
        finalize=lambda value: plain(value) if type(value) is str else value,
    )
    environment.filters |= {"number": number, "with_code": _with_code}
    return environment


def _with_code(text: str) -> Markup:
    """Return a sentence as HTML, with its code and what it stresses."""
    parts = re.split("`([^`]+)`", escape(plain(text)))  # every second one is code
    parts[::2] = [re.sub(r"\B\*(\w[^*]*)\*\B", r"<em>\1</em>", p) for p in parts[::2]]
    parts[1::2] = [f"<code>{part}</code>" for part in parts[1::2]]
    return Markup("".join(parts))
