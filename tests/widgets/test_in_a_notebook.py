"""The translator where there is a kernel: weights on demand, traits in both directions.

Its messages go to a real `Translator` in this process.
"""

import pytest

from attncourse.widgets import Translator


@pytest.fixture
def opened(shown):
    return shown(Translator("The black cat sees the small mouse."))


def written(page):
    page.wait_for_selector("[data-state=done]")
    return page.locator(".attn-word").all_inner_texts()[:-1]


def test_weights_come_from_python_and_the_translation_goes_back(opened):
    opened.get_by_role("button", name="Start the translator").click()
    words = written(opened)
    assert " ".join(words) == "le chat noir voit la petite souris ."
    assert opened.evaluate("model.get('translation')") == " ".join(words)


def test_python_can_drive_it_and_sees_what_the_reader_does(opened):
    opened.get_by_role("button", name="Start the translator").click()
    whole = written(opened)
    opened.evaluate("model.set('off', ['encoder.1.0'])")
    assert written(opened) != whole
    box = opened.get_by_label("encoder layer 1, head 0 is on")
    assert not box.is_checked()
    box.click()
    assert opened.evaluate("model.get('off')") == []
    assert written(opened) == whole
    opened.evaluate("model.set('sentence', 'My mother buys a red dress.')")
    assert opened.get_by_role("combobox").input_value() == "My mother buys a red dress."
    assert written(opened)[:2] == ["ma", "mère"]
    opened.get_by_label("German", exact=True).check()
    opened.wait_for_function("model.get('translation').startsWith('meine')")
    assert opened.evaluate("model.get('language')") == "german"


def test_a_widget_that_is_closed_listens_no_more(opened):
    opened.get_by_role("button", name="Start the translator").click()
    before = written(opened)
    opened.evaluate("window.end()")
    opened.evaluate("model.set('sentence', 'My mother buys a red dress.')")
    assert opened.locator(".attn-word").all_inner_texts()[:-1] == before
