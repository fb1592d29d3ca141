"""How late a hand-in is, and what that costs."""

import math
import re

from attncourse_grader.hand_in.submission import Refused
from attncourse_grader.sentences import SAYS

SECONDS = {"hour": 3600, "day": 86400, "week": 604800}
PENALTY = re.compile(r"(\d+(?:\.\d+)?)(%?)(?:/(hour|day|week))?")
MARKED = 0.5  # seconds: what is marked as late without a time is at least late


def penalty_for(text: str, late: float = 0.0, of: float = 0.0) -> float:
    """Return the points that a penalty takes off.

    It is written like ``10%/day``, which is of the points `of` that the exercise has,
    ``1/hour`` or, for once, ``20%``; "" and ``none`` take nothing. `late` is in
    seconds; each hour, day or week that has begun counts. Other texts are `Refused`.
    """
    if text in ("", "none"):
        return 0.0
    match = PENALTY.fullmatch(text.replace(" ", "").replace("per", "/"))
    if not match:
        raise Refused(SAYS["which_penalty"].format(text))
    times = math.ceil(late / SECONDS[match[3]]) if match[3] else late > 0
    each = float(match[1]) * (of / 100 if match[2] else 1)
    return round(min(of, max(0, times) * each), 4)


def lateness(handin) -> float | None:
    """Return how many seconds late a hand-in is, None if that is not known."""
    due, time = handin["due"], handin["handed_in"]
    if time is not None:
        return max(0.0, int(time) - due) if due is not None else 0.0
    if handin["marked_late"] and due == handin["deadline"]:
        return MARKED
    return None if due is not None else 0.0


def in_words(seconds: float) -> str:
    """Return a length of time in words: "1 day 2 hours"."""
    days, rest = divmod(math.ceil(seconds / 60), 1440)
    parts = (days, "day"), (rest // 60, "hour"), (rest % 60, "minute")
    return " ".join([f"{n} {unit}{'s' * (n != 1)}" for n, unit in parts if n][:2])
