"""Test the course with other packages than the pinned ones.

    python tools/package_sets.py newest    the newest release of everything
    python tools/package_sets.py colab     the versions that Google Colab has

Each set gets an environment of its own in ``.cache/sets``; ``.venv`` is not touched.
The package is installed as a reader's is, built and not editable.

*newest* takes the names in ``requirements.in`` and none of the versions, except that
Jupyter Book stays below 2, which is another program. It runs the tests of the package
and every chapter.

*colab* takes the list that Google publishes of what is installed there, and installs
what the first cell of a chapter installs, with that list as constraints: Colab's own
PyTorch and NumPy stay. It runs every chapter. What it cannot show: Colab's front end,
its GPUs, and versions that have changed since Google wrote the list. Another list, such
as one that ``pip freeze`` wrote in Colab, comes from ``COLAB_PACKAGES=file``.
"""

import argparse
import os
import re
import shutil
import subprocess
import sys
import tempfile
import urllib.request
import venv
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
SETS = ROOT / ".cache" / "sets"
COLAB_LIST = (
    "https://raw.githubusercontent.com/googlecolab/backend-info/main/pip-freeze.txt"
)
BELOW = {"jupyter-book": "<2"}
PACKAGE = ("attncourse", "pyproject.toml", "README.md", "LICENSE")


class SetError(Exception):
    """What keeps a set of packages from being tested, as a sentence."""


def newest_requirements(text):
    """Return the names in a list of requirements, without their versions."""
    lines = (line.split("#")[0].strip() for line in text.splitlines())
    names = (re.split(r"[\s<>=!~;\[]", line)[0] for line in lines if line)
    return [f"{name}{BELOW.get(name, '')}" for name in names]


def constraints(text):
    """Return the pinned lines of a list that ``pip freeze`` has printed.

    Those without a version, such as ``name @ address``, are left out. A local version,
    ``2.9.0+cpu``, stands for every build of that release.
    """
    pins = re.findall(r"^([\w.-]+)==([\w.!-]+)(?:\+[\w.]+)?\s*$", text, re.M)
    if not pins:
        raise SetError("The list of Colab's packages has no versions in it.")
    return [f"{name}=={version}" for name, version in pins]


def colab_list():
    """Read the list of what is installed in Colab."""
    place = os.environ.get("COLAB_PACKAGES") or COLAB_LIST
    try:
        if place.startswith("https://"):
            with urllib.request.urlopen(place, timeout=60) as answer:
                return answer.read().decode("utf8")
        return Path(place).read_text(encoding="utf8")
    except (OSError, UnicodeDecodeError) as error:
        raise SetError(
            f"The list of Colab's packages was not read from {place}: {error}. Give a "
            "file that 'pip freeze' wrote there: make colab COLAB_PACKAGES=file"
        ) from None


def copy_package(folder):
    """Copy what the package is built from, so that the build leaves nothing here."""
    for name in PACKAGE:
        if (ROOT / name).is_dir():
            skip = shutil.ignore_patterns("__pycache__")
            shutil.copytree(ROOT / name, folder / name, ignore=skip)
        else:
            shutil.copy(ROOT / name, folder / name)
    return folder


def run(*command):
    """Run a command in the repository; a failure ends the run."""
    done = subprocess.run([str(part) for part in command], cwd=ROOT)
    if done.returncode:
        raise SetError(f"This failed: {' '.join(map(str, command[1:]))}")


def environment(name):
    """Make a fresh environment and return its Python."""
    folder = SETS / name
    venv.create(folder, clear=True, with_pip=True)
    return folder / "bin" / "python"


def install(python, extras, wanted, pins=()):
    """Install the package with some extras and requirements, within constraints."""
    with tempfile.TemporaryDirectory() as scratch:
        source = copy_package(Path(scratch))
        limits = source / "constraints.txt"
        limits.write_text("\n".join(pins) + "\n")
        ours = f"{source}[{','.join(extras)}]"
        run(python, "-m", "pip", "install", "-q", "-c", limits, ours, *wanted)
    run(python, "-m", "pip", "list", "--format", "freeze")


def test_newest():
    """Test the package and the chapters with the newest releases."""
    text = (ROOT / "requirements.in").read_text(encoding="utf8")
    python = environment("newest")
    install(python, ["chapters", "widgets", "grade"], newest_requirements(text))
    run(python, "-m", "pytest", "tests", "--ignore", "tests/site", "-q")
    run(python, "-m", "pytest", "--nbval", "chapters", "-q")


def test_colab():
    """Run the chapters with the versions that Colab has."""
    pins = constraints(colab_list())
    python = environment("colab")
    # nbval and pytest are for the run; anywidget and ipywidgets are there in Colab
    wanted = ["nbval", "pytest", "ipykernel", "anywidget", "ipywidgets"]
    install(python, ["chapters"], wanted, pins)
    run(python, "-m", "pytest", "--nbval", "chapters", "-q", "-W", "default")


def main(argv=None):
    """Test a set of packages; return the exit status."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("set", choices=["newest", "colab"])
    chosen = parser.parse_args(argv).set
    try:
        {"newest": test_newest, "colab": test_colab}[chosen]()
    except SetError as error:
        print(error, file=sys.stderr)
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
