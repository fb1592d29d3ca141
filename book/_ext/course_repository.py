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
USES = ("use_repository_button", "use_edit_page_button", "use_issues_button")
INSTALL = re.compile(r"(attncourse(?:\[[a-z,]+\])? @ )git\+https?://[^\s\"'\\]+")
OURS = re.compile(rf"(?<!upstream ){re.escape(UPSTREAM)}(?![\w-]|\.\w)")
CLONE = re.compile(r"(git clone \S+/([\w.-]+)(?:\n| && ))cd \S+")
SCP_FORM = re.compile(r"(?:[\w.-]+@)?([\w-]+(?:\.[\w-]+)+):(?!//)/*(.+)")
PATH = re.compile(r"[\w.~-]+(?:/[\w.~-]+)+")
HERE = re.compile(r"localhost|127\.[\d.]+|\[?::1\]?|.*\.(?:localhost|invalid)")
SSH_HOSTS = {"ssh.github.com": "github.com", "altssh.gitlab.com": "gitlab.com"}
SCHEMES = ("https", "http", "ssh", "git", "git+ssh")
SERVICES = ("github", "gitlab", "bitbucket")


class Repository(NamedTuple):
    """An address in the web, the branch of the sources, the service that runs it."""

    address: str = ""
    branch: str = ""
    service: str = ""

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


def service_of(address):
    """Name the service behind an address, ``other`` where it is none that is known."""
    host = urlsplit(address).hostname or ""
    return next((name for name in SERVICES if name in host), "other")


def address_of(remote):
    """Return the web address of a git remote, without user, password or token.

    It is empty for a folder, for this machine and for an alias of ssh's settings.
    """
    scp = SCP_FORM.fullmatch(remote)
    if "://" in remote:
        parts = urlsplit(remote)
        if parts.scheme not in SCHEMES or parts.query or parts.fragment:
            return ""
        host, path = parts.hostname or "", parts.path
        web = parts.scheme in ("https", "http")
        port = f":{parts.port}" if web and parts.port else ""
        scheme = parts.scheme if web else "https"
    elif scp:
        host, path, port, scheme = scp[1], scp[2], "", "https"
    else:
        return ""
    host = SSH_HOSTS.get(host.lower(), host.lower())
    path = path.strip("/").removesuffix(".git").rstrip("/")
    if not host or HERE.fullmatch(host) or not PATH.fullmatch(path):
        return ""
    return f"{'https' if host == 'github.com' else scheme}://{host}{port}/{path}"


def from_environment(environment):
    """Read the repository from the variables of a workflow's run."""
    name = environment.get("GITHUB_REPOSITORY", "")
    if not PATH.fullmatch(name):
        return Repository()
    server = environment.get("GITHUB_SERVER_URL") or "https://github.com"
    branch = environment.get("GITHUB_REF_NAME", "")
    if re.fullmatch(r"\d+/merge", branch):  # a pull request: no branch of that name
        branch = environment.get("GITHUB_BASE_REF", "")
    address = f"{server.rstrip('/')}/{name}"
    # Forgejo and Gitea set the same variables; a server of GitHub's has any name
    others = ("GITEA_ACTIONS", "FORGEJO_ACTIONS")
    other = any(environment.get(variable) for variable in others)
    return Repository(address, branch, service_of(address) if other else "github")


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
    if git("rev-parse", "--show-prefix", cwd=folder):
        return Repository()  # the folder lies in the repository of something else
    remote = remote_of(folder)
    address = address_of(git("remote", "get-url", remote, cwd=folder)) if remote else ""
    if not address:
        return Repository()
    branch = git("symbolic-ref", "--short", "HEAD", cwd=folder)
    known = git(
        "for-each-ref",
        "--format=%(refname:lstrip=3)",
        f"refs/remotes/{remote}",
        cwd=folder,
    ).split()
    if branch not in known and known:
        head = git("symbolic-ref", f"refs/remotes/{remote}/HEAD", cwd=folder)
        branch = head.removeprefix(f"refs/remotes/{remote}/")
    return Repository(address, branch, service_of(address))


def from_config(folder):
    """Read the repository from ``_config.yml``."""
    path = Path(folder) / "_config.yml"
    if not path.is_file():
        return Repository()
    config = yaml.safe_load(path.read_text(encoding="utf8")) or {}
    given = config.get("repository") or {}
    address = address_of(given.get("url") or "")
    branch = given.get("branch") or "main"
    return Repository(address, branch, service_of(address)) if address else Repository()


def repository(folder, environment=os.environ):
    """Return the repository of a folder; its address is empty where none is known."""
    places = (
        lambda: from_environment(environment),
        lambda: from_remote(folder),
        lambda: from_config(folder),
    )
    found = next((found for place in places if (found := place()).address), None)
    if found is None:
        return Repository()
    return found._replace(branch=found.branch or from_config(folder).branch or "main")


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
    themed = found.service in SERVICES
    launch = {}
    if found.in_colab:
        launch = {"colab_url": COLAB, "binderhub_url": BINDER}
        launch["notebook_interface"] = "jupyterlab"
    return {
        **options,
        "repository_url": found.address if themed else "",
        "repository_branch": found.branch,
        "repository_provider": found.service if themed else "",
        **{use: themed for use in USES},
        "use_issues_button": found.service in ("github", "gitlab"),
        "launch_buttons": launch,
    }


def set_options(app, config):
    app.course_repository = found = repository(app.srcdir)
    config.html_theme_options = theme_options(config.html_theme_options, found)


def set_buttons(app, page, template, context, doctree):
    """Let Colab open the published copy; use icons that the book has."""
    found = app.course_repository
    groups = context.get("header_buttons", [])
    if found.address and found.service not in SERVICES:
        tip = "Source repository"
        label = "source-repository-button"
        link = {"type": "link", "url": found.address, "tooltip": tip, "label": label}
        groups.append({**link, "icon": "fab fa-github", "text": ""})
    for group in groups:
        if group.get("label") == "launch-buttons":
            group["buttons"].reverse()  # Colab, which is quicker, comes first
        if app.env.doc2path(page).endswith(".ipynb"):  # nobody edits a notebook's JSON
            edits = [b for b in group.get("buttons", []) if "edit" in b.get("text", "")]
            for button in edits:
                group["buttons"].remove(button)
        for button in [group, *group.get("buttons", [])]:
            name = button.get("icon", "").removeprefix("fab fa-")
            if name in SERVICES:
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
