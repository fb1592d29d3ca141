"""Publish the built site: to a folder, or to the branch gh-pages of the remote.

    python tools/publish.py                  push _build/html to the branch gh-pages
    python tools/publish.py --to /srv/www    bring a folder in step with _build/html

A branch gets one commit without parents, so that old sites do not pile up in the
repository; the working tree, the index and the current branch are not touched. The same
site from the same commit gives the same commit, and then nothing is pushed.

A folder keeps in ``.published`` the names of the files that came from here. Only these
are ever removed.
"""

import argparse
import contextlib
import importlib.util
import os
import re
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
SITE = ROOT / "_build" / "html"
NAMING = ROOT / "book" / "_ext" / "course_repository.py"
LIST = ".published"
UNPUBLISHED = {".buildinfo", ".buildinfo.bak"}  # of use to Sphinx only
AUTHOR = "make publish"
EMAIL = "publish@attncourse.invalid"


class PublishError(Exception):
    """What keeps a site from being published, as a sentence."""


def load_naming():
    """Import book/_ext/course_repository.py, which is not on Python's path."""
    spec = importlib.util.spec_from_file_location("course_repository", NAMING)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def site_files(site):
    """List the files of a site by their names in it."""
    if not (site / "index.html").is_file():
        raise PublishError(f"{site} holds no site. Build it first with: make book")
    paths = (path for path in site.rglob("*") if path.is_file())
    names = (path.relative_to(site).as_posix() for path in paths)
    return sorted(name for name in names if name not in UNPUBLISHED)


def megabytes(site, names):
    return sum((site / name).stat().st_size for name in names) / 1e6


# A folder -------------------------------------------------------------------------


def earlier_files(folder):
    """Return what an earlier run put into a folder; refuse a folder of other things."""
    if not folder.exists():
        return set()
    if not folder.is_dir():
        raise PublishError(f"{folder} is a file. Name a folder.")
    record = folder / LIST
    if record.is_file():
        return set(record.read_text(encoding="utf8").splitlines())
    if any(folder.iterdir()):
        raise PublishError(
            f"{folder} holds files that do not come from here, and they might be "
            "overwritten. Name an empty or a new folder."
        )
    return set()


def copy_file(source, target):
    """Put a file in place in one step, so that no visitor gets half of it."""
    target.parent.mkdir(parents=True, exist_ok=True)
    part = target.with_name(f".{target.name}.part")
    shutil.copyfile(source, part)
    os.replace(part, target)


def to_folder(site, folder):
    """Bring a folder in step with a site; return how many files came, how many went.

    Parameters
    ----------
    site : pathlib.Path
        The folder with the built pages.
    folder : pathlib.Path
        Where the pages go: a new or an empty folder, or one that was published to.
    """
    names = site_files(site)
    inside = folder.resolve()
    if inside == site.resolve() or site.resolve() in inside.parents:
        raise PublishError(f"{folder} lies in the built site. Name another folder.")
    earlier = earlier_files(folder)
    folder.mkdir(parents=True, exist_ok=True)
    record = folder / LIST
    # both lists, until all is done: an interrupted run is then put right by the next
    write_list(record, earlier | set(names))
    for name in sorted(names, key=lambda name: name.endswith(".html")):
        copy_file(site / name, folder / name)  # pages last, after what they load
    copy_file(os.devnull, folder / ".nojekyll")
    stale = sorted(earlier - set(names) - {".nojekyll"}, reverse=True)
    for name in stale:
        remove(folder, name)
    write_list(record, set(names))
    return len(names), len(stale)


def write_list(record, names):
    part = record.with_name(f"{LIST}.part")
    part.write_text("".join(f"{name}\n" for name in sorted(names)), encoding="utf8")
    os.replace(part, record)


def remove(folder, name):
    """Remove a published file, and the folders that it leaves empty."""
    path = folder / name
    if folder.resolve() not in path.resolve().parents:
        return  # a list that was edited does not lead out of the folder
    path.unlink(missing_ok=True)
    with contextlib.suppress(OSError):  # not empty
        for parent in path.relative_to(folder).parents:
            if parent != Path("."):
                (folder / parent).rmdir()


# A branch -------------------------------------------------------------------------


def git(*arguments, root=ROOT, **environment):
    """Run git in the repository and return what it prints."""
    try:
        done = subprocess.run(
            ["git", *arguments],
            cwd=root,
            env={**os.environ, **environment},
            capture_output=True,
            text=True,
        )
    except FileNotFoundError:
        raise PublishError("git was not found. Install it, or name a folder.") from None
    if done.returncode:
        said = re.sub(r"://[^/@\s]+@", "://", (done.stderr or done.stdout).strip())
        raise PublishError(f"Git says:\n{said}")
    return done.stdout.strip()


def commit_of(site, root):
    """Write a site as a commit without parents; return its name.

    Parameters
    ----------
    site : pathlib.Path
        The folder with the built pages.
    root : pathlib.Path
        The working tree of the repository that keeps the commit.
    """
    source = git("rev-parse", "--short=12", "HEAD", root=root)
    changed = git("status", "--porcelain", "--untracked-files=no", root=root)
    date = git("show", "-s", "--format=%ct +0000", "HEAD", root=root)
    plain = ["-c", "core.autocrlf=false", "-c", "core.fileMode=false"]
    names = "\0".join(site_files(site)) + "\0"
    with tempfile.TemporaryDirectory() as scratch:
        listed = Path(scratch, "names")
        listed.write_text(names, encoding="utf8")
        index = {"GIT_INDEX_FILE": str(Path(scratch, "index"))}
        place = [f"--git-dir={git_folder(root)}", f"--work-tree={site}"]
        from_list = [f"--pathspec-from-file={listed}", "--pathspec-file-nul"]
        git(
            *plain, *place, "--literal-pathspecs", "add", "-f", *from_list,
            root=site, **index,
        )  # fmt: skip
        empty = git("hash-object", "-w", "-t", "blob", os.devnull, root=root)
        entry = f"100644,{empty},.nojekyll"
        git("update-index", "--add", "--cacheinfo", entry, root=root, **index)
        tree = git("write-tree", root=root, **index)
    note = f"Site built from {source}" + (" and changes to it" if changed else "")
    return git(
        "commit-tree",
        tree,
        "-m",
        note,
        root=root,
        GIT_AUTHOR_NAME=AUTHOR,
        GIT_AUTHOR_EMAIL=EMAIL,
        GIT_AUTHOR_DATE=date,
        GIT_COMMITTER_NAME=AUTHOR,
        GIT_COMMITTER_EMAIL=EMAIL,
        GIT_COMMITTER_DATE=date,
    )


def git_folder(root):
    return git("rev-parse", "--absolute-git-dir", root=root)


def tip_of(remote, branch, root):
    """Return the commit that a branch of a remote is at, empty where there is none."""
    listed = git("ls-remote", "--heads", remote, f"refs/heads/{branch}", root=root)
    return listed.split()[0] if listed else ""


def to_branch(site, remote, branch, root):
    """Push a site as the only commit of a branch; return it, and whether it was new.

    Parameters
    ----------
    site : pathlib.Path
        The folder with the built pages.
    remote : str
        The name of the remote.
    branch : str
        The branch to replace.
    root : pathlib.Path
        The working tree of the repository.
    """
    before = tip_of(remote, branch, root)
    commit = commit_of(site, root)
    if commit == before:
        return commit, False
    lease = f"--force-with-lease=refs/heads/{branch}:{before}"
    quiet = ["-c", f"core.hooksPath={os.devnull}"]  # hooks are for the sources
    git(
        *quiet, "push", "--quiet", lease, remote, f"{commit}:refs/heads/{branch}",
        root=root,
    )  # fmt: skip
    return commit, True


# The command ----------------------------------------------------------------------


def publish_branch(site, remote, root):
    """Publish to the branch and say what was done."""
    naming = load_naming()
    remote = remote or naming.remote_of(root)
    if not remote:
        raise PublishError(
            "This folder has no git remote to publish to. Add one with 'git remote add "
            "origin ADDRESS', or publish to a folder: make publish TO=/path"
        )
    if git("symbolic-ref", "--short", "-q", "HEAD", root=root) == naming.SITE_BRANCH:
        raise PublishError(f"You are on the branch {naming.SITE_BRANCH} itself.")
    branch = naming.SITE_BRANCH
    commit, new = to_branch(site, remote, branch, root)
    names = site_files(site)
    place = naming.git("remote", "get-url", remote, cwd=root) or remote
    address = naming.address_of(place)
    where = f"branch {branch} of {remote}" + (f" ({address})" if address else "")
    size = f"{len(names)} files, {megabytes(site, names):.1f} MB"
    if not new:
        print(f"The {where} has this site already: {commit[:12]}, {size}.")
    else:
        print(f"Pushed {commit[:12]}, {size}, to the {where}.")
    found = naming.repository(root)
    if found.pages:
        print(
            f"Address: {found.pages}\n"
            "If nothing is there yet: Settings > Pages > Deploy from a branch > "
            f"{branch}, / (root)."
        )


def publish_folder(site, folder):
    """Publish to a folder and say what was done."""
    came, went = to_folder(site, folder)
    size = megabytes(site, site_files(site))
    print(f"{folder}: {came} files, {size:.1f} MB; {went} old files removed.")
    naming = load_naming()
    if naming.repository(ROOT).in_colab:
        print(
            "Colab and its install lines open the notebooks of the branch "
            f"{naming.SITE_BRANCH}; 'make publish' without TO puts them there."
        )


def main(argv=None):
    """Publish as the command line says; return the exit status."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--to", type=Path, metavar="FOLDER", help="publish to a folder")
    parser.add_argument(
        "--remote", help="the remote to push to, or its address (origin)"
    )
    options = parser.parse_args(argv)
    try:
        if options.to:
            publish_folder(SITE, options.to.expanduser())
        else:
            publish_branch(SITE, options.remote, ROOT)
    except (PublishError, OSError) as error:
        print(f"Not published. {error}", file=sys.stderr)
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
