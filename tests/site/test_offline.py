"""The archive for offline reading works when it is unpacked and opened."""

import zipfile

import pytest

from tests.loading import load

site_zip = load("tools/site_zip.py")


@pytest.fixture(scope="module")
def archive(site, tmp_path_factory):
    return site_zip.pack(site, tmp_path_factory.mktemp("zip"))


@pytest.fixture(scope="module")
def unpacked(archive, tmp_path_factory):
    """Unpack into a folder with a space and a letter beyond ASCII in its name."""
    folder = tmp_path_factory.mktemp("reader") / "my böoks"
    with zipfile.ZipFile(archive) as opened:
        opened.extractall(folder)
    return folder / site_zip.NAME


def test_the_archive_has_the_whole_site_in_one_folder(archive, site):
    with zipfile.ZipFile(archive) as opened:
        names = opened.namelist()
        assert opened.testzip() is None
    wanted = [f"{p.relative_to(site)}" for p in site.rglob("*") if p.is_file()]
    packed = {name for name in names if not name.endswith("/")}
    assert packed == {f"{site_zip.NAME}/{name}" for name in wanted}


def test_a_folder_without_a_site_is_refused(tmp_path):
    with pytest.raises(FileNotFoundError, match="make book"):
        site_zip.pack(tmp_path, tmp_path)


def test_a_double_click_on_the_index_opens_the_book(browser, unpacked):
    with browser.new_context(offline=True) as window:
        tab = window.new_page()
        faults = []
        tab.on("pageerror", lambda error: faults.append(str(error)))
        tab.on(
            "console",
            lambda m: m.type in ("error", "warning") and faults.append(m.text),
        )
        base = unpacked.as_uri()
        tab.on("request", lambda r: r.url.startswith("http") and faults.append(r.url))
        tab.goto(f"{base}/index.html")
        tab.wait_for_url("**/book/index.html")
        tab.goto(f"{base}/chapters/05_masking.html")
        tab.wait_for_selector(".course-widget-runs [data-widget=masks]")
        tab.get_by_role("button", name="local + global").click()
        assert tab.locator("[data-read=pairs]").text_content() == "54"
        tab.goto(f"{base}/search.html?q=softmax")
        tab.wait_for_selector("#search-results li a", timeout=10_000)
        assert faults == []
