"""``make publish``: a folder in step with the site, and a branch with one commit."""

import os
import shutil

import pytest

from tests.loading import git, load

publish = load("tools/publish.py")


@pytest.fixture(autouse=True)
def no_workflow(monkeypatch):
    for name in list(os.environ):
        if name.startswith(("GITHUB_", "GIT_")):
            monkeypatch.delenv(name)


@pytest.fixture
def site(tmp_path):
    folder = tmp_path / "built" / "html"
    (folder / "book").mkdir(parents=True)
    (folder / "_static").mkdir()
    (folder / "index.html").write_text("front")
    (folder / "book" / "a page*.html").write_text("é\r\nline\r\n")
    (folder / "_static" / "page.js").write_text("let x;")
    return folder


@pytest.fixture
def course(tmp_path):
    """A clone of a bare repository."""
    server, clone = tmp_path / "server.git", tmp_path / "clone"
    git("init", "-q", "--bare", "-b", "main", server, cwd=tmp_path)
    git("init", "-q", "-b", "main", clone, cwd=tmp_path)
    (clone / ".gitignore").write_text("*.js\n")
    (clone / ".gitattributes").write_text("* text=auto eol=lf\n")
    (clone / "chapter.txt").write_text("one")
    git("add", ".", cwd=clone)
    git("commit", "-q", "-m", "First", cwd=clone)
    git("remote", "add", "origin", server, cwd=clone)
    git("push", "-q", "origin", "main", cwd=clone)
    return clone


def files_in(folder):
    return {
        path.relative_to(folder).as_posix(): path.read_bytes()
        for path in folder.rglob("*")
        if path.is_file()
    }


def on_server(tmp_path):
    """Return the files of the published branch, as a fresh clone has them."""
    copy = tmp_path / "copy"
    shutil.rmtree(copy, ignore_errors=True)
    branch = ["-b", "gh-pages", "-c", "core.autocrlf=false"]
    git("clone", "-q", *branch, tmp_path / "server.git", copy, cwd=tmp_path)
    found = files_in(copy)
    return {name: data for name, data in found.items() if not name.startswith(".git/")}


# A folder --------------------------------------------------------------------------


def test_a_folder_gets_the_site_and_then_only_what_changed(site, tmp_path):
    target = tmp_path / "www" / "course"
    assert publish.to_folder(site, target) == (3, 0)
    (target / "robots.txt").write_text("mine")
    (site / "book" / "a page*.html").unlink()
    (site / "new.html").write_text("new")
    assert publish.to_folder(site, target) == (3, 1)
    found = files_in(target)
    assert found.pop("robots.txt") == b"mine"
    assert found.pop(".published").decode().split("\n") == sorted(files_in(site))
    assert found == files_in(site)


def test_a_folder_with_other_things_is_left_as_it_is(site, tmp_path):
    target = tmp_path / "home"
    target.mkdir()
    (target / "index.html").write_text("mine")
    with pytest.raises(SystemExit, match="empty or a new folder"):
        publish.to_folder(site, target)
    assert files_in(target) == {"index.html": b"mine"}


def test_an_interrupted_copy_is_put_right_by_the_next(site, tmp_path, monkeypatch):
    target = tmp_path / "www"

    def full_disk(*arguments, **options):
        raise OSError(28, "No space left on device")

    with monkeypatch.context() as patch:
        patch.setattr(publish.shutil, "copytree", full_disk)
        with pytest.raises(OSError, match="No space"):
            publish.to_folder(site, target)
    publish.to_folder(site, target)
    found = files_in(target)
    del found[".published"]
    assert found == files_in(site)


def test_an_edited_list_does_not_lead_out_of_the_folder(site, tmp_path):
    target, other = tmp_path / "www", tmp_path / "other.txt"
    other.write_text("keep")
    publish.to_folder(site, target)
    with (target / ".published").open("a") as record:
        record.write(f"\n../other.txt\n{other}\n")
    publish.to_folder(site, target)
    assert other.read_text() == "keep"


@pytest.mark.parametrize("inside", [".", "sub/folder"])
def test_the_site_is_not_published_into_itself(site, inside):
    with pytest.raises(SystemExit, match="lies in the built site"):
        publish.to_folder(site, site / inside)


def test_without_a_built_site_it_says_what_to_run(tmp_path):
    with pytest.raises(SystemExit, match="make book"):
        publish.to_folder(tmp_path / "nothing", tmp_path / "www")


# A branch --------------------------------------------------------------------------


def test_the_branch_has_the_site_byte_for_byte_in_one_commit(site, course, tmp_path):
    for text in ("first", "second"):
        (site / "index.html").write_text(text)
        publish.to_branch(site, "origin", course)
        assert on_server(tmp_path) == {**files_in(site), ".nojekyll": b""}
    server = tmp_path / "server.git"
    assert git("rev-list", "--count", "gh-pages", cwd=server) == "1"


def test_working_tree_and_branch_are_not_touched(site, course):
    (course / "chapter.txt").write_text("edited")
    (course / "staged.txt").write_text("staged")
    (course / "untracked.txt").write_text("new")
    git("add", "staged.txt", cwd=course)

    def state():
        names = (
            ("status", "--porcelain=v1"),
            ("symbolic-ref", "HEAD"),
            ("stash", "list"),
        )
        head = git("rev-parse", "HEAD", cwd=course)
        return (
            head,
            [git(*name, cwd=course) for name in names],
            (course / "chapter.txt").read_text(),
        )

    before = state()
    publish.to_branch(site, "origin", course)
    assert state() == before


def test_it_names_the_address_of_a_fork_on_github(site, course, capsys, monkeypatch):
    publish.to_branch(site, None, course)
    said = capsys.readouterr().out
    assert "3 files" in said and "github.io" not in said
    monkeypatch.setenv("GITHUB_REPOSITORY", "ada/course")
    publish.to_branch(site, None, course)
    assert "https://ada.github.io/course/" in capsys.readouterr().out


def test_without_a_remote_it_says_what_to_do(site, tmp_path):
    git("init", "-q", cwd=tmp_path)
    with pytest.raises(SystemExit, match=r"git remote add(.|\n)*TO=/path"):
        publish.to_branch(site, None, tmp_path)


def test_a_refused_push_is_a_sentence_without_the_password(site, course):
    address = "https://ada:s3cret@127.0.0.1:9/course.git"
    git("remote", "set-url", "origin", address, cwd=course)
    with pytest.raises(SystemExit) as caught:
        publish.to_branch(site, "origin", course)
    assert "s3cret" not in str(caught.value)
