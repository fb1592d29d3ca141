"""What is missing is named, with what to do."""

import importlib.metadata
import shutil
import sys
from types import SimpleNamespace

from attncourse_grader import doctor
from attncourse_grader.cli import main
from attncourse_grader.isolate.sandbox import Layer


def states(folder):
    return {found.name: found for found in doctor.examine(folder)}


def test_a_machine_that_has_all_is_told_so(tmp_path, capsys):
    found = states(tmp_path)
    for name in ("Python", "torch", "nbval", "room for grades", "SQLite"):
        assert found[name].state == "good", found[name]
    assert main(["doctor", "--grades", str(tmp_path)]) == 0
    assert "Grading cannot begin" not in capsys.readouterr().out


def test_a_missing_package_is_named_with_the_remedy(tmp_path, monkeypatch, capsys):
    version = importlib.metadata.version

    def absent(name):
        if name in ("nbval", "distributed"):
            raise importlib.metadata.PackageNotFoundError(name)
        return version(name)

    monkeypatch.setattr(importlib.metadata, "version", absent)
    assert main(["doctor", "--grades", str(tmp_path)]) == 1
    printed = capsys.readouterr().out
    assert "MISSING  nbval" in printed
    assert "pip install ./grader" in printed
    assert "lacking  distributed" in printed
    assert "Grading cannot begin: 1 missing." in printed


def test_a_torch_that_does_not_load_is_missing(tmp_path, monkeypatch):
    monkeypatch.setitem(sys.modules, "torch", None)
    assert states(tmp_path)["torch"].state == "missing"


def test_little_room_and_memory_are_said(tmp_path, monkeypatch):
    usage = SimpleNamespace(free=1e8)
    monkeypatch.setattr(shutil, "disk_usage", lambda path: usage)
    monkeypatch.setattr(doctor, "memory_free", lambda: 5e8)
    found = states(tmp_path / "not" / "there")
    assert found["room for grades"].state == "lacking"
    assert "--jobs 1" in found["memory"].says


def test_a_folder_that_cannot_be_written_is_missing(tmp_path, monkeypatch):
    def refusing(**options):
        raise PermissionError(13, "Permission denied")

    monkeypatch.setattr(doctor.tempfile, "TemporaryFile", refusing)
    assert states(tmp_path)["room for grades"].state == "missing"


def test_layers_that_do_not_work_are_named_with_a_way_out(tmp_path, monkeypatch):
    layers = [Layer("network", False, "not permitted"), Layer("memory", True)]
    monkeypatch.setattr(doctor.forking, "layers", lambda: layers)
    found = states(tmp_path)
    assert found["isolation: memory"].state == "good"
    assert found["isolation: network"].state == "lacking"
    assert "container" in found["isolation: network"].says
    assert "not permitted" in found["isolation: network"].says


def test_where_there_is_no_linux_that_is_said(tmp_path, monkeypatch):
    monkeypatch.setattr(doctor.sandbox, "linux", False)
    assert states(tmp_path)["Linux"].state == "missing"
    assert "WSL" in states(tmp_path)["Linux"].says


def test_memory_is_a_plausible_number():
    assert 1e7 < doctor.memory_free() < 1e14
