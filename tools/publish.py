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
AUTHOR = {  # a workflow's git knows nobody
    "GIT_COMMITTER_NAME": "make publish",
    "GIT_COMMITTER_EMAIL": "publish@attncourse.invalid",
}
sys.path.append(str(ROOT / "book" / "_ext"))
import course_repository as naming  # noqa: E402


def site_files(site):
    """List the files of a site by their names in it."""
    if not (site / "index.html").is_file():
        sys.exit(f"{site} holds no site. Build it first with: make book")
    paths = (path for path in site.rglob("*") if path.is_file())
    return sorted(path.relative_to(site).as_posix() for path in paths)


def to_folder(site, folder):
    """Bring a folder in step with a site; return how many files came, how many went.

    The folder has to be new or empty, or one that was published to.
    """
    names, inside = site_files(site), folder.resolve()
    if inside.is_relative_to(site.resolve()):
        sys.exit(f"{folder} lies in the built site. Name another folder.")
    record = folder / ".published"
    earlier = record.read_text(encoding="utf8").splitlines() if record.exists() else []
    if not earlier and folder.exists() and any(folder.iterdir()):
        sys.exit(
            f"Not published: {folder} holds files that do not come from here, and they "
            "might be overwritten. Name an empty or a new folder."
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
    """Push a site as the only commit of its branch, and say so.

    The remote is a name or an address; without one it is that of the working tree.
    """
    names, remote = site_files(site), remote or naming.remote_of(root)
    if not remote:
        sys.exit(
            "This folder has no git remote to publish to. Add one with 'git remote add "
            "origin ADDRESS', or publish to a folder: make publish TO=/path"
        )
    source = naming.git("rev-parse", "--short=12", "HEAD", cwd=root)
    options = ["--no-jekyll", "--no-history", "--push", "--force"]
    options += ["--remote", remote, "--branch", naming.SITE_BRANCH]
    options += ["--message", f"Site built from {source}", str(site)]
    command = [sys.executable, "-m", "ghp_import", *options]
    how = {"cwd": root, "env": os.environ | AUTHOR}
    done = subprocess.run(command, **how, capture_output=True, text=True)
    if done.returncode:
        said = re.sub(r"://[^/@\s]+@", "://", (done.stderr or done.stdout).strip())
        sys.exit(f"Not published. Git says:\n{said}")
    print(f"Pushed {len(names)} files to the branch {naming.SITE_BRANCH} of {remote}.")
    if address := naming.repository(root).pages:
        set_up = f"Settings > Pages > Deploy from a branch > {naming.SITE_BRANCH}"
        print(f"Address: {address}\nIf nothing is there yet: {set_up}, / (root).")


def pack(site, folder):
    """Write a site into an archive with one folder in it; return its path."""
    site_files(site)
    with tempfile.TemporaryDirectory() as scratch:
        shutil.copytree(site, Path(scratch, ARCHIVE))
        return Path(shutil.make_archive(folder / ARCHIVE, "zip", scratch))


def main():
    """Publish as the command line says."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--to", type=Path, metavar="FOLDER", help="publish to a folder")
    parser.add_argument("--zip", action="store_true", help="pack the site")
    parser.add_argument("--remote", help="to push to: a name or an address (origin)")
    options = parser.parse_args()
    if options.zip:
        packed = pack(SITE, SITE.parent)
        size = packed.stat().st_size / 1e6
        print(f"{packed}, {size:.1f} MB. Unpack it and open index.html.")
    elif options.to:
        came, went = to_folder(SITE, options.to.expanduser())
        print(f"{options.to}: {came} files; {went} old files removed.")
    else:
        to_branch(SITE, options.remote, ROOT)


if __name__ == "__main__":
    main()
