"""What a reader meets who has no mouse, a telephone, or a printer."""

import pytest

from tests.site.watching import PHONE, go


@pytest.fixture
def phone(open_tab):
    return open_tab(viewport=PHONE)


def test_a_dark_page_is_printed_light(open_tab, address):
    tab = open_tab(color_scheme="dark")
    go(tab, address + "book/notation.html")
    theme = "document.documentElement.dataset.theme"
    assert tab.evaluate(theme) == "dark"
    tab.evaluate(
        f"() => addEventListener('beforeprint', () => window.printed = {theme})"
    )
    tab.pdf()
    assert tab.evaluate("window.printed") == "light"
    assert tab.evaluate(theme) == "dark"


def test_wide_figures_keep_a_size_that_reads_on_a_phone(phone, address, pages):
    name = "chapters/04_positional_encoding.html"
    assert pages[name].count('class="course-wide"') >= 3
    go(phone, address + name)
    for figure in phone.locator(".course-wide").all():
        assert figure.locator("img").bounding_box()["width"] > 500
        assert figure.get_attribute("tabindex") == "0"


def test_links_into_a_long_page_lead_to_their_places(phone, address):
    """One after the other, as from the contents at the side."""
    page = address + "chapters/06_seq2seq.html"
    phone.goto(page)
    sections = ".bd-article > section > section"
    *others, last = phone.eval_on_selector_all(sections, "all => all.map(s => s.id)")
    for name in [*others[::4], *others[::-4], last]:
        phone.goto(f"{page}#{name}")
        phone.wait_for_timeout(300)
        top = phone.locator(f"#{name}").bounding_box()["y"]
        assert -1 < top < (740 if name == last else 100), name


def test_code_far_down_is_laid_out_and_reached_by_keyboard_once_it_is_near(
    phone, address
):
    phone.goto(address + "chapters/06_seq2seq.html", wait_until="load")
    phone.wait_for_function("'marked' in document.documentElement.dataset")
    near = "{ contentVisibilityAuto: true }"
    far = phone.evaluate_handle(
        f"""() => [...document.querySelectorAll(".highlight > pre")].filter(code =>
          code.checkVisibility() && !code.checkVisibility({near})
          && code.scrollWidth > code.clientWidth + 1).at(-1)"""
    )
    assert far.evaluate("code => code.tabIndex") == -1
    far.evaluate("code => code.scrollIntoView({ behavior: 'instant' })")
    phone.wait_for_function("code => code.tabIndex === 0", arg=far)
