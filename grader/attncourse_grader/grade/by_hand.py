"""What is marked by hand: tasks that are answered in words, or partly marked by hand.

The solution says so in the metadata of an answer's cell: ``manual``, the points that
are given by hand, and ``kind: text`` where a cell of text is the answer.
"""

import hashlib

from attncourse_grader.hand_in.release import MODEL_ANSWER, stub_of
from attncourse_grader.hand_in.submission import Refused, Submission, is_text, words_in
from attncourse_grader.sentences import SAYS

LONGEST = 50_000  # characters of an answer that are kept
LOST = "(This answer was not found in the notebook.)"


def by_hand_in(cell, exercise) -> dict | None:
    """Return what is marked by hand of a cell, and what is `given`; None if nothing."""
    mark = cell.metadata.get("attncourse", {})
    name, points, words = mark.get("answer"), mark.get("manual", 0), is_text(cell)
    if not (points or words):
        return None
    if not (name and isinstance(points, (int, float)) and 0 < points <= 1000):
        raise Refused(f"the solution's cell {cell.id}: `manual` takes points above 0.")
    task = next((task for task in exercise.tasks if task.name == name), None)
    if not (task or (words and str(name).isidentifier())):
        raise Refused(f"the solution's cell {cell.id}: there is no task {name!r}.")
    if words and cell.cell_type == "code":
        raise Refused(f"the solution's cell {cell.id}: words stand in a cell of text.")
    given = MODEL_ANSWER.sub("", words_in(cell))
    given = given if words else stub_of(given, exercise.label(task))
    found = {"name": name, "title": mark.get("title", name), "manual": float(points)}
    return {**found, "words": words, "cell": cell.id, "given": given.strip()}


def answers_by_hand(template, submission: Submission) -> list[dict]:
    """Return the answers to mark by hand, "" for one that was left as it was."""
    found, names = [], [part["name"] for part in template.by_hand]
    new = "\n\n".join(  # cells of the student's own
        text
        for name, _, text in submission.texts
        if name not in names and text.strip() not in template.handed_out
    )
    for part in template.by_hand:
        if part["words"]:
            text = _words_of(part, submission.texts, new.strip())
        else:
            text = _code_of(template, submission, part)
        marked = f"{part['manual']:g}\n{text}"  # other points: another mark
        if text == LOST:  # which stands for the whole notebook
            marked += repr(([s.text for s in submission.statements], submission.texts))
        digest = hashlib.sha256(marked.encode("utf8", "replace")).hexdigest()[:16]
        if len(text) > LONGEST:
            text = f"{text[:LONGEST]}\n\n{SAYS['cut']}"
        said = {key: part[key] for key in ("name", "title", "manual")}
        found.append({**said, "answer": text, "hash": digest if text else ""})
    return found


def _words_of(part: dict, texts, new: str) -> str:
    """Return what stands in the cell of an answer, what is `new` if that is nothing."""
    own = [text for name, _, text in texts if name == part["name"]]
    own = own or [text for _, cell, text in texts if cell == part["cell"]]
    text = "\n\n".join(filter(None, own)).strip()
    return ("" if text == part["given"] else text) or new or ("" if own else LOST)


def _code_of(template, submission: Submission, part: dict) -> str:
    """Return the code of an answer, without what belongs to other tasks."""
    task = template.exercise.task(part["name"])
    if task.name in submission.broken:
        return submission.broken[task.name].text
    others = template.exercise.answers_beside(task)
    text = template.own_code(task, submission.statements, others)
    names = {*task.answers, submission.renamed.get(task.name)}
    own = [s for s in submission.statements if s.binds & names]
    text = text or "\n\n".join(s.text for s in own) or LOST
    left = own and all(t.strip() in part["given"] for t in text.split("\n\n"))
    return "" if left else text
