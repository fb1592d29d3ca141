"""The process that runs a student's code: what it does with the cells it is sent.

It knows no expected output. Check cells are not run in the student's namespace: the
checks that they name are kept out of its reach, and what is printed goes past it.
"""

from __future__ import annotations

import gc
import linecache
import sys
import types

import torch
import tqdm

from attncourse.exercises import MODULES
from attncourse_grader.isolate.asked import Asked
from attncourse_grader.isolate.channel import Broken, Reader, sender
from attncourse_grader.isolate.guard import Breach, Guard
from attncourse_grader.isolate.oracle import is_of_an_exercise

EXERCISES = "attncourse.exercises"
PROBE = "_exercise.probe("
LONGEST_OUTPUT = 900_000  # characters of a check that are sent


class NullStream:
    """A stream for what answers print: nobody reads it."""

    encoding, errors, name, mode, closed = "utf-8", "replace", "<nowhere>", "w", False
    line_buffering = write_through = True

    def write(self, text):
        """Return how much would have been written."""
        return len(text)

    def writelines(self, lines):
        """Do nothing."""

    def flush(self):
        """Do nothing."""

    def isatty(self):
        """Say no."""
        return False

    def fileno(self):
        """Return the number of the null device."""
        return 1

    def readable(self):
        """Say no."""
        return False

    writable = seekable = readable
    close = flush
    buffer = None


class Probe:
    """Stands for the exercise in a check cell.

    Parameters
    ----------
    exercise : Exercise
        A copy that no student's code can reach.
    judge : module
        The judge of that copy.
    guard : Guard
        What watches over the process.
    asked : Asked
        What checks are handed in place of answers.
    """

    def __init__(self, exercise, judge, guard, asked):
        self.exercise, self.judge = exercise, judge
        self.guard, self.asked = guard, asked
        self.lines: list[str] = []

    def probe(self, name, index, seeds, *answers):
        """Note down what an answer returns for the inputs of some seeds."""
        import dataclasses

        check = self.exercise.task(name).checks[index]
        ask = check.ask

        def alone(*answers, **inputs):
            # A tensor of the answer's own kind could say that it equals everything.
            with torch._C.DisableTorchFunctionSubclass():
                return ask(*answers, **inputs)

        check = dataclasses.replace(check, ask=alone)
        answers = [self.asked.of(answer) for answer in answers]
        found = self.judge.run_cases(check, answers, seeds)
        for seed, seen in zip(seeds, found, strict=True):
            self.lines += self.judge.lines_of_case(check, seed, seen)
        self.guard.look()


def serve(sock, kept, modules) -> None:
    """Run cells until the socket closes.

    Parameters
    ----------
    sock : socket.socket
        Where cells come from and what they say goes to.
    kept : dict of str to Exercise
        The exercises by the names of their modules, out of reach of the answers.
    modules : dict of str to module
        The modules that these are in, by name.
    """
    gc.enable()
    main = types.ModuleType("__main__")
    namespace = vars(main)
    namespace |= {
        "__builtins__": __builtins__,
        "display": lambda *things, **options: None,
        "get_ipython": _get_ipython,
    }
    sys.modules["__main__"] = main
    sys.stdout, sys.stderr = NullStream(), NullStream()
    sys.__stdout__, sys.__stderr__ = sys.stdout, sys.stderr
    tqdm.tqdm.monitor_interval = 0  # it would start a thread
    sys.argv, sys.path[:] = ["notebook"], [p for p in sys.path if p]
    reader, guard, exercise, asked = Reader(sock), Guard(), None, Asked()
    judge = modules[f"{EXERCISES}.judge"]
    say = sender(sock, bytes.fromhex(reader.read()))
    while True:
        try:
            message = reader.read()
        except Broken:
            return
        number, code = message["id"], message["code"]
        if "_exercise" in code and exercise is None:
            code, exercise = _chosen(code, kept)
            own = [f"<cell {place}>" for place in range(number + 1)]
            try:
                if exercise:
                    guard.arm(exercise.forbidden, own, _modules_of(exercise, modules))
            except Exception as problem:  # the cells cannot be run unwatched
                say({"type": "error", **_described(problem)})
                return
        probe = Probe(exercise, judge, guard, asked)
        error = _run(code, number, namespace, probe)
        if error is not None:
            say({"type": "error", **error})
        elif probe.lines:
            text = "\n".join(probe.lines) + "\n"
            say({"type": "stream", "text": text[:LONGEST_OUTPUT]})
        say({"type": "done", "id": number})


def _get_ipython():
    from IPython.core.interactiveshell import InteractiveShell

    InteractiveShell.history_manager = None
    return InteractiveShell.instance()


def _chosen(code, kept):
    """Take the line that imports the exercise out of a cell."""
    rest, exercise = [], None
    for line in code.splitlines():
        if line.startswith("from attncourse.exercises import ") and (
            line.endswith(" as _exercise")
        ):
            exercise = kept.get(line.split()[3])
        else:
            rest.append(line)
    return "\n".join(rest), exercise


def _modules_of(exercise, modules) -> dict:
    """Return the modules of one exercise, and those that all share."""
    own = f"{EXERCISES}.{MODULES[exercise.notebook]}"
    return {
        name: module
        for name, module in modules.items()
        if name.startswith(own) or not is_of_an_exercise(name)
    }


def _run(code, number, namespace, probe):
    """Run one cell and return the error, if there was one."""
    guard = probe.guard
    guard.begin()
    settle()
    try:
        if code.startswith(PROBE) and probe.exercise is not None:
            compiled = compile(code, "<check>", "exec")
            exec(compiled, {**namespace, "_exercise": probe})
        else:
            name = f"<cell {number}>"
            linecache.cache[name] = (len(code), None, code.splitlines(True), name)
            exec(compile(code, name, "exec", dont_inherit=True), namespace)
            guard.look()
    except Breach as breach:
        return {"ename": breach.kind, "evalue": str(breach)}
    except BaseException as error:
        return _described(error)
    if guard.breach is not None:  # it was raised and caught by the answer
        return {"ename": guard.breach.kind, "evalue": str(guard.breach)}
    return None


def settle() -> None:
    """Set back what an answer may have set for the whole process."""
    torch.set_grad_enabled(True)
    torch.set_default_dtype(torch.float32)
    torch.default_generator.manual_seed(0)


def _described(error) -> dict:
    try:
        said = str(error)[:2000]
    except BaseException:
        said = ""
    return {"ename": type(error).__name__, "evalue": said}
