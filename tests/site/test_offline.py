"""The archive for offline reading works when it is unpacked and opened."""

import importlib.util
import zipfile
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]


def load(path):
    spec = importlib.util.spec_from_file_location(path.stem, path)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


site_zip = load(ROOT / "tools" / "site_zip.py")


@pytest.fixture(scope="module")
def archive(site, tmp_path_factory):
    return site_zip.pack(site, tmp_path_factory.mktemp("zip") / "site.zip")


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
    assert all(name.startswith(f"{site_zip.NAME}/") for name in names)
    wanted = {p.relative_to(site).as_posix() for p in site.rglob("*") if p.is_file()}
    packed = {name.removeprefix(f"{site_zip.NAME}/") for name in names}
    assert wanted - packed == site_zip.LEFT_OUT & wanted


def test_the_same_site_gives_the_same_archive(archive, site, tmp_path):
    again = site_zip.pack(site, tmp_path / "again.zip")
    assert again.read_bytes() == archive.read_bytes()


def test_a_folder_without_a_site_is_refused(tmp_path):
    with pytest.raises(FileNotFoundError, match="make book"):
        site_zip.pack(tmp_path, tmp_path / "site.zip")


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
