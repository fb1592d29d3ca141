"""Which answers are alike, whatever their names, comments and layout.

The syntax tree of an answer is written as tokens, in which all variables are the same.
Of the hashes of its runs of tokens some are kept by winnowing (Schleimer, Wilkerson and
Aiken, 2003): answers that share a passage share these fingerprints. What the solution
has, the code that students were given included, and what many have is left out.
"""

import ast
import zlib
from collections import Counter, defaultdict
from itertools import combinations

from attncourse_grader.hand_in.submission import Submission

RUN = 10  # tokens that are looked at together
WINDOW = 4  # runs, of which the one with the smallest hash is kept
OTHER = ""  # the name under which helpers are kept
RARE = 5  # students at most who have a fingerprint that says something about a pair
FEWEST_SHARED = 8  # of such fingerprints
ALIKE = 0.65  # one changed line in ten
DROPPED = ("annotation", "returns", "type_comment", "type_params", "ctx")


def fingerprints(submission: Submission, reference=()) -> dict[str, list[int]]:
    """Return the fingerprints of the answers in a notebook by task.

    `reference` has the statements of the solution; what stands in them is left out.
    """
    found: dict[str, set[int]] = {}
    known = set().union(*(winnowed(tokens_of(s.text), 1) for s in reference))
    tasks = submission.exercise.tasks
    names = {name: task.name for task in tasks for name in task.answers}
    for statement in submission.statements:
        for task in {names.get(name, OTHER) for name in statement.binds}:
            kept = winnowed(tokens_of(statement.text), WINDOW)
            found.setdefault(task, set()).update(kept - known)
    return {task: sorted(prints) for task, prints in found.items()}


def winnowed(tokens: list[str], window: int) -> set[int]:
    """Return the smallest hash of each window of runs of tokens."""
    places = range(max(1, len(tokens) - RUN + 1))
    runs = [" ".join(tokens[k : k + RUN]).encode("utf8", "replace") for k in places]
    hashes = list(map(zlib.crc32, runs)) if tokens else []
    places = range(max(1, len(hashes) - window + 1))
    return {min(hashes[k : k + window]) for k in places if hashes}


def tokens_of(statement: str) -> list[str]:
    """Return the tokens of a statement; none where nothing was written yet."""
    tokens: list[str] = []
    waiting: list[ast.AST] = ast.parse(statement).body
    while waiting:  # a loop, not recursion: a hostile tree may be deep
        part = waiting.pop()
        if isinstance(part, ast.Name) and part.id == "NotImplementedError":
            return []
        value = getattr(part, "value", None)
        if isinstance(part, ast.Expr) and isinstance(value, ast.Constant):
            continue  # a docstring
        kind = type(part).__name__
        text = f".{part.attr}" if isinstance(part, ast.Attribute) else kind
        if isinstance(part, ast.Constant):  # a long number has no decimal form
            text = (hex(value) if isinstance(value, int) else repr(value))[:40]
        tokens.append("Name" if isinstance(part, ast.arg) else text)
        fields = [v for name, v in ast.iter_fields(part) if name not in DROPPED]
        children = [c for v in fields for c in (v if isinstance(v, list) else [v])]
        waiting += reversed([c for c in children if isinstance(c, ast.AST)])
    return tokens


def similar_pairs(answers: dict[str, dict[str, list[int]]]) -> list[tuple]:
    """Return the pairs of students whose answers are nearly the same.

    Of each the two names, the similarity from 0 to 1, and the tasks that are the same
    but for names and layout; the pairs that are most alike come first.
    """
    holders = defaultdict(list)
    for student in sorted(answers):
        for fingerprint in set().union(*answers[student].values()):
            holders[fingerprint].append(student)
    few = min(RARE, max(2, len(answers) // 2))  # in a small class
    rare = [group for group in holders.values() if len(group) <= few]
    own = Counter(student for group in rare for student in group)
    found = []
    shared = Counter(pair for group in rare for pair in combinations(group, 2))
    for (one, other), count in shared.items():
        similarity = 2 * count / (own[one] + own[other])
        if count >= FEWEST_SHARED and similarity >= ALIKE:
            two = answers[other]
            both = [t for t, p in answers[one].items() if t and p and p == two.get(t)]
            found.append((one, other, similarity, both))
    return sorted(found, key=lambda pair: (-pair[2], *pair[:2]))
