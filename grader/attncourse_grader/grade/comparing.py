"""Where nbval runs and compares: in a process that runs nothing of a student's.

The kernel that it is given passes code on to an isolated process. For a check cell it
asks that process for raw values, compares them with those of the instructor's solution,
and prints the stored output for what holds and what came for the rest.
"""

import os
import tempfile
import time
from collections.abc import Callable
from contextlib import suppress
from dataclasses import replace
from functools import partial
from pathlib import Path

import nbformat
import nbval.plugin
import pytest
from nbformat.v4 import new_code_cell, new_notebook

from attncourse.exercises.compare import Case, holds, render
from attncourse.exercises.recorded import known
from attncourse.exercises.run import Observation, draw, to_plain
from attncourse_grader import cache
from attncourse_grader.exercises import exercise_of
from attncourse_grader.grade import compose
from attncourse_grader.grade.compose import Template
from attncourse_grader.grade.recorder import Recorder
from attncourse_grader.hand_in.submission import Refused, SolutionBroken
from attncourse_grader.isolate import forking
from attncourse_grader.isolate.rule_out import places_of
from attncourse_grader.isolate.student import AnswerError, ProcessEnded, Student
from attncourse_grader.safe_text import plain
from attncourse_grader.sentences import SAYS

SLOW = 240  # seconds that a cell or a probe of the solution may take
MOST_STRETCH = 8.0  # the time for all cells bounds it, too
SOLUTION_SECONDS = 1800
# Plugins of pytest that do nothing for notebooks, but take their time with each cell.
NOT_USED = ("cacheprovider", "unraisableexception", "threadexception", "logging")


def compare(
    solutions: str, notebook: str, answers: dict, checked, secret: str, seconds, limits
) -> dict[str, dict]:
    """Let nbval run answers in isolation, and return what it says of each task.

    `answers` has the code by task, `checked` the names of the tasks that are checked.
    `seconds` bounds all cells together; `limits` are for a probe, and for one that is
    slow or a definition. By task there is: ``error``, what its cell raised; ``ended``,
    whether it ended the process; ``passed``, whether nbval found the outputs as stored;
    ``failing``, the places of probes whose output differs; ``cases``, by such a place,
    [seed, expected, came]. Raises `SolutionBroken` if the solution does not run.
    """
    template = Template(exercise_of(notebook), Path(solutions))
    expected = expected_of(template, secret)
    seeds = {n: compose.all_seeds(template.exercise.task(n), secret) for n in checked}
    made = compose.compose(template, answers, seeds, expected)
    kernel = Kernel(template, expected, seconds, limits)
    kernel.checked = checked
    recorder = Recorder(template.path.name)
    try:
        _run_nbval(made, kernel, recorder)
    finally:
        kernel.stop()
    if recorder.fault:
        raise recorder.fault
    return recorder.tasks


def _run_nbval(notebook, kernel, recorder) -> None:
    with tempfile.TemporaryDirectory(prefix="attncourse-") as folder:
        path = Path(folder) / "graded.ipynb"  # the recorder removes it before it runs
        path.write_text(nbformat.writes(notebook), encoding="utf8")
        nbval.plugin.RunningKernel = lambda *_, **__: kernel
        options = [
            *("-c", os.devnull, f"--rootdir={folder}", f"--confcutdir={folder}"),
            *("-p", "nbval.plugin", *(f"-pno:{name}" for name in NOT_USED)),
            *("-s", "--tb=no", "--assert=plain", "--nbval", "--nbval-current-env"),
        ]
        pytest.main([*options, str(path)], plugins=[recorder])


def warm_up() -> None:
    """Let pytest and nbval import once, for all, what they import as they run."""
    cells = [new_code_cell("1", execution_count=1)]
    _run_nbval(new_notebook(cells=cells), Kernel(None, {}, 0, (0, 0)), Recorder())


def _is_measured(probe) -> bool:
    """Say whether a range is all that is known: what was trained is not compared."""
    return probe.slow and probe.between is not None and not probe.compared


def expected_of(template: Template, secret: str) -> dict:
    """Return what a solution gives by task, place and seed; raise `SolutionBroken`."""
    key = f"expected {template.version} {secret}"
    if (kept := cache.get(key)) is not None:
        return kept
    recorded, exercise, found = known(template.exercise.notebook), template.exercise, {}
    until = time.monotonic() + SOLUTION_SECONDS
    student = Student(_processes(template, SOLUTION_SECONDS), until)
    try:
        for cell in compose.definitions(template, compose.answers_in(template, None)):
            student.run(cell.source, SLOW)
        for task in exercise.tasks:
            graded_on = compose.all_seeds(task, secret)
            for place, probe in enumerate(task.probes):
                seeds = dict.fromkeys([*probe.seeds, *graded_on[place]])
                where = task.name, place, probe.seeds[0]
                if _is_measured(probe) and recorded.digest(*where):
                    came = [recorded.expected(*where)] * len(seeds)
                else:
                    came = student.observe(task.name, place, seeds, SLOW)
                    _compare_with_record(template, task, place, came, recorded)
                for seed, seen in zip(seeds, came, strict=True):
                    text = compose.block_of(place, seed, plain(render(seen, probe)))
                    found[task.name, place, seed] = seen, text
    except (AnswerError, ProcessEnded) as error:
        name = template.path.name
        raise SolutionBroken(f"the solution {name} does not run: {error}") from None
    finally:
        student.close()
    cache.put(key, found)
    return found


def try_solution(solutions: str, notebook: str, secret: str) -> None:
    """Work out what a solution gives; raise `SolutionBroken` if it does not run."""
    try:
        expected_of(Template(exercise_of(notebook), Path(solutions)), secret)
    except Refused as error:
        raise SolutionBroken(str(error)) from None


def _compare_with_record(template, task, place: int, came, recorded) -> None:
    """Raise `SolutionBroken` if the solution is no longer what was recorded of it."""
    probe = task.probes[place]
    for seed, seen in zip(probe.seeds, came, strict=False):
        right = not seen.error
        if recorded.digest(task.name, place, seed):
            expected = recorded.expected(task.name, place, seed)
            inputs = draw(probe, seed) if probe.between else {}
            right = holds(probe, Case(seed, inputs, expected, seen))
        if not right:
            what = f"raises {seen.error}" if seen.error else "gives something else"
            about = template.path.name, what, task.title
            raise SolutionBroken(SAYS["not_as_recorded"].format(*about))


def _processes(template: Template, seconds: float, forbidden=()) -> Callable:
    """Return what gives processes in which some more names are forbidden."""
    environment = template.environment(forbidden)
    hidden = [str(p) for p in places_of(environment["forbidden"])]
    hidden.append(str(template.path.parent.absolute()))
    what = {"seconds": seconds, "environment": environment, "hidden": hidden}
    return partial(forking.here.isolated, **what)


def _stretch() -> float:
    """Return by how much a deadline is put off where others use the processors."""
    return min(MOST_STRETCH, max(1.0, os.getloadavg()[0] / (os.cpu_count() or 1)))


class Kernel:
    """What nbval takes for the kernel of Jupyter: its `RunningKernel`."""

    def __init__(self, template: Template | None, expected: dict, seconds, limits):
        self.template, self.expected = template, expected
        self.seconds, (self.quick, self.slow) = seconds, limits
        self.student = None  # in which what all tasks forbid is ruled out
        if template is not None:
            until = time.monotonic() + seconds
            self.student = Student(_processes(template, seconds), until)
        self.mark: dict = {}  # of the cell that is run next; the recorder sets it
        self.checked = ()  # tasks; beside them there may be reference answers
        self.cases: dict[str, dict[int, list]] = {}
        self._messages: list[tuple[str, dict]] = []

    def execute_cell_input(self, source, allow_stdin=None):
        """Run a cell and return the number of its messages."""
        self._messages = []
        if "task" in self.mark:
            text = self._check(self.template.exercise.task(self.mark["task"]))
            self._messages.append(("stream", {"name": "stdout", "text": text}))
        elif self.student is not None:
            try:
                known = self.mark.get("answer") in (*self.checked, None)
                self.student.run(source, self.slow * _stretch(), known=known)
            except AnswerError as error:
                kind, _, said = str(error).partition(": ")
                content = {"ename": kind, "evalue": said, "traceback": []}
                self._messages.append(("error", content))
        self._messages.append(("status", {"execution_state": "idle"}))
        return 1

    def _check(self, task) -> str:
        """Return what came for the probes of a task, where it differs from expected."""
        text, tries, student, all_right = [], 2, self.student, True
        if task.forbidden:
            new = _processes(self.template, self.seconds, task.forbidden)
            student = Student(new, student.until, student.cells)
        for place, probe in enumerate(task.probes):
            seeds = self.mark["seeds"][place]
            if probe.slow and not all_right:
                continue
            try:
                cases = self._observe(student, task, place, seeds)
                right = {case.seed: holds(probe, case) for case in cases}
                for case in cases:
                    if right[case.seed]:
                        text.append(self.expected[task.name, place, case.seed][1])
                    else:
                        came = f"{plain(render(case.came, probe))}\n{SAYS['differs']}"
                        text.append(compose.block_of(place, case.seed, came))
                if not all(right.values()):
                    all_right = False
                    self._explain(student, task, place, cases)
            except (ProcessEnded, MemoryError):  # the latter here, of what came
                tries, all_right = tries - 1, False
                if not tries:
                    break
        if student is not self.student:
            student.close()
        return "".join(text)

    def _observe(self, student, task, place, seeds) -> list[Case]:
        probe = task.probes[place]
        seconds = (self.slow if probe.slow else self.quick) * _stretch()
        try:
            came = student.observe(task.name, place, seeds, seconds)
        except AnswerError as error:
            came = [Observation({}, error=str(error))] * len(seeds)
        cases = []
        for seed, seen in zip(seeds, came, strict=True):
            expected, _ = self.expected[task.name, place, seed]
            if _is_measured(probe) and seed not in probe.seeds:
                expected = replace(expected, values=seen.values)
            inputs = draw(probe, seed) if probe.between else {}
            cases.append(Case(seed, inputs, expected, seen))
        return cases

    def _explain(self, student, task, place: int, cases: list[Case]) -> None:
        """Keep the cases of a probe that fails."""
        probe = task.probes[place]
        kept = self.cases.setdefault(task.name, {})
        found = {case.seed: case for case in cases}
        if probe.slow:
            with suppress(ProcessEnded):
                again = self._observe(student, task, place, probe.seeds)
                found |= {case.seed: case for case in again}
        cases = found.values()
        kept[place] = [[c.seed, to_plain(c.expected), to_plain(c.came)] for c in cases]

    def await_reply(self, number, timeout=None):
        """Do nothing: when a cell was run, its messages are there."""

    await_idle = await_reply

    def get_message(self, stream, timeout=None):
        """Return the next message of the cell."""
        kind, content = self._messages.pop(0)
        return {"parent_header": {"msg_id": 1}, "msg_type": kind, "content": content}

    def is_alive(self) -> bool:
        """Say that cells can be run: a fresh process can be had at any time."""
        return True

    def stop(self) -> None:
        """End the process."""
        if self.student is not None:
            self.student.close()
