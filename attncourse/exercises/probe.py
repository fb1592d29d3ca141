"""What an exercise asks for: tasks, and the probes that look at an answer.

These are plain records. `run` calls an answer, `compare` says whether what came is
right and, if not, what is wrong with it, and `notebook` prints that. Nothing here knows
a right answer: expected values are recorded from the instructor's solution.
"""

from collections.abc import Callable
from dataclasses import dataclass

import torch

VISIBLE_SEEDS = (0, 1, 2)  # of the inputs that a student's own notebook uses


@dataclass(frozen=True)
class Probe:
    """One look at an answer, on inputs that isolate one mechanism.

    Attributes
    ----------
    claim : str
        What holds if the probe passes: "the scores are divided by the root of d_k".
    given : str
        What is special about the inputs, so that only one mechanism speaks: "Each query
        equals one key, and the keys are orthogonal." True for every answer.
    draw : callable
        ``draw(generator)`` returns the inputs as a dict, drawn from a seeded
        ``torch.Generator``. Use what is in `drawing`, which gives the same numbers on
        every machine. Keep sizes small, different from each other, and draw them too.
    call : callable, optional
        ``call(*answers, **inputs)`` calls the student's objects, in the order of the
        task's `answers`, and returns what came back: tensors, numbers, texts, and
        tuples, lists and dicts of these. By default the first answer is called with
        the inputs by position.
    names : tuple of str
        What the parts of a returned tuple are called in messages.
    why : str
        What is wrong with an answer that gives values of the right form, but not the
        right values, where this says more than the claim. It must be true of *every*
        answer that fails here and passed all probes before: say what was tested and
        seen, not what the code may look like.
    weight : float
        The share of the task's points; one of 0 finds out what is wrong (half a point).
    measure : callable, optional
        ``measure(values, inputs)`` turns the returned values, NumPy arrays by name,
        into a number. It runs outside the process that runs the student's code.
    between : (float, float), optional
        The range in which that number has to lie; then values are not compared, but
        for those in `compared`.
    compared : tuple of str
        Names of values that have to be the expected ones, beside what is measured.
    tolerance : float
        For numbers, absolute and relative.
    slow : bool
        For what takes a second or more, such as training: one seed only.
    exact_type : bool
        Whether the type of numbers counts (float16 or float32), not only their kind.
    read : str
        Where the book explains it: "chapters/05_masking#heading-in-the-page".
    """

    claim: str
    given: str
    draw: Callable[[torch.Generator], dict]
    call: Callable | None = None
    names: tuple[str, ...] = ()
    why: str = ""
    weight: float = 1.0
    measure: Callable | None = None
    between: tuple[float, float] | None = None
    compared: tuple[str, ...] = ()
    tolerance: float = 1e-4
    slow: bool = False
    exact_type: bool = False
    read: str = ""

    @property
    def seeds(self) -> tuple[int, ...]:
        """The seeds of the inputs that the student's own notebook uses."""
        return VISIBLE_SEEDS[:1] if self.slow else VISIBLE_SEEDS


@dataclass(frozen=True)
class Task:
    """Something to write; whatever holds for it earns its share of the points."""

    name: str  # short and unique in the exercise, such as "scores"
    title: str  # the heading in the notebook
    answers: tuple[str, ...]  # the functions or classes that the answer defines
    points: float
    probes: tuple[Probe, ...]  # the basic first: one that fails explains
    forbidden: tuple[str, ...] = ()  # beside what the exercise forbids


@dataclass(frozen=True)
class Exercise:
    """A notebook of tasks.

    Attributes
    ----------
    notebook : str
        The name of the file, without its ending: "1_attention_from_scratch".
    title : str
        Its title.
    tasks : tuple of Task
        In the order of the notebook.
    forbidden : tuple of str
        What no answer may use: dotted names of modules, classes and functions
        ("torch.nn.MultiheadAttention", "attncourse.layers" with all that is in it,
        ``torch.nn.Transformer*`` with all that begins so), or of methods, with a dot in
        front (".backward").
    practice : bool
        Whether it counts towards no grade.
    """

    notebook: str
    title: str
    tasks: tuple[Task, ...]
    forbidden: tuple[str, ...] = ()
    practice: bool = False

    @property
    def number(self) -> int:
        """The number that the notebook's name starts with."""
        return int(self.notebook.split("_")[0])

    @property
    def points(self) -> float:
        """The points of all tasks."""
        return sum(task.points for task in self.tasks)

    def task(self, name: str) -> Task:
        """Return the task called `name`."""
        tasks = {task.name: task for task in self.tasks}
        if name in tasks:
            return tasks[name]
        known = ", ".join(tasks)
        raise ValueError(f"{self.title} has no task {name!r}. Its tasks are: {known}.")

    def label(self, task: Task) -> str:
        """Return the number of a task, such as "1.2"."""
        return f"{self.number}.{self.tasks.index(task) + 1}"

    def answers_beside(self, task: Task) -> set[str]:
        """Return what the other tasks ask for: each answers for itself alone."""
        names = {name for other in self.tasks for name in other.answers}
        return names - set(task.answers)

    def rule_of(self, task: Task) -> tuple[tuple[str, ...], set[str]]:
        """Return what an answer may not use, and answers that it may call all the same.

        What is ruled out in one task alone is so in all that its answer calls.
        """
        others = set() if task.forbidden else self.answers_beside(task)
        return (*self.forbidden, *task.forbidden), others


def nth(place: int) -> Callable:
    """Return a call of one of several answers, with the inputs by position."""
    return lambda *answers, **inputs: answers[place](*inputs.values())
