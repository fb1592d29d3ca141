"""What an exercise asks for: tasks, their checks, and the mistakes that are known.

These are plain records. `attncourse.exercises.judge` runs them and says what it saw.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field

VISIBLE_SEEDS = (0, 1, 2)


@dataclass(frozen=True)
class Mistake:
    """A misconception, and how to know it when one sees it.

    Attributes
    ----------
    name : str
        A few words for the teacher's statistics, such as "softmax over the queries".
    says : str
        What the student reads: what the answer does, in words, and why it is wrong.
        It does not give the solution.
    wrong : callable, optional
        ``wrong(**inputs)`` returns what an answer with this mistake returns, in the
        form that the check's `ask` returns it.
    when : callable, optional
        ``when(seen, expected, inputs)`` says whether the mistake was made, for mistakes
        that give no fixed value; `seen` and `expected` are {name: Seen}.
    read : str
        The section of the book about it: "chapters/05_masking#heading-in-the-page".
    """

    name: str
    says: str
    wrong: Callable | None = None
    when: Callable | None = None
    read: str = ""


@dataclass(frozen=True)
class Check:
    """One claim about an answer, worth points.

    Attributes
    ----------
    claim : str
        What holds if the check passes: "every row of the weights sums to 1".
    points : float
        What it is worth.
    ask : callable
        ``ask(*answers, **inputs)`` calls the student's objects, in the order of the
        task's `names`, and returns a value, or a dict of names to values.
    expected : callable
        ``expected(**inputs)`` returns what a right answer gives, in the same form. It
        must not call the student's code.
    inputs : callable
        ``inputs(generator)`` draws the keyword arguments from a seeded
        ``torch.Generator``. Draw sizes too, so that no shape can be relied on, and
        keep them small: a failing input is shown.
    mistakes : tuple of Mistake
        Looked through in order; the first that explains every failing input is named.
    tolerance : float
        For numbers, absolute and relative.
    digits : int
        Decimals that are compared when grading.
    pure : bool
        Whether the inputs must come out of the call unchanged.
    once : bool
        For what takes seconds, such as training: one input only.
    tensors : bool
        Whether arrays have to be tensors of PyTorch, in what `ask` returns.
    gradients : bool
        Whether `ask` goes backwards, so that gradients have to be recorded.
    """

    claim: str
    points: float
    ask: Callable
    expected: Callable
    inputs: Callable = field(default=lambda generator: {})
    mistakes: tuple[Mistake, ...] = ()
    tolerance: float = 1e-4
    digits: int = 2
    pure: bool = False
    once: bool = False
    tensors: bool = True
    gradients: bool = False

    @property
    def seeds(self) -> tuple[int, ...]:
        """The seeds of the inputs that the student's own notebook uses."""
        return VISIBLE_SEEDS[:1] if self.once else VISIBLE_SEEDS


@dataclass(frozen=True)
class Task:
    """Something to write.

    Attributes
    ----------
    name : str
        Short and unique in the exercise, such as "scores".
    title : str
        The heading in the notebook.
    names : tuple of str
        The functions or classes that the answer defines.
    checks : tuple of Check
        From the basic to the subtle.
    difficulty : str
        "easy", "medium" or "hard".
    minutes : int
        A guess for somebody who has read the chapter.
    needs : tuple of str
        Tasks whose answers this one's answer may call.
    """

    name: str
    title: str
    names: tuple[str, ...]
    checks: tuple[Check, ...]
    difficulty: str = "medium"
    minutes: int = 10
    needs: tuple[str, ...] = ()

    @property
    def points(self) -> float:
        """The points of all checks."""
        return sum(check.points for check in self.checks)


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
    forbidden : dict of str to str
        Names that an answer may not use, and what is said if it does.
    """

    notebook: str
    title: str
    tasks: tuple[Task, ...]
    forbidden: dict[str, str] = field(default_factory=dict)

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
        for task in self.tasks:
            if task.name == name:
                return task
        known = ", ".join(task.name for task in self.tasks)
        raise ValueError(f"{self.title} has no task {name!r}. Its tasks are: {known}.")

    def label(self, task: Task) -> str:
        """Return the number of a task, such as "1.2"."""
        return f"{self.number}.{self.tasks.index(task) + 1}"

    def check(self, name: str, *answers) -> None:
        """Check the answer to one task and print what was found.

        Parameters
        ----------
        name : str
            The name of the task.
        *answers
            The functions or classes that the task asks for, in its order.
        """
        import sys

        from attncourse.exercises.feedback import text_of_task
        from attncourse.exercises.judge import judge_task, unsound_under

        task = self.task(name)
        verdicts = judge_task(self, task, answers)
        namespace = vars(sys.modules["__main__"])
        under = unsound_under(self, task, verdicts, answers, namespace)
        print(text_of_task(self.label(task), task, verdicts, under))

    def report(self, namespace: dict | None = None) -> None:
        """Check every task and print the points: the report of the grader, for oneself.

        Parameters
        ----------
        namespace : dict, optional
            Where the answers are; by default the notebook's own names.
        """
        import sys

        from attncourse.exercises.feedback import text_of_report
        from attncourse.exercises.judge import judge_task, unsound_under

        if namespace is None:
            namespace = vars(sys.modules["__main__"])
        results, known = [], {}
        for task in self.tasks:
            answers = [namespace.get(name) for name in task.names]
            verdicts = known[task.name] = judge_task(self, task, answers)
            under = unsound_under(self, task, verdicts, answers, namespace, known)
            results.append((self.label(task), task, verdicts, under))
        print(text_of_report(self, results))

    def probe(self, name: str, index: int, seeds: list[int], *answers) -> None:
        """Print what an answer returns for the inputs of some seeds: for the grader.

        Parameters
        ----------
        name : str
            The name of the task.
        index : int
            Which of its checks.
        seeds : list of int
            Seeds of the inputs.
        *answers
            The functions or classes that the task asks for.
        """
        from IPython.utils.capture import capture_output

        from attncourse.exercises.judge import lines_of_case, run_cases

        check = self.task(name).checks[index]
        with capture_output():  # what the answer itself prints or draws
            found = run_cases(check, answers, seeds)
        for seed, seen in zip(seeds, found, strict=True):
            print(*lines_of_case(check, seed, seen), sep="\n")
