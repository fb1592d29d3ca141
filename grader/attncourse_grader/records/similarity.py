"""How alike answers are, whatever their names, comments and layout.

An answer is parsed, its variables are numbered in the order in which they appear, and
short runs of what is left are compared. Runs that the reference answer has too, or that
many students have, say nothing about a pair and count little.
"""

from __future__ import annotations

import ast
import math
import zlib
from collections import Counter, defaultdict
from dataclasses import dataclass
from itertools import combinations
from pathlib import Path

from attncourse_grader.hand_in.source import statements_of
from attncourse_grader.hand_in.submission import Refused, read_notebook

RUN = 6  # nodes of the syntax tree that are looked at together
OTHER = ""  # the name under which helpers are kept
ALIKE = 0.75  # one changed line in ten
RARE = 5  # answers at most that have a run which says something about a pair
FEWEST_SHARED = 25  # runs that two answers share and hardly anybody else has
DROPPED = ("annotation", "returns", "type_comment", "type_params", "ctx")


def fingerprints(path: Path, exercise) -> tuple[dict[str, list[int]], str]:
    """Return what is compared of a notebook, and the mark of its release."""
    found: dict[str, set[int]] = {}
    names = {name: task.name for task in exercise.tasks for name in task.answers}
    try:
        notebook = read_notebook(path)
    except Refused:
        return {}, ""
    mark = notebook.metadata.get("attncourse")
    variant = mark.get("variant", "") if isinstance(mark, dict) else ""
    for cell in notebook.cells:
        statements = statements_of(cell.source, 0) if cell.cell_type == "code" else []
        for statement in statements if isinstance(statements, list) else []:
            for task in {names.get(name, OTHER) for name in statement.binds}:
                found.setdefault(task, set()).update(runs_of(statement.text))
    return {task: sorted(runs) for task, runs in found.items()}, str(variant)[:64]


def runs_of(statement: str) -> set[int]:
    """Return the runs of a statement as numbers."""
    words: list[str] = []
    numbers: dict[str, int] = {}
    waiting: list[ast.AST] = ast.parse(statement).body
    while waiting:  # a loop, not recursion: a hostile tree may be deep
        part = waiting.pop()
        words.append(_word(part, numbers))
        children = [
            child
            for field, value in ast.iter_fields(part)
            if field not in DROPPED
            for child in (value if isinstance(value, list) else [value])
            if isinstance(child, ast.AST) and not _is_text_alone(child)
        ]
        waiting += reversed(children)
    if any("NotImplementedError" in word for word in words):
        return set()  # nothing was written yet
    return {
        zlib.crc32(" ".join(words[k : k + RUN]).encode("utf8", "replace"))
        for k in range(max(1, len(words) - RUN + 1))
    }


def _word(node: ast.AST, numbers: dict[str, int]) -> str:
    kind = type(node).__name__
    if isinstance(node, ast.Name):
        if node.id == "NotImplementedError":
            return node.id
        return f"v{numbers.setdefault(node.id, len(numbers))}"
    if isinstance(node, ast.arg):
        return f"v{numbers.setdefault(node.arg, len(numbers))}"
    if isinstance(node, ast.Attribute):
        return f".{node.attr}"
    if isinstance(node, ast.Constant):
        return repr(node.value)[:40]
    return kind


def _is_text_alone(node: ast.AST) -> bool:
    """Say whether a node is a docstring or another text that does nothing."""
    return (
        isinstance(node, ast.Expr)
        and isinstance(node.value, ast.Constant)
        and isinstance(node.value.value, str)
    )


@dataclass(frozen=True)
class Pair:
    """Two submissions that are much alike."""

    one: str  # the students
    other: str  # the students
    similarity: float  # from 0 to 1
    tasks: tuple[str, ...]  # the tasks that are the same but for names and layout


def similar_pairs(
    answers: dict[str, dict[str, list[int]]], reference: dict[str, list[int]]
) -> list[Pair]:
    """Return the pairs of students whose answers are nearly the same."""
    known = set().union(*map(set, reference.values()), set())
    parts = {
        student: {task: set(runs) - known for task, runs in tasks.items()}
        for student, tasks in answers.items()
    }
    whole = {s: set().union(*tasks.values(), set()) for s, tasks in parts.items()}
    held = Counter(run for runs in whole.values() for run in runs)
    weight = {run: math.log((1 + len(whole)) / n) for run, n in held.items()}
    sums = {s: math.fsum(map(weight.get, runs)) for s, runs in whole.items()}
    # Only who share runs that few others have is compared: a class of any size is.
    holders = defaultdict(list)
    for student in sorted(whole):
        for run in whole[student]:
            if held[run] <= RARE:
                holders[run].append(student)
    pairs = Counter(p for group in holders.values() for p in combinations(group, 2))
    found = []
    for (one, other), rare in pairs.items():
        if rare < FEWEST_SHARED:
            continue
        both = sums[one] + sums[other]
        shared = whole[one] & whole[other]
        similarity = 2 * math.fsum(map(weight.get, shared)) / both
        if similarity >= ALIKE:
            same = tuple(
                task
                for task, runs in parts[one].items()
                if task and runs and runs == parts[other].get(task)
            )
            found.append(Pair(one, other, similarity, same))
    return sorted(found, key=lambda pair: (-pair.similarity, pair.one, pair.other))
