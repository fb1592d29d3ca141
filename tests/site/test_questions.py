"""Every question answers at once: by mouse, by keyboard, with scripts and without."""

import json
import re

import pytest

from tests.loading import ROOT
from tests.site.watching import PHONE, broken_rules, go

NAMES = [path.stem for path in sorted((ROOT / "chapters").glob("[0-9]*.ipynb"))]
STATES = """() => [...document.querySelectorAll('.course-choice')].map(choice => ({
  open: choice.open,
  focused: choice.contains(document.activeElement),
  reads: choice.querySelector('p').checkVisibility({visibilityProperty: true})
    ? choice.querySelector('p').innerText : "",
}))"""
CLICK_ALL = """() => document.querySelectorAll('.course-choice summary')
  .forEach(choice => choice.click())"""
WIDTH = "() => [document.documentElement.scrollWidth, window.innerWidth]"


def address_of(name):
    return f"chapters/{name}.html#test-yourself"


def source_of(name):
    """Return the section with the questions, as it is written in the notebook."""
    path = ROOT / "chapters" / f"{name}.ipynb"
    cells = json.loads(path.read_text(encoding="utf8"))["cells"]
    texts = ["".join(c["source"]) for c in cells if c["cell_type"] == "markdown"]
    [section] = re.findall(
        r"^## Test yourself$.*?(?=^## |\Z)", "\n".join(texts), re.M | re.S
    )
    return section


def verdicts_of(name):
    """Return what each choice says about itself, question by question."""
    questions = re.split(r"^\*\*\d+\.\*\*", source_of(name), flags=re.M)[1:]
    return [re.findall(r"^\*\*(Right|Wrong)\.\*\*", q, re.M) for q in questions]


def flat(rows):
    return [value for row in rows for value in row]


# What is written --------------------------------------------------------------------


@pytest.mark.parametrize("name", NAMES)
def test_every_chapter_asks_at_least_three_questions(name):
    verdicts = verdicts_of(name)
    assert len(verdicts) >= 3
    for choices in verdicts:
        assert 2 <= len(choices) <= 4
        assert choices.count("Right") == 1


def test_the_right_answer_has_no_favourite_place():
    places = [v.index("Right") for name in NAMES for v in verdicts_of(name)]
    shares = [places.count(place) / len(places) for place in range(3)]
    assert min(shares) > 0.15
    assert max(shares) < 0.55


@pytest.mark.parametrize("name", NAMES)
def test_the_page_has_every_choice_with_its_verdict_and_its_reason(trees, name):
    questions = trees[f"chapters/{name}.html"].select("article .course-question")
    shown = []
    for number, question in enumerate(questions, start=1):
        assert question.p.get_text().startswith(f"{number}.")
        for choice in question.select(".course-choice"):
            verdict, reason = choice.p.get_text().split(". ", 1)
            assert f"course-{verdict.lower()}" in choice["class"]
            assert len(reason) > 8
            assert choice.summary.get_text(strip=True)
            assert not choice.has_attr("open")
        shown.append([c.p.strong.get_text()[:-1] for c in question.select("details")])
    assert shown == verdicts_of(name)


# What a reader does -----------------------------------------------------------------


def open_and_read(states, verdicts):
    """Say whether the first choices are open and say their verdicts, and no others."""
    seen = [(state["open"], state["reads"].split(". ")[0]) for state in states]
    opened = [(True, verdict) for verdict in verdicts]
    return seen == opened + [(False, "")] * (len(states) - len(verdicts))


@pytest.mark.parametrize("name", [NAMES[3], NAMES[-1]])  # all pages have one form
def test_mouse_and_keyboard_open_any_choice(open_tab, address, name):
    tab = open_tab(viewport=PHONE)
    tab.goto(address + address_of(name))
    wanted = flat(verdicts_of(name))
    choices = tab.locator(".course-choice summary").all()
    for place, choice in enumerate(choices, start=1):
        choice.click()
        assert open_and_read(tab.evaluate(STATES), wanted[:place])
    assert tab.evaluate(WIDTH) == [360, 360]
    tab.evaluate(CLICK_ALL)
    choices[0].focus()
    for place in range(len(wanted)):
        for _ in range(9):  # a question and an open reason may have links
            states = tab.evaluate(STATES)
            if states[place]["focused"]:
                break
            tab.keyboard.press("Tab")
        assert open_and_read(states, wanted[:place])
        tab.keyboard.press("Enter" if place % 2 else "Space")
        assert open_and_read(tab.evaluate(STATES), wanted[: place + 1])
        tab.keyboard.press("Tab")
    tab.keyboard.press("Shift+Tab")
    tab.keyboard.press("Enter")
    assert not tab.evaluate(STATES)[-1]["open"]


@pytest.fixture(scope="module")
def without_scripts(browser):
    with browser.new_context(java_script_enabled=False, viewport=PHONE) as window:
        yield window.new_page()


@pytest.mark.parametrize("name", NAMES)
def test_without_scripts_a_click_says_right_or_wrong_and_why(
    without_scripts, address, name
):
    tab, wanted = without_scripts, flat(verdicts_of(name))
    tab.goto(address + address_of(name))
    assert open_and_read(tab.evaluate(STATES), [])
    assert len(tab.evaluate(STATES)) == len(wanted)
    tab.evaluate(CLICK_ALL)
    assert open_and_read(tab.evaluate(STATES), wanted)
    assert tab.evaluate(WIDTH) == [360, 360]


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_open_questions_break_no_rule_of_accessibility(open_tab, address, scheme):
    tab = open_tab(viewport=PHONE, color_scheme=scheme, reduced_motion="reduce")
    go(tab, address + address_of(NAMES[3]))  # with formulas; all have one form
    tab.evaluate(CLICK_ALL)
    assert broken_rules(tab, ".course-question") == []
