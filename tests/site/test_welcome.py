"""The first screen: a word is chosen, and what it attends to is seen and said."""

import json
import re

import pytest

from attncourse.recorded import load_model
from tests.site.watching import DESK

PAGE = "book/index.html"


@pytest.fixture(scope="module")
def data(trees):
    return json.loads(trees[PAGE].select_one("#hero-data").string)


def test_the_weights_are_those_of_the_model_that_ships(data):
    import torch

    model, record = load_model("translation_french")
    words = [word.lower() for word in data["words"][:-1]]
    ids = torch.tensor([record["vocabularies"]["source"].encode(words, eos=True)])
    with torch.no_grad():
        layers = model.encode(ids, need_weights=True)[2]
    for shown, layer in zip(data["trained"], layers, strict=True):
        assert torch.allclose(torch.tensor(shown) / 100, layer[0], atol=0.0051)


def test_without_scripts_one_word_is_shown_with_its_weights(trees, data):
    page = trees[PAGE]
    shown = [float(small.string) for small in page.select(".hero-words small")]
    assert shown == [w / 100 for w in data["trained"][1][0][9]]
    says = page.select_one(".hero-says").get_text()
    assert re.search(r"“it” attends most to “garden”, with weight 0\.9", says)


def test_a_word_is_chosen_by_mouse_by_touch_and_by_keyboard(open_tab, address):
    tab = open_tab(viewport=DESK)
    tab.goto(address + PAGE, wait_until="load")
    tab.wait_for_selector(".hero-lives path")
    says = tab.locator(".hero-says")
    assert tab.locator(".hero").bounding_box()["y"] < 450
    tab.locator(".hero-words button").nth(3).hover()
    assert "“the”" in says.inner_text()
    tab.mouse.move(5, 5)
    assert "“it”" in says.inner_text()
    tab.locator(".hero-words button").nth(1).focus()
    tab.keyboard.press("Tab")
    assert "“that”" in says.inner_text()
    tab.locator(".hero-words button").nth(4).click()
    tab.get_by_role("button", name="untrained").click()
    assert "before training: “mother”" in says.inner_text()


@pytest.mark.parametrize("size", [(1280, 800), (390, 844)])
def test_the_way_to_chapter_1_is_a_button_above_the_example(open_tab, address, size):
    tab = open_tab(viewport=dict(zip(("width", "height"), size, strict=True)))
    tab.goto(address + PAGE, wait_until="load")
    begin = tab.get_by_role("link", name="Begin with chapter 1")
    box, below = begin.bounding_box(), tab.locator(".hero").bounding_box()["y"]
    assert box["height"] >= 40
    assert box["y"] + box["height"] < below < 350
    begin.focus()
    outline = "e => getComputedStyle(e).outlineWidth"
    assert begin.evaluate(outline) == "3px"
