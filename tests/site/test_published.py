"""``make publish`` puts the built site where it shall be, as the workflow does it."""

import json
import re
import subprocess
import zipfile

from tests.loading import ROOT, load

publish = load("tools/publish.py")


def files_in(folder):
    return {
        path.relative_to(folder).as_posix(): path.read_bytes()
        for path in folder.rglob("*")
        if path.is_file()
    }


def test_a_folder_is_in_step_with_the_site(site, tmp_path):
    target = tmp_path / "web server"
    done = subprocess.run(
        ["make", "publish", f"TO={target}"], cwd=ROOT, capture_output=True, text=True
    )
    assert "0 old files removed" in done.stdout, done.stderr
    found = files_in(target)
    del found[".published"]
    assert found == files_in(site)


def test_the_archive_has_the_whole_site_in_one_folder(site, tmp_path):
    with zipfile.ZipFile(publish.pack(site, tmp_path)) as archive:
        packed = {name for name in archive.namelist() if not name.endswith("/")}
        assert archive.testzip() is None
    assert packed == {f"{publish.ARCHIVE}/{name}" for name in files_in(site)}


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
