"""Forked kernels: like those of Jupyter in what they say, and gone when they should."""

import os
import signal
import subprocess
import sys
import tempfile
import textwrap
import time

import psutil
import pytest
from attncourse_grader.grade.run import RUNNERS, default_runner, run_nbval
from nbformat.v4 import new_code_cell, new_notebook, new_output

from attncourse_grader.isolate import forking, remembered

pytestmark = pytest.mark.skipif(
    default_runner() != "fork", reason="kernels are forked on Linux only"
)


def cell(source, *, output=None, seconds=20, **mark):
    metadata = {"attncourse": {**mark, "seconds": seconds}, "tags": []}
    if output is None:
        metadata["tags"] = ["nbval-ignore-output"]
    made = new_code_cell(source, execution_count=1, metadata=metadata)
    if output is not None:
        made.outputs = [new_output("stream", text=output)]
    return made


def notebook(*cells):
    start = cell("from attncourse.exercises import from_scratch as _exercise")
    return new_notebook(cells=[cell("import torch"), start, *cells])


RIGHT = "def attention_scores(q, k):\n    return q @ k.mT / k.shape[-1] ** 0.5"
PROBE = "_exercise.probe('scores', 0, [0], attention_scores)"


@pytest.mark.parametrize("runner", RUNNERS)
def test_both_ways_of_running_say_the_same(runner):
    wrong = "seed 0\nresult | float | 1x1 | 7.00\n"
    found = run_nbval(
        notebook(
            cell(RIGHT, answer="scores"),
            cell(PROBE, output=wrong, task="scores", check=0),
            cell("def f(:", answer="weights"),
            cell("1 / 0", answer="attention"),
        ),
        runner=runner,
    )
    assert [run.mark.get("answer") or run.mark.get("task") for run in found] == [
        None,
        None,
        "scores",
        "scores",
        "weights",
        "attention",
    ]
    assert [run.passed for run in found] == [True, True, True, False, False, False]
    assert found[3].printed.startswith("seed 0\nresult | float | ")
    assert [run.error.split(":")[0] for run in found[3:]] == [
        "",
        "SyntaxError",
        "ZeroDivisionError",
    ]
    assert not any(run.unfinished for run in found)


def test_a_probe_that_prints_what_is_stored_passes():
    first = run_nbval(
        notebook(
            cell(RIGHT, answer="scores"),
            cell(PROBE, output="", task="scores", check=0),
        )
    )[-1]
    assert not first.passed
    again = run_nbval(
        notebook(
            cell(RIGHT, answer="scores"),
            cell(PROBE, output=first.printed, task="scores", check=0),
        )
    )[-1]
    assert again.passed


def test_after_an_end_of_the_process_the_next_task_finds_all_that_it_needs():
    *_, died, after = run_nbval(
        notebook(
            cell(RIGHT, answer="scores"),
            cell("import os; os._exit(3)", task="weights", check=0),
            cell(PROBE, output="other", task="scores", check=0),
        )
    )
    assert died.unfinished
    assert after.printed.startswith("seed 0\nresult | float | ")


def test_an_unknown_way_of_running_is_refused():
    with pytest.raises(ValueError, match="one of fork, kernel"):
        run_nbval(notebook(), runner="magic")


def test_the_forking_process_knows_no_right_answer():
    code = """
        import gc, types
        from attncourse_grader.isolate import forked, oracle
        forked.prepare()
        kept, modules = oracle.two_copies()
        from attncourse.exercises.task import Check, Mistake
        kinds = {"Check", "Mistake"}
        found = [t for t in gc.get_objects() if type(t).__name__ in kinds]
        checks = [t for t in found if type(t).__name__ == "Check"]
        assert len(checks) > 100, len(checks)
        assert all(c.expected is None and c.mistakes == () for c in checks)
        functions = [
            f for f in gc.get_objects() if isinstance(f, types.FunctionType)
            and f.__module__ == "attncourse.exercises.from_scratch.forward"
        ]
        assert not [f for f in functions if "right" in f.__name__]
        """
    subprocess.run([sys.executable, "-c", textwrap.dedent(code)], check=True)


def test_when_the_instructors_process_is_killed_everything_that_it_forked_ends():
    code = """
        from nbformat.v4 import new_code_cell, new_notebook
        from attncourse_grader.grade.run import run_nbval
        metadata = {"attncourse": {"seconds": 300}}
        loop = "import os; os.fork(); os.setsid() if os.getpid() > 1 else 0\\n"
        loop += "while True: pass"
        run_nbval(new_notebook(cells=[
            new_code_cell(loop, execution_count=1, metadata=metadata)
        ]))
        """
    process = subprocess.Popen([sys.executable, "-c", textwrap.dedent(code)])
    everything, deadline = [], time.monotonic() + 120
    while time.monotonic() < deadline:
        everything = psutil.Process(process.pid).children(recursive=True)
        if sum(p.cpu_times().user > 0 for p in everything) and len(everything) >= 7:
            break
        time.sleep(0.2)
    assert len(everything) >= 7, "two that fork, two for the notebook, the loop twice"
    os.kill(process.pid, signal.SIGKILL)
    process.wait()
    _, alive = psutil.wait_procs(everything, timeout=20)
    assert not [p for p in alive if p.status() != psutil.STATUS_ZOMBIE]


def test_what_was_forked_leaves_no_folder(tmp_path, monkeypatch):
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    run_nbval(notebook(cell("open('left', 'w').write('x')", answer="scores")))
    assert list(tmp_path.iterdir()) == []


def test_two_threads_share_the_forking_process():
    from concurrent.futures import ThreadPoolExecutor

    work = notebook(cell("x = 1", answer="scores"))
    with ThreadPoolExecutor(2) as pool:
        found = list(pool.map(run_nbval, [work] * 4))
    assert [[run.passed for run in runs] for runs in found] == [[True] * 3] * 4
    assert forking.forker().alive


def test_optimisers_do_without_the_compiler_and_it_is_there_when_asked_for():
    code = """
        import sys
        from attncourse_grader.isolate import forked
        from attncourse_grader.isolate.watched import Watched
        forked.prepare()
        import torch
        watched, layer = Watched({}), torch.nn.Linear(3, 2)
        for kind in (torch.optim.SGD, torch.optim.Adam, torch.optim.AdamW):
            optimiser = kind(layer.parameters(), lr=0.1)
            layer(torch.ones(5, 3)).sum().backward()
            optimiser.step()
            optimiser.zero_grad()
        assert "torch._dynamo.config" not in sys.modules
        import torch._dynamo
        assert torch._dynamo.is_compiling() is False
        assert "torch._dynamo.config" in sys.modules
        assert watched.changed() == ""
        double = torch.compile(lambda x: 2 * x, backend="eager")
        assert double(torch.ones(3)).sum() == 6
        """
    subprocess.run([sys.executable, "-c", textwrap.dedent(code)], check=True)


def test_what_is_remembered_does_not_grow_with_the_number_of_submissions():
    for number in range(3 * remembered.MOST):
        remembered.remember(f"lines for student {number}", number)
    assert len(remembered._known) == remembered.MOST
    assert remembered.recall("lines for student 0") is None
    assert remembered.recall(f"lines for student {number}") == number


def test_what_a_fork_has_worked_out_the_next_one_finds():
    where = remembered.__name__
    forking.call(f"{where}.remember", "a key of this test", [1, 2], seconds=20)
    deadline = time.monotonic() + 20
    found = None
    while found is None and time.monotonic() < deadline:
        found = forking.call(f"{where}.recall", "a key of this test", seconds=20)
    assert found == [1, 2]


def test_what_a_called_function_raises_is_said():
    with pytest.raises(RuntimeError, match="ZeroDivisionError"):
        forking.call("operator.truediv", 1, 0, seconds=20)


def test_a_forking_process_that_was_killed_is_started_again():
    os.kill(forking.forker().pid, signal.SIGKILL)
    assert forking.call("operator.add", 2, 3, seconds=20) == 5
