"""What the tests in Chromium share: tabs that are watched for faults, and waiting."""

OWN = ("http://127.0.0.1:", "file:", "data:", "blob:")
PHONE = {"width": 360, "height": 740}
WIDGETS_RUN = """() => [...document.querySelectorAll('.course-widget')]
    .every(w => w.classList.contains('course-widget-runs'))"""
MARKED = "'marked' in document.documentElement.dataset"  # page.js has done its work


def watch(tab, faults):
    """Add to a list what a tab complains of, and whom else than the site it asks."""

    def note(kind, text):
        faults.append((tab.url, kind, text))

    def request(sent):
        if not sent.url.startswith(OWN):
            note("asked for", sent.url)

    def failed(sent):
        if sent.failure != "net::ERR_ABORTED":  # the next page was opened meanwhile
            note("failed", sent.url)

    def console(message):
        if message.type in ("error", "warning"):
            note(message.type, message.text)

    tab.on("request", request)
    tab.on("requestfailed", failed)
    tab.on("console", console)
    tab.on("pageerror", lambda error: note("error", str(error)))


def go(tab, address):
    """Open a page, and wait until its widgets run."""
    tab.goto(address, wait_until="load")
    tab.wait_for_function(WIDGETS_RUN, timeout=20_000)
