"""Each layer of isolation does what its name says, for root and for other users."""

import json
import os
import shutil
import socket
import subprocess
import sys
from pathlib import Path
from types import SimpleNamespace

import pytest

import attncourse
from attncourse_grader.isolate import channel, forking, sandbox
from attncourse_grader.isolate.landlock import without

HIDDEN = str(Path(attncourse.__file__).parent / "by_hand.py")
TRY = """
import json, os, socket, sys
from pathlib import Path
from attncourse_grader.isolate import sandbox, seccomp, spawn
import ctypes, fcntl, resource, tempfile, threading
outer = os.getpid()

def inside(sock):
    def can(what):
        try:
            what()
        except Exception as error:
            return type(error).__name__
        return "yes"
    libc = ctypes.CDLL(None, use_errno=True)
    def call(number, *arguments):
        if libc.syscall(ctypes.c_long(number), *map(ctypes.c_long, arguments)) < 0:
            raise OSError(ctypes.get_errno(), "")
    def calls(sock):
        numbers = {
            row["call"]: int(row[os.uname().machine] or row["x86_64"])
            for row in seccomp.CALLS
            if not row["rule"]
        }
        found = {n: lambda k=k: call(k, 0, 0, 0, 0, 0) for n, k in numbers.items()}
        return found | {
            "fork again": os.fork,
            "kill": lambda: os.kill(outer, 0),
            "kill all": lambda: os.kill(-1, 0),
            "limits": lambda: resource.prlimit(outer, resource.RLIMIT_CPU, (1, 1)),
            "owner": lambda: fcntl.fcntl(sock, fcntl.F_SETOWN, outer),
            "owner by ioctl": lambda: fcntl.ioctl(sock, 0x8901, b"1234"),
            "lease": lambda: fcntl.fcntl(socket.socketpair()[0], fcntl.F_SETLEASE, 0),
            "flags": lambda: fcntl.ioctl(sock, 0x80086601, b"12345678"),
            "in flight": lambda: socket.send_fds(socket.socketpair()[0], [b"x"], [0]),
            "datagrams": lambda: socket.socketpair(type=socket.SOCK_DGRAM),
            "death": lambda: call({"x86_64": 157}.get(os.uname().machine, 167), 1),
            "a call of tomorrow": lambda: call(463),
        }
    def connect():
        socket.create_connection(("127.0.0.1", int(sys.argv[1])), timeout=2)
    def fill():
        for number in range(12):
            Path(f"big{number}").write_bytes(bytes(16 << 20))
    said = {
        "network": can(connect),
        "environment": dict(os.environ),
        "secret": can(lambda: Path(sys.argv[2]).read_text()),
        "write": can(lambda: Path(sys.argv[2]).write_text("x")),
        "home": can(lambda: os.listdir(os.path.expanduser("~root"))),
        "proc": can(lambda: os.listdir("/proc/1")),
        "exchange": can(lambda: os.listdir("/usr/local/share")),
        "a course": can(lambda: os.listdir("/usr/src")),
        "own": can(lambda: Path("mine").write_text("x")),
        "memory": can(lambda: bytearray(8 << 30)),
        "fill": can(fill),
        "signals": can(lambda: 1 / resource.getrlimit(resource.RLIMIT_SIGPENDING)[1]),
        "user": os.getuid(),
        "stdin": sys.stdin.read() if sys.stdin else "",
        "exercises": can(lambda: (sandbox.visible()[1][0] / "run.py").read_text()),
        "thread": can(lambda: threading.Thread(target=print).start()),
        "pair": can(socket.socketpair),
        "calls": {name: can(call) for name, call in calls(sock).items()},
        "hidden file": can(lambda: len(Path(sys.argv[3]).read_text()) or 1 / 0),
        "interpreter": can(lambda: os.listdir(sys.base_prefix + "/lib")),
    }
    sock.sendall(json.dumps(said).encode())

sandbox.adopt_orphans()
ours, theirs = socket.socketpair()
folder = Path(tempfile.mkdtemp())
folder.chmod(0o711)
request = {"folder": folder / "k", "seconds": 20, "hidden": [sys.argv[3]]}
layers = spawn.fork_isolated(request, theirs, inside, closing=(ours,))
theirs.close()
said = b""
while part := ours.recv(1 << 16):
    said += part
spawn.end_children()
print(json.dumps({"layers": layers, "said": json.loads(said)}))
"""


@pytest.fixture
def server():
    with socket.create_server(("127.0.0.1", 0)) as listening:
        yield listening.getsockname()[1]


@pytest.fixture
def secret(tmp_path):
    """Return the path of a file that nobody may read or change."""
    path = tmp_path / "secret"
    path.write_text("20 points")
    yield path
    assert path.read_text() == "20 points"


def tried(server, secret, before=(), code=TRY):
    command = [*before, sys.executable, "-c", code, str(server), str(secret), HIDDEN]
    environment = {**os.environ, "COURSE_TOKEN": "x"}
    return json.loads(subprocess.check_output(command, env=environment, text=True))


def assert_isolated(found):
    layers, said = found["layers"], found["said"]
    # Where nothing limits what all files take together, none can be written.
    assert (said["own"] == "yes") == (layers.get("files") == "")
    assert said["interpreter"] == said["thread"] == said["pair"] == "yes"
    if not layers["calls"]:
        done = {name for name, how in said["calls"].items() if how != "PermissionError"}
        assert done == {"a call of tomorrow"}
        assert said["calls"]["a call of tomorrow"] == "OSError"  # there is none
    assert "COURSE_TOKEN" not in said["environment"]
    assert said["environment"]["CUDA_VISIBLE_DEVICES"] == ""
    assert said["stdin"] == ""
    assert "yes" not in (said["memory"], said["signals"]) or layers["limits"]
    assert said["fill"] != "yes"
    if not (layers["namespaces"] and layers["calls"]):
        assert said["network"] != "yes"
    if not layers["namespaces"]:
        assert said["proc"] != "yes"
    if not (layers.get("files", "none") and layers["landlock"]):
        for what in ("secret", "write", "home", "exercises", "hidden file"):
            assert said[what] != "yes", what
        assert "yes" not in (said["exchange"], said["a course"])


def test_what_is_isolated_reaches_nothing(server, secret):
    found = tried(server, secret)
    assert_isolated(found)
    assert found["said"]["user"] != 0


# A stand-in for a container of Docker: without mount namespaces the others have to do.
NO_NAMESPACES = """
from attncourse_grader.isolate import sandbox
def refused():
    raise OSError("Operation not permitted")
sandbox.own_namespaces = refused
"""


def test_where_namespaces_are_refused_the_other_layers_work(server, secret):
    found = tried(server, secret, code=NO_NAMESPACES + TRY)
    assert found["layers"]["namespaces"] == "Operation not permitted"
    assert_isolated(found)


@pytest.mark.skipif(
    os.geteuid() != 0 or not shutil.which("setpriv"), reason="needs another user"
)
def test_an_ordinary_user_has_the_same_layers(server, secret):
    """Become another user, to whom the interpreter is shown where root keeps it."""
    secret.chmod(0o666)
    for folder in list(secret.parents)[:3]:
        folder.chmod(0o755)
    base, show = Path(sys.base_prefix), ""
    if base.is_relative_to("/root"):
        show = f"""
            mkdir -p /mnt/shown && mount --bind {base} /mnt/shown &&
            mount -t tmpfs -o mode=755 none /root && mkdir -p {base} &&
            mount --move /mnt/shown {base} &&
            """
    user = "--reuid 12345 --regid 12345 --clear-groups --inh-caps=-all"
    before = ["unshare", "-m", "sh", "-c", f'{show} exec setpriv {user} "$@"', "sh"]
    for code in (TRY, NO_NAMESPACES + TRY):
        assert_isolated(tried(server, secret, before, code))


def test_layers_say_whether_they_work_and_one_not_tried_does_not(monkeypatch):
    found = forking.layers()
    assert list(found) == list(sandbox.LAYERS)
    assert all(isinstance(why, str) for why in found.values())
    said = SimpleNamespace(stdout=b'{"limits": "", "rights": "no"}')
    monkeypatch.setattr(forking.subprocess, "run", lambda *_, **__: said)
    found = forking.layers.__wrapped__()
    assert found["limits"] == ""
    assert found["rights"] == "no"
    assert "not tried" in found["files"]


def test_hidden_folders_are_cut_out_of_readable_ones(tmp_path):
    for name in ("a/x", "a/y/z", "b"):
        (tmp_path / name).mkdir(parents=True)
    found = without([tmp_path], [tmp_path / "a" / "y"])
    assert found == [tmp_path / "a" / "x", tmp_path / "b"]


def test_a_message_of_many_small_parts_is_refused_before_it_is_read():
    ours, theirs = socket.socketpair()
    with ours, theirs:
        for count, refused in ((2, False), (1000, True)):
            body = b"[" + b",".join([b"[]"] * count) + b"]"
            theirs.sendall(channel.HEAD.pack(len(body)) + body)
            if refused:
                with pytest.raises(OSError, match="parts"):
                    channel.receive(ours, most_parts=100)
            else:
                assert channel.receive(ours, most_parts=100) == [[], []]
