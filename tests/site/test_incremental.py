"""A second build, with one page changed, gives what a first one would give."""

import shutil

import pytest
import yaml

from tests.loading import ROOT, load

PAGES = {
    "index": "# First\n\nThe first page leads to the {doc}`second <notation>`.\n",
    "notation": "# Second\n\n## A part\n\nThe weights are $w_{ij}$.\n",
    "bibliography": "# Bibliography\n\n```{bibliography}\n:all:\n```\n",
}


@pytest.fixture
def project(tmp_path, monkeypatch):
    """Return a folder with the book's set-up and three short pages, and its builder."""
    for name in ("_ext", "_static", "_templates", "_widgets"):
        shutil.copytree(ROOT / "book" / name, tmp_path / "book" / name)
    shutil.copy(ROOT / "book/references.bib", tmp_path / "book")
    config = yaml.safe_load((ROOT / "_config.yml").read_text(encoding="utf8"))
    (tmp_path / "_config.yml").write_text(yaml.safe_dump(config), encoding="utf8")
    for name, text in PAGES.items():
        (tmp_path / "book" / f"{name}.md").write_text(text, encoding="utf8")
    chapters = [{"file": f"book/{name}"} for name in PAGES if name != "index"]
    toc = {"format": "jb-book", "root": "book/index", "chapters": chapters}
    (tmp_path / "_toc.yml").write_text(yaml.safe_dump(toc), encoding="utf8")
    build = load("tools/build.py")
    monkeypatch.setattr(build, "ROOT", tmp_path)
    monkeypatch.delenv("GITHUB_REPOSITORY", raising=False)
    return tmp_path, build


def contents(site):
    """Return what was built as {path: bytes}."""
    return {
        path.relative_to(site).as_posix(): path.read_bytes()
        for path in site.rglob("*")
        if path.is_file() and path.name != ".buildinfo"
    }


def test_a_changed_page_is_built_again_without_a_warning(project):
    folder, build = project
    site = folder / "_build" / "html"
    assert build.run_sphinx(folder / ".cache", every_page=True) == 0  # -W
    changed = folder / "book" / "notation.md"
    changed.write_text(
        changed.read_text("utf8").replace("weights", "scores"), encoding="utf8"
    )
    assert build.run_sphinx(folder / ".cache", every_page=False) == 0
    second = contents(site)
    assert b"scores are" in second["book/notation.html"]
    assert b"The scores are" in second["_static/search-sections.js"]
    shutil.rmtree(folder / "_build")
    assert build.run_sphinx(folder / ".cache", every_page=True) == 0
    fresh = contents(site)
    assert sorted(second) == sorted(fresh)
    assert [name for name in fresh if fresh[name] != second[name]] == []
