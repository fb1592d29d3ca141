"""Pack the built site into one file that works offline.

    python tools/site_zip.py

Unpack ``_build/attention-measured.zip`` anywhere and open ``index.html`` in it with a
double click. The same site gives the same file, byte for byte.
"""

import sys
import zipfile
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
NAME = "attention-measured"
LEFT_OUT = {".buildinfo", "objects.inv"}  # of use to Sphinx only


def pack(site, target):
    """Write every file of the site into an archive with one folder; return its path.

    Parameters
    ----------
    site : pathlib.Path
        The folder with the built pages.
    target : pathlib.Path
        The archive to write.
    """
    if not (site / "index.html").is_file():
        raise FileNotFoundError(f"{site} holds no site. Build it first with: make book")
    with zipfile.ZipFile(target, "w", zipfile.ZIP_DEFLATED, compresslevel=9) as archive:
        for path in sorted(site.rglob("*")):
            if not path.is_file() or path.name in LEFT_OUT:
                continue
            name = f"{NAME}/{path.relative_to(site).as_posix()}"
            entry = zipfile.ZipInfo(name, date_time=(2020, 1, 1, 0, 0, 0))
            entry.compress_type = zipfile.ZIP_DEFLATED
            entry.external_attr = 0o644 << 16
            archive.writestr(entry, path.read_bytes())
    return target


if __name__ == "__main__":
    try:
        done = pack(ROOT / "_build" / "html", ROOT / "_build" / f"{NAME}.zip")
    except FileNotFoundError as error:
        sys.exit(str(error))
    size = done.stat().st_size / 1e6
    print(f"{done.relative_to(ROOT)}, {size:.1f} MB. Unpack it and open index.html.")
