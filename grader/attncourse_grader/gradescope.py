"""An autograder for Gradescope: a zip file to upload, and what runs in it.

Gradescope unpacks the zip into ``/autograder/source`` and runs ``setup.sh`` once; for
each submission it runs ``run_autograder``, which calls `main` here.
"""

import json
import os
import sys
import zipfile
from pathlib import Path

import attncourse
from attncourse_grader.grade.report import page
from attncourse_grader.hand_in.archives import HIDDEN, NOTEBOOKS
from attncourse_grader.hand_in.submission import Refused, read_submission
from attncourse_grader.hand_in.times import read_deadline, read_time
from attncourse_grader.isolate import forking
from attncourse_grader.records.late import in_words, penalty_for
from attncourse_grader.safe_text import number
from attncourse_grader.workers import grade_apart, layers_missing

SCRIPTS = Path(__file__).with_name("autograder")
PATIENCE = 120  # seconds to find out which exercise a file answers
LIMIT = 540  # seconds of Gradescope's ten minutes that are for grading


def build(solutions: Path, out: Path, index: str, settings: dict) -> Path:
    """Write the zip file for one exercise and return its path."""
    exercise = settings["exercise"]
    root = Path(attncourse.__file__).parent.parent
    grader = Path(__file__).parents[1]
    solution = solutions / f"{exercise}.ipynb"
    if not solution.is_file():
        raise Refused(f"the solution {solution} is not there. Give --solutions.")
    if not (root / "pyproject.toml").is_file() or root != grader.parent:
        raise Refused("install both parts from a clone: pip install -e . -e grader")
    path = out / f"gradescope-{exercise}.zip"
    out.mkdir(parents=True, exist_ok=True)
    pip = f"[install]\nextra-index-url = {index}\n" if index else ""
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
        for script in SCRIPTS.iterdir():
            archive.write(script, script.name)
        archive.writestr("pip.conf", pip)
        archive.writestr("settings.json", json.dumps(settings))
        archive.write(solution, f"solutions/{exercise}.ipynb")
        for name in ("pyproject.toml", "README.md", "LICENSE", "grader/pyproject.toml"):
            archive.write(root / name, name)
        for folder in (root / "attncourse", grader / "attncourse_grader"):
            for file in sorted(folder.rglob("*")):
                if file.is_file() and "__pycache__" not in file.parts:
                    archive.write(file, file.relative_to(root))
    return path


def main(place: str) -> None:
    """Grade what lies in a folder as Gradescope lays it out, and write the results."""
    place = Path(place)
    settings = json.loads((place / "source" / "settings.json").read_text("utf8"))
    if settings["book"]:  # the forks that grade read it
        os.environ["ATTNCOURSE_BOOK"] = settings["book"]
    metadata = json.loads((place / "submission_metadata.json").read_text("utf8"))
    try:
        found = results(place, settings, metadata)
    except Refused as refused:
        found = {"score": 0, "output": str(refused)}
    (place / "results").mkdir(exist_ok=True)
    text = json.dumps({**found, "stdout_visibility": "hidden"}, indent=1)
    (place / "results" / "results.json").write_text(text, encoding="utf8")


def results(place: Path, settings: dict, metadata: dict) -> dict:
    """Return what Gradescope shows about one submission: tasks as tests."""
    for says in layers_missing():
        print(says, file=sys.stderr)
    exercise, refused, fitting = settings["exercise"], "", []
    for path in sorted((place / "submission").rglob("*")):
        left_out = path.is_symlink() or HIDDEN.search(f"{path.relative_to(place)}")
        if path.is_file() and path.name.lower().endswith(NOTEBOOKS) and not left_out:
            try:
                if forking.call(exercise_in, path, seconds=PATIENCE) == exercise:
                    fitting.append(path)
            except RuntimeError as error:
                refused = refused or str(error).partition(": ")[2]
    if len(fitting) != 1:
        many = f"{len(fitting)} notebooks of this exercise were handed in, not one."
        raise Refused(many if fitting else refused or "There is no notebook of it.")
    solutions = place / "source" / "solutions"
    outcome = grade_apart(fitting[0], solutions, settings["secret"], LIMIT)
    if "record" not in outcome:  # Gradescope keeps what was there before
        raise SystemExit(" ".join(outcome.values()))
    record = outcome["record"]
    # What is marked by hand has questions of its own in Gradescope.
    tasks = [t | {"of": t["of"] - t.get("manual", 0)} for t in record["tasks"]]
    tests = [
        {
            "name": task["title"],
            "number": task["task"],
            "score": task["points"],
            "max_score": task["of"],
            "status": "passed" if task["points"] == task["of"] else "failed",
            "output": page("task.html", task=task),
            "output_format": "html",
            "visibility": settings["visibility"],
        }
        for task in tasks
        if task["of"]
    ]
    notes = list(record["notes"])
    found = {"tests": tests, "extra_data": {"created_at": metadata["created_at"]}}
    if (late := lateness(metadata)) > 0:
        less = penalty_for(settings["penalty"], late, sum(t["of"] for t in tasks))
        found["score"] = max(0.0, round(record["points"] - less, 4))
        cost = f": {number(less)} points less" if less else ""
        notes.append(f"Handed in {in_words(late)} after the deadline{cost}.")
    return {**found, "output": "\n".join(notes)}


def exercise_in(path: str) -> str:
    """Return which exercise a file answers."""
    from attncourse_grader.grade.grading import within_limits

    with within_limits(Path(path)):
        return read_submission(Path(path)).exercise.notebook


def lateness(metadata: dict) -> float:
    """Return by how many seconds a submission is late; a student's own date counts."""
    due = metadata.get("assignment", {}).get("due_date")
    own = [u.get("assignment", {}).get("due_date") for u in metadata.get("users", [])]
    dates = [read_deadline(date) for date in [*filter(None, own)] or [due] if date]
    return max(0.0, read_time(metadata["created_at"]) - max(dates)) if dates else 0.0
