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
from string import Template

ROOT = Path(__file__).resolve().parent.parent
TEMPLATE = Path(__file__).resolve().parent / "exercise_template"


def begin(name: str) -> list[Path]:
    """Write the three files of an exercise and return their paths."""
    match = re.fullmatch(r"([1-9]\d?)_([a-z][a-z0-9_]*)", name)
    if not match:
        raise SystemExit(f"{name!r}: write a number, _ and small letters: 7_mine.")
    number, module = match.groups()
    words = {"number": number, "name": name, "module": module}
    words["title"] = module.replace("_", " ").capitalize()
    forms = {
        ROOT / "solutions" / f"{name}.ipynb": "solution.ipynb",
        ROOT / "attncourse" / "exercises" / f"{module}.py": "probes.txt",
        ROOT / "solutions" / "slips" / f"{name}.toml": "slips.toml",
    }
    folder = ROOT / "attncourse" / "exercises" / module
    taken = [path for path in [*forms, folder] if path.exists()]
    for path in [*taken, *(ROOT / "solutions").glob(f"{number}_*.ipynb")]:
        raise SystemExit(f"{path.relative_to(ROOT)} is there already.")
    for path, form in forms.items():
        text = (TEMPLATE / form).read_text("utf8")
        path.write_text(Template(text).substitute(words), encoding="utf8")
    return [*forms]


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
    print("To show it on the site, add a line to _toc.yml, and one to the table in")
    print(f"book/exercises.md:\n+      - file: exercises/{name}")
    print(f"+ | {{doc}}`{number} · {probes.stem} </exercises/{name}>` | |")


if __name__ == "__main__":
    if len(sys.argv) != 2:
        sys.exit("Give the exercise a number and a name: make exercise NAME=7_mine")
    main(sys.argv[1])
