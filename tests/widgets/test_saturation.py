"""The weights of every query can be looked at, and are those of Python."""

from attncourse.by_hand import softmax
from attncourse.widgets import Saturation
from attncourse.widgets.saturation import products


def test_the_weights_are_those_of_the_query_that_is_chosen(shown):
    page, drawn = shown(Saturation(width=16)), products(0)[16]
    plain = page.get_by_label("not divided: the largest of 16 weights")
    slider = page.get_by_label("query", exact=True)
    largest = [f"{softmax(drawn)[query].max():.3f}" for query in (0, 1, 23)]
    assert len(set(largest)) == 3
    for key, expected in zip(("Home", "ArrowRight", "End"), largest, strict=True):
        slider.press(key)
        assert plain.get_attribute("aria-label").endswith(f" is {expected}")
    assert page.evaluate("model.saved.at(-1)") == ["query", 23]
