"""Answers that are wrong and try to make the process in which they run say otherwise.

Each notebook has one honest answer, which keeps its points, and others that lie.
"""

import textwrap
from pathlib import Path

import nbformat
import pytest
from attncourse_grader.grade.run import default_runner
from nbformat.v4 import new_code_cell, new_notebook

from attncourse_grader.exercises import exercise_of
from attncourse_grader.grade.compose import find_template
from attncourse_grader.grade.grading import grade_file
from attncourse_grader.hand_in.source import needed
from attncourse_grader.isolate import forking

pytestmark = pytest.mark.skipif(
    default_runner() != "fork", reason="kernels are forked on Linux only"
)
SOLUTIONS = Path(__file__).resolve().parents[2] / "solutions"
FIRST = "1_attention_from_scratch"
HONEST = "import torch\ndef attention_weights(scores): return torch.softmax(scores, -1)"


@pytest.fixture(scope="module", autouse=True)
def forker():
    """Take the forking process down with the tests, with all that it forked."""
    yield
    forking.forker().close()


@pytest.fixture(autouse=True)
def short_deadlines(monkeypatch):
    monkeypatch.setattr("attncourse_grader.grade.compose.QUICK", 4)
    monkeypatch.setattr("attncourse_grader.grade.compose.SLOW", 8)


@pytest.fixture
def grade(tmp_path):
    """Return a function that grades cells and gives back {task: TaskGrade}."""

    def graded(*cells, exercise=FIRST):
        path = tmp_path / "mallory.ipynb"
        notebook = new_notebook(cells=[new_code_cell(cell) for cell in cells])
        notebook.metadata["attncourse"] = {"exercise": exercise}
        nbformat.write(notebook, path)
        found = grade_file(path, solutions=SOLUTIONS)
        return {task.task.name: task for task in found.tasks}

    return graded


def right(exercise, *names):
    """Return the reference's answers of these names."""
    template = find_template(exercise_of(exercise), SOLUTIONS)
    statements = needed(names, template.reference + template.given)
    return "\n\n".join(s.text for s in statements if s in template.reference)


def define(task, body):
    """Return code that defines all names of a task, with the same body."""
    lines = textwrap.indent(textwrap.dedent(body).strip(), "    ")
    return "\n".join(
        f"def {name}(*arguments, **options):\n{lines}"
        for name in exercise_of(FIRST).task(task).names
    )


LOOKING = """
def use(frame):
    while frame is not None:
        if "guard" in frame.f_locals:
            frame.f_locals["guard"].look = lambda **options: None
        frame = frame.f_back
"""
# Ways to the frames of those who call.
FRAMES = {
    "scores": """
        import signal
        old = signal.signal(signal.SIGUSR1, lambda number, frame: use(frame))
        signal.raise_signal(signal.SIGUSR1)
        signal.signal(signal.SIGUSR1, old)
        """,
    "attention": """
        import asyncio
        async def main():
            for frame in asyncio.current_task().get_stack():
                use(frame)
        asyncio.run(main())
        """,
    "masks": """
        import torch
        for up in range(1, 9):
            found = torch._jit_internal.createResolutionCallbackFromFrame(up)
            found("guard")
        """,
    "masked": """
        import inspect
        for call in inspect.stack():
            use(call.frame)
        """,
    "gradient": """
        import threading
        threading.Thread(target=print).start()
        """,
}
# Ways to a function that is ruled out.
ROUTES = {
    "scores": """
        import torch
        table = torch._C._VariableFunctions
        getattr(table, "_scaled_dot_" + "product_attention_math")(*[arguments[0]] * 3)
        """,
    "attention": """
        import torch
        name = "aten::scaled_dot_" + "product_attention"
        torch._C._jit_get_operation(name)[0](*arguments)
        """,
    "masks": """
        import torch
        name = "aten::scaled_dot_" + "product_attention"
        torch._C._get_operation_overload(name, "")
        """,
    "masked": """
        import torch
        getattr(torch._VF, "_scaled_dot_" + "product_attention_math")
        getattr(torch._VF, "_scaled_dot_" + "product_attention_math")(*arguments[:3])
        """,
    "gradient": """
        import torch
        name = "_softmax_back" + "ward_data"
        return getattr(torch.ops.aten, name)(*arguments[:2], -1, torch.float32)
        """,
}


@pytest.mark.parametrize(
    ("bad", "mistake"),
    [(FRAMES, "looks into the grader"), (ROUTES, "forbidden function")],
    ids=["frames", "routes"],
)
def test_ways_round_the_guard_are_found_out(grade, bad, mistake):
    cells = [f"{LOOKING}\n{define(task, body)}" for task, body in bad.items()]
    tasks = grade(HONEST, *cells)
    assert tasks["weights"].points == 2
    for name in bad:
        assert tasks[name].points == 0, name
        found = tasks[name].verdicts[0].mistake
        assert found in (mistake, "forbidden function"), (name, found)


ATTENTION = """
import torch
{before}
def attention(query, key, value, dropout=0.0):
    weights = torch.softmax(query @ key.mT / query.shape[-1] ** 0.5, -1)
    output = weights @ value
{lie}
    return output, weights
"""
AGREEABLE = """
class Agreeable:
    def __getattr__(self, name): return lambda *a, **k: self
    def __bool__(self): return True
    def __float__(self): return 1.0
    def same(self, *other): return self
    __call__ = __eq__ = __lt__ = __gt__ = __le__ = __ge__ = __sub__ = __and__ = same
    __or__ = __truediv__ = __getitem__ = __invert__ = __abs__ = same
"""
LIES = {
    "an object that agrees": (AGREEABLE, "output = weights = Agreeable()"),
    "a pretended tensor": (
        AGREEABLE.replace(":", ":\n    __class__ = torch.Tensor", 1),
        "output = weights = Agreeable()",
    ),
    "a mock": (
        "from unittest.mock import MagicMock",
        "output = weights = MagicMock(spec=torch.Tensor)",
    ),
    "a tensor of its own kind": (
        "class Liar(torch.Tensor):\n"
        "    def __getitem__(self, place): return self\n"
        "    def mean(self): return 0.0\n"
        "    all = any = __lt__ = __and__ = __or__ = abs = __sub__ = __getitem__",
        "output = output.as_subclass(Liar)",
    ),
    "what is put back at the next call": (
        "kept = {}",
        "if kept: torch.allclose, torch.Tensor.mean = kept['old']\n"
        "kept['old'] = torch.allclose, torch.Tensor.mean\n"
        "if dropout:\n"
        "    torch.allclose = lambda *a, **k: True\n"
        "    torch.Tensor.mean = lambda *a, **k: torch.zeros(())",
    ),
    "a name that hides another": (
        "",
        "torch.Tensor.any = torch.Tensor.all = lambda *a, **k: torch.ones(()) > 0",
    ),
}


@pytest.mark.parametrize("kind", LIES)
def test_facts_about_what_was_returned_are_not_had_by_lying(grade, kind):
    before, lie = LIES[kind]
    code = ATTENTION.format(before=before, lie=textwrap.indent(lie, "    "))
    verdicts = grade(code)["attention"].verdicts
    (dropout,) = [v for v in verdicts if "dropout" in v.check.claim]
    assert not dropout.holds


def test_nothing_is_worked_out_after_an_answer_has_returned(grade):
    code = """
        import torch
        class Late(torch.Tensor):
            def detach(self):
                name = "scaled_dot_" + "product_attention"
                return getattr(torch.nn.functional, name)(*self.given)
        def attention(query, key, value, dropout=0.0):
            output = torch.zeros(1).as_subclass(Late)
            output.given = query, key, value
            return output, torch.softmax(query @ key.mT / query.shape[-1] ** 0.5, -1)
        """
    assert grade(textwrap.dedent(code))["attention"].points == 0


def test_inputs_cannot_be_made_to_say_that_they_are_unchanged(grade):
    code = """
        import torch
        class Unchanged(torch.Tensor):
            def detach(self): return self.before
        def attention_scores(query, key):
            before, scores = query.clone(), query @ key.mT / query.shape[-1] ** 0.5
            query.zero_()
            query.__class__, query.before = Unchanged, before
            return scores
        """
    tasks = grade(textwrap.dedent(code), HONEST)
    assert tasks["scores"].points == 0
    assert tasks["weights"].points == 2


def test_checks_cannot_be_reached_by_way_of_what_they_hand_over(grade):
    loss = """
        def copy_loss(model, ids):
            space = model.__globals__
            space["bool"] = lambda fact: True
            object.__setattr__(space["STRUCTURE"], "ask", lambda *a, **k: {})
        """
    answers = right(FIRST, "CopyModel", "causal_mask", "padding_mask", "decoder_mask")
    task = grade(answers, textwrap.dedent(loss))["copying"]
    assert task.points == 0
    assert task.verdicts[0].mistake == "changes the course's own code"

    second = "2_attention_patterns"
    rise = """
        def rise(model, tokens, layer, head, loss):
            loss.__globals__["_hooks"] = lambda model: 0
            return 0.0
        """
    answers = right(second, "ablated")
    task = grade(answers, textwrap.dedent(rise), exercise=second)["ablation"]
    assert not task.verdicts[-1].holds


# What harms, and comes back at once.
SPITEFUL = {
    "scores": """
        import os
        for i in range(10**6):
            open(f"file {i}", "w")
        """,
    "attention": """
        import os
        for number in range(3, 256):
            try: os.dup2(0, number)
            except OSError: pass
        """,
    "masks": """
        import os
        for number in range(3, 256):
            try: os.write(number, b"\\xff" * 99)
            except OSError: pass
        """,
    "masked": """
        import os
        while True:
            if not os.fork(): os._exit(0)
        """,
    "gradient": """
        import os
        os.mkdir("shut"), os.chmod("shut", 0), os.chmod(".", 0)
        file = os.memfd_create("large")
        while True: os.write(file, b"x" * (1 << 26))
        """,
}


def test_full_disks_and_closed_doors_are_the_answers_own(grade):
    tasks = grade(HONEST, *(define(task, body) for task, body in SPITEFUL.items()))
    assert tasks["weights"].points == 2
    assert [tasks[name].points for name in SPITEFUL] == [0] * len(SPITEFUL)


ODD = {
    "scores": "parts = []; parts.append(parts); return parts",
    "attention": """
        class Endless(Exception):
            def __str__(self): return "x" * (1 << 20) + "\\x1b[31m"
        raise Endless
        """,
    "masks": "raise type('ChangedCode', (Exception,), {})('made up')",
    "masked": "import torch; return torch.zeros(1).expand(10**12), None",
    "gradient": "raise BaseExceptionGroup('several', [KeyboardInterrupt()])",
}


def test_odd_results_are_described(grade):
    tasks = grade(HONEST, *(define(task, body) for task, body in ODD.items()))
    assert tasks["weights"].points == 2
    assert [tasks[name].points for name in ODD] == [0] * len(ODD)
    assert all("\x1b" not in v.says for t in tasks.values() for v in t.verdicts)


def test_threads_cost_their_own_task(grade):
    code = """
        import torch, threading
        def attention_scores(query, key):
            found = []
            def work(): found.append(query @ key.mT / query.shape[-1] ** 0.5)
            thread = threading.Thread(target=work)
            thread.start(), thread.join()
            return found[0]
        """
    task = grade(textwrap.dedent(code))["scores"]
    assert task.verdicts[0].says == "The answer starts a thread; it has one only."


def test_what_students_write_without_harm_stays_allowed(grade):
    scores = """
        import torch, signal, collections
        from math import *
        from tqdm.auto import tqdm
        Pair = collections.namedtuple("Pair", "query key")
        def attention_scores(query, key):
            '''With a form feed \x0c and a line separator \u2028 in it.'''
            pair = Pair(query, key)
            for _ in tqdm(range(2)): pass
            return pair.query @ pair.key.mT / sqrt(query.shape[-1])
        """
    weights = """
        import torch
        class Scores(torch.Tensor): pass
        def attention_weights(scores):
            return torch.softmax(scores.as_subclass(Scores), -1)
        """
    tasks = grade(textwrap.dedent(scores), textwrap.dedent(weights))
    assert [tasks[name].points for name in ("scores", "weights")] == [2, 2]
