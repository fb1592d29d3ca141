"""Files of the repository as modules; Git, and Python, in a process of their own."""

import importlib.util
import subprocess
import sys
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


def python(code, **options):
    """Run code in a fresh interpreter and return what it prints."""
    command = [sys.executable, "-W", "error", "-c", code]
    done = subprocess.run(
        command, capture_output=True, text=True, check=True, **options
    )
    return done.stdout.strip()
