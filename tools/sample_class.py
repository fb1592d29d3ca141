"""Make up a class: notebooks as students hand them in, right, wrong and hostile.

    python -m tools.sample_class FOLDER --exercise 1 --students 20 --hostile 10

To try the grader on before the term begins. The answers are those of the solutions and
the wrong ones that the tests know, drawn by a seed; the names are made up. FOLDER gets

    students.csv        the class list
    submissions/        a folder for each student

and the same command makes the same class again.
"""

import argparse
import csv
import importlib
import json
import random
import sys
from pathlib import Path

from attncourse_grader.exercises import modules
from attncourse_grader.hand_in.release import solution_of
from attncourse_grader.hand_in.times import exercise_named

ROOT = Path(__file__).resolve().parent.parent
PEOPLE = """
Ada Adler, Alan Bakker, Amara Costa, Bela Dupont, Chen Eriksen, Dana Fischer, Elif
Garcia, Emmy Haddad, Farid Ivanova, Grace Jensen, Hana Kaya, Igor Lopez, Ines
Moreau, Jun Novak, Kofi Okafor, Lena Park, Malik Quinn, Mary Rossi, Nadia Sato, Omar
Tanaka, Petra Urban, Quentin Varga, Rosa Weber, Sami Xu, Tara Yilmaz, Uma Zhang,
Viktor Araya, Wanda Berg, Yusuf Castro, Zoe Demir
"""

# What a hostile answer does before it does anything else. `home` is a folder outside.
HOSTILE = {
    "a loop without end": "while True:\n    pass",
    "a loop that cannot be interrupted": (
        "while True:\n    try:\n        while True: print('still here')\n"
        "    except BaseException: pass"
    ),
    "an end without a word": "import os\nos._exit(0)",
    "an exit": "import sys\nsys.exit()",
    "all the memory": "hoard = [bytearray(2**28) for _ in range(4000)]",
    "50 MB of output": "print('x' * 50_000_000)",
    "a file outside": "open('{home}/written', 'w').write('x')",
    "a process that stays": (
        "import subprocess\n"
        "subprocess.Popen('sleep 2; touch {home}/stayed', shell=True,\n"
        "                 start_new_session=True)"
    ),
    "a patched torch": (
        "import torch\ntorch.allclose = lambda *a, **k: True\n"
        "torch.equal = lambda *a, **k: True"
    ),
    "a connection": (
        "import socket\nsocket.create_connection(('127.0.0.1', {port}), timeout=1)"
    ),
}


def read(path):
    return json.loads(path.read_text(encoding="utf8"))


def answer_cells(notebook):
    """Yield (task, cell) for each answer cell of a notebook."""
    for cell in notebook["cells"]:
        task = cell["metadata"].get("attncourse", {}).get("answer")
        if task and cell["cell_type"] == "code":
            yield task, cell


def right_answers(name):
    """Return {task: source} from a solution."""
    notebook = read(ROOT / "solutions" / f"{name}.ipynb")
    cells = answer_cells(notebook)
    return {task: solution_of("".join(cell["source"])) for task, cell in cells}


def wrong_answers(name, right):
    """Return {task: [source, …]}, the wrong answers that the tests know."""
    try:
        module = importlib.import_module(f"tests.exercises.answers.{modules()[name]}")
    except ModuleNotFoundError:  # an exercise of one's own
        return {task: [] for task in right}
    return {
        task: [source for source, _ in module.WRONG.get(task, {}).values()]
        for task in right
    }


def hostile_answer(source, does, **places):
    """Return an answer whose first function does something that it should not."""
    head, _, body = source.partition("\n    ")
    lines = does.format(**places).splitlines()
    before = "\n".join(f"    {line}" for line in lines)
    return f"{head}\n{before}\n    {body}"


def hand_in(name, chosen):
    """Return an exercise as students get it, with answers put in."""
    notebook = read(ROOT / "exercises" / f"{name}.ipynb")
    for task, cell in answer_cells(notebook):
        if chosen.get(task):
            cell["source"] = chosen[task].splitlines(keepends=True)
    return notebook


def choose(draw, right, wrong):
    """Draw a student's answers: right, wrong, or left as they were handed out."""
    skill = draw.betavariate(3, 1.2)
    chosen = {}
    for place, (task, source) in enumerate(right.items()):
        if draw.random() < 0.04 * place * (1 - skill):
            continue
        knows = draw.random() < skill or not wrong[task]
        chosen[task] = source if knows else draw.choice(wrong[task])
    return chosen


def make_class(folder, name, *, students, hostile, seed, port=9):
    """Write a class list and submissions; return {student: what is hostile, or ""}.

    Parameters
    ----------
    folder : pathlib.Path
        Where to write. A file that a hostile answer leaves behind lands in it too.
    name : str
        The exercise's notebook.
    students, hostile : int
        How many, and how many more who mean harm.
    seed : int
        What everything is drawn from.
    port : int
        The port of this machine that a hostile answer connects to.
    """
    draw = random.Random(seed)
    people = [" ".join(person.split()) for person in PEOPLE.split(",")]
    if students + hostile > len(people):
        raise SystemExit(f"At most {len(people)} students.")
    draw.shuffle(people)
    right = right_answers(name)
    wrong = wrong_answers(name, right)
    first = next(iter(right))
    harm = {}
    for place, person in enumerate(people[: students + hostile]):
        chosen = choose(draw, right, wrong)
        does = ""
        if place >= students:
            kinds = list(HOSTILE.items())
            does, code = kinds[(place - students) % len(kinds)]
            chosen = dict(right)
            places = {"home": folder, "port": port}
            chosen[first] = hostile_answer(right[first], code, **places)
        harm[person] = does
        target = folder / "submissions" / person / f"{name}.ipynb"
        target.parent.mkdir(parents=True, exist_ok=True)
        text = json.dumps(hand_in(name, chosen), indent=1)
        target.write_text(text, encoding="utf8")
    with (folder / "students.csv").open("w", encoding="utf8", newline="") as handle:
        rows = csv.writer(handle)
        rows.writerow(["student", "name", "email"])
        for person in sorted(harm):
            user = person.lower().replace(" ", ".")
            rows.writerow([person, person, f"{user}@uni.example"])
    return harm


def main(argv=None):
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("folder", type=Path)
    parser.add_argument("--exercise", type=int, default=1)
    parser.add_argument("--students", type=int, default=20)
    parser.add_argument("--hostile", type=int, default=0)
    parser.add_argument("--seed", type=int, default=1)
    options = parser.parse_args(argv)
    made = make_class(
        options.folder.resolve(),
        exercise_named(str(options.exercise)),
        students=options.students,
        hostile=options.hostile,
        seed=options.seed,
    )
    for person, does in made.items():
        if does:
            print(f"{person}: {does}")
    print(f"{len(made)} students in {options.folder}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
