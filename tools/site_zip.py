"""Pack the built site into one file that works offline.

    python tools/site_zip.py

Unpack ``_build/attention-measured.zip`` anywhere and open ``index.html`` in it with a
double click.
"""

import shutil
import sys
import tempfile
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
NAME = "attention-measured"


def pack(site, folder):
    """Write a site into an archive with one folder in it; return its path.

    Parameters
    ----------
    site : pathlib.Path
        The folder with the built pages.
    folder : pathlib.Path
        Where the archive is written.
    """
    if not (site / "index.html").is_file():
        raise FileNotFoundError(f"{site} holds no site. Build it first with: make book")
    with tempfile.TemporaryDirectory() as scratch:
        shutil.copytree(site, Path(scratch, NAME))
        return Path(shutil.make_archive(folder / NAME, "zip", scratch))


if __name__ == "__main__":
    try:
        done = pack(ROOT / "_build" / "html", ROOT / "_build")
    except FileNotFoundError as error:
        sys.exit(str(error))
    size = done.stat().st_size / 1e6
    print(f"{done.relative_to(ROOT)}, {size:.1f} MB. Unpack it and open index.html.")
