"""The widgets on the built pages, moved by mouse and by keyboard."""

import json

import pytest
from anywidget import AnyWidget

from attncourse import widgets
from tests.site.watching import go

MINUS = "−"


@pytest.fixture
def watched(open_tab):
    """Return a function that opens a page of the site."""

    def visit(base, name, **context):
        tab = open_tab(**context)
        go(tab, base + name)
        return tab

    return visit


def twin(site, page, kind, **given):
    """Return the widget of a page with these traits as a Python object."""
    script = site / "_static" / "states" / page.replace(".html", ".js")
    text = script.read_text(encoding="utf8")
    states = json.loads(text[text.index("{") : text.rindex("}") + 1])
    states = [entry["state"] for entry in states.values()]
    found = [s for s in states if s.get("_anywidget_id", "").endswith(kind)]
    found = [s for s in found if given.items() <= s.items()]
    assert len(found) == 1
    new = getattr(widgets, kind)()
    for name in set(new.keys) - {*AnyWidget().keys, "_css"}:  # the page has the style
        setattr(new, name, found[0][name])
    return new


def number(text):
    """Read a number as the page writes it."""
    return float(text.replace(MINUS, "-").replace(",", ""))


class Widget:
    """One widget in a tab, the last with this name in its frame."""

    def __init__(self, tab, name):
        self.tab = tab
        self.root = tab.locator(f".course-widget-live [data-widget={name}]").last
        self.root.scroll_into_view_if_needed()

    def read(self, name):
        return self.root.locator(f"[data-read='{name}']").text_content()

    def slider(self, label):
        return self.root.get_by_label(label, exact=True)

    def press(self, locator, *keys):
        locator.focus()
        for key in keys:
            self.tab.keyboard.press(key)

    def drag(self, label, share):
        """Press the mouse on a slider, at a share of its length."""
        box = self.slider(label).bounding_box()
        self.tab.mouse.click(
            box["x"] + share * box["width"], box["y"] + box["height"] / 2
        )


BY_HAND = "chapters/02_attention_types.html"
POSITIONS = "chapters/04_positional_encoding.html"
MASKS = "chapters/05_masking.html"


def test_by_hand_follows_mouse_and_keyboard(watched, address, site):
    page = Widget(watched(address, BY_HAND), "by-hand")
    python = twin(site, BY_HAND, "AttentionByHand")

    def same(i, j):
        output, weights = python.attention()
        assert page.read("weight") == f"{weights[i, j]:.3f}"
        seen = [number(x) for x in page.read("output").split(",")]
        assert seen == pytest.approx(output[i], abs=6e-4)

    same(0, 4)
    whole = "n => n.parentElement.scrollWidth <= n.parentElement.clientWidth"
    assert page.root.get_by_role("grid").evaluate(whole)  # beside the sliders
    cells = page.root.get_by_role("gridcell")
    cells.nth(3 * 6 + 1).click()
    same(3, 1)
    page.tab.keyboard.press("ArrowRight")
    page.tab.keyboard.press("ArrowUp")
    same(2, 2)
    page.press(page.slider("temperature"), "ArrowRight", "ArrowRight")
    python.temperature = 1.2
    same(2, 2)
    page.root.get_by_text("nothing", exact=True).click()
    python.scaled = False
    same(2, 2)
    page.drag("element 2", 0.9)
    moved = [list(row) for row in python.vectors]
    moved[2][1] = float(page.slider("element 2").input_value())
    assert moved[2][1] > 1.5
    python.vectors = moved
    same(2, 2)
    page.root.get_by_text("the vectors themselves").click()
    python.use_maps = False
    same(2, 2)


def test_saturation_follows_mouse_and_keyboard(watched, address, site):
    page = Widget(watched(address, BY_HAND), "saturation")
    python = twin(site, BY_HAND, "Saturation")

    def same(width):
        _, entropy, slope = python.measures()[width]
        assert number(page.read("entropy")) == pytest.approx(entropy, abs=6e-4)
        assert number(page.read("slope")) == pytest.approx(slope, abs=6e-5)

    same(64)
    page.press(page.slider("width d_k"), "End", "ArrowLeft")
    same(512)
    page.press(page.slider("divide by d_k to the power"), "Home")
    python.power = 0.0
    same(512)
    before = page.root.locator(".attn-report").inner_text()
    page.root.get_by_role("button", name="Draw other vectors").click()
    page.root.locator(".attn-report", has_not_text=before).wait_for()
    python.seed = 1
    same(512)


def test_positions_follow_mouse_and_keyboard(watched, address, site):
    page = Widget(watched(address, POSITIONS), "positions")
    python = twin(site, POSITIONS, "Positions", trained_rows=31)
    assert python._t5["trained"]

    def same(position, distance):
        expected = python.value(position, distance)
        assert number(page.read("value")) == pytest.approx(expected, abs=6e-4)

    same(20, -5)
    for scheme in ("learned", "T5 bias", "ALiBi", "rotary"):
        page.root.get_by_text(scheme, exact=True).first.click()
        python.scheme = scheme
        same(20, -5)
    page.press(page.slider("key − query"), "ArrowRight", "ArrowRight")
    same(20, -3)
    page.press(page.slider("query and key"), "ArrowRight")
    python.content = 1
    same(20, -3)
    page.press(page.slider("position of the query"), "Home")
    assert page.read("value") == "there is no such position"
    page.drag("key − query", 0.75)
    distance = int(page.slider("key − query").input_value())
    assert distance > 20
    same(0, distance)


def test_masks_follow_mouse_and_keyboard(watched, address, site):
    page = Widget(watched(address, MASKS), "masks")
    python = twin(site, MASKS, "Masks", window=1)

    def same():
        assert page.read("pairs") == str(python.mask().sum())

    same()
    page.root.get_by_role("button", name="local + global").click()
    python.global_tokens = 1
    same()
    page.press(page.slider("local: largest distance"), "ArrowRight", "ArrowRight")
    python.window = 3
    same()
    page.root.get_by_text("past only").click()
    python.causal = True
    same()
    page.drag("positions of padding", 0.5)
    python.padding = int(page.slider("positions of padding").input_value())
    assert 3 < python.padding < 8
    same()
    page.root.get_by_text("left", exact=True).click()
    python.side = "left"
    same()
    cells = page.root.get_by_role("gridcell")
    cells.nth(0).click()
    page.tab.keyboard.press("End")
    assert cells.nth(11).get_attribute("aria-selected") == "true"


def test_the_still_picture_is_printed(watched, address):
    tab = watched(address, MASKS)
    tab.emulate_media(media="print")
    assert tab.locator(".course-widget-still svg").first.is_visible()
    assert not tab.locator(".course-widget-live").first.is_visible()


def test_without_scripts_there_is_a_still_picture(browser, address, with_widgets):
    with browser.new_context(java_script_enabled=False) as window:
        tab = window.new_page()
        for name in with_widgets:
            tab.goto(address + name)
            pictures = tab.locator(".course-widget-still svg")
            assert pictures.count() == tab.locator(".course-widget").count()
            assert all(picture.is_visible() for picture in pictures.all())


def test_an_old_browser_keeps_the_still_picture(open_tab, address):
    tab = open_tab()
    tab.add_init_script("CSS.supports = () => false")
    tab.goto(address + MASKS)
    assert tab.locator(".course-widget-still svg").first.is_visible()
    assert tab.locator(".course-widget-live").count() == 0


def test_nothing_is_loaded_for_a_widget_far_away(open_tab, address):
    tab = open_tab()
    tab.goto(address + MASKS, wait_until="networkidle")
    assert tab.evaluate("window.courseWidgetStates === undefined")


def test_pages_without_widgets_load_nothing_for_them(pages, with_widgets):
    for name, text in pages.items():
        assert ("widget-host.js" in text) == (name in with_widgets), name
        assert "html-manager" not in text


def test_a_notebook_can_be_downloaded_from_its_page(browser, address, site):
    with browser.new_context(accept_downloads=True) as window:
        tab = window.new_page()
        tab.goto(address + MASKS)
        tab.get_by_role("button", name="Download this page").click()
        link = tab.locator("a.btn-download-source-button")
        with tab.expect_download() as waiting:
            link.click()
        notebook = json.loads(waiting.value.path().read_text(encoding="utf8"))
        assert waiting.value.suggested_filename.endswith(".ipynb")
        assert any("Masks(" in "".join(c["source"]) for c in notebook["cells"])
