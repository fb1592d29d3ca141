"""What watches, inside the process that runs an answer, that it answers honestly.

Nothing in a process can be hidden for good from code that runs in it. So no right
answer is there to be found (see `oracle`); what is here makes cheating laborious, and
has it named. Python reports to an audit hook what code does, and a hook cannot be
removed; the frames of callers tell an answer from a library.
"""

from __future__ import annotations

import _signal
import _thread
import signal
import sys
import threading
from pathlib import Path

from attncourse.grading.running.asked import LOOK, is_plain_tensor
from attncourse.grading.running.ruled_out import rule_out
from attncourse.grading.running.watched import Watched

# By the name of the exception that the process reports: the name of the mistake.
BREACHES = {
    "ChangedCode": "changes the course's own code",
    "ForbiddenFunction": "forbidden function",
    "LooksIntoGrader": "looks into the grader",
}
CALL = "attncourse.call"
HANDLER, THREAD = "attncourse.handler", "attncourse.thread"
NEUTRAL = ("<string>", "<frozen", "<__array", "<check>", "<stdin>")
OBJECTS = (
    "gc.get_objects",
    "gc.get_referrers",
    "gc.get_referents",
    "sys._current_frames",
    "sys._current_exceptions",
    "sys.settrace",
    "sys.setprofile",
    "sys.addaudithook",
)
OF_FRAMES = ("tb_frame", "gi_frame", "cr_frame", "ag_frame")
OF_CODE = ("__code__", "__defaults__", "__kwdefaults__")
HELPERS = ("inspect.py", "traceback.py", "IPython/utils/frame.py", "base_tasks.py")
WALKING = ("frame.py", "base_tasks.py")
ASKING = ("inspect.py", "_jit_internal.py", "asyncio/")  # what helpers are called by
HELPING = ("currentframe", "<lambda>")


class Breach(BaseException):
    """An answer did what no answer may."""

    kind = "ChangedCode"


class LooksIntoGrader(Breach):
    """It looked at what is not its own."""

    kind = "LooksIntoGrader"


class ForbiddenFunction(Breach):
    """It called what the exercise rules out."""

    kind = "ForbiddenFunction"


class Guard:
    """Watch over the process that this is made in.

    Attributes
    ----------
    breach : Breach or None
        What was seen since the last call of `begin`.
    """

    def __init__(self):
        self.breach = None
        self._watched = None

    def begin(self) -> None:
        """Forget what was seen before."""
        self.breach = None

    def arm(self, forbidden: dict[str, str], own: list[str], kept) -> None:
        """Watch from now on.

        Parameters
        ----------
        forbidden : dict of str to str
            Names that an answer may not use, and what is said if it does.
        own : list of str
            Names of the instructor's own cells.
        kept : dict of str to module
            Modules that checks are in, which no import finds.
        """
        hook, originals = _hook_of(self, forbidden, frozenset(own))
        sys.addaudithook(hook)
        originals |= rule_out(forbidden)
        # A handler would be called with the frames of others. So none is set.
        refuse = _telling(HANDLER, lambda number, handler: _signal.getsignal(number))
        _signal.signal = signal.signal = refuse
        start = _telling(THREAD, _thread.start_new_thread)
        _thread.start_new_thread = threading._start_new_thread = start
        self._watched = Watched(kept)

    def look(self, *, after_call: bool = False) -> None:
        """Raise what was seen, or that something is not as it was.

        Parameters
        ----------
        after_call : bool
            Whether to look only at what a check may use between two calls of an answer.
        """
        if self.breach is not None:
            raise self.breach
        if self._watched is None:
            return
        if name := self._watched.changed(after_call=after_call):
            self.breach = Breach(f"The answer changes the course's own code: {name}.")
            raise self.breach


def _telling(event: str, function):
    """Return a function that does the same, and tells the audit hook before."""
    audit = sys.audit

    def telling(*arguments, **options):
        audit(event)
        return function(*arguments, **options)

    return telling


def _hook_of(guard: Guard, forbidden: dict[str, str], own: frozenset[str]):
    """Return an audit hook and the table of functions that only it may hand out."""
    import attncourse

    originals: dict = {}
    trusted = [sys.prefix, sys.base_prefix, str(Path(attncourse.__file__).parent)]
    trusted += [str(Path(p).resolve()) for p in (sys.prefix, sys.base_prefix)]
    trusted = tuple({*trusted, "/usr/lib"})
    getframe, startswith = sys._getframe, str.startswith
    busy = []

    def is_answers(code) -> bool:
        name = code.co_filename
        return not startswith(name, trusted) and name not in own

    def answer_calls(frame, most: int, skipping=()) -> bool:
        """Say whether, going up, an answer comes before anything else."""
        while frame is not None and most > 0:
            name = frame.f_code.co_filename
            if startswith(name, NEUTRAL):
                frame = frame.f_back
                continue
            if is_answers(frame.f_code):
                return True
            if skipping and not any(part in name for part in skipping):
                return False
            frame, most = frame.f_back, most - 1
        return False

    def note(kind, said):
        guard.breach = kind(said)
        raise guard.breach

    def hook(event, arguments):
        if busy:
            return
        if event == CALL:
            key, box = arguments
            busy.append(1)
            try:
                frame = getframe(2)
                found = answer_calls(frame, *originals[key][3])
                direct = getframe(1).f_code is not originals[key][1].__code__
            finally:
                busy.clear()
            if direct:
                note(LooksIntoGrader, "The answer reaches for what the grader keeps.")
            if found:
                note(ForbiddenFunction, originals[key][2])
            box.append(originals[key][0])
            return
        if event == LOOK:
            guard.look(after_call=True)
            if not all(map(is_plain_tensor, arguments[0])):
                note(Breach, "The answer changes the class of a tensor it was given.")
        elif event in (HANDLER, THREAD):
            if event == HANDLER and answer_calls(getframe(1), 2, ("",)):
                note(LooksIntoGrader, "The answer sets a handler for signals.")
            if event == THREAD and answer_calls(getframe(1), 9, ("",)):
                note(ForbiddenFunction, "The answer starts a thread; it has one only.")
        elif event == "sys._getframe" or (
            event == "object.__getattr__" and arguments[1] in OF_FRAMES
        ):
            busy.append(1)
            try:
                frame = getframe(1)
                bad = answer_calls(frame, 1)
                if not bad and frame.f_code.co_filename.endswith(HELPERS):
                    helper = frame.f_code
                    walks = helper.co_name.startswith("walk_")
                    walks = walks or helper.co_filename.endswith(WALKING)
                    if walks or "inspect" in helper.co_filename:
                        bad = answer_calls(frame.f_back, 3, ASKING)
                elif not bad and frame.f_code.co_name in HELPING:
                    bad = answer_calls(frame.f_back, 1)
            finally:
                busy.clear()
            if bad:
                note(LooksIntoGrader, "The answer walks through the frames of callers.")
        elif event in OBJECTS or startswith(event, "ctypes."):
            busy.append(1)
            try:
                bad = answer_calls(getframe(1), 3, ("",))
            finally:
                busy.clear()
            if bad:
                what = "memory" if startswith(event, "ctypes.") else "other objects"
                note(LooksIntoGrader, f"The answer looks at {what} ({event}).")
        elif event in ("object.__setattr__", "object.__delattr__"):
            thing, name = arguments[0], arguments[1]
            if name in OF_CODE:
                busy.append(1)
                try:
                    code = getattr(thing, "__code__", None)
                    bad = code is not None and not is_answers(code)
                    bad = bad and answer_calls(getframe(1), 2, ("",))
                finally:
                    busy.clear()
                if bad:
                    says = getattr(thing, "__qualname__", name)
                    note(Breach, f"The answer changes the course's own code: {says}.")
        elif event == "import":
            if arguments[0] in forbidden and answer_calls(
                getframe(1), 9, ("importlib",)
            ):
                note(ForbiddenFunction, forbidden[arguments[0]])
        elif event == "compile":
            name = arguments[1]
            if isinstance(name, bytes):
                name = name.decode("utf8", "replace")
            if isinstance(name, str) and startswith(name, trusted):
                busy.append(1)
                try:
                    bad = answer_calls(getframe(1), 1)
                finally:
                    busy.clear()
                if bad:
                    note(
                        LooksIntoGrader, "The answer passes its code off as another's."
                    )
        elif event == "code.__new__" and startswith(str(arguments[1]), trusted):
            note(LooksIntoGrader, "The answer passes its code off as another's.")

    return hook, originals
