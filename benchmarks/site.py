"""The built site as a reader on a telephone gets it: bytes, origins and seconds.

For each page: what is transferred (gzip, as any server sends it) with and without the
page's own figures, the origins that are asked, and times on a throttled connection and
CPU. The throttling is Chromium's own: a CPU four times slower than this machine's, a
round trip of 150 ms and 1.6 Mbit/s, the figures that Lighthouse uses for a telephone.
Times are medians of several visits with an empty cache. Then the translator, on the
slow CPU: how long until its weights are read and it has run once, and its time for a
word. For scores, run Lighthouse on what ``make serve`` shows.

    python benchmarks/site.py [--visits 3] [--page chapters/05_masking.html …]
"""

import argparse
import gzip
import mimetypes
import shutil
import statistics
import sys
import threading
from functools import partial
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from urllib.parse import unquote, urlsplit

ROOT = Path(__file__).resolve().parent.parent
SITE = ROOT / "_build" / "html"
BROWSERS = ("chromium", "chromium-browser", "google-chrome")
CPU_SLOWDOWN = 4
CONNECTION = {
    "offline": False,
    "latency": 150,  # milliseconds
    "downloadThroughput": 1.6e6 / 8,  # bytes a second
    "uploadThroughput": 0.75e6 / 8,
}
TRANSLATOR = "chapters/06_seq2seq.html"
SMALL_ALREADY = (".woff2", ".png", ".jpg", ".zip")
OBSERVE = """() => {
  window.seen = {lcp: 0, shift: 0, blocked: 0};
  const watch = (type, take) => new PerformanceObserver(list =>
    list.getEntries().forEach(take)).observe({type, buffered: true});
  watch("largest-contentful-paint", e => { window.seen.lcp = e.startTime; });
  watch("layout-shift", e => { if (!e.hadRecentInput) window.seen.shift += e.value; });
  watch("longtask", e => { window.seen.blocked += e.duration - 50; });
}"""
READ = """() => ({
  ...window.seen,
  fcp: performance.getEntriesByName("first-contentful-paint")[0]?.startTime ?? 0,
  load: performance.timing.loadEventEnd - performance.timing.navigationStart,
})"""
RUNS = """() => [...document.querySelectorAll(".course-widget")]
  .every(w => w.classList.contains("course-widget-runs"))"""

TRANSLATED = """() => {
  const last = name => performance.getEntriesByName(name).at(-1);
  const {duration, detail} = last("attn-translate");
  return {
    "ready ms": last("attn-translator-ready").duration,
    "word ms": duration / detail.words,
  };
}"""


class Compressed(SimpleHTTPRequestHandler):
    """Send what a usual server sends: gzip for all that gets smaller by it."""

    protocol_version = "HTTP/1.1"  # connections are kept

    def log_message(self, *args):
        pass

    def do_GET(self):
        path = Path(self.directory) / unquote(urlsplit(self.path).path).lstrip("/")
        if not path.is_file():
            self.send_error(404)
            return
        data = path.read_bytes()
        self.send_response(200)
        kind = mimetypes.guess_type(path.name)[0] or "application/octet-stream"
        self.send_header("Content-Type", kind)
        if path.suffix not in SMALL_ALREADY:
            data = gzip.compress(data, 9)
            self.send_header("Content-Encoding", "gzip")
        self.send_header("Content-Length", str(len(data)))
        self.end_headers()
        self.wfile.write(data)


def visit(browser, base, page):
    """Open a page with an empty cache; return its sizes, origins and times."""
    with browser.new_context(
        viewport={"width": 360, "height": 740}, is_mobile=True, has_touch=True
    ) as window:
        tab = window.new_page()
        tab.add_init_script(f"({OBSERVE})()")
        session = window.new_cdp_session(tab)
        session.send("Network.enable")
        session.send("Network.emulateNetworkConditions", CONNECTION)
        session.send("Emulation.setCPUThrottlingRate", {"rate": CPU_SLOWDOWN})
        asked, sizes = {}, {}
        session.on(
            "Network.requestWillBeSent",
            lambda e: asked.update({e["requestId"]: e["request"]["url"]}),
        )
        session.on(
            "Network.loadingFinished",
            lambda e: sizes.update({e["requestId"]: e["encodedDataLength"]}),
        )
        tab.goto(base + page, wait_until="load", timeout=120_000)
        tab.wait_for_function(RUNS, timeout=120_000)
        ready = tab.evaluate("performance.now()")
        tab.wait_for_timeout(1500)
        times = tab.evaluate(READ)
    urls = {i: u for i, u in asked.items() if u.startswith("http")}
    figures = sum(sizes.get(i, 0) for i, u in urls.items() if "/_images/" in u)
    origins = {urlsplit(u).netloc for u in urls.values()} - {urlsplit(base).netloc}
    total = sum(sizes.get(i, 0) for i in urls)
    return {
        "kB": (total - figures) / 1e3,
        "figures": figures / 1e3,
        "origins": len(origins),
        "requests": len(urls),
        "first paint s": times["fcp"] / 1e3,
        "largest s": times["lcp"] / 1e3,
        "load s": times["load"] / 1e3,
        "widgets s": ready / 1e3,
        "blocked ms": times["blocked"],
        "shift": times["shift"],
    }


def translate(browser, base):
    """Start the translator on a slow CPU; return its times."""
    with browser.new_context(
        viewport={"width": 360, "height": 740}, reduced_motion="reduce"
    ) as window:
        tab = window.new_page()
        tab.goto(base + TRANSLATOR, wait_until="load", timeout=120_000)
        tab.wait_for_function(RUNS, timeout=120_000)
        session = window.new_cdp_session(tab)
        session.send("Emulation.setCPUThrottlingRate", {"rate": CPU_SLOWDOWN})
        tab.get_by_role("button", name="Start the translator").click()
        tab.wait_for_selector("[data-widget=translator][data-state=done]")
        return tab.evaluate(TRANSLATED)


def pages_of(site):
    """List every page but the one that leads on to the welcome page."""
    names = (path.relative_to(site).as_posix() for path in site.rglob("*.html"))
    return sorted(name for name in names if name != "index.html")


def medians(rows):
    return {key: statistics.median(row[key] for row in rows) for key in rows[0]}


def show_pages(browser, base, pages, visits):
    """Print a row for each page, and one with the worst of each column."""
    worst = {}
    for page in pages:
        row = medians([visit(browser, base, page) for _ in range(visits)])
        if not worst:
            print(f"{'page':40}", *(f"{name:>13}" for name in row))
        worst = {k: max(worst.get(k, 0), row[k]) for k in row}
        print(f"{page:40}", *(f"{value:13.4g}" for value in row.values()), flush=True)
    print(f"{'worst of all':40}", *(f"{value:13.4g}" for value in worst.values()))


def main():
    """Visit the pages and print a table."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--visits", type=int, default=3)
    parser.add_argument("--page", nargs="*", help="only these pages")
    options = parser.parse_args()
    if not (SITE / "index.html").is_file():
        sys.exit("There is no site in _build/html. Build it first with: make book")
    found = next(filter(None, map(shutil.which, BROWSERS)), None)
    if found is None:
        sys.exit("No Chromium was found: install it, e.g. 'sudo apt install chromium'.")
    from playwright.sync_api import sync_playwright

    handler = partial(Compressed, directory=str(SITE))
    with (
        ThreadingHTTPServer(("127.0.0.1", 0), handler) as server,
        sync_playwright() as playwright,
    ):
        threading.Thread(target=server.serve_forever, daemon=True).start()
        base = f"http://127.0.0.1:{server.server_port}/"
        browser = playwright.chromium.launch(
            executable_path=found, args=["--no-sandbox"]
        )
        print(f"{__doc__.splitlines()[0]}\nChromium {browser.version}, ", end="")
        print(f"CPU {CPU_SLOWDOWN}x slower, 150 ms, 1.6 Mbit/s; medians of ", end="")
        print(f"{options.visits} visits.\n")
        show_pages(browser, base, options.page or pages_of(SITE), options.visits)
        times = medians([translate(browser, base) for _ in range(options.visits)])
        print("\nThe translator on the slow CPU:", end=" ")
        print(", ".join(f"{name} {value:.0f}" for name, value in times.items()))
        browser.close()
        server.shutdown()


if __name__ == "__main__":
    main()
