"""Everything that names the repository follows the fork, or is not there."""

import json
import os
import re
import shutil
import subprocess
import sys

import pytest
import yaml

from tests.loading import ROOT, git, load

naming = load("book/_ext/course_repository.py")
WORKFLOW = {
    "GITHUB_REPOSITORY": "ada/course",
    "GITHUB_SERVER_URL": "https://github.com",
    "GITHUB_REF_NAME": "main",
}
OWN = "https://github.com/ada/course"
CLONE = "git clone"
UNSET = "repository: {url: '', branch: main}"
HOSTS = ("github.com", "gitlab.uni.example", "codeberg.org")


def clean_environment(**extra):
    kept = {k: v for k, v in os.environ.items() if not k.startswith(("GITHUB_", "GIT"))}
    return {**kept, "OMP_NUM_THREADS": "1", **extra}


# The name --------------------------------------------------------------------------


REMOTES = {
    "https://github.com/ada/course": OWN,
    "https://github.com/ada/course.git": OWN,
    "https://github.com/ada/course/": OWN,
    "https://ada:ghp_token@github.com/ada/course.git": OWN,
    "git@GitHub.com:ada/course.git": OWN,
    "github.com:ada/course": OWN,
    "ssh://git@github.com/ada/course.git": OWN,
    "git@gitlab.com:group/sub/course.git": "https://gitlab.com/group/sub/course",
    "https://o:t@git.uni.example:8443/g/c.git": "https://git.uni.example:8443/g/c",
    "ssh://git@git.uni.example:2222/g/c.git": "https://git.uni.example/g/c",
    # what is not in the web names nothing
    **dict.fromkeys(["", "/srv/git/course.git", "../course.git"], ""),
    **dict.fromkeys(["file:///srv/git/course.git", "C:\\git\\course.git"], ""),
    **dict.fromkeys(["http://localhost:3000/a/b", "http://127.0.0.1/a/b.git"], ""),
    **dict.fromkeys(["work:ada/course", "https://github.com/ada"], ""),
    "https://example.com/a/b?c=<script>": "",
    'https://example.com/a/b"><script>': "",
}


@pytest.mark.parametrize("remote", REMOTES)
def test_a_remote_names_an_address_without_user_or_token_or_nothing(remote):
    assert naming.address_of(remote) == REMOTES[remote]


def clone(folder, **remotes):
    """Make a folder a repository with these remotes."""
    git("init", "-q", "-b", "main", cwd=folder)
    for name, address in remotes.items():
        git("remote", "add", name, address, cwd=folder)


def test_the_environment_comes_before_the_remote_and_that_before_the_settings(tmp_path):
    text = "repository: {url: 'https://gitlab.com/x/y', branch: term}"
    (tmp_path / "_config.yml").write_text(text)
    given = ("https://gitlab.com/x/y", "term")
    assert naming.repository(tmp_path, {}) == given
    clone(tmp_path)
    assert naming.repository(tmp_path, {}) == given
    clone(tmp_path, origin="git@github.com:eve/other.git")
    other = ("https://github.com/eve/other", "main")
    assert naming.repository(tmp_path, {}) == other
    found = naming.repository(tmp_path, WORKFLOW)
    assert found == (OWN, "main")
    assert found.pages == "https://ada.github.io/course/"


def test_a_folder_without_a_remote_names_nothing_nor_the_repository_around_it(tmp_path):
    clone(tmp_path, origin="git@github.com:eve/other.git")
    (tmp_path / "course").mkdir()
    (tmp_path / "course" / "_config.yml").write_text(UNSET)
    found = naming.repository(tmp_path / "course", {})
    assert not found.address and not found.in_colab and not found.pages
    assert naming.follow("git+" + naming.UPSTREAM, found) == "git+" + naming.UPSTREAM


def test_a_remote_of_any_name_counts_where_it_is_the_only_one(tmp_path):
    (tmp_path / "_config.yml").write_text(UNSET)
    clone(tmp_path, fork="git@github.com:ada/course.git")
    assert naming.repository(tmp_path, {}).address == OWN
    clone(tmp_path, upstream="git@github.com:x/y.git")
    assert naming.repository(tmp_path, {}).address == ""
    clone(tmp_path, origin="git@github.com:z/origin.git")
    assert naming.repository(tmp_path, {}).address == "https://github.com/z/origin"


def test_a_branch_that_the_remote_does_not_have_is_not_named(tmp_path):
    server, copy = tmp_path / "server.git", tmp_path / "copy"
    git("init", "-q", "--bare", "-b", "term", server, cwd=tmp_path)
    git("clone", "-q", server, copy, cwd=tmp_path)
    git("checkout", "-q", "-B", "term", cwd=copy)
    git("commit", "-q", "--allow-empty", "-m", "x", cwd=copy)
    git("push", "-q", "origin", "term", cwd=copy)
    git("remote", "set-head", "origin", "-a", cwd=copy)
    git("remote", "set-url", "origin", OWN, cwd=copy)
    assert naming.repository(copy, {}).branch == "term"
    git("checkout", "-q", "-b", "only-here", cwd=copy)
    assert naming.repository(copy, {}).branch == "term"
    git("checkout", "-q", "--detach", cwd=copy)
    assert naming.repository(copy, {}).branch == "term"


def test_a_run_on_a_pull_request_names_the_branch_it_goes_to():
    run = {**WORKFLOW, "GITHUB_REF_NAME": "12/merge", "GITHUB_BASE_REF": "term"}
    assert naming.from_environment(run).branch == "term"


def test_only_a_service_whose_buttons_are_known_gets_them():
    known = [naming.Repository(f"https://{host}/a/b").service for host in HOSTS]
    assert known == ["github", "gitlab", ""]


def test_a_user_page_has_no_folder_in_its_address():
    found = naming.Repository("https://github.com/Ada/ada.github.io")
    assert found.pages == "https://ada.github.io/"


@pytest.mark.parametrize("branch, suffix", [("main", ""), ("term/2027", "@term/2027")])
def test_the_install_line_names_the_fork_and_its_branch(branch, suffix):
    cell = (ROOT / "tools" / "install_cell.txt").read_text()
    found = naming.Repository(OWN, branch)
    written = naming.follow(cell, found)
    line = f'%pip install -q "attncourse[chapters] @ git+{OWN}{suffix}"'
    assert line in written
    assert naming.UPSTREAM not in written
    assert naming.follow(written, found) == written
    as_json = json.loads(naming.follow(json.dumps(cell), found))
    assert as_json == written


@pytest.mark.parametrize(
    "text, wanted",
    [
        (f"{CLONE} {naming.UPSTREAM}\ncd attncourse", f"{CLONE} {OWN}\ncd course"),
        (f"{CLONE} {naming.UPSTREAM} && cd attncourse", f"{CLONE} {OWN} && cd course"),
        (f"See {naming.UPSTREAM}.", f"See {OWN}."),
        (f"See {naming.UPSTREAM}-extras.", f"See {naming.UPSTREAM}-extras."),
        (f"git remote add upstream {naming.UPSTREAM}", None),
    ],
)
def test_the_course_is_renamed_and_the_original_and_longer_names_stay(text, wanted):
    found, wanted = naming.Repository(OWN, "main"), wanted or text
    assert naming.follow(text, found) == naming.follow(wanted, found) == wanted


# The pages -------------------------------------------------------------------------


@pytest.fixture(scope="module")
def small_book(tmp_path_factory):
    """Two pages with the settings of the book and two of its extensions."""
    folder = tmp_path_factory.mktemp("book")
    config = yaml.safe_load((ROOT / "_config.yml").read_text(encoding="utf8"))
    config["execute"]["execute_notebooks"] = "off"
    sphinx = config["sphinx"]
    kept = {"course_output", "course_repository"}
    ours = set(sphinx["local_extensions"]) - kept
    sphinx["local_extensions"] = dict.fromkeys(sorted(kept), "book/_ext")
    extensions = sphinx["config"]["extensions"]
    sphinx["config"]["extensions"] = [e for e in extensions if e not in ours]
    (folder / "_config.yml").write_text(yaml.safe_dump(config), encoding="utf8")
    toc = "format: jb-book\nroot: book/index\nchapters:\n- file: chapters/one\n"
    (folder / "_toc.yml").write_text(toc)
    shutil.copytree(ROOT / "book" / "_ext", folder / "book" / "_ext")
    shutil.copytree(ROOT / "book" / "_static", folder / "book" / "_static")
    shutil.copytree(ROOT / "book" / "_templates", folder / "book" / "_templates")
    shutil.copy(ROOT / "book" / "references.bib", folder / "book")
    line = f'```bash\npip install "attncourse @ git+{naming.UPSTREAM}"\n```\n'
    text = f"# Small\n\n{line}\n[Source]({naming.UPSTREAM}) in `{naming.UPSTREAM}`.\n"
    (folder / "book" / "index.md").write_text(text)
    (folder / "chapters").mkdir()
    chapter = json.loads((ROOT / "chapters" / "05_masking.ipynb").read_text("utf8"))
    title = {"cell_type": "markdown", "id": "a", "metadata": {}, "source": "# One"}
    install = next(c for c in chapter["cells"] if c["cell_type"] == "code")
    chapter["cells"] = [title, install]
    (folder / "chapters" / "one.ipynb").write_text(json.dumps(chapter))
    return folder


def build(folder, out, environment):
    """Build the small book and return the text of its index and of its chapter."""
    run = "from jupyter_book.cli.main import main; main()"
    command = [sys.executable, "-c", run, "build", str(folder), "-q", "-W", "-n"]
    command += ["--keep-going", "--path-output", str(out)]
    subprocess.run(command, env=clean_environment(**environment), check=True)
    html = out / "_build" / "html"
    index = (html / "book" / "index.html").read_text(encoding="utf8")
    chapter = (html / "chapters" / "one.html").read_text(encoding="utf8")
    copy = json.loads((html / "_sources/chapters/one.ipynb").read_text("utf8"))
    return index, chapter, "".join(copy["cells"][1]["source"])


def links(page):
    return re.findall(r'href="(https?://[^"]+)"', page)


def test_buttons_text_and_downloads_follow_a_workflow_s_fork(small_book, tmp_path):
    index, chapter, copy = build(small_book, tmp_path, WORKFLOW)
    found = links(chapter)
    copies = "blob/gh-pages/_sources/chapters/one.ipynb"
    assert f"https://colab.research.google.com/github/ada/course/{copies}" in found
    assert [a for a in found if "mybinder.org/v2/gh/ada/course/main?" in a]
    assert OWN in found
    assert [a for a in links(index) if a.startswith(f"{OWN}/edit/main/")]
    assert not [a for a in found if "/edit/" in a]  # nobody edits a notebook's JSON
    assert [a for a in found if a.startswith(f"{OWN}/issues/new?")]
    assert f'"attncourse[chapters] @ git+{OWN}"' in copy
    assert naming.UPSTREAM not in index + chapter + copy
    assert f"git+{OWN}" in index
    assert 'href="../_sources/chapters/one.ipynb"' in chapter


def test_a_gitlab_remote_has_its_source_buttons_and_none_for_colab(
    small_book, tmp_path
):
    folder, own = tmp_path / "book", "https://gitlab.com/g/sub/course"
    shutil.copytree(small_book, folder)
    clone(folder, origin="git@gitlab.com:g/sub/course.git")
    index, chapter, copy = build(folder, tmp_path, {})
    found = links(chapter)
    assert own in found
    assert [a for a in links(index) if a.startswith(f"{own}/-/edit/main/")]
    assert [a for a in found if a.startswith(f"{own}/-/issues/new?")]
    assert "colab.research" not in index + chapter
    assert "mybinder" not in index + chapter
    assert f"git+{own}" in copy


def test_without_a_repository_there_are_no_such_buttons(small_book, tmp_path):
    index, chapter, copy = build(small_book, tmp_path, {})
    buttons = ("colab.research", "mybinder", "/edit/", "/issues/new", "btn-source")
    assert not [name for name in buttons if name in index + chapter]
    assert naming.UPSTREAM not in "".join(links(chapter))
    assert "git+" in copy
    assert 'href="../_sources/chapters/one.ipynb"' in chapter
