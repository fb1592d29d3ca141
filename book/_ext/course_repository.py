"""Let everything that names the repository follow the fork.

Buttons (source, issues, Colab, Binder), the install line of each notebook, addresses
in the text and the copies of the notebooks that the site offers are written for one
repository. Its name comes from the environment of a continuous-integration run, else
from the git remote, else from ``_config.yml``. Where none of these knows it, there are
no such buttons: none is better than one that leads nowhere.

Colab opens the copies that ``make publish`` puts on the branch ``gh-pages``: these
install the package of the fork.
"""

import os
import re
import subprocess
from pathlib import Path
from typing import NamedTuple
from urllib.parse import quote, urlsplit

import yaml
from docutils import nodes

UPSTREAM = "https://github.com/attncourse/attncourse"
SITE_BRANCH = "gh-pages"
COLAB = "https://colab.research.google.com"
BINDER = "https://mybinder.org"
DEFAULT_BRANCHES = ("", "main", "master")
INSTALL = re.compile(r"(attncourse(?:\[[a-z,]+\])? @ )git\+https?://[^\s\"'\\]+")
OURS = re.compile(rf"(?<!upstream ){re.escape(UPSTREAM)}(?![\w-]|\.\w)")
CLONE = re.compile(r"(git clone \S+/([\w.-]+)(?:\n| && ))cd \S+")
HOST = r"(?:[\w-]+\.)+[a-z]{2,}"  # no alias of ssh's settings, and no drive of Windows
PATH = r"(?:[\w.~-]+/)+[\w.~-]+?"
REMOTES = [
    re.compile(rf"{start}({PATH})(?:\.git)?/?", re.IGNORECASE)
    for start in (
        rf"https?://(?:[^/@]+@)?({HOST}(?::\d+)?)/",
        rf"ssh://(?:[^/@]+@)?({HOST})(?::\d+)?/",
        rf"(?:[\w.-]+@)?({HOST}):",
    )
]


class Repository(NamedTuple):
    """An address in the web, and the branch of the sources."""

    address: str = ""
    branch: str = "main"

    @property
    def service(self):
        """Return the service whose buttons the theme knows, or an empty string."""
        host = urlsplit(self.address).hostname or ""
        return next((name for name in ("github", "gitlab") if name in host), "")

    @property
    def in_colab(self):
        """Say whether Colab can open files from here: from github.com only."""
        return self.address.startswith("https://github.com/")

    @property
    def requirement(self):
        """Return what pip installs the package from."""
        branch = "" if self.branch in DEFAULT_BRANCHES else f"@{self.branch}"
        return f"git+{self.address}{branch}"

    @property
    def pages(self):
        """Return the address at which GitHub shows the published site, if it does."""
        if not self.in_colab:
            return ""
        owner, name = self.address.split("/")[-2:]
        host = f"{owner.lower()}.github.io"
        return f"https://{host}/" + ("" if name.lower() == host else f"{name}/")


# Naming ---------------------------------------------------------------------------


def address_of(remote):
    """Return the web address of a git remote, without user, password or token.

    It is empty for a folder, for this machine and for an alias of ssh's settings.
    """
    found = next(filter(None, (form.fullmatch(remote) for form in REMOTES)), None)
    return f"https://{found[1].lower()}/{found[2]}" if found else ""


def from_environment(environment):
    """Read the repository from the variables of a workflow's run."""
    name = environment.get("GITHUB_REPOSITORY", "")
    server = environment.get("GITHUB_SERVER_URL") or "https://github.com"
    branch = environment.get("GITHUB_REF_NAME", "")
    if re.fullmatch(r"\d+/merge", branch):  # a pull request: no branch of that name
        branch = environment.get("GITHUB_BASE_REF", "")
    return Repository(f"{server}/{name}" if name else "", branch or "main")


def git(*arguments, cwd):
    """Return what a git command prints, or an empty string."""
    try:
        done = subprocess.run(
            ["git", *arguments], cwd=cwd, capture_output=True, text=True, timeout=10
        )
    except (OSError, subprocess.TimeoutExpired):
        return ""
    return done.stdout.strip() if done.returncode == 0 else ""


def remote_of(folder):
    """Name the remote that the course is published to: origin, or the only one."""
    remotes = git("remote", cwd=folder).split()
    if "origin" in remotes:
        return "origin"
    return remotes[0] if len(remotes) == 1 else ""


def from_remote(folder):
    """Read the repository from the git remote of a folder."""
    remote = remote_of(folder)
    if not remote or git("rev-parse", "--show-prefix", cwd=folder):
        return Repository()  # the folder lies in the repository of something else
    branches = (
        git("rev-parse", "--abbrev-ref", name, cwd=folder).removeprefix(f"{remote}/")
        for name in ("@{upstream}", f"{remote}/HEAD")
    )
    branch = next(filter(None, branches), "main")
    return Repository(address_of(git("remote", "get-url", remote, cwd=folder)), branch)


def from_config(folder):
    """Read the repository from ``_config.yml``."""
    path = Path(folder) / "_config.yml"
    if not path.is_file():
        return Repository()
    given = yaml.safe_load(path.read_text(encoding="utf8"))["repository"]
    return Repository(address_of(given["url"]), given["branch"])


def repository(folder, environment=os.environ):
    """Return the repository of a folder; its address is empty where none is known."""
    found = from_environment(environment)
    found = found if found.address else from_remote(folder)
    return found if found.address else from_config(folder)


# Writing --------------------------------------------------------------------------


def follow(text, found):
    """Return a text in which the repository's address is that of the fork."""
    if not found.address:
        return text
    text = INSTALL.sub(lambda old: old[1] + found.requirement, text)
    text = OURS.sub(found.address, text)
    return CLONE.sub(r"\1cd \2", text)  # the folder has the name of the fork


def colab_address(found, page):
    """Return where Colab opens the site's own copy of a page's notebook."""
    owner_and_name = "/".join(found.address.split("/")[-2:])
    path = quote(f"_sources/{page}.ipynb")
    return f"{COLAB}/github/{owner_and_name}/blob/{SITE_BRANCH}/{path}"


def theme_options(options, found):
    """Return the theme's options for a repository, or for none."""
    launch = {"colab_url": COLAB, "binderhub_url": BINDER}
    launch["notebook_interface"] = "jupyterlab"
    uses = ("repository", "edit_page", "issues")
    return {
        **options,
        "repository_url": found.address if found.service else "",
        "repository_branch": found.branch,
        "repository_provider": found.service,
        **{f"use_{use}_button": bool(found.service) for use in uses},
        "launch_buttons": launch if found.in_colab else {},
    }


def set_options(app, config):
    app.course_repository = found = repository(app.srcdir)
    config.html_theme_options = theme_options(config.html_theme_options, found)


def set_buttons(app, page, template, context, doctree):
    """Let Colab open the published copy; use icons that the book has."""
    found = app.course_repository
    groups = context.get("header_buttons", [])
    for group in groups:
        if group.get("label") == "launch-buttons":
            group["buttons"].reverse()  # Colab, which is quicker, comes first
        if app.env.doc2path(page).endswith(".ipynb"):  # nobody edits a notebook's JSON
            edits = [b for b in group.get("buttons", []) if "edit" in b.get("text", "")]
            for button in edits:
                group["buttons"].remove(button)
        for button in [group, *group.get("buttons", [])]:
            if button.get("icon") == "fab fa-gitlab":
                button["icon"] = "fab fa-github"  # drawn as a branch, not as a mark
            if button.get("text") == "Colab":
                button["url"] = colab_address(found, page)
                button["icon"] = "fas fa-notebook"
            if button.get("text") == "Binder":
                button["icon"] = "fas fa-binder"


def set_addresses(app, doctree, page):
    """Write the fork's address into the text and the code of a page."""
    found = app.course_repository
    if not found.in_colab:  # the page of the ways to run names no missing button
        for item in list(doctree.findall(nodes.definition_list_item)):
            if item[0].astext() in ("Colab", "Binder"):
                item.parent.remove(item)
    for text in list(doctree.findall(nodes.Text)):
        if (new := follow(text, found)) != text:
            block = text.parent
            block.replace(text, nodes.Text(new))
            if isinstance(block, nodes.literal_block):
                block.rawsource = block.astext()  # else Sphinx does not highlight
    for link in doctree.findall(nodes.reference):
        if "refuri" in link:
            link["refuri"] = follow(link["refuri"], found)


def write_copies(app, exception):
    """Write the fork's install line into the notebooks that the site offers."""
    if exception or app.builder.format != "html":
        return
    for path in (Path(app.outdir) / "_sources").rglob("*"):
        if path.suffix in (".ipynb", ".md"):
            before = path.read_text(encoding="utf8")
            if (after := follow(before, app.course_repository)) != before:
                path.write_text(after, encoding="utf8")


def setup(app):
    app.connect("config-inited", set_options, priority=100)
    app.connect("html-page-context", set_buttons, priority=900)
    app.connect("doctree-resolved", set_addresses)
    app.connect("build-finished", write_copies)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
