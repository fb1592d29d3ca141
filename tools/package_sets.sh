#!/usr/bin/env bash
# Test the course with other packages than the pinned ones.
#
#   bash tools/package_sets.sh newest    the newest release of everything
#   bash tools/package_sets.sh colab     the versions that Google Colab has
#
# Each set gets an environment of its own in .cache/sets; .venv is not touched. The
# package is installed as a reader's is, built and not editable.
#
# "newest" takes the names in requirements.in and none of the versions, except that
# Jupyter Book stays below 2, which is another program. It runs the tests of the package
# and every chapter.
#
# "colab" takes the list that Google publishes of what is installed there, and installs
# what the first cell of a chapter installs, with that list as constraints: Colab's own
# PyTorch and NumPy stay. It runs every chapter. What it cannot show: Colab's front end,
# its GPUs, and versions that have changed since Google wrote the list. Another list, such
# as one that `pip freeze` wrote in Colab, comes from COLAB_PACKAGES=file.
set -euo pipefail
cd "$(dirname "$0")/.."

colab_list=https://raw.githubusercontent.com/googlecolab/backend-info/main/pip-freeze.txt
python=.cache/sets/$1/bin/python
source=$(mktemp -d)
trap 'rm -rf "$source"' EXIT

# Copied, so that the build leaves nothing here.
cp -r attncourse pyproject.toml README.md LICENSE "$source"
case $1 in
newest)
  extras=chapters,widgets,grade
  sed -E 's/#.*//; s/[][<>=~!;, ].*//; s/^jupyter-book$/&<2/' requirements.in \
    > "$source/wanted"
  : > "$source/limits"
  ;;
colab)
  extras=chapters
  # nbval and pytest are for the run; anywidget and ipywidgets are there in Colab
  printf '%s\n' nbval pytest ipykernel anywidget ipywidgets > "$source/wanted"
  if [ -n "${COLAB_PACKAGES:-}" ]; then
    cat "$COLAB_PACKAGES"
  else
    curl --fail --silent --show-error --location "$colab_list"
  fi > "$source/list"
  # A local version, 2.9.0+cpu, stands for every build of that release. PyTorch often
  # stands there with the address of its wheel, in which %2B is the plus sign.
  if ! sed -nE -e 's/^([A-Za-z0-9_.-]+==[A-Za-z0-9_.!-]+)(\+[A-Za-z0-9_.]+)?$/\1/p' \
    -e 's|^([A-Za-z0-9_.-]+) @ .*/[A-Za-z0-9_.]+-([0-9.]+)(%2B[^-]*)?-.*\.whl.*|\1==\2|p' \
    "$source/list" | grep . > "$source/limits"; then
    echo "The list of Colab's packages has no versions in it. Give a file that" \
      "'pip freeze' wrote there: make colab COLAB_PACKAGES=file" >&2
    exit 1
  fi
  ;;
*)
  echo "Name a set: newest or colab." >&2
  exit 1
  ;;
esac

python3 -m venv --clear ".cache/sets/$1"
"$python" -m pip install -q -c "$source/limits" -r "$source/wanted" "$source[$extras]"
"$python" -m pip list --format freeze
if [ "$1" = newest ]; then
  "$python" -m pytest tests --ignore tests/site -q
  "$python" -m pytest --nbval chapters -q
else
  "$python" -m pytest --nbval chapters -q -W default
fi
