"""What is missing is named, with what to do."""

import importlib.metadata
import shutil
import sys
from types import SimpleNamespace
from unittest.mock import Mock

import pytest

from attncourse_grader import doctor
from attncourse_grader.cli import main
from attncourse_grader.hand_in.submission import Refused
from attncourse_grader.workers import grade_apart, layers_missing


def test_a_machine_that_has_all_is_told_so(tmp_path, capsys):
    found = doctor.examine(tmp_path)
    for name in ("Python", "torch", "nbval", "room for grades"):
        assert found[name][0] == "good", found[name]
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


def test_what_a_machine_lacks_is_said(tmp_path, monkeypatch):
    monkeypatch.setitem(sys.modules, "torch", None)
    usage = SimpleNamespace(free=1e8)
    monkeypatch.setattr(shutil, "disk_usage", lambda path: usage)
    for name, size in {"max": 7e8, "current": 2e8}.items():
        (tmp_path / f"memory.{name}").write_text(f"{size:.0f}\n")
    monkeypatch.setattr(doctor, "GROUP", tmp_path)
    found = doctor.examine(tmp_path / "not" / "there")
    assert found["torch"][0] == doctor.MISSING
    assert found["room for grades"][0] == "lacking"
    assert "--jobs 1" in found["memory"][1]
    refusing = Mock(side_effect=PermissionError(13, "Permission denied"))
    monkeypatch.setattr(doctor.tempfile, "TemporaryFile", refusing)
    monkeypatch.setattr(doctor.sandbox, "linux", False)
    found = doctor.examine(tmp_path)
    assert found["room for grades"][0] == found["Linux"][0] == doctor.MISSING
    assert "WSL" in found["Linux"][1]


NO_NAMESPACES = {"namespaces": "not permitted", "files": "not permitted"}


@pytest.mark.parametrize(
    ("missing", "could", "runs"),
    [
        ({}, "", True),
        (NO_NAMESPACES, "size and time of a file", True),
        ({"landlock": "none"}, "", True),
        ({**NO_NAMESPACES, "landlock": "none"}, "read the solutions", False),
        ({**NO_NAMESPACES, "calls": "none"}, "end the grader", False),
        ({"limits": "none"}, "take the memory", False),
    ],
)
def test_missing_layers_may_stop_a_run(tmp_path, monkeypatch, missing, could, runs):
    layers = dict.fromkeys(doctor.sandbox.LAYERS, "") | missing
    monkeypatch.setattr(doctor.forking, "layers", lambda: layers)
    found = doctor.examine(tmp_path)
    for name, title in doctor.sandbox.LAYERS.items():
        state, said = found[f"isolation: {title}"]
        assert state == ("lacking" if name in missing else "good")
        assert missing.get(name, "works") in said
    assert could in doctor.text_of(found)
    assert (found.get("isolation as a whole", "")[:1] != ("MISSING",)) == runs
    if not runs:
        with pytest.raises(Refused, match=could):
            layers_missing()
        assert "isolation" in grade_apart(tmp_path, tmp_path, "", 9)["failed"]
        monkeypatch.setenv("ATTNCOURSE_UNSAFE", "1")
    said = layers_missing()
    assert len(said) >= len(missing) + bool(could)
    assert could in " ".join(said)
