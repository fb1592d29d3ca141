"""The scores that Lighthouse gives the pages, as of a throttled telephone.

Lighthouse is a program of npm, not of Python. It is used where Node.js is installed,
and fetched by npx at its first use; where it is not, the benchmark of the site says so
and goes on without it.
"""

import json
import os
import shutil
import statistics
import subprocess
import tempfile
from pathlib import Path

PROGRAM = "lighthouse@12"
CATEGORIES = ("performance", "accessibility", "best-practices", "seo")
TIMES = {
    "first paint s": "first-contentful-paint",
    "largest s": "largest-contentful-paint",
    "blocked ms": "total-blocking-time",
    "shift": "cumulative-layout-shift",
}
CHROME_FLAGS = (
    "--headless=new --no-sandbox --disable-gpu --disable-background-networking"
)


def missing():
    """Say what is missing for Lighthouse, or nothing."""
    if shutil.which("npx") is None:
        return "Node.js is not installed"
    done = subprocess.run(
        ["npx", "--yes", PROGRAM, "--version"], capture_output=True, text=True
    )
    return "" if done.returncode == 0 else f"npx does not get {PROGRAM}"


def report(address, browser):
    """Run Lighthouse on a page; return its report."""
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "report.json"
        command = ["npx", "--yes", PROGRAM, address, "--quiet", "--output=json"]
        command += [f"--output-path={path}", f"--chrome-flags={CHROME_FLAGS}"]
        command += [f"--only-categories={','.join(CATEGORIES)}"]
        environment = {**os.environ, "CHROME_PATH": browser}
        done = subprocess.run(command, env=environment, capture_output=True, text=True)
        if not path.is_file():
            raise RuntimeError(f"Lighthouse failed on {address}:\n{done.stderr}")
        return json.loads(path.read_text(encoding="utf8"))


def faults(found):
    """Name the audits of a report, but those of speed, that a page does not pass."""
    counted = {
        part["id"]
        for name in CATEGORIES[1:]
        for part in found["categories"][name]["auditRefs"]
        if part["weight"]
    }
    audits = found["audits"]
    return sorted(
        name
        for name in counted
        if (audits[name]["score"] or 0) < 1
        and audits[name]["scoreDisplayMode"] in ("binary", "numeric")
    )


def scores(address, browser, visits):
    """Return the medians of several visits, and the audits failed in any of them."""
    found = [report(address, browser) for _ in range(visits)]
    row = {
        name: statistics.median(100 * one["categories"][name]["score"] for one in found)
        for name in CATEGORIES
    }
    for name, audit in TIMES.items():
        values = [one["audits"][audit]["numericValue"] for one in found]
        row[name] = statistics.median(values) / (1e3 if name.endswith(" s") else 1)
    return row, sorted({name for one in found for name in faults(one)})
