"""Publish the built site: to the branch gh-pages, to a folder, or as one file.

    python tools/publish.py                  push _build/html to the branch gh-pages
    python tools/publish.py --to /srv/www    bring a folder in step with _build/html
    python tools/publish.py --zip            pack _build/html for reading offline

ghp-import writes the branch: one commit without parents, so that old sites do not pile
up in the repository; the working tree and the current branch are not touched. A folder
keeps in ``.published`` the names of the files that came from here. Only these are ever
removed.
"""

import argparse
import os
import re
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
SITE = ROOT / "_build" / "html"
ARCHIVE = "attention-measured"
LIST = ".published"
EMAIL = "publish@attncourse.invalid"
sys.path.append(str(ROOT / "book" / "_ext"))
import course_repository as naming  # noqa: E402


class PublishError(Exception):
    """What keeps a site from being published, as a sentence."""


def site_files(site):
    """List the files of a site by their names in it."""
    if not (site / "index.html").is_file():
        raise PublishError(f"{site} holds no site. Build it first with: make book")
    paths = (path for path in site.rglob("*") if path.is_file())
    return sorted(path.relative_to(site).as_posix() for path in paths)


def to_folder(site, folder):
    """Bring a folder in step with a site; return how many files came, how many went.

    Parameters
    ----------
    site : pathlib.Path
        The folder with the built pages.
    folder : pathlib.Path
        Where the pages go: a new or an empty folder, or one that was published to.
    """
    names, inside = site_files(site), folder.resolve()
    if inside.is_relative_to(site.resolve()):
        raise PublishError(f"{folder} lies in the built site. Name another folder.")
    record = folder / LIST
    earlier = record.read_text(encoding="utf8").splitlines() if record.exists() else []
    if not earlier and folder.exists() and any(folder.iterdir()):
        raise PublishError(
            f"{folder} holds files that do not come from here, and they might be "
            "overwritten. Name an empty or a new folder."
        )
    folder.mkdir(parents=True, exist_ok=True)
    # both lists, until all is done: an interrupted run is then put right by the next
    record.write_text("\n".join({*earlier, *names}), encoding="utf8")
    shutil.copytree(site, folder, dirs_exist_ok=True)
    stale = set(earlier) - set(names)
    for path in ((folder / name).resolve() for name in stale):
        if path.is_relative_to(inside):  # a list that was edited leads nowhere else
            path.unlink(missing_ok=True)
    record.write_text("\n".join(names), encoding="utf8")
    return len(names), len(stale)


def to_branch(site, remote, root):
    """Push a site as the only commit of its branch.

    Parameters
    ----------
    site : pathlib.Path
        The folder with the built pages.
    remote : str
        The name of the remote, or its address.
    root : pathlib.Path
        The working tree of the repository.
    """
    source = naming.git("rev-parse", "--short=12", "HEAD", cwd=root)
    options = ["--no-jekyll", "--no-history", "--push", "--force"]
    options += ["--remote", remote, "--branch", naming.SITE_BRANCH]
    options += ["--message", f"Site built from {source}", str(site)]
    author = {"GIT_COMMITTER_NAME": "make publish", "GIT_COMMITTER_EMAIL": EMAIL}
    done = subprocess.run(
        [sys.executable, "-m", "ghp_import", *options],
        cwd=root,
        env={**os.environ, **author},  # a workflow's git knows nobody
        capture_output=True,
        text=True,
    )
    if done.returncode:
        said = re.sub(r"://[^/@\s]+@", "://", (done.stderr or done.stdout).strip())
        raise PublishError(f"Git says:\n{said}")


def publish_branch(site, remote, root):
    """Publish to the branch and say what was done."""
    names = site_files(site)
    remote = remote or naming.remote_of(root)
    if not remote:
        raise PublishError(
            "This folder has no git remote to publish to. Add one with 'git remote add "
            "origin ADDRESS', or publish to a folder: make publish TO=/path"
        )
    to_branch(site, remote, root)
    print(f"Pushed {len(names)} files to the branch {naming.SITE_BRANCH} of {remote}.")
    if address := naming.repository(root).pages:
        print(
            f"Address: {address}\n"
            "If nothing is there yet: Settings > Pages > Deploy from a branch > "
            f"{naming.SITE_BRANCH}, / (root)."
        )


def publish_folder(site, folder):
    """Publish to a folder and say what was done."""
    came, went = to_folder(site, folder)
    print(f"{folder}: {came} files; {went} old files removed.")
    if naming.repository(ROOT).in_colab:
        print(
            "Colab and its install lines open the notebooks of the branch "
            f"{naming.SITE_BRANCH}; 'make publish' without TO puts them there."
        )


def pack(site, folder):
    """Write a site into an archive with one folder in it; return its path."""
    site_files(site)
    with tempfile.TemporaryDirectory() as scratch:
        shutil.copytree(site, Path(scratch, ARCHIVE))
        packed = Path(shutil.make_archive(folder / ARCHIVE, "zip", scratch))
    size = packed.stat().st_size / 1e6
    print(f"{packed}, {size:.1f} MB. Unpack it and open index.html.")
    return packed


def main(argv=None):
    """Publish as the command line says; return the exit status."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--to", type=Path, metavar="FOLDER", help="publish to a folder")
    parser.add_argument("--zip", action="store_true", help="pack the site")
    parser.add_argument(
        "--remote", help="the remote to push to, or its address (origin)"
    )
    options = parser.parse_args(argv)
    try:
        if options.zip:
            pack(SITE, SITE.parent)
        elif options.to:
            publish_folder(SITE, options.to.expanduser())
        else:
            publish_branch(SITE, options.remote, ROOT)
    except (PublishError, OSError) as error:
        print(f"Not published. {error}", file=sys.stderr)
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
