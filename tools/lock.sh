#!/usr/bin/env bash
# Work out requirements.txt from requirements.in. Called by `make lock`.
set -eu
cd "$(dirname "$0")/.."

tools=.cache/lock
if ! "$tools/bin/python" -c 'import uv' 2>/dev/null; then
  echo "Creating $tools with uv in it."
  .venv/bin/python -m venv "$tools"
  "$tools/bin/python" -m pip install --quiet uv
fi

echo "Resolving requirements.in for Python 3.11 and later on every platform."
# The pins that are there are kept where they fit; UPGRADE=1 takes the newest instead.
cp requirements.txt "$tools/requirements.txt"
"$tools/bin/python" -m uv pip compile --quiet --universal --python-version 3.11 \
  --no-header --no-annotate ${UPGRADE:+--upgrade} requirements.in \
  -o "$tools/requirements.txt"

# What torch needs on a GPU follows from the build of torch that pip finds.
grep -vE '^(nvidia-|cuda-|triton)' "$tools/requirements.txt" > requirements.txt
echo "requirements.txt: $(wc -l < requirements.txt) packages."
