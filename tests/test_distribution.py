"""The built distributions hold what readers need, and work where they are installed."""

import subprocess
import sys
import tarfile
import zipfile
from email.parser import Parser
from pathlib import Path

import pytest

from tests.loading import ROOT, git, python


def tracked(*parts):
    """Return the files that Git knows, without those that are about to be deleted."""
    names = git("ls-files", "-z", *parts, cwd=ROOT).split("\0")
    return {name for name in names if name and (ROOT / name).is_file()}


@pytest.fixture(scope="module")
def built(tmp_path_factory):
    """Return the folder of the package's wheel and source archive."""
    folder = tmp_path_factory.mktemp("dist")
    copy = tmp_path_factory.mktemp("copy")  # building leaves files beside the sources
    parts = ("attncourse", "pyproject.toml", "README.md", "LICENSE", "MANIFEST.in")
    for name in tracked(*parts):
        (copy / name).parent.mkdir(parents=True, exist_ok=True)
        (copy / name).write_bytes((ROOT / name).read_bytes())
    command = [sys.executable, "-m", "build", "--no-isolation", "--outdir", folder]
    done = subprocess.run([*command, copy], capture_output=True, text=True)
    assert done.returncode == 0, done.stdout[-2000:] + done.stderr[-2000:]
    return folder


@pytest.fixture(scope="module")
def wheel(built):
    (path,) = built.glob("*.whl")
    return path


def test_the_wheel_holds_the_package_and_its_data_and_nothing_else(wheel):
    names = zipfile.ZipFile(wheel).namelist()
    assert {name.split("/")[0] for name in names} == {
        "attncourse",
        wheel.name.replace("-py3-none-any.whl", ".dist-info"),
    }
    assert tracked("attncourse") - set(names) == set()


def test_it_asks_for_numpy_alone_and_states_its_licence(wheel):
    archive = zipfile.ZipFile(wheel)
    (name,) = (n for n in archive.namelist() if n.endswith("METADATA"))
    metadata = Parser().parsestr(archive.read(name).decode())
    asked = [need for need in metadata.get_all("Requires-Dist") if "extra" not in need]
    assert asked == ["numpy>=1.24"]
    assert metadata["License-Expression"] == "MIT"
    assert metadata["License-File"] == "LICENSE"


def test_the_sources_build_the_same_package(built, wheel):
    (path,) = built.glob("*.tar.gz")
    top = path.name.removesuffix(".tar.gz")
    with tarfile.open(path) as archive:
        inside = {name.removeprefix(f"{top}/") for name in archive.getnames()}
    modules = {n for n in zipfile.ZipFile(wheel).namelist() if n.endswith(".py")}
    assert modules <= inside


def test_it_works_where_it_is_installed(wheel, tmp_path):
    command = [sys.executable, "-m", "pip", "install", "--quiet", "--no-deps"]
    subprocess.run([*command, "--target", tmp_path, wheel], check=True)
    code = (
        "import attncourse, numpy as np; print(attncourse.__file__);"
        "print(attncourse.softmax(np.zeros((1, 4)), -1).tolist())"
    )
    printed = python(code, cwd=tmp_path, env={"PYTHONPATH": str(tmp_path)})
    where, shown = printed.splitlines()
    assert Path(where).is_relative_to(tmp_path)
    assert shown == "[[0.25, 0.25, 0.25, 0.25]]"
