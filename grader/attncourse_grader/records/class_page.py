"""One page about the class, for the instructor: what was reached, and what is hard."""

import json
import statistics
from collections import defaultdict
from itertools import combinations

from attncourse_grader.grade.report import page
from attncourse_grader.records.effective import exercises_in
from attncourse_grader.records.similarity import similar_pairs
from attncourse_grader.sentences import SAYS

BINS = 10
MOST_MISTAKES = 12


def class_page(book, graded) -> str:
    """Return the page, one HTML file; `graded` has pairs of a grade and its record."""
    found, records = [g for g, _ in graded], [pair for pair in graded if pair[1]]
    own = {e: [r for r in records if r[0].exercise == e] for e in exercises_in(found)}
    return page(
        "class.html",
        students=len({s.student for s in found}),
        graded=len(records),
        exercises=[_exercise(book, some) for name, some in own.items() if some],
        left_out=[row["says"] for row in book.rows("SELECT * FROM left_out")],
        most_mistakes=MOST_MISTAKES,
    )


def _exercise(book, own) -> dict:
    grades, records = zip(*own, strict=True)
    totals, of = [grade.total for grade in grades], grades[0].of
    return {
        "title": records[0]["title"],
        "graded": len(own),
        "mean": statistics.mean(totals),
        "median": round(statistics.median(totals), 2),
        "of": of,
        "late": sum(bool(grade.late) for grade in grades),
        "changed": sum(bool(grade.adjustments) for grade in grades),
        "waiting": sum(grade.waiting for grade in grades),
        "bins": histogram(totals, of),
        "tasks": _tasks(records),
        "mistakes": _mistakes(records),
        "alike": _alike(book, grades),
    }


def histogram(totals: list[float], of: float) -> list[dict]:
    """Return how many students reached how many points."""
    counts = [0] * BINS
    for total in totals:
        counts[min(BINS - 1, max(0, int(total / (of or 1) * BINS)))] += 1
    return [
        {"count": count, "low": of * place / BINS, "high": of * (place + 1) / BINS}
        for place, count in enumerate(counts)
    ]


def _tasks(records) -> list[dict]:
    """Return, task by task, which part of the points was reached."""
    tasks = defaultdict(list)
    for task in (task for record in records for task in record["tasks"]):
        if not task.get("waiting"):
            tasks[task["task"]].append(task)
    found = []
    for label in sorted(tasks, key=lambda text: [int(n) for n in text.split(".")]):
        own = tasks[label]
        shares = [t["points"] / t["of"] if t["of"] else 0 for t in own]
        full = statistics.mean(t["points"] == t["of"] for t in own)
        row = {"label": label, "title": own[-1]["title"], "of": own[-1]["of"]}
        found.append({**row, "mean": statistics.mean(shares), "full": full})
    return found


def _mistakes(records) -> list[dict]:
    """Say at what answers fail first, by claim, and how points are lost otherwise."""
    made: dict[tuple, dict] = {}
    for record in records:
        for task in record["tasks"]:
            check = next((c for c in task["checks"] if c["mistake"]), None)
            if check is None:
                continue
            outcome = SAYS["outcomes"].get(check["mistake"])
            row = {"count": 0, "task": task["task"], "read": check["read"]}
            row["what"] = what = outcome or check["claim"]
            row["says"] = "" if outcome else check["feedback"][:300]
            made.setdefault((task["task"], what), row)["count"] += 1
    return [made[kind] for kind in sorted(made, key=lambda k: (-made[k]["count"], k))]


def _alike(book, own) -> list[str]:
    """Return sentences about answers that are the same, or nearly."""
    if not book.setting("alike"):
        return []
    answers, contents = {}, defaultdict(list)
    for effective in own:
        query = "SELECT answers FROM results WHERE result = ?"
        (row,) = book.rows(query, effective.handin["result"])
        answers[effective.student] = json.loads(row["answers"])
        contents[effective.handin["content"]].append(effective.student)
    same = [group for group in contents.values() if len(group) > 1]
    said = [f"The same file: {', '.join(group)}." for group in same]
    together = {frozenset(pair) for group in same for pair in combinations(group, 2)}
    for one, other, similarity, tasks in similar_pairs(answers):
        if frozenset((one, other)) not in together:
            says = f"{one} and {other} share {similarity:.0%} of what few others have"
            says += f"; nearly the same: {', '.join(tasks)}" if tasks else ""
            said.append(f"{says}. Read them.")
    return said
