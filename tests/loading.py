"""Files of the repository that are on nobody's path, as modules; Git in a folder."""

import importlib.util
import subprocess
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent


def load(name):
    """Import a file by its name in the repository, such as ``tools/build.py``."""
    path = ROOT / name
    spec = importlib.util.spec_from_file_location(path.stem, path)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def git(*arguments, cwd):
    """Run Git in a folder and return what it prints."""
    settings = ["-c", "user.name=A", "-c", "user.email=a@b.invalid"]
    command = ["git", *settings, *arguments]
    done = subprocess.run(command, cwd=cwd, check=True, capture_output=True)
    return done.stdout.decode().strip()
