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
from attncourse_grader.isolate import forking, sandbox
from attncourse_grader.isolate.landlock import without

HIDDEN = str(Path(attncourse.__file__).parent / "by_hand.py")
TRY = """
import json, os, socket, sys
from pathlib import Path
from attncourse_grader.isolate import sandbox, spawn
import tempfile

def inside(sock):
    def can(what):
        try:
            what()
        except Exception as error:
            return type(error).__name__
        return "yes"
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
        "others": can(lambda: os.kill(os.getppid() or 1, 0)),
        "proc": can(lambda: os.listdir("/proc/1")),
        "own": can(lambda: Path("mine").write_text("x")),
        "memory": can(lambda: bytearray(8 << 30)),
        "fill": can(fill),
        "user": os.getuid(),
        "stdin": sys.stdin.read() if sys.stdin else "",
        "exercises": can(lambda: (sandbox.visible()[1][0] / "run.py").read_text()),
        "hidden file": can(lambda: len(Path(sys.argv[3]).read_text()) or 1 / 0),
        "interpreter": can(lambda: os.listdir(sys.base_prefix)),
    }
    sock.sendall(json.dumps(said).encode())

sandbox.adopt_orphans()
ours, theirs = socket.socketpair()
folder = Path(tempfile.mkdtemp())
folder.chmod(0o711)
request = {"seconds": 20, "hidden": [sys.argv[3]]}
layers = spawn.fork_isolated(folder / "k", request, theirs, inside, closing=(ours,))
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


def tried(server, secret, before=()):
    command = [*before, sys.executable, "-c", TRY, str(server), str(secret), HIDDEN]
    environment = {**os.environ, "COURSE_TOKEN": "x"}
    done = subprocess.run(
        command, env=environment, capture_output=True, text=True, check=True
    )
    return json.loads(done.stdout)


def assert_isolated(found):
    layers, said = found["layers"], found["said"]
    assert said["own"] == "yes"
    assert said["interpreter"] == "yes"
    assert "COURSE_TOKEN" not in said["environment"]
    assert said["environment"]["CUDA_VISIBLE_DEVICES"] == ""
    assert said["stdin"] == ""
    assert said["memory"] != "yes" or layers["limits"]
    if not layers["namespaces"]:
        assert said["network"] != "yes"
        assert said["fill"] != "yes"
        assert said["proc"] != "yes"
    if not (layers.get("files", "none") and layers["landlock"]):
        assert said["secret"] != "yes"
        assert said["write"] != "yes"
        assert said["home"] != "yes"
        assert said["exercises"] != "yes"
        assert said["hidden file"] != "yes"


def test_what_is_isolated_reaches_nothing(server, tmp_path):
    secret = tmp_path / "secret"
    secret.write_text("20 points")
    found = tried(server, secret)
    assert_isolated(found)
    assert found["said"]["user"] != 0
    assert secret.read_text() == "20 points"


# Without mount namespaces the others have to do: Landlock, another user, limits.
NO_NAMESPACES = """
import os
from attncourse_grader.isolate import sandbox
def refused():
    raise OSError("Operation not permitted")
sandbox.own_namespaces = refused
"""


def test_where_namespaces_are_refused_the_other_layers_work(server, tmp_path):
    secret = tmp_path / "secret"
    secret.write_text("20 points")
    command = [
        sys.executable,
        "-c",
        NO_NAMESPACES + TRY,
        str(server),
        str(secret),
        HIDDEN,
    ]
    done = subprocess.run(command, capture_output=True, text=True, check=True)
    found = json.loads(done.stdout)
    assert found["layers"]["namespaces"] == "Operation not permitted"
    assert_isolated(found)
    if not found["layers"]["landlock"]:
        assert found["said"]["network"] != "yes"


@pytest.mark.skipif(
    os.geteuid() != 0 or not shutil.which("setpriv"), reason="needs another user"
)
def test_an_ordinary_user_has_the_same_layers(server, tmp_path):
    """Become another user, to whom the interpreter is shown where root keeps it."""
    secret = tmp_path / "secret"
    secret.write_text("20 points")
    secret.chmod(0o666)
    for folder in [tmp_path, *tmp_path.parents][:3]:
        folder.chmod(0o755)
    base = Path(sys.base_prefix)
    if base.is_relative_to("/root"):
        show = f"""
            mkdir -p /mnt/shown && mount --bind {base} /mnt/shown &&
            mount -t tmpfs -o mode=755 none /root && mkdir -p {base} &&
            mount --move /mnt/shown {base} &&
            """
    else:
        show = ""
    user = "--reuid 12345 --regid 12345 --clear-groups --inh-caps=-all"
    before = ["unshare", "-m", "sh", "-c", f'{show} exec setpriv {user} "$@"', "sh"]
    found = tried(server, secret, before)
    assert_isolated(found)
    assert secret.read_text() == "20 points"


def test_layers_say_whether_they_work():
    found = forking.layers()
    assert list(found) == list(sandbox.LAYERS.values())
    assert all(isinstance(why, str) for why in found.values())


def test_a_layer_that_was_not_tried_does_not_work(monkeypatch):
    said = SimpleNamespace(stdout=b'{"limits": "", "rights": "no"}')
    monkeypatch.setattr(forking.subprocess, "run", lambda *_, **__: said)
    found = forking.layers.__wrapped__()
    assert found["limits to memory, processes and time"] == ""
    assert found["no rights"] == "no"
    assert "not tried" in found["own files of limited size"]


@pytest.mark.parametrize(
    ("names", "version", "own_user", "works"),
    [
        (["namespaces"], 4, False, True),
        (["landlock"], 4, False, False),
        (["landlock"], 6, False, True),
        (["landlock"], 4, True, True),
        ([], 6, False, False),
    ],
)
def test_signals_reach_others_unless_something_stops_them(
    monkeypatch, names, version, own_user, works
):
    monkeypatch.setattr(sandbox.landlock, "version", lambda: version)
    layers = dict.fromkeys(names, "")
    why = sandbox.why_not(sandbox.signals_stay_inside, layers, own_user=own_user)
    assert (why == "") == works


def test_hidden_folders_are_cut_out_of_readable_ones(tmp_path):
    for name in ("a/x", "a/y/z", "b"):
        (tmp_path / name).mkdir(parents=True)
    found = without([tmp_path], [tmp_path / "a" / "y"])
    assert found == [tmp_path / "a" / "x", tmp_path / "b"]
