"""The process that has imported everything, and forks; `forking` starts it.

First of all it forks another one, from which the processes with students' code come.
That imports PyTorch and nothing that knows an answer; for each exercise it forks a
process in which the exercise's probes are imported and what it forbids is ruled out.
"""

import contextlib
import gc
import json
import os
import resource
import select
import signal
import socket
import sys
import time
from functools import partial
from importlib import import_module

from attncourse_grader import cache
from attncourse_grader.exercises import modules
from attncourse_grader.isolate import forking, sandbox
from attncourse_grader.isolate.channel import receive, send
from attncourse_grader.isolate.spawn import end_after, end_children, spawn

EXERCISES = "attncourse.exercises."
MEMORY = 4 << 30  # bytes that a fork may take which compares
# What forks import as soon as they are asked to grade.
NEEDED = ("attncourse_grader.workers", "attncourse_grader.grade.grading")
NEEDED += ("attncourse_grader.grade.report", "attncourse_grader.records.similarity")
NEEDED += ("attncourse.exercises.notebook", "IPython.core.inputtransformer2")


def main() -> None:
    """Fork whatever the socket with the number of the first argument asks for."""
    gc.disable()  # it would write to pages that forks share
    control = socket.socket(fileno=int(sys.argv[1]))
    # What both kinds of forks need; of the exercises nothing.
    torch = import_module("torch")
    torch.set_num_threads(1)
    for kind in (torch.half, torch.bfloat16):  # reads what kind of processor it is
        torch.ones(8, 8, dtype=kind) @ torch.ones(8, 8, dtype=kind)
    gc.freeze()
    asks, asked = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
    students = os.fork()
    if not students:
        end_after(serve_students, asked, closing=(control, asks))
    asked.close()
    import_module("attncourse_grader.grade.comparing").warm_up()
    for name in (*NEEDED, *(EXERCISES + m for m in modules().values())):
        with contextlib.suppress(Exception):  # who needs it will be told
            import_module(name)
    sends, receives = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
    gc.freeze()
    while True:
        if receives in select.select([control, receives], [], [])[0]:
            cache.receive(receives)
            continue
        _, fds, _, _ = socket.recv_fds(control, 1, 1)
        if not fds:
            asks.close()  # the other one ends by itself, with all that it has forked
            end_children(but=students)
            return
        _reap()
        if not os.fork():
            end_after(answer, fds[0], asks, sends, closing=(control, receives))
        os.close(fds[0])


def _reap() -> None:
    """Let processes that have ended go."""
    with contextlib.suppress(ChildProcessError):
        while os.waitpid(-1, os.WNOHANG)[0]:
            pass


def serve_students(asked) -> None:
    """Hand requests on to a process for each exercise, forked when first needed."""
    from attncourse_grader.isolate import student_process

    import_module("torch._dynamo")  # every optimiser does, and that takes seconds
    student_process.settle()
    gc.freeze()
    servers: dict[str, socket.socket] = {}
    for request, given in _requests(asked):
        environment = request["environment"]
        key = json.dumps(environment)
        for _ in range(2):
            if key not in servers:
                ours, theirs = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
                if not os.fork():
                    inherited = (asked, ours, *given, *servers.values())
                    end_after(serve_exercise, theirs, environment, closing=inherited)
                theirs.close()
                servers[key] = ours
            try:
                socket.send_fds(servers[key], [json.dumps(request).encode()], given)
                break
            except OSError:  # it has ended
                servers.pop(key).close()


def _requests(asked):
    """Yield requests that come with two sockets; in the end, end what was forked."""
    while True:
        said, fds, _, _ = socket.recv_fds(asked, 1 << 16, 2)
        if not fds:
            end_children()
            return
        _reap()
        yield json.loads(said), fds
        for number in fds:
            os.close(number)


def serve_exercise(asked, environment: dict) -> None:
    """Import one exercise, then fork what spawns a process, as often as asked."""
    from attncourse_grader.isolate import rule_out, student_process

    for name in environment["modules"]:
        with contextlib.suppress(Exception):  # the cell that imports it will say so
            import_module(name)
    exercise = import_module(EXERCISES + environment["exercise"]).EXERCISE
    run = import_module(EXERCISES + "run")
    rule_out.rule_out(environment["forbidden"])
    student_process.settle()
    serve = partial(student_process.serve, exercise=exercise, run=run)
    gc.collect()
    gc.freeze()
    for request, given in _requests(asked):
        if not os.fork():
            end_after(spawn, *given, request, serve, closing=(asked,))


def answer(number, asks, sends) -> None:
    """Call the function that a socket names, and send what it returns."""
    sock = socket.socket(fileno=number)
    request = receive(sock, time.monotonic() + forking.GRACE, forking.LONGEST)
    signal.alarm(int(request["seconds"]) + forking.GRACE)
    most = sandbox.address_space() + MEMORY, resource.getrlimit(resource.RLIMIT_AS)[1]
    resource.setrlimit(resource.RLIMIT_AS, most)
    forking.here = forking.Here(asks, request["folder"])
    cache.sends = sends
    try:
        function = getattr(import_module(request["module"]), request["function"])
        said = {"returned": function(*request["arguments"])}
    except Exception as error:
        said = {"raised": f"{type(error).__name__}: {error}"}
    send(sock, said)


if __name__ == "__main__":
    main()
