"""Answers marked by hand: what is shown, what is kept, and what it comes to."""

import json
import shutil
import threading
import urllib.error
import urllib.request
from concurrent.futures import ThreadPoolExecutor

import nbformat
import pytest
from nbformat.v4 import new_code_cell, new_markdown_cell, new_notebook

from attncourse_grader.batch import BOOK
from attncourse_grader.cli import main
from attncourse_grader.exercises import exercise_of
from attncourse_grader.grade.compose import Template
from attncourse_grader.hand_in.nbgrader_format import assignment_from
from attncourse_grader.hand_in.submission import Refused, read_notebook
from attncourse_grader.records.effective import effective_grades
from attncourse_grader.records.gradebook import Gradebook
from attncourse_grader.records.marking import MarkingServer

FIRST = "1_attention_from_scratch"
WHY = {"answer": "why", "kind": "text", "manual": 4, "title": "Why divide?"}
MODEL = "<!-- BEGIN SOLUTION -->\nThe variance.\n<!-- END SOLUTION -->\nWrite here."
RUDE = "<script>alert(1)</script></script> the variance"


@pytest.fixture
def own_solutions(tmp_path, solutions):
    """Return solutions whose first exercise has two tasks that are marked by hand."""
    folder = shutil.copytree(solutions, tmp_path / "own")
    path = folder / f"{FIRST}.ipynb"
    made = nbformat.read(path, 4)
    for cell in made.cells:
        if cell.metadata.get("attncourse", {}).get("answer") == "scores":
            cell.metadata["attncourse"]["manual"] = 2
    made.cells.append(new_markdown_cell(MODEL, metadata={"attncourse": WHY}))
    nbformat.write(made, path)
    return folder


@pytest.fixture
def hand_in(tmp_path):
    def write(name, text, scores="right"):
        code = f"def attention_scores(query, key):\n    return '{scores}'"
        mark = {"attncourse": {"answer": "why", "kind": "text"}}
        cells = [new_code_cell(code), new_markdown_cell(text, metadata=mark)]
        path = tmp_path / "in" / f"{name}.ipynb"
        path.parent.mkdir(exist_ok=True)
        nbformat.write(new_notebook(cells=cells), path)

    return write


@pytest.fixture
def grade(tmp_path, own_solutions, calls):
    def run(*more):
        words = ["grade", str(tmp_path / "in"), "--solutions", str(own_solutions)]
        assert main([*words, "--out", str(tmp_path / "grades"), *more]) == 0
        with Gradebook(tmp_path / "grades" / BOOK) as book:
            return {g.student: g for g in effective_grades(book)}

    return run


@pytest.fixture
def serve(tmp_path):
    """Return a function that starts the page; it returns its address."""
    running = []

    def start(*, anonymous=False):
        server = MarkingServer(tmp_path / "grades" / BOOK, anonymous=anonymous)
        running.append(server)
        threading.Thread(target=server.serve_forever, daemon=True).start()
        return server.address

    yield start
    for server in running:
        server.shutdown()
        server.server_close()


def answers_on(address):
    text = urllib.request.urlopen(address).read().decode()
    data = text.split('id="data">')[1].split("</script>")[0]
    return text, json.loads(data)


def send(address, one, **what):
    body = {"id": one["id"], "hash": one["hash"], "comment": "", **what}
    try:
        return urllib.request.urlopen(address, json.dumps(body).encode()).status
    except urllib.error.HTTPError as error:
        return error.code, error.read().decode()


def test_marks_count_and_stay_as_long_as_the_answer_does(
    tmp_path, hand_in, grade, serve, capsys
):
    hand_in("ada", RUDE)
    hand_in("bob", "Write here.", scores="wrong")  # nothing was written
    found = grade()
    assert (found["ada"].total, found["ada"].of, found["ada"].waiting) == (2, 26, 2)
    assert (found["bob"].total, found["bob"].waiting) == (0, 1)
    address = serve()
    text, answers = answers_on(address)
    assert "<script>alert" not in text
    shown = {(one["who"], one["task"][5:]): one for one in answers}
    assert {who for who, task in shown if "Why divide?" in task} == {"ada"}
    for (who, task), one in shown.items():
        if who == "ada":
            words = "Why divide?" in task
            assert (
                send(address, one, points=3 if words else 1.5, comment="=Well") == 200
            )
            assert one["text"] == (RUDE if words else one["text"])
    found = grade("--again")
    assert (found["ada"].total, found["ada"].waiting) == (6.5, 0)
    page = (tmp_path / "grades" / "feedback" / "ada-1.html").read_text()
    assert "6.5 of 26 points" in page
    assert "Marked by hand: 3 of 4 points. =Well" in page
    table = (tmp_path / "grades" / "tasks.csv").read_text()
    assert "'=Well =Well" in table
    assert "why: Marked by hand: 3 of 4 points. =Well" in found["ada"].remarks()
    main(["history", "ada", "--grades", str(tmp_path / "grades")])
    assert f"marked: {FIRST}, why: 3 points. =Well" in capsys.readouterr().out
    assert (
        "1 answers are not marked yet"
        in (tmp_path / "grades" / "class.html").read_text()
    )

    hand_in("ada", "Another answer.")
    found = grade()
    assert (found["ada"].total, found["ada"].waiting) == (3.5, 1)
    (one,) = [a for a in answers_on(address)[1] if a["proposed"]]
    assert (one["points"], one["comment"], one["marked"]) == (3, "=Well", False)
    assert send(address, one, points=3, comment="=Well") == 200
    hand_in("ada", RUDE)
    assert grade()["ada"].total == 6.5  # the mark of that answer is still there


def test_only_a_mark_of_what_is_shown_is_kept(tmp_path, hand_in, grade, serve):
    hand_in("zoe", "One.")
    grade()
    address = serve(anonymous=True)
    text, answers = answers_on(address)
    assert "zoe" not in text  # a name that no hash has
    one = answers[0]
    for points in (-1, 99, float("nan"), "many", None):
        assert send(address, one, points=points)[0] == 400
    assert send(address, one | {"hash": "other"}, points=1)[0] == 400
    assert send(address, {"id": "other", "hash": ""}, points=1)[0] == 400
    for wrong in (address[:-2] + "/", address.rsplit("/", 2)[0] + "/"):
        with pytest.raises(urllib.error.HTTPError, match="404"):
            urllib.request.urlopen(wrong)
        assert send(wrong, one, points=1)[0] == 404
    book = tmp_path / "grades" / "gradebook.sqlite"
    book.rename(tmp_path / "away")
    status, says = send(address, one, points=1)
    assert (status, "there is no gradebook" in str(says)) == (400, True)
    (tmp_path / "away").rename(book)
    assert grade()["zoe"].marked == 0


def test_the_command_ends_with_the_pages_written(
    tmp_path, hand_in, grade, capsys, monkeypatch
):
    hand_in("ada", "One.")
    grade()
    page = tmp_path / "grades" / "feedback" / "ada-1.html"
    page.unlink()

    def interrupted(server):
        assert server.address in capsys.readouterr().out
        raise KeyboardInterrupt

    monkeypatch.setattr(MarkingServer, "serve_forever", interrupted)
    assert main(["mark", "--grades", str(tmp_path / "grades")]) == 0
    assert "2 answers are not marked yet" in capsys.readouterr().out
    assert page.is_file()


def test_what_is_handed_out_has_no_model_answer(tmp_path, own_solutions):
    words = ["release", "1", "--out", str(tmp_path / "out")]
    assert main([*words, "--solutions", str(own_solutions)]) == 0
    last = nbformat.read(tmp_path / "out" / f"{FIRST}.ipynb", 4).cells[-1]
    assert (last.source, last.metadata["attncourse"]) == ("Write here.", WHY)
    made = assignment_from(read_notebook(own_solutions / f"{FIRST}.ipynb"), FIRST)
    marks = {m["grade_id"]: m for c in made.cells if (m := c.metadata.get("nbgrader"))}
    assert [marks[f"answer-{n}"].get("points") for n in ("why", "scores", "masks")] == [
        4,
        2,
        None,
    ]


def by_keyboard(address, playwright):
    """Mark one answer with the keyboard alone."""
    with playwright.sync_playwright() as running:
        options = {
            "executable_path": shutil.which("chromium"),
            "args": ["--no-sandbox"],
        }
        with running.chromium.launch(**options) as browser:
            page, faults = browser.new_page(), []
            page.on("pageerror", lambda error: faults.append(error))
            page.on("dialog", lambda dialog: faults.append(dialog))
            page.goto(address)
            page.select_option("#task", label="1.8: Why divide?")
            assert page.inner_text("#answer") == f"{RUDE} ada"
            page.focus("#points")
            for key in ("3", ".", "5", "Tab", "o", "k", "Enter"):
                page.keyboard.press(key)
            playwright.expect(page.locator("#who")).to_contain_text("bob")
            assert page.inner_text("#said") == "Kept. Not marked yet."
            page.keyboard.press("PageUp")
            assert page.input_value("#comment") == "ok"
            assert faults == []


def test_the_page_is_used_by_keyboard_alone(hand_in, grade, serve):
    playwright = pytest.importorskip("playwright.sync_api", reason="no browser")
    for name in ("ada", "bob"):
        hand_in(name, f"{RUDE} {name}")
    grade()
    # In a thread of its own: another test's browser may run in this one.
    with ThreadPoolExecutor(1) as thread:
        thread.submit(by_keyboard, serve(), playwright).result()
    found = grade()
    assert (found["ada"].marked, found["bob"].marked) == (3.5, 0)


@pytest.mark.parametrize("mark", [{"manual": 2, "answer": "none"}, {"manual": -1}])
def test_what_a_solution_says_and_cannot_mean_is_the_instructors(mark, own_solutions):
    path = own_solutions / f"{FIRST}.ipynb"
    made = nbformat.read(path, 4)
    made.cells[-1].metadata["attncourse"] = mark
    nbformat.write(made, path)
    with pytest.raises(Refused, match="the solution's cell"):
        Template(exercise_of(FIRST), own_solutions)
