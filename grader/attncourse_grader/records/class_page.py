"""One page about the class, for the instructor: what was reached, and what is hard."""

from __future__ import annotations

import json
import statistics
from collections import Counter, defaultdict

from attncourse_grader.grade.report import html_page, safe
from attncourse_grader.records.effective import (
    exercises_in,
    record_of_effective,
    refusals,
    withdrawn,
)
from attncourse_grader.records.similarity import similar_pairs
from attncourse_grader.safe_text import number

BINS = 10
MOST_MISTAKES = 12
# Ways to lose points that say nothing about what somebody thinks.
OUTCOMES = {
    "missing": "The answer is missing.",
    "undone": "The task was left undone.",
    "did not finish": "The answer did not come to an end.",
    "syntax error": "The cell is not valid Python.",
    "forbidden": "The answer uses what the task rules out.",
    "error": "The call raises an error.",
    "form": "The result has another form: type, shape or number of parts.",
    "in place": "An input is changed.",
}
STYLE = """
body { max-width: 60rem; }
table { border-collapse: collapse; margin: 1rem 0; }
th, td { text-align: left; padding: 0.2rem 0.8rem 0.2rem 0; vertical-align: top; }
td.n, th.n { text-align: right; font-variant-numeric: tabular-nums; }
tbody tr { border-top: 1px solid #8884; }
svg { max-width: 100%; height: auto; } .wide { overflow-x: auto; }
svg text { font: 13px system-ui, sans-serif; fill: currentColor; }
.bar { fill: #0072b2; } @media (prefers-color-scheme: dark) { .bar { fill: #56b4e9; } }
"""


def class_page(book, found) -> str:
    """Return the page as HTML that needs no other file."""
    gone = withdrawn(book)
    found = [s for s in found if s.student not in gone]
    records = [(s, record_of_effective(book, s)) for s in found if s.handin]
    records = [(s, record) for s, record in records if record is not None]
    students = len({s.student for s in found})
    people = "student" if students == 1 else "students"
    body = [
        "<h1>The class</h1>",
        f"<p>{students} {people}, {len(records)} graded notebooks. This page is for "
        "the instructor: it names students.</p>",
    ]
    for exercise in exercises_in(found):
        own = [(s, r) for s, r in records if s.exercise == exercise]
        if own:
            body += _exercise(book, exercise, own)
    body += _left_out(book)
    return html_page("The class", body, STYLE)


def _exercise(book, exercise: str, own) -> list[str]:
    title = own[0][1]["title"]
    totals = [s.total for s, _ in own]
    late = sum(bool(s.late) for s, _ in own)
    changed = sum(bool(s.adjustments) for s, _ in own)
    middle = round(statistics.median(totals), 2)
    said = (
        f"{len(own)} graded; on average {sum(totals) / len(totals):.1f} of "
        f"{number(own[0][0].of)} points, median {number(middle)}."
    )
    said += f" {late} handed in late." if late else ""
    said += f" {changed} changed by hand." if changed else ""
    return [
        f"<h2>{safe(title)}</h2>",
        f"<p>{said}</p>",
        histogram(totals, own[0][0].of),
        *_tasks([record for _, record in own]),
        *_mistakes([record for _, record in own]),
        *_alike(book, exercise, [s for s, _ in own]),
    ]


def histogram(totals: list[float], of: float) -> str:
    """Return a drawing of how many students reached how many points."""
    counts = [0] * BINS
    for total in totals:
        counts[min(BINS - 1, max(0, int(total / of * BINS)))] += 1
    width, height, base = 52, 120, 150
    most = max(counts)
    bars = []
    for place, count in enumerate(counts):
        tall = round(height * count / most, 1) if most else 0
        left = 10 + place * width
        low, high = of * place / BINS, of * (place + 1) / BINS
        bars.append(
            f'<rect class="bar" x="{left}" y="{base - tall}" width="{width - 6}" '
            f'height="{tall}"/>'
            + (
                f'<text x="{left + (width - 6) / 2}" y="{base - tall - 4}" '
                f'text-anchor="middle">{count}</text>'
                if count
                else ""
            )
            + f'<text x="{left + (width - 6) / 2}" y="{base + 18}" '
            f'text-anchor="middle">{low:g}–{high:g}</text>'
        )
    said = "; ".join(
        f"{of * k / BINS:g} to {of * (k + 1) / BINS:g} points: {n}"
        for k, n in enumerate(counts)
        if n
    )
    return (
        f'<svg viewBox="0 0 {20 + BINS * width} 175" width="{20 + BINS * width}" '
        f'role="img" aria-label="Students by points. {said}">{"".join(bars)}</svg>'
        "<p>Students by points. Each bar begins at its lower number; the last holds "
        "all points too.</p>"
    )


def _tasks(records: list[dict]) -> list[str]:
    shares, full, titles, of = defaultdict(list), Counter(), {}, {}
    for record in records:
        for task in record["tasks"]:
            label = task["task"]
            titles[label], of[label] = task["title"], task["of"]
            shares[label].append(task["points"] / task["of"] if task["of"] else 0)
            full[label] += task["points"] == task["of"]
    lines = ["<h3>Tasks</h3>", '<div class="wide" tabindex="0"><table><thead><tr>']
    lines.append('<th>task</th><th></th><th class="n">points</th><th>on average</th>')
    lines.append('<th></th><th class="n">with all points</th></tr></thead><tbody>')
    for label in sorted(shares, key=lambda text: [int(n) for n in text.split(".")]):
        mean = sum(shares[label]) / len(shares[label])
        lines.append(
            f"<tr><td>{safe(label)}</td><td>{safe(titles[label])}</td>"
            f'<td class="n">{number(of[label])}</td><td>{_bar(mean)}</td>'
            f'<td class="n">{mean:.0%}</td>'
            f'<td class="n">{full[label] / len(shares[label]):.0%}</td></tr>'
        )
    return [*lines, "</tbody></table></div>"]


def _bar(share: float) -> str:
    return (
        '<svg viewBox="0 0 120 12" width="120" height="12" aria-hidden="true">'
        '<rect width="120" height="12" fill="#8883"/>'
        f'<rect class="bar" width="{120 * share:.1f}" height="12"/></svg>'
    )


def _mistakes(records: list[dict]) -> list[str]:
    """Say at what answers fail first, by claim, and how points are lost otherwise."""
    made, says, read = defaultdict(set), {}, {}
    for place, record in enumerate(records):
        for task in record["tasks"]:
            failing = [check for check in task["checks"] if check["mistake"]]
            for check in failing[:1]:
                outcome = OUTCOMES.get(check["mistake"])
                kind = task["task"], outcome or check["claim"]
                made[kind].add(place)
                says.setdefault(kind, "" if outcome else check["feedback"])
                read.setdefault(kind, check["read"])
    common = sorted(made, key=lambda kind: (-len(made[kind]), kind))
    named = [kind for kind in common if says[kind]]
    lines = ["<h3>Where answers fail first</h3>"]
    lines += _table_of_mistakes(named[:MOST_MISTAKES], made, says, read)
    if not named:
        lines.append("<p>Nowhere.</p>")
    if len(named) > MOST_MISTAKES:
        lines.append(f"<p>{len(named) - MOST_MISTAKES} others were rarer.</p>")
    if others := [kind for kind in common if not says[kind]]:
        lines.append("<h3>Points lost in other ways</h3>")
        lines += _table_of_mistakes(others, made, {}, {})
    return lines


def _table_of_mistakes(kinds, made, says, read) -> list[str]:
    if not kinds:
        return []
    head = "<th>not so</th><th>what was said, for example</th>" if says else "<th></th>"
    lines = [
        '<div class="wide" tabindex="0"><table><thead><tr><th class="n">students</th>'
        f"<th>task</th>{head}</tr></thead><tbody>"
    ]
    for kind in kinds:
        said = f"<td>{safe(says[kind][:300])}" if says else ""
        if read.get(kind, "").startswith(("http://", "https://")):
            said += f' <a href="{safe(read[kind])}">Teach again</a>'
        lines.append(
            f'<tr><td class="n">{len(made[kind])}</td><td>{safe(kind[0])}</td>'
            f"<td>{safe(kind[1])}</td>{said}</tr>"
        )
    return [*lines, "</tbody></table></div>"]


def _alike(book, exercise: str, own) -> list[str]:
    if not book.setting("alike"):
        return []
    answers, contents, marks = {}, defaultdict(list), []
    for effective in own:
        (row,) = book.rows(
            "SELECT answers FROM results WHERE result = ?",
            effective.handin["result"],
        )
        answers[effective.student] = json.loads(row["answers"])
        contents[effective.handin["content"]].append(effective.student)
        whose = book.setting(f"mark {effective.handin['variant']}")
        if whose and whose != effective.student:
            marks.append((effective.student, whose))
    same = [group for group in contents.values() if len(group) > 1]
    pairs = similar_pairs(answers, book.setting(f"reference {exercise}", {}))
    if not (same or pairs or marks):
        return []
    lines = [
        "<h3>Alike</h3>",
        "<p>What follows says that texts are alike, not why. Students who work "
        "together, one who taught the other, and a source that both have read look "
        "the same here. Ask before you conclude.</p>",
        "<ul>",
    ]
    for group in same:
        lines.append(f"<li>The same file: {safe(', '.join(group))}.</li>")
    for student, whose in marks:
        lines.append(
            f"<li>The notebook of {safe(student)} was released to {safe(whose)}.</li>"
        )
    together = {frozenset(p) for g in same for p in _pairs(g)}
    for pair in pairs:
        if frozenset((pair.one, pair.other)) in together:
            continue
        tasks = f"; the same but for names: {', '.join(pair.tasks)}" * bool(pair.tasks)
        lines.append(
            f"<li>{safe(pair.one)} and {safe(pair.other)}: {pair.similarity:.0%} of "
            f"what few others have{safe(tasks)}.</li>"
        )
    return [*lines, "</ul>"]


def _pairs(group: list[str]) -> list[tuple[str, str]]:
    return [(a, b) for k, a in enumerate(group) for b in group[k + 1 :]]


def _left_out(book) -> list[str]:
    rows = book.rows(
        "SELECT says FROM problems WHERE run = (SELECT MAX(run) FROM runs)"
    )
    said = [row["says"] for row in rows]
    for refused in refusals(book):
        line = f"{refused['source']}: not graded. {refused['refused']}"
        if line not in said:
            said.append(line)
    if not said:
        return []
    return [
        "<h2>Left out or in doubt</h2>",
        "<ul>",
        *(f"<li>{safe(line)}</li>" for line in said),
        "</ul>",
    ]
