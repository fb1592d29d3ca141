"""Make up a class: notebooks as students hand them in, with right and wrong answers.

    python -m tools.sample_class FOLDER --exercise 1 --students 20

To try the grader on before the term begins. The answers are those of the solutions and
the wrong ones that the tests know; the names are made up. FOLDER gets the class list,
students.csv, and in submissions/ a folder for each student. The same command makes the
same class again.
"""

import argparse
import csv
import importlib
import json
import random
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


def answer_cells(notebook):
    """Yield (task, cell) for each answer cell of a notebook."""
    for cell in notebook["cells"]:
        task = cell["metadata"].get("attncourse", {}).get("answer")
        if task and cell["cell_type"] == "code":
            yield task, cell


def right_answers(name):
    """Return {task: source} from a solution."""
    notebook = json.loads((ROOT / "solutions" / f"{name}.ipynb").read_text("utf8"))
    cells = answer_cells(notebook)
    return {task: solution_of("".join(cell["source"])) for task, cell in cells}


def wrong_answers(name):
    """Return {task: [source, …]}, the wrong answers that the tests know."""
    try:
        module = importlib.import_module(f"tests.exercises.answers.{modules()[name]}")
    except ModuleNotFoundError:  # an exercise of one's own
        return {}
    return {task: [s for s, _ in w.values()] for task, w in module.WRONG.items()}


def hand_in(name, chosen):
    """Return an exercise as students get it, with answers put in."""
    notebook = json.loads((ROOT / "exercises" / f"{name}.ipynb").read_text("utf8"))
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
        knows = draw.random() < skill or not wrong.get(task)
        chosen[task] = source if knows else draw.choice(wrong[task])
    return chosen


def make_class(folder, name, students):
    """Write a class list and submissions of one exercise; return the names."""
    draw = random.Random(1)
    people = [" ".join(person.split()) for person in PEOPLE.split(",")]
    if students > len(people):
        raise SystemExit(f"At most {len(people)} students.")
    draw.shuffle(people)
    right, wrong = right_answers(name), wrong_answers(name)
    for person in people[:students]:
        target = folder / "submissions" / person / f"{name}.ipynb"
        target.parent.mkdir(parents=True, exist_ok=True)
        notebook = hand_in(name, choose(draw, right, wrong))
        target.write_text(json.dumps(notebook, indent=1), encoding="utf8")
    names = sorted(people[:students])
    mails = [f"{name.lower().replace(' ', '.')}@uni.example" for name in names]
    rows = zip(names, names, mails, strict=True)
    with (folder / "students.csv").open("w", encoding="utf8", newline="") as handle:
        csv.writer(handle).writerows([["student", "name", "email"], *rows])
    return names


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("folder", type=Path)
    parser.add_argument("--exercise", default="1")
    parser.add_argument("--students", type=int, default=20)
    words = parser.parse_args()
    made = make_class(words.folder, exercise_named(words.exercise), words.students)
    print(f"{len(made)} students in {words.folder}")


if __name__ == "__main__":
    main()
