"""The page about the class, and what the answers of two students have in common."""

import re
from html.parser import HTMLParser

import pytest

from attncourse_grader.hand_in.source import statements_of
from attncourse_grader.hand_in.submission import read_submission
from attncourse_grader.records.class_page import histogram
from attncourse_grader.records.similarity import fingerprints, similar_pairs
from grader.tests.conftest import FIRST
from grader.tests.conftest import NAMES as TOLD

ANSWER, OTHER = TOLD["alike"]["answer"], TOLD["alike"]["other"]
OLD = ["scores", "mask", "total", "row", "top", "shifted", "value", "grown", "whole"]
NEW = ["s", "m", "result", "line", "biggest", "moved", "x", "up", "summed"]
NAMES = dict(zip(OLD, NEW, strict=True))
RENAMED = re.sub(r"\w+", lambda word: NAMES.get(word[0], word[0]), ANSWER)
RENAMED = RENAMED.replace("'''Return weights.'''", "# all my own work")
RENAMED = RENAMED.replace("        up =", "\n        up =")


@pytest.fixture
def runs(hand_in):
    def of(*sources, reference=()):
        path = hand_in(*sources, metadata={"attncourse": {"exercise": FIRST}})
        return fingerprints(read_submission(path), reference)

    return of


def test_a_renamed_or_changed_copy_is_found_and_an_answer_of_ones_own_is_not(runs):
    answers = {"ada": runs(ANSWER), "bob": runs(RENAMED), "eve": runs(OTHER)}
    assert answers["ada"] == answers["bob"] != answers["eve"]
    assert similar_pairs(answers) == [("ada", "bob", 1, ["scores"])]
    changed = RENAMED.replace("print('done', len(result))", "result = list(result)")
    ((*_, similarity, _),) = similar_pairs(answers | {"bob": runs(changed)})
    assert 0.65 < similarity < 1


def test_what_the_reference_or_all_have_or_nobody_wrote_says_nothing(runs):
    reference = statements_of(ANSWER, 1)
    assert runs(RENAMED, reference=reference) == {"scores": []}
    for count in (5, 60):
        many = {f"s{k}": runs(ANSWER) for k in range(count)}
        assert similar_pairs(many) == []
    stub = "def attention_scores(q, k):\n    raise NotImplementedError('Task 1.1')"
    assert runs(stub)["scores"] == []
    assert runs("def attention_scores(:", "%matplotlib inline\nx = 1").keys() == {""}
    assert runs(f"attention_scores = 0x{'f' * 5000}").keys() == {"scores"}
    assert runs("attention_scores = " + "(" * 5000 + ")" * 5000) == {}


class Reader(HTMLParser):
    """See that nothing makes a browser fetch or run something."""

    def handle_starttag(self, tag, attributes):
        assert tag not in ("script", "img")
        for name, _ in attributes:
            assert not name.startswith("on")
            assert name not in ("src", "srcset", "action")


def test_the_page_tells_distribution_tasks_mistakes_and_similarity(course):
    course.hand_in("ada", attention="wrong", extra=ANSWER)
    course.hand_in("bob", attention="wrong", extra=RENAMED)
    course.hand_in("eve", scores="no", attention="no", extra=OTHER)
    course.hand_in("joan").write_text("{")
    course.grade("--alike")
    text = course.text("class.html")
    assert "3 graded; on average 1.3 of 20 points, median 2." in text
    assert "0 to 2 points: 1; 2 to 4 points: 2" in text
    row = re.search(r"<tr><td>1.1</td>.*?</tr>", text, re.DOTALL)[0]
    assert "67%" in row
    mistakes = re.search(r"Where answers fail first.*?</table>", text, re.DOTALL)[0]
    assert '<td class="n">3</td><td>1.2</td><td>the weights are the softmax' in mistakes
    assert "ada and bob share 100% of what few others have" in text
    assert "joan.ipynb" in text
    drawn = histogram([0, 1.9, 2, 19.9, 20, 25], 20)  # everybody once
    assert [b["count"] for b in drawn] == [2, 1, 0, 0, 0, 0, 0, 0, 0, 3]
    assert histogram([0.0], 0.0)[0]["count"] == 1  # an exercise that gives no points


def test_nothing_that_students_write_is_obeyed_by_a_browser(course):
    rude = "<script>alert(1)</script><img src=x onerror=alert(1)>"
    course.hand_in("<img src=x onerror=alert(1)>/x", scores=rude)
    course.hand_in("\x1b[31mbob\x07/x", scores=rude + "2")
    course.grade("--alike")
    pages = list(course.grades.rglob("*.html"))
    assert len(pages) == 3
    for page in pages:
        text = page.read_text()
        Reader().feed(text)
        assert "default-src 'none'" in text
        assert not re.search("[\x00-\x08\x0b-\x1f\x7f-\x9f]", text)
