"""The process that runs a student's code: what it does with the messages it is sent.

It gets code and the inputs of probes, and hands back raw values. It has no expected
value, no solution and nothing that compares, so a forged reply gains nothing.
"""

from __future__ import annotations

import gc
import linecache
import os
import sys
import types

import torch
import tqdm

from attncourse_grader.isolate.channel import receive, send


def serve(sock, exercise, run) -> None:
    """Run cells and probes until the socket closes; `run` calls answers."""
    gc.enable()
    namespace = _namespace()
    while True:
        try:
            request = receive(sock)
        except OSError:
            return
        settle()
        reply = {"id": request["id"], "error": "", "came": []}
        try:
            if "code" in request:
                _run(request["code"], request["id"], namespace, request["known"])
            else:
                task = exercise.task(request["task"])
                answers = [namespace[name] for name in task.answers]
                probe = task.probes[request["place"]]
                for seed in request["seeds"]:
                    seen = run.observe(probe, answers, seed)
                    reply["came"].append(run.to_plain(seen))
        except BaseException as error:
            reply["error"] = _described(error)
        send(sock, reply)


def _namespace() -> dict:
    main = types.ModuleType("__main__")
    namespace = vars(main)
    namespace |= {"__builtins__": __builtins__, "get_ipython": _get_ipython}
    namespace["display"] = lambda *things, **options: None
    sys.modules["__main__"] = main
    nobody = os.fdopen(1, "w", encoding="utf8", errors="replace")  # the null device
    sys.stdout = sys.stderr = sys.__stdout__ = sys.__stderr__ = nobody
    tqdm.tqdm.monitor_interval = 0  # it would start a thread
    sys.argv, sys.path[:] = ["notebook"], [p for p in sys.path if p]
    return namespace


def _get_ipython():
    from IPython.core.interactiveshell import InteractiveShell

    InteractiveShell.history_manager = None
    return InteractiveShell.instance()


def _run(code: str, number: int, namespace: dict, known: bool) -> None:
    name = f"<cell {number}>"
    if known:  # to the student, who may read it in messages
        linecache.cache[name] = (len(code), None, code.splitlines(True), name)
    # Notes on types are not looked at, as from Python 3.14 on.
    exec(compile(code, name, "exec", annotations.compiler_flag, True), namespace)


def settle() -> None:
    """Set back what an answer may have set for the whole process."""
    torch.set_grad_enabled(True)
    torch.set_default_dtype(torch.float32)
    torch.default_generator.manual_seed(0)


def _described(error) -> str:
    try:
        said = str(error)[:2000]
    except BaseException:
        said = ""
    return f"{type(error).__name__}: {said}".removesuffix(": ")
