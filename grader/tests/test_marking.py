"""Answers marked by hand: what is shown, what is kept, and what it comes to."""

import json
import os
import shutil
import signal
import threading
import urllib.error
import urllib.request
from concurrent.futures import ThreadPoolExecutor

import nbformat
import pytest
from nbformat.v4 import new_code_cell, new_markdown_cell

from attncourse_grader.batch import BOOK
from attncourse_grader.cli import main
from attncourse_grader.exercises import exercise_of, modules
from attncourse_grader.grade.by_hand import LONGEST, LOST, answers_by_hand
from attncourse_grader.grade.compose import Template
from attncourse_grader.hand_in.submission import Refused, read_submission
from attncourse_grader.records.marking import MarkingServer
from grader.tests.conftest import FIRST, NAMES

WHY = {"answer": "why", "kind": "text", "manual": 4, "title": "Why divide?"}
MODEL = "<!-- BEGIN SOLUTION -->\nThe variance.\n<!-- END SOLUTION -->\nWrite here."
RUDE = "<script>alert(1)</script></script> the variance"


@pytest.fixture
def solutions(tmp_path, solutions):
    """Return solutions whose first exercise has two tasks that are marked by hand."""
    folder = shutil.copytree(solutions, tmp_path / "own")
    path = folder / f"{FIRST}.ipynb"
    made = nbformat.read(path, 4)
    for cell in made.cells:
        if cell.metadata.get("attncourse", {}).get("answer") == "scores":
            cell.metadata["attncourse"]["manual"] = 2
    made.cells.append(new_markdown_cell(MODEL, metadata={"attncourse": WHY}))
    made.metadata["widgets"] = {"state": "what the solution printed"}
    nbformat.write(made, path)
    return folder


def hand_in(course, name, text, scores="right"):
    """Grade a notebook with an answer in words, which somebody is to mark."""
    path = course.hand_in(name, scores=scores)
    made = nbformat.read(path, 4)
    mark = {"attncourse": {"answer": "why", "kind": "text"}}
    made.cells[1:] = [new_markdown_cell(text, metadata=mark)]
    nbformat.write(made, path)
    assert course.grade() == 0


@pytest.fixture
def serve(course):
    """Return a function that starts the page; it returns its address."""
    running = []

    def start(*, anonymous=False):
        server = MarkingServer(course.grades / BOOK, anonymous=anonymous)
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
    shown = {"id": one["id"], "hash": one["hash"]}
    shown["shown"] = [one.get("points"), one.get("marked"), one.get("comment")]
    body = shown | {"comment": "", **what}
    try:
        return urllib.request.urlopen(address, json.dumps(body).encode()).status
    except urllib.error.HTTPError as error:
        return error.code, error.read().decode()


def test_marks_count_and_stay_as_long_as_the_answer_does(course, serve):
    hand_in(course, "ada", RUDE)
    hand_in(course, "bob", "Write here.", scores="wrong")  # nothing was written
    ada, bob = course.standing("ada"), course.standing("bob")
    assert (ada.total, ada.of, ada.waiting) == (2, 26, 2)
    assert (bob.total, bob.waiting) == (0, 1)
    address = serve()
    text, answers = answers_on(address)
    assert "<script>alert" not in text
    shown = {(one["who"], one["task"][5:]): one for one in answers}
    assert {who for who, task in shown if "Why divide?" in task} == {"ada"}
    for (who, task), one in shown.items():
        if who == "ada":
            words = "Why divide?" in task
            points = 3 if words else 1.5
            assert send(address, one, points=points, comment="=Well") == 200
            assert one["text"] == (RUDE if words else one["text"])
    assert course.grade("--again") == 0
    ada = course.standing("ada")
    assert (ada.total, ada.waiting) == (6.5, 0)
    page = course.text("feedback/ada-1.html")
    assert "6.5 of 26 points" in page
    assert "Marked by hand: 3 of 4 points. =Well" in page
    assert "'=Well =Well" in course.text("tasks.csv")
    assert "why: Marked by hand: 3 of 4 points. =Well" in ada.remarks()
    course.run("history", "ada")
    assert f"marked: {FIRST}, why: 3 points. =Well" in course.printed
    assert "1 answers are not marked yet" in course.text("class.html")

    hand_in(course, "ada", "Another answer.")
    ada = course.standing("ada")
    assert (ada.total, ada.waiting) == (3.5, 1)
    (one,) = [a for a in answers_on(address)[1] if a["proposed"]]
    assert (one["points"], one["comment"], one["marked"]) == (3, "=Well", False)
    assert send(address, one, points=3, comment="=Well") == 200
    assert send(address, one, points=1)[0] == 400  # from a page loaded before
    hand_in(course, "ada", RUDE)
    assert course.standing("ada").total == 6.5  # the mark of that answer is still there

    path = course.solutions / f"{FIRST}.ipynb"
    path.write_text(path.read_text().replace('"manual": 4', '"manual": 8'))
    assert course.grade() == 0
    ada = course.standing("ada")
    assert (ada.of, ada.waiting) == (30, 1)  # 3 of 4 points are not 3 of 8


def test_what_is_cut_of_a_long_answer_says_so_and_counts_for_its_mark(course, serve):
    for end in "ab":
        hand_in(course, "ada", "x" * LONGEST + end)
        one = answers_on(address := serve())[1][-1]
        assert one["text"].endswith("x\n\n(What follows is cut: see the notebook.)")
        assert (one["marked"], one["proposed"]) == (False, end == "b")
        assert send(address, one, points=1) == 200


def test_code_in_part_written_is_an_answer(hand_in, solutions):
    template = Template(exercise_of(FIRST), solutions)
    part = next(part for part in template.by_hand if part["name"] == "scores")
    stub, main = part["given"], "def attention_scores(q, k): return root(q)"
    part["given"] += main  # which is handed out, and the helper is the answer
    begun = (
        stub.replace("    raise", "    if query is None:\n        raise")
        + "\n    return 1"
    )
    renamed = new_code_cell("def my_scores(q, k): return q")
    renamed.metadata["attncourse"] = {"answer": "scores"}
    commented = f"{stub}\n    # divide before the return"
    helped = f"{main}\ndef root(x): pass"
    for source in (stub, begun, renamed, commented, helped):
        found = read_submission(hand_in(source, "def causal_mask(n): return n"))
        answers = answers_by_hand(template, found)
        assert ("return" in answers[0]["answer"]) == (source is not stub)
    lost = set()
    for number in "12":  # in another notebook it is another answer
        found = read_submission(hand_in(f"def causal_mask(n): return {number}"))
        answers = answers_by_hand(template, found)
        assert answers[0]["answer"] == LOST
        lost.add(answers[0]["hash"])
    assert len(lost) == 2


def test_only_a_mark_of_what_is_shown_is_kept(course, serve):
    hand_in(course, "zoe", "One.")
    address = serve(anonymous=True)
    text, answers = answers_on(address)
    assert "zoe" not in text  # a name that no hash has
    one = answers[0]
    for points in (-1, 99, float("nan"), "many", None):
        assert send(address, one, points=points)[0] == 400
    assert send(address, one | {"hash": "other"}, points=1)[0] == 400
    assert send(address, answers[1], points=2) == 200
    status, says = send(address, answers[1], points=1)  # from a page loaded before
    assert (status, "its mark is another by now" in says) == (400, True)
    assert send(address, {"id": "other", "hash": ""}, points=1)[0] == 400
    for wrong in (address[:-2] + "/", address.rsplit("/", 2)[0] + "/"):
        with pytest.raises(urllib.error.HTTPError, match="404"):
            urllib.request.urlopen(wrong)
        assert send(wrong, one, points=1)[0] == 404
    book, away = course.grades / BOOK, course.folder / "away"
    book.rename(away)
    status, says = send(address, one, points=1)
    assert (status, "there is no gradebook" in str(says)) == (400, True)
    away.rename(book)
    assert course.grade() == 0
    assert course.standing("zoe").marked == 2


@pytest.mark.parametrize(("cells", "answer"), [*NAMES["in_words"], ([], LOST)])
def test_an_answer_in_words_is_found_wherever_it_stands(cells, answer, solutions):
    path = solutions / f"{FIRST}.ipynb"
    made = nbformat.read(path, 4)
    made.cells[-1].id = "why"
    made.cells.append(new_markdown_cell("Given.", id="given"))
    nbformat.write(made, path)
    made.cells = [c for c in made.cells if c.cell_type == "code"]
    for text, key, name in cells:
        mark = {"attncourse": {"answer": name, "kind": "text"}} if name else {}
        made.cells.append(new_markdown_cell(text, id=key, metadata=mark))
    handed_in = solutions / "ada.ipynb"
    nbformat.write(made, handed_in)
    template = Template(exercise_of(FIRST), solutions)
    (*_, found) = answers_by_hand(template, read_submission(handed_in))
    assert (found["answer"], bool(found["hash"])) == (answer, bool(answer))


@pytest.mark.parametrize("sign", [signal.SIGINT, signal.SIGTERM, signal.SIGHUP])
def test_the_command_ends_with_the_pages_written(sign, course, monkeypatch):
    hand_in(course, "ada", "One.")
    page = course.grades / "feedback" / "ada-1.html"
    page.unlink()
    with monkeypatch.context() as patch:
        patch.setattr("attncourse_grader.exercises.folder", lambda: course.folder)
        modules.cache_clear()
        assert not modules()  # all come while the command runs

    def interrupted(server):
        assert server.address in course.capsys.readouterr().out
        # A copy takes its place, and a change is made there.
        book = course.grades / BOOK
        shutil.copy(book, book.with_suffix(".copy")).replace(book)
        with course.book() as book:
            facts = {"points": 1, "reason": "x", "made": 0}
            book.keep("adjustments", "ada", FIRST, **facts)
        os.kill(os.getpid(), sign)

    monkeypatch.setattr(MarkingServer, "serve_forever", interrupted)
    assert course.run("mark") == 0
    assert "2 answers are not marked yet" in course.printed
    assert "Changed by hand: +1 point. x." in page.read_text()
    assert course.run("export") == 0
    assert "2 answers are not marked yet, and have no points so far" in course.said


def test_what_is_handed_out_has_no_model_answer_and_counts_less_than_words(
    tmp_path, solutions, course
):
    words = ["release", "1", "--out", str(tmp_path / "in" / "ada")]
    assert main([*words, "--solutions", str(solutions)]) == 0
    hand_in(course, "ada/0", RUDE, scores="wrong")
    assert course.standing().waiting == 2
    given = nbformat.read(tmp_path / "in" / "ada" / f"{FIRST}.ipynb", 4)
    assert "widgets" not in given.metadata
    last = given.cells[-1]
    assert (last.source, last.metadata["attncourse"]) == ("Write here.", WHY)
    assert main([*words, "--solutions", str(solutions), "--format", "nbgrader"]) == 0
    (path,) = tmp_path.glob(f"in/ada/source/*/{FIRST}.ipynb")
    made = nbformat.read(path, 4)
    assert "widgets" not in made.metadata
    marks = {m["grade_id"]: m for c in made.cells if (m := c.metadata.get("nbgrader"))}
    for name, points in (("why", 4), ("scores", 2), ("masks", None)):
        assert marks[f"answer-{name}"].get("points") == points


def by_keyboard(address, playwright):
    with playwright.sync_playwright() as running:
        chromium = shutil.which("chromium")
        options = {"executable_path": chromium, "args": ["--no-sandbox"]}
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


def test_the_page_is_used_by_keyboard_alone(course, serve):
    playwright = pytest.importorskip("playwright.sync_api", reason="no browser")
    for name in ("ada", "bob"):
        hand_in(course, name, f"{RUDE} {name}")
    # In a thread of its own: another test's browser may run in this one.
    with ThreadPoolExecutor(1) as thread:
        thread.submit(by_keyboard, serve(), playwright).result()
    assert course.grade() == 0
    assert course.standing("ada").marked == 3.5
    assert course.standing("bob").marked == 0


@pytest.mark.parametrize("mark", [*NAMES["unmeant"], WHY])
def test_what_a_solution_says_and_cannot_mean_is_the_instructors(mark, solutions):
    path = solutions / f"{FIRST}.ipynb"
    made = nbformat.read(path, 4)
    made.cells.append(new_markdown_cell(MODEL, metadata={"attncourse": mark}))
    nbformat.write(made, path)
    with pytest.raises(Refused, match="the solution's cell"):
        Template(exercise_of(FIRST), solutions)
