"""Begin an exercise of one's own: an example with one task that works at once.

    python tools/new_exercise.py 7_mine

writes solutions/7_mine.ipynb, attncourse/exercises/mine.py with its probes and
solutions/slips/7_mine.toml with its slips, records what the solution gives, and makes
exercises/7_mine.ipynb. Then change the text, the answer and the probes to your own.
"""

import re
import subprocess
import sys
from pathlib import Path

import nbformat
from nbformat.v4 import new_code_cell, new_markdown_cell, new_notebook

ROOT = Path(__file__).resolve().parent.parent
INTRO = """\
# Exercise {number}: {title}

What this exercise is about, in two sentences.

- **Read before:** [self-attention](../chapters/02_attention_types.ipynb).
- **Allowed:** all of PyTorch.
"""
INSTALL = """\
# Colab: install the course's package. Elsewhere this does nothing.
import importlib.util

if importlib.util.find_spec("attncourse") is None:
    %pip install -q "attncourse[chapters] @ git+https://github.com/attncourse/attncourse"
"""
SETUP = """\
import torch

from attncourse import seed_everything
from attncourse.exercises import open_exercise

torch.set_num_threads(1)
seed_everything(0)
exercise = open_exercise("{module}")
"""
TASK = """\
## Task {number}.1: A softmax with a temperature

*2 points · easy · 10 minutes*

Divide the scores by the temperature, then take the softmax over the last axis.

| | shape |
|---|---|
| `scores` | `(queries, keys)` or with more axes in front |
| `temperature` | a positive number |
| returned | the shape of `scores` |
"""
ANSWER = '''\
def tempered_softmax(scores, temperature):
    """Return the softmax of the scores, divided by the temperature."""
    ### BEGIN SOLUTION
    return torch.softmax(scores / temperature, dim=-1)
    ### END SOLUTION
'''
PROBES = '''\
"""Exercise {number}: {title}."""

from attncourse.exercises.drawing import numbers, sizes
from attncourse.exercises.probe import Exercise, Probe, Task

TEMPERED = (
    Probe(
        claim="at temperature 1 it is a softmax over the last axis",
        given="The temperature is 1, so the division changes nothing.",
        why="What came is not the softmax of each row.",
        draw=lambda g: {{"scores": numbers(g, *sizes(g, 2)), "temperature": 1.0}},
    ),
    Probe(
        claim="the scores are divided by the temperature",
        given="The temperature is 0.25 or 4.",
        why="Right so far, at temperature 1, and not here.",
        draw=lambda g: {{
            "scores": numbers(g, *sizes(g, 3)),
            "temperature": 4.0 if numbers(g, 1) > 0 else 0.25,
        }},
    ),
)

EXERCISE = Exercise(
    "{name}",
    "{title}",
    (
        Task(
            "tempered",
            "A softmax with a temperature",
            ("tempered_softmax",),
            2,
            TEMPERED,
        ),
    ),
)
'''
SLIPS = """\
# Edits of the model answer: [text in the answer, what stands there instead, what such
# an answer does]. Each has to be caught by a probe.

tempered = [
  [
    "scores / temperature",
    "scores * temperature",
    "The scores are multiplied by the temperature.",
  ],
]
"""


def begin(name: str) -> list[Path]:
    """Write the three files of an exercise and return their paths."""
    match = re.fullmatch(r"(\d{1,2})_([a-z][a-z0-9_]*)", name)
    if not match:
        raise SystemExit(f"{name!r}: write a number, _ and small letters: 7_mine.")
    number, module = match.groups()
    title = module.replace("_", " ").capitalize()
    paths = [
        ROOT / "solutions" / f"{name}.ipynb",
        ROOT / "attncourse" / "exercises" / f"{module}.py",
        ROOT / "solutions" / "slips" / f"{name}.toml",
    ]
    taken = [path for path in paths if path.exists()]
    taken += list((ROOT / "solutions").glob(f"{number}_*.ipynb"))
    if taken:
        raise SystemExit(f"{taken[0].relative_to(ROOT)} is there already.")
    words = {"number": number, "name": name, "module": module, "title": title}
    code = {"tags": ["hide-cell", "setup"]}
    cells = [
        new_markdown_cell(INTRO.format(**words)),
        new_code_cell(INSTALL.strip(), metadata=code),
        new_code_cell(SETUP.format(**words).strip(), metadata=code),
        new_markdown_cell(TASK.format(**words)),
        new_code_cell(ANSWER.strip(), metadata={"attncourse": {"answer": "tempered"}}),
        new_code_cell(
            'exercise.check("tempered", tempered_softmax)',
            metadata={"attncourse": {"check": "tempered"}},
        ),
    ]
    for place, cell in enumerate(cells, start=1):
        cell.id = f"cell-{place:02}"
        cell.source = cell.source.strip()
    kernel = {"display_name": "Python 3", "language": "python", "name": "python3"}
    metadata = {"kernelspec": kernel, "language_info": {"name": "python"}}
    nbformat.write(new_notebook(cells=cells, metadata=metadata), paths[0])
    paths[1].write_text(PROBES.format(**words), encoding="utf8")
    paths[2].write_text(SLIPS, encoding="utf8")
    return paths


def main(name: str) -> None:
    """Begin an exercise, run and record its solution, and make the exercise."""
    solution, probes, _ = paths = begin(name)
    number = name.partition("_")[0]
    for command in (
        [sys.executable, "tools/record_expected.py", number],
        [sys.executable, "tools/notebooks.py", "run", str(solution)],
        [sys.executable, "-m", "attncourse.cli", "release", number],
    ):
        subprocess.run(command, cwd=ROOT, check=True)
    made = [*paths, probes.parent / "expected" / f"{name}.json.xz"]
    made.append(ROOT / "exercises" / f"{name}.ipynb")
    for path in made:
        print(path.relative_to(ROOT))
    print(
        "To show it on the site, add a line to _toc.yml, and one to the table in\n"
        f"book/exercises.md:\n+      - file: exercises/{name}\n"
        f"+ | {{doc}}`{number} · {probes.stem} </exercises/{name}>` | |"
    )


if __name__ == "__main__":
    if len(sys.argv) != 2:
        sys.exit("Give the exercise a number and a name: make exercise NAME=7_mine")
    main(sys.argv[1])
