"""The built site, and tabs of a browser."""

import subprocess
import sys
import threading
from functools import partial
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer

import pytest
from bs4 import BeautifulSoup

from tests.loading import ROOT
from tests.site.watching import watch


@pytest.fixture(scope="session")
def site():
    """Build the site as ``make book`` does and return its folder."""
    done = subprocess.run([sys.executable, "tools/build.py"], cwd=ROOT)
    assert done.returncode == 0, "the site was not built; see what was printed"
    return ROOT / "_build" / "html"


@pytest.fixture(scope="session")
def pages(site):
    """Return every page of the site as {path within the site: text}."""
    return {
        path.relative_to(site).as_posix(): path.read_text(encoding="utf8")
        for path in sorted(site.rglob("*.html"))
    }


@pytest.fixture(scope="session")
def trees(pages):
    """Return every page as a tree; no test may change one."""
    return {name: BeautifulSoup(text, "lxml") for name, text in pages.items()}


@pytest.fixture(scope="session")
def names(pages):
    """Return the pages of the course: not the front page and not the lost one's.

    The first only leads on to the welcome page; the other is served anywhere.
    """
    return [name for name in pages if name not in ("index.html", "404.html")]


class Quiet(SimpleHTTPRequestHandler):
    protocol_version = "HTTP/1.1"  # connections are kept

    def log_message(self, *args):
        pass


@pytest.fixture(scope="session")
def address(site):
    """Serve the site from a sub-path, as a project page on a shared host is."""
    handler = partial(Quiet, directory=str(site.parent))
    with ThreadingHTTPServer(("127.0.0.1", 0), handler) as server:
        server.daemon_threads = True
        threading.Thread(target=server.serve_forever, daemon=True).start()
        yield f"http://127.0.0.1:{server.server_port}/{site.name}/"
        server.shutdown()


@pytest.fixture
def open_tab(browser):
    """Return a function that opens a tab; at the end nothing may be wrong with it."""
    windows, faults = [], []

    def open_tab(**context):
        windows.append(browser.new_context(**context))
        tab = windows[-1].new_page()
        watch(tab, faults)
        return tab

    yield open_tab
    for window in windows:
        window.close()
    assert faults == []


@pytest.fixture(scope="session")
def with_widgets(pages):
    """Return the pages that have a widget."""
    return [name for name, text in pages.items() if 'class="course-widget"' in text]
