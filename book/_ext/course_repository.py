"""Let every repository button (source, issues, Colab) point to the reader's fork.

In a run on GitHub the environment names repository and branch; elsewhere the git remote
``origin`` does, if it is on GitHub. Where neither is known, ``_config.yml`` decides.
"""

import os
import re
import subprocess


def git(*arguments, cwd):
    """Return what a git command prints, or an empty string."""
    try:
        done = subprocess.run(
            ["git", *arguments], cwd=cwd, capture_output=True, text=True, timeout=10
        )
    except (OSError, subprocess.TimeoutExpired):
        return ""
    return done.stdout.strip() if done.returncode == 0 else ""


def github_address(remote):
    """Return the web address of a GitHub remote, without user name or token."""
    match = re.search(r"github\.com[:/]+([\w.-]+)/([\w.-]+?)(?:\.git)?/?$", remote)
    return f"https://github.com/{match[1]}/{match[2]}" if match else ""


def repository(cwd):
    """Return the address and the branch, each empty where it is not known."""
    if name := os.environ.get("GITHUB_REPOSITORY"):
        server = os.environ.get("GITHUB_SERVER_URL", "https://github.com")
        return f"{server}/{name}", os.environ.get("GITHUB_REF_NAME", "")
    address = github_address(git("remote", "get-url", "origin", cwd=cwd))
    if not address:
        return "", ""
    branch = git("rev-parse", "--abbrev-ref", "HEAD", cwd=cwd)
    return address, "" if branch == "HEAD" else branch


def follow_the_fork(app, config):
    address, branch = repository(app.srcdir)
    options = dict(config.html_theme_options)
    if address:
        options["repository_url"] = address
    if branch:
        options["repository_branch"] = branch
    config.html_theme_options = options


def setup(app):
    app.connect("config-inited", follow_the_fork, priority=100)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
