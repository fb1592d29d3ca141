"""``make publish`` puts the built site where it shall be, as the workflow does it."""

import json
import re
import subprocess
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
NOT_PUBLISHED = {".buildinfo", ".buildinfo.bak"}
ADDED = {".nojekyll": b""}


def files_in(folder):
    return {
        path.relative_to(folder).as_posix(): path.read_bytes()
        for path in folder.rglob("*")
        if path.is_file()
    }


def make(*words):
    done = subprocess.run(
        ["make", *words], cwd=ROOT, capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout


@pytest.fixture(scope="module")
def published(site):
    found = files_in(site)
    return {**{n: d for n, d in found.items() if n not in NOT_PUBLISHED}, **ADDED}


def test_a_folder_is_in_step_with_the_site(published, tmp_path):
    target = tmp_path / "web server"
    said = make("publish", f"TO={target}")
    assert "0 old files removed" in said
    found = files_in(target)
    del found[".published"]
    assert found == published


def test_a_branch_of_a_remote_has_the_site_and_nothing_else(published, tmp_path):
    server, copy = tmp_path / "server.git", tmp_path / "copy"
    subprocess.run(["git", "init", "-q", "--bare", server], check=True)
    before = subprocess.run(
        ["git", "status", "--porcelain"], cwd=ROOT, capture_output=True, check=True
    ).stdout
    said = make("publish", f"REMOTE={server}")
    assert "Pushed" in said
    assert "has this site already" in make("publish", f"REMOTE={server}")
    clone = ["git", "clone", "-q", "-b", "gh-pages", "-c", "core.autocrlf=false"]
    subprocess.run([*clone, server, copy], check=True)
    found = files_in(copy)
    assert {n: d for n, d in found.items() if not n.startswith(".git/")} == published
    after = subprocess.run(
        ["git", "status", "--porcelain"], cwd=ROOT, capture_output=True, check=True
    ).stdout
    assert after == before


def test_what_colab_opens_is_part_of_the_site(pages, site):
    places = {
        place
        for text in pages.values()
        for place in re.findall(r"/blob/gh-pages/([^\"]+\.ipynb)", text)
    }
    for place in places:
        json.loads((site / place).read_text(encoding="utf8"))


def test_every_notebook_of_the_site_can_be_downloaded_and_installs_the_course(site):
    notebooks = sorted((site / "_sources").rglob("*.ipynb"))
    assert len(notebooks) >= 14
    for path in notebooks:
        notebook = json.loads(path.read_text(encoding="utf8"))
        code = [c for c in notebook["cells"] if c["cell_type"] == "code"]
        assert "attncourse[chapters] @ git+https://" in "".join(code[0]["source"])
